#include "options.h"

#include "options_table.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

/* The options of `run`. */

static int set_seconds(double *to, const char *option, const char *value, double least, double most,
                       struct error *error)
{
    double seconds;
    if (units_parse_seconds(value, &seconds) != 0 || seconds < least || seconds > most)
        return error_set(error, ERROR_USAGE, "--%s %s: give seconds from %g to %g", option, value,
                         least, most);
    *to = seconds;
    return 0;
}

static int set_container(struct run_options *options, const char *value, struct error *error)
{
    if (format_container_parse(value, &options->plan.format.container) != 0)
        return option_bad_value(error, "container", value, "use wav, rf64, w64, aiff or caf");
    return 0;
}

static int set_io(struct run_options *options, const char *value, struct error *error)
{
    options->plan.direct = strcmp(value, "direct") == 0;
    if (!options->plan.direct && strcmp(value, "buffered") != 0)
        return option_bad_value(error, "io", value, "use direct or buffered");
    return 0;
}

static int set_engine(struct run_options *options, const char *value, struct error *error)
{
    static const char model[] = "model:";
    if (strcmp(value, "uring") == 0)
        options->plan.engine = PLAN_ENGINE_URING;
    else if (strcmp(value, "threads") == 0)
        options->plan.engine = PLAN_ENGINE_THREADS;
    else if (strncmp(value, model, strlen(model)) == 0)
        options->plan.engine = PLAN_ENGINE_MODEL;
    else
        return option_bad_value(error, "engine", value, "use uring, threads or model:SPEC");
    if (options->plan.engine != PLAN_ENGINE_MODEL)
        return 0;
    return model_parse(&options->plan.model, value + strlen(model), error);
}

static int set_readers(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.readers, "readers", value, 1, PLAN_READERS_MAX, error);
}

static int set_queue_depth(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.queue_depth, "queue-depth", value, 1,
                            PLAN_QUEUE_DEPTH_MAX, error);
}

static int set_buffer(struct run_options *options, const char *value, struct error *error)
{
    return set_seconds(&options->plan.buffer_s, "buffer", value, 0.01, 600, error);
}

static int set_device(struct run_options *options, const char *value, struct error *error)
{
    if (*value == '\0')
        return option_bad_value(error, "device", "''",
                                "give a name that `trackramp devices` lists");
    options->plan.device = value;
    return 0;
}

static int set_frames(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.frames, "frames", value, 16, 16384, error);
}

static int set_trial(struct run_options *options, const char *value, struct error *error)
{
    return set_seconds(&options->plan.trial_s, "trial", value, 0.5, 3600, error);
}

static int set_repeat(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.repeats, "repeat", value, 1, PLAN_REPEATS_MAX, error);
}

static int set_max_tracks(struct run_options *options, const char *value, struct error *error)
{
    return option_set_count(&options->plan.max_tracks, "max-tracks", value, 1, PLAN_TRACKS_MAX,
                            error);
}

static int set_pool_size(struct run_options *options, const char *value, struct error *error)
{
    uint64_t bytes;
    if (units_parse_bytes(value, &bytes) != 0 || bytes == 0)
        return option_bad_value(error, "pool-size", value, "give a size such as 500M or 8G");
    options->plan.pool_bytes = bytes;
    return 0;
}

static int set_seed(struct run_options *options, const char *value, struct error *error)
{
    if (units_parse_count(value, &options->plan.seed) != 0)
        return option_bad_value(error, "seed", value, "give a whole number");
    return 0;
}

static int set_start(struct run_options *options, const char *value, struct error *error)
{
    if (plan_start_parse(value, &options->plan.start) != 0)
        return option_bad_value(error, "start", value, "use scattered, aligned or staggered");
    return 0;
}

static int set_layout(struct run_options *options, const char *value, struct error *error)
{
    if (plan_layout_parse(value, &options->plan.layout) != 0)
        return option_bad_value(error, "layout", value, "use sequential or interleaved");
    return 0;
}

static int set_keep(struct run_options *options, const char *value, struct error *error)
{
    (void)value, (void)error;
    options->plan.keep = true;
    return 0;
}

