#include "pool_cache.h"
#include "pool_parts.h"
#include "pool_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Files are written in batches: write-back of each starts as it is written, then all are synced.
 * One journal commit then serves the batch, where a sync after each file would wait for its own.
 * Files that lie interleaved get their space first, a piece each in turn.
 */

enum { BATCH_FILES = 32, BATCH_FILES_MOST = POOL_INTERLEAVE_FILES };
#define BATCH_BYTES (UINT64_C(32) << 20)

static int report_progress(void *user, uint64_t done_bytes)
{
    const struct pool *pool = user;
    if (pool->progress == NULL)
        return 0;
    return pool->progress(pool->user, pool->done_bytes + done_bytes, pool->wanted_bytes);
}

/* Files of a batch: `made` of them are open under their unfinished names, `written` are whole. */
struct batch {
    uint32_t first;
    uint32_t made, written;
    int descriptors[BATCH_FILES_MOST];
};

static int make_next(struct pool *pool, struct batch *batch, struct error *error)
{
    char name[POOL_NAME_BYTES];
    pool_folder_track_name(name, pool->marker.format.container, batch->first + batch->made, true);
    uint32_t pending = batch->made - batch->written + 1; /* that have taken no space yet */
    if (pool_space_check(&pool->space, &pool->folder, pending * pool->disk_bytes, error) != 0)
        return -1;
    int descriptor = openat(pool->folder.folder, name,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (descriptor < 0)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s/%s: cannot make the test file: %s; free some space or choose another "
                         "DIR",
                         pool->folder.path, name, strerror(errno));
    batch->descriptors[batch->made++] = descriptor;
    return 0;
}

/*
 * Takes the space of all files of a batch, a piece each in turn. Filesystems allocate what is asked
 * for in this way at once and in this order; where they cannot, the C library writes instead, which
 * those (FUSE ones) answer in order too. What is written later goes into the space taken.
 */
static int take_space(struct pool *pool, const struct batch *batch, struct error *error)
{
    for (uint64_t offset = 0; offset < pool->file_bytes; offset += POOL_INTERLEAVE_BYTES) {
        uint64_t left = pool->file_bytes - offset;
        off_t bytes = (off_t)(left < POOL_INTERLEAVE_BYTES ? left : POOL_INTERLEAVE_BYTES);
        for (uint32_t i = 0; i < batch->made; i++) {
            int reason;
            do
                reason = posix_fallocate(batch->descriptors[i], (off_t)offset, bytes);
            while (reason == EINTR);
            if (reason != 0)
                return error_set(error, ERROR_ENVIRONMENT,
                                 "%s: cannot lay files out piece by piece: %s; free some space, or "
                                 "use --layout sequential",
                                 pool->folder.path, strerror(reason));
        }
        if (report_progress(pool, 0) != 0)
            return error_set(error, ERROR_INTERRUPTED, "interrupted while writing test files");
    }
    return 0;
}

static int write_next(struct pool *pool, struct batch *batch, struct error *error)
{
    char name[POOL_NAME_BYTES], path[PATH_MAX + POOL_NAME_BYTES];
    uint32_t index = batch->first + batch->written;
    pool_folder_track_name(name, pool->marker.format.container, index, true);
    snprintf(path, sizeof path, "%s/%s", pool->folder.path, name);
    struct pool_writer writer = {.format = pool->marker.format,
                                 .seed = pool->marker.seed,
                                 .frames = pool->marker.file_frames,
                                 .progress = report_progress,
                                 .user = pool};
    if (pool_writer_write(&writer, batch->descriptors[batch->written], path, index, error) != 0)
        return -1;
    batch->written++;
    pool->done_bytes += pool->marker.file_frames * format_frame_bytes(&pool->marker.format);
    return 0;
}

/* Syncs the next file, lets go of its pages and gives it its name; or, unless `wanted`, drops it.
 */
