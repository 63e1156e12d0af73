#include "fakes/drive_limit.h"
#include "random.h"
#include "study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * The count against the truth: thousands of modelled drives, each at random, each with a random
 * format, block size and ring, are measured as `run` measures them, and the count is compared with
 * a limit computed apart (fakes/drive_limit.h). It has to be within 2 % or one track. Every
 * trial is looked at too: none may have passed with an underrun.
 */

#ifdef __SANITIZE_ADDRESS__
enum { DRIVES = 40 };
#else
enum { DRIVES = 2400 };
#endif

enum { PROCESSES = 2, LIMIT_READS = 200000 };

static const double least_tracks = 3, most_tracks = 300;
static const double count_share = 0.02;

/*
 * A drive whose reads take random times carries as many blocks as arithmetic says only while the
 * rings outlast its bad luck, and a measurement tells that rate only from many blocks. Below, CV2
 * is the variance of a read's time over its mean squared.
 *
 * At a load of 1 - x, the backlog before a single server that is fed evenly is about exponential
 * with a mean of CV2 / 2x blocks (Kingman); at x = 2 % that is 25 CV2. The rings have to hold so
 * many times that in all that chance empties none, the one that is served last included.
 */
static const double spare_blocks_wanted = 32 * 25;
/* Reads overtake each other where several are under way; each may take several times its mean. */
static const double spare_reads_wanted = 20;
/* Over a trial, counting blocks has an error (two sigma) of 2 sqrt(CV2 / blocks): 2 %. */
static const double trial_s = 5, blocks_wanted = 10000;

struct scene {
    uint32_t number; /* the seed: a failure can be repeated by it */
    struct plan plan;
    double tracks; /* the truth */
};

struct tally {
    uint32_t drives, wrong, exact; /* exact: within one track */
};

static uint64_t pick(uint64_t *random, uint64_t least, uint64_t most)
{
    return least + random_below(random, most - least + 1);
}

/* Between two bounds, each doubling as likely as another. */
static double pick_scale(uint64_t *random, double least, double most)
{
    return least * pow(most / least, random_unit(random));
}

static void pick_format(struct track_format *format, uint64_t *random)
{
    static const uint32_t rates[] = {44100, 44100, 48000, 96000};
    format->encoding = (enum encoding)pick(random, 0, ENCODING_COUNT - 1);
    format->sample_rate_hz = rates[pick(random, 0, 3)];
    format->channels = pick(random, 0, 3) == 0 ? 2 : 1;
}

/* What a ring lets its track wait, and all of them together. */
struct slack {
    double spare_blocks, tracks, blocks_per_second;
};

/* Whether reads of random times still leave the throughput's arithmetic true. */
static bool is_deep_enough(const struct slack *slack, const struct model_spec *spec)
{
    double cv2 = spec->distribution == MODEL_EXPONENTIAL ? 1 : 1.0 / 3;
    return slack->tracks * slack->spare_blocks >= spare_blocks_wanted * cv2 &&
           slack->tracks * slack->spare_blocks >= spare_reads_wanted * spec->depth &&
           slack->blocks_per_second * trial_s >= blocks_wanted * cv2;
}

/* What kind of drive, in any unit of time. */
static void pick_drive(struct model_spec *spec, uint32_t block_bytes, const struct slack *slack,
                       uint32_t most_depth, uint64_t *random)
{
    spec->depth = spec->members = 1;
    spec->position_s = random_unit(random);
    spec->overhead_s = pick(random, 0, 2) == 0 ? 0.1 * random_unit(random) : 0;
    spec->rate_bytes_per_second = block_bytes / pick_scale(random, 0.05, 5);
    uint32_t members = 1U << pick(random, 1, 3);
    if (pick(random, 0, 4) == 0 && block_bytes / members >= 4096) {
        spec->members = members;
        spec->unit_bytes = block_bytes / members;
        return;
    }
    spec->distribution = (enum model_distribution)pick(random, 0, 2);
    spec->depth = (uint32_t)pick_scale(random, 1, most_depth + 0.999);
    if (!is_deep_enough(slack, spec))
        spec->distribution = MODEL_CONSTANT;
}

/* So fast that it carries `tracks`. */
static void scale_drive(struct model_spec *spec, const struct track_format *format,
                        uint32_t block_bytes, double tracks)
{
    double wanted = tracks * (double)format_bytes_per_second(format) / block_bytes;
    double faster = wanted / drive_limit_blocks_per_second(spec, block_bytes, LIMIT_READS);
    spec->position_s /= faster;
    spec->overhead_s /= faster;
    spec->rate_bytes_per_second *= faster;
}

