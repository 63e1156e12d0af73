#ifndef TRACKRAMP_FLOOD_H
#define TRACKRAMP_FLOOD_H

#include "bench.h"
#include "error.h"
#include "result.h"

#include <stdbool.h>
#include <stdint.h>

/* Reading flat out, with no clock: the same readers, engine and files as in a trial. */

struct flood_outcome {
    double bytes_per_second;
    double seconds;  /* that were judged */
    uint32_t stalls; /* times the drive answered nothing */
    double worst_stall_s;
    double dispersion_blocks;    /* how unevenly blocks came (dispersion.h) */
    bool slowed;                 /* the second half went at less than 0.8 of the first */
    uint64_t blocks;             /* read while it was judged */
    struct result_device device; /* from its start to its end */
};

/* How long to read flat out at this block size where `bytes_per_second` are to be expected: for
 * enough blocks to count, within bounds. */
double flood_seconds(uint32_t block_bytes, double bytes_per_second);

/* Reads flat out with `tracks` tracks for `seconds`, after a warm-up a quarter as long. Stalls are
 * told by what is expected of the drive; 0: not known, and then none are. */
int flood_run(struct bench *bench, uint32_t tracks, double seconds,
              double expected_bytes_per_second, uint64_t seed, struct flood_outcome *outcome,
              struct error *error);

#endif
