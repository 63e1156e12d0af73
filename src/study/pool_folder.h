#ifndef TRACKRAMP_POOL_FOLDER_H
#define TRACKRAMP_POOL_FOLDER_H

#include "error.h"
#include "format.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The folder of test files: whose it is, who holds it, what lies in it, how it goes away again.
 * Main thread. Paths in `struct pool_folder` are for messages; all work goes through descriptors.
 */

enum { POOL_NAME_BYTES = 32, POOL_TRACKS_MAX = 1000000 };

struct pool_folder {
    int parent; /* DIR */
    int folder; /* DIR/trackramp-files, with the lock */
    bool made;  /* by this very call */
    char path[PATH_MAX];
};

/*
 * Opens and locks the folder in `directory`; with `create`, makes it where there is none. Returns
 * 1, or 0 where there is no folder and none was wanted. Fails where DIR is not a folder one can
 * work in, where the folder is not ours (no marker, not empty), or another run holds it; then
 * nothing was made.
 */
int pool_folder_open(struct pool_folder *folder, const char *directory, bool create,
                     struct error *error);

/* Unlocks and closes; everything stays. */
void pool_folder_close(struct pool_folder *folder);

/* Removes the test files, then the marker and the folder. Where something lies in the folder that
 * does not bear one of our names, the folder and its marker stay. `*files`: test files removed. */
int pool_folder_remove(struct pool_folder *folder, uint32_t *files, struct error *error);

/* Removes all test files but the finished ones of `container` numbered below `keep`. */
int pool_folder_trim(const struct pool_folder *folder, enum container container, uint32_t keep,
                     uint32_t *removed, struct error *error);

/* Finished files of `container`, numbered from 0 without a gap, of exactly `file_bytes`. */
uint32_t pool_folder_count(const struct pool_folder *folder, enum container container,
                           uint64_t file_bytes);

/* A test file's name; `unfinished`: the one it bears while it is written. Returns `out`. */
const char *pool_folder_track_name(char out[POOL_NAME_BYTES], enum container container,
                                   uint32_t index, bool unfinished);

#endif
