#include "bench.h"

#include "host.h"
#include "monotonic.h"
#include "noise.h"
#include "simulation.h"
#include "trial.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Descriptors for everything that is no track: standard streams, libraries, engines, results. */
enum { SPARE_DESCRIPTORS = 64 };

/* Ring memory may take this share of what is free: test files being written want the rest. */
static const double memory_share = 0.6;

enum { SUM_FRAMES = 4096 };

enum { DEFAULT_QUEUE_DEPTH = 64, DEFAULT_THREADS = 16, LEAST_QUEUE_DEPTH = 2 };

/* Reads under way beyond this many bytes, or beyond what the drive does in this time, make no drive
 * faster, but every stop slower. */
static const uint64_t queue_bytes = 32 << 20;
static const double queue_s = 0.5;

/* In which reads that are under way have landed. */
static const uint64_t landing_ns = 100 * UNITS_NS_PER_MS;

/* A ring is never under two blocks: one being played, one being read. */
enum { RING_SLOTS_LEAST = 2 };

/* --- the clock and the memory ------------------------------------------------------------- */

static int open_mixer(struct bench *bench, struct error *error)
{
    const struct track_format *format = &bench->plan->format;
    bench->mixer = aligned_alloc(64, sizeof *bench->mixer);
    if (bench->mixer == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the mixer");
    memset(bench->mixer, 0, sizeof *bench->mixer);
    bench->mixer->format = *format;
    /* In virtual time mixing tells nothing: it takes none. */
    bench->mixer->silent = !bench->carries_data && simulation_is_on();
    bench->mixer->sum_frames = SUM_FRAMES;
    bench->mixer->sum = calloc((size_t)SUM_FRAMES * format->channels, sizeof(float));
    if (bench->mixer->sum == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the mixer");
    mixer_reset(bench->mixer);
    return 0;
}

static int open_audio(struct bench *bench, struct error *error)
{
    struct audio_options options = {.device = bench->plan->device,
                                    .sample_rate_hz = bench->plan->format.sample_rate_hz,
                                    .frames = bench->plan->frames,
                                    .render = mixer_render,
                                    .user = bench->mixer,
                                    .gone_s = bench->plan->model.device_gone_s};
    return audio_open(&bench->audio, &options, error);
}

static bool is_modelled(const struct plan *plan)
{
    return plan->engine == PLAN_ENGINE_MODEL;
}

/* How many tracks this process has descriptors, and the user's own bound, for. */
static void plan_capacity(struct bench *bench)
{
    uint64_t tracks = PLAN_TRACKS_MAX;
    if (!is_modelled(bench->plan)) {
        bench->descriptor_limit = host_raise_descriptor_limit();
        uint64_t spare = SPARE_DESCRIPTORS + bench->plan->readers; /* a uring is a descriptor too */
        tracks = bench->descriptor_limit > spare ? bench->descriptor_limit - spare : 1;
    }
    if (tracks > PLAN_TRACKS_MAX)
        tracks = PLAN_TRACKS_MAX;
    if (bench->plan->max_tracks > 0 && bench->plan->max_tracks < tracks)
        tracks = bench->plan->max_tracks;
    bench->capacity = (uint32_t)tracks;
}

static int open_memory(struct bench *bench, struct error *error)
{
    plan_capacity(bench);
    bench->tracks = calloc(bench->capacity, sizeof *bench->tracks);
    bench->rings = aligned_alloc(64, bench->capacity * sizeof *bench->rings);
    if (bench->tracks == NULL || bench->rings == NULL)
        return error_set(error, ERROR_ENVIRONMENT,
                         "out of memory for %u tracks; use fewer --max-tracks", bench->capacity);
    uint64_t limit = (uint64_t)((double)host_available_memory_bytes() * memory_share);
    if (bench->plan->model.memory_limit_bytes > 0)
        limit = bench->plan->model.memory_limit_bytes;
    return arena_init(&bench->arena, limit, error);
}

int bench_init(struct bench *bench, const struct plan *plan, const struct study_observer *observer,
               struct error *error)
{
    memset(bench, 0, sizeof *bench);
    bench->plan = plan;
    bench->observer = observer;
    bench->carries_data = !is_modelled(plan) || plan->model.data;
    struct host host;
    host_describe(&host);
    bench->cores = host.cores > 0 ? host.cores : 1;
    if (open_memory(bench, error) != 0 || open_mixer(bench, error) != 0 ||
        open_audio(bench, error) != 0) {
        bench_fini(bench);
        return -1;
    }
    return 0;
}

void bench_fini(struct bench *bench)
{
    if (bench->audio_lost && !audio_is_safe(bench->audio))
        return;
    audio_close(bench->audio);
    if (bench->mixer != NULL)
        free(bench->mixer->sum);
    free(bench->mixer);
    free(bench->tracks);
    free(bench->rings);
    free(bench->landed);
    arena_fini(&bench->arena);
    memset(bench, 0, sizeof *bench);
}

static void show(struct bench *bench)
{
    uint64_t now_ns = monotonic_ns();
    uint64_t left_ns = bench->expected_end_ns > now_ns ? bench->expected_end_ns - now_ns : 0;
    bench->progress.left_s = (double)left_ns / (double)UNITS_NS_PER_SECOND;
    bench->observer->progress(bench->observer->user, &bench->progress);
}

int bench_poll(struct bench *bench, struct error *error)
{
    if (audio_check(bench->audio, error) != 0) {
        bench->audio_lost = true;
        return -1;
    }
    if (bench->observer->interrupted(bench->observer->user))
        return error_set(error, ERROR_INTERRUPTED, "interrupted");
    show(bench);
    return 0;
}

/* --- the drive ---------------------------------------------------------------------------- */

static int poll_while_writing(void *user, uint64_t done_bytes, uint64_t wanted_bytes)
{
    struct bench *bench = user;
    bench->progress.doing = "writing test files";
    bench->progress.done_bytes = done_bytes;
    bench->progress.wanted_bytes = wanted_bytes;
    show(bench);
    bench->progress.done_bytes = bench->progress.wanted_bytes = 0;
    return bench->observer->interrupted(bench->observer->user);
}

/*
 * How long a test file must be: for what a confirming trial plays, and for a few blocks of the
 * largest size beside the one that the header takes a part of.
 */
static uint64_t file_bytes_needed(const struct plan *plan)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < plan->block_size_count; i++) {
        if (plan->block_bytes[i] > largest)
            largest = plan->block_bytes[i];
    }
    double played_s = plan->trial_s * TRIAL_CONFIRM_FACTOR + plan->buffer_s;
    uint64_t played = (uint64_t)(played_s * (double)format_bytes_per_second(&plan->format));
    return (played > 2 * largest ? played : 2 * largest) + largest;
}

