#ifndef TRACKRAMP_LIMIT_H
#define TRACKRAMP_LIMIT_H

#include "result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a count stops at, told from what was seen when it failed. Pure. */

/* Loads in the trial that failed nearest above the count. */
struct limit_evidence {
    double process_percent;  /* of one core, all threads */
    double callback_percent; /* of the period */
    double reader_percent;   /* of one core: the busiest reader thread */
    double late_share;       /* of callbacks that came late */
    double queue_busy_share; /* of the time, reads were under way */
    uint32_t cores;
};

/* Whether callbacks were late so often that they, not the drive, fail a trial: a few are weather,
 * unless the callback's own work is what makes them late. */
bool limit_callbacks_fail(const struct limit_evidence *evidence);

/* LIMIT_CPU or LIMIT_AUDIO_DEVICE where the evidence says so, LIMIT_NONE where it leaves the
 * drive. */
enum limit limit_of_machine(const struct limit_evidence *evidence);

/*
 * t = s + B/R: a read takes a positioning time and the block over a transfer rate. Fitted to what
 * reading flat out gave at two or more block sizes, t = B / (bytes per second), by the least sum of
 * squared relative errors ((t - s - B/R) / t)^2, so that a small block counts as much as a large
 * one; s is never below 0. Through two sizes it is exact. Where no rate fits (larger blocks took no
 * longer), or fewer than two sizes were measured, the rate is 0: there is no fit.
 */
struct limit_flood {
    uint32_t block_bytes;
    double bytes_per_second;
};
void limit_fit(const struct limit_flood *floods, size_t count, struct result_fit *fit);

/*
 * Sets each cell's fit_bytes_per_second, from the volume's fit, and below_fit: it read flat out
 * more slowly than the fit says by more than 5 % and by more than half of what its searches differ
 * by (high - low, relative to the count). With fewer than three cells nothing lies below. To be
 * called when the counts and the fit are known.
 */
void limit_mark_fit(struct result_volume *volume);

/*
 * Which of the drive's limits holds at `block_bytes`: reads per second where positioning takes
 * more than half of a read's time, bandwidth otherwise. Judged between the block size and its
 * nearest neighbour among `floods`, since a drive is not one line over all sizes. LIMIT_NONE
 * without a neighbour to tell by.
 */
enum limit limit_of_drive(uint32_t block_bytes, const struct limit_flood *floods, size_t count);

#endif
