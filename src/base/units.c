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

int units_parse_seconds(const char *text, double *seconds)
{
    /* strtod would also take a sign, hexadecimal, `inf` and `nan`. */
    if (text[strspn(text, "0123456789.")] != '\0' && text[strspn(text, "0123456789.")] != 's')
        return -1;
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0) || value > 1e9)
        return -1;
    if (*end == 's')
        end++;
    if (*end != '\0')
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
