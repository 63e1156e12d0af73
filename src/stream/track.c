#include "track.h"

uint64_t track_block_offset_bytes(const struct track *track, uint64_t number)
{
    uint64_t in_region = (track->start_block + number) % track->region_blocks;
    return track->region_offset_bytes + in_region * track->ring->block_bytes;
}

void track_land(struct track *track, uint64_t number)
{
    track->landed[number % track->slots] = 1;
    uint64_t published = track->published_blocks;
    while (track->landed[published % track->slots]) {
        track->landed[published % track->slots] = 0;
        published++;
    }
    if (published != track->published_blocks) {
        track->published_blocks = published;
        ring_publish(track->ring, published);
    }
}

/* Frames until the stream has been played up to `position_bytes`. */
static uint64_t frame_of(const struct track *track, uint64_t position_bytes, uint32_t frame_bytes,
                         uint32_t round_up_bytes)
{
    if (position_bytes <= track->phase_bytes)
        return 0;
    return (position_bytes - track->phase_bytes + round_up_bytes) / frame_bytes;
}

uint64_t track_free_frame(const struct track *track, uint64_t number, uint32_t frame_bytes)
{
    if (number < track->slots)
        return 0;
    uint64_t played_bytes = (number - track->slots + 1) * track->ring->block_bytes;
    return frame_of(track, played_bytes, frame_bytes, frame_bytes - 1);
}

uint64_t track_dry_frame(const struct track *track, uint64_t number, uint32_t frame_bytes)
{
    return frame_of(track, number * track->ring->block_bytes, frame_bytes, 0);
}
