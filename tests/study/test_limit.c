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

/* What the fit keeps least. */
static double relative_errors(const struct limit_flood *floods, double position_s, double rate)
{
    double sum = 0;
    for (uint32_t i = 0; i < SIZES; i++) {
        double t = floods[i].block_bytes / floods[i].bytes_per_second;
        double error = (t - position_s - floods[i].block_bytes / rate) / t;
        sum += error * error;
    }
    return sum;
}

static void assert_least(const struct limit_flood *floods, const struct result_fit *fit)
{
    double least = relative_errors(floods, fit->position_s, fit->rate_bytes_per_second);
    for (int s = -1; s <= 1; s++) {
        for (int r = -1; r <= 1; r++) {
            double position_s = fit->position_s * (1 + s * 1e-3) + (s > 0 ? 1e-9 : 0);
            double rate = fit->rate_bytes_per_second * (1 + r * 1e-3);
            if ((s != 0 || r != 0) && position_s >= 0 &&
                (position_s > 0 || fit->position_s > 0 || r != 0))
                assert_true(relative_errors(floods, position_s, rate) > least);
        }
    }
}

/* Off the line by up to a third, in either direction. */
static void test_the_fit_has_the_least_relative_error(void **state)
{
    (void)state;
    static const double off[SIZES] = {1, 0.9, 1.1, 0.8, 1.2, 1, 0.7, 1.3, 0.95};
    struct limit_flood floods[SIZES];
    struct result_fit fit;
    make_floods(floods, 2e-3, 60e6);
    for (uint32_t i = 0; i < SIZES; i++)
        floods[i].bytes_per_second *= off[i];
    limit_fit(floods, SIZES, &fit);
    assert_true(fit.position_s > 0);
    assert_true(fabs(fit.knee_bytes - fit.position_s * fit.rate_bytes_per_second) < 1);
    assert_least(floods, &fit);
}

/* By absolute errors the large blocks would have it all their way: 30 % off at 1 MiB is more than
 * the whole of a small block's time. */
static void test_a_small_block_counts_as_much_as_a_large_one(void **state)
{
    (void)state;
    struct limit_flood floods[SIZES];
    struct result_fit fit;
    make_floods(floods, 100e-6, 200e6);
    floods[SIZES - 1].bytes_per_second *= 0.7;
    limit_fit(floods, SIZES, &fit);
    assert_true(fabs(fit.position_s / 100e-6 - 1) < 0.05);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(fabs(result_fit_bytes_per_second(&fit, floods[i].block_bytes) /
                             floods[i].bytes_per_second -
                         1) < 0.05);
}

/* Small blocks faster than their share: the line is held at zero, and is the best such line. */
static void test_the_best_line_without_a_position(void **state)
{
    (void)state;
    struct limit_flood floods[SIZES];
    struct result_fit fit;
    make_floods(floods, 0, 50e6);
    for (uint32_t i = 0; i < 3; i++)
        floods[i].bytes_per_second *= 1.5;
    limit_fit(floods, SIZES, &fit);
    assert_true(fit.position_s == 0 && fit.knee_bytes == 0);
    assert_least(floods, &fit);
}

static void test_two_sizes_are_met_exactly(void **state)
{
    (void)state;
    struct result_fit fit;
    limit_fit((struct limit_flood[]){{4096, 1e6}, {1048576, 90e6}}, 2, &fit);
    assert_true(fabs(result_fit_bytes_per_second(&fit, 4096) - 1e6) < 1);
    assert_true(fabs(result_fit_bytes_per_second(&fit, 1048576) - 90e6) < 1);
    /* One size twice is one size. */
    limit_fit((struct limit_flood[]){{6000, 1e6}, {6000, 1.3e6}}, 2, &fit);
    assert_true(fit.rate_bytes_per_second == 0);
}

/* --- cells below the fit ------------------------------------------------------------------- */

enum { CELLS = 4 };

