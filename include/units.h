#ifndef TRACKRAMP_UNITS_H
#define TRACKRAMP_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers as people write and read them. Sizes are binary on the command line (64K = 65,536)
 * and `KiB`, `MiB` in tables; drive speeds are decimal (MB/s = 10^6), as drive makers print them.
 */

#define UNITS_NS_PER_SECOND UINT64_C(1000000000)
#define UNITS_NS_PER_MS UINT64_C(1000000)

/*
 * Reads a size: digits, then nothing or one of K M G T (either case, an optional `iB` or `B`
 * after it). Returns 0, or -1 when the text is not a size, has anything left over, or does not
 * fit in 64 bits.
 */
int units_parse_bytes(const char *text, uint64_t *bytes);

/* Reads a whole number without sign. Returns 0, or -1 as above. */
int units_parse_count(const char *text, uint64_t *count);

/* Reads a decimal number, without sign or exponent, of at most 10^9. Returns 0 or -1. */
int units_parse_decimal(const char *text, double *value);

/* Reads a time in seconds, a decimal number above 0 (`2`, `0.5`, `5s`). Returns 0 or -1. */
int units_parse_seconds(const char *text, double *seconds);

/* Reads a time of any size, 0 as well: a decimal number of `s`, `ms` or `us`, or of seconds where
 * no unit stands behind it (`8ms`, `120us`, `1.5s`, `2`). Returns 0 or -1. */
int units_parse_time(const char *text, double *seconds);

/* Writes a size for people: `512 B`, `64 KiB`, `1.5 MiB`. Returns `out`. */
const char *units_format_bytes(char *out, size_t out_bytes, uint64_t bytes);

/* Writes a block size as the command line takes it: `64K`, `1M`. Returns `out`. */
const char *units_format_block(char *out, size_t out_bytes, uint64_t bytes);

#endif
