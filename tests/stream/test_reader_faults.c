#include "fakes/engine_scripted.h"
#include "fakes/reader_rig.h"
#include "stream/reader_loop.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A reader whose engine does what a drive rarely does, at each read in turn. */

enum { TRACKS = 8, SLOTS = 4, BLOCK_BYTES = 512, DEPTH = 5, BLOCKS = 60, PERIOD_FRAMES = 100 };

static const struct engine_operations *const engines[] = {&engine_scripted,
                                                          &engine_scripted_at_once};

static struct readers *start(struct rig *rig, const struct engine_operations *operations,
                             const struct engine_script *script, const struct mixer *mixer)
{
    struct readers *readers = NULL;
    struct error error = {0};
    struct reader_options options = {.readers = 1, .queue_depth = DEPTH};
    engine_script = *script;
    if (readers_start_with(&readers, operations, &options, rig->track, rig->tracks, mixer,
                           &error) != 0)
        fail_msg("%s", error.text);
    return readers;
}

/* Flat out under a script that a reader has to get over. */
static void survive(const struct engine_operations *operations, const struct engine_script *script,
                    uint64_t least_faults)
{
    struct rig rig;
    struct reader_failure failure;
    struct reader_totals totals;
    assert_int_equal(rig_init(&rig, TRACKS, SLOTS, BLOCK_BYTES, false), 0);
    struct readers *readers = start(&rig, operations, script, NULL);
    bool in_time = rig_wait_completed(readers, BLOCKS);
    bool failed = readers_failed(readers, &failure);
    readers_stop(readers, &totals);
    uint64_t published = rig_published_blocks(&rig), wrong = rig_wrong_bytes(&rig, true);
    rig_fini(&rig);
    assert_true(in_time && !failed);
    assert_true(published >= BLOCKS);
    assert_int_equal(totals.latency.count, published); /* a block counts once, however it came */
    assert_int_equal(wrong, 0);
    assert_true(engine_script.faults >= least_faults);
    assert_int_equal(engine_script.opened, 1);
    assert_int_equal(engine_script.closed, 1);
    assert_int_equal(engine_script.closed_under_way, 0);
    if (script->fault == SCRIPT_NONE)
        assert_int_equal(engine_script.taken, published);
}

static void survive_everywhere(enum script_fault fault, int32_t result)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct engine_script script = {.fault = fault, .fault_result = result};
        if (fault == SCRIPT_BUSY && engines[i]->reap == NULL)
            continue; /* who reads on the spot is never busy */
        for (script.fault_at = 0; script.fault_at < BLOCKS; script.fault_at++)
            survive(engines[i], &script, 1);
        for (script.fault_every = 2; script.fault_every < 5; script.fault_every++) {
            script.fault_at = 0;
            survive(engines[i], &script, BLOCKS / 5);
        }
    }
}

static void test_without_faults(void **state)
{
    (void)state;
    survive(&engine_scripted, &(struct engine_script){0}, 0);
    survive(&engine_scripted_at_once, &(struct engine_script){0}, 0);
    assert_int_equal(engine_script.most_under_way, 0);
}

static void test_the_queue_is_kept_full_and_not_overfull(void **state)
{
    (void)state;
    survive(&engine_scripted, &(struct engine_script){0}, 0);
    assert_int_equal(engine_script.most_under_way, DEPTH);
}

static void test_completions_in_reverse(void **state)
{
    (void)state;
    survive(&engine_scripted, &(struct engine_script){.newest_first = true}, 0);
}

static void test_short_reads_are_resumed(void **state)
{
    (void)state;
    survive_everywhere(SCRIPT_SHORT, 0);
}

/* Half, a quarter, an eighth ... of the same block. */
static void test_reads_that_are_always_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        survive(engines[i], &(struct engine_script){.fault = SCRIPT_SHORT, .fault_every = 1},
                BLOCKS);
}

static void test_a_busy_engine_is_asked_again(void **state)
{
    (void)state;
    survive_everywhere(SCRIPT_BUSY, 0);
}

static void test_interrupted_reads_are_repeated(void **state)
{
    (void)state;
    survive_everywhere(SCRIPT_RESULT, -EINTR);
}

static void test_reads_to_be_tried_again_are(void **state)
{
    (void)state;
    survive_everywhere(SCRIPT_RESULT, -EAGAIN);
}

/* --- errors at the n-th read, for every n -------------------------------------------------- */

