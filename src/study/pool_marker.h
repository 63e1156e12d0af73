#ifndef TRACKRAMP_POOL_MARKER_H
#define TRACKRAMP_POOL_MARKER_H

#include "error.h"
#include "format.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The file in a folder of test files that says whose they are and what they hold. Main thread.
 * `folder` is the folder's descriptor.
 */

#define POOL_MARKER_NAME "trackramp-pool"
#define POOL_MARKER_UNFINISHED POOL_MARKER_NAME ".part"

struct pool_marker {
    struct track_format format;
    uint64_t seed;
    uint64_t file_frames;
    bool interleaved;     /* files lie piece by piece in turn; markers without a word of it: no */
    uint64_t data_offset; /* 0 in a marker that could not be read in full */
};

/*
 * Whether the folder bears our marker. `*marker` gets what it says, or zeros where it is ours but
 * damaged: such a folder may be cleaned, its files not reused.
 */
bool pool_marker_read(int folder, struct pool_marker *marker);

/* Puts the marker in place, whole or not at all. `path` names the folder in messages. */
int pool_marker_write(int folder, const struct pool_marker *marker, const char *path,
                      struct error *error);

#endif
