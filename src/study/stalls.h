#ifndef TRACKRAMP_STALLS_H
#define TRACKRAMP_STALLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Times in which a drive answered nothing at all though reads were wanted of it. They are told
 * apart from a drive that is merely too slow, for they have nothing to do with how many tracks
 * there are. Pure.
 */
struct stalls {
    double shortest_s; /* what counts as one */
    double last_s;     /* the last look */
    double quiet_s;    /* so long nothing has come */
    uint64_t completed_blocks;
    /* result */
    uint32_t seen;
    double worst_s;
};

/* `blocks_per_second` are to be expected: a slow drive may rest between two blocks without
 * stalling. 0: not known, and then nothing counts as a stall. */
void stalls_init(struct stalls *stalls, double blocks_per_second);

/* A look at the readers: `now_s` on any clock, in order; `wanted` while blocks are asked for that
 * have not come. */
void stalls_look(struct stalls *stalls, double now_s, uint64_t completed_blocks, bool wanted);

/* No more looks: a stall that lasted until now counts. */
void stalls_end(struct stalls *stalls);

#endif
