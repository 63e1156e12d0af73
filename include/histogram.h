#ifndef TRACKRAMP_HISTOGRAM_H
#define TRACKRAMP_HISTOGRAM_H

#include <stdint.h>

/*
 * A log-linear histogram of times. Every power of two is cut into HISTOGRAM_STEPS equal steps, so
 * a percentile is at most 1/HISTOGRAM_STEPS (1.6 %) above the true value, whatever its size, in
 * a fixed 30 KB. Adding is a handful of instructions, no allocation.
 * One writer; readers look after the writer has been joined.
 */

enum { HISTOGRAM_STEPS = 64, HISTOGRAM_SLOTS = (64 - 5) * HISTOGRAM_STEPS };

struct histogram {
    uint64_t count;
    uint64_t max_ns;
    uint64_t slots[HISTOGRAM_SLOTS];
};

void histogram_reset(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value_ns);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The value that a share of `quantile` (0 to 1) of all added lie at or below: the upper end of
 * its slot, never above the true maximum. 0 when empty. */
uint64_t histogram_quantile(const struct histogram *histogram, double quantile);

#endif
