#ifndef TRACKRAMP_ARENA_H
#define TRACKRAMP_ARENA_H

#include "error.h"

#include <stdint.h>

/* All ring memory: one range of address space, taken once; memory is put behind it as it is
 * needed, touched and locked before a trial so that no page fault falls into one. */
struct arena {
    unsigned char *memory; /* aligned to 2 MiB */
    uint64_t limit_bytes;  /* the most that may be put behind it */
    uint64_t backed_bytes; /* so far */
    void *mapping;
    uint64_t mapping_bytes;
};

int arena_init(struct arena *arena, uint64_t limit_bytes, struct error *error);
void arena_fini(struct arena *arena);

/* Makes sure that the first `bytes` (at most limit_bytes) are backed by memory. */
int arena_back(struct arena *arena, uint64_t bytes, struct error *error);

#endif
