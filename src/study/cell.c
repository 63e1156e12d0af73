#include "cell.h"

#include "flood.h"
#include "ramp.h"
#include "stats.h"
#include "trial.h"
#include "verdict.h"

#include <math.h>
#include <string.h>

/* Reading flat out: first briefly, for how many files the measurement will want, then properly. */
static const double glance_s = 0.3;

/* Tracks to begin with, and how far above the guess files are made in advance. */
enum { FIRST_TRACKS = 64 };
static const double ahead_of_guess = 1.1;

/* An overload that a confirming trial should be able to tell, by how much chance may move what the
 * drive carries meanwhile (one sigma), how much longer the trial may become for both, and what is
 * worth a warning if it cannot. */
static const double wanted_resolution = 0.01, wanted_noise = 0.006, coarse_resolution = 0.02;
enum { CONFIRM_STRETCH_MOST = 2 };

/* Where stalls were seen, holding a count lasts for so many of them, within a bound. */
static const double stalls_to_meet = 3, stalls_most_s = 120;

/* Less than this of what was seen at first: the drive has slowed down. */
static const double slowed_share = 0.85;

/* Where all tracks ask at once, a trial must see several of these moments. */
enum { ALIGNED_BLOCKS = VERDICT_WINDOWS };

/* A share of the files above this in the cache, and they are not cold. */
static const double cold_share = 0.01;

static uint64_t trial_seed(const struct bench *bench, const struct cell *cell)
{
    return bench->plan->seed * 1000003 + cell->search_count * 1009 + cell->result->trial_count;
}

static uint32_t clamp_tracks(const struct bench *bench, double tracks)
{
    if (tracks < 1)
        return 1;
    return tracks < bench->tracks_limit ? (uint32_t)tracks : bench->tracks_limit;
}

/* Tracks to read flat out with, where `wanted` are expected: enough to keep every queue full. */
static uint32_t flood_tracks(const struct bench *bench, double wanted)
{
    double queues = (double)bench->readers.queue_depth * bench->readers.readers;
    double least = queues > FIRST_TRACKS ? queues : FIRST_TRACKS;
    return clamp_tracks(bench, wanted > least ? wanted : least);
}

static void note_stalls(struct cell *cell, uint32_t seen, double worst_s, double observed_s)
{
    struct result_stalls *stalls = &cell->result->stalls;
    stalls->seen += seen;
    stalls->observed_s += observed_s;
    if (worst_s > stalls->worst_s)
        stalls->worst_s = worst_s;
}

static void warn_of_slowing(struct cell *cell)
{
    cell->slowed = true;
    result_warn(cell->result, "slowed",
                "the drive was faster at first and slowed down within seconds, as one does that "
                "grows hot or whose cache runs out; the count is what it carries then");
}

/* Bytes per second over a track's rate is the first guess. Few files lie close together and read
 * faster than many, so it is made again with as many as it asks for. */
static int guess(struct bench *bench, struct cell *cell, struct cell_search *search,
                 uint32_t *tracks, struct error *error)
{
    double rate = (double)format_bytes_per_second(&bench->plan->format);
    uint64_t seed = trial_seed(bench, cell);
    struct flood_outcome flood;
    if (flood_run(bench, flood_tracks(bench, pool_files(bench->pool)), glance_s, 0, seed, &flood,
                  error) != 0)
        return -1;
    double glanced = flood.bytes_per_second;
    bench_shorten_queue(bench, glanced);
    search->flood_tracks = flood_tracks(bench, ceil(glanced / rate * ahead_of_guess));
    if (flood_run(bench, search->flood_tracks, flood_seconds(bench->block_bytes, glanced), glanced,
                  seed + 1, &flood, error) != 0)
        return -1;
    search->flood_bytes_per_second = flood.bytes_per_second;
    cell->dispersion_blocks = flood.dispersion_blocks;
    cell->result->device = flood.device;
    note_stalls(cell, flood.stalls, flood.worst_stall_s, flood.seconds);
    if (flood.slowed)
        warn_of_slowing(cell);
    *tracks = clamp_tracks(bench, flood.bytes_per_second / rate);
    return 0;
}

static double longer(double one, double other)
{
    return one > other ? one : other;
}

static bool is_held(enum ramp_step step)
{
    return step == STEP_CONFIRM || step == STEP_FLOOR;
}

