#ifndef TRACKRAMP_MIXER_FIXTURE_H
#define TRACKRAMP_MIXER_FIXTURE_H

#include "mixer.h"

#include <stdlib.h>
#include <string.h>

/*
 * A mixer over rings whose content is known by (track, sample of its stream): what a byte holds
 * and what the bus must hold are both computed from that, neither through the code under test.
 */

enum { FIXTURE_TRACKS = 12, FIXTURE_BLOCK_BYTES = 512, FIXTURE_SLOTS = 4, FIXTURE_SUM_FRAMES = 64 };

struct mixer_fixture {
    struct mixer mixer;
    struct ring rings[FIXTURE_TRACKS];
    unsigned char memory[FIXTURE_TRACKS][FIXTURE_SLOTS * FIXTURE_BLOCK_BYTES];
    uint64_t held_blocks[FIXTURE_TRACKS]; /* of the stream, put into the ring so far */
};

/* -1 to below 1, in steps of 2^-15: every encoding holds it exactly. */
static inline double fixture_value(uint32_t track, uint64_t sample)
{
    uint64_t mixed = (sample * 40503 + track * UINT64_C(7919) + 12345) * UINT64_C(2654435761);
    return (double)(int32_t)(mixed >> 16 & 0xffff) / 32768 - 1;
}

static inline unsigned char fixture_byte(const struct track_format *format, uint32_t track,
                                         uint64_t position)
{
    uint32_t width = format_sample_bytes(format->encoding);
    double value = fixture_value(track, position / width);
    uint32_t index = (uint32_t)(position % width);
    uint32_t shift = 8 * (format_is_big_endian(format) ? width - 1 - index : index);
    if (format->encoding == ENCODING_FLOAT32) {
        float stored = (float)value;
        uint32_t bits;
        memcpy(&bits, &stored, sizeof bits);
        return (unsigned char)(bits >> shift);
    }
    int64_t whole = (int64_t)(value * (double)(INT64_C(1) << (8 * width - 1)));
    return (unsigned char)((uint64_t)whole >> shift);
}

/* The stream's next block, into the ring. */
static inline void fixture_feed(struct mixer_fixture *fixture, uint32_t track)
{
    struct ring *ring = &fixture->rings[track];
    uint64_t number = fixture->held_blocks[track]++;
    for (uint64_t i = 0; i < FIXTURE_BLOCK_BYTES; i++)
        ring_slot(ring, number)[i] =
            fixture_byte(&fixture->mixer.format, track, number * FIXTURE_BLOCK_BYTES + i);
    ring_publish(ring, number + 1);
}

/* As many blocks as there is room for, to all tracks. */
static inline void fixture_feed_all(struct mixer_fixture *fixture)
{
    for (uint32_t track = 0; track < fixture->mixer.tracks; track++) {
        while (ring_slot_is_free(&fixture->rings[track], fixture->held_blocks[track]))
            fixture_feed(fixture, track);
    }
}

/* A mixer at rest with `tracks` empty rings, whose streams start at `consumed_bytes`. */
static inline struct mixer_fixture *fixture_new(struct track_format format, uint32_t tracks,
                                                uint64_t consumed_bytes)
{
    struct mixer_fixture *fixture = aligned_alloc(64, sizeof *fixture);
    if (fixture == NULL)
        return NULL;
    memset(fixture, 0, sizeof *fixture);
    fixture->mixer.rings = fixture->rings;
    fixture->mixer.tracks = tracks;
    fixture->mixer.format = format;
    fixture->mixer.gain = 1;
    fixture->mixer.sum_frames = FIXTURE_SUM_FRAMES;
    fixture->mixer.sum =
        calloc((size_t)FIXTURE_SUM_FRAMES * format.channels, sizeof *fixture->mixer.sum);
    uint64_t first = consumed_bytes / FIXTURE_BLOCK_BYTES;
    for (uint32_t track = 0; track < tracks; track++) {
        uint64_t published = first * FIXTURE_BLOCK_BYTES;
        ring_init(&fixture->rings[track], fixture->memory[track], FIXTURE_BLOCK_BYTES,
                  FIXTURE_SLOTS, published, published);
        fixture->held_blocks[track] = first;
        fixture_feed(fixture, track);
        ring_consume(&fixture->rings[track], consumed_bytes % FIXTURE_BLOCK_BYTES);
    }
    mixer_reset(&fixture->mixer);
    return fixture;
}

static inline void fixture_free(struct mixer_fixture *fixture)
{
    free(fixture->mixer.sum);
    free(fixture);
}

/* What bus channel `to` must hold when every track is at frame `frame` of its stream. */
static inline double fixture_bus(const struct mixer_fixture *fixture, uint64_t frame, uint32_t to,
                                 uint32_t bus_channels)
{
    uint32_t channels = fixture->mixer.format.channels;
    double sum = 0;
    for (uint32_t track = 0; track < fixture->mixer.tracks; track++) {
        for (uint32_t from = 0; from < channels; from++) {
            if (channels == 1 || from % bus_channels == to)
                sum += fixture_value(track, frame * channels + from);
        }
    }
    return sum * (double)fixture->mixer.gain;
}

#endif