static const struct option_row rows[] = {
    {"block-size", "LIST", "block sizes to measure, powers of two from 4K to 8M",
     "4K,8K,16K,32K,64K,128K,256K,512K,1M", option_set_block_size},
    {"sample-rate", "HZ", "of a track, and of the audio output", "44100", option_set_sample_rate},
    {"encoding", "ENC", "of a track: pcm16 pcm24 pcm32 float32", "pcm16", option_set_encoding},
    {"channels", "N", "of a track", "1", option_set_channels},
    {"container", "NAME", "file type: wav rf64 w64 aiff caf", "wav", set_container},
    {"io", "MODE",
     "direct: past the page cache, the drive itself; buffered: through it, with "
     "the kernel's read-ahead, from cold files",
     "direct", set_io},
    {"engine", "NAME",
     "how blocks are read: uring or threads; model:SPEC reads from no drive but from a modelled "
     "one (below)",
     "the faster one here", set_engine},
    {"readers", "N", "reader threads", "1 with uring, 16 with threads", set_readers},
    {"queue-depth", "N", "reads a uring reader keeps under way", "64, fewer for large blocks",
     set_queue_depth},
    {"buffer", "SECONDS", "ring (buffer) of each track, never under two blocks", "1", set_buffer},
    {"device", "NAME",
     "audio output, as `trackramp devices` lists it, or `clock`: the built-in clock; a modelled "
     "drive also plays to `simulated`, in virtual time",
     "the default output; without one, clock; with a model, simulated", set_device},
    {"frames", "N", "frames of an audio callback", "256", set_frames},
    {"trial", "SECONDS", "how long a track count is held; three times that to confirm it", "5",
     set_trial},
    {"repeat", "N", "searches for each block size", "3", set_repeat},
    {"max-tracks", "N", "never play more", "what files, memory and descriptors allow",
     set_max_tracks},
    {"pool-size", "BYTES", "most space the test files may take",
     "a tenth of what is free, 16G at most", set_pool_size},
    {"seed", "N", "test files' content and start positions follow from it", "1", set_seed},
    {"start", "NAME",
     "when the tracks' blocks fall due: scattered; aligned, all at once, as when a song starts; "
     "staggered, at equal distances",
     "scattered", set_start},
    {"layout", "NAME",
     "how the test files lie on the drive: sequential, one behind the other; interleaved, piece "
     "by piece in turn, as a multitrack recording leaves them",
     "sequential", set_layout},
    {"json", "FILE", "write the result there as JSON; - is standard output", NULL, option_set_json},
    {"keep", NULL, "leave the test files for the next run", NULL, set_keep},
    {"help", NULL, "show this", NULL, option_set_help},
};
static const struct option_table table = {
    .command = "run", .rows = rows, .row_count = sizeof rows / sizeof *rows};

static const struct plan default_plan = {
    .block_bytes = {4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10,
                    1 << 20},
    .block_size_count = 9,
    .format = {.container = CONTAINER_WAV,
               .encoding = ENCODING_PCM16,
               .sample_rate_hz = 44100,
               .channels = 1},
    .direct = true,
    .engine = PLAN_ENGINE_BEST,
    .buffer_s = 1,
    .frames = 256,
    .trial_s = 5,
    .repeats = 3,
    .seed = 1,
};

/* A modelled drive lies behind no folder, and takes no time. */
static int complete_model(struct run_options *options, struct error *error)
{
    struct plan *plan = &options->plan;
    bool simulated = plan->device != NULL && strcmp(plan->device, "simulated") == 0;
    if (plan->engine != PLAN_ENGINE_MODEL)
        return simulated ? error_set(error, ERROR_USAGE,
                                     "--device simulated: virtual time goes with a modelled drive "
                                     "alone; add --engine model:SPEC, or use --device clock")
                         : 0;
    if (plan->device == NULL)
        plan->device = "simulated";
    if (!plan->direct)
        return error_set(error, ERROR_USAGE,
                         "--io buffered: a modelled drive has no page cache; leave it out");
    if (plan->directory_count == 0) {
        options->model_directory = plan->model.text;
        plan->directories = &options->model_directory;
        plan->directory_count = 1;
    }
    return 0;
}

