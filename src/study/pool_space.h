#ifndef TRACKRAMP_POOL_SPACE_H
#define TRACKRAMP_POOL_SPACE_H

#include "error.h"
#include "pool_folder.h"

#include <stdbool.h>
#include <stdint.h>

/* How much of a drive test files may take. Main thread. */

struct pool_space {
    uint64_t limit_bytes; /* for all files; never under one file */
    uint64_t floor_bytes; /* that stay free whatever happens; 0 where free space is not told */
};

/*
 * Judges the space behind `folder`. `own_bytes` is what files to be kept take already (they count
 * as free), `file_bytes` what one file takes, `wanted_bytes` the user's limit or 0 for the
 * default: a tenth of what is free, at most 16 GiB. Fails where not even one file fits.
 */
int pool_space_init(struct pool_space *space, const struct pool_folder *folder, uint64_t own_bytes,
                    uint64_t file_bytes, uint64_t wanted_bytes, struct error *error);

/* Whether so many bytes of files can be written now, with the floor kept. */
int pool_space_check(const struct pool_space *space, const struct pool_folder *folder,
                     uint64_t bytes, struct error *error);

#endif
