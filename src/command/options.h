#ifndef TRACKRAMP_OPTIONS_H
#define TRACKRAMP_OPTIONS_H

#include "error.h"
#include "plan.h"

#include <stdbool.h>
#include <stdio.h>

/* What `run` was asked for. Strings point into argv. */
struct run_options {
    struct plan plan;
    const char *json; /* file, `-`, or NULL */
    bool help;
};

/* Reads the command line of `run`. Errors are ERROR_USAGE and name the option. */
int options_parse_run(struct run_options *options, int argc, char **argv, struct error *error);

/* `trackramp run --help`, from the table that parses it. */
void options_print_run(FILE *out);

#endif
