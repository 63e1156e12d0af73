#include "pool.h"

#include "pool_cache.h"
#include "pool_parts.h"
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
 * its own only once it is synced (pool_grow), so whatever stops us, a file that bears its name is
 * whole. A modelled pool has the same arithmetic and no files: its drive holds whatever is asked.
 */

enum { ALIGN_BYTES = 4096, ALIGN_FRAMES = 8, DISK_BLOCK_BYTES = 4096 };
#define MODELLED_LIMIT_BYTES (UINT64_C(16) << 30)

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
    pool->marker.interleaved = options->interleaved;
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
        found.interleaved == wanted->interleaved && found.data_offset == wanted->data_offset &&
        found.file_frames >= wanted->file_frames) {
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

static void limit_files(struct pool *pool, uint64_t limit_bytes)
{
    uint64_t fitting = limit_bytes / pool->disk_bytes;
    pool->files_limit = fitting < POOL_TRACKS_MAX ? (uint32_t)fitting : POOL_TRACKS_MAX;
}

static int prepare(struct pool *pool, uint64_t limit_bytes, struct error *error)
{
    uint32_t removed;
    if (adopt_files(pool, error) != 0 ||
        pool_space_init(&pool->space, &pool->folder, pool_bytes(pool), pool->disk_bytes,
                        limit_bytes, error) != 0)
        return -1;
    limit_files(pool, pool->space.limit_bytes);
    if (pool->files > pool->files_limit) {
        pool->files = pool->files_limit;
        if (pool_folder_trim(&pool->folder, pool->marker.format.container, pool->files, &removed,
                             error) != 0)
            return -1;
    }
    return pool_marker_write(pool->folder.folder, &pool->marker, pool->folder.path, error);
}

static void open_modelled(struct pool *pool, uint64_t limit_bytes)
{
    pool->modelled = true;
    pool->space.limit_bytes = limit_bytes > 0 ? limit_bytes : MODELLED_LIMIT_BYTES;
    limit_files(pool, pool->space.limit_bytes);
    if (pool->files_limit == 0)
        pool->files_limit = 1;
}

int pool_open(struct pool **pool, const struct pool_options *options, struct error *error)
{
    struct pool *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "%s: out of memory", options->directory);
    made->keep = options->keep;
    made->progress = options->progress;
    made->user = options->user;
    if (plan_files(made, options, error) != 0) {
        free(made);
        return -1;
    }
    if (options->modelled) {
        open_modelled(made, options->limit_bytes);
        *pool = made;
        return 0;
    }
    if (pool_folder_open(&made->folder, options->directory, true, error) != 1) {
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
    if (pool->modelled) {
        snprintf(out, out_bytes, "modelled file %u", index + 1);
        return out;
    }
    char name[POOL_NAME_BYTES];
    pool_folder_track_name(name, pool->marker.format.container, index, false);
    snprintf(out, out_bytes, "%s/%s", pool->folder.path, name);
    return out;
}

int pool_open_file(const struct pool *pool, uint32_t index, bool direct, struct error *error)
{
    if (pool->modelled)
        return (int)index;
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

void pool_close_file(const struct pool *pool, int file)
{
    if (!pool->modelled)
        close(file);
}

int pool_evict(const struct pool *pool, double *resident, struct error *error)
{
    int64_t cached_bytes = 0;
    *resident = 0;
    if (pool->modelled) /* no file, so no descriptor that could be closed again */
        return 0;
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
    if (pool->modelled) {
        free(pool);
        return 0;
    }
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
