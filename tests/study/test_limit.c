#include "study/limit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct limit_evidence idle(void)
{
    return (struct limit_evidence){.process_percent = 20,
                                   .callback_percent = 5,
                                   .reader_percent = 10,
                                   .late_share = 0,
                                   .cores = 4};
}

static void test_an_idle_machine_leaves_the_drive(void **state)
{
    (void)state;
    struct limit_evidence evidence = idle();
    assert_int_equal(limit_of_machine(&evidence), LIMIT_NONE);
    evidence.process_percent = 330; /* of 400: there is some left */
    assert_int_equal(limit_of_machine(&evidence), LIMIT_NONE);
    evidence.late_share = 0.3; /* weather: it was not the callback's own work */
    assert_false(limit_callbacks_fail(&evidence));
    assert_int_equal(limit_of_machine(&evidence), LIMIT_NONE);
}

static void test_a_full_thread_or_machine_is_the_cpu(void **state)
{
    (void)state;
    struct limit_evidence evidence = idle();
    evidence.reader_percent = 95;
    assert_int_equal(limit_of_machine(&evidence), LIMIT_CPU);
    evidence = idle();
    evidence.callback_percent = 95;
    assert_int_equal(limit_of_machine(&evidence), LIMIT_CPU);
    evidence = idle();
    evidence.process_percent = 345;
    assert_int_equal(limit_of_machine(&evidence), LIMIT_CPU);
    evidence.cores = 8;
    assert_int_equal(limit_of_machine(&evidence), LIMIT_NONE);
}

static void test_late_callbacks_are_the_cpu_or_the_device(void **state)
{
    (void)state;
    struct limit_evidence evidence = idle();
    evidence.late_share = 0.6; /* more often than not, with little to do */
    assert_true(limit_callbacks_fail(&evidence));
    assert_int_equal(limit_of_machine(&evidence), LIMIT_AUDIO_DEVICE);
    evidence.process_percent = 390; /* nothing was left for the device */
    assert_int_equal(limit_of_machine(&evidence), LIMIT_CPU);
}

/* A callback that works hard may be late hardly ever. */
static void test_late_callbacks_that_work_hard_are_the_cpu(void **state)
{
    (void)state;
    struct limit_evidence evidence = idle();
    evidence.callback_percent = 70;
    evidence.late_share = 0.04;
    assert_false(limit_callbacks_fail(&evidence));
    assert_int_equal(limit_of_machine(&evidence), LIMIT_NONE);
    evidence.late_share = 0.06;
    assert_true(limit_callbacks_fail(&evidence));
    assert_int_equal(limit_of_machine(&evidence), LIMIT_CPU);
}

/* --- the fit ------------------------------------------------------------------------------ */

enum { SIZES = 9 };

/* A drive as the formula has it, from 4 KiB to 1 MiB. */
static void make_floods(struct limit_flood *floods, double position_s, double rate)
{
    for (uint32_t i = 0; i < SIZES; i++) {
        floods[i].block_bytes = UINT32_C(4096) << i;
        floods[i].bytes_per_second =
            floods[i].block_bytes / (position_s + floods[i].block_bytes / rate);
    }
}

static void test_the_fit_finds_what_the_drive_was_made_of(void **state)
{
    (void)state;
    static const double positions[] = {8e-3, 1e-4, 2e-6}, rates[] = {40e6, 200e6, 7e9};
    for (int i = 0; i < 3; i++) {
        struct limit_flood floods[SIZES];
        struct result_fit fit;
        make_floods(floods, positions[i], rates[i]);
        limit_fit(floods, SIZES, &fit);
        assert_true(fabs(fit.position_s / positions[i] - 1) < 1e-6);
        assert_true(fabs(fit.rate_bytes_per_second / rates[i] - 1) < 1e-6);
        assert_true(fabs(fit.knee_bytes / (positions[i] * rates[i]) - 1) < 1e-6);
    }
}

static void test_sizes_that_were_not_measured_do_not_count(void **state)
{
    (void)state;
    struct limit_flood floods[SIZES];
    struct result_fit fit;
    make_floods(floods, 1e-3, 1e8);
    floods[0].bytes_per_second = floods[4].bytes_per_second = floods[8].bytes_per_second = 0;
    limit_fit(floods, SIZES, &fit);
    assert_true(fabs(fit.position_s - 1e-3) < 1e-9);
    assert_true(fabs(fit.rate_bytes_per_second - 1e8) < 1);
}

