#include "result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_lists_grow_and_keep_what_they_hold(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    struct result result = {0};
    for (int v = 0; v < 3; v++)
        assert_non_null(result_add_volume(&result, v == 0 ? "/a" : v == 1 ? "/b" : "/c"));
    struct result_volume *volume = &result.volumes[1];
    for (uint32_t i = 0; i < COUNT; i++) {
        struct result_cell *cell = result_add_cell(volume, 4096 + i);
        assert_non_null(cell);
        assert_int_equal(cell->sustained, 0);
        assert_null(cell->trials);
        cell->sustained = i;
    }
    struct result_cell *cell = &volume->cells[7];
    for (uint32_t i = 0; i < COUNT; i++) {
        struct result_trial *trial = result_add_trial(cell);
        assert_non_null(trial);
        assert_int_equal(trial->tracks, 0);
        trial->tracks = i;
        assert_int_equal(result_add_run(cell, 1000 + i), 0);
    }
    assert_int_equal(result.volume_count, 3);
    assert_string_equal(result.volumes[2].path, "/c");
    assert_int_equal(volume->cell_count, COUNT);
    assert_int_equal(cell->trial_count, COUNT);
    assert_int_equal(cell->run_count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(volume->cells[i].block_bytes, 4096 + i);
        assert_int_equal(volume->cells[i].sustained, i);
        assert_int_equal(cell->trials[i].tracks, i);
        assert_int_equal(cell->runs[i], 1000 + i);
    }
    result_fini(&result);
    result_fini(&result);
    static const struct result zero;
    assert_memory_equal(&result, &zero, sizeof zero);
}

static void test_a_kind_of_warning_stands_once(void **state)
{
    (void)state;
    struct result result = {0};
    struct result_cell *cell = result_add_cell(result_add_volume(&result, "/a"), 4096);
    char long_kind[100], long_text[1000];
    memset(long_kind, 'k', sizeof long_kind - 1);
    memset(long_text, 't', sizeof long_text - 1);
    long_kind[sizeof long_kind - 1] = long_text[sizeof long_text - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        result_warn(cell, "late-callbacks", "%d came late", i);
        result_warn(cell, long_kind, "%s", long_text);
        result_warn(cell, "moved", "by %d %%", 9);
    }
    assert_int_equal(cell->warning_count, 3);
    assert_string_equal(cell->warnings[0].kind, "late-callbacks");
    assert_string_equal(cell->warnings[0].text, "0 came late");
    assert_int_equal(strlen(cell->warnings[1].text), sizeof cell->warnings[1].text - 1);
    assert_string_equal(cell->warnings[2].text, "by 9 %");
    result_fini(&result);
}

/* The words of the result file. */
static void test_names(void **state)
{
    (void)state;
    static const char *const limits[LIMIT_COUNT] = {
        [LIMIT_NONE] = "unknown",
        [LIMIT_DISK_BANDWIDTH] = "disk-bandwidth",
        [LIMIT_DISK_IOPS] = "disk-iops",
        [LIMIT_CPU] = "cpu",
        [LIMIT_MEMORY] = "memory",
        [LIMIT_FILE_HANDLES] = "file-handles",
        [LIMIT_AUDIO_DEVICE] = "audio-device",
        [LIMIT_MAX_TRACKS] = "max-tracks",
    };
    for (int i = 0; i < LIMIT_COUNT; i++)
        assert_string_equal(limit_name((enum limit)i), limits[i]);
    assert_string_equal(ramp_step_name(STEP_BRACKET), "bracket");
    assert_string_equal(ramp_step_name(STEP_CLOSE_IN), "close-in");
    assert_string_equal(ramp_step_name(STEP_CONFIRM), "confirm");
    assert_string_equal(ramp_step_name(STEP_FLOOR), "floor");
    assert_string_equal(ramp_step_name(STEP_MARGIN), "margin");
}

static void test_what_a_fit_says(void **state)
{
    (void)state;
    /* 8 ms, and 64 KiB over 65.536 MB/s: 1 ms. */
    struct result_fit fit = {.position_s = 8e-3, .rate_bytes_per_second = 65.536e6};
    assert_true(fabs(result_fit_bytes_per_second(&fit, 65536) - 65536 / 9e-3) < 1e-3);
    fit.position_s = 0;
    assert_true(fabs(result_fit_bytes_per_second(&fit, 4096) - 65.536e6) < 1e-3);
    assert_true(result_fit_bytes_per_second(&(struct result_fit){0}, 65536) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_grow_and_keep_what_they_hold),
        cmocka_unit_test(test_a_kind_of_warning_stands_once),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_what_a_fit_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
