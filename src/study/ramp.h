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
 *   floor     where the load does not explain why holding failed: half the knee, held as long.
 *             Where that fails too, the cause is not the load, and no count is confirmed
 *   margin    where rings came near to running dry at the confirmed count: down from there to the
 *             most at which none fell under a fifth
 *
 * A short trial whose failure the load does not explain (a stall, a device that was late) says
 * nothing about the drive's capacity. Its count is tried again, until a trial speaks clearly or
 * seven in a row have failed.
 */

/* How a trial went. */
struct ramp_trial {
    bool pass;
    bool clear;                 /* the load explains it */
    double estimate;            /* tracks that the drive, busy throughout, was seen to carry; 0: the
                                   trial does not say */
    double lowest_fill_percent; /* of the emptiest ring */
};

struct ramp {
    /* set at start */
    uint32_t cap; /* never try more */
    bool known;   /* the first guess is an earlier search's answer */
    /* state */
    uint32_t guess;     /* to start from */
    uint32_t low, high; /* highest that passed, lowest that failed; 0: none yet */
    uint32_t tries;     /* trials made in the present step */
    uint32_t unclear;   /* failed trials in a row, of the present count, that said nothing */
    double estimate;    /* what the last busy trial says the drive carries; 0: nothing */
    enum ramp_step step;
    bool done;
    uint32_t trying;       /* what ramp_next gave last */
    uint32_t candidate;    /* to hold next, once the search is past closing in */
    uint32_t held;         /* what was to be confirmed before the floor was tried */
    uint32_t floor_passed; /* the floor, where it was held; 0: not tried */
    double floor_fill_percent;
    uint32_t margin_low, margin_high; /* highest with and lowest without a margin; 0: none yet */
    /* result */
    uint32_t knee;        /* where the short trials put the limit: the first to be confirmed */
    uint32_t sustained;   /* confirmed; 0: not even one track, or none at all (irregular) */
    uint32_t comfortable; /* the most at which no ring fell under a fifth, as far as it was found */
    bool capped;          /* sustained is the cap: the limit was not found */
    bool irregular;       /* holding fails at half the knee too */
};

/* `guess` and `cap` are at least 1. */
void ramp_init(struct ramp *ramp, uint32_t guess, uint32_t cap, bool known);

/* The next count to try, or false when the search is over. */
bool ramp_next(struct ramp *ramp, uint32_t *tracks, enum ramp_step *step);

/* How the trial of the count that ramp_next gave went. */
void ramp_report(struct ramp *ramp, const struct ramp_trial *trial);

#endif
