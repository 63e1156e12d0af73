#ifndef TRACKRAMP_STUDY_H
#define TRACKRAMP_STUDY_H

#include "error.h"
#include "plan.h"
#include "result.h"

#include <stdbool.h>
#include <stdint.h>

/* The whole measurement: drives x block sizes x repeats. Main thread. */

/* Where the study is; for a progress line. */
struct study_progress {
    const char *directory;
    const char *doing; /* `writing test files`, `reading flat out`, `bracket`, `close-in`, ... */
    uint64_t done_bytes, wanted_bytes; /* while test files are written; 0 otherwise */
    uint32_t block_bytes;
    uint32_t repeat, repeats; /* from 0 */
    uint32_t tracks;          /* being held; 0: none */
    uint32_t low, high;       /* the bracket so far; 0: open */
    double fill_percent;      /* the emptiest ring */
    double left_s;            /* estimate for the whole study */
};

/* Called from study_run's own thread. */
struct study_observer {
    void *user;
    void (*progress)(void *user, const struct study_progress *progress);
    /* True when the user wants to stop: the study cleans up and ends with ERROR_INTERRUPTED. */
    bool (*interrupted)(void *user);
};

/*
 * Measures what `plan` says and fills `result` (zeroed by the caller, who also frees it), as far
 * as it got even when it fails. Test files are gone afterwards, unless the plan keeps them.
 * `*device_lost` is set when the audio device died or keeps no time: then PortAudio may hang for
 * good and a callback may still be running, so the caller must leave with _exit once it has
 * written what there is.
 */
int study_run(const struct plan *plan, const struct study_observer *observer, struct result *result,
              bool *device_lost, struct error *error);

/* Removes the test files that a study left in `directory`, and nothing else. `*files`: how many. */
int study_clean(const char *directory, uint32_t *files, struct error *error);

#endif
