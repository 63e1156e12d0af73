#ifndef TRACKRAMP_OPTIONS_TABLE_H
#define TRACKRAMP_OPTIONS_TABLE_H

#include "options.h"

/* What a command's options are: a row is an option's name, what it takes, what help says, its
 * default, and the function that reads its value. Parsing and help both walk the rows. */
struct option_row {
    const char *name;
    const char *argument; /* NULL: a flag */
    const char *help;
    const char *default_value; /* as help shows it; NULL: none */
    int (*set)(struct run_options *options, const char *value, struct error *error);
};

struct option_table {
    const char *command; /* for errors, which point to its --help */
    const struct option_row *rows;
    int row_count; /* at most OPTION_ROWS_MAX */
};
enum { OPTION_ROWS_MAX = 48 };

/* Sets what argv says in `options`; the rest keeps its value. Arguments that are no options end up
 * at the end of argv, from `*first` on. Errors are ERROR_USAGE and name the option. */
int option_table_parse(const struct option_table *table, struct run_options *options, int argc,
                       char **argv, int *first, struct error *error);

/* The rows, as help shows them. */
void option_table_print(const struct option_table *table, FILE *out);

/* Setters of options that several commands have. */
int option_set_block_size(struct run_options *options, const char *value, struct error *error);
int option_set_sample_rate(struct run_options *options, const char *value, struct error *error);
int option_set_encoding(struct run_options *options, const char *value, struct error *error);
int option_set_channels(struct run_options *options, const char *value, struct error *error);
int option_set_json(struct run_options *options, const char *value, struct error *error);
int option_set_help(struct run_options *options, const char *value, struct error *error);

/* For other setters: the error about a value, and a whole number from `least` to `most`. */
int option_bad_value(struct error *error, const char *option, const char *value,
                     const char *wanted);
int option_set_count(uint32_t *to, const char *option, const char *value, uint64_t least,
                     uint64_t most, struct error *error);

#endif
