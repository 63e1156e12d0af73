#ifndef TRACKRAMP_CELL_H
#define TRACKRAMP_CELL_H

#include "bench.h"
#include "error.h"
#include "limit.h"
#include "result.h"

#include <stdbool.h>
#include <stdint.h>

/* One block size on one drive: its searches, and what they add up to. */

/* Repeats, as many again while they differ, and one at the end. */
enum { CELL_SEARCHES_MAX = 2 * PLAN_REPEATS_MAX + 1 };

/* What one search found, and the machine's state while its count was held. */
struct cell_search {
    uint32_t sustained, knee, comfortable;
    bool capped, irregular;
    double flood_bytes_per_second;
    uint32_t flood_tracks; /* that it was read with */
    double clean_s, stream_bytes_per_second;
    double process_percent, callback_percent;
    double latency_p50_us, latency_p99_us, latency_p999_us, latency_max_us;
    /* the lowest count that failed, and what was seen there; where none did, the one confirmed */
    uint32_t failed_at, seen_at;
    struct limit_evidence evidence;
};

struct cell {
    struct result_cell *result; /* in the result; trials and warnings go there at once */
    struct cell_search searches[CELL_SEARCHES_MAX];
    uint32_t search_count;
    enum limit cap_reason; /* of the bench at this block size */
    uint32_t slots;
    double block_s;           /* that one block plays */
    double dispersion_blocks; /* how unevenly the drive answers, flat out */
    bool slowed;              /* since it was first read */
};

/* One search: flat out, ramp, confirm. Adds to the cell; on error what was tried stays noted. */
int cell_measure(struct bench *bench, struct cell *cell, struct error *error);

/* Whether its searches differ by more than 5 % of their median. */
bool cell_spread_is_wide(const struct cell *cell);

/* The last search was made at the end of the run: compares it with the others, and, where it was
 * `extra`, takes it off the cell's searches. */
void cell_compare_again(struct cell *cell, bool extra);

/* Sums up the searches made so far into the result; the limit is left to the study, which knows
 * the other cells, unless something of ours bounded the count. */
void cell_finish(struct cell *cell, uint32_t repeats);

#endif
