#include "ramp.h"

#include <math.h>
#include <string.h>

/* How far the bracket steps beyond what it has, move by move; the last repeats. */
static const double bracket_steps[] = {0.02, 0.05, 0.12, 0.25, 0.5};
enum { BRACKET_STEPS = sizeof bracket_steps / sizeof *bracket_steps };

/* Where a trial's estimate is at hand, step past it by this much, to find the other side. */
static const double past_estimate = 0.01;

/* Estimates may place this many trials while closing in; then halving, which always ends. */
enum { ESTIMATE_TRIES = 4 };

/* Near enough for a confirming trial, which is longer and tells finer, to take the estimate's word:
 * this many steps of the grid. Without an estimate, one. */
enum { NEAR_STEPS = 3 };

/* An estimate this many steps below a count that passed still stands: a short trial may pass that
 * much too high. Further off, the pass has disproved it. */
enum { TRUSTED_STEPS = 2 };

/* Failed trials that say nothing, in a row, until the count is taken to have failed. */
enum { UNCLEAR_MOST = 7 };

/* No ring under this, and a count is a comfortable one: hdrbench stops there, and Ardour's manual
 * names it. Found to within margin_step, in so many trials at most. */
static const double comfortable_percent = 20, margin_first = 0.85, margin_step = 0.05;
enum { MARGIN_TRIES = 8 };

void ramp_init(struct ramp *ramp, uint32_t guess, uint32_t cap, bool known)
{
    memset(ramp, 0, sizeof *ramp);
    ramp->cap = cap;
    ramp->known = known;
    ramp->guess = guess < cap ? guess : cap;
    ramp->step = STEP_BRACKET;
}

/* One step of the grid at a count: 1 %, at least one track. */
static uint32_t grid(uint32_t tracks)
{
    uint32_t step = (uint32_t)lround(tracks * 0.01);
    return step > 1 ? step : 1;
}

static uint32_t clamp(double value, uint32_t least, uint32_t most)
{
    if (value < least)
        return least;
    return value > most ? most : (uint32_t)value;
}

static double bracket_step(const struct ramp *ramp)
{
    uint32_t move = ramp->tries - 1; /* the first trial was no move yet */
    return bracket_steps[move < BRACKET_STEPS ? move : BRACKET_STEPS - 1];
}

static uint32_t bracket_up(const struct ramp *ramp)
{
    double next = ramp->low * (1 + bracket_step(ramp));
    double past = ceil(ramp->estimate * (1 + past_estimate));
    if (ramp->estimate > ramp->low && (past > next || ramp->tries == 1))
        next = past; /* the first estimate is taken at its word, later ones have been wrong */
    else if (ramp->known && ramp->tries == 1)
        next = ramp->low + grid(ramp->low);
    return clamp(next, ramp->low + 1, ramp->cap);
}

static uint32_t bracket_down(const struct ramp *ramp)
{
    double next = floor(ramp->high * (1 - bracket_step(ramp)));
    double past = floor(ramp->estimate * (1 - past_estimate));
    if (past > 0 && (past < next || ramp->tries == 1))
        next = past;
    else if (ramp->known && ramp->tries == 1)
        next = ramp->high - grid(ramp->high);
    return clamp(next, 1, ramp->high - 1);
}

static uint32_t close_in(const struct ramp *ramp)
{
    uint32_t step = grid(ramp->low);
    double middle = sqrt((double)ramp->low * ramp->high);
    if (ramp->estimate > 0 && ramp->tries < ESTIMATE_TRIES && ramp->high - ramp->low > 2 * step)
        return clamp(ramp->estimate, ramp->low + step, ramp->high - step);
    return clamp(middle, ramp->low + 1, ramp->high - 1);
}

static void enter(struct ramp *ramp, enum ramp_step step)
{
    if (ramp->step != step)
        ramp->tries = 0;
    ramp->step = step;
}

bool ramp_next(struct ramp *ramp, uint32_t *tracks, enum ramp_step *step)
{
    if (ramp->done)
        return false;
    if (ramp->step != STEP_BRACKET && ramp->step != STEP_CLOSE_IN)
        *tracks = ramp->candidate;
    else if (ramp->unclear > 0)
        *tracks = ramp->trying;
    else if (ramp->low == 0 && ramp->high == 0)
        *tracks = ramp->guess;
    else if (ramp->high == 0)
        *tracks = bracket_up(ramp);
    else if (ramp->low == 0)
        *tracks = bracket_down(ramp);
    else
        *tracks = close_in(ramp);
    *step = ramp->step;
    ramp->trying = *tracks;
    return true;
}

static bool near_enough(const struct ramp *ramp)
{
    uint32_t steps = ramp->estimate > 0 ? NEAR_STEPS : 1;
    return ramp->high - ramp->low <= steps * grid(ramp->low);
}

/* What to confirm: where there is an estimate, that, but at most a step below what has passed, for
 * nothing above the count that is confirmed is tried again. */
static uint32_t best_candidate(const struct ramp *ramp)
{
    uint32_t step = grid(ramp->low);
    uint32_t least = ramp->low > step ? ramp->low - step : 1;
    if (ramp->high == 0 || ramp->estimate <= 0)
        return ramp->low;
    return clamp(ramp->estimate, least, ramp->high - 1);
}

