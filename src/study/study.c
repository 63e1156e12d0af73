#include "study.h"

#include "bench.h"
#include "cell.h"
#include "flood.h"
#include "guards.h"
#include "limit.h"
#include "monotonic.h"
#include "recommend.h"
#include "simulation.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Drives one after the other; on each, every block size once, then all again in the opposite
 * order, so that a drive's drift does not pass for an effect of the block size.
 */

/* Two engines are compared for this long each; io_uring stays unless the other is clearly faster,
 * for it needs one thread where the other needs many. */
static const double engine_trial_s = 0.4, clearly_faster = 1.05;
enum { ENGINE_TRIAL_TRACKS = 64 };

/* Read-ahead that holds more than this share of what a trial plays is worth a warning. */
static const double noticed_read_ahead = 0.1;

struct study {
    struct bench bench;
    struct result *result;
    const struct plan *plan;
    struct cell cells[PLAN_BLOCK_SIZES_MAX]; /* of the drive under test */
    struct limit_flood beside;               /* flat out at a size outside the list ... */
    struct limit_flood now;                  /* ... and at the one on it, if that has slowed down */
    struct guards guards;                    /* of the drive under test */
    uint64_t started_ns;
    uint32_t searches_done, searches;
    size_t last_measured; /* which of the cells */
};

/* --- engine ------------------------------------------------------------------------------- */

/* Each at places of its own: what one has read may lie in a cache below for the other. */
static int time_engine(struct bench *bench, enum engine_kind kind, uint32_t block_bytes,
                       double *bytes_per_second, struct error *error)
{
    bench_set_engine(bench, kind);
    if (bench_set_block(bench, block_bytes, error) != 0)
        return -1;
    uint32_t tracks =
        bench->tracks_limit < ENGINE_TRIAL_TRACKS ? bench->tracks_limit : ENGINE_TRIAL_TRACKS;
    uint64_t seed = bench->plan->seed * 31 + kind;
    struct flood_outcome flood;
    int result = flood_run(bench, tracks, engine_trial_s, 0, seed, &flood, error);
    *bytes_per_second = flood.bytes_per_second;
    return result;
}

/* The faster one that works here, at the smallest block size: there an engine's cost shows most. */
static int choose_engine(struct study *study, struct error *error)
{
    const struct plan *plan = study->plan;
    struct bench *bench = &study->bench;
    struct error ignored = {0};
    if (plan->engine == PLAN_ENGINE_MODEL) {
        bench_set_engine(bench, ENGINE_MODEL);
        return 0;
    }
    if (plan->engine != PLAN_ENGINE_BEST) {
        enum engine_kind kind = plan->engine == PLAN_ENGINE_URING ? ENGINE_URING : ENGINE_THREADS;
        bench_set_engine(bench, kind);
        return engine_probe(kind, error);
    }
    enum engine_kind best = ENGINE_THREADS;
    if (engine_probe(ENGINE_URING, &ignored) == 0) {
        uint32_t smallest = plan->block_bytes[0];
        double uring, threads;
        for (size_t i = 1; i < plan->block_size_count; i++) {
            if (plan->block_bytes[i] < smallest)
                smallest = plan->block_bytes[i];
        }
        if (time_engine(bench, ENGINE_URING, smallest, &uring, error) != 0 ||
            time_engine(bench, ENGINE_THREADS, smallest, &threads, error) != 0)
            return -1;
        if (threads <= uring * clearly_faster)
            best = ENGINE_URING;
    }
    bench_set_engine(bench, best);
    return 0;
}

/* --- one drive ---------------------------------------------------------------------------- */

/* What is left: the searches to come, each as long as those done took on average, or as a search
 * usually takes in trials. */
static void estimate_left(struct study *study)
{
    static const double trials_per_search = 9;
    double passed_s = (double)(monotonic_ns() - study->started_ns) / (double)UNITS_NS_PER_SECOND;
    double each_s = study->searches_done > 0 ? passed_s / study->searches_done
                                             : trials_per_search * study->plan->trial_s;
    double left_s = each_s * (study->searches - study->searches_done);
    study->bench.expected_end_ns =
        monotonic_ns() + (uint64_t)(left_s * (double)UNITS_NS_PER_SECOND);
}