static struct scene pick_scene(uint32_t number)
{
    static const char *const directory = "modelled";
    uint64_t random = number;
    struct scene scene = {.number = number};
    struct plan *plan = &scene.plan;
    struct model_spec *spec = &plan->model;
    uint32_t block_bytes = 4096U << pick(&random, 0, 8);
    pick_format(&plan->format, &random);
    scene.tracks = pick_scale(&random, least_tracks, most_tracks);
    plan->buffer_s = pick_scale(&random, 0.5, 4);
    double rate = (double)format_bytes_per_second(&plan->format);
    double spare_blocks = fmax(1, ceil(plan->buffer_s * rate / block_bytes) - 1);
    /* More can not be under way than rings ask for at a time, and a depth is of use only where
     * they ask for several times as many. */
    uint32_t most_depth = (uint32_t)fmin(64, fmax(1, scene.tracks * spare_blocks / 8));
    const struct slack slack = {spare_blocks, scene.tracks, scene.tracks * rate / block_bytes};
    pick_drive(spec, block_bytes, &slack, most_depth, &random);
    if (pick(&random, 0, 4) == 0) { /* too short to count as silence, and the ring outlasts it */
        spec->stall_every_s = 0.3 + random_unit(&random);
        spec->stall_s = 0.04 * random_unit(&random) * fmin(1, spare_blocks * block_bytes / rate);
    }
    scale_drive(spec, &plan->format, block_bytes, scene.tracks);
    plan->directories = &directory;
    plan->directory_count = 1;
    plan->block_bytes[0] = block_bytes;
    plan->block_size_count = 1;
    plan->direct = true;
    plan->engine = PLAN_ENGINE_MODEL;
    plan->readers = (uint32_t)pick(&random, 1, 2);
    plan->queue_depth = 2 * most_depth;
    plan->device = "simulated";
    plan->frames = 1024;
    plan->trial_s = trial_s;
    plan->repeats = 1;
    plan->seed = number;
    plan->start = pick(&random, 0, 3) == 0 ? PLAN_START_STAGGERED : PLAN_START_SCATTERED;
    return scene;
}

static void ignore_progress(void *user, const struct study_progress *progress)
{
    (void)user;
    (void)progress;
}

static bool go_on(void *user)
{
    (void)user;
    return false;
}

static const struct study_observer nobody = {.progress = ignore_progress, .interrupted = go_on};

/* Whether the count, and every trial on the way to it, is what it should be; says why not. */
static void judge(const struct scene *scene, const struct result *result, struct tally *tally)
{
    const struct result_cell *cell = &result->volumes[0].cells[0];
    double error = cell->sustained - floor(scene->tracks);
    bool right = fabs(error) <= fmax(1, count_share * scene->tracks);
    tally->exact += fabs(error) <= 1;
    if (!right)
        fprintf(stderr,
                "drive %u: %u tracks where %.1f are true (%+.1f %%): %u B, depth %u, spread %d, "
                "ring %.2f s, members %u, stall %g\n",
                scene->number, cell->sustained, scene->tracks, 100 * error / scene->tracks,
                cell->block_bytes, scene->plan.model.depth, (int)scene->plan.model.distribution,
                scene->plan.buffer_s, scene->plan.model.members, scene->plan.model.stall_s);
    for (size_t i = 0; i < cell->trial_count; i++) {
        if (cell->trials[i].pass && cell->trials[i].underruns > 0) {
            fprintf(stderr, "drive %u: a trial passed with an underrun\n", scene->number);
            right = false;
        }
    }
    tally->drives++;
    tally->wrong += !right;
}

static void print_trials(const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->trial_count; i++)
        printf("%u tracks, %.1f s, %s: %s\n", cell->trials[i].tracks, cell->trials[i].seconds,
               cell->trials[i].pass ? "pass" : "fail", cell->trials[i].reason);
}

static void measure(uint32_t number, bool in_detail, struct tally *tally)
{
    struct scene scene = pick_scene(number);
    struct result result = {0};
    struct error error = {0};
    bool device_lost = false;
    if (study_run(&scene.plan, &nobody, &result, &device_lost, &error) != 0 || device_lost) {
        fprintf(stderr, "drive %u: %s\n", number, error.text);
        tally->wrong++;
    } else {
        judge(&scene, &result, tally);
        if (in_detail)
            print_trials(&result.volumes[0].cells[0]);
    }
    result_fini(&result);
}

/* Every so-manieth drive, in a process of its own. */
static pid_t start_share(uint32_t share)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0)
        return child;
    struct tally own = {0};
    for (uint32_t number = 1 + share; number <= DRIVES; number += PROCESSES)
        measure(number, false, &own);
    printf("%u drives: %u wrong, %u within one track\n", own.drives, own.wrong, own.exact);
    fflush(NULL);
    _exit(own.wrong > 0);
}

static void test_counts_are_true(void **state)
{
    (void)state;
    pid_t children[PROCESSES];
    for (uint32_t share = 0; share < PROCESSES; share++)
        children[share] = start_share(share);
    bool right = true;
    for (uint32_t share = 0; share < PROCESSES; share++) {
        int status;
        assert_int_equal(waitpid(children[share], &status, 0), children[share]);
        right = right && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    assert_true(right);
}

int main(int count, char **arguments)
{
    if (count > 1) { /* one drive alone */
        struct tally tally = {0};
        measure((uint32_t)strtoul(arguments[1], NULL, 10), true, &tally);
        return tally.wrong > 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
