#include "noise.h"

#include <endian.h>
#include <string.h>

/*
 * Every eight bytes are a hash of their number, keyed by seed and file: no state, so any place can
 * be made without what stands before it. The hash is the finaliser of the splitmix64 generator (G.
 * Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators, 2014), with a second
 * key put in half way, so that two files are never the same sequence shifted.
 *
 * A word holds two whole float32 samples. Their exponents are kept to 64 .. 126: bit 30 cleared
 * and bit 29 set gives 64 .. 127, and an exponent of 127 loses bit 28. Two bits of 32 are lost,
 * which is less than any compressor can turn into a saved sector.
 */

struct noise_key {
    uint64_t first, second;
};

static uint64_t mix(uint64_t word, uint64_t key)
{
    word = (word ^ word >> 30 ^ key) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

static inline uint64_t noise_word(const struct noise_key *key, uint64_t number)
{
    return mix(key->first + number * UINT64_C(0x9e3779b97f4a7c15), key->second);
}

static inline uint64_t shape_floats(uint64_t word)
{
    const uint64_t exponent = UINT64_C(0x3f8000003f800000), lowest = UINT64_C(0x0080000000800000);
    word = (word & ~UINT64_C(0x4000000040000000)) | UINT64_C(0x2000000020000000);
    /* An exponent of 127 is the only one that carries into bit 30. */
    uint64_t too_large = ((word & exponent) + lowest) & UINT64_C(0x4000000040000000);
    return word & ~(too_large >> 2);
}

static inline uint64_t stored_word(const struct noise_key *key, uint64_t number, bool is_float,
                                   bool big_endian)
{
    uint64_t word = noise_word(key, number);
    if (!is_float)
        return htole64(word);
    word = shape_floats(word);
    return big_endian ? htobe64(word) : htole64(word);
}

void noise_fill(const struct track_format *format, uint64_t seed, uint32_t file, uint64_t position,
                unsigned char *out, size_t bytes)
{
    const bool is_float = format->encoding == ENCODING_FLOAT32;
    const bool big_endian = format_is_big_endian(format);
    /* The seed is hashed before the file joins it: their mere sum would give pairs of them one key.
     */
    const uint64_t first = mix(mix(seed, 0), file);
    const struct noise_key key = {.first = first, .second = mix(~first, 0)};
    uint64_t number = position / sizeof(uint64_t);
    size_t skip = position % sizeof(uint64_t);
    while (bytes > 0) {
        if (skip == 0 && bytes >= sizeof(uint64_t)) {
            for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
                uint64_t word = stored_word(&key, number++, is_float, big_endian);
                memcpy(out, &word, sizeof word);
                out += sizeof word;
            }
            continue;
        }
        uint64_t word = stored_word(&key, number++, is_float, big_endian);
        size_t part = sizeof word - skip < bytes ? sizeof word - skip : bytes;
        memcpy(out, (const unsigned char *)&word + skip, part);
        out += part;
        bytes -= part;
        skip = 0;
    }
}