/* A drive of 1 ms and 100 MB/s that reads by it at each size, with counts that do not differ. */
static void make_cells(struct result_volume *volume, struct result_cell cells[CELLS])
{
    *volume =
        (struct result_volume){.fit = {1e-3, 100e6, 100e3}, .cells = cells, .cell_count = CELLS};
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = (struct result_cell){
            .block_bytes = UINT32_C(16384) << 2 * i, .sustained = 100, .low = 100, .high = 100};
        cells[i].flood_bytes_per_second =
            cells[i].block_bytes / (1e-3 + cells[i].block_bytes / 100e6);
    }
}

static void test_cells_below_the_fit(void **state)
{
    (void)state;
    struct result_volume volume;
    struct result_cell cells[CELLS];
    make_cells(&volume, cells);
    cells[1].flood_bytes_per_second *= 0.96;
    cells[2].flood_bytes_per_second *= 0.94;
    cells[3].flood_bytes_per_second *= 1.5;
    limit_mark_fit(&volume);
    assert_true(cells[2].below_fit);
    cells[0].flood_bytes_per_second = 0; /* not measured */
    limit_mark_fit(&volume);
    assert_false(cells[0].below_fit || cells[1].below_fit || cells[3].below_fit);
    assert_true(cells[2].below_fit);
    assert_true(fabs(cells[0].fit_bytes_per_second - 16384 / (1e-3 + 16384 / 100e6)) < 1);
    assert_true(fabs(cells[3].fit_bytes_per_second - 1048576 / (1e-3 + 1048576 / 100e6)) < 1);
}

/* Searches from 90 to 110: 10 % up and down is what they differ by anyway. */
static void test_noise_is_not_below_the_fit(void **state)
{
    (void)state;
    struct result_volume volume;
    struct result_cell cells[CELLS];
    make_cells(&volume, cells);
    cells[0].low = cells[1].low = 90;
    cells[0].high = cells[1].high = 110;
    cells[0].flood_bytes_per_second *= 0.91;
    cells[1].flood_bytes_per_second *= 0.89;
    limit_mark_fit(&volume);
    assert_false(cells[0].below_fit);
    assert_true(cells[1].below_fit);
}

static void test_too_few_cells_or_no_fit(void **state)
{
    (void)state;
    struct result_volume volume;
    struct result_cell cells[CELLS];
    make_cells(&volume, cells);
    cells[0].flood_bytes_per_second *= 0.5;
    cells[1].flood_bytes_per_second = cells[2].flood_bytes_per_second = 0; /* not measured */
    limit_mark_fit(&volume);
    for (int i = 0; i < CELLS; i++)
        assert_false(cells[i].below_fit);
    assert_true(cells[0].fit_bytes_per_second > 0);
    make_cells(&volume, cells);
    cells[0].flood_bytes_per_second *= 0.5;
    cells[0].below_fit = true;
    cells[0].fit_bytes_per_second = 5;
    volume.fit = (struct result_fit){0};
    limit_mark_fit(&volume);
    assert_false(cells[0].below_fit);
    assert_true(cells[0].fit_bytes_per_second == 0);
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
        cmocka_unit_test(test_the_fit_has_the_least_relative_error),
        cmocka_unit_test(test_a_small_block_counts_as_much_as_a_large_one),
        cmocka_unit_test(test_the_best_line_without_a_position),
        cmocka_unit_test(test_two_sizes_are_met_exactly),
        cmocka_unit_test(test_cells_below_the_fit),
        cmocka_unit_test(test_noise_is_not_below_the_fit),
        cmocka_unit_test(test_too_few_cells_or_no_fit),
        cmocka_unit_test(test_the_knee_parts_the_drives_limits),
        cmocka_unit_test(test_the_order_of_sizes_does_not_matter),
        cmocka_unit_test(test_a_drive_of_two_limits),
        cmocka_unit_test(test_one_size_alone_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