static int measure_cell(struct study *study, size_t index, struct error *error)
{
    study->bench.progress.repeat = study->cells[index].search_count;
    if (study->searches_done == study->searches)
        study->searches++; /* one beyond those planned */
    estimate_left(study);
    if (cell_measure(&study->bench, &study->cells[index], error) != 0)
        return -1;
    study->last_measured = index;
    study->searches_done++;
    return 0;
}

/* All block sizes once, in turned order. `only_wide`: those whose searches differ too much. */
static int measure_round(struct study *study, uint32_t round, bool only_wide, struct error *error)
{
    size_t sizes = study->plan->block_size_count;
    for (size_t i = 0; i < sizes; i++) {
        size_t at = round % 2 == 0 ? i : sizes - 1 - i;
        if (only_wide && !cell_spread_is_wide(&study->cells[at]))
            continue;
        if (measure_cell(study, at, error) != 0)
            return -1;
    }
    return 0;
}

/* The first block size once more at the end: did the drive stay what it was all the while? Where it
 * happens to have been the last one, that answers it. */
static int measure_again(struct study *study, struct error *error)
{
    bool extra = study->last_measured != 0;
    if (study->plan->block_size_count == 1)
        return 0;
    if (extra && measure_cell(study, 0, error) != 0)
        return -1;
    cell_compare_again(&study->cells[0], extra);
    return 0;
}

static int measure_cells(struct study *study, struct error *error)
{
    const struct plan *plan = study->plan;
    study->bench.progress.repeats = plan->repeats;
    for (uint32_t round = 0; round < plan->repeats; round++) {
        if (measure_round(study, round, false, error) != 0)
            return -1;
    }
    for (uint32_t round = plan->repeats; round < 2 * plan->repeats; round++) {
        if (measure_round(study, round, true, error) != 0)
            return -1;
    }
    return measure_again(study, error);
}

static int flood_at(struct study *study, uint32_t block_bytes, struct limit_flood *seen,
                    struct error *error)
{
    const struct cell_search *search = &study->cells[0].searches[0];
    double expected = search->flood_bytes_per_second;
    struct flood_outcome flood;
    if (bench_set_block(&study->bench, block_bytes, error) != 0)
        return -1;
    /* As many tracks as the size measured was read with, as far as the rings go. */
    uint32_t tracks = search->flood_tracks < study->bench.tracks_limit ? search->flood_tracks
                                                                       : study->bench.tracks_limit;
    bench_shorten_queue(&study->bench, expected);
    if (flood_run(&study->bench, tracks, flood_seconds(block_bytes, expected), 0, study->plan->seed,
                  &flood, error) != 0)
        return -1;
    *seen = (struct limit_flood){.block_bytes = block_bytes,
                                 .bytes_per_second = flood.bytes_per_second};
    return 0;
}

/* Bandwidth or reads per second is told from how the flood changes with the block size; where only
 * one is measured, a glance at another is needed. On a drive that has slowed down since, that takes
 * a second glance at the size measured. */
static int flood_beside(struct study *study, struct error *error)
{
    const struct plan *plan = study->plan;
    if (plan->block_size_count > 1)
        return 0;
    uint32_t only = plan->block_bytes[0];
    uint32_t other = only > PLAN_BLOCK_BYTES_MIN ? only / 2 : only * 2;
    if (study->cells[0].slowed && flood_at(study, only, &study->now, error) != 0)
        return -1;
    return flood_at(study, other, &study->beside, error);
}

