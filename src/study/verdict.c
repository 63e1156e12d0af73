#include "verdict.h"

#include "stats.h"

#include <float.h>
#include <string.h>

/* An overload below this share of demand is within what the trial can tell: it passes. */
static const double tolerated_growth = 0.004;

/* A growth above this share is called early, once every floor lay higher than the one before. */
static const double certain_growth = 0.03;
enum { CERTAIN_WINDOWS = 3, CERTAIN_RISE_BLOCKS = 8, UNDERRUN_CLEAR_WINDOWS = 2 };

/* A backlog this small is none: a block on its way. */
static const double empty_floor_blocks = 1;

/* Less than a block over the judged time is no trend, however long the blocks are. (One step of a
 * block can show as 1.5 times that and fail a trial; letting it pass would let twice the overload
 * pass, and a search that fails by a step finds its way back.) */
double verdict_resolution(const struct verdict_terms *terms)
{
    double judged_s = terms->trial_s * (VERDICT_WINDOWS - VERDICT_SETTLE_WINDOWS) / VERDICT_WINDOWS;
    double step = 1 / judged_s / terms->demand_blocks_per_second;
    return step > tolerated_growth ? step : tolerated_growth;
}

void verdict_init(struct verdict *verdict, const struct verdict_terms *terms)
{
    memset(verdict, 0, sizeof *verdict);
    verdict->terms = *terms;
    verdict->current_floor = DBL_MAX;
}

static double window_s(const struct verdict *verdict)
{
    return verdict->terms.trial_s / VERDICT_WINDOWS;
}

/* Least squares over the judged windows' floors. */
static void measure_growth(struct verdict *verdict)
{
    double times[VERDICT_WINDOWS];
    uint32_t judged = verdict->windows - VERDICT_SETTLE_WINDOWS;
    verdict->busy = true;
    for (uint32_t i = 0; i < judged; i++) {
        times[i] = i * window_s(verdict);
        if (verdict->floors[VERDICT_SETTLE_WINDOWS + i] <= empty_floor_blocks)
            verdict->busy = false;
    }
    verdict->growth_blocks_per_second =
        stats_slope(times, verdict->floors + VERDICT_SETTLE_WINDOWS, judged);
}

/* Whether `least` windows or more have been judged, and each floor lies above the one before, by
 * more in all than a clear overload would let them rise. */
static bool grows_throughout(const struct verdict *verdict, uint32_t least)
{
    if (verdict->windows < VERDICT_SETTLE_WINDOWS + least)
        return false;
    uint32_t judged = verdict->windows - VERDICT_SETTLE_WINDOWS;
    const double *floors = verdict->floors + VERDICT_SETTLE_WINDOWS;
    for (uint32_t i = 1; i < judged; i++) {
        if (floors[i] <= floors[i - 1])
            return false;
    }
    return verdict->growth_blocks_per_second >
           certain_growth * verdict->terms.demand_blocks_per_second;
}

static bool certainly_growing(const struct verdict *verdict)
{
    const double *floors = verdict->floors + VERDICT_SETTLE_WINDOWS;
    return grows_throughout(verdict, CERTAIN_WINDOWS) &&
           floors[verdict->windows - VERDICT_SETTLE_WINDOWS - 1] - floors[0] > CERTAIN_RISE_BLOCKS;
}

static void decide(struct verdict *verdict, enum verdict_state state, enum verdict_cause cause)
{
    verdict->state = state;
    verdict->cause = cause;
    verdict->clear = cause != VERDICT_UNDERRUN || grows_throughout(verdict, UNDERRUN_CLEAR_WINDOWS);
}

/* The time is up. */
static void conclude(struct verdict *verdict)
{
    double tolerated =
        verdict_resolution(&verdict->terms) * verdict->terms.demand_blocks_per_second;
    for (uint32_t i = VERDICT_WINDOWS - VERDICT_WINDOWS / 3; i < VERDICT_WINDOWS; i++) {
        if (verdict->floors[i] <= empty_floor_blocks) {
            decide(verdict, VERDICT_PASS, VERDICT_KEPT_UP);
            return;
        }
    }
    if (verdict->growth_blocks_per_second <= tolerated)
        decide(verdict, VERDICT_PASS, VERDICT_STEADY);
    else
        decide(verdict, VERDICT_FAIL, VERDICT_BACKLOG);
}

static void end_window(struct verdict *verdict)
{
    verdict->floors[verdict->windows++] = verdict->current_floor;
    verdict->current_floor = DBL_MAX;
    if (verdict->windows <= VERDICT_SETTLE_WINDOWS)
        return;
    measure_growth(verdict);
    if (verdict->windows == VERDICT_WINDOWS)
        conclude(verdict);
    else if (certainly_growing(verdict))
        decide(verdict, VERDICT_FAIL, VERDICT_BACKLOG);
}

enum verdict_state verdict_add(struct verdict *verdict, const struct verdict_sample *sample)
{
    if (verdict->state != VERDICT_OPEN)
        return verdict->state;
    if (sample->underruns > 0) {
        verdict->underrun_s = sample->time_s;
        decide(verdict, VERDICT_FAIL, VERDICT_UNDERRUN);
        return verdict->state;
    }
    double backlog = (double)sample->backlog_blocks;
    if (backlog < verdict->current_floor)
        verdict->current_floor = backlog;
    /* A sample that comes late, after a window's end, stands for that window too. */
    while (verdict->state == VERDICT_OPEN &&
           sample->time_s >= (verdict->windows + 1) * window_s(verdict)) {
        end_window(verdict);
        verdict->current_floor = backlog;
    }
    return verdict->state;
}
