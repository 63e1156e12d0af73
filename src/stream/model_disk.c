#include "model_member.h"

#include <math.h>

/*
 * The arm of a disk. From where its last read ended it moves by the distance to the next one, and
 * then waits until the platter has brought the place under the head. A seek takes
 *
 *     least + (most - least) x sqrt(distance / capacity)
 *
 * which is what an arm does that accelerates for half of the way and brakes for the other half
 * (Ruemmler and Wilkes, An introduction to disk drive modeling, 1994; they add a linear stretch
 * for long seeks). Between two places anywhere on the disk the square root is 8/15 on average.
 *
 * A track holds what passes the head in one turn at the transfer rate, and bytes lie on the tracks
 * one behind the other. A cylinder is taken as eight tracks (four platters): within one no seek
 * is needed. Reading on right behind the last read needs no positioning at all, even after a
 * pause: a disk reads ahead.
 */

enum { TRACKS_OF_A_CYLINDER = 8 };

void model_disk_init(struct model_disk *disk, const struct model_spec *spec)
{
    double turn_s = 60 / spec->rpm;
    disk->turn_ns = (uint64_t)(turn_s * 1e9 + 0.5);
    disk->track_bytes = (uint64_t)(spec->rate_bytes_per_second * turn_s + 0.5);
    if (disk->track_bytes == 0)
        disk->track_bytes = 1;
    disk->cylinder_bytes = disk->track_bytes * TRACKS_OF_A_CYLINDER;
    disk->ns_per_byte = (double)disk->turn_ns / (double)disk->track_bytes;
    disk->seek_least_ns = spec->seek_least_s * 1e9;
    disk->seek_span_ns = (spec->seek_most_s - spec->seek_least_s) * 1e9;
    disk->capacity_bytes = (double)spec->capacity_bytes;
}

static uint64_t positioning(const struct model_disk *disk, uint64_t head_bytes,
                            uint64_t place_bytes, uint64_t at_ns)
{
    if (place_bytes == head_bytes)
        return 0;
    uint64_t distance =
        place_bytes > head_bytes ? place_bytes - head_bytes : head_bytes - place_bytes;
    uint64_t seek_ns = 0;
    if (distance >= disk->cylinder_bytes) {
        double share = fmin((double)distance / disk->capacity_bytes, 1);
        seek_ns = (uint64_t)(disk->seek_least_ns + disk->seek_span_ns * sqrt(share) + 0.5);
    }
    uint64_t angle_ns = (uint64_t)((double)(place_bytes % disk->track_bytes) * disk->ns_per_byte);
    uint64_t head_ns = (at_ns + seek_ns) % disk->turn_ns;
    return seek_ns + (angle_ns + disk->turn_ns - head_ns) % disk->turn_ns;
}

uint32_t model_disk_choose(const struct model_disk *disk, const struct model_spec *spec,
                           const struct model_member *member, uint64_t at_ns,
                           uint64_t *positioning_ns)
{
    uint32_t chosen = 0;
    *positioning_ns =
        positioning(disk, member->head_bytes, member->slots[0].part->place_bytes, at_ns);
    /* Who is far from all others must not wait for ever. So few are that unlucky at a full queue
     * that it costs 2 % of the reads. */
    if (spec->order == MODEL_OLDEST ||
        member->served - member->slots[0].key >= UINT64_C(4) * spec->depth)
        return chosen;
    for (uint32_t i = 1; i < member->slot_count; i++) {
        uint64_t time_ns =
            positioning(disk, member->head_bytes, member->slots[i].part->place_bytes, at_ns);
        if (time_ns < *positioning_ns) {
            *positioning_ns = time_ns;
            chosen = i;
        }
    }
    return chosen;
}
