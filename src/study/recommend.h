#ifndef TRACKRAMP_RECOMMEND_H
#define TRACKRAMP_RECOMMEND_H

#include "result.h"

/*
 * Which block size to choose: the smallest that is equal to the best one. Equal are counts within
 * 5 %, and counts whose searches overlap ([low, high], with two searches or more). None where a
 * size was not measured to the end; never one that is irregular, and where all are, the sentence
 * speaks of the stalls. Smaller blocks mean less ring memory and a faster answer to play and
 * locate, so a larger one has to earn it. Sets the volume's recommended_block_bytes and the
 * sentence that says why. Pure.
 */
void recommend(struct result_volume *volume);

#endif
