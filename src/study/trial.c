#include "trial.h"

#include "check.h"
#include "monotonic.h"
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

/* A callback at this load is as full as one should be: the estimate where it was overloaded. */
static const double full_callback_percent = 85;

/* A flood lasts for so many blocks, within so many seconds. */
enum { FLOOD_BLOCKS = 50 };
static const double flood_least_s = 1.5, flood_most_s = 6;

/* All counters, at one moment of a trial. */
struct moment {
    uint64_t ns, cpu_ns;
    struct audio_counters audio;
    uint64_t completed_blocks, released_blocks, underruns, frames;
};

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(to_ns - from_ns) / (double)UNITS_NS_PER_SECOND;
}

/* Cold before every trial: past the cache nothing needs doing. */
static int cool_files(struct bench *bench, double *resident, struct error *error)
{
    *resident = 0;
    return bench->plan->direct ? 0 : pool_evict(bench->pool, resident, error);
}

/* `readers` is NULL before they have been started. */
static void look(const struct bench *bench, const struct readers *readers, struct moment *moment)
{
    moment->ns = monotonic_ns();
    moment->cpu_ns = monotonic_process_cpu_ns();
    audio_counters(bench->audio, &moment->audio);
    /* Completed first: what is given back after that look can only add to the backlog. */
    moment->completed_blocks = readers != NULL ? readers_completed_blocks(readers) : 0;
    moment->released_blocks = atomic_load(&bench->mixer->released_blocks);
    moment->underruns = atomic_load(&bench->mixer->underruns);
    moment->frames = atomic_load(&bench->mixer->frames);
}

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
    return seconds_between(start->ns, now->ns) > 1 &&
           (double)late > HOPELESS_SHARE * (double)callbacks;
}

/* Until the verdict stands, or need not be waited for. `end` is the moment when it did: stopping
 * takes time of its own, in which a late clock catches up and reads under way come home. */
static int watch(struct bench *bench, const struct readers *readers, uint32_t lead_in,
                 const struct moment *start, struct moment *end, struct verdict *verdict,
                 uint64_t *checked, struct error *error)
{
    struct reader_failure failure;
    *end = *start;
    while (verdict->state == VERDICT_OPEN && !hopelessly_late(start, end)) {
        monotonic_sleep_until(monotonic_ns() + POLL_NS);
        look(bench, readers, end);
        struct verdict_sample now = sample(bench, end, lead_in);
        verdict_add(verdict, &now);
        show_fill(bench);
        if (readers_failed(readers, &failure))
            return bench_read_error(bench, &failure, error);
        if (check_drained(bench, checked, error) != 0 || bench_poll(bench, error) != 0)
            return -1;
    }
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
    double passed_s = seconds_between(start->ns, end->ns);
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
    if (callbacks > 0)
        evidence->late_share = (double)outcome->late_callbacks / callbacks;
}

