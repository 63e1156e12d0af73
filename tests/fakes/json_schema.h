#ifndef TRACKRAMP_JSON_SCHEMA_H
#define TRACKRAMP_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Checks JSON against a JSON Schema (draft 7), as far as docs/result.schema.json goes: type,
 * required, properties, items, enum, const, minimum, pattern; title, description and $schema say
 * nothing. Any other keyword is an error, so that a schema cannot promise what nobody checks.
 */

enum { JSON_SCHEMA_MESSAGE_BYTES = 512 };

/*
 * Returns 0, or -1 with the place and the reason in `message`. `closed`: a name that the schema
 * does not list is an error too, as if `additionalProperties` were false everywhere.
 */
int json_schema_check(const json_t *schema, const json_t *value, bool closed,
                      char message[JSON_SCHEMA_MESSAGE_BYTES]);

/* The same for a file of each; also -1 for a file that cannot be read or is no JSON. */
int json_schema_check_file(const char *schema_path, const char *path, bool closed,
                           char message[JSON_SCHEMA_MESSAGE_BYTES]);

#endif
