#ifndef TRACKRAMP_SCHEDULE_H
#define TRACKRAMP_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whose block is due next. Pure: time is whatever number the caller says it is (frames of the
 * sample clock), and nothing is read or measured here.
 *
 * A track stands in the schedule once at most, for its next block: waiting until the slot of that
 * block is free, then ready. Ready tracks are taken in the order in which their rings run dry.
 * Each step costs the logarithm of the number of tracks.
 */

struct schedule_entry {
    uint64_t key; /* what the heap it stands in is ordered by */
    uint64_t dry_frame;
    uint32_t track;
};

struct schedule_heap {
    struct schedule_entry *entries;
    uint32_t count;
};

struct schedule {
    struct schedule_heap waiting; /* by the frame at which the slot becomes free */
    struct schedule_heap ready;   /* by the frame at which the ring runs dry */
};

/* Room for `capacity` tracks. 0, or -1 when memory ends. */
int schedule_init(struct schedule *schedule, uint32_t capacity);
void schedule_fini(struct schedule *schedule);

void schedule_add(struct schedule *schedule, uint32_t track, uint64_t free_frame,
                  uint64_t dry_frame);

/* The ready track that runs dry first, given that it is `now_frame`; false when none is ready. */
bool schedule_take(struct schedule *schedule, uint64_t now_frame, uint32_t *track);

/* When the next waiting track becomes ready: UINT64_MAX when none waits, 0 when one is ready. */
uint64_t schedule_next_frame(const struct schedule *schedule);

#endif
