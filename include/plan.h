#ifndef TRACKRAMP_PLAN_H
#define TRACKRAMP_PLAN_H

#include "format.h"
#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to measure: every option of `run` in force, as the study takes it. */

enum plan_engine { PLAN_ENGINE_BEST, PLAN_ENGINE_URING, PLAN_ENGINE_THREADS, PLAN_ENGINE_MODEL };

/* When the tracks' blocks fall due: anywhere, all at once, or at equal distances. */
enum plan_start {
    PLAN_START_SCATTERED,
    PLAN_START_ALIGNED,
    PLAN_START_STAGGERED,
    PLAN_START_COUNT
};

/* How the test files lie on the drive: one behind the other, or piece by piece in turn, as a
 * multitrack recording leaves them. */
enum plan_layout { PLAN_LAYOUT_SEQUENTIAL, PLAN_LAYOUT_INTERLEAVED, PLAN_LAYOUT_COUNT };

/* `scattered`, `sequential` and so on; parsing fails (-1) on any other name. */
const char *plan_start_name(enum plan_start start);
const char *plan_layout_name(enum plan_layout layout);
int plan_start_parse(const char *name, enum plan_start *start);
int plan_layout_parse(const char *name, enum plan_layout *layout);

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
    struct model_spec model; /* the drive, where the engine is PLAN_ENGINE_MODEL */
    uint32_t readers;        /* 0: the engine's default */
    uint32_t queue_depth;    /* 0: the default */
    double buffer_s;
    const char *device; /* NULL: the default output, or the clock */
    uint32_t frames;
    double trial_s;
    uint32_t repeats;    /* at least; up to twice as many while they differ by more than 5 % */
    uint32_t max_tracks; /* 0: what files, memory and descriptors allow */
    uint64_t pool_bytes; /* 0: the default */
    uint64_t seed;
    enum plan_start start;
    enum plan_layout layout;
    bool keep;
};

#endif