static int finish_file(struct pool *pool, uint32_t index, int descriptor, bool wanted,
                       struct error *error)
{
    char unfinished[POOL_NAME_BYTES], name[POOL_NAME_BYTES];
    const enum container container = pool->marker.format.container;
    const int folder = pool->folder.folder;
    pool_folder_track_name(unfinished, container, index, true);
    pool_folder_track_name(name, container, index, false);
    int result = wanted ? fsync(descriptor) : -1;
    if (result == 0) {
        pool_cache_drop(descriptor);
        result = renameat(folder, unfinished, folder, name);
    }
    if (result == 0) {
        pool->files++;
    } else {
        if (wanted)
            error_set(error, ERROR_ENVIRONMENT, "%s/%s: cannot finish the test file: %s; %s",
                      pool->folder.path, name, strerror(errno),
                      errno == EISDIR ? "move that folder away"
                                      : "check the drive, or ask for less with --pool-size");
        unlinkat(folder, unfinished, 0);
    }
    close(descriptor);
    return result;
}

static int write_interleaved(struct pool *pool, struct batch *batch, uint32_t files,
                             struct error *error)
{
    while (batch->made < files) {
        if (make_next(pool, batch, error) != 0)
            return -1;
    }
    if (take_space(pool, batch, error) != 0)
        return -1;
    while (batch->written < files) {
        if (write_next(pool, batch, error) != 0)
            return -1;
    }
    return 0;
}

static int write_sequential(struct pool *pool, struct batch *batch, uint32_t files,
                            struct error *error)
{
    while (batch->made < files &&
           (batch->made == 0 || (batch->made + 1) * pool->file_bytes <= BATCH_BYTES)) {
        if (make_next(pool, batch, error) != 0 || write_next(pool, batch, error) != 0)
            return -1;
    }
    return 0;
}

static int grow_batch(struct pool *pool, uint32_t target, struct error *error)
{
    struct batch batch = {.first = pool->files};
    uint32_t most = pool->marker.interleaved ? BATCH_FILES_MOST : BATCH_FILES;
    uint32_t files = target - pool->files < most ? target - pool->files : most;
    int result = pool->marker.interleaved ? write_interleaved(pool, &batch, files, error)
                                          : write_sequential(pool, &batch, files, error);
    /* Who interrupts wants out at once: a slow drive would sync for seconds. A file that failed
     * is no reason to give up those before it. */
    bool wanted = error->kind != ERROR_INTERRUPTED;
    for (uint32_t i = 0; i < batch.made; i++) {
        wanted = wanted && i < batch.written;
        if (finish_file(pool, batch.first + i, batch.descriptors[i], wanted, error) != 0) {
            wanted = false;
            result = -1;
        }
    }
    return result;
}

/* How many files there are to be: at least one, within the limit, interleaved ones in whole groups.
 */
static uint32_t files_to_be(const struct pool *pool, uint32_t files)
{
    uint64_t target = files > 0 ? files : 1;
    if (pool->marker.interleaved)
        target =
            (target + POOL_INTERLEAVE_FILES - 1) / POOL_INTERLEAVE_FILES * POOL_INTERLEAVE_FILES;
    return target < pool->files_limit ? (uint32_t)target : pool->files_limit;
}

int pool_grow(struct pool *pool, uint32_t files, struct error *error)
{
    uint32_t target = files_to_be(pool, files);
    if (target <= pool->files)
        return 0;
    if (pool->modelled) {
        pool->files = target;
        return 0;
    }
    pool->done_bytes = 0;
    pool->wanted_bytes = (target - pool->files) * pool->marker.file_frames *
                         format_frame_bytes(&pool->marker.format);
    while (pool->files < target) {
        if (grow_batch(pool, target, error) != 0)
            return -1;
    }
    return report_progress(pool, 0) != 0
               ? error_set(error, ERROR_INTERRUPTED, "interrupted while writing test files")
               : 0;
}
