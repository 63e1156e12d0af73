#ifndef TRACKRAMP_TRIAL_H
#define TRACKRAMP_TRIAL_H

#include "bench.h"
#include "error.h"
#include "histogram.h"
#include "limit.h"
#include "result.h"

#include <stdbool.h>
#include <stdint.h>

/* A confirming trial is this many times as long as the others. */
enum { TRIAL_CONFIRM_FACTOR = 3 };

struct trial_outcome {
    struct result_trial summary; /* all but `ramp` and `step` */
    bool clear;                  /* the load explains how it went; otherwise a stall may, or a
                                    device that was late, and the same count deserves another trial */
    double estimate_tracks;      /* what a drive that was busy, or a callback that was late,
                                    throughout was able to carry; 0: not known */
    double stream_bytes_per_second;
    struct limit_evidence evidence;
    struct histogram latency;
    uint64_t checked_samples;
    uint64_t late_callbacks, device_xruns;
    double resolution; /* the least overload the verdict can tell, as a share of the demand */
    double resident;   /* share of the files cached at the start, -1: unknown; buffered only */
};

/* Holds `tracks` for `seconds` at the bench's block size, and judges. Errors: a failed read,
 * corruption, a lost device, an interrupt; a trial that fails is no error. */
int trial_run(struct bench *bench, uint32_t tracks, double seconds, uint64_t seed,
              struct trial_outcome *outcome, struct error *error);

#endif
