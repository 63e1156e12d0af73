#ifndef TRACKRAMP_FORMAT_H
#define TRACKRAMP_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a track is: container, encoding, sample rate, channels. Everything else about its size
 * follows from these four. Names are those of the command line and the result file.
 */

enum container {
    CONTAINER_WAV,
    CONTAINER_RF64,
    CONTAINER_W64,
    CONTAINER_AIFF,
    CONTAINER_CAF,
    CONTAINER_COUNT
};

enum encoding { ENCODING_PCM16, ENCODING_PCM24, ENCODING_PCM32, ENCODING_FLOAT32, ENCODING_COUNT };

enum {
    FORMAT_CHANNELS_MAX = 1024,
    FORMAT_SAMPLE_RATE_MIN = 44100,
    FORMAT_SAMPLE_RATE_MAX = 768000
};

struct track_format {
    enum container container;
    enum encoding encoding;
    uint32_t sample_rate_hz;
    uint32_t channels;
};

/* Short names: `wav rf64 w64 aiff caf` and `pcm16 pcm24 pcm32 float32`. */
const char *format_container_name(enum container container);
const char *format_encoding_name(enum encoding encoding);

/* The other way; return 0, or -1 for a name that is none of them. */
int format_container_parse(const char *name, enum container *container);
int format_encoding_parse(const char *name, enum encoding *encoding);

/* Stored bytes of one sample: 2, 3 or 4. Inline, like the next two: the audio callback uses them.
 */
static inline uint32_t format_sample_bytes(enum encoding encoding)
{
    return encoding == ENCODING_PCM16 ? 2 : encoding == ENCODING_PCM24 ? 3 : 4;
}

/* Stored bytes of one frame: one sample for every channel. */
static inline uint32_t format_frame_bytes(const struct track_format *format)
{
    return format->channels * format_sample_bytes(format->encoding);
}

/* Whether samples are stored most significant byte first: AIFF and CAF, as this program writes
 * them. */
static inline bool format_is_big_endian(const struct track_format *format)
{
    return format->container == CONTAINER_AIFF || format->container == CONTAINER_CAF;
}

/* What one track asks of the drive: rate x channels x stored bytes per sample. */
uint64_t format_bytes_per_second(const struct track_format *format);

#endif
