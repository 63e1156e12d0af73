#include "cell.h"

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

/* An overload that a confirming trial should be able to tell, how much longer it may become for
 * that, and what is worth a warning if it cannot. */
static const double wanted_resolution = 0.01, coarse_resolution = 0.02;
enum { CONFIRM_STRETCH_MOST = 4 };

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

/* Bytes per second over a track's rate is the first guess. Few files lie close together and read
 * faster than many, so it is made again with as many as it asks for. */
static int guess(struct bench *bench, struct cell *cell, struct cell_search *search,
                 uint32_t *tracks, struct error *error)
{
    double rate = (double)format_bytes_per_second(&bench->plan->format);
    uint64_t seed = trial_seed(bench, cell);
    double bytes_per_second;
    if (trial_flood(bench, flood_tracks(bench, pool_files(bench->pool)), glance_s, seed,
                    &bytes_per_second, error) != 0)
        return -1;
    bench_shorten_queue(bench, bytes_per_second);
    search->flood_tracks = flood_tracks(bench, ceil(bytes_per_second / rate * ahead_of_guess));
    double seconds = trial_flood_seconds(bench->block_bytes, bytes_per_second);
    if (trial_flood(bench, search->flood_tracks, seconds, seed + 1, &bytes_per_second, error) != 0)
        return -1;
    search->flood_bytes_per_second = bytes_per_second;
    *tracks = clamp_tracks(bench, bytes_per_second / rate);
    return 0;
}

static void warn(struct cell *cell, enum ramp_step step, const struct trial_outcome *outcome)
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
    if (step == STEP_CONFIRM && outcome->resolution > coarse_resolution)
        result_warn(result, "coarse",
                    "so few blocks are read a second that a trial cannot tell %.0f %% more tracks "
                    "from this count; use a longer --trial",
                    100 * outcome->resolution);
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

/* A confirming trial is longer, and longer still where blocks are so few that it could not tell. */
static double confirm_seconds(const struct bench *bench, uint32_t tracks)
{
    struct verdict_terms terms = {.trial_s = bench->plan->trial_s * TRIAL_CONFIRM_FACTOR,
                                  .demand_blocks_per_second = bench_demand_blocks(bench, tracks)};
    double longest_s = terms.trial_s * CONFIRM_STRETCH_MOST;
    double wanted_s = terms.trial_s * verdict_resolution(&terms) / wanted_resolution;
    if (wanted_s < terms.trial_s)
        return terms.trial_s;
    return wanted_s < longest_s ? wanted_s : longest_s;
}

/* Notes a trial where the result wants it, and where the search does. */
static int note(struct cell *cell, const struct ramp *ramp, const struct trial_outcome *outcome,
                struct cell_search *search, struct error *error)
{
    struct result_trial *trial = result_add_trial(cell->result);
    if (trial == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the result");
    *trial = outcome->summary;
    trial->ramp = cell->search_count;
    trial->step = ramp->step;
    cell->result->checked_samples += outcome->checked_samples;
    cell->result->late_callbacks += outcome->late_callbacks;
    cell->result->device_xruns += outcome->device_xruns;
    warn(cell, ramp->step, outcome);
    if (!trial->pass && (search->failed_at == 0 || trial->tracks <= search->failed_at)) {
        search->failed_at = trial->tracks;
        search->evidence = outcome->evidence;
    }
    if (trial->pass && ramp->step == STEP_CONFIRM) {
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

int cell_measure(struct bench *bench, struct cell *cell, struct error *error)
{
    struct cell_search *search = &cell->searches[cell->search_count];
    uint32_t first, tracks;
    enum ramp_step step;
    memset(search, 0, sizeof *search);
    bench->progress.block_bytes = cell->result->block_bytes;
    bench->progress.low = bench->progress.high = 0;
    if (bench_set_block(bench, cell->result->block_bytes, error) != 0 ||
        guess(bench, cell, search, &first, error) != 0)
        return -1;
    cell->cap_reason = bench->limit_reason;
    cell->slots = bench->slots;

    struct ramp ramp;
    uint32_t earlier =
        cell->search_count > 0 ? cell->searches[cell->search_count - 1].sustained : 0;
    ramp_init(&ramp, earlier > 0 ? earlier : first, bench->tracks_limit, earlier > 0);
    while (ramp_next(&ramp, &tracks, &step)) {
        struct trial_outcome outcome;
        double seconds =
            step == STEP_CONFIRM ? confirm_seconds(bench, tracks) : bench->plan->trial_s;
        bench->progress.doing = ramp_step_name(step);
        if (trial_run(bench, tracks, seconds, trial_seed(bench, cell), &outcome, error) != 0 ||
            note(cell, &ramp, &outcome, search, error) != 0)
            return -1;
        ramp_report(&ramp, outcome.summary.pass, outcome.estimate_tracks);
        bench->progress.low = ramp.low;
        bench->progress.high = ramp.high;
    }
    search->sustained = ramp.sustained;
    search->knee = ramp.knee;
    search->capped = ramp.capped;
    warn_of_sharing(bench, cell, search);
    cell->search_count++;
    return 0;
}

static uint64_t median_of(const struct cell *cell, uint32_t (*value)(const struct cell_search *))
{
    uint64_t values[PLAN_REPEATS_MAX];
    for (uint32_t i = 0; i < cell->search_count; i++)
        values[i] = value(&cell->searches[i]);
    return stats_median(values, cell->search_count);
}

static uint32_t sustained_of(const struct cell_search *search)
{
    return search->sustained;
}

static uint32_t knee_of(const struct cell_search *search)
{
    return search->knee;
}

static void use_search(struct result_cell *result, const struct cell_search *search)
{
    result->clean_s = search->clean_s;
    result->flood_bytes_per_second = search->flood_bytes_per_second;
    result->stream_bytes_per_second = search->stream_bytes_per_second;
    result->process_percent = search->process_percent;
    result->callback_percent = search->callback_percent;
    result->latency_p50_us = search->latency_p50_us;
    result->latency_p99_us = search->latency_p99_us;
    result->latency_p999_us = search->latency_p999_us;
    result->latency_max_us = search->latency_max_us;
}

void cell_finish(struct cell *cell, uint32_t repeats)
{
    struct result_cell *result = cell->result;
    if (cell->search_count == 0)
        return;
    result->complete = cell->search_count == repeats;
    result->sustained = (uint32_t)median_of(cell, sustained_of);
    result->knee = (uint32_t)median_of(cell, knee_of);
    result->low = UINT32_MAX;
    result->high = 0;
    for (uint32_t i = 0; i < cell->search_count; i++) {
        const struct cell_search *search = &cell->searches[i];
        result_add_run(result, search->sustained);
        if (search->sustained < result->low)
            result->low = search->sustained;
        if (search->sustained > result->high)
            result->high = search->sustained;
    }
    /* Everything else is told of the search whose count is the one reported. */
    for (uint32_t i = 0; i < cell->search_count; i++) {
        const struct cell_search *search = &cell->searches[i];
        if (search->sustained != result->sustained)
            continue;
        use_search(result, search);
        result->limit = search->capped ? cell->cap_reason : limit_of_machine(&search->evidence);
    }
    result->buffer_bytes = (uint64_t)result->sustained * cell->slots * result->block_bytes;
}
