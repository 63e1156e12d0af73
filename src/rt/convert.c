#include "convert.h"

#include <string.h>

/*
 * One plain loop a format, written so that the compiler turns it into vector code: no branches,
 * unaligned loads through memcpy, byte swaps as shifts.
 */

static uint16_t swap16(uint16_t value)
{
    return (uint16_t)(value << 8 | value >> 8);
}

static uint32_t swap32(uint32_t value)
{
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

static void add_pcm16_little(float *restrict sum, const unsigned char *restrict stored,
                             uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        int16_t sample;
        memcpy(&sample, stored + 2 * (uint64_t)i, sizeof sample);
        sum[i] += (float)sample * scale;
    }
}

static void add_pcm16_big(float *restrict sum, const unsigned char *restrict stored,
                          uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        uint16_t sample;
        memcpy(&sample, stored + 2 * (uint64_t)i, sizeof sample);
        sum[i] += (float)(int16_t)swap16(sample) * scale;
    }
}

static void add_pcm24_little(float *restrict sum, const unsigned char *restrict stored,
                             uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        const unsigned char *byte = stored + 3 * (uint64_t)i;
        uint32_t high = (uint32_t)byte[0] << 8 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 24;
        sum[i] += (float)((int32_t)high >> 8) * scale;
    }
}

static void add_pcm24_big(float *restrict sum, const unsigned char *restrict stored,
                          uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        const unsigned char *byte = stored + 3 * (uint64_t)i;
        uint32_t high = (uint32_t)byte[2] << 8 | (uint32_t)byte[1] << 16 | (uint32_t)byte[0] << 24;
        sum[i] += (float)((int32_t)high >> 8) * scale;
    }
}

static void add_pcm32_little(float *restrict sum, const unsigned char *restrict stored,
                             uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        int32_t sample;
        memcpy(&sample, stored + 4 * (uint64_t)i, sizeof sample);
        sum[i] += (float)sample * scale;
    }
}

static void add_pcm32_big(float *restrict sum, const unsigned char *restrict stored,
                          uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t sample;
        memcpy(&sample, stored + 4 * (uint64_t)i, sizeof sample);
        sum[i] += (float)(int32_t)swap32(sample) * scale;
    }
}

static void add_float32_little(float *restrict sum, const unsigned char *restrict stored,
                               uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        float sample;
        memcpy(&sample, stored + 4 * (uint64_t)i, sizeof sample);
        sum[i] += sample * scale;
    }
}

static void add_float32_big(float *restrict sum, const unsigned char *restrict stored,
                            uint32_t samples, float scale)
{
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t bits;
        float sample;
        memcpy(&bits, stored + 4 * (uint64_t)i, sizeof bits);
        bits = swap32(bits);
        memcpy(&sample, &bits, sizeof sample);
        sum[i] += sample * scale;
    }
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "written for little-endian machines");

convert_add convert_function(enum encoding encoding, bool big_endian)
{
    static const convert_add functions[ENCODING_COUNT][2] = {
        [ENCODING_PCM16] = {add_pcm16_little, add_pcm16_big},
        [ENCODING_PCM24] = {add_pcm24_little, add_pcm24_big},
        [ENCODING_PCM32] = {add_pcm32_little, add_pcm32_big},
        [ENCODING_FLOAT32] = {add_float32_little, add_float32_big},
    };
    return functions[encoding][big_endian];
}

float convert_full_scale(enum encoding encoding)
{
    static const float full_scale[ENCODING_COUNT] = {
        [ENCODING_PCM16] = 32768.0f,
        [ENCODING_PCM24] = 8388608.0f,
        [ENCODING_PCM32] = 2147483648.0f,
        [ENCODING_FLOAT32] = 1.0f,
    };
    return full_scale[encoding];
}
