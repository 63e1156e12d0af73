#include "fakes/reader_rig.h"
#include "model_drive.h"
#include "monotonic.h"
#include "random.h"
#include "simulation.h"
#include "units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/*
 * Thousands of modelled drives, each at random, with faults at random moments, in virtual time:
 * readers and mixer are the program's own. Every byte that is played is compared with what the
 * files hold, so a block that came twice, out of order, into the wrong ring or not at all is seen;
 * and no fault may pass unnoticed.
 */

#ifdef __SANITIZE_THREAD__
enum { DRIVES = 60 };
#elif defined __SANITIZE_ADDRESS__
enum { DRIVES = 500 };
#else
enum { DRIVES = 2000 };
#endif
enum { PERIOD_FRAMES = 256, RATE_HZ = 48000, FILL_PERIODS = 400, PLAY_PERIODS = 500 };

struct scene {
    uint32_t drive; /* the seed: a failure can be repeated by it */
    struct model_spec spec;
    struct reader_options options;
    uint32_t tracks, slots, block_bytes, group_files;
};

struct outcome {
    uint64_t wrong_bytes, underruns, consumed_bytes;
    uint64_t completed, published;
    bool failed;
    struct reader_failure failure;
    struct reader_totals totals;
};

static uint64_t pick(uint64_t *random, uint64_t least, uint64_t most)
{
    return least + random_below(random, most - least + 1);
}

static double pick_seconds(uint64_t *random, double most_s)
{
    return most_s * (double)random_below(random, 1 << 20) / (1 << 20);
}

static double run_s(uint32_t periods)
{
    return (double)periods * PERIOD_FRAMES / RATE_HZ;
}

static void pick_drive(struct model_spec *spec, uint64_t *random)
{
    static const uint32_t units[] = {4096, 16384, 65536};
    spec->position_s = pick_seconds(random, 0.004);
    spec->distribution = (enum model_distribution)pick(random, 0, 2);
    spec->depth = (uint32_t)pick(random, 1, 32);
    spec->members = 1;
    spec->rate_bytes_per_second = (double)pick(random, 2000000, 200000000);
    spec->overhead_s = pick(random, 0, 2) == 0 ? pick_seconds(random, 0.0002) : 0;
    if (pick(random, 0, 3) == 0) { /* a disk */
        spec->rpm = (double)pick(random, 5400, 15000);
        spec->seek_least_s = 0.0005;
        spec->seek_most_s = 0.015;
        spec->capacity_bytes = UINT64_C(1) << 36;
        spec->order = pick(random, 0, 1) == 0 ? MODEL_OLDEST : MODEL_NEAREST;
    }
    if (pick(random, 0, 3) == 0) {
        spec->members = (uint32_t)pick(random, 2, 5);
        spec->unit_bytes = units[pick(random, 0, 2)];
    }
    if (pick(random, 0, 3) == 0) {
        spec->stall_every_s = 0.3 + pick_seconds(random, 1);
        spec->stall_s = pick_seconds(random, 0.25);
        spec->stall_random = pick(random, 0, 1) == 0;
    }
}

/* While tracks play, and so early that what is late has come before the end: a single track that
 * waits for it meets nothing else meanwhile. */
static void pick_faults(struct model_spec *spec, uint64_t *random)
{
    uint32_t count = (uint32_t)pick(random, 0, 3);
    for (uint32_t i = 0; i < count; i++)
        spec->faults[spec->fault_count++] = (struct model_fault){
            .kind = (enum model_fault_kind)pick(random, MODEL_FAULT_ERROR, MODEL_FAULT_WRONG),
            .at_s = run_s(FILL_PERIODS) + pick_seconds(random, run_s(PLAY_PERIODS / 4)),
            .late_s = pick_seconds(random, run_s(PLAY_PERIODS / 4))};
}

static struct scene pick_scene(uint32_t drive)
{
    uint64_t random = drive;
    struct scene scene = {.drive = drive};
    pick_drive(&scene.spec, &random);
    pick_faults(&scene.spec, &random);
    scene.tracks = (uint32_t)pick(&random, 1, 12);
    scene.slots = (uint32_t)pick(&random, 2, 6);
    scene.block_bytes = 4096U << pick(&random, 0, 3);
    scene.group_files = pick(&random, 0, 1) == 0 ? 1 : 4;
    scene.options = (struct reader_options){.engine = ENGINE_MODEL,
                                            .readers = (uint32_t)pick(&random, 1, 3),
                                            .queue_depth = (uint32_t)pick(&random, 1, 40)};
    return scene;
}

static void give_content(void *user, uint32_t file, uint64_t offset_bytes, unsigned char *memory,
                         uint32_t bytes)
{
    (void)user;
    for (uint32_t i = 0; i < bytes; i++)
        memory[i] = rig_content(file, offset_bytes + i);
}

static void play(struct rig *rig, const struct readers *readers, struct outcome *outcome)
{
    /* The rings fill first, as long as the drive may take. */
    monotonic_sleep_until(monotonic_ns() +
                          (uint64_t)(run_s(FILL_PERIODS) * (double)UNITS_NS_PER_SECOND));
    mixer_start(rig->mixer);
    uint64_t began_ns = monotonic_ns();
    for (uint64_t period = 1; period <= PLAY_PERIODS; period++) {
        rig_play(rig, 1, PERIOD_FRAMES, false, &outcome->wrong_bytes);
        monotonic_sleep_until(began_ns + period * PERIOD_FRAMES * UNITS_NS_PER_SECOND / RATE_HZ);
    }
    outcome->underruns = atomic_load(&rig->mixer->underruns);
    outcome->failed = readers_failed(readers, &outcome->failure);
}

