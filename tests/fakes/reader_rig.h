#ifndef TRACKRAMP_READER_RIG_H
#define TRACKRAMP_READER_RIG_H

#include "mixer.h"
#include "reader.h"
#include "track.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Tracks with their rings, and a mixer to play them, for tests of readers. What a file holds is
 * known by (file, offset), so every byte that arrives can be checked. Files are real, in a
 * temporary folder, or mere numbers for an engine that needs none. The calling test plays the
 * callback's part.
 */

enum { RIG_REGION_OFFSET_BYTES = 4096, RIG_REGION_BLOCKS = 13 };

struct rig {
    uint32_t tracks, slots, block_bytes;
    struct track *track;
    struct ring *rings;
    unsigned char *memory, *landed;
    struct mixer *mixer;
    char directory[64]; /* empty: no real files */
};

/* The byte at an offset of a file. */
unsigned char rig_content(uint32_t file, uint64_t offset_bytes);

/* Tracks start at different places of their regions. Without `real_files` a track's descriptor is
 * its own number. Returns 0, or -1. */
int rig_init(struct rig *rig, uint32_t tracks, uint32_t slots, uint32_t block_bytes,
             bool real_files);
void rig_fini(struct rig *rig);

/* Puts another file in a track's place: cut off after `bytes`, opened with `flags`. */
int rig_replace_file(struct rig *rig, uint32_t track, uint64_t bytes, int flags);

/* Waits until the readers have completed `blocks` or have failed; false after ten seconds. */
bool rig_wait_completed(const struct readers *readers, uint64_t blocks);
bool rig_wait_failed(const struct readers *readers, struct reader_failure *failure);

/*
 * Plays `periods` periods of `frames`. Patient: a period waits until every ring holds it (false
 * after ten seconds), and comes no sooner than its time. Otherwise it is played at once, underrun
 * or not. `*wrong_bytes` counts what was about to be played and was not what the files hold.
 */
bool rig_play(struct rig *rig, uint32_t periods, uint32_t frames, bool patient,
              uint64_t *wrong_bytes);

/* After the readers have stopped: how many bytes of the rings' unplayed content (or, `flat_out`,
 * of what was read last) are not what the files hold. */
uint64_t rig_wrong_bytes(const struct rig *rig, bool flat_out);

/* Blocks published over all tracks. */
uint64_t rig_published_blocks(const struct rig *rig);

#endif
