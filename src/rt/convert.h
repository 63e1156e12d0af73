#ifndef TRACKRAMP_CONVERT_H
#define TRACKRAMP_CONVERT_H

#include "format.h"

#include <stdint.h>

/*
 * Adds `samples` stored samples, times `scale`, to `sum`. Integers count as whole numbers: the
 * caller puts 1/32768 and its like into `scale` (convert_full_scale), so that converting and
 * applying a gain is one multiplication.
 */
typedef void (*convert_add)(float *sum, const unsigned char *stored, uint32_t samples, float scale);

/* The function for an encoding and byte order. */
convert_add convert_function(enum encoding encoding, bool big_endian);

/* What a full-scale sample of the encoding counts: 2^15, 2^23, 2^31, or 1 for float32. */
float convert_full_scale(enum encoding encoding);

#endif
