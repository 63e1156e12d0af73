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
    if (ramp->step == STEP_CONFIRM)
        *tracks = ramp->candidate;
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

/* What to confirm: where there is an estimate, that, but not far below what has passed. */
static uint32_t best_candidate(const struct ramp *ramp)
{
    uint32_t steps = TRUSTED_STEPS * grid(ramp->low);
    uint32_t least = ramp->low > steps ? ramp->low - steps : 1;
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

static void report_confirm(struct ramp *ramp, uint32_t tracks, bool pass)
{
    if (pass) {
        ramp->sustained = tracks;
        ramp->capped = tracks == ramp->cap;
        ramp->done = true;
    } else if (tracks == 1) {
        ramp->done = true;
    } else {
        uint32_t shift = ramp->tries - 1 < 16 ? ramp->tries - 1 : 16;
        uint64_t drop = (uint64_t)grid(tracks) << shift;
        ramp->candidate = tracks > drop ? tracks - (uint32_t)drop : 1;
        if (ramp->estimate >= 1 && ramp->estimate < ramp->candidate)
            ramp->candidate = (uint32_t)ramp->estimate; /* of a long trial, and so a good one */
    }
}

void ramp_report(struct ramp *ramp, bool pass, double estimate)
{
    if (estimate > 0 || ramp->step == STEP_CONFIRM)
        ramp->estimate = estimate;
    ramp->tries++;
    if (ramp->step == STEP_CONFIRM)
        report_confirm(ramp, ramp->trying, pass);
    else
        report_search(ramp, ramp->trying, pass);
}
