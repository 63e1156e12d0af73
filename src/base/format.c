#include "format.h"

#include <string.h>

static const char *const container_names[CONTAINER_COUNT] = {"wav", "rf64", "w64", "aiff", "caf"};

static const struct {
    const char *name;
    uint32_t sample_bytes;
} encodings[ENCODING_COUNT] = {
    [ENCODING_PCM16] = {"pcm16", 2},
    [ENCODING_PCM24] = {"pcm24", 3},
    [ENCODING_PCM32] = {"pcm32", 4},
    [ENCODING_FLOAT32] = {"float32", 4},
};

const char *format_container_name(enum container container)
{
    return container_names[container];
}

const char *format_encoding_name(enum encoding encoding)
{
    return encodings[encoding].name;
}

int format_container_parse(const char *name, enum container *container)
{
    for (int i = 0; i < CONTAINER_COUNT; i++) {
        if (strcmp(name, container_names[i]) == 0) {
            *container = (enum container)i;
            return 0;
        }
    }
    return -1;
}

int format_encoding_parse(const char *name, enum encoding *encoding)
{
    for (int i = 0; i < ENCODING_COUNT; i++) {
        if (strcmp(name, encodings[i].name) == 0) {
            *encoding = (enum encoding)i;
            return 0;
        }
    }
    return -1;
}

uint32_t format_sample_bytes(enum encoding encoding)
{
    return encodings[encoding].sample_bytes;
}

uint32_t format_frame_bytes(const struct track_format *format)
{
    return format->channels * format_sample_bytes(format->encoding);
}

uint64_t format_bytes_per_second(const struct track_format *format)
{
    return (uint64_t)format->sample_rate_hz * format_frame_bytes(format);
}

bool format_is_big_endian(const struct track_format *format)
{
    return format->container == CONTAINER_AIFF || format->container == CONTAINER_CAF;
}
