#include "study/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The content of test files: the same from wherever it is asked, different everywhere else. */

enum { SAMPLE_BYTES = 1 << 20 };

static unsigned char noise[SAMPLE_BYTES], other[SAMPLE_BYTES];

static const struct track_format formats[] = {{CONTAINER_WAV, ENCODING_PCM16, 44100, 1},
                                              {CONTAINER_WAV, ENCODING_PCM24, 48000, 3},
                                              {CONTAINER_AIFF, ENCODING_PCM32, 96000, 2},
                                              {CONTAINER_W64, ENCODING_FLOAT32, 44100, 1},
                                              {CONTAINER_CAF, ENCODING_FLOAT32, 44100, 1}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Any piece, whole words or not, equals the same bytes of a longer one. */
static void a_piece_equals_its_place_in_the_whole(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        noise_fill(&formats[f], 7, 3, 0, noise, 256);
        for (size_t begin = 0; begin < 40; begin++) {
            for (size_t length = 0; length < 40; length++) {
                memset(other, 0xee, 64);
                noise_fill(&formats[f], 7, 3, begin, other, length);
                assert_memory_equal(other, noise + begin, length);
                for (size_t i = length; i < 64; i++)
                    assert_int_equal(other[i], 0xee);
            }
        }
    }
}

/* Positions beyond 4 GiB are places of their own. */
static void far_positions_differ_and_join(void **state)
{
    (void)state;
    const uint64_t far = UINT64_C(1) << 40;
    noise_fill(&formats[0], 7, 3, far, noise, 64);
    noise_fill(&formats[0], 7, 3, far + 13, other, 32);
    assert_memory_equal(other, noise + 13, 32);
    noise_fill(&formats[0], 7, 3, 0, other, 64);
    assert_memory_not_equal(other, noise, 64);
    noise_fill(&formats[0], 7, 3, UINT64_C(1) << 32, other, 64);
    assert_memory_not_equal(other, noise, 64);
}

/* How many bytes two noises share at the same place, of SAMPLE_BYTES. */
static size_t bytes_shared(void)
{
    size_t shared = 0;
    for (size_t i = 0; i < SAMPLE_BYTES; i++)
        shared += noise[i] == other[i];
    return shared;
}

/* Unrelated bytes agree one time in 256: 4096 of a MiB, give or take 64. */
static void assert_unrelated(void)
{
    assert_in_range(bytes_shared(), 4096 - 8 * 64, 4096 + 8 * 64);
}

static void seeds_and_files_are_unrelated(void **state)
{
    (void)state;
    noise_fill(&formats[0], 1, 0, 0, noise, SAMPLE_BYTES);
    noise_fill(&formats[0], 1, 1, 0, other, SAMPLE_BYTES);
    assert_unrelated();
    noise_fill(&formats[0], 2, 0, 0, other, SAMPLE_BYTES);
    assert_unrelated();
    noise_fill(&formats[0], 0, 1, 0, other, SAMPLE_BYTES);
    assert_unrelated();
    noise_fill(&formats[0], 1, 0, SAMPLE_BYTES, other, SAMPLE_BYTES);
    assert_unrelated();
}

/* Bits per byte that remain after the best code for single bytes, and for pairs of bytes given
 * the one before: what a compressor could at most gain. */
static double entropy_bits(const unsigned char *bytes, size_t count, size_t step)
{
    static uint32_t seen[65536];
    memset(seen, 0, sizeof seen);
    size_t total = 0;
    for (size_t i = 0; i + step <= count; i += step, total++)
        seen[step == 1 ? bytes[i] : bytes[i] << 8 | bytes[i + 1]]++;
    double bits = 0;
    for (int i = 0; i < 65536; i++) {
        double share = (double)seen[i] / (double)total;
        bits -= seen[i] > 0 ? share * log2(share) : 0;
    }
    return bits / (double)step;
}

/* A MiB has 8 bits a byte less what chance takes from so few pairs (about 0.045). Floats give up
 * two bits of 32. */
static void nothing_can_compress_it(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        bool is_float = formats[f].encoding == ENCODING_FLOAT32;
        noise_fill(&formats[f], 1, 5, 0, noise, SAMPLE_BYTES);
        assert_true(entropy_bits(noise, SAMPLE_BYTES, 1) > (is_float ? 7.85 : 7.999));
        assert_true(entropy_bits(noise, SAMPLE_BYTES, 2) > (is_float ? 7.65 : 7.93));
        for (size_t i = 0; i + 16 <= SAMPLE_BYTES; i += 8)
            assert_memory_not_equal(noise + i, noise + i + 8, 8);
    }
    memset(noise, 1, SAMPLE_BYTES);
    assert_true(entropy_bits(noise, SAMPLE_BYTES, 1) < 0.001);
}

static uint32_t float_bits(const unsigned char *bytes, bool big_endian)
{
    return big_endian ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                            (uint32_t)bytes[2] << 8 | bytes[3]
                      : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 |
                            (uint32_t)bytes[1] << 8 | bytes[0];
}

static void floats_are_small_and_never_denormal(void **state)
{
    (void)state;
    for (int f = 3; f < FORMATS; f++) {
        uint32_t ever_set = 0, ever_clear = 0;
        noise_fill(&formats[f], 9, 2, 0, noise, SAMPLE_BYTES);
        for (size_t i = 0; i < SAMPLE_BYTES; i += 4) {
            uint32_t bits = float_bits(noise + i, format_is_big_endian(&formats[f]));
            float value;
            memcpy(&value, &bits, sizeof value);
            assert_true(isnormal(value));
            assert_true(fabsf(value) < 1 && fabsf(value) >= 0x1p-63f);
            ever_set |= bits;
            ever_clear |= ~bits;
        }
        /* All others are free. */
        assert_int_equal(ever_set, UINT32_C(0xbfffffff));
        assert_int_equal(ever_clear, UINT32_C(0xdfffffff));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_equals_its_place_in_the_whole),
        cmocka_unit_test(far_positions_differ_and_join),
        cmocka_unit_test(seeds_and_files_are_unrelated),
        cmocka_unit_test(nothing_can_compress_it),
        cmocka_unit_test(floats_are_small_and_never_denormal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
