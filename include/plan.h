#ifndef TRACKRAMP_PLAN_H
#define TRACKRAMP_PLAN_H

#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to measure: every option of `run` in force, as the study takes it. */

enum plan_engine { PLAN_ENGINE_BEST, PLAN_ENGINE_URING, PLAN_ENGINE_THREADS };

enum {
    PLAN_BLOCK_BYTES_MIN = 4096,
    PLAN_BLOCK_BYTES_MAX = 8 << 20,
    PLAN_BLOCK_SIZES_MAX = 12, /* 4K to 8M, each once */
    PLAN_READERS_MAX = 256,
    PLAN_QUEUE_DEPTH_MAX = 4096,
    PLAN_REPEATS_MAX = 100,
    PLAN_TRACKS_MAX = 1000000, /* far more than any drive carries; keeps sums in range */
};

struct plan {
    const char *const *directories;
    size_t directory_count;
    uint32_t block_bytes[PLAN_BLOCK_SIZES_MAX]; /* powers of two, in the order given */
    size_t block_size_count;
    struct track_format format;
    bool direct;
    enum plan_engine engine;
    uint32_t readers;     /* 0: the engine's default */
    uint32_t queue_depth; /* 0: the default */
    double buffer_s;
    const char *device; /* NULL: the default output, or the clock */
    uint32_t frames;
    double trial_s;
    uint32_t repeats;
    uint32_t max_tracks; /* 0: what files, memory and descriptors allow */
    uint64_t pool_bytes; /* 0: the default */
    uint64_t seed;
    bool keep;
};

#endif
