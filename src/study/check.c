#include "check.h"

#include "noise.h"

#include <string.h>

enum { RINGS_CHECKED = 512 };

/* Compares bytes of a track's stream, all of one block, with what its file holds there. */
static int compare(const struct bench *bench, uint32_t index, uint64_t position_bytes,
                   const unsigned char *bytes, uint32_t count, struct error *error)
{
    const struct track *track = &bench->tracks[index];
    uint32_t file = bench_file_of(bench, index);
    uint64_t block = position_bytes / bench->block_bytes;
    uint64_t offset = track_block_offset_bytes(track, block) + position_bytes % bench->block_bytes;
    unsigned char expected[MIXER_PROBE_BYTES];
    noise_fill(&bench->plan->format, bench->plan->seed, file,
               offset - pool_data_offset(bench->pool), expected, count);
    if (memcmp(bytes, expected, count) == 0)
        return 0;
    char path[1024];
    return error_set(error, ERROR_ENVIRONMENT,
                     "%s: corruption: %u bytes at %llu are not what was written there; check the "
                     "drive, its cable and the memory",
                     pool_file_path(bench->pool, file, path, sizeof path), count,
                     (unsigned long long)offset);
}

int check_drained(struct bench *bench, uint64_t *checked, struct error *error)
{
    uint32_t sample_bytes = format_sample_bytes(bench->plan->format.encoding);
    struct mixer_probe probe;
    while (mixer_take_probe(bench->mixer, &probe)) {
        uint64_t block = probe.position_bytes / bench->block_bytes;
        uint64_t left = (block + 1) * bench->block_bytes - probe.position_bytes;
        uint32_t count = left < MIXER_PROBE_BYTES ? (uint32_t)left : MIXER_PROBE_BYTES;
        if (!bench->carries_data || block < bench->tracks[probe.track].first_read_block)
            continue;
        if (compare(bench, probe.track, probe.position_bytes, probe.bytes, count, error) != 0)
            return -1;
        *checked += count / sample_bytes;
    }
    return 0;
}

int check_rings(const struct bench *bench, uint32_t tracks, uint64_t *checked, struct error *error)
{
    uint32_t step = (tracks - 1) / RINGS_CHECKED + 1;
    uint32_t sample_bytes = format_sample_bytes(bench->plan->format.encoding);
    for (uint32_t index = 0; index < tracks; index += step) {
        const struct track *track = &bench->tracks[index];
        if (!bench->carries_data || track->published_blocks <= track->first_read_block)
            continue;
        uint64_t block = track->published_blocks - 1;
        uint32_t at = bench->block_bytes / tracks * index;
        at -= at % MIXER_PROBE_BYTES;
        if (compare(bench, index, block * bench->block_bytes + at,
                    ring_slot(track->ring, block) + at, MIXER_PROBE_BYTES, error) != 0)
            return -1;
        *checked += MIXER_PROBE_BYTES / sample_bytes;
    }
    return 0;
}
