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

/*
 * Loads a result file: of the track its format, of each volume its path, drive, io and fit, and of
 * each cell its size, counts, limit, throughput and whether it is irregular; the rest stays zero.
 * A file that is not as report_json writes it is an ERROR_USAGE that names the file and the place
 * in it, and leaves the result zeroed. To be ended with result_fini.
 */
int report_load(struct result *result, const char *path, struct error *error);

/* Which track counts to compute from a result's fits, without measuring. */
struct prediction {
    const char *file;            /* the result's, as the user named it */
    struct track_format format;  /* the container does not matter */
    const uint32_t *block_bytes; /* with a count of 0: those of the result */
    size_t block_size_count;
};

/*
 * A drive that takes s + B/R for a read of B bytes carries floor(B / (s + B/R) / r) tracks of r
 * bytes a second. To be asked first: ERROR_USAGE where no volume of the result has a fit.
 */
int report_prediction_check(const struct result *result, const struct prediction *wanted,
                            struct error *error);

/* The counts as a table for people, and as JSON (`trackramp-prediction-1`), which is written as
 * report_json writes. Both say of every number that it is predicted, and of which it is so for the
 * drive alone, because the measured count was stopped by something else. */
void report_prediction(const struct result *result, const struct prediction *wanted, FILE *out);
int report_prediction_json(const struct result *result, const struct prediction *wanted,
                           const char *path, struct error *error);

#endif
