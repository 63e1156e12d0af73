#include "bench.h"

#include "host.h"
#include "monotonic.h"
#include "random.h"
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

/* A ring is never under two blocks: one being played, one being read. */
enum { RING_SLOTS_LEAST = 2 };

/* Samples are played so softly that nobody hears them (-100 dB each, and noise adds up by the
 * square root), yet every one is converted, gained and summed. */
static const float track_gain = 1e-5f;

/* The lead-in: this much of the demand is missing at the start, at most that share of what a ring
 * still holds when a block falls due. Above the 100 ms that Linux's I/O controller saves up. */
static const double lead_in_s = 0.12, lead_in_share = 0.25;

/* --- the clock and the memory ------------------------------------------------------------- */

static int open_mixer(struct bench *bench, struct error *error)
{
    const struct track_format *format = &bench->plan->format;
    bench->mixer = aligned_alloc(64, sizeof *bench->mixer);
    if (bench->mixer == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the mixer");
    memset(bench->mixer, 0, sizeof *bench->mixer);
    bench->mixer->format = *format;
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
                                    .user = bench->mixer};
    return audio_open(&bench->audio, &options, error);
}

/* How many tracks this process has descriptors, and the user's own bound, for. */
static void plan_capacity(struct bench *bench)
{
    bench->descriptor_limit = host_raise_descriptor_limit();
    uint64_t tracks = bench->descriptor_limit > SPARE_DESCRIPTORS
                          ? bench->descriptor_limit - SPARE_DESCRIPTORS
                          : 1;
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
    return arena_init(&bench->arena, limit, error);
}