static void name_limits(struct study *study, struct result_volume *volume)
{
    struct limit_flood floods[PLAN_BLOCK_SIZES_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < volume->cell_count; i++)
        floods[count++] =
            (struct limit_flood){.block_bytes = volume->cells[i].block_bytes,
                                 .bytes_per_second = volume->cells[i].flood_bytes_per_second};
    limit_fit(floods, count, &volume->fit);
    if (study->now.block_bytes > 0)
        floods[0] = study->now;
    floods[count++] = study->beside;
    for (size_t i = 0; i < volume->cell_count; i++) {
        struct result_cell *cell = &volume->cells[i];
        if (cell->run_count > 0 && cell->limit == LIMIT_NONE)
            cell->limit = limit_of_drive(cell->block_bytes, floods, count);
    }
    limit_mark_fit(volume);
}

/*
 * Through the cache, a file that is begun cold makes the kernel read ahead of what is played, once.
 * That costs the drive most in the first seconds, which are what a trial sees: the count errs on
 * the low side there, and says so. (Waiting until read-ahead has settled would take as long as
 * what it holds plays, a minute and a half for 8 MiB of 44.1/16 mono.)
 */
static void warn_of_read_ahead(const struct study *study, struct result_volume *volume)
{
    double rate = (double)format_bytes_per_second(&study->plan->format);
    double ahead_s = (double)volume->drive.read_ahead_bytes / rate;
    for (size_t i = 0; i < volume->cell_count && !study->plan->direct; i++) {
        if (ahead_s > study->plan->trial_s * noticed_read_ahead)
            result_warn(&volume->cells[i], "read-ahead",
                        "the kernel's read-ahead holds %.1f s of a track, and filling it weighs on "
                        "trials this short: the count is on the low side; use a longer --trial",
                        ahead_s);
    }
}

static void finish_volume(struct study *study, struct result_volume *volume)
{
    const struct bench *bench = &study->bench;
    for (size_t i = 0; i < volume->cell_count; i++)
        cell_finish(&study->cells[i], study->plan->repeats);
    volume->pool_files = pool_files(bench->pool);
    volume->pool_bytes = pool_bytes(bench->pool);
    volume->pool_limit_bytes = pool_limit_bytes(bench->pool);
    volume->readers = bench->readers.readers;
    volume->queue_depth = bench->most_queue_depth;
    snprintf(volume->engine, sizeof volume->engine, "%s", engine_kind_name(bench->readers.engine));
    guards_judge(&study->guards, study->plan->direct, study->result->host.memory_bytes, volume);
    snprintf(volume->io, sizeof volume->io, "%s",
             study->plan->direct && !study->guards.buffered ? "direct" : "buffered");
    name_limits(study, volume);
    warn_of_read_ahead(study, volume);
    recommend(volume);
}

static int describe_drive(const struct plan *plan, const char *directory, struct drive *drive,
                          struct error *error)
{
    if (plan->engine != PLAN_ENGINE_MODEL)
        return drive_describe(drive, directory, error);
    drive->rotational = -1;
    snprintf(drive->model, sizeof drive->model, "a model: %.240s", plan->model.text);
    return 0;
}

