#ifndef TRACKRAMP_TABLE_FIXTURE_H
#define TRACKRAMP_TABLE_FIXTURE_H

/*
 * The sample result and what is printed of it, for tests of tables. Include after cmocka.h and
 * report.h; tests are listed with WITH_SAMPLE.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/sample_result.h"

static struct result result;
static char *table; /* what the last print_table printed */

static inline int set_up(void **state)
{
    (void)state;
    sample_result_init(&result);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    result_fini(&result);
    free(table);
    table = NULL;
    return 0;
}

/* What report_table prints, or another function that prints the result. */
static inline void print_with(void (*report)(const struct result *result, FILE *out))
{
    free(table);
    size_t bytes;
    FILE *out = open_memstream(&table, &bytes);
    assert_non_null(out);
    report(&result, out);
    assert_int_equal(fclose(out), 0);
}

static inline void print_table(void)
{
    print_with(report_table);
}

/* The table has this text, line breaks and runs of blanks counting as one blank. */
static inline bool has(const char *text)
{
    char *flat = malloc(strlen(table) + 1), *to = flat;
    assert_non_null(flat);
    for (const char *from = table; *from != '\0'; from++) {
        char c = *from == '\n' ? ' ' : *from;
        if (c != ' ' || (to > flat && to[-1] != ' '))
            *to++ = c;
    }
    *to = '\0';
    bool found = strstr(flat, text) != NULL;
    free(flat);
    return found;
}

static inline void assert_has(const char *text)
{
    if (!has(text))
        fail_msg("the table lacks `%s`:\n%s", text, table);
}

static inline void assert_lacks(const char *text)
{
    if (has(text))
        fail_msg("the table has `%s`:\n%s", text, table);
}

static inline unsigned count(const char *text)
{
    unsigned times = 0;
    for (const char *found = table; (found = strstr(found, text)) != NULL; found++)
        times++;
    return times;
}

/* Columns of the widest line: characters, not bytes. */
static inline unsigned widest_line(void)
{
    unsigned columns = 0, widest = 0;
    for (const char *c = table; *c != '\0'; c++) {
        columns = *c == '\n' ? 0 : columns + (((unsigned char)*c & 0xC0) != 0x80);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

#define WITH_SAMPLE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
