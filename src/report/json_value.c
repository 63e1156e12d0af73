#include "json_value.h"

#include "save.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What JSON cannot hold is dealt with here and nowhere else: bytes that are no UTF-8 (file names
 * are any bytes), numbers that are no numbers, digits that are noise. */

/* The length of the UTF-8 character at `text`, 0 when its bytes are none (RFC 3629). */
static size_t character_bytes(const unsigned char *text)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;
    size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    /* Shortest form only, no surrogates, nothing above U+10FFFF. */
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < bytes; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    }
    return bytes;
}

json_t *value_string(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *clean = malloc(strlen(text) * (sizeof replacement - 1) + 1);
    if (clean == NULL)
        return NULL;
    size_t length = 0;
    while (*text != '\0') {
        size_t bytes = character_bytes((const unsigned char *)text);
        const char *from = bytes > 0 ? text : replacement;
        size_t from_bytes = bytes > 0 ? bytes : sizeof replacement - 1;
        memcpy(clean + length, from, from_bytes);
        length += from_bytes;
        text += bytes > 0 ? bytes : 1;
    }
    json_t *value = json_stringn_nocheck(clean, length);
    free(clean);
    return value;
}

json_t *value_real(double value, int decimals)
{
    if (!isfinite(value))
        return json_null();
    double scale = pow(10, decimals);
    double rounded = round(value * scale) / scale;
    return json_real(isfinite(rounded) ? rounded : value);
}

json_t *value_integer(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *value_integer_or_null(uint64_t value)
{
    return value > 0 ? value_integer(value) : json_null();
}

json_t *value_real_or_null(double value, int decimals)
{
    return value > 0 ? value_real(value, decimals) : json_null();
}

json_t *value_appended(json_t *list, json_t *entry)
{
    if (json_array_append_new(list, entry) == 0)
        return list;
    json_decref(list);
    return NULL;
}

json_t *value_with(json_t *object, const char *name, json_t *entry)
{
    if (json_object_set_new(object, name, entry) == 0)
        return object;
    json_decref(object);
    return NULL;
}

int value_save(json_t *tree, const char *path, struct error *error)
{
    /* 15 digits: what a double holds for sure. More would print 0.1 as 0.10000000000000001. */
    char *text = tree != NULL ? json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(tree);
    if (text == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "%s: not enough memory to write the result",
                         path);
    /* The newline takes the place of the end mark: save_text counts bytes. */
    size_t length = strlen(text);
    text[length] = '\n';
    int saved = save_text(path, text, length + 1, error);
    free(text);
    return saved;
}