static int measure_drive(struct study *study, size_t index, struct error *error)
{
    const struct plan *plan = study->plan;
    const char *directory = plan->directories[index];
    struct result_volume *volume = result_add_volume(study->result, directory);
    if (volume == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the result");
    if (describe_drive(plan, directory, &volume->drive, error) != 0)
        return -1;
    memset(study->cells, 0, sizeof study->cells);
    memset(&study->beside, 0, sizeof study->beside);
    memset(&study->now, 0, sizeof study->now);
    for (size_t i = 0; i < plan->block_size_count; i++) {
        if (result_add_cell(volume, plan->block_bytes[i]) == NULL)
            return error_set(error, ERROR_ENVIRONMENT, "out of memory for the result");
    }
    for (size_t i = 0; i < plan->block_size_count; i++)
        study->cells[i].result = &volume->cells[i];
    if (bench_open_drive(&study->bench, directory, error) != 0)
        return -1;
    /* Before anything is read: what was read lately comes from a cache below, if there is one. */
    int result = guards_look(&study->guards, &study->bench, volume, error);
    if (result == 0)
        result = choose_engine(study, error);
    if (result == 0)
        result = measure_cells(study, error);
    if (result == 0)
        result = flood_beside(study, error);
    finish_volume(study, volume);
    if (bench_close_drive(&study->bench, error) != 0)
        result = -1;
    return result;
}

/* --- the whole ---------------------------------------------------------------------------- */

static void describe_method(struct study *study)
{
    const struct plan *plan = study->plan;
    struct result *result = study->result;
    const struct result_volume *first = result->volume_count > 0 ? &result->volumes[0] : NULL;
    struct result_method *method = &result->method;
    const char *io = plan->direct ? "direct" : "buffered";
    method->trial_s = plan->trial_s;
    method->buffer_s = plan->buffer_s;
    method->repeats = plan->repeats;
    method->seed = plan->seed;
    method->pool_bytes = plan->pool_bytes;
    method->max_tracks = plan->max_tracks;
    method->frames = plan->frames;
    method->keep = plan->keep;
    snprintf(method->start, sizeof method->start, "%s", plan_start_name(plan->start));
    snprintf(method->layout, sizeof method->layout, "%s", plan_layout_name(plan->layout));
    if (plan->engine == PLAN_ENGINE_MODEL)
        snprintf(method->model, sizeof method->model, "%s", plan->model.text);
    method->descriptor_limit = study->bench.descriptor_limit;
    snprintf(method->io, sizeof method->io, "%s", io);
    snprintf(method->io_requested, sizeof method->io_requested, "%s", io);
    if (first != NULL) {
        if (first->io[0] != '\0')
            snprintf(method->io, sizeof method->io, "%s", first->io);
        snprintf(method->engine, sizeof method->engine, "%s", first->engine);
        method->readers = first->readers;
        method->queue_depth = first->queue_depth;
        if (first->pool_limit_bytes > 0)
            method->pool_bytes = first->pool_limit_bytes;
    }
}

static void describe_audio(struct study *study)
{
    const struct audio_info *info = audio_info(study->bench.audio);
    struct result_audio *audio = &study->result->audio;
    snprintf(audio->driver, sizeof audio->driver, "%s", info->driver);
    snprintf(audio->host_api, sizeof audio->host_api, "%s", info->host_api);
    snprintf(audio->device, sizeof audio->device, "%s", info->device);
    audio->sample_rate_hz = info->sample_rate_hz;
    audio->frames_per_buffer = info->frames;
    audio->fell_back = info->fell_back;
}

static bool is_simulated(const struct plan *plan)
{
    return plan->device != NULL && strcmp(plan->device, "simulated") == 0;
}

int study_run(const struct plan *plan, const struct study_observer *observer, struct result *result,
              bool *device_lost, struct error *error)
{
    struct study *study = calloc(1, sizeof *study);
    if (study == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory");
    study->plan = plan;
    study->result = result;
    if (is_simulated(plan))
        simulation_begin();
    study->started_ns = monotonic_ns();
    study->searches = (uint32_t)(plan->directory_count * plan->block_size_count * plan->repeats);
    snprintf(result->tool_version, sizeof result->tool_version, "%s", TRACKRAMP_VERSION);
    result->started = time(NULL);
    result->track = plan->format;
    host_describe(&result->host);
    int outcome = bench_init(&study->bench, plan, observer, error);
    if (outcome == 0) {
        describe_audio(study);
        for (size_t i = 0; i < plan->directory_count && outcome == 0; i++)
            outcome = measure_drive(study, i, error);
    }
    describe_method(study);
    *device_lost = study->bench.audio_lost && !is_simulated(plan);
    bench_fini(&study->bench);
    result->complete = outcome == 0;
    if (outcome != 0)
        snprintf(result->ended_by, sizeof result->ended_by, "%s", error->text);
    result->duration_s = (double)(monotonic_ns() - study->started_ns) / (double)UNITS_NS_PER_SECOND;
    if (is_simulated(plan))
        simulation_end();
    free(study);
    return outcome;
}

int study_clean(const char *directory, uint32_t *files, struct error *error)
{
    return pool_clean(directory, files, error);
}
