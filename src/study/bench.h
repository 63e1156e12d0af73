#ifndef TRACKRAMP_BENCH_H
#define TRACKRAMP_BENCH_H

#include "arena.h"
#include "audio.h"
#include "error.h"
#include "mixer.h"
#include "model_drive.h"
#include "plan.h"
#include "pool.h"
#include "reader.h"
#include "result.h"
#include "storage.h"
#include "study.h"
#include "track.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What stays in place between trials: the clock that runs, the mixer, the ring memory, the test
 * files of the drive under test and a descriptor for every track. A trial only says how many
 * tracks at which block size. Main thread.
 */
struct bench {
    const struct plan *plan;
    const struct study_observer *observer;
    struct study_progress progress;
    uint64_t expected_end_ns; /* of the whole study */
    struct audio *audio;
    bool audio_lost; /* its callback may still be running: touch nothing it uses */
    struct mixer *mixer;
    struct arena arena;
    uint64_t descriptor_limit;
    uint32_t cores;
    /* the tracks: room for `capacity`, descriptors open for `opened` */
    struct track *tracks;
    struct ring *rings;
    unsigned char *landed;
    uint32_t capacity, opened;
    /* the drive under test */
    struct pool *pool;
    struct storage_devices devices; /* below it; none: not known */
    struct model_drive *drive;      /* NULL: a real one */
    bool carries_data; /* a modelled drive may bring nothing: then one ring's memory serves all */
    struct reader_options readers;
    /* the block size under test */
    uint32_t block_bytes, slots;
    uint32_t most_queue_depth; /* of the block sizes so far, on this drive */
    uint32_t tracks_limit;     /* most tracks at this block size ... */
    enum limit limit_reason;   /* ... and what bounds them */
};

/* Opens the clock and takes the memory. On error everything is released again, but for a lost
 * audio device (audio_lost). */
int bench_init(struct bench *bench, const struct plan *plan, const struct study_observer *observer,
               struct error *error);
void bench_fini(struct bench *bench);

/* Puts a drive under test, and takes it off again: then the test files go. */
int bench_open_drive(struct bench *bench, const char *directory, struct error *error);
int bench_close_drive(struct bench *bench, struct error *error);

/* The engine that reads, with the plan's readers and queue or its defaults. */
void bench_set_engine(struct bench *bench, enum engine_kind kind);

/* Sets the block size, and with it queue depth, ring size and the most tracks that can be held. */
int bench_set_block(struct bench *bench, uint32_t block_bytes, struct error *error);

/*
 * Makes `tracks` ready to be played: test files, descriptors, rings. `seed` draws where they start.
 * Rings begin as a drive that has kept up leaves them: full but for the block being played, which
 * lies anywhere in its course. (What they hold at first is not from the drive and is not checked;
 * filling them through the drive would take as long as a ring lasts, before every trial.) Only the
 * lead-in is missing: one block each of so many rings that the drive starts `*lead_in_blocks`
 * behind (trial.c says why).
 */
int bench_set_tracks(struct bench *bench, uint32_t tracks, uint64_t seed, uint32_t *lead_in_blocks,
                     struct error *error);

/* A queue that takes the drive long to empty makes every stop slow and no drive faster: bounds it
 * to what `bytes_per_second` does in half a second. Not where the user has named a depth. */
void bench_shorten_queue(struct bench *bench, double bytes_per_second);

/* Makes `tracks` ready to be read flat out: the same, with empty rings. */
int bench_set_flood(struct bench *bench, uint32_t tracks, uint64_t seed, struct error *error);

/* Through the page cache, files are made cold before every use; `*resident`: the share that stayed
 * cached, or -1 where that cannot be told. Past it nothing needs doing. */
int bench_cool_files(struct bench *bench, double *resident, struct error *error);

/* Calls the observer, and ends what is going on when the user or the device says so. */
int bench_poll(struct bench *bench, struct error *error);

/* What `tracks` ask of the drive, in blocks per second. */
double bench_demand_blocks(const struct bench *bench, uint32_t tracks);

/* Which test file a track plays. */
uint32_t bench_file_of(const struct bench *bench, uint32_t track);

/* The error for a read that failed. */
int bench_read_error(const struct bench *bench, const struct reader_failure *failure,
                     struct error *error);

#endif
