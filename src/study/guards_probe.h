#ifndef TRACKRAMP_GUARDS_PROBE_H
#define TRACKRAMP_GUARDS_PROBE_H

#include "bench.h"
#include "error.h"

#include <stddef.h>
#include <stdint.h>

/* Direct reads of the test files, twice. Main thread. */

struct guards_probe {
    uint64_t bytes;    /* read the first time; 0: there was too little to read, or it failed */
    double ratio;      /* how many times as fast the second time was; 0: not known */
    double kept_share; /* of what was read, in the page cache afterwards; -1: not known */
};

/*
 * Reads 1 MiB pieces from up to 32 MiB of the test files that exist, for about a second at most,
 * then the same ones again. Where they come much faster, another 32 MiB have to show it too, and
 * the lower ratio counts: so a drive that happened to be busy at first is not taken for a cache.
 * Errors: an interrupt only; what cannot be read here, the measurement will report.
 */
int guards_probe(struct guards_probe *probe, struct bench *bench, struct error *error);

/* The ratio from the times of the same `count` pieces, first and second: of their medians. Sorts
 * both. 0 for no pieces. */
double guards_ratio(uint64_t *first_ns, uint64_t *second_ns, size_t count);

/* A ratio above this says "a cache below". */
extern const double guards_suspicious_ratio;

#endif