static void report_search(struct ramp *ramp, uint32_t tracks, bool pass)
{
    if (pass)
        ramp->low = tracks;
    else
        ramp->high = tracks;
    bool bracketed = ramp->low > 0 && ramp->high > 0;
    if (ramp->estimate + TRUSTED_STEPS * grid(ramp->low) < ramp->low ||
        (ramp->high > 0 && ramp->estimate >= ramp->high))
        ramp->estimate = 0; /* disproved */
    if (ramp->high == 1) {  /* not even one */
        ramp->done = true;
    } else if (ramp->low == ramp->cap || (bracketed && near_enough(ramp))) {
        ramp->knee = ramp->candidate = best_candidate(ramp);
        enter(ramp, STEP_CONFIRM);
    } else {
        enter(ramp, bracketed ? STEP_CLOSE_IN : STEP_BRACKET);
    }
}

/* Where to look next for the most with a margin; ends the search when that is near enough. */
static void next_margin(struct ramp *ramp)
{
    double low = ramp->margin_low, high = ramp->margin_high;
    ramp->comfortable = ramp->margin_low;
    ramp->candidate = clamp(low > 0 ? sqrt(low * high) : high * margin_first, 1, UINT32_MAX);
    if (high - low <= 1 || high - low <= margin_step * high || ramp->tries >= MARGIN_TRIES)
        ramp->done = true;
}

static void report_margin(struct ramp *ramp, uint32_t tracks, const struct ramp_trial *trial)
{
    if (trial->pass && trial->lowest_fill_percent >= comfortable_percent)
        ramp->margin_low = tracks;
    else
        ramp->margin_high = tracks;
    next_margin(ramp);
}

static void sustain(struct ramp *ramp, uint32_t tracks, double lowest_fill_percent)
{
    ramp->sustained = tracks;
    ramp->capped = tracks == ramp->cap;
    ramp->comfortable = tracks;
    ramp->done = lowest_fill_percent >= comfortable_percent;
    if (ramp->done)
        return;
    enter(ramp, STEP_MARGIN);
    ramp->margin_high = tracks;
    next_margin(ramp);
}

/* Holding failed, and the load explains it: a lower count. */
static void step_down(struct ramp *ramp, uint32_t tracks)
{
    uint32_t shift = ramp->tries - 1 < 16 ? ramp->tries - 1 : 16;
    uint64_t drop = (uint64_t)grid(tracks) << shift;
    ramp->candidate = tracks > drop ? tracks - (uint32_t)drop : 1;
    if (ramp->estimate >= 1 && ramp->estimate < ramp->candidate)
        ramp->candidate = (uint32_t)ramp->estimate; /* of a long trial, and so a good one */
    if (ramp->candidate <= ramp->floor_passed)
        sustain(ramp, ramp->floor_passed, ramp->floor_fill_percent);
}

static void report_confirm(struct ramp *ramp, uint32_t tracks, const struct ramp_trial *trial)
{
    if (trial->pass) {
        sustain(ramp, tracks, trial->lowest_fill_percent);
    } else if (tracks == 1) {
        ramp->irregular = !trial->clear;
        ramp->done = true;
    } else if (!trial->clear && ramp->floor_passed == 0) {
        ramp->held = tracks;
        ramp->candidate = tracks / 2;
        enter(ramp, STEP_FLOOR);
    } else {
        step_down(ramp, tracks);
    }
}

/* Where half is held, the load has its part in it: the count is held once more, for what spoiled
 * that trial may have come by chance. */
static void report_floor(struct ramp *ramp, uint32_t tracks, const struct ramp_trial *trial)
{
    if (!trial->pass) {
        ramp->irregular = true;
        ramp->done = true;
        return;
    }
    ramp->floor_passed = tracks;
    ramp->floor_fill_percent = trial->lowest_fill_percent;
    ramp->candidate = ramp->held;
    enter(ramp, STEP_CONFIRM);
}

/* Whether the trial says nothing, and its count has to be tried again. */
static bool is_spoiled(struct ramp *ramp, const struct ramp_trial *trial)
{
    if (trial->pass || trial->clear || ++ramp->unclear == UNCLEAR_MOST) {
        ramp->unclear = 0;
        return false;
    }
    return true;
}

void ramp_report(struct ramp *ramp, const struct ramp_trial *trial)
{
    bool searching = ramp->step == STEP_BRACKET || ramp->step == STEP_CLOSE_IN;
    if (searching && is_spoiled(ramp, trial))
        return;
    if (trial->estimate > 0 || ramp->step == STEP_CONFIRM)
        ramp->estimate = trial->estimate;
    ramp->tries++;
    if (searching)
        report_search(ramp, ramp->trying, trial->pass);
    else if (ramp->step == STEP_CONFIRM)
        report_confirm(ramp, ramp->trying, trial);
    else if (ramp->step == STEP_FLOOR)
        report_floor(ramp, ramp->trying, trial);
    else
        report_margin(ramp, ramp->trying, trial);
}
