#include "trial.h"

#include "check.h"
#include "moment.h"
#include "monotonic.h"
#include "stalls.h"
#include "units.h"
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * N tracks held for a time. Reader threads fill rings, the callback drains them; the main thread
 * looks at their counters every few milliseconds, feeds the verdict, and stops both.
 *
 * The backlog is what the callback has given back and the readers have not filled, in blocks: two
 * totals, no look at single tracks. A trial begins with a small backlog (the lead-in): a drive at
 * its limit is then busy from the first moment, and what it had saved up while idle is gone before
 * judging begins.
 */

#define POLL_NS (5 * UNITS_NS_PER_MS)
#define REST_NS (2 * UNITS_NS_PER_SECOND)
#define HOPELESS_SHARE 0.6

enum { STALLS_MANY = 3 };

/* A callback at this load is as full as one should be: the estimate where it was overloaded. */
static const double full_callback_percent = 85;

static struct verdict_sample sample(const struct bench *bench, const struct moment *now,
                                    uint32_t lead_in)
{
    uint64_t due_blocks = now->released_blocks + lead_in;
    return (struct verdict_sample){
        .time_s = (double)now->frames / bench->plan->format.sample_rate_hz,
        .backlog_blocks =
            due_blocks > now->completed_blocks ? due_blocks - now->completed_blocks : 0,
        .underruns = now->underruns};
}

static double lowest_fill_percent(const struct bench *bench)
{
    uint64_t lowest = atomic_load(&bench->mixer->lowest_fill_bytes);
    double ring_bytes = (double)bench->slots * bench->block_bytes;
    return lowest == UINT64_MAX ? 100 : 100 * (double)lowest / ring_bytes;
}

static void show_fill(struct bench *bench)
{
    uint64_t fill = atomic_load(&bench->mixer->fill_bytes);
    double ring_bytes = (double)bench->slots * bench->block_bytes;
    bench->progress.fill_percent = fill == UINT64_MAX ? 100 : 100 * (double)fill / ring_bytes;
}

/* Far more late callbacks than could still turn out to be few, after a second: the machine cannot
 * keep up, and the rest of the trial would only say so again. */
static bool hopelessly_late(const struct moment *start, const struct moment *now)
{
    uint64_t callbacks = now->audio.callbacks - start->audio.callbacks;
    uint64_t late = now->audio.late_callbacks - start->audio.late_callbacks;
    return moment_seconds_between(start, now) > 1 &&
           (double)late > HOPELESS_SHARE * (double)callbacks;
}

/* What is watched while a trial goes on. */
struct watched {
    struct moment start, end;
    struct verdict verdict;
    struct stalls stalls;
    bool settled; /* from here on the emptiest ring counts */
};

static void begin_watch(struct watched *watched, const struct bench *bench, uint32_t tracks,
                        double seconds)
{
    memset(watched, 0, sizeof *watched);
    double demand = bench_demand_blocks(bench, tracks);
    verdict_init(&watched->verdict,
                 &(struct verdict_terms){.trial_s = seconds, .demand_blocks_per_second = demand});
    stalls_init(&watched->stalls, demand);
    moment_look(&watched->start, bench, NULL);
}

static void look(struct watched *watched, const struct bench *bench, const struct readers *readers,
                 uint32_t lead_in)
{
    moment_look(&watched->end, bench, readers);
    struct verdict_sample now = sample(bench, &watched->end, lead_in);
    stalls_look(&watched->stalls, moment_seconds_between(&watched->start, &watched->end),
                watched->end.completed_blocks, now.backlog_blocks > 0);
    verdict_add(&watched->verdict, &now);
    /* What the lead-in took from the rings is not the drive's doing. The callback may write a word
     * of before once more; then a period's look at the rings is lost, and that is all. */
    if (!watched->settled && watched->verdict.windows >= VERDICT_SETTLE_WINDOWS) {
        watched->settled = true;
        atomic_store(&bench->mixer->lowest_fill_bytes, UINT64_MAX);
    }
}

/* Until the verdict stands, or need not be waited for. `end` is the moment when it did: stopping
 * takes time of its own, in which a late clock catches up and reads under way come home. */
