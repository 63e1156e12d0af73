#ifndef TRACKRAMP_POOL_WRITER_H
#define TRACKRAMP_POOL_WRITER_H

#include "error.h"
#include "format.h"

#include <stdint.h>

/* Writes one test file: a container's header and frames of noise. Main thread. */

struct pool_writer {
    struct track_format format;
    uint64_t seed;
    uint64_t frames; /* a multiple of 8: no container then pads the audio's end */
    /* Called before each piece of about 1 MiB with the file's audio bytes so far; a non-zero
     * return stops the writing (ERROR_INTERRUPTED). May be NULL. */
    int (*progress)(void *user, uint64_t done_bytes);
    void *user;
};

/* How far into a file of a format its audio begins, by a rehearsal that touches no file. Fails
 * (ERROR_USAGE) where libsndfile cannot write that format. */
int pool_writer_data_offset(const struct track_format *format, uint64_t *data_offset,
                            struct error *error);

/*
 * Writes file `file` of a pool to `descriptor`, an empty file named `path` in messages. On return
 * it is `data_offset` + audio bytes long, and on its way to the drive; fsync is left to the caller.
 * Errors name the path.
 */
int pool_writer_write(const struct pool_writer *writer, int descriptor, const char *path,
                      uint32_t file, struct error *error);

#endif
