#ifndef TRACKRAMP_TRACK_H
#define TRACKRAMP_TRACK_H

#include "ring.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One audio file being played. Its stream is cut into the file's own blocks, numbered from 0 where
 * the trial starts; at the end of its region, whole blocks of the file, it goes on at the region's
 * beginning. A frame may be cut at that seam: what is played there is noise either way, and every
 * byte of it is known.
 */
struct track {
    /* set before start */
    int file;                     /* descriptor */
    uint64_t region_offset_bytes; /* a multiple of the block size */
    uint32_t region_blocks;
    uint32_t start_block; /* where in the region block 0 of the stream lies */
    uint32_t phase_bytes; /* where in block 0 playing starts: the ring's first consumed_bytes. Flat
                           * out, where nothing is played, it decides whose turn comes first */
    uint32_t slots;       /* of the ring, in blocks */
    uint64_t first_read_block; /* blocks below it were in the ring at the start */
    struct ring *ring;
    uint64_t end_block;    /* flat out: nothing is asked for from this block on; 0: no end */
    unsigned char *landed; /* a flag a slot: its block has been read, an earlier one has not */
    /* reader only; set at start to what the ring already holds */
    uint64_t next_block;       /* to ask for */
    uint64_t published_blocks; /* in the ring, in order */
    bool parked;               /* not in the schedule: waits for a read of its own to land */
};

/* Where in the file block `number` of the stream begins. */
uint64_t track_block_offset_bytes(const struct track *track, uint64_t number);

/* Block `number` is in its slot. Publishes it, with what landed before its turn behind it. */
void track_land(struct track *track, uint64_t number);

/* The sample clock's frame at which block `number`'s slot has been played, and the one at which
 * the callback wants its first byte: as long as the track has not underrun. */
uint64_t track_free_frame(const struct track *track, uint64_t number, uint32_t frame_bytes);
uint64_t track_dry_frame(const struct track *track, uint64_t number, uint32_t frame_bytes);

#endif
