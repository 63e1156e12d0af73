#ifndef TRACKRAMP_RECOMMEND_H
#define TRACKRAMP_RECOMMEND_H

#include "result.h"

/*
 * Which block size to choose: the smallest whose count is within 5 % of the best, or lies within
 * the spread of the best one's repeats. None where a size was not measured to the end. Smaller
 * blocks mean less ring memory and a faster answer to play and locate, so a larger one has to earn
 * it. Sets the volume's recommended_block_bytes and the sentence that says why. Pure.
 */
void recommend(struct result_volume *volume);

#endif