static void explain(const struct verdict *verdict, const struct limit_evidence *evidence,
                    struct result_trial *summary)
{
    double growth_percent =
        100 * verdict->growth_blocks_per_second / verdict->terms.demand_blocks_per_second;
    summary->pass = verdict->state == VERDICT_PASS && !limit_callbacks_fail(evidence);
    if (verdict->state != VERDICT_FAIL && !summary->pass)
        snprintf(summary->reason, sizeof summary->reason,
                 "%.1f %% of the audio callbacks came late: the machine or the device, not the "
                 "drive",
                 100 * evidence->late_share);
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

static void summarise(const struct bench *bench, uint32_t tracks, const struct verdict *verdict,
                      const struct moment *end, const struct reader_totals *totals,
                      struct trial_outcome *outcome)
{
    struct result_trial *summary = &outcome->summary;
    double rate_hz = bench->plan->format.sample_rate_hz;
    summary->tracks = tracks;
    summary->seconds = (double)end->frames / rate_hz;
    summary->underruns = end->underruns;
    summary->backlog_bytes_per_second = verdict->growth_blocks_per_second * bench->block_bytes;
    summary->min_slack_ms = totals->min_slack_frames == INT64_MAX
                                ? INFINITY
                                : 1000 * (double)totals->min_slack_frames / rate_hz;
    explain(verdict, &outcome->evidence, summary);
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
    return (double)blocks * bench->block_bytes / seconds_between(start->ns, end->ns);
}

int trial_run(struct bench *bench, uint32_t tracks, double seconds, uint64_t seed,
              struct trial_outcome *outcome, struct error *error)
{
    uint32_t lead_in;
    memset(outcome, 0, sizeof *outcome);
    bench->progress.tracks = tracks;
    if (bench_set_tracks(bench, tracks, seed, &lead_in, error) != 0 ||
        cool_files(bench, &outcome->resident, error) != 0)
        return -1;
    struct verdict verdict;
    verdict_init(&verdict, &(struct verdict_terms){.trial_s = seconds,
                                                   .demand_blocks_per_second =
                                                       bench_demand_blocks(bench, tracks)});
    struct moment start, end;
    look(bench, NULL, &start);
    struct readers *readers;
    if (readers_start(&readers, &bench->readers, bench->tracks, tracks, bench->mixer, error) != 0)
        return -1;
    mixer_start(bench->mixer);
    int watched =
        watch(bench, readers, lead_in, &start, &end, &verdict, &outcome->checked_samples, error);
    int rested = rest(bench, error);
    struct reader_totals totals;
    readers_stop(readers, &totals);
    bench->progress.tracks = 0;
    if (watched != 0 || rested != 0)
        return -1;
    measure_machine(bench, &start, &end, &totals, outcome);
    summarise(bench, tracks, &verdict, &end, &totals, outcome);
    outcome->stream_bytes_per_second = streamed_bytes_per_second(bench, &start, &end, lead_in);
    outcome->resolution = verdict_resolution(&verdict.terms);
    if (check_drained(bench, &outcome->checked_samples, error) != 0)
        return -1;
    return check_rings(bench, tracks, &outcome->checked_samples, error);
}

double trial_flood_seconds(uint32_t block_bytes, double bytes_per_second)
{
    double seconds = FLOOD_BLOCKS * (double)block_bytes / (bytes_per_second + 1);
    if (seconds < flood_least_s)
        return flood_least_s;
    return seconds < flood_most_s ? seconds : flood_most_s;
}

/* Through the page cache a flood ends when every file has been read once. */
static bool flood_is_over(const struct bench *bench, uint32_t tracks, uint64_t completed_blocks)
{
    uint64_t all_blocks = 0;
    if (bench->plan->direct)
        return false;
    for (uint32_t i = 0; i < tracks; i++)
        all_blocks += bench->tracks[i].end_block - bench->tracks[i].first_read_block;
    return completed_blocks >= all_blocks;
}

int trial_flood(struct bench *bench, uint32_t tracks, double seconds, uint64_t seed,
                double *bytes_per_second, struct error *error)
{
    double resident;
    bench->progress.doing = "reading flat out";
    if (bench_set_flood(bench, tracks, seed, error) != 0 ||
        cool_files(bench, &resident, error) != 0)
        return -1;
    struct readers *readers;
    struct reader_failure failure;
    if (readers_start(&readers, &bench->readers, bench->tracks, tracks, NULL, error) != 0)
        return -1;
    double warm_up_s = seconds / 4;
    struct moment start, judged, now;
    look(bench, NULL, &start);
    judged = now = start;
    int result = 0;
    while (result == 0 && seconds_between(start.ns, now.ns) < warm_up_s + seconds &&
           !flood_is_over(bench, tracks, now.completed_blocks)) {
        monotonic_sleep_until(monotonic_ns() + UNITS_NS_PER_MS);
        look(bench, readers, &now);
        if (judged.ns == start.ns && seconds_between(start.ns, now.ns) >= warm_up_s)
            judged = now;
        if (readers_failed(readers, &failure))
            result = bench_read_error(bench, &failure, error);
        else
            result = bench_poll(bench, error);
    }
    readers_stop(readers, NULL);
    if (judged.ns == now.ns) /* over before it was warm */
        judged = start;
    *bytes_per_second = (double)(now.completed_blocks - judged.completed_blocks) *
                        bench->block_bytes / seconds_between(judged.ns, now.ns);
    return result;
}
