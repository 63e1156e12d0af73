#ifndef TRACKRAMP_READER_LOOP_H
#define TRACKRAMP_READER_LOOP_H

#include "engine.h"
#include "reader.h"
#include "schedule.h"
#include "simulation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the readers' owner (readers.c, main thread) and the loop of one of them (reader.c, its own
 * thread, or its turn in virtual time) share. */

struct reader {
    /* set before start */
    struct readers *all;
    pthread_t thread;
    struct actor actor; /* in the thread's place, in virtual time */
    uint32_t depth;     /* reads it may have under way */
    uint32_t first;     /* its tracks: first, first + readers, first + 2 * readers ... */
    void *engine;
    /* the loop's own; known to the owner after the thread has ended */
    struct schedule schedule;
    struct engine_read *reads;
    struct engine_read **idle, **unsent; /* stacks: free for use; refused by a busy engine */
    uint32_t idle_count, unsent_count;
    struct histogram latency;
    int64_t min_slack_frames;
    uint64_t busy_since_ns, busy_ns; /* with reads under way: since when, 0 for not; so far */
    uint64_t cpu_ns;
    /* shared: its own, for the main thread to look at */
    _Alignas(64) _Atomic uint64_t completed_blocks;
};

struct readers {
    /* set before start */
    struct reader_options options;
    const struct engine_operations *operations;
    struct track *tracks;
    uint32_t track_count;
    const struct mixer *mixer; /* NULL: reading flat out */
    uint32_t frame_bytes;
    uint64_t started_ns;
    struct reader *each;
    uint32_t count, running;
    /* shared by all */
    _Atomic bool stop;
    pthread_mutex_t failure_lock; /* guards `failure` until `failed` is set */
    struct reader_failure failure;
    _Atomic bool failed;
};

/* readers_start with an engine of the caller's choice: how a test puts one of its own in place. */
int readers_start_with(struct readers **readers, const struct engine_operations *operations,
                       const struct reader_options *options, struct track *tracks,
                       uint32_t track_count, const struct mixer *mixer, struct error *error);

/* Puts the track's next block into the schedule of the reader that owns it. Before start, or in
 * the reader's thread. */
void reader_schedule_block(struct reader *reader, uint32_t track);

/* The thread of one reader: `argument` is it. Returns NULL once it was told to stop (or a read
 * failed) and nothing is under way. */
void *reader_run(void *argument);

/* A turn of a reader in virtual time; it asks for the next one until it is done in that sense. */
void reader_act(struct actor *actor, uint64_t now_ns);

#endif
