#include "guards.h"

#include "guards_probe.h"
#include "units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Direct is what the system did, not what was asked, and a file full of space need not hold data.
 * Each guard looks at one thing that is known to deceive, by what the system says where it says
 * something, and by an experiment where it does not. None of them ends a run: the numbers are
 * true of what was measured, but that may not be the drive.
 */

/* The first reading of a drive takes so many files (cell.c), unless it may not open as many. */
enum { FILES = 64 };

/* A share of the files this small changes no count. */
static const double noticed_share = 0.01;

/* The page cache keeps everything it reads, or nothing. */
static const double kept_suspiciously = 0.5;

/* What a device may have read less than we did: requests under way when it was asked. */
static const double device_share = 0.9;

/* A trial cannot read faster than flat out, but for the drive's weather. */
static const double faster_than_flood = 1.5;

/* --- warnings ----------------------------------------------------------------------------- */

static void warn_all(struct result_volume *volume, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void warn_all(struct result_volume *volume, const char *kind, const char *format, ...)
{
    char text[sizeof((struct result_warning *)0)->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < volume->cell_count; i++)
        result_warn(&volume->cells[i], kind, "%s", text);
}

/* --- before: the filesystem and what lies below -------------------------------------------- */

enum guards_filesystem guards_filesystem(const char *type)
{
    static const char *const memory[] = {"tmpfs", "ramfs", "devtmpfs"};
    /* Served by a program or another machine, through whatever that caches; laid over another
     * filesystem; or with a cache of its own that O_DIRECT does not pass by. */
    static const char *const cached[] = {
        "fuse",    "fuseblk", "nfs",     "nfs4",     "cifs",     "smb3",   "smbfs",
        "9p",      "ceph",    "afs",     "vboxsf",   "virtiofs", "prl_fs", "fuse.*",
        "overlay", "aufs",    "unionfs", "ecryptfs", "zfs",
    };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        if (strcmp(type, memory[i]) == 0)
            return GUARDS_MEMORY;
    }
    for (size_t i = 0; i < sizeof cached / sizeof *cached; i++) {
        size_t length = strcspn(cached[i], "*");
        if (cached[i][length] == '*' ? strncmp(type, cached[i], length) == 0
                                     : strcmp(type, cached[i]) == 0)
            return GUARDS_CACHED_BELOW;
    }
    return GUARDS_DRIVE;
}

static void look_at_filesystem(struct guards *guards, struct result_volume *volume)
{
    const char *type = volume->drive.filesystem_type;
    enum guards_filesystem kind = guards_filesystem(type);
    if (kind == GUARDS_MEMORY) {
        guards->buffered = true;
        warn_all(volume, "memory",
                 "%s is memory and no drive, so the counts say nothing of one; name a folder on a "
                 "drive",
                 type);
    } else if (kind == GUARDS_CACHED_BELOW) {
        warn_all(
            volume, "unverified",
            "%s may answer from a cache below it, whatever is asked of it here; measure on the "
            "drive's own filesystem, or with a --pool-size larger than the memory behind it",
            type);
    }
}

static void look_below(struct guards *guards, const struct bench *bench,
                       struct result_volume *volume)
{
    struct storage_below below;
    storage_look_below(&bench->devices, &below);
    guards->link_bytes_per_second = below.link_bytes_per_second;
    if (below.memory[0] != '\0') {
        guards->buffered = true;
        warn_all(volume, "memory",
                 "the data lies on %s, which is memory and no drive, so the counts say nothing of "
                 "one; name a folder on a drive",
                 below.memory);
    }
    if (below.cached_loop[0] != '\0') {
        guards->buffered = true;
        warn_all(volume, "loop-cached",
                 "%s is a loop device without direct I/O, so the page cache serves its file; turn "
                 "it on with `losetup --direct-io=on /dev/%s`",
                 below.cached_loop, below.cached_loop);
    }
}

/* --- before: the files --------------------------------------------------------------------- */

