#ifndef TRACKRAMP_OPTIONS_H
#define TRACKRAMP_OPTIONS_H

#include "error.h"
#include "plan.h"

#include <stdbool.h>
#include <stdio.h>

/* What `run` was asked for. Strings point into argv. */
struct run_options {
    struct plan plan;
    const char *json;            /* file, `-`, or NULL */
    const char *model_directory; /* what stands for DIR where a modelled drive was named without */
    bool help;
};

/* Reads the command line of `run`. Errors are ERROR_USAGE and name the option. */
int options_parse_run(struct run_options *options, int argc, char **argv, struct error *error);

/* `trackramp run --help`, from the table that parses it. */
void options_print_run(FILE *out);

/* What `predict` was asked for. Strings point into argv. */
struct predict_options {
    const char *file;           /* the result */
    struct track_format format; /* what was not given is 0, and the encoding ENCODING_COUNT */
    uint32_t block_bytes[PLAN_BLOCK_SIZES_MAX];
    size_t block_size_count; /* 0: not given */
    const char *json;        /* file, `-`, or NULL */
    bool help;
};

/* The same for `predict`. */
int options_parse_predict(struct predict_options *options, int argc, char **argv,
                          struct error *error);
void options_print_predict(FILE *out);

#endif
