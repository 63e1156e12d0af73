#ifndef TRACKRAMP_REPORT_H
#define TRACKRAMP_REPORT_H

#include "error.h"
#include "result.h"

#include <stdio.h>

/* A result in the formats people and programs read. Main thread; nothing here measures. */

/* Writes the table for people: header, one row a block size, warnings, the recommendation. */
void report_table(const struct result *result, FILE *out);

/*
 * Writes the result file `trackramp-result-1` (docs/result.schema.json) to `path`, or to standard
 * output for `-`. A file is written beside its name and renamed, so that what was there before
 * stays whole until the new one is. Errors: ERROR_ENVIRONMENT, naming the file.
 */
int report_json(const struct result *result, const char *path, struct error *error);

#endif