static int watch(struct bench *bench, const struct readers *readers, uint32_t lead_in,
                 struct watched *watched, uint64_t *checked, struct error *error)
{
    struct reader_failure failure;
    watched->end = watched->start;
    while (watched->verdict.state == VERDICT_OPEN &&
           !hopelessly_late(&watched->start, &watched->end)) {
        monotonic_sleep_until(monotonic_ns() + POLL_NS);
        look(watched, bench, readers, lead_in);
        show_fill(bench);
        if (readers_failed(readers, &failure))
            return bench_read_error(bench, &failure, error);
        if (check_drained(bench, checked, error) != 0 || bench_poll(bench, error) != 0)
            return -1;
    }
    stalls_end(&watched->stalls);
    return 0;
}

/* The rings are ours again once the callback has answered; a callback that does not is lost. */
static int rest(struct bench *bench, struct error *error)
{
    uint64_t began_ns = monotonic_ns();
    mixer_stop(bench->mixer);
    while (!bench->audio_lost && !mixer_at_rest(bench->mixer)) {
        monotonic_sleep_until(monotonic_ns() + UNITS_NS_PER_MS);
        if (audio_check(bench->audio, error) != 0) {
            bench->audio_lost = true;
        } else if (monotonic_ns() > began_ns + REST_NS) {
            bench->audio_lost = true;
            error_set(error, ERROR_ENVIRONMENT,
                      "audio output `%s` stopped calling; choose another with --device",
                      audio_info(bench->audio)->device);
        }
    }
    return bench->audio_lost ? -1 : 0;
}

static void measure_machine(const struct bench *bench, const struct moment *start,
                            const struct moment *end, const struct reader_totals *totals,
                            struct trial_outcome *outcome)
{
    double ns = (double)UNITS_NS_PER_SECOND;
    double passed_s = moment_seconds_between(start, end);
    double callbacks = (double)(end->audio.callbacks - start->audio.callbacks);
    double played_s = (double)(end->audio.frames - start->audio.frames) /
                      audio_info(bench->audio)->sample_rate_hz;
    struct limit_evidence *evidence = &outcome->evidence;
    outcome->late_callbacks = end->audio.late_callbacks - start->audio.late_callbacks;
    outcome->device_xruns = end->audio.device_xruns - start->audio.device_xruns;
    evidence->cores = bench->cores;
    evidence->process_percent = 100 * (double)(end->cpu_ns - start->cpu_ns) / ns / passed_s;
    evidence->reader_percent = 100 * (double)totals->busiest_cpu_ns / ns / passed_s;
    if (played_s > 0)
        evidence->callback_percent =
            100 * (double)(end->audio.busy_ns - start->audio.busy_ns) / ns / played_s;
    evidence->queue_busy_share = totals->busy_share;
    if (callbacks > 0)
        evidence->late_share = (double)outcome->late_callbacks / callbacks;
}

static void explain(const struct watched *watched, const struct limit_evidence *evidence,
                    struct result_trial *summary)
{
    const struct verdict *verdict = &watched->verdict;
    double growth_percent =
        100 * verdict->growth_blocks_per_second / verdict->terms.demand_blocks_per_second;
    summary->pass = verdict->state == VERDICT_PASS && !limit_callbacks_fail(evidence);
    if (verdict->state != VERDICT_FAIL && !summary->pass)
        snprintf(summary->reason, sizeof summary->reason,
                 "%.1f %% of the audio callbacks came late: the machine or the device, not the "
                 "drive",
                 100 * evidence->late_share);
    else if (verdict->cause == VERDICT_UNDERRUN && watched->stalls.seen > 0)
        snprintf(summary->reason, sizeof summary->reason,
                 "a ring ran dry after %.2f s: the drive had answered nothing for %.2f s",
                 verdict->underrun_s, watched->stalls.worst_s);
    else if (verdict->cause == VERDICT_UNDERRUN)
        snprintf(summary->reason, sizeof summary->reason, "a ring ran dry after %.2f s",
                 verdict->underrun_s);
    else if (verdict->cause == VERDICT_BACKLOG)
        snprintf(summary->reason, sizeof summary->reason,
                 "the backlog kept growing, by %.1f %% of the demand", growth_percent);
    else if (verdict->cause == VERDICT_KEPT_UP)
        snprintf(summary->reason, sizeof summary->reason, "the readers caught up again and again");
    else
        snprintf(summary->reason, sizeof summary->reason,
                 "the drive was busy throughout and the backlog did not grow (%+.1f %% of the "
                 "demand)",
                 growth_percent);
}

