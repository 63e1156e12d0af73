#ifndef TRACKRAMP_JSON_VALUE_H
#define TRACKRAMP_JSON_VALUE_H

#include "error.h"

#include <jansson.h>
#include <stdint.h>

/* JSON values as this program's files hold them. Each returns a new reference, or NULL when memory
 * ends. Any thread. */

/* A string; every byte that is no UTF-8 becomes U+FFFD. */
json_t *value_string(const char *text);

/* A number to so many decimals; null where it is infinite or none. */
json_t *value_real(double value, int decimals);

/* JSON's integers are signed here; nothing that is counted comes near. */
json_t *value_integer(uint64_t value);

/* For numbers whose 0 means that there is none. */
json_t *value_integer_or_null(uint64_t value);
json_t *value_real_or_null(double value, int decimals);

/* The list with `entry` at its end, or the object with `entry` under `name`; NULL when either could
 * not be made. Take both references. */
json_t *value_appended(json_t *list, json_t *entry);
json_t *value_with(json_t *object, const char *name, json_t *entry);

/* Writes a finished tree to a file as save_text does, and takes its reference; NULL means that
 * memory ended while it was made. Main thread. */
int value_save(json_t *tree, const char *path, struct error *error);

#endif
