#ifndef TRACKRAMP_RAMP_H
#define TRACKRAMP_RAMP_H

#include "result.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One search for the highest count that holds. Pure: it says which count to try next, and is told
 * how the trial went.
 *
 *   bracket   from a first guess up or down, in growing steps, until one count passed and a
 *             higher one failed
 *   close in  between the two, to one step of the grid (1 %, at least one track), or to three where
 *             a trial has shown what the drive carries
 *   confirm   hold that, or the highest that passed, for longer; where it fails, go down from
 *             there in growing steps, or to what that trial shows, until a count is confirmed
 */

struct ramp {
    /* set at start */
    uint32_t cap; /* never try more */
    bool known;   /* the first guess is an earlier search's answer */
    /* state */
    uint32_t guess;     /* to start from */
    uint32_t low, high; /* highest that passed, lowest that failed; 0: none yet */
    uint32_t tries;     /* trials made in the present step */
    double estimate;    /* what the last busy trial says the drive carries; 0: nothing */
    enum ramp_step step;
    bool done;
    uint32_t trying;    /* what ramp_next gave last */
    uint32_t candidate; /* to confirm */
    /* result */
    uint32_t knee;      /* where the short trials put the limit: the first to be confirmed */
    uint32_t sustained; /* confirmed; 0: not even one track */
    bool capped;        /* sustained is the cap: the limit was not found */
};

/* `guess` and `cap` are at least 1. */
void ramp_init(struct ramp *ramp, uint32_t guess, uint32_t cap, bool known);

/* The next count to try, or false when the search is over. */
bool ramp_next(struct ramp *ramp, uint32_t *tracks, enum ramp_step *step);

/* How the trial of the count that ramp_next gave went. `estimate` is the number of tracks that
 * the drive, busy throughout, was seen to carry; 0 where the trial does not say. */
void ramp_report(struct ramp *ramp, bool pass, double estimate);

#endif