static struct outcome run(const struct scene *scene)
{
    struct outcome outcome = {0};
    struct error error = {0};
    struct rig rig;
    struct readers *readers;
    assert_int_equal(rig_init(&rig, scene->tracks, scene->slots, scene->block_bytes, false), 0);
    simulation_begin();
    struct model_drive *drive =
        model_drive_new(&(struct model_drive_options){.spec = &scene->spec,
                                                      .seed = scene->drive,
                                                      .file_bytes = 1 << 20,
                                                      .group_files = scene->group_files,
                                                      .piece_bytes = 8192,
                                                      .content = give_content});
    assert_non_null(drive);
    struct reader_options options = scene->options;
    options.drive = drive;
    if (readers_start(&readers, &options, rig.track, rig.tracks, rig.mixer, &error) != 0)
        fail_msg("drive %u: %s", scene->drive, error.text);
    play(&rig, readers, &outcome);
    readers_stop(readers, &outcome.totals);
    outcome.completed = outcome.totals.latency.count;
    outcome.published = rig_published_blocks(&rig);
    for (uint32_t i = 0; i < rig.tracks; i++)
        outcome.consumed_bytes += atomic_load(&rig.rings[i].consumed_bytes);
    outcome.wrong_bytes += rig_wrong_bytes(&rig, false);
    model_drive_free(drive);
    simulation_end();
    rig_fini(&rig);
    return outcome;
}

static uint32_t count_faults(const struct scene *scene, enum model_fault_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->spec.fault_count; i++)
        count += scene->spec.faults[i].kind == kind;
    return count;
}

static void check(const struct scene *scene, const struct outcome *outcome)
{
    uint32_t errors = count_faults(scene, MODEL_FAULT_ERROR);
    uint32_t wrong = count_faults(scene, MODEL_FAULT_WRONG);
    uint32_t drive = scene->drive;
    if (errors > 0) {
        if (!outcome->failed)
            fail_msg("drive %u: a failed read went unnoticed", drive);
        if (outcome->failure.error_number != EIO || outcome->failure.track >= scene->tracks)
            fail_msg("drive %u: reported as errno %d of track %u", drive,
                     outcome->failure.error_number, outcome->failure.track);
    } else if (outcome->failed) {
        fail_msg("drive %u: a read failed that should not have", drive);
    }
    if (wrong == 0 && outcome->wrong_bytes > 0)
        fail_msg("drive %u: %llu bytes were not what the files hold", drive,
                 (unsigned long long)outcome->wrong_bytes);
    if (wrong > 0 && errors == 0 && outcome->wrong_bytes == 0)
        fail_msg("drive %u: wrong data was not played", drive);
    /* Nothing lost, nothing twice: what was published in order is what came, but for blocks that
     * still wait for an earlier one that failed. */
    if (outcome->published > outcome->completed ||
        (errors == 0 && outcome->published != outcome->completed))
        fail_msg("drive %u: %llu blocks came, %llu are in the rings' course", drive,
                 (unsigned long long)outcome->completed, (unsigned long long)outcome->published);
    uint64_t played = (uint64_t)PLAY_PERIODS * PERIOD_FRAMES * 2 * scene->tracks;
    if (outcome->underruns == 0 && outcome->consumed_bytes != played)
        fail_msg("drive %u: no underrun, but %llu bytes of %llu were played", drive,
                 (unsigned long long)outcome->consumed_bytes, (unsigned long long)played);
    if (outcome->underruns > 0 && outcome->consumed_bytes >= played)
        fail_msg("drive %u: underruns, but all was played", drive);
    if (outcome->underruns == 0 && outcome->totals.min_slack_frames < 0)
        fail_msg("drive %u: no underrun, but a read came too late", drive);
}

static void test_random_drives_and_faults(void **state)
{
    (void)state;
    uint64_t completed = 0, underrun_drives = 0, faults = 0, failed = 0;
    for (uint32_t drive = 1; drive <= DRIVES; drive++) {
        struct scene scene = pick_scene(drive);
        struct outcome outcome = run(&scene);
        check(&scene, &outcome);
        completed += outcome.completed;
        underrun_drives += outcome.underruns > 0;
        faults += scene.spec.fault_count;
        failed += outcome.failed;
    }
    printf("%d drives: %llu blocks came, %llu faults, %llu drives failed, %llu underran\n", DRIVES,
           (unsigned long long)completed, (unsigned long long)faults, (unsigned long long)failed,
           (unsigned long long)underrun_drives);
    /* All kinds were there, or the above says little. */
    assert_true(completed > 100 * DRIVES);
    assert_true(failed > DRIVES / 10);
    assert_true(underrun_drives > DRIVES / 10 && underrun_drives < DRIVES * 9 / 10);
}

/* The same drive and seed: the same course, to the last counter. */
static void test_the_same_seed_gives_the_same_course(void **state)
{
    (void)state;
    for (uint32_t drive = 1; drive <= 50; drive++) {
        struct scene scene = pick_scene(drive);
        struct outcome one = run(&scene), other = run(&scene);
        assert_int_equal(one.completed, other.completed);
        assert_int_equal(one.underruns, other.underruns);
        assert_int_equal(one.consumed_bytes, other.consumed_bytes);
        assert_int_equal(one.totals.min_slack_frames, other.totals.min_slack_frames);
        assert_memory_equal(&one.totals.latency, &other.totals.latency, sizeof one.totals.latency);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_drives_and_faults),
        cmocka_unit_test(test_the_same_seed_gives_the_same_course),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
