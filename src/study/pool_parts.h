#ifndef TRACKRAMP_POOL_PARTS_H
#define TRACKRAMP_POOL_PARTS_H

#include "pool.h"
#include "pool_folder.h"
#include "pool_marker.h"
#include "pool_space.h"

/* What a pool is, for the files that make it up: pool.c opens and uses it, pool_grow.c writes. */
struct pool {
    struct pool_folder folder;
    struct pool_marker marker;
    uint64_t file_bytes; /* header and audio */
    uint64_t disk_bytes; /* that a file takes: whole blocks */
    struct pool_space space;
    uint32_t files_limit;
    uint32_t files;
    bool keep;
    bool modelled;
    int (*progress)(void *user, uint64_t done_bytes, uint64_t wanted_bytes);
    void *user;
    /* while growing */
    uint64_t done_bytes;
    uint64_t wanted_bytes;
};

#endif
