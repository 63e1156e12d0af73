#ifndef TRACKRAMP_JSON_FIXTURE_H
#define TRACKRAMP_JSON_FIXTURE_H

/*
 * The sample result, a folder to write it to, and a way to look into the file that comes of it, for
 * tests of result files. Include after cmocka.h and report.h; tests are listed with IN_FOLDER.
 */

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/json_schema.h"
#include "fakes/sample_result.h"

/* Run from the repository's root, as `make test` does. */
#define SCHEMA "docs/result.schema.json"

static char folder[64];
static char path[80];
static struct result result;

static inline int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/result.json", folder);
    sample_result_init(&result);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    result_fini(&result);
    result_fini(&result);
    unlink(path);
    /* Fails when a temporary file was left there. */
    return rmdir(folder);
}

static inline json_t *load(const char *file)
{
    json_error_t error;
    json_t *value = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
    if (value == NULL)
        fail_msg("%s: %s", file, error.text);
    return value;
}

/* Writes the result, checks it against the schema, returns it. */
static inline json_t *written(void)
{
    struct error error = {0};
    char message[JSON_SCHEMA_MESSAGE_BYTES];
    assert_int_equal(report_json(&result, path, &error), 0);
    assert_int_equal(error.kind, ERROR_NONE);
    if (json_schema_check_file(SCHEMA, path, true, message) != 0)
        fail_msg("%s", message);
    return load(path);
}

/* The value at a path such as `volumes.0.drive.node`; NULL where there is none. */
static inline json_t *at(json_t *value, const char *place)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", place);
    char *rest = NULL;
    for (char *name = strtok_r(copy, ".", &rest); name; name = strtok_r(NULL, ".", &rest)) {
        value = json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
                                     : json_object_get(value, name);
    }
    return value;
}

static inline void assert_real(json_t *json, const char *place, double wanted)
{
    if (fabs(json_number_value(at(json, place)) - wanted) > 1e-9 * (1 + fabs(wanted)))
        fail_msg("%s is %.9g, not %.9g", place, json_number_value(at(json, place)), wanted);
}

static inline void assert_text(json_t *json, const char *place, const char *wanted)
{
    if (!json_is_string(at(json, place)))
        fail_msg("%s is no string", place);
    assert_string_equal(json_string_value(at(json, place)), wanted);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
