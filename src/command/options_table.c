#include "options_table.h"

#include "units.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

int option_table_parse(const struct option_table *table, struct run_options *options, int argc,
                       char **argv, int *first, struct error *error)
{
    struct option known[OPTION_ROWS_MAX + 1] = {0};
    assert(table->row_count <= OPTION_ROWS_MAX);
    for (int i = 0; i < table->row_count; i++) {
        const struct option_row *row = &table->rows[i];
        known[i] =
            (struct option){.name = row->name,
                            .has_arg = row->argument != NULL ? required_argument : no_argument,
                            .val = i + 1};
    }
    const char *command = table->command;
    opterr = 0;
    optind = 0;
    int found;
    while ((found = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        const char *given = argv[optind > 0 ? optind - 1 : 0];
        if (found == ':')
            return error_set(error, ERROR_USAGE, "%s: needs a value; see trackramp %s --help",
                             given, command);
        if (found == '?' && optopt > table->row_count)
            return error_set(error, ERROR_USAGE, "-%c: no such option; see trackramp %s --help",
                             optopt, command);
        if (found == '?' && optopt > 0) /* a row's number */
            return error_set(error, ERROR_USAGE, "--%s: takes no value; see trackramp %s --help",
                             table->rows[optopt - 1].name, command);
        if (found == '?')
            return error_set(error, ERROR_USAGE, "%s: no such option; see trackramp %s --help",
                             given, command);
        if (table->rows[found - 1].set(options, optarg, error) != 0)
            return -1;
    }
    *first = optind;
    return 0;
}

/* Help text, wrapped into the column beside the names. */
static void print_wrapped(FILE *out, const char *text, int indent, int width)
{
    int column = 0;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > width - indent) {
            fprintf(out, "\n%*s", indent, "");
            column = 0;
        }
        column += fprintf(out, "%s%.*s", column > 0 ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void option_table_print(const struct option_table *table, FILE *out)
{
    enum { INDENT = 26, WIDTH = 96 };
    for (int i = 0; i < table->row_count; i++) {
        char head[64], text[512];
        const struct option_row *row = &table->rows[i];
        snprintf(head, sizeof head, "--%s %s", row->name, row->argument ? row->argument : "");
        if (row->default_value != NULL)
            snprintf(text, sizeof text, "%s [%s]", row->help, row->default_value);
        else
            snprintf(text, sizeof text, "%s", row->help);
        fprintf(out, "  %-*s", INDENT - 2, head);
        print_wrapped(out, text, INDENT, WIDTH);
    }
}

/* --- setters ---------------------------------------------------------------------------------- */

int option_bad_value(struct error *error, const char *option, const char *value, const char *wanted)
{
    return error_set(error, ERROR_USAGE, "--%s %s: %s", option, value, wanted);
}

int option_set_count(uint32_t *to, const char *option, const char *value, uint64_t least,
                     uint64_t most, struct error *error)
{
    uint64_t count;
    if (units_parse_count(value, &count) != 0 || count < least || count > most)
        return error_set(error, ERROR_USAGE, "--%s %s: give a whole number from %llu to %llu",
                         option, value, (unsigned long long)least, (unsigned long long)most);
    *to = (uint32_t)count;
    return 0;
}

static int add_block_size(struct plan *plan, const char *text, struct error *error)
{
    uint64_t bytes;
    if (units_parse_bytes(text, &bytes) != 0 || bytes < PLAN_BLOCK_BYTES_MIN ||
        bytes > PLAN_BLOCK_BYTES_MAX || (bytes & (bytes - 1)) != 0)
        return option_bad_value(error, "block-size", text,
                                "give powers of two from 4K to 8M, such as 4K,64K,1M");
    for (size_t i = 0; i < plan->block_size_count; i++) {
        if (plan->block_bytes[i] == bytes)
            return option_bad_value(error, "block-size", text, "this size is in the list twice");
    }
    plan->block_bytes[plan->block_size_count++] = (uint32_t)bytes;
    return 0;
}

int option_set_block_size(struct run_options *options, const char *value, struct error *error)
{
    struct plan *plan = &options->plan;
    plan->block_size_count = 0;
    for (const char *from = value;; from++) {
        char text[32];
        size_t length = strcspn(from, ",");
        if (length >= sizeof text)
            return option_bad_value(error, "block-size", value, "give sizes such as 4K,64K,1M");
        memcpy(text, from, length);
        text[length] = '\0';
        if (add_block_size(plan, text, error) != 0)
            return -1;
        from += length;
        if (*from == '\0')
            return 0;
    }
}

int option_set_sample_rate(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.format.sample_rate_hz, "sample-rate", value,
                            FORMAT_SAMPLE_RATE_MIN, FORMAT_SAMPLE_RATE_MAX, error);
}

int option_set_encoding(struct run_options *options, const char *value, struct error *error)
{
    if (format_encoding_parse(value, &options->plan.format.encoding) != 0)
        return option_bad_value(error, "encoding", value, "use pcm16, pcm24, pcm32 or float32");
    return 0;
}

int option_set_channels(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.format.channels, "channels", value, 1,
                            FORMAT_CHANNELS_MAX, error);
}

int option_set_json(struct run_options *options, const char *value, struct error *error)
{
    if (*value == '\0')
        return option_bad_value(error, "json", "''", "give a file, or - for standard output");
    options->json = value;
    return 0;
}

int option_set_help(struct run_options *options, const char *value, struct error *error)
{
    (void)value, (void)error;
    options->help = true;
    return 0;
}