static void fail_at(const struct engine_operations *operations, uint64_t number, int32_t result)
{
    struct rig rig;
    struct reader_failure failure = {0};
    struct reader_totals totals;
    struct engine_script script = {
        .fault = SCRIPT_RESULT, .fault_result = result, .fault_at = number};
    assert_int_equal(rig_init(&rig, TRACKS, SLOTS, BLOCK_BYTES, false), 0);
    struct readers *readers = start(&rig, operations, &script, NULL);
    bool seen = rig_wait_failed(readers, &failure);
    readers_stop(readers, &totals);
    uint64_t wrong = rig_wrong_bytes(&rig, true), published = rig_published_blocks(&rig);
    uint64_t submitted = 0;
    for (uint32_t track = 0; track < TRACKS; track++)
        submitted += rig.track[track].next_block;
    rig_fini(&rig);
    assert_true(seen);
    assert_int_equal(failure.track, engine_script.fault_track);
    assert_int_equal(failure.offset_bytes, engine_script.fault_offset_bytes);
    assert_int_equal(failure.error_number, -result);
    assert_int_equal(wrong, 0);
    assert_int_equal(engine_script.closed_under_way, 0);
    /* All but the bad one came home, and nothing was asked for after it was known. */
    assert_int_equal(totals.latency.count, submitted - 1);
    assert_true(published < submitted);
    assert_true(engine_script.taken_after_fault <= (operations->reap == NULL ? 0 : DEPTH));
}

static void fail_everywhere(int32_t result)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        for (uint64_t number = 0; number < BLOCKS; number++)
            fail_at(engines[i], number, result);
    }
}

static void test_an_error_at_every_read(void **state)
{
    (void)state;
    fail_everywhere(-EIO);
}

static void test_the_end_of_the_file_at_every_read(void **state)
{
    (void)state;
    fail_everywhere(0);
}

/* Many at once: one is kept, whole. */
static void test_when_all_reads_fail_one_is_reported(void **state)
{
    (void)state;
    struct rig rig;
    struct reader_failure failure = {0}, again = {0};
    struct engine_script script = {
        .fault = SCRIPT_RESULT, .fault_result = -ENODEV, .fault_every = 1};
    assert_int_equal(rig_init(&rig, TRACKS, SLOTS, BLOCK_BYTES, false), 0);
    struct readers *readers = start(&rig, &engine_scripted, &script, NULL);
    bool seen = rig_wait_failed(readers, &failure);
    readers_failed(readers, &again);
    readers_stop(readers, NULL);
    uint64_t first = RIG_REGION_OFFSET_BYTES + rig.track[0].start_block * BLOCK_BYTES;
    rig_fini(&rig);
    assert_true(seen);
    assert_int_equal(failure.track, 0);
    assert_int_equal(failure.offset_bytes, first);
    assert_int_equal(failure.error_number, ENODEV);
    assert_memory_equal(&failure, &again, sizeof failure);
    assert_true(engine_script.taken <= DEPTH);
}

/* --- with a callback ---------------------------------------------------------------------- */

/* All of it together, while the stream is played. */
static void test_faults_while_playing(void **state)
{
    (void)state;
    static const struct engine_script scripts[] = {
        {.newest_first = true},
        {.fault = SCRIPT_SHORT, .fault_every = 3, .newest_first = true},
        {.fault = SCRIPT_BUSY, .fault_every = 2},
        {.fault = SCRIPT_RESULT, .fault_result = -EAGAIN, .fault_every = 2},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct rig rig;
        uint64_t wrong = 0;
        assert_int_equal(rig_init(&rig, TRACKS, SLOTS, BLOCK_BYTES, false), 0);
        struct readers *readers = start(&rig, &engine_scripted, &scripts[i], rig.mixer);
        mixer_start(rig.mixer);
        bool in_time = rig_play(&rig, 100, PERIOD_FRAMES, true, &wrong);
        readers_stop(readers, NULL);
        uint64_t underruns = rig.mixer->underruns, released = rig.mixer->released_blocks;
        wrong += rig_wrong_bytes(&rig, false);
        rig_fini(&rig);
        assert_true(in_time);
        assert_int_equal(wrong, 0);
        assert_int_equal(underruns, 0);
        assert_int_equal(released, TRACKS * (100 * PERIOD_FRAMES * 2 / BLOCK_BYTES));
    }
}

static void test_an_engine_that_does_not_open(void **state)
{
    (void)state;
    struct rig rig;
    struct readers *readers = NULL;
    struct error error = {0};
    struct reader_options options = {.readers = 1, .queue_depth = 1000};
    engine_script = (struct engine_script){0};
    assert_int_equal(rig_init(&rig, TRACKS, SLOTS, BLOCK_BYTES, false), 0);
    int result = readers_start_with(&readers, &engine_scripted, &options, rig.track, rig.tracks,
                                    NULL, &error);
    rig_fini(&rig);
    assert_int_equal(result, -1);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_null(readers);
    assert_int_equal(engine_script.closed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_faults),
        cmocka_unit_test(test_the_queue_is_kept_full_and_not_overfull),
        cmocka_unit_test(test_completions_in_reverse),
        cmocka_unit_test(test_short_reads_are_resumed),
        cmocka_unit_test(test_reads_that_are_always_short),
        cmocka_unit_test(test_a_busy_engine_is_asked_again),
        cmocka_unit_test(test_interrupted_reads_are_repeated),
        cmocka_unit_test(test_reads_to_be_tried_again_are),
        cmocka_unit_test(test_an_error_at_every_read),
        cmocka_unit_test(test_the_end_of_the_file_at_every_read),
        cmocka_unit_test(test_when_all_reads_fail_one_is_reported),
        cmocka_unit_test(test_faults_while_playing),
        cmocka_unit_test(test_an_engine_that_does_not_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