void guards_doubt_extents(const struct storage_extents *extents, struct result_volume *volume)
{
    const struct {
        const char *kind, *what;
        uint64_t bytes;
    } doubts[] = {
        {"unwritten", "is space that was never written, which reads as zeros without the drive",
         extents->unwritten_bytes},
        {"sparse", "is holes, which read as zeros without the drive", extents->hole_bytes},
        {"compressed",
         "is stored compressed, so the drive reads less than is played, and through the page cache",
         extents->compressed_bytes},
        {"inline", "lies among the filesystem's own data, which is cached", extents->inline_bytes},
    };
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
        double share = (double)doubts[i].bytes / (double)extents->file_bytes;
        if (extents->file_bytes > 0 && share > noticed_share)
            warn_all(volume, doubts[i].kind,
                     "%.0f %% of the test files %s; run `trackramp clean`, then measure again",
                     100 * share, doubts[i].what);
    }
}

/* The blocks that reads past the cache ask for, against what the filesystem takes for direct. */
static void doubt_alignment(struct guards *guards, int64_t align_bytes,
                            struct result_volume *volume)
{
    char block[32], align[32];
    if (align_bytes == 0) {
        guards->buffered = true;
        warn_all(
            volume, "not-direct",
            "%s reads these files through the page cache, whatever is asked of it (data=journal "
            "and encryption make it so); mount it without",
            volume->drive.filesystem_type);
    }
    for (size_t i = 0; i < volume->cell_count && align_bytes > 0; i++) {
        struct result_cell *cell = &volume->cells[i];
        if (cell->block_bytes % align_bytes == 0)
            continue;
        guards->buffered = true;
        result_warn(cell, "not-direct",
                    "direct reads need multiples of %s here, so blocks of %s may go through the "
                    "page cache; use a larger --block-size",
                    units_format_bytes(align, sizeof align, (uint64_t)align_bytes),
                    units_format_bytes(block, sizeof block, cell->block_bytes));
    }
}

/* Some of the files, from the first to the last. */
static int look_at_files(struct guards *guards, const struct bench *bench,
                         struct result_volume *volume, struct error *error)
{
    const struct pool *pool = bench->pool;
    const uint32_t files = pool_files(pool), step = (files - 1) / FILES + 1;
    const uint64_t file_bytes =
        pool_data_offset(pool) + pool_file_frames(pool) * format_frame_bytes(&bench->plan->format);
    struct storage_extents extents = {0};
    for (uint32_t index = 0; index < files; index += step) {
        int file = pool_open_file(pool, index, bench->plan->direct, error);
        if (file < 0)
            return -1;
        storage_add_extents(file, file_bytes, &extents);
        if (index == 0 && bench->plan->direct)
            doubt_alignment(guards, storage_direct_align_bytes(file), volume);
        close(file);
    }
    guards_doubt_extents(&extents, volume);
    /* Compressed data is read, unpacked and kept by the page cache. */
    guards->buffered = guards->buffered || extents.compressed_bytes > 0;
    return 0;
}

/* --- before: the experiment ---------------------------------------------------------------- */

static int read_twice(struct guards *guards, struct bench *bench, struct result_volume *volume,
                      struct error *error)
{
    struct guards_probe probe;
    char bytes[32];
    const char *type = volume->drive.filesystem_type;
    if (guards_filesystem(type) == GUARDS_MEMORY)
        return 0;
    if (guards_probe(&probe, bench, error) != 0)
        return -1;
    if (probe.kept_share > kept_suspiciously) {
        guards->buffered = true;
        warn_all(volume, "not-direct",
                 "the page cache kept what was read past it, so %s did not read directly; see its "
                 "mount options, or compare with --io buffered",
                 type);
    }
    if (probe.ratio > guards_suspicious_ratio) {
        /* Below a filesystem that reads directly it may be the drive's own, and part of it. */
        guards->buffered = guards->buffered || guards_filesystem(type) == GUARDS_CACHED_BELOW;
        warn_all(volume, "cache-below",
                 "%s came %.1f times as fast when read again: a cache lies below the filesystem, "
                 "and counts may be its own; use a --pool-size larger than that cache",
                 units_format_bytes(bytes, sizeof bytes, probe.bytes), probe.ratio);
    }
    return 0;
}

