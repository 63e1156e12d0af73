#ifndef TRACKRAMP_STATS_H
#define TRACKRAMP_STATS_H

#include <stddef.h>
#include <stdint.h>

/* The middle of `count` values (the lower of the two middles when even); 0 when there are none.
 * Sorts `values` in place. */
uint64_t stats_median(uint64_t *values, size_t count);

/* Slope of the least-squares line through (x[i], y[i]), in y per x; 0 for fewer than two points
 * or when all x are the same. */
double stats_slope(const double *x, const double *y, size_t count);

#endif
