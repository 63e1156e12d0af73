#include "reader.h"

#include "fakes/reader_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fakes/skip.h"

/* Readers with their real engines on real files: what arrives, and how much. */

enum { BLOCK_BYTES = 4096, TRACKS = 7, SLOTS = 4, PERIOD_FRAMES = 256 };

struct setting {
    enum engine_kind engine;
    uint32_t readers, queue_depth;
};

static const struct setting settings[] = {
    {ENGINE_THREADS, 1, 1}, {ENGINE_THREADS, 3, 1}, {ENGINE_URING, 1, 1}, {ENGINE_URING, 1, 2},
    {ENGINE_URING, 1, 16},  {ENGINE_URING, 3, 1},   {ENGINE_URING, 3, 8},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static bool without_uring(void)
{
    struct error error = {0};
    return engine_probe(ENGINE_URING, &error) != 0;
}

static struct readers *start(struct rig *rig, const struct setting *setting, bool flat_out)
{
    struct readers *readers = NULL;
    struct error error = {0};
    struct reader_options options = {.engine = setting->engine,
                                     .readers = setting->readers,
                                     .queue_depth = setting->queue_depth};
    if (readers_start(&readers, &options, rig->track, rig->tracks, flat_out ? NULL : rig->mixer,
                      &error) != 0)
        fail_msg("%s", error.text);
    return readers;
}

static void rig_must_init(struct rig *rig)
{
    if (rig_init(rig, TRACKS, SLOTS, BLOCK_BYTES, true) != 0) {
        rig_fini(rig);
        fail_msg("no test files in /tmp");
    }
}

static void check_flat_out(const struct setting *setting)
{
    enum { BLOCKS = 600 };
    struct rig rig;
    struct reader_failure failure;
    struct reader_totals totals;
    rig_must_init(&rig);
    struct readers *readers = start(&rig, setting, true);
    bool in_time = rig_wait_completed(readers, BLOCKS);
    bool failed = readers_failed(readers, &failure);
    uint64_t completed = readers_completed_blocks(readers);
    readers_stop(readers, &totals);
    uint64_t published = rig_published_blocks(&rig), wrong = rig_wrong_bytes(&rig, true);
    uint64_t least = UINT64_MAX;
    for (uint32_t track = 0; track < TRACKS; track++) {
        assert_int_equal(rig.track[track].next_block, rig.track[track].published_blocks);
        if (rig.track[track].published_blocks < least)
            least = rig.track[track].published_blocks;
    }
    rig_fini(&rig);
    assert_true(in_time && !failed);
    assert_true(completed >= BLOCKS);
    assert_true(published >= completed);
    assert_int_equal(totals.latency.count, published);
    assert_true(totals.elapsed_ns > 0 && totals.busiest_cpu_ns > 0);
    assert_true(totals.min_slack_frames == INT64_MAX); /* no clock, no slack */
    assert_int_equal(wrong, 0);
    if (setting->readers == 1) /* else a reader may be done before another begins */
        assert_true(least > 0);
}

static void check_playing(const struct setting *setting)
{
    enum { PERIODS = 80 };
    const uint64_t played = (uint64_t)PERIODS * PERIOD_FRAMES;
    struct rig rig;
    struct reader_failure failure;
    struct reader_totals totals;
    uint64_t wrong = 0;
    rig_must_init(&rig);
    struct readers *readers = start(&rig, setting, false);
    mixer_start(rig.mixer);
    bool in_time = rig_play(&rig, PERIODS, PERIOD_FRAMES, true, &wrong);
    bool failed = readers_failed(readers, &failure);
    readers_stop(readers, &totals);
    uint64_t published = rig_published_blocks(&rig);
    uint64_t frames = rig.mixer->frames, underruns = rig.mixer->underruns;
    uint64_t released = rig.mixer->released_blocks;
    wrong += rig_wrong_bytes(&rig, false);
    rig_fini(&rig);
    assert_true(in_time && !failed);
    assert_int_equal(wrong, 0);
    assert_int_equal(frames, played);
    assert_int_equal(underruns, 0);
    assert_int_equal(released, TRACKS * (played * 2 / BLOCK_BYTES));
    assert_true(published >= released && published <= released + TRACKS * SLOTS);
    assert_int_equal(totals.latency.count, published);
    assert_true(totals.min_slack_frames < SLOTS * BLOCK_BYTES / 2);
}

static void each_setting(void (*check)(const struct setting *setting))
{
    bool skipped = false, no_uring = without_uring();
    for (uint32_t i = 0; i < SETTINGS; i++) {
        if (settings[i].engine == ENGINE_URING && no_uring)
            skipped = true;
        else
            check(&settings[i]);
    }
    if (skipped)
        SKIP("no io_uring here: only the threads engine was tested");
}

static void test_flat_out_every_block_arrives(void **state)
{
    (void)state;
    each_setting(check_flat_out);
}

static void test_playing_every_byte_arrives_in_order(void **state)
{
    (void)state;
    each_setting(check_playing);
}

/* A callback that takes far more than there is: the rings run dry, and yet the stream goes on
 * where it stopped, complete. */
static void test_after_underruns_the_stream_goes_on(void **state)
{
    (void)state;
    struct rig rig;
    struct reader_failure failure;
    uint64_t wrong = 0;
    rig_must_init(&rig);
    struct readers *readers = start(&rig, &settings[0], false);
    mixer_start(rig.mixer);
    bool rushed = rig_play(&rig, 2000, PERIOD_FRAMES, false, &wrong);
    uint64_t underruns = rig.mixer->underruns, taken_before = rig.mixer->released_blocks;
    bool recovered = rig_play(&rig, 60, PERIOD_FRAMES, true, &wrong);
    bool failed = readers_failed(readers, &failure);
    uint64_t later = rig.mixer->underruns - underruns;
    uint64_t taken = rig.mixer->released_blocks - taken_before;
    readers_stop(readers, NULL);
    wrong += rig_wrong_bytes(&rig, false);
    rig_fini(&rig);
    assert_true(rushed && recovered && !failed);
    assert_true(underruns > 0);
    assert_int_equal(later, 0);
    assert_true(taken >= TRACKS * (60 * PERIOD_FRAMES * 2 / BLOCK_BYTES));
    assert_int_equal(wrong, 0);
}

/* --- reads that fail ---------------------------------------------------------------------- */

static void check_failure(const struct setting *setting, uint64_t bytes, int flags,
                          uint64_t offset_bytes, int error_number)
{
    enum { BAD = 4 };
    struct rig rig;
    struct reader_failure failure = {0};
    rig_must_init(&rig);
    int replaced = rig_replace_file(&rig, BAD, bytes, flags);
    struct readers *readers = start(&rig, setting, true);
    bool seen = rig_wait_failed(readers, &failure);
    readers_stop(readers, NULL);
    uint64_t wrong = rig_wrong_bytes(&rig, true);
    rig_fini(&rig);
    assert_int_equal(replaced, 0);
    assert_true(seen);
    assert_int_equal(failure.track, BAD);
    assert_int_equal(failure.offset_bytes, offset_bytes);
    assert_int_equal(failure.error_number, error_number);
    assert_int_equal(wrong, 0); /* what was published before is right */
}

/* Track 4 starts at block 20 % 13 = 7 of its region: the end of the file is 100 bytes into block
 * 9. A short read comes first, then nothing. */
static void check_truncated(const struct setting *setting)
{
    if (setting->queue_depth > 1)
        return; /* several blocks beyond the end are under way: any may come first */
    uint64_t end = RIG_REGION_OFFSET_BYTES + 9 * BLOCK_BYTES + 100;
    check_failure(setting, end, O_RDONLY, end, 0);
}

static void check_unreadable(const struct setting *setting)
{
    if (setting->queue_depth > 1)
        return;
    uint64_t first = RIG_REGION_OFFSET_BYTES + 7 * BLOCK_BYTES;
    check_failure(setting, first, O_WRONLY, first, EBADF);
}

static void test_a_file_that_ends_early_is_reported(void **state)
{
    (void)state;
    each_setting(check_truncated);
}

static void test_a_file_that_cannot_be_read_is_reported(void **state)
{
    (void)state;
    each_setting(check_unreadable);
}

/* --- starting and stopping ---------------------------------------------------------------- */

/* At whatever moment: nothing under way is left behind, and no memory is written afterwards. */
static void check_stop(const struct setting *setting)
{
    for (uint64_t blocks = 0; blocks < 40; blocks++) {
        struct rig rig;
        rig_must_init(&rig);
        struct readers *readers = start(&rig, setting, true);
        bool in_time = rig_wait_completed(readers, blocks);
        readers_stop(readers, NULL);
        uint64_t wrong = rig_wrong_bytes(&rig, true);
        rig_fini(&rig);
        assert_true(in_time);
        assert_int_equal(wrong, 0);
    }
}

static void test_stopping_with_reads_under_way(void **state)
{
    (void)state;
    each_setting(check_stop);
}

static void test_more_readers_than_tracks(void **state)
{
    (void)state;
    check_flat_out(&(struct setting){ENGINE_THREADS, 50, 1});
}

static void test_engines_have_names(void **state)
{
    (void)state;
    struct error error = {0};
    assert_string_equal(engine_kind_name(ENGINE_URING), "uring");
    assert_string_equal(engine_kind_name(ENGINE_THREADS), "threads");
    assert_int_equal(engine_probe(ENGINE_THREADS, &error), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_out_every_block_arrives),
        cmocka_unit_test(test_playing_every_byte_arrives_in_order),
        cmocka_unit_test(test_after_underruns_the_stream_goes_on),
        cmocka_unit_test(test_a_file_that_ends_early_is_reported),
        cmocka_unit_test(test_a_file_that_cannot_be_read_is_reported),
        cmocka_unit_test(test_stopping_with_reads_under_way),
        cmocka_unit_test(test_more_readers_than_tracks),
        cmocka_unit_test(test_engines_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
