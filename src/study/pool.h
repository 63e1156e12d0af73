#ifndef TRACKRAMP_POOL_H
#define TRACKRAMP_POOL_H

#include "error.h"
#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The test files of one drive: DIR/trackramp-files/, a folder that only this program makes, with
 * a marker file that says what the files hold. Nothing outside that folder, and nothing in it
 * that does not bear one of our names, is ever touched.
 *
 * Every file of a pool has the same length and layout: `file_frames` frames of noise (noise.h)
 * that begin `data_offset` bytes into the file. Files grow in number as tracks are asked for, up
 * to the byte limit. Main thread throughout.
 */

#define POOL_FOLDER "trackramp-files"

/* Interleaved files share the drive in groups of so many: a piece of each in turn, as a recorder
 * lays down its armed tracks with one write a track. */
enum { POOL_INTERLEAVE_FILES = 64, POOL_INTERLEAVE_BYTES = 256 << 10 };

struct pool_options {
    const char *directory; /* DIR */
    struct track_format format;
    uint64_t seed;
    uint64_t min_file_bytes; /* audio bytes a file must hold at least */
    uint64_t limit_bytes;    /* most space for all files; 0: the default, a tenth of what is free
                                now, at most 16 GiB */
    bool interleaved;        /* files lie piece by piece in turn, as POOL_INTERLEAVE_BYTES says */
    bool modelled;           /* no folder and no files: only what they would be */
    bool keep;               /* leave the files at pool_close */
    /* Called while files are written, at least every 64 MiB; a non-zero return asks to stop
     * (ERROR_INTERRUPTED). May be NULL. */
    int (*progress)(void *user, uint64_t done_bytes, uint64_t wanted_bytes);
    void *user;
};

struct pool; /* opaque */

/*
 * Takes the folder: makes it, or takes over what an earlier run left (files are reused where they
 * match, removed where not). Two runs at once on one DIR: the second gets an error.
 * Errors: DIR not there, not a folder, read-only; a folder of that name that is not ours.
 */
int pool_open(struct pool **pool, const struct pool_options *options, struct error *error);

/*
 * Makes sure of at least min(`files`, what the limit allows, never fewer than one) files, written,
 * synced and dropped from the page cache. Errors: less than a tenth of the drive's free space
 * would be left, or a write failed: the file at fault is removed again, the others stay valid.
 */
int pool_grow(struct pool *pool, uint32_t files, struct error *error);

uint32_t pool_files(const struct pool *pool);       /* that exist now */
uint32_t pool_files_limit(const struct pool *pool); /* that the byte limit allows, at least 1 */
uint64_t pool_bytes(const struct pool *pool);       /* that they take now */
uint64_t pool_limit_bytes(const struct pool *pool); /* in force */
uint64_t pool_data_offset(const struct pool *pool); /* valid once a file exists */
uint64_t pool_file_frames(const struct pool *pool);

/* Opens file `index` (0-based) for streaming. Returns the descriptor (for pool_close_file), or -1
 * with an error naming the file; where the filesystem refuses O_DIRECT it says `--io buffered`. */
int pool_open_file(const struct pool *pool, uint32_t index, bool direct, struct error *error);
void pool_close_file(const struct pool *pool, int file);

/* Writes file `index`'s path (for messages) into `out`; returns it. */
const char *pool_file_path(const struct pool *pool, uint32_t index, char *out, size_t out_bytes);

/*
 * Drops the files from the page cache and looks whether they are gone. `*resident` gets the share
 * (0 to 1) still cached, or -1 where the system cannot tell.
 */
int pool_evict(const struct pool *pool, double *resident, struct error *error);

/* Removes the files and the folder (unless `keep`), unlocks, frees; takes NULL. Errors while
 * removing go to `error` (may be NULL); everything that can be removed is. */
int pool_close(struct pool *pool, struct error *error);

/* `trackramp clean`: removes what a run left in DIR. `*files`: how many files went. A folder that
 * is not ours, or in use by a running trackramp, is an error and stays as it is. No folder: 0. */
int pool_clean(const char *directory, uint32_t *files, struct error *error);

#endif