static void test_no_line_no_fit(void **state)
{
    (void)state;
    struct result_fit fit = {1, 2, 3};
    limit_fit(NULL, 0, &fit);
    assert_true(fit.rate_bytes_per_second == 0 && fit.position_s == 0 && fit.knee_bytes == 0);
    limit_fit((struct limit_flood[]){{4096, 1e6}}, 1, &fit);
    assert_true(fit.rate_bytes_per_second == 0);
    /* Twice the block in half the time. */
    limit_fit((struct limit_flood[]){{4096, 1e6}, {8192, 4e6}}, 2, &fit);
    assert_true(fit.rate_bytes_per_second == 0);
}

/* Small blocks faster per byte: the line meets time zero right of the axis. */
static void test_a_negative_position_is_none(void **state)
{
    (void)state;
    struct result_fit fit;
    limit_fit((struct limit_flood[]){{4096, 2e6}, {8192, 1.5e6}}, 2, &fit);
    assert_true(fit.position_s == 0 && fit.knee_bytes == 0);
    assert_true(fit.rate_bytes_per_second > 0);
}

/* --- reads per second or bandwidth -------------------------------------------------------- */

static void test_the_knee_parts_the_drives_limits(void **state)
{
    (void)state;
    struct limit_flood floods[SIZES];
    make_floods(floods, 1e-3, 100e6); /* the knee lies at 100,000 bytes */
    for (uint32_t i = 0; i < SIZES; i++)
        assert_int_equal(limit_of_drive(floods[i].block_bytes, floods, SIZES),
                         floods[i].block_bytes < 100000 ? LIMIT_DISK_IOPS : LIMIT_DISK_BANDWIDTH);
}

/* The neighbour is found whatever order the sizes were given in. */
static void test_the_order_of_sizes_does_not_matter(void **state)
{
    (void)state;
    struct limit_flood floods[SIZES], turned[SIZES];
    make_floods(floods, 1e-3, 100e6);
    floods[7].bytes_per_second *= 0.7; /* no longer one line */
    for (uint32_t i = 0; i < SIZES; i++)
        turned[SIZES - 1 - i] = floods[i];
    for (uint32_t i = 0; i < SIZES; i++)
        assert_int_equal(limit_of_drive(floods[i].block_bytes, floods, SIZES),
                         limit_of_drive(floods[i].block_bytes, turned, SIZES));
}

/* A drive held to 600 reads a second up to 64 KiB, and to 39.3 MB/s above. */
static void test_a_drive_of_two_limits(void **state)
{
    (void)state;
    static const struct limit_flood floods[] = {{4096, 600 * 4096.0},    {16384, 600 * 16384.0},
                                                {65536, 600 * 65536.0},  {131072, 600 * 65536.0},
                                                {262144, 600 * 65536.0}, {1048576, 600 * 65536.0}};
    assert_int_equal(limit_of_drive(4096, floods, 6), LIMIT_DISK_IOPS);
    assert_int_equal(limit_of_drive(16384, floods, 6), LIMIT_DISK_IOPS);
    assert_int_equal(limit_of_drive(131072, floods, 6), LIMIT_DISK_BANDWIDTH);
    assert_int_equal(limit_of_drive(262144, floods, 6), LIMIT_DISK_BANDWIDTH);
    assert_int_equal(limit_of_drive(1048576, floods, 6), LIMIT_DISK_BANDWIDTH);
}

static void test_one_size_alone_says_nothing(void **state)
{
    (void)state;
    static const struct limit_flood floods[] = {{4096, 1e6}, {8192, 0}};
    assert_int_equal(limit_of_drive(4096, floods, 2), LIMIT_NONE);
    assert_int_equal(limit_of_drive(8192, floods, 2), LIMIT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_idle_machine_leaves_the_drive),
        cmocka_unit_test(test_a_full_thread_or_machine_is_the_cpu),
        cmocka_unit_test(test_late_callbacks_are_the_cpu_or_the_device),
        cmocka_unit_test(test_late_callbacks_that_work_hard_are_the_cpu),
        cmocka_unit_test(test_the_fit_finds_what_the_drive_was_made_of),
        cmocka_unit_test(test_sizes_that_were_not_measured_do_not_count),
        cmocka_unit_test(test_no_line_no_fit),
        cmocka_unit_test(test_a_negative_position_is_none),
        cmocka_unit_test(test_the_knee_parts_the_drives_limits),
        cmocka_unit_test(test_the_order_of_sizes_does_not_matter),
        cmocka_unit_test(test_a_drive_of_two_limits),
        cmocka_unit_test(test_one_size_alone_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