static void warn(const struct bench *bench, struct cell *cell, enum ramp_step step,
                 const struct trial_outcome *outcome)
{
    struct result_cell *result = cell->result;
    if (outcome->late_callbacks > 0)
        result_warn(result, "late-callbacks",
                    "audio callbacks came late: the machine was short of CPU or the device "
                    "stumbled; close other programs, or use more --frames");
    if (outcome->device_xruns > 0)
        result_warn(result, "device-xruns",
                    "the audio device reported xruns, which say nothing about the drive; use more "
                    "--frames or --device clock");
    if (outcome->resident < 0)
        result_warn(result, "cache-unknown",
                    "whether the files were cold cannot be told here; compare with --io direct");
    else if (outcome->resident > cold_share)
        result_warn(result, "not-cold",
                    "%.0f %% of the test files were still in the page cache when a trial began; "
                    "use --io direct",
                    100 * outcome->resident);
    double demand = bench_demand_blocks(bench, outcome->summary.tracks);
    double noise = sqrt(cell->dispersion_blocks / (demand * outcome->summary.seconds));
    double told = longer(outcome->resolution, 2 * noise);
    if (is_held(step) && outcome->summary.pass && told > coarse_resolution)
        result_warn(result, "coarse",
                    "so few blocks are read a second, or they come so unevenly, that a trial "
                    "cannot tell %.0f %% more tracks from this count; use a longer --trial",
                    fmin(100, ceil(100 * told)));
}

/* Through the cache, a track that comes to where another began finds it read already. */
static void warn_of_sharing(const struct bench *bench, struct cell *cell,
                            const struct cell_search *search)
{
    if (!bench->plan->direct && search->sustained > pool_files_limit(bench->pool))
        result_warn(cell->result, "shared-files",
                    "several tracks played each test file, so the page cache served some of their "
                    "reads and the count may be too high; use a larger --pool-size");
}

static double trial_seconds(const struct bench *bench)
{
    double rate = (double)format_bytes_per_second(&bench->plan->format);
    double blocks_s = ALIGNED_BLOCKS * bench->block_bytes / rate;
    return bench->plan->start == PLAN_START_ALIGNED ? longer(bench->plan->trial_s, blocks_s)
                                                    : bench->plan->trial_s;
}

/* A confirming trial is longer; longer still where blocks are so few, or come so unevenly, that it
 * could not tell, or where there have been stalls: then it has to meet several. */
static double held_seconds(const struct bench *bench, const struct cell *cell, uint32_t tracks)
{
    double demand = bench_demand_blocks(bench, tracks);
    struct verdict_terms terms = {.trial_s = trial_seconds(bench) * TRIAL_CONFIRM_FACTOR,
                                  .demand_blocks_per_second = demand};
    double by_step_s = terms.trial_s * verdict_resolution(&terms) / wanted_resolution;
    double by_noise_s = cell->dispersion_blocks / (wanted_noise * wanted_noise * demand);
    double wanted_s = longer(by_step_s, by_noise_s);
    double longest_s = terms.trial_s * CONFIRM_STRETCH_MOST;
    double seconds = longer(terms.trial_s, wanted_s < longest_s ? wanted_s : longest_s);
    const struct result_stalls *stalls = &cell->result->stalls;
    if (stalls->seen > 0) {
        double stalls_s = stalls_to_meet * stalls->observed_s / stalls->seen;
        seconds = longer(seconds, stalls_s < stalls_most_s ? stalls_s : stalls_most_s);
    }
    return seconds;
}

