#ifndef TRACKRAMP_MIXER_H
#define TRACKRAMP_MIXER_H

#include "format.h"
#include "ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The work of the audio callback: a period from every ring, converted to float, gained, summed to
 * the output bus, and counted. What a ring lacks stays silent and counts as an underrun.
 *
 * The main thread sets the mixer up while it is at rest and starts and stops it with one atomic
 * word; the callback answers with another, so that the main thread knows when the rings are its
 * own again. At rest the bus is silence.
 */

enum { MIXER_PROBES = 256, MIXER_PROBE_BYTES = 8 };

/* Bytes the callback took from a ring, for the main thread to check against the known content. */
struct mixer_probe {
    uint32_t track;
    uint64_t position_bytes; /* in the track's stream */
    unsigned char bytes[MIXER_PROBE_BYTES];
};

struct mixer {
    /* set at rest */
    struct ring *rings;
    uint32_t tracks;
    struct track_format format; /* of every track */
    float gain;                 /* a track's share of the bus; 1 is full scale */
    bool silent;                /* the rings hold no samples: they are counted, not mixed */
    float *sum;                 /* one float a channel and frame, sum_frames of them */
    uint32_t sum_frames;        /* a longer period is served in parts */
    /* callback only, cleared at start */
    uint32_t probe_track;
    /* shared: the main thread's word */
    _Alignas(64) _Atomic uint32_t command; /* odd: run; even: rest */
    _Atomic uint32_t probes_taken;
    /* shared: the callback's words, each for any thread to look at */
    _Alignas(64) _Atomic uint32_t answer; /* the last command it went by */
    _Atomic uint64_t frames;              /* rendered since start: the sample clock */
    _Atomic uint64_t frames_ns;           /* CLOCK_MONOTONIC when `frames` was last moved */
    _Atomic uint64_t period_frames;       /* of the last callback */
    _Atomic uint64_t released_blocks;     /* blocks played to their end, all tracks */
    _Atomic uint64_t underruns;           /* times a ring held less than a period */
    _Atomic uint64_t fill_bytes;          /* the emptiest ring at the last callback */
    _Atomic uint64_t lowest_fill_bytes;   /* the emptiest since start */
    _Atomic uint32_t probes_given;
    struct mixer_probe probes[MIXER_PROBES];
};

/* --- main thread -------------------------------------------------------------------------- */

/* At rest: counters to zero. The caller has set the first paragraph of the struct. */
void mixer_reset(struct mixer *mixer);

/* From the next callback on, tracks play. */
void mixer_start(struct mixer *mixer);

/* Asks the callback to rest; mixer_at_rest says when the rings may be touched again. */
void mixer_stop(struct mixer *mixer);
bool mixer_at_rest(const struct mixer *mixer);

/* Takes the oldest probe not yet taken; false when there is none. When the main thread is slow,
 * probes are skipped, never overwritten. */
bool mixer_take_probe(struct mixer *mixer, struct mixer_probe *probe);

/* --- callback ----------------------------------------------------------------------------- */

/* An `audio_render` (audio.h): `user` is the mixer. Waits for nothing, allocates nothing. */
void mixer_render(void *user, float *bus, uint32_t frames, uint32_t bus_channels, uint64_t now_ns);

#endif
