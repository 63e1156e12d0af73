#include "bench.h"

#include "random.h"

#include <stdlib.h>
#include <string.h>

/*
 * Tracks made ready: a test file and a descriptor for each, a ring, and where in file and block it
 * starts. The place is drawn from the seed; the demand that comes of it is not left to chance.
 */

/* Samples are played so softly that nobody hears them (-100 dB each, and noise adds up by the
 * square root), yet every one is converted, gained and summed. */
static const float track_gain = 1e-5f;

/* The lead-in: this much of the demand is missing at the start, at most that share of what a ring
 * still holds when a block falls due. Above the 100 ms that Linux's I/O controller saves up. */
static const double lead_in_s = 0.12, lead_in_share = 0.25;

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

/* How many of `tracks` play the same file, at most. */
static uint32_t sharers(const struct bench *bench, uint32_t tracks)
{
    return (tracks - 1) / pool_files_limit(bench->pool) + 1;
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
    uint32_t parts = sharers(bench, tracks), part = index / pool_files_limit(bench->pool);
    uint64_t from = (uint64_t)track->region_blocks * part / parts;
    uint64_t to = (uint64_t)track->region_blocks * (part + 1) / parts;
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
        arena_back(&bench->arena, bench->carries_data ? tracks * ring_bytes : ring_bytes, error) !=
            0)
        return -1;
    memset(bench->landed, 0, (size_t)tracks * bench->slots);
    bench->mixer->rings = bench->rings;
    bench->mixer->tracks = tracks;
    bench->mixer->gain = track_gain;
    mixer_reset(bench->mixer);
    return 0;
}

/* A ring that holds the stream's first `held` blocks, played up to `consumed_bytes`. */
static void set_track(struct bench *bench, uint32_t index, uint64_t held, uint32_t phase_bytes,
                      uint64_t consumed_bytes)
{
    struct track *track = &bench->tracks[index];
    uint64_t ring_bytes = (uint64_t)bench->slots * bench->block_bytes;
    track->slots = bench->slots;
    track->landed = bench->landed + (size_t)index * bench->slots;
    track->ring = &bench->rings[index];
    track->phase_bytes = phase_bytes;
    track->first_read_block = track->next_block = track->published_blocks = held;
    track->parked = false;
    track->end_block = 0;
    uint64_t place_bytes = bench->carries_data ? index * ring_bytes : 0;
    ring_init(track->ring, bench->arena.memory + place_bytes, bench->block_bytes, bench->slots,
              held * bench->block_bytes, consumed_bytes);
}

/*
 * Where in their blocks the tracks begin decides when each asks for its next one. Drawn freely, a
 * trial shorter than a block lasts would see a demand that is off by chance (one sigma is 8 % for
 * 227 tracks and 1 MiB blocks in 5 s). So each track gets one of `tracks` equal parts of the block,
 * in random order, and a random place in it: scattered, and the same demand in every stretch of
 * time. Staggered, the parts are in order of the tracks and begun at their beginning; aligned, all
 * tracks begin where a block does.
 */
static uint32_t phase_of(const struct bench *bench, uint32_t part, uint32_t tracks,
                         uint64_t *random)
{
    double within = 0;
    if (bench->plan->start == PLAN_START_ALIGNED)
        return 0;
    if (bench->plan->start == PLAN_START_SCATTERED)
        within = (double)random_below(random, 1 << 20) / (1 << 20);
    uint32_t phase = (uint32_t)(bench->block_bytes * ((part + within) / tracks));
    return phase - phase % format_frame_bytes(&bench->plan->format);
}

/* Rings that a drive which keeps up has left, but for the lead-in: the tracks with the most left to
 * play go short first. Or, flat out, empty ones. */
static int set_all(struct bench *bench, uint32_t tracks, uint64_t seed, uint32_t lead_in_blocks,
                   bool flat_out, struct error *error)
{
    uint64_t random = seed;
    if (make_ready(bench, tracks, error) != 0)
        return -1;
    uint32_t *parts = shuffled(tracks, &random);
    if (parts == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for %u tracks", tracks);
    for (uint32_t i = 0; i < tracks; i++) {
        uint32_t part = bench->plan->start == PLAN_START_SCATTERED ? parts[i] : i;
        uint32_t held = part < lead_in_blocks ? bench->slots - 1 : bench->slots;
        uint32_t phase = phase_of(bench, part, tracks, &random);
        place_in_file(bench, i, tracks, &random);
        set_track(bench, i, held, phase, flat_out ? (uint64_t)held * bench->block_bytes : phase);
    }
    free(parts);
    return 0;
}

int bench_set_tracks(struct bench *bench, uint32_t tracks, uint64_t seed, uint32_t *lead_in_blocks,
                     struct error *error)
{
    *lead_in_blocks = count_lead_in(bench, tracks);
    return set_all(bench, tracks, seed, *lead_in_blocks, false, error);
}

int bench_set_flood(struct bench *bench, uint32_t tracks, uint64_t seed, struct error *error)
{
    if (set_all(bench, tracks, seed, 0, true, error) != 0)
        return -1;
    if (bench->plan->direct)
        return 0;
    for (uint32_t i = 0; i < tracks; i++) /* a second time they would come from the cache */
        bench->tracks[i].end_block =
            bench->slots + bench->tracks[i].region_blocks / sharers(bench, tracks);
    return 0;
}
