#include "options.h"

#include "options_table.h"

#include <string.h>

/* The options of `predict`: those of `run` that say what a track is and how it is read. */

static const struct option_row rows[] = {
    {"encoding", "ENC", "of a track: pcm16 pcm24 pcm32 float32", "as measured",
     option_set_encoding},
    {"sample-rate", "HZ", "of a track", "as measured", option_set_sample_rate},
    {"channels", "N", "of a track", "as measured", option_set_channels},
    {"block-size", "LIST", "block sizes to predict for, powers of two from 4K to 8M",
     "those measured", option_set_block_size},
    {"json", "FILE", "write the prediction there as JSON; - is standard output", NULL,
     option_set_json},
    {"help", NULL, "show this", NULL, option_set_help},
};
static const struct option_table table = {
    .command = "predict", .rows = rows, .row_count = sizeof rows / sizeof *rows};

int options_parse_predict(struct predict_options *options, int argc, char **argv,
                          struct error *error)
{
    int first;
    struct run_options given = {.plan.format.encoding = ENCODING_COUNT};
    *options = (struct predict_options){0};
    if (option_table_parse(&table, &given, argc, argv, &first, error) != 0)
        return -1;
    options->help = given.help;
    options->json = given.json;
    options->format = given.plan.format;
    options->block_size_count = given.plan.block_size_count;
    memcpy(options->block_bytes, given.plan.block_bytes, sizeof options->block_bytes);
    if (options->help)
        return 0;
    if (argc - first != 1)
        return error_set(error, ERROR_USAGE,
                         "predict: name one result file, as `trackramp run --json FILE` writes it");
    options->file = argv[first];
    return 0;
}

void options_print_predict(FILE *out)
{
    fputs(
        "Usage: trackramp predict [options] RESULT.json\n\n"
        "Computes how many tracks of another format the drives of a saved result would carry,\n"
        "without running anything: from the fit of each drive (a read takes a positioning time "
        "and\n"
        "its bytes over a transfer rate), which takes two block sizes or more to have been\n"
        "measured. Every number is marked as predicted. CPU, memory, the audio device and stalls\n"
        "are not in the fit; where they stopped the measured count, the line says so.\n\n",
        out);
    option_table_print(&table, out);
    fputs("\nExamples:\n"
          "  trackramp predict --encoding pcm24 --sample-rate 96000 result.json\n"
          "  trackramp predict --channels 2 --block-size 64K,256K,2M --json - result.json\n"
          "\nExit codes: 0 done, 2 bad usage or input, 3 the prediction could not be written.\n",
          out);
}
