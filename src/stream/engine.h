#ifndef TRACKRAMP_ENGINE_H
#define TRACKRAMP_ENGINE_H

#include "error.h"
#include "reader.h"

#include <stdint.h>

/*
 * How a reader gets a block. One engine belongs to one reader and is used by its thread alone.
 * An engine answers a read with one of three things; it never prints and never waits in submit
 * unless it is an engine that reads on the spot.
 */

/* One read, on its way. The engine sets `result`; the last paragraph is the reader's own. */
struct engine_read {
    int file;            /* descriptor */
    uint32_t file_index; /* its place in the list given to open */
    uint64_t offset_bytes;
    unsigned char *memory;
    uint32_t bytes;
    int32_t result; /* bytes read, or a negative errno */

    uint32_t track;
    uint64_t block;
    uint64_t submitted_ns;
};

enum engine_answer {
    ENGINE_DONE,   /* `result` is set */
    ENGINE_QUEUED, /* reap will bring it */
    ENGINE_BUSY,   /* not taken: reap first */
};

/* What an engine is opened for. */
struct engine_setup {
    uint32_t queue_depth; /* most reads at a time */
    const int *files;
    uint32_t file_count;
    uint32_t block_bytes;
    struct model_drive *drive; /* the modelled one, for engine_model */
};

struct engine_operations {
    int (*open)(void **engine, const struct engine_setup *setup, struct error *error);
    enum engine_answer (*submit)(void *engine, struct engine_read *read);
    /* Sends what was submitted, waits up to `wait_ns` for a completion (0: not at all), and
     * fills `done` with up to `capacity` completed reads. Returns how many. NULL in an engine
     * that never queues. */
    uint32_t (*reap)(void *engine, struct engine_read **done, uint32_t capacity, uint64_t wait_ns);
    void (*close)(void *engine);
    /* The earliest moment at which reap may have something, for a reader in virtual time, which
     * cannot wait in reap: it may be early, never late. NULL in an engine that needs real time. */
    uint64_t (*next_ns)(void *engine);
};

extern const struct engine_operations engine_uring, engine_threads, engine_model;

#endif
