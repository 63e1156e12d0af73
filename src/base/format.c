#include "format.h"

#include <string.h>

static const char *const container_names[CONTAINER_COUNT] = {"wav", "rf64", "w64", "aiff", "caf"};

static const char *const encoding_names[ENCODING_COUNT] = {"pcm16", "pcm24", "pcm32", "float32"};

const char *format_container_name(enum container container)
{
    return container_names[container];
}

const char *format_encoding_name(enum encoding encoding)
{
    return encoding_names[encoding];
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
        if (strcmp(name, encoding_names[i]) == 0) {
            *encoding = (enum encoding)i;
            return 0;
        }
    }
    return -1;
}

uint64_t format_bytes_per_second(const struct track_format *format)
{
    return (uint64_t)format->sample_rate_hz * format_frame_bytes(format);
}
