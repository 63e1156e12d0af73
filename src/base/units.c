#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Digits only: strtoull alone would take a sign and leading space. */
static int parse_digits(const char *text, uint64_t *value, const char **rest)
{
    if (!isdigit((unsigned char)text[0]))
        return -1;
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (errno != 0)
        return -1;
    *value = parsed;
    *rest = end;
    return 0;
}

int units_parse_count(const char *text, uint64_t *count)
{
    const char *rest;
    return parse_digits(text, count, &rest) == 0 && *rest == '\0' ? 0 : -1;
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "kmgt";
    uint64_t value;
    const char *rest;
    if (parse_digits(text, &value, &rest) != 0)
        return -1;
    for (unsigned power = 0; suffixes[power] != '\0'; power++) {
        if (tolower((unsigned char)*rest) != suffixes[power])
            continue;
        unsigned shift = 10 * (power + 1);
        if (value > UINT64_MAX >> shift)
            return -1;
        value <<= shift;
        rest++;
        if (strcasecmp(rest, "ib") == 0)
            rest += 2;
        break;
    }
    if (strcasecmp(rest, "b") == 0)
        rest++;
    if (*rest != '\0')
        return -1;
    *bytes = value;
    return 0;
}

/* strtod alone would take a sign, an exponent, hexadecimal, `inf` and `nan`. */
static int parse_decimal(const char *text, double *value, const char **rest)
{
    size_t length = strspn(text, "0123456789.");
    char digits[64], *end;
    if (length == 0 || length >= sizeof digits)
        return -1;
    memcpy(digits, text, length);
    digits[length] = '\0';
    *value = strtod(digits, &end);
    *rest = text + length;
    return end == digits + length && *value <= 1e9 ? 0 : -1;
}

int units_parse_decimal(const char *text, double *value)
{
    double parsed;
    const char *rest;
    if (parse_decimal(text, &parsed, &rest) != 0 || *rest != '\0')
        return -1;
    *value = parsed;
    return 0;
}

int units_parse_seconds(const char *text, double *seconds)
{
    double value;
    const char *rest;
    if (parse_decimal(text, &value, &rest) != 0 || !(value > 0))
        return -1;
    if (*rest != '\0' && strcmp(rest, "s") != 0)
        return -1;
    *seconds = value;
    return 0;
}

int units_parse_time(const char *text, double *seconds)
{
    double value;
    const char *rest;
    if (parse_decimal(text, &value, &rest) != 0)
        return -1;
    if (strcmp(rest, "ms") == 0)
        value /= 1e3;
    else if (strcmp(rest, "us") == 0)
        value /= 1e6;
    else if (*rest != '\0' && strcmp(rest, "s") != 0)
        return -1;
    *seconds = value;
    return 0;
}

static const char *format_scaled(char *out, size_t out_bytes, uint64_t bytes,
                                 const char *const *names)
{
    unsigned power = 0;
    double value = (double)bytes;
    while (value >= 1024 && power < 4) {
        value /= 1024;
        power++;
    }
    int decimals = value < 10 && value != (double)(uint64_t)value ? 1 : 0;
    snprintf(out, out_bytes, "%.*f%s", decimals, value, names[power]);
    return out;
}

const char *units_format_bytes(char *out, size_t out_bytes, uint64_t bytes)
{
    static const char *const names[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    return format_scaled(out, out_bytes, bytes, names);
}

const char *units_format_block(char *out, size_t out_bytes, uint64_t bytes)
{
    static const char *const names[] = {"", "K", "M", "G", "T"};
    return format_scaled(out, out_bytes, bytes, names);
}
