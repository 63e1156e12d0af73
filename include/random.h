#ifndef TRACKRAMP_RANDOM_H
#define TRACKRAMP_RANDOM_H

#include <stdint.h>

/* Numbers that follow from a seed alone: SplitMix64 (Steele, Lea and Flood, 2014). */

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* From 0 to below `bound`, which is at least 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return (uint64_t)((__uint128_t)random_next(state) * bound >> 64);
}

/* From 0 to below 1, in steps of 2^-53. */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
