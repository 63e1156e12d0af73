#include "histogram.h"

#include <string.h>

/*
 * Values below HISTOGRAM_STEPS have a slot each. Above, a value's slot is its highest bit and the
 * six bits after it: slot width is 2^(top - 6), so the upper end lies at most 1/64 above the value.
 */
enum { STEP_BITS = 6 };
_Static_assert(1 << STEP_BITS == HISTOGRAM_STEPS, "steps are a power of two");

static unsigned slot_of(uint64_t value)
{
    if (value < HISTOGRAM_STEPS)
        return (unsigned)value;
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    unsigned step = (unsigned)(value >> (top - STEP_BITS)) & (HISTOGRAM_STEPS - 1);
    return (top - STEP_BITS + 1) * HISTOGRAM_STEPS + step;
}

/* The largest value of a slot. */
static uint64_t slot_end(unsigned slot)
{
    if (slot < HISTOGRAM_STEPS)
        return slot;
    unsigned shift = slot / HISTOGRAM_STEPS - 1;
    uint64_t begin = (uint64_t)(HISTOGRAM_STEPS + slot % HISTOGRAM_STEPS) << shift;
    return begin + ((UINT64_C(1) << shift) - 1);
}

void histogram_reset(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void histogram_add(struct histogram *histogram, uint64_t value_ns)
{
    histogram->count++;
    if (value_ns > histogram->max_ns)
        histogram->max_ns = value_ns;
    histogram->slots[slot_of(value_ns)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    into->count += from->count;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    for (unsigned slot = 0; slot < HISTOGRAM_SLOTS; slot++)
        into->slots[slot] += from->slots[slot];
}

uint64_t histogram_quantile(const struct histogram *histogram, double quantile)
{
    if (histogram->count == 0)
        return 0;
    double wanted = quantile * (double)histogram->count;
    uint64_t seen = 0;
    for (unsigned slot = 0; slot < HISTOGRAM_SLOTS; slot++) {
        seen += histogram->slots[slot];
        if ((double)seen >= wanted && seen > 0) {
            uint64_t end = slot_end(slot);
            return end < histogram->max_ns ? end : histogram->max_ns;
        }
    }
    return histogram->max_ns;
}
