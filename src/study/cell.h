#ifndef TRACKRAMP_CELL_H
#define TRACKRAMP_CELL_H

#include "bench.h"
#include "error.h"
#include "limit.h"
#include "result.h"

#include <stdbool.h>
#include <stdint.h>

/* One block size on one drive: its searches, and what they add up to. */

/* What one search found, and the machine's state while its count was held. */
struct cell_search {
    uint32_t sustained, knee;
    bool capped;
    double flood_bytes_per_second;
    uint32_t flood_tracks; /* that it was read with */
    double clean_s, stream_bytes_per_second;
    double process_percent, callback_percent;
    double latency_p50_us, latency_p99_us, latency_p999_us, latency_max_us;
    /* the lowest count that failed, and what was seen there */
    uint32_t failed_at;
    struct limit_evidence evidence;
};

struct cell {
    struct result_cell *result; /* in the result; trials and warnings go there at once */
    struct cell_search searches[PLAN_REPEATS_MAX];
    uint32_t search_count;
    enum limit cap_reason; /* of the bench at this block size */
    uint32_t slots;
};

/* One search: flat out, ramp, confirm. Adds to the cell; on error what was tried stays noted. */
int cell_measure(struct bench *bench, struct cell *cell, struct error *error);

/* Sums up the searches made so far into the result; the limit is left to the study, which knows
 * the other cells, unless something of ours bounded the count. */
void cell_finish(struct cell *cell, uint32_t repeats);

#endif