/* What a modelled drive's files hold: what the pool would have written. */
static void give_content(void *user, uint32_t file, uint64_t offset_bytes, unsigned char *memory,
                         uint32_t bytes)
{
    const struct bench *bench = user;
    noise_fill(&bench->plan->format, bench->plan->seed, file,
               offset_bytes - pool_data_offset(bench->pool), memory, bytes);
}

static int open_model(struct bench *bench, struct error *error)
{
    const struct plan *plan = bench->plan;
    uint64_t file_bytes = pool_data_offset(bench->pool) +
                          pool_file_frames(bench->pool) * format_frame_bytes(&plan->format);
    uint64_t pieces = (file_bytes + POOL_INTERLEAVE_BYTES - 1) / POOL_INTERLEAVE_BYTES;
    bool interleaved = plan->layout == PLAN_LAYOUT_INTERLEAVED;
    bench->drive = model_drive_new(
        &(struct model_drive_options){.spec = &plan->model,
                                      .seed = plan->seed,
                                      .file_bytes = pieces * POOL_INTERLEAVE_BYTES,
                                      .group_files = interleaved ? POOL_INTERLEAVE_FILES : 1,
                                      .piece_bytes = POOL_INTERLEAVE_BYTES,
                                      .content = bench->carries_data ? give_content : NULL,
                                      .user = bench});
    return bench->drive != NULL
               ? 0
               : error_set(error, ERROR_ENVIRONMENT, "out of memory for the modelled drive");
}

int bench_open_drive(struct bench *bench, const char *directory, struct error *error)
{
    const struct plan *plan = bench->plan;
    bench->progress.directory = directory;
    bench->most_queue_depth = 0;
    struct pool_options options = {.directory = directory,
                                   .format = plan->format,
                                   .seed = plan->seed,
                                   .min_file_bytes = file_bytes_needed(plan),
                                   .limit_bytes = plan->pool_bytes,
                                   .keep = plan->keep,
                                   .interleaved = plan->layout == PLAN_LAYOUT_INTERLEAVED,
                                   .modelled = is_modelled(plan),
                                   .progress = poll_while_writing,
                                   .user = bench};
    if (pool_open(&bench->pool, &options, error) != 0)
        return -1;
    if (!is_modelled(plan) || open_model(bench, error) == 0)
        return 0;
    bench_close_drive(bench, NULL);
    return -1;
}

int bench_close_drive(struct bench *bench, struct error *error)
{
    for (uint32_t track = 0; track < bench->opened; track++)
        pool_close_file(bench->pool, bench->tracks[track].file);
    bench->opened = 0;
    struct pool *pool = bench->pool;
    bench->pool = NULL;
    model_drive_free(bench->drive);
    bench->drive = NULL;
    return pool_close(pool, error);
}

