#ifndef TRACKRAMP_NOISE_H
#define TRACKRAMP_NOISE_H

#include "format.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The content of test files: noise that nothing can compress, and that is known from (seed, file,
 * position), so that any byte that comes back can be checked without keeping a copy.
 *
 * `position` counts bytes from the first byte of the first frame (not of the file). Bytes are as
 * stored, in the container's byte order. float32 samples are finite, below 1 in magnitude and
 * never under 2^-63, so that no gain turns them into denormals; everything else is free bits.
 */
void noise_fill(const struct track_format *format, uint64_t seed, uint32_t file, uint64_t position,
                unsigned char *out, size_t bytes);

#endif
