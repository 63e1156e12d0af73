#include "guards_probe.h"

#include "monotonic.h"
#include "pool_cache.h"
#include "stats.h"
#include "units.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * A drive reads the same data again as fast as the first time; a cache does not. Measured on one
 * drive: 0.9 to 1.4 past all caches, 2.9 to 6 on ntfs-3g, 4.5 on a loop device without direct I/O.
 * Single pieces meet the drive's weather, so their medians are compared.
 *
 * What was only just written may lie in that cache already, and then both times are the cache's:
 * the probe can prove a cache and never its absence. What the devices count says more
 * (guards_judge).
 */

enum { PIECE_BYTES = 1 << 20, ALIGN_BYTES = 4096, PIECES_MOST = 32, PIECES_LEAST = 4 };
static const uint64_t pass_ns = UNITS_NS_PER_SECOND;

const double guards_suspicious_ratio = 1.5;

/* Piece after piece through the files, `per_file` to each. */
struct source {
    struct bench *bench;
    uint64_t file_bytes, piece_bytes;
    uint32_t per_file, pieces;
    void *buffer;
    int file; /* open for `index`; -1: none is */
    uint32_t index;
};

static void plan_source(struct source *source, struct bench *bench)
{
    const struct pool *pool = bench->pool;
    source->bench = bench;
    source->file = -1;
    source->file_bytes =
        pool_data_offset(pool) + pool_file_frames(pool) * format_frame_bytes(&bench->plan->format);
    source->piece_bytes = source->file_bytes < PIECE_BYTES
                              ? source->file_bytes / ALIGN_BYTES * ALIGN_BYTES
                              : PIECE_BYTES;
    if (source->piece_bytes > 0)
        source->per_file = (uint32_t)(source->file_bytes / source->piece_bytes);
    uint64_t pieces = (uint64_t)source->per_file * pool_files(pool);
    source->pieces = pieces < 2 * PIECES_MOST ? (uint32_t)pieces : 2 * PIECES_MOST;
}

static void leave_file(struct source *source)
{
    if (source->file >= 0)
        close(source->file);
    source->file = -1;
}

/* Time to read a piece, or 0 where it cannot be read. */
static uint64_t read_piece(struct source *source, uint32_t piece)
{
    struct error ignored = {0};
    uint32_t index = piece / source->per_file;
    if (source->file < 0 || source->index != index) {
        leave_file(source);
        source->file = pool_open_file(source->bench->pool, index, true, &ignored);
        source->index = index;
    }
    uint64_t offset_bytes = piece % source->per_file * source->piece_bytes;
    uint64_t began_ns = monotonic_ns();
    ssize_t bytes = pread(source->file, source->buffer, source->piece_bytes, (off_t)offset_bytes);
    uint64_t took_ns = monotonic_ns() - began_ns;
    return bytes == (ssize_t)source->piece_bytes ? took_ns + 1 : 0;
}

/* Up to `*count` pieces from `first` on, for about a second but some in any case. `*count`: how
 * many they were, 0 where one cannot be read. */
static int read_pass(struct source *source, uint32_t first, size_t *count, uint64_t *ns,
                     struct error *error)
{
    size_t wanted = *count;
    uint64_t began_ns = monotonic_ns();
    *count = 0;
    while (*count < wanted && (*count < PIECES_LEAST || monotonic_ns() - began_ns < pass_ns)) {
        if (bench_poll(source->bench, error) != 0)
            return -1;
        ns[*count] = read_piece(source, first + (uint32_t)*count);
        if (ns[*count] == 0) {
            *count = 0;
            return 0;
        }
        ++*count;
    }
    return 0;
}

/* Bytes of the files behind the first `pieces` pieces in the page cache; -1: not known. */
static int64_t cached_bytes(const struct source *source, size_t pieces, bool drop)
{
    struct error ignored = {0};
    int64_t sum = 0;
    uint32_t files = (uint32_t)((pieces - 1) / source->per_file) + 1;
    for (uint32_t index = 0; index < files && sum >= 0; index++) {
        int file = pool_open_file(source->bench->pool, index, false, &ignored);
        if (file < 0)
            return -1;
        if (drop)
            pool_cache_drop(file);
        int64_t bytes = pool_cache_resident_bytes(file, source->file_bytes);
        close(file);
        sum = bytes < 0 ? -1 : sum + bytes;
    }
    return sum;
}

double guards_ratio(uint64_t *first_ns, uint64_t *second_ns, size_t count)
{
    uint64_t second = stats_median(second_ns, count);
    return second > 0 ? (double)stats_median(first_ns, count) / (double)second : 0;
}

/* Pieces from `first` on, twice. `*count` as above. */
static int compare_passes(struct source *source, uint32_t first, size_t *count, double *ratio,
                          struct error *error)
{
    uint64_t first_ns[PIECES_MOST], second_ns[PIECES_MOST];
    *ratio = 0;
    if (read_pass(source, first, count, first_ns, error) != 0)
        return -1;
    size_t again = *count;
    if (read_pass(source, first, &again, second_ns, error) != 0)
        return -1;
    *ratio = guards_ratio(first_ns, second_ns, again);
    return 0;
}

static int run_probe(struct guards_probe *probe, struct source *source, struct error *error)
{
    const uint32_t half = source->pieces / 2;
    size_t count = 1;
    uint64_t warm_up_ns;
    double second_ratio;
    int64_t before_bytes = cached_bytes(source, half, true);
    /* The last one, for whatever is slow the first time: the buffer, the clock, the filesystem. */
    if (read_pass(source, source->pieces - 1, &count, &warm_up_ns, error) != 0)
        return -1;
    count = half;
    if (compare_passes(source, 0, &count, &probe->ratio, error) != 0)
        return -1;
    probe->bytes = count * source->piece_bytes;
    leave_file(source);
    int64_t after_bytes = cached_bytes(source, half, false);
    if (before_bytes >= 0 && after_bytes >= 0 && probe->bytes > 0)
        probe->kept_share = after_bytes > before_bytes
                                ? (double)(after_bytes - before_bytes) / (double)probe->bytes
                                : 0;
    if (probe->ratio <= guards_suspicious_ratio)
        return 0;
    count = half - 1; /* the last one is read already */
    if (compare_passes(source, half, &count, &second_ratio, error) != 0)
        return -1;
    if (second_ratio < probe->ratio)
        probe->ratio = second_ratio;
    return 0;
}

int guards_probe(struct guards_probe *probe, struct bench *bench, struct error *error)
{
    struct source source = {0};
    *probe = (struct guards_probe){.kept_share = -1};
    plan_source(&source, bench);
    if (source.pieces < 2 * PIECES_LEAST + 2)
        return 0;
    source.buffer = aligned_alloc(ALIGN_BYTES, source.piece_bytes);
    if (source.buffer == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for reading test files");
    bench->progress.doing = "looking for caches";
    int result = run_probe(probe, &source, error);
    leave_file(&source);
    free(source.buffer);
    return result;
}
