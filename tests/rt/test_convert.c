#include "rt/convert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Bytes as they lie in a file, most significant first, and the value they stand for: written down
 * by hand from two's complement and IEEE 754, not computed. */
struct known {
    enum encoding encoding;
    unsigned char bytes[4];
    double value;
};

static const struct known all_known[] = {
    {ENCODING_PCM16, {0x00, 0x00}, 0},
    {ENCODING_PCM16, {0x00, 0x01}, 1},
    {ENCODING_PCM16, {0xff, 0xff}, -1},
    {ENCODING_PCM16, {0x7f, 0xff}, 32767},
    {ENCODING_PCM16, {0x80, 0x00}, -32768},
    {ENCODING_PCM16, {0x12, 0x34}, 4660},
    {ENCODING_PCM24, {0x00, 0x00, 0x00}, 0},
    {ENCODING_PCM24, {0x00, 0x00, 0x01}, 1},
    {ENCODING_PCM24, {0xff, 0xff, 0xff}, -1},
    {ENCODING_PCM24, {0x7f, 0xff, 0xff}, 8388607},
    {ENCODING_PCM24, {0x80, 0x00, 0x00}, -8388608},
    {ENCODING_PCM24, {0x12, 0x34, 0x56}, 1193046},
    {ENCODING_PCM32, {0x00, 0x00, 0x00, 0x00}, 0},
    {ENCODING_PCM32, {0x00, 0x00, 0x00, 0x01}, 1},
    {ENCODING_PCM32, {0xff, 0xff, 0xff, 0xff}, -1},
    {ENCODING_PCM32, {0x7f, 0xff, 0xff, 0x80}, 2147483520},
    {ENCODING_PCM32, {0x80, 0x00, 0x00, 0x00}, -2147483648.0},
    {ENCODING_PCM32, {0x12, 0x34, 0x56, 0x00}, 305419776},
    {ENCODING_FLOAT32, {0x00, 0x00, 0x00, 0x00}, 0},
    {ENCODING_FLOAT32, {0x3f, 0x80, 0x00, 0x00}, 1},
    {ENCODING_FLOAT32, {0xbf, 0x80, 0x00, 0x00}, -1},
    {ENCODING_FLOAT32, {0x3e, 0x80, 0x00, 0x00}, 0.25},
    {ENCODING_FLOAT32, {0xc2, 0xf6, 0xe9, 0x79}, -123.45600128173828125},
};
enum { KNOWN_COUNT = sizeof all_known / sizeof *all_known };

static uint32_t bytes_of(enum encoding encoding)
{
    static const uint32_t bytes[] = {
        [ENCODING_PCM16] = 2, [ENCODING_PCM24] = 3, [ENCODING_PCM32] = 4, [ENCODING_FLOAT32] = 4};
    return bytes[encoding];
}

static void put(unsigned char *to, const struct known *known, bool big_endian)
{
    uint32_t count = bytes_of(known->encoding);
    for (uint32_t i = 0; i < count; i++)
        to[i] = known->bytes[big_endian ? i : count - 1 - i];
}

static void test_known_values_in_both_byte_orders(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KNOWN_COUNT; i++) {
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            unsigned char stored[4];
            float sum = 0;
            put(stored, &all_known[i], big_endian);
            convert_function(all_known[i].encoding, big_endian)(&sum, stored, 1, 1.0f);
            if ((double)sum != all_known[i].value)
                fail_msg("value %u, big endian %d: %.9g is not %.9g", i, big_endian, (double)sum,
                         all_known[i].value);
        }
    }
}

static void test_samples_are_scaled_and_added(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KNOWN_COUNT; i++) {
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            unsigned char stored[4];
            float sum = 0.5f; /* the scale is a power of two: exact */
            put(stored, &all_known[i], big_endian);
            convert_function(all_known[i].encoding, big_endian)(&sum, stored, 1, 0.0625f);
            assert_true(fabs((double)sum - (0.5 + all_known[i].value / 16)) <=
                        fabs(all_known[i].value) * 1e-7);
        }
    }
}

static void test_full_scale_brings_the_lowest_sample_to_minus_one(void **state)
{
    (void)state;
    static const unsigned char lowest[4] = {0x80, 0, 0, 0};
    for (int encoding = ENCODING_PCM16; encoding <= ENCODING_PCM32; encoding++) {
        float sum = 0, scale = 1 / convert_full_scale((enum encoding)encoding);
        convert_function((enum encoding)encoding, true)(&sum, lowest, 1, scale);
        assert_true(sum == -1.0f);
    }
    assert_true(convert_full_scale(ENCODING_FLOAT32) == 1.0f);
}

/* Vector code has a beginning, a middle and an end: each length and each misalignment, with known
 * values in turn, and not one float or byte touched beyond. */
static void check_run(enum encoding encoding, bool big_endian, uint32_t samples, uint32_t shift)
{
    unsigned char stored[4 + 34 * 4];
    float sum[36];
    double expected[34];
    uint32_t first = 0, kinds = 0, width = bytes_of(encoding);
    for (uint32_t i = 0; i < KNOWN_COUNT; i++) {
        if (all_known[i].encoding == encoding && kinds++ == 0)
            first = i;
    }
    memset(stored, 0x55, sizeof stored);
    for (uint32_t i = 0; i < samples; i++) {
        const struct known *known = &all_known[first + i * 5 % kinds];
        put(stored + shift + i * width, known, big_endian);
        expected[i] = known->value;
    }
    for (uint32_t i = 0; i < 36; i++)
        sum[i] = 7;
    convert_function(encoding, big_endian)(sum + 1, stored + shift, samples, 1.0f);
    assert_true(sum[0] == 7.0f);
    for (uint32_t i = 0; i < samples; i++)
        assert_true((double)sum[1 + i] == (double)(7.0f + (float)expected[i]));
    for (uint32_t i = 1 + samples; i < 36; i++)
        assert_true(sum[i] == 7.0f);
}

static void test_every_length_and_alignment(void **state)
{
    (void)state;
    for (int encoding = 0; encoding < ENCODING_COUNT; encoding++) {
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            for (uint32_t samples = 0; samples <= 33; samples++) {
                for (uint32_t shift = 0; shift < 4; shift++)
                    check_run((enum encoding)encoding, big_endian, samples, shift);
            }
        }
    }
}

static void test_each_16_bit_value(void **state)
{
    (void)state;
    static unsigned char little[65536 * 2], big[65536 * 2];
    static float from_little[65536], from_big[65536];
    for (uint32_t i = 0; i < 65536; i++) {
        little[2 * i] = big[2 * i + 1] = (unsigned char)i;
        little[2 * i + 1] = big[2 * i] = (unsigned char)(i >> 8);
    }
    convert_function(ENCODING_PCM16, false)(from_little, little, 65536, 1.0f);
    convert_function(ENCODING_PCM16, true)(from_big, big, 65536, 1.0f);
    for (uint32_t i = 0; i < 65536; i++) {
        float value = i < 32768 ? (float)i : (float)i - 65536.0f;
        assert_true(from_little[i] == value && from_big[i] == value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values_in_both_byte_orders),
        cmocka_unit_test(test_samples_are_scaled_and_added),
        cmocka_unit_test(test_full_scale_brings_the_lowest_sample_to_minus_one),
        cmocka_unit_test(test_every_length_and_alignment),
        cmocka_unit_test(test_each_16_bit_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
