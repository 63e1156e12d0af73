#include "pool.h"

#include "pool_cache.h"
#include "pool_folder.h"
#include "pool_marker.h"
#include "pool_space.h"
#include "pool_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A pool is its folder (pool_folder), what the marker in it says (pool_marker), and a count: files
 * 0 .. files-1 exist, whole and on the drive. A file is written under an unfinished name and gets
 * its own only once it is synced, so whatever stops us, a file that bears its name is whole.
 *
 * Files are written in batches: write-back of each starts as it is written, then all are synced.
 * One journal commit then serves the batch, where a sync after each file would wait for its own.
 */

enum { BATCH_FILES = 32, ALIGN_BYTES = 4096, ALIGN_FRAMES = 8, DISK_BLOCK_BYTES = 4096 };
#define BATCH_BYTES (UINT64_C(32) << 20)

struct pool {
    struct pool_folder folder;
    struct pool_marker marker;
    uint64_t file_bytes; /* header and audio */
    uint64_t disk_bytes; /* that a file takes: whole blocks */
    struct pool_space space;
    uint32_t files_limit;
    uint32_t files;
    bool keep;
    int (*progress)(void *user, uint64_t done_bytes, uint64_t wanted_bytes);
    void *user;
    /* while growing */
    uint64_t done_bytes;
    uint64_t wanted_bytes;
};

static uint64_t round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* --- opening ------------------------------------------------------------------------------ */

static void set_file_frames(struct pool *pool, uint64_t file_frames)
{
    pool->marker.file_frames = file_frames;
    pool->file_bytes =
        pool->marker.data_offset + file_frames * format_frame_bytes(&pool->marker.format);
    pool->disk_bytes = round_up(pool->file_bytes, DISK_BLOCK_BYTES);
}

/* What this run's files are, were there none yet. */
static int plan_files(struct pool *pool, const struct pool_options *options, struct error *error)
{
    pool->marker.format = options->format;
    pool->marker.seed = options->seed;
    if (pool_writer_data_offset(&options->format, &pool->marker.data_offset, error) != 0)
        return -1;
    const uint32_t frame_bytes = format_frame_bytes(&options->format);
    uint64_t audio_bytes =
        options->min_file_bytes > 0 ? round_up(options->min_file_bytes, ALIGN_BYTES) : ALIGN_BYTES;
    set_file_frames(pool, round_up((audio_bytes + frame_bytes - 1) / frame_bytes, ALIGN_FRAMES));
    return 0;
}

/* Keeps the files of an earlier run that are as this run wants them, removes the others. */
static int adopt_files(struct pool *pool, struct error *error)
{
    const struct pool_marker *wanted = &pool->marker;
    struct pool_marker found;
    if (pool_marker_read(pool->folder.folder, &found) &&
        found.format.container == wanted->format.container &&
        found.format.encoding == wanted->format.encoding &&
        found.format.sample_rate_hz == wanted->format.sample_rate_hz &&
        found.format.channels == wanted->format.channels && found.seed == wanted->seed &&
        found.data_offset == wanted->data_offset && found.file_frames >= wanted->file_frames) {
        uint64_t planned_frames = wanted->file_frames;
        set_file_frames(pool, found.file_frames);
        pool->files = pool_folder_count(&pool->folder, wanted->format.container, pool->file_bytes);
        if (pool->files == 0)
            set_file_frames(pool, planned_frames);
    }
    uint32_t removed;
    if (pool_folder_trim(&pool->folder, wanted->format.container, pool->files, &removed, error) !=
        0)
        return -1;
    /* Some filesystems (Btrfs) give removed files' space back only when they next commit. */
    if (removed > 0)
        (void)syncfs(pool->folder.folder);
    return 0;
}

static int prepare(struct pool *pool, uint64_t limit_bytes, struct error *error)
{
    uint32_t removed;
    if (adopt_files(pool, error) != 0 ||
        pool_space_init(&pool->space, &pool->folder, pool_bytes(pool), pool->disk_bytes,
                        limit_bytes, error) != 0)
        return -1;
    uint64_t fitting = pool->space.limit_bytes / pool->disk_bytes;
    pool->files_limit = fitting < POOL_TRACKS_MAX ? (uint32_t)fitting : POOL_TRACKS_MAX;
    if (pool->files > pool->files_limit) {
        pool->files = pool->files_limit;
        if (pool_folder_trim(&pool->folder, pool->marker.format.container, pool->files, &removed,
                             error) != 0)
            return -1;
    }
    return pool_marker_write(pool->folder.folder, &pool->marker, pool->folder.path, error);
}

int pool_open(struct pool **pool, const struct pool_options *options, struct error *error)
{
    struct pool *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "%s: out of memory", options->directory);
    made->keep = options->keep;
    made->progress = options->progress;
    made->user = options->user;
    if (plan_files(made, options, error) != 0 ||
        pool_folder_open(&made->folder, options->directory, true, error) != 1) {
        free(made);
        return -1;
    }
    if (prepare(made, options->limit_bytes, error) != 0) {
        struct error ignored = {.kind = ERROR_NONE};
        uint32_t files;
        if (made->folder.made)
            pool_folder_remove(&made->folder, &files, &ignored);
        pool_folder_close(&made->folder);
        free(made);
        return -1;
    }
    *pool = made;
    return 0;
}

/* --- growing ------------------------------------------------------------------------------ */

static int report_progress(void *user, uint64_t done_bytes)
{
    const struct pool *pool = user;
    if (pool->progress == NULL)
        return 0;
    return pool->progress(pool->user, pool->done_bytes + done_bytes, pool->wanted_bytes);
}

