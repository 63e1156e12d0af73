#include "flood.h"

#include "dispersion.h"
#include "moment.h"
#include "monotonic.h"
#include "stalls.h"
#include "units.h"

#include <string.h>

/*
 * How fast the drive reads when nobody waits for anything: the first guess of a search, and the
 * throughput that the fit and the limits are told from.
 */

/* A flood lasts for so many blocks, within so many seconds. */
enum { FLOOD_BLOCKS = 50 };
static const double least_s = 1.5, most_s = 6;

static const double slowed_share = 0.8;

/* Into so many stretches a flood is cut to see how evenly the drive answers. */
enum { FLOOD_STRETCHES = 16 };

double flood_seconds(uint32_t block_bytes, double bytes_per_second)
{
    double seconds = FLOOD_BLOCKS * (double)block_bytes / (bytes_per_second + 1);
    if (seconds < least_s)
        return least_s;
    return seconds < most_s ? seconds : most_s;
}

/* Through the page cache a flood ends when every file has been read once. */
static bool is_over(const struct bench *bench, uint32_t tracks, uint64_t completed_blocks)
{
    uint64_t all_blocks = 0;
    if (bench->plan->direct)
        return false;
    for (uint32_t i = 0; i < tracks; i++)
        all_blocks += bench->tracks[i].end_block - bench->tracks[i].first_read_block;
    return completed_blocks >= all_blocks;
}

/* The flood's course: begun, warm, half of what is judged, now. */
struct course {
    struct moment start, warm, half, now;
    struct stalls stalls;
    struct dispersion dispersion; /* once it is warm */
};

static int follow(struct bench *bench, const struct readers *readers, uint32_t tracks,
                  double seconds, struct course *course, struct error *error)
{
    struct reader_failure failure;
    double passed_s = 0, warm_up_s = seconds / 4;
    while (passed_s < warm_up_s + seconds &&
           !is_over(bench, tracks, course->now.completed_blocks)) {
        monotonic_sleep_until(monotonic_ns() + UNITS_NS_PER_MS);
        moment_look(&course->now, bench, readers);
        passed_s = moment_seconds_between(&course->start, &course->now);
        stalls_look(&course->stalls, passed_s, course->now.completed_blocks, true);
        if (course->warm.ns == course->start.ns && passed_s >= warm_up_s) {
            course->warm = course->now;
            dispersion_init(&course->dispersion, seconds / FLOOD_STRETCHES, passed_s,
                            course->now.completed_blocks);
        } else if (course->warm.ns != course->start.ns) {
            dispersion_look(&course->dispersion, passed_s, course->now.completed_blocks);
        }
        if (course->half.ns == course->start.ns && passed_s >= warm_up_s + seconds / 2)
            course->half = course->now;
        if (readers_failed(readers, &failure))
            return bench_read_error(bench, &failure, error);
        if (bench_poll(bench, error) != 0)
            return -1;
    }
    stalls_end(&course->stalls);
    return 0;
}

/* Blocks a second between two moments; 0 where they are the same. */
static double speed(const struct moment *from, const struct moment *to)
{
    double seconds = moment_seconds_between(from, to);
    return seconds > 0 ? (double)(to->completed_blocks - from->completed_blocks) / seconds : 0;
}

static void summarise(const struct bench *bench, const struct course *course,
                      struct flood_outcome *outcome)
{
    /* Over before it was warm: then all of it counts. */
    bool warm = course->warm.ns != course->now.ns && course->warm.ns != course->start.ns;
    const struct moment *from = warm ? &course->warm : &course->start;
    outcome->seconds = moment_seconds_between(from, &course->now);
    outcome->bytes_per_second = speed(from, &course->now) * bench->block_bytes;
    outcome->blocks = course->now.completed_blocks - from->completed_blocks;
    outcome->dispersion_blocks = dispersion_blocks(&course->dispersion);
    outcome->stalls = course->stalls.seen;
    outcome->worst_stall_s = course->stalls.worst_s;
    outcome->slowed =
        warm && course->stalls.seen == 0 && course->half.ns != course->start.ns &&
        speed(&course->half, &course->now) < slowed_share * speed(&course->warm, &course->half);
}

/* What the drive below has read since `before`, and we; left 0 where nobody counts. */
static void count_device(const struct bench *bench, const struct storage_counters *before,
                         uint64_t our_reads, struct result_device *device)
{
    struct storage_counters now;
    if (!storage_count(&bench->devices, &now) || now.reads < before->reads)
        return;
    device->our_reads = our_reads;
    device->our_bytes = our_reads * bench->block_bytes;
    device->reads = now.reads - before->reads;
    device->bytes = now.bytes - before->bytes;
}

int flood_run(struct bench *bench, uint32_t tracks, double seconds,
              double expected_bytes_per_second, uint64_t seed, struct flood_outcome *outcome,
              struct error *error)
{
    double resident;
    struct course course;
    struct readers *readers;
    struct storage_counters counters = {0};
    memset(outcome, 0, sizeof *outcome);
    memset(&course, 0, sizeof course);
    bench->progress.doing = "reading flat out";
    if (bench_set_flood(bench, tracks, seed, error) != 0 ||
        bench_cool_files(bench, &resident, error) != 0)
        return -1;
    /* Before the first read: all there is to read may take a moment. */
    storage_count(&bench->devices, &counters);
    if (readers_start(&readers, &bench->readers, bench->tracks, tracks, NULL, error) != 0)
        return -1;
    stalls_init(&course.stalls, expected_bytes_per_second / bench->block_bytes);
    moment_look(&course.start, bench, NULL);
    course.warm = course.half = course.now = course.start;
    int result = follow(bench, readers, tracks, seconds, &course, error);
    readers_stop(readers, NULL);
    if (result == 0) {
        summarise(bench, &course, outcome);
        count_device(bench, &counters, course.now.completed_blocks, &outcome->device);
    }
    return result;
}