/* Options that are right one by one but not together. */
static int check_together(const struct run_options *options, struct error *error)
{
    const struct plan *plan = &options->plan;
    if (plan->directory_count == 0)
        return error_set(error, ERROR_USAGE,
                         "run: name a folder on the drive to measure, such as "
                         "`trackramp run /media/audio`");
    if (plan->queue_depth > 0 && plan->engine == PLAN_ENGINE_THREADS)
        return error_set(error, ERROR_USAGE,
                         "--queue-depth goes with --engine uring; with threads use --readers");
    /* A ring is two blocks at least, and a callback may come for all of a period at once. */
    double least_s = 2.0 * plan->frames / plan->format.sample_rate_hz;
    double rate = (double)format_bytes_per_second(&plan->format);
    for (size_t i = 0; i < plan->block_size_count; i++) {
        if (plan->buffer_s < least_s && 2.0 * plan->block_bytes[i] / rate < least_s)
            return error_set(error, ERROR_USAGE,
                             "--buffer %g: shorter than two callbacks of --frames %u; give at "
                             "least %.2f",
                             plan->buffer_s, plan->frames, least_s);
    }
    return 0;
}

int options_parse_run(struct run_options *options, int argc, char **argv, struct error *error)
{
    int first;
    memset(options, 0, sizeof *options);
    options->plan = default_plan;
    if (option_table_parse(&table, options, argc, argv, &first, error) != 0)
        return -1;
    options->plan.directories = (const char *const *)(argv + first);
    options->plan.directory_count = (size_t)(argc - first);
    if (options->help)
        return 0;
    return complete_model(options, error) == 0 ? check_together(options, error) : -1;
}

static void print_model(FILE *out)
{
    fputs("\nA modelled drive (--engine model:SPEC) is read in virtual time, for what a drive\n"
          "that is not at hand would do; DIR is not needed. SPEC is one of these, changed by\n"
          "pairs behind it, or pairs alone:\n",
          out);
    for (const struct model_preset *preset = model_presets; preset->name != NULL; preset++)
        fprintf(out, "  %-18s  %s\n", preset->name, preset->help);
    fputs("  position=TIME       to a place on the drive, of each read (spread=constant,\n"
          "                      uniform or exponential); depth=COUNT of them overlap\n"
          "  rate=BYTES          a second of transfer, one read at a time; overhead=TIME of each\n"
          "  split=BYTES         a read that is larger is several\n"
          "  rpm=COUNT           a disk, with seek=LEAST:MOST, capacity=BYTES and\n"
          "                      order=oldest|nearest\n"
          "  stripe=MEMBERSxUNIT so many of them, striped\n"
          "  slow=SHARE@TIME     of its speed, once it has been read for so long;\n"
          "                      slow-rest=TIME of rest makes it fast again\n"
          "  stall=LENGTH@EVERY  answers nothing for so long; stall-random: at random times\n"
          "  fail=TIME           a read fails; short, wrong: or comes so; late=TIME:BY\n"
          "  device-gone=TIME    the audio device vanishes\n"
          "  memory=BYTES        that rings find; data=yes|no: reads bring what files hold\n",
          out);
}

void options_print_run(FILE *out)
{
    fputs(
        "Usage: trackramp run [options] DIR...\n\n"
        "Finds out how many audio tracks the drive behind each DIR plays without an underrun, at\n"
        "each I/O block size, and names the block size to choose. It writes test files into\n"
        "DIR/trackramp-files and removes them at the end; nothing else on the drive is touched,\n"
        "and at least a tenth of its free space stays free.\n\n"
        "For each block size it reads flat out for a first guess, then holds track counts for a\n"
        "few seconds each. The result's trials[] names the step of each:\n"
        "  bracket   steps up or down until one count passes and one fails\n"
        "  close-in  between them; what a stall or a late device spoiled is tried again\n"
        "  confirm   the highest that passed is held longer, and fewer where it fails\n"
        "  floor     holding failed and the load does not explain it: is half the count held?\n"
        "  margin    the highest count at which no ring falls below a fifth\n"
        "A count fails when a track runs dry or the unread backlog keeps growing.\n\n",
        out);
    option_table_print(&table, out);
    print_model(out);
    fputs("\nExamples:\n"
          "  trackramp run /media/audio\n"
          "  trackramp run --sample-rate 96000 --encoding pcm24 --channels 2 /media/audio\n"
          "  trackramp run --block-size 64K,256K --repeat 1 --pool-size 500M /media/stick\n"
          "  trackramp run --engine model:hdd-7200,stall=2s@20s --buffer 4\n",
          out);
    fputs("\nExit codes: 0 done, 2 bad usage or input, 3 the environment failed (device, drive,\n"
          "permission), 130 interrupted.\n",
          out);
}