/* Writes file `index` under its unfinished name. `*descriptor` stays open for the sync. */
static int write_unfinished(struct pool *pool, uint32_t index, int *descriptor, struct error *error)
{
    char name[POOL_NAME_BYTES], path[PATH_MAX + POOL_NAME_BYTES];
    const enum container container = pool->marker.format.container;
    pool_folder_track_name(name, container, index, true);
    snprintf(path, sizeof path, "%s/%s", pool->folder.path, name);
    if (pool_space_check(&pool->space, &pool->folder, pool->disk_bytes, error) != 0)
        return -1;
    *descriptor = openat(pool->folder.folder, name,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (*descriptor < 0)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s: cannot make the test file: %s; free some space or choose another DIR",
                         path, strerror(errno));
    struct pool_writer writer = {.format = pool->marker.format,
                                 .seed = pool->marker.seed,
                                 .frames = pool->marker.file_frames,
                                 .progress = report_progress,
                                 .user = pool};
    if (pool_writer_write(&writer, *descriptor, path, index, error) != 0) {
        unlinkat(pool->folder.folder, name, 0);
        close(*descriptor);
        return -1;
    }
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

static int grow_batch(struct pool *pool, uint32_t target, struct error *error)
{
    int descriptors[BATCH_FILES];
    const uint32_t first = pool->files;
    uint32_t count = 0;
    int result = 0;
    while (result == 0 && count < BATCH_FILES && first + count < target &&
           (count == 0 || (count + 1) * pool->file_bytes <= BATCH_BYTES)) {
        result = write_unfinished(pool, first + count, &descriptors[count], error);
        if (result == 0)
            count++;
    }
    /* Who interrupts wants out at once: a slow drive would sync for seconds. A file that failed
     * is no reason to give up those before it. */
    bool wanted = error->kind != ERROR_INTERRUPTED;
    for (uint32_t i = 0; i < count; i++) {
        if (finish_file(pool, first + i, descriptors[i], wanted, error) != 0) {
            wanted = false;
            result = -1;
        }
    }
    return result;
}

int pool_grow(struct pool *pool, uint32_t files, struct error *error)
{
    uint32_t target = files < pool->files_limit ? files : pool->files_limit;
    if (target == 0)
        target = 1;
    if (target <= pool->files)
        return 0;
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

/* --- using -------------------------------------------------------------------------------- */

uint32_t pool_files(const struct pool *pool)
{
    return pool->files;
}

uint32_t pool_files_limit(const struct pool *pool)
{
    return pool->files_limit;
}

uint64_t pool_bytes(const struct pool *pool)
{
    return pool->files * pool->disk_bytes;
}

uint64_t pool_limit_bytes(const struct pool *pool)
{
    return pool->space.limit_bytes;
}

uint64_t pool_data_offset(const struct pool *pool)
{
    return pool->marker.data_offset;
}

uint64_t pool_file_frames(const struct pool *pool)
{
    return pool->marker.file_frames;
}

const char *pool_file_path(const struct pool *pool, uint32_t index, char *out, size_t out_bytes)
{
    char name[POOL_NAME_BYTES];
    pool_folder_track_name(name, pool->marker.format.container, index, false);
    snprintf(out, out_bytes, "%s/%s", pool->folder.path, name);
    return out;
}

int pool_open_file(const struct pool *pool, uint32_t index, bool direct, struct error *error)
{
    char name[POOL_NAME_BYTES], path[PATH_MAX + POOL_NAME_BYTES];
    pool_folder_track_name(name, pool->marker.format.container, index, false);
    int file = openat(pool->folder.folder, name,
                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (direct ? O_DIRECT : 0));
    if (file >= 0)
        return file;
    const int reason = errno;
    pool_file_path(pool, index, path, sizeof path);
    if (reason == EINVAL && direct)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s: the filesystem there has no direct reads; read through the page "
                         "cache with --io buffered",
                         path);
    if (reason == EMFILE || reason == ENFILE)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s: %s; raise the limit (ulimit -n) or ask for less with --max-tracks",
                         path, strerror(reason));
    return error_set(error, ERROR_ENVIRONMENT,
                     "%s: cannot open the test file: %s; run `trackramp clean`, then again", path,
                     strerror(reason));
}

int pool_evict(const struct pool *pool, double *resident, struct error *error)
{
    int64_t cached_bytes = 0;
    for (uint32_t index = 0; index < pool->files; index++) {
        int file = pool_open_file(pool, index, false, error);
        if (file < 0)
            return -1;
        pool_cache_drop(file);
        int64_t bytes = pool_cache_resident_bytes(file, pool->file_bytes);
        close(file);
        cached_bytes = bytes < 0 || cached_bytes < 0 ? -1 : cached_bytes + bytes;
    }
    *resident = cached_bytes < 0 ? -1
                : pool->files == 0
                    ? 0
                    : (double)cached_bytes / ((double)pool->files * (double)pool->file_bytes);
    return 0;
}

/* --- leaving ------------------------------------------------------------------------------ */

int pool_close(struct pool *pool, struct error *error)
{
    struct error local = {.kind = ERROR_NONE};
    uint32_t files;
    int result = 0;
    if (pool == NULL)
        return 0;
    if (!pool->keep || pool->files == 0)
        result = pool_folder_remove(&pool->folder, &files, error != NULL ? error : &local);
    pool_folder_close(&pool->folder);
    free(pool);
    return result;
}

int pool_clean(const char *directory, uint32_t *files, struct error *error)
{
    struct pool_folder folder;
    *files = 0;
    int found = pool_folder_open(&folder, directory, false, error);
    if (found != 1)
        return found;
    int result = pool_folder_remove(&folder, files, error);
    pool_folder_close(&folder);
    return result;
}