/* Whether the load explains how the trial went. One stall or two may have spoiled it; a drive that
 * stalls again and again is judged by what it does on average. */
static bool is_clear(const struct watched *watched, const struct limit_evidence *evidence,
                     bool pass)
{
    if (pass)
        return true;
    if (limit_callbacks_fail(evidence))
        return limit_of_machine(evidence) == LIMIT_CPU;
    bool few_stalls = watched->stalls.seen > 0 && watched->stalls.seen < STALLS_MANY;
    return watched->verdict.clear && !few_stalls;
}

static void summarise(const struct bench *bench, uint32_t tracks, const struct watched *watched,
                      const struct reader_totals *totals, struct trial_outcome *outcome)
{
    const struct verdict *verdict = &watched->verdict;
    struct result_trial *summary = &outcome->summary;
    double rate_hz = bench->plan->format.sample_rate_hz;
    summary->tracks = tracks;
    summary->seconds = (double)watched->end.frames / rate_hz;
    summary->underruns = watched->end.underruns;
    summary->backlog_bytes_per_second = verdict->growth_blocks_per_second * bench->block_bytes;
    summary->min_slack_ms = totals->min_slack_frames == INT64_MAX
                                ? INFINITY
                                : 1000 * (double)totals->min_slack_frames / rate_hz;
    summary->lowest_fill_percent = lowest_fill_percent(bench);
    summary->stalls = watched->stalls.seen;
    summary->worst_stall_s = watched->stalls.worst_s;
    explain(watched, &outcome->evidence, summary);
    outcome->clear = is_clear(watched, &outcome->evidence, summary->pass);
    if (verdict->windows > VERDICT_SETTLE_WINDOWS + 2 && verdict->busy) {
        double demand = verdict->terms.demand_blocks_per_second;
        outcome->estimate_tracks = tracks * (demand - verdict->growth_blocks_per_second) / demand;
    }
    double load_percent = outcome->evidence.callback_percent;
    if (!summary->pass && limit_callbacks_fail(&outcome->evidence) &&
        load_percent > full_callback_percent)
        outcome->estimate_tracks = tracks * full_callback_percent / load_percent;
    outcome->latency = totals->latency;
}

/* What the drive gave while the trial ran, less the lead-in, which no track played. */
static double streamed_bytes_per_second(const struct bench *bench, const struct moment *start,
                                        const struct moment *end, uint32_t lead_in)
{
    uint64_t blocks = end->completed_blocks > lead_in ? end->completed_blocks - lead_in : 0;
    return (double)blocks * bench->block_bytes / moment_seconds_between(start, end);
}

int trial_run(struct bench *bench, uint32_t tracks, double seconds, uint64_t seed,
              struct trial_outcome *outcome, struct error *error)
{
    uint32_t lead_in;
    memset(outcome, 0, sizeof *outcome);
    bench->progress.tracks = tracks;
    if (bench_set_tracks(bench, tracks, seed, &lead_in, error) != 0 ||
        bench_cool_files(bench, &outcome->resident, error) != 0)
        return -1;
    struct watched watched;
    struct readers *readers;
    begin_watch(&watched, bench, tracks, seconds);
    if (readers_start(&readers, &bench->readers, bench->tracks, tracks, bench->mixer, error) != 0)
        return -1;
    mixer_start(bench->mixer);
    int result = watch(bench, readers, lead_in, &watched, &outcome->checked_samples, error);
    if (rest(bench, error) != 0)
        result = -1;
    struct reader_totals totals;
    readers_stop(readers, &totals);
    bench->progress.tracks = 0;
    if (result != 0)
        return -1;
    measure_machine(bench, &watched.start, &watched.end, &totals, outcome);
    summarise(bench, tracks, &watched, &totals, outcome);
    outcome->stream_bytes_per_second =
        streamed_bytes_per_second(bench, &watched.start, &watched.end, lead_in);
    outcome->resolution = verdict_resolution(&watched.verdict.terms);
    if (check_drained(bench, &outcome->checked_samples, error) != 0)
        return -1;
    return check_rings(bench, tracks, &outcome->checked_samples, error);
}
