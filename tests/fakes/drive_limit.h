#ifndef TRACKRAMP_DRIVE_LIMIT_H
#define TRACKRAMP_DRIVE_LIMIT_H

#include "model.h"

#include <stdint.h>

/*
 * The most blocks a second that a described drive can deliver, computed apart from the program's
 * model of it: `depth` places are never empty, and whichever block is positioned first is
 * transferred next. Knows position, spread, depth, rate, overhead, regular stalls, and stripes of
 * which every block covers all members equally. `reads` are counted.
 */
double drive_limit_blocks_per_second(const struct model_spec *spec, uint32_t block_bytes,
                                     uint32_t reads);

#endif