/* --- block size and tracks ---------------------------------------------------------------- */

static uint32_t clamp_depth(double depth, uint32_t most)
{
    if (depth < LEAST_QUEUE_DEPTH)
        return LEAST_QUEUE_DEPTH;
    return depth < most ? (uint32_t)depth : most;
}

void bench_set_engine(struct bench *bench, enum engine_kind kind)
{
    bench->readers.engine = kind;
    bench->readers.drive = bench->drive;
    bench->readers.readers = kind == ENGINE_THREADS ? DEFAULT_THREADS : 1;
    bench->readers.queue_depth = 1;
    if (bench->plan->readers > 0)
        bench->readers.readers = bench->plan->readers;
}

static void set_queue(struct bench *bench)
{
    if (bench->readers.engine == ENGINE_THREADS)
        bench->readers.queue_depth = 1;
    else if (bench->plan->queue_depth > 0)
        bench->readers.queue_depth = bench->plan->queue_depth;
    else
        bench->readers.queue_depth =
            clamp_depth((double)queue_bytes / bench->block_bytes, DEFAULT_QUEUE_DEPTH);
}

void bench_shorten_queue(struct bench *bench, double bytes_per_second)
{
    if (bench->readers.engine != ENGINE_THREADS && bench->plan->queue_depth == 0)
        bench->readers.queue_depth = clamp_depth(bytes_per_second * queue_s / bench->block_bytes,
                                                 bench->readers.queue_depth);
}

int bench_set_block(struct bench *bench, uint32_t block_bytes, struct error *error)
{
    double ring_bytes =
        bench->plan->buffer_s * (double)format_bytes_per_second(&bench->plan->format);
    double slots = ceil(ring_bytes / block_bytes);
    bench->block_bytes = block_bytes;
    set_queue(bench);
    bench->slots = slots > RING_SLOTS_LEAST ? (uint32_t)slots : RING_SLOTS_LEAST;
    if (bench->readers.queue_depth > bench->most_queue_depth)
        bench->most_queue_depth = bench->readers.queue_depth;
    uint64_t ring = (uint64_t)bench->slots * block_bytes;
    uint64_t by_memory = bench->arena.limit_bytes / ring;
    bool shared = !bench->carries_data && bench->plan->model.memory_limit_bytes == 0;
    if (shared && by_memory > 0)
        by_memory = PLAN_TRACKS_MAX;
    if (by_memory == 0)
        return error_set(error, ERROR_ENVIRONMENT,
                         "not even one ring of %.1f s fits into memory; use a smaller --buffer",
                         bench->plan->buffer_s);
    bench->tracks_limit = bench->capacity;
    bench->limit_reason = bench->capacity == bench->plan->max_tracks ? LIMIT_MAX_TRACKS
                          : bench->capacity == PLAN_TRACKS_MAX       ? LIMIT_MAX_TRACKS
                                                                     : LIMIT_FILE_HANDLES;
    if (by_memory < bench->tracks_limit) {
        bench->tracks_limit = (uint32_t)by_memory;
        bench->limit_reason = LIMIT_MEMORY;
    }
    free(bench->landed);
    bench->landed = calloc((size_t)bench->tracks_limit * bench->slots, 1);
    if (bench->landed == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for %u rings",
                         bench->tracks_limit);
    return 0;
}

double bench_demand_blocks(const struct bench *bench, uint32_t tracks)
{
    double rate = (double)format_bytes_per_second(&bench->plan->format);
    return rate * tracks / bench->block_bytes;
}

uint32_t bench_file_of(const struct bench *bench, uint32_t track)
{
    return track % pool_files_limit(bench->pool);
}

int bench_cool_files(struct bench *bench, double *resident, struct error *error)
{
    *resident = 0;
    if (bench->plan->direct)
        return 0;
    if (pool_evict(bench->pool, resident, error) != 0)
        return -1;
    if (*resident == 0)
        return 0;
    /* What the kernel was still reading ahead could not be dropped. */
    monotonic_sleep_until(monotonic_ns() + landing_ns);
    return pool_evict(bench->pool, resident, error);
}

int bench_read_error(const struct bench *bench, const struct reader_failure *failure,
                     struct error *error)
{
    char path[1024];
    pool_file_path(bench->pool, bench_file_of(bench, failure->track), path, sizeof path);
    if (failure->error_number == EINVAL && bench->plan->direct)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s: this filesystem refuses direct reads of %u bytes; use --io buffered",
                         path, bench->block_bytes);
    return error_set(error, ERROR_ENVIRONMENT,
                     "%s: reading %u bytes at %llu failed: %s; check the drive and its cable", path,
                     bench->block_bytes, (unsigned long long)failure->offset_bytes,
                     failure->error_number != 0 ? strerror(failure->error_number)
                                                : "the file ended early");
}
