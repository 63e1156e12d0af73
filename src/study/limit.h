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
    uint32_t cores;
};

/* Whether callbacks were late so often that they, not the drive, fail a trial: a few are weather,
 * unless the callback's own work is what makes them late. */
bool limit_callbacks_fail(const struct limit_evidence *evidence);

/* LIMIT_CPU or LIMIT_AUDIO_DEVICE where the evidence says so, LIMIT_NONE where it leaves the
 * drive. */
enum limit limit_of_machine(const struct limit_evidence *evidence);

/*
 * t = s + B/T: a read takes a positioning time and the block over a transfer rate. Fitted by least
 * squares over what reading flat out gave at two or more block sizes; t = B / (bytes per second).
 * A fit whose rate is not positive (larger blocks were no slower) has rate 0; a negative
 * positioning time is 0.
 */
struct limit_flood {
    uint32_t block_bytes;
    double bytes_per_second;
};
void limit_fit(const struct limit_flood *floods, size_t count, struct result_fit *fit);

/*
 * Which of the drive's limits holds at `block_bytes`: reads per second where positioning takes
 * more than half of a read's time, bandwidth otherwise. Judged between the block size and its
 * nearest neighbour among `floods`, since a drive is not one line over all sizes. LIMIT_NONE
 * without a neighbour to tell by.
 */
enum limit limit_of_drive(uint32_t block_bytes, const struct limit_flood *floods, size_t count);

#endif
