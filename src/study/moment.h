#ifndef TRACKRAMP_MOMENT_H
#define TRACKRAMP_MOMENT_H

#include "audio.h"
#include "bench.h"
#include "reader.h"

#include <stdint.h>

/* All counters, at one moment of a trial or of reading flat out. */
struct moment {
    uint64_t ns, cpu_ns;
    struct audio_counters audio;
    uint64_t completed_blocks, released_blocks, underruns, frames;
};

/* `readers` is NULL before they have been started. */
void moment_look(struct moment *moment, const struct bench *bench, const struct readers *readers);

double moment_seconds_between(const struct moment *from, const struct moment *to);

#endif