int guards_look(struct guards *guards, struct bench *bench, struct result_volume *volume,
                struct error *error)
{
    struct storage_counters counters;
    memset(guards, 0, sizeof *guards);
    memset(&bench->devices, 0, sizeof bench->devices);
    if (bench->plan->engine == PLAN_ENGINE_MODEL)
        return 0;
    storage_find_devices(&bench->devices, volume->path, &volume->drive);
    look_at_filesystem(guards, volume);
    look_below(guards, bench, volume);
    uint32_t files = bench->capacity < FILES ? bench->capacity : FILES;
    if (pool_grow(bench->pool, files, error) != 0 ||
        look_at_files(guards, bench, volume, error) != 0)
        return -1;
    guards->counted = storage_count(&bench->devices, &counters);
    return bench->plan->direct ? read_twice(guards, bench, volume, error) : 0;
}

/* --- after --------------------------------------------------------------------------------- */

static bool has_warning(const struct result_cell *cell, const char *kind)
{
    for (size_t i = 0; i < cell->warning_count; i++) {
        if (strcmp(cell->warnings[i].kind, kind) == 0)
            return true;
    }
    return false;
}

/* Did the drive read what arrived? */
static void judge_device(struct guards *guards, bool direct, struct result_cell *cell)
{
    const struct result_device *device = &cell->device;
    if (!guards->counted || device->our_bytes == 0)
        return;
    double share = (double)device->bytes / (double)device->our_bytes;
    if (share >= device_share)
        return;
    guards->buffered = guards->buffered || direct;
    result_warn(cell, "served-from-cache",
                "of what was read flat out the drive itself read %.0f %%, the rest came from a "
                "cache; %s, or use a larger --pool-size",
                100 * share, direct ? "measure on the drive's own filesystem" : "use --io direct");
}

static void judge_speed(const struct guards *guards, struct result_cell *cell)
{
    if (guards->link_bytes_per_second > 0 &&
        cell->flood_bytes_per_second > guards->link_bytes_per_second)
        result_warn(cell, "above-link",
                    "data came faster (%.0f MB/s) than the drive's link carries (%.0f MB/s), so a "
                    "cache served it; use --io direct, or a larger --pool-size",
                    cell->flood_bytes_per_second / 1e6, guards->link_bytes_per_second / 1e6);
    if (cell->flood_bytes_per_second > 0 &&
        cell->stream_bytes_per_second > faster_than_flood * cell->flood_bytes_per_second)
        result_warn(
            cell, "above-flood",
            "the tracks were read %.1f times as fast as the drive reads flat out, so a cache "
            "may have served them; use a larger --pool-size",
            cell->stream_bytes_per_second / cell->flood_bytes_per_second);
}

/* Through the page cache, where nobody could tell whether the files were cold and no device has
 * counted them coming. */
static void judge_size(const struct guards *guards, uint64_t memory_bytes,
                       const struct result_volume *volume, struct result_cell *cell)
{
    char pool[32], memory[32];
    if (!has_warning(cell, "cache-unknown") || volume->pool_bytes >= memory_bytes ||
        (guards->counted && cell->device.our_bytes > 0))
        return;
    result_warn(cell, "small-data",
                "the test files (%s) fit into memory (%s) and nothing here proves that they were "
                "cold; use --io direct, or a --pool-size larger than memory",
                units_format_bytes(pool, sizeof pool, volume->pool_bytes),
                units_format_bytes(memory, sizeof memory, memory_bytes));
}

void guards_judge(struct guards *guards, bool direct, uint64_t memory_bytes,
                  struct result_volume *volume)
{
    for (size_t i = 0; i < volume->cell_count; i++) {
        judge_device(guards, direct, &volume->cells[i]);
        judge_speed(guards, &volume->cells[i]);
        judge_size(guards, memory_bytes, volume, &volume->cells[i]);
    }
}