int bench_init(struct bench *bench, const struct plan *plan, const struct study_observer *observer,
               struct error *error)
{
    memset(bench, 0, sizeof *bench);
    bench->plan = plan;
    bench->observer = observer;
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
    if (bench->audio_lost)
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

int bench_poll(struct bench *bench, struct error *error)
{
    if (audio_check(bench->audio, error) != 0) {
        bench->audio_lost = true;
        return -1;
    }
    if (bench->observer->interrupted(bench->observer->user))
        return error_set(error, ERROR_INTERRUPTED, "interrupted");
    bench->observer->progress(bench->observer->user, &bench->progress);
    return 0;
}

/* --- the drive ---------------------------------------------------------------------------- */

static int poll_while_writing(void *user, uint64_t done_bytes, uint64_t wanted_bytes)
{
    struct bench *bench = user;
    bench->progress.doing = "writing test files";
    bench->progress.done_bytes = done_bytes;
    bench->progress.wanted_bytes = wanted_bytes;
    bench->observer->progress(bench->observer->user, &bench->progress);
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

int bench_open_drive(struct bench *bench, const char *directory, struct error *error)
{
    const struct plan *plan = bench->plan;
    bench->progress.directory = directory;
    struct pool_options options = {.directory = directory,
                                   .format = plan->format,
                                   .seed = plan->seed,
                                   .min_file_bytes = file_bytes_needed(plan),
                                   .limit_bytes = plan->pool_bytes,
                                   .keep = plan->keep,
                                   .progress = poll_while_writing,
                                   .user = bench};
    return pool_open(&bench->pool, &options, error);
}

int bench_close_drive(struct bench *bench, struct error *error)
{
    for (uint32_t track = 0; track < bench->opened; track++)
        close(bench->tracks[track].file);
    bench->opened = 0;
    struct pool *pool = bench->pool;
    bench->pool = NULL;
    return pool_close(pool, error);
}

/* --- block size and tracks ---------------------------------------------------------------- */

int bench_set_block(struct bench *bench, uint32_t block_bytes, struct error *error)
{
    double ring_bytes =
        bench->plan->buffer_s * (double)format_bytes_per_second(&bench->plan->format);
    double slots = ceil(ring_bytes / block_bytes);
    bench->block_bytes = block_bytes;
    bench->slots = slots > RING_SLOTS_LEAST ? (uint32_t)slots : RING_SLOTS_LEAST;
    uint64_t ring = (uint64_t)bench->slots * block_bytes;
    uint64_t by_memory = bench->arena.limit_bytes / ring;
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

uint32_t bench_file_of(const struct bench *bench, uint32_t track)
{
    return track % pool_files_limit(bench->pool);
}

static int open_files(struct bench *bench, uint32_t tracks, struct error *error)
{
    uint32_t limit = pool_files_limit(bench->pool);
    if (pool_grow(bench->pool, tracks < limit ? tracks : limit, error) != 0)
        return -1;
    for (; bench->opened < tracks; bench->opened++) {
        struct track *track = &bench->tracks[bench->opened];
        track->file = pool_open_file(bench->pool, bench_file_of(bench, bench->opened),
                                     bench->plan->direct, error);
        if (track->file < 0)
            return -1;
    }
    return 0;
}

/*
 * Where block 0 of each track's stream lies. Tracks that share a file start far apart: each in its
 * own equal part of the region, anywhere in it.
 */
static void place_in_file(const struct bench *bench, uint32_t index, uint32_t tracks,
                          uint64_t *random)
{
    struct track *track = &bench->tracks[index];
    uint64_t block = bench->block_bytes;
    uint64_t data_end = pool_data_offset(bench->pool) +
                        pool_file_frames(bench->pool) * format_frame_bytes(&bench->plan->format);
    uint64_t first = (pool_data_offset(bench->pool) + block - 1) / block;
    track->region_offset_bytes = first * block;
    track->region_blocks = (uint32_t)(data_end / block - first);
    uint32_t limit = pool_files_limit(bench->pool);
    uint32_t sharers = (tracks - 1) / limit + 1, part = index / limit;
    uint64_t from = (uint64_t)track->region_blocks * part / sharers;
    uint64_t to = (uint64_t)track->region_blocks * (part + 1) / sharers;
    track->start_block =
        (uint32_t)(from + random_below(random, to > from ? to - from : 1)) % track->region_blocks;
}

/* A random order of 0 .. count-1 (Fisher and Yates). */
static uint32_t *shuffled(uint32_t count, uint64_t *random)
{
    uint32_t *order = malloc(count * sizeof *order);
    for (uint32_t i = 0; order != NULL && i < count; i++) {
        uint32_t with = (uint32_t)random_below(random, i + 1);
        order[i] = order[with];
        order[with] = i;
    }
    return order;
}

static uint32_t count_lead_in(const struct bench *bench, uint32_t tracks)
{
    double rate = (double)format_bytes_per_second(&bench->plan->format);
    double spare_s = (bench->slots - 1) * (double)bench->block_bytes / rate;
    double seconds = lead_in_s < spare_s * lead_in_share ? lead_in_s : spare_s * lead_in_share;
    double blocks = seconds * rate * tracks / bench->block_bytes;
    return blocks < tracks ? (uint32_t)blocks : tracks;
}

static int make_ready(struct bench *bench, uint32_t tracks, struct error *error)
{
    uint64_t ring_bytes = (uint64_t)bench->slots * bench->block_bytes;
    if (open_files(bench, tracks, error) != 0 ||
        arena_back(&bench->arena, tracks * ring_bytes, error) != 0)
        return -1;
    memset(bench->landed, 0, (size_t)tracks * bench->slots);
    bench->mixer->rings = bench->rings;
    bench->mixer->tracks = tracks;
    bench->mixer->gain = track_gain;
    mixer_reset(bench->mixer);
    return 0;
}

/* A ring that holds the stream's first `held` blocks, played up to `consumed_bytes`. */
static void set_track(struct bench *bench, uint32_t index, uint64_t held, uint64_t consumed_bytes)
{
    struct track *track = &bench->tracks[index];
    uint64_t ring_bytes = (uint64_t)bench->slots * bench->block_bytes;
    track->slots = bench->slots;
    track->landed = bench->landed + (size_t)index * bench->slots;
    track->ring = &bench->rings[index];
    track->phase_bytes = (uint32_t)consumed_bytes;
    track->first_read_block = track->next_block = track->published_blocks = held;
    track->parked = false;
    ring_init(track->ring, bench->arena.memory + index * ring_bytes, bench->block_bytes,
              bench->slots, held * bench->block_bytes, consumed_bytes);
}

/*
 * Where in their blocks the tracks begin decides when each asks for its next one. Drawn freely, a
 * trial shorter than a block lasts would see a demand that is off by chance (one sigma is 8 % for
 * 227 tracks and 1 MiB blocks in 5 s). So each track gets one of `tracks` equal parts of the block,
 * in random order, and a random place in it: scattered, and the same demand in every stretch of
 * time. The tracks with the most left to play go short first.
 */
int bench_set_tracks(struct bench *bench, uint32_t tracks, uint64_t seed, uint32_t *lead_in_blocks,
                     struct error *error)
{
    uint64_t random = seed;
    uint32_t frame_bytes = format_frame_bytes(&bench->plan->format);
    if (make_ready(bench, tracks, error) != 0)
        return -1;
    uint32_t *order = shuffled(tracks, &random);
    if (order == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for %u tracks", tracks);
    *lead_in_blocks = count_lead_in(bench, tracks);
    for (uint32_t i = 0; i < tracks; i++) {
        double within = (double)random_below(&random, 1 << 20) / (1 << 20);
        uint64_t phase = (uint64_t)(bench->block_bytes * ((order[i] + within) / tracks));
        uint32_t missing = order[i] < *lead_in_blocks ? 1 : 0;
        place_in_file(bench, i, tracks, &random);
        set_track(bench, i, bench->slots - missing, phase - phase % frame_bytes);
    }
    free(order);
    return 0;
}

int bench_set_flood(struct bench *bench, uint32_t tracks, uint64_t seed, struct error *error)
{
    uint64_t random = seed;
    if (make_ready(bench, tracks, error) != 0)
        return -1;
    for (uint32_t i = 0; i < tracks; i++) {
        place_in_file(bench, i, tracks, &random);
        set_track(bench, i, bench->slots, (uint64_t)bench->slots * bench->block_bytes);
    }
    return 0;
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
