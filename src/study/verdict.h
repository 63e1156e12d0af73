#ifndef TRACKRAMP_VERDICT_H
#define TRACKRAMP_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Does the drive carry this load for good? Judged from the backlog's course, not from underruns
 * alone. Pure.
 *
 * A trial begins with a small backlog on purpose (trial.c), so that a drive at its limit is busy
 * from the first moment and what it saved up while idle is spent. From then on the backlog moves
 * by demand minus what the drive delivers. The trial is cut into windows; each window's *floor*
 * is its lowest backlog, which the drive's bursts (100 ms in Linux's own I/O controller) do not
 * reach. The slope of the floors over time is the overload, in blocks per second.
 */

enum {
    VERDICT_WINDOWS = 12,
    VERDICT_SETTLE_WINDOWS = 2, /* the first ones are not judged */
};

struct verdict_terms {
    double trial_s;
    double demand_blocks_per_second; /* tracks x bytes per second / block */
};

struct verdict_sample {
    double time_s; /* of the sample clock, since the trial began */
    uint64_t backlog_blocks;
    uint64_t underruns;
};

enum verdict_state { VERDICT_OPEN, VERDICT_PASS, VERDICT_FAIL };

enum verdict_cause {
    VERDICT_KEPT_UP,  /* pass: the backlog returned to nothing */
    VERDICT_STEADY,   /* pass: the drive was busy throughout, but the backlog did not grow */
    VERDICT_UNDERRUN, /* fail */
    VERDICT_BACKLOG,  /* fail: it grew */
};

struct verdict {
    struct verdict_terms terms;
    enum verdict_state state;
    enum verdict_cause cause;
    double underrun_s;               /* when, where that is the cause */
    bool clear;                      /* the drive's speed explains it: a pass; a backlog that grew;
                                        an underrun only after the backlog had grown all along */
    double growth_blocks_per_second; /* slope of the floors judged so far */
    bool busy;                       /* no judged window's floor was empty: the drive never
                                        rested, so demand minus growth is its capacity */
    double floors[VERDICT_WINDOWS];  /* lowest backlog of each window, in blocks */
    uint32_t windows;                /* complete ones */
    double current_floor;            /* of the window under way */
};

/* The least overload that fails a trial, as a share of the demand: below it, it passes. */
double verdict_resolution(const struct verdict_terms *terms);

void verdict_init(struct verdict *verdict, const struct verdict_terms *terms);

/* Takes the next sample, in order of time; decides as soon as the rest cannot change the verdict,
 * at the latest when the trial's time is up. Returns the state. */
enum verdict_state verdict_add(struct verdict *verdict, const struct verdict_sample *sample);

#endif
