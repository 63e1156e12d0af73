#include "command.h"

#include "options.h"
#include "report.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* What was not asked for is as it was measured. */
static void complete(struct track_format *wanted, const struct track_format *measured)
{
    wanted->container = measured->container;
    if (wanted->encoding == ENCODING_COUNT)
        wanted->encoding = measured->encoding;
    if (wanted->sample_rate_hz == 0)
        wanted->sample_rate_hz = measured->sample_rate_hz;
    if (wanted->channels == 0)
        wanted->channels = measured->channels;
}

/* A prediction must not take the place of what it was made from. */
static int check_target(const struct predict_options *options, struct error *error)
{
    struct stat from, to;
    if (options->json == NULL || strcmp(options->json, "-") == 0 || stat(options->json, &to) != 0)
        return 0;
    if (S_ISDIR(to.st_mode))
        return error_set(error, ERROR_USAGE, "--json %s: this is a folder; name a file",
                         options->json);
    if (stat(options->file, &from) == 0 && S_ISREG(to.st_mode) && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino)
        return error_set(error, ERROR_USAGE,
                         "--json %s: this is the result itself; name another file", options->json);
    return 0;
}

static void print(const struct result *result, const struct predict_options *options, FILE *console,
                  struct error *error)
{
    struct prediction wanted = {.file = options->file,
                                .format = options->format,
                                .block_bytes = options->block_bytes,
                                .block_size_count = options->block_size_count};
    complete(&wanted.format, &result->track);
    if (report_prediction_check(result, &wanted, error) != 0)
        return;
    if (options->json != NULL && report_prediction_json(result, &wanted, options->json, error) != 0)
        return;
    bool json_on_output = options->json != NULL && strcmp(options->json, "-") == 0;
    report_prediction(result, &wanted, json_on_output ? console : stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        error_set(error, ERROR_ENVIRONMENT,
                  "standard output: the prediction could not be written (%s); name a file with "
                  "--json",
                  strerror(errno));
}

int command_predict(int argc, char **argv, FILE *console)
{
    struct error error = {0};
    struct predict_options options;
    struct result result = {0};
    if (options_parse_predict(&options, argc, argv, &error) == 0 && options.help) {
        options_print_predict(stdout);
        return 0;
    }
    if (error.kind == ERROR_NONE && check_target(&options, &error) == 0 &&
        report_load(&result, options.file, &error) == 0)
        print(&result, &options, console, &error);
    if (error.kind != ERROR_NONE)
        fprintf(console, "trackramp: %s\n", error.text);
    fflush(console);
    result_fini(&result);
    return (int)error.kind;
}
