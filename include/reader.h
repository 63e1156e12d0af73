#ifndef TRACKRAMP_READER_H
#define TRACKRAMP_READER_H

#include "error.h"
#include "histogram.h"
#include "mixer.h"
#include "track.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The threads that keep rings full. Each reader owns every n-th track, keeps its engine's queue
 * filled with the blocks that are due, the ring that runs dry first served first, and sleeps until
 * the sample clock frees the next slot. In virtual time (simulation.h) readers are no threads but
 * actors: the same rounds, each when its time has come.
 */

enum engine_kind { ENGINE_URING, ENGINE_THREADS, ENGINE_MODEL };

/* `uring`, `threads`, `model`. */
const char *engine_kind_name(enum engine_kind kind);

struct reader_options {
    enum engine_kind engine;
    uint32_t readers;          /* threads */
    uint32_t queue_depth;      /* reads each keeps under way; `threads` has one */
    struct model_drive *drive; /* that ENGINE_MODEL reads from; not for the others */
};

/* What the readers did, known once they have stopped. */
struct reader_totals {
    struct histogram latency; /* submit to complete */
    int64_t min_slack_frames; /* least of all reads, negative after an underrun; INT64_MAX when
                                 nothing was read */
    uint64_t busiest_cpu_ns;  /* CPU time of the reader that used most */
    uint64_t elapsed_ns;
    double busy_share; /* of the time in which reads were under way, mean of the readers */
};

/* A read that failed: the first one. */
struct reader_failure {
    uint32_t track;
    uint64_t offset_bytes;
    int error_number; /* errno; 0: the file ended early */
};

struct readers; /* opaque */

/*
 * Starts reading for `tracks` (`count` of them, all of one block size and format). With a mixer,
 * its sample clock says which slots are free. Without one (`mixer` NULL) the readers play the
 * callback's part as well and give every slot back at once: reading flat out. Main thread.
 * Errors: no io_uring here, no memory, no thread.
 */
int readers_start(struct readers **readers, const struct reader_options *options,
                  struct track *tracks, uint32_t count, const struct mixer *mixer,
                  struct error *error);

/* Blocks read since start, by all readers. Any time between start and stop, main thread. */
uint64_t readers_completed_blocks(const struct readers *readers);

/* True when a read failed: nothing is read any more. */
bool readers_failed(const struct readers *readers, struct reader_failure *failure);

/* Waits for the reads under way, ends the threads, frees. `totals` may be NULL. */
void readers_stop(struct readers *readers, struct reader_totals *totals);

/* Whether this kernel lets us have the engine; says why not. */
int engine_probe(enum engine_kind kind, struct error *error);

#endif