/* Notes a trial where the result wants it, and where the search does. */
static int note(const struct bench *bench, struct cell *cell, enum ramp_step step,
                const struct trial_outcome *outcome, struct cell_search *search,
                struct error *error)
{
    struct result_trial *trial = result_add_trial(cell->result);
    if (trial == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the result");
    *trial = outcome->summary;
    trial->ramp = cell->search_count;
    trial->step = step;
    cell->result->checked_samples += outcome->checked_samples;
    cell->result->late_callbacks += outcome->late_callbacks;
    cell->result->device_xruns += outcome->device_xruns;
    note_stalls(cell, trial->stalls, trial->worst_stall_s, trial->seconds);
    warn(bench, cell, step, outcome);
    if (!trial->pass && step != STEP_MARGIN &&
        (search->failed_at == 0 || trial->tracks <= search->failed_at)) {
        search->failed_at = search->seen_at = trial->tracks;
        search->evidence = outcome->evidence;
    }
    if (trial->pass && is_held(step)) {
        if (search->failed_at == 0) {
            search->seen_at = trial->tracks;
            search->evidence = outcome->evidence;
        }
        search->clean_s = trial->seconds;
        search->stream_bytes_per_second = outcome->stream_bytes_per_second;
        search->process_percent = outcome->evidence.process_percent;
        search->callback_percent = outcome->evidence.callback_percent;
        const struct histogram *latency = &outcome->latency;
        search->latency_p50_us = (double)histogram_quantile(latency, 0.5) / 1000;
        search->latency_p99_us = (double)histogram_quantile(latency, 0.99) / 1000;
        search->latency_p999_us = (double)histogram_quantile(latency, 0.999) / 1000;
        search->latency_max_us = (double)latency->max_ns / 1000;
    }
    return 0;
}

static int try_count(struct bench *bench, struct cell *cell, struct cell_search *search,
                     uint32_t tracks, enum ramp_step step, double seconds,
                     struct trial_outcome *outcome, struct error *error)
{
    bench->progress.doing = ramp_step_name(step);
    if (trial_run(bench, tracks, seconds, trial_seed(bench, cell), outcome, error) != 0)
        return -1;
    return note(bench, cell, step, outcome, search, error);
}

/* A count is held for long enough to meet what stalls there are; when the first are met while it is
 * held, that was not long enough yet. */
static int hold(struct bench *bench, struct cell *cell, struct cell_search *search, uint32_t tracks,
                enum ramp_step step, struct trial_outcome *outcome, struct error *error)
{
    double seconds = held_seconds(bench, cell, tracks);
    if (try_count(bench, cell, search, tracks, step, seconds, outcome, error) != 0)
        return -1;
    if (!outcome->summary.pass || held_seconds(bench, cell, tracks) <= seconds)
        return 0;
    seconds = held_seconds(bench, cell, tracks);
    return try_count(bench, cell, search, tracks, step, seconds, outcome, error);
}

static int search_count(struct bench *bench, struct cell *cell, struct cell_search *search,
                        struct ramp *ramp, struct error *error)
{
    uint32_t tracks;
    enum ramp_step step;
    struct trial_outcome outcome;
    while (ramp_next(ramp, &tracks, &step)) {
        int result = is_held(step) ? hold(bench, cell, search, tracks, step, &outcome, error)
                                   : try_count(bench, cell, search, tracks, step,
                                               trial_seconds(bench), &outcome, error);
        if (result != 0)
            return -1;
        ramp_report(
            ramp, &(struct ramp_trial){.pass = outcome.summary.pass,
                                       .clear = outcome.clear,
                                       .estimate = outcome.estimate_tracks,
                                       .lowest_fill_percent = outcome.summary.lowest_fill_percent});
        bench->progress.low = ramp->low;
        bench->progress.high = ramp->high;
    }
    return 0;
}

/* Where the next search begins. */
static uint32_t answer_of(const struct cell_search *search)
{
    return search->sustained > 0 ? search->sustained : search->knee;
}

/* Where the count that was held lies far below what short trials pointed to, reading flat out again
 * says whether the drive has slowed down. Luck or a busy machine may be the cause as well. */
static int look_for_slowing(struct bench *bench, struct cell *cell,
                            const struct cell_search *search, struct error *error)
{
    double before = search->flood_bytes_per_second;
    struct flood_outcome flood;
    if (search->sustained == 0 || cell->result->stalls.seen > 0 ||
        search->sustained >= slowed_share * search->knee)
        return 0;
    if (flood_run(bench, search->flood_tracks, flood_seconds(bench->block_bytes, before), before,
                  trial_seed(bench, cell), &flood, error) != 0)
        return -1;
    if (flood.bytes_per_second < slowed_share * before)
        warn_of_slowing(cell);
    return 0;
}

int cell_measure(struct bench *bench, struct cell *cell, struct error *error)
{
    struct cell_search *search = &cell->searches[cell->search_count];
    uint32_t first;
    memset(search, 0, sizeof *search);
    bench->progress.block_bytes = cell->result->block_bytes;
    bench->progress.low = bench->progress.high = 0;
    if (bench_set_block(bench, cell->result->block_bytes, error) != 0 ||
        guess(bench, cell, search, &first, error) != 0)
        return -1;
    cell->cap_reason = bench->limit_reason;
    cell->slots = bench->slots;
    cell->block_s = bench->block_bytes / (double)format_bytes_per_second(&bench->plan->format);

    struct ramp ramp;
    uint32_t earlier = cell->search_count > 0 ? answer_of(&search[-1]) : 0;
    ramp_init(&ramp, earlier > 0 ? earlier : first, bench->tracks_limit, earlier > 0);
    if (search_count(bench, cell, search, &ramp, error) != 0)
        return -1;
    search->sustained = ramp.sustained;
    search->knee = ramp.knee;
    search->comfortable = ramp.comfortable;
    search->capped = ramp.capped;
    search->irregular = ramp.irregular;
    if (look_for_slowing(bench, cell, search, error) != 0)
        return -1;
    warn_of_sharing(bench, cell, search);
    cell->search_count++;
    return 0;
}
