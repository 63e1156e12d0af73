#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_median_is_the_middle_the_lower_of_two(void **state)
{
    (void)state;
    uint64_t odd[] = {30, 10, 20};
    assert_int_equal(stats_median(odd, 3), 20);
    uint64_t even[] = {40, 10, 30, 20};
    assert_int_equal(stats_median(even, 4), 20);
    uint64_t one[] = {7};
    assert_int_equal(stats_median(one, 1), 7);
    assert_int_equal(stats_median(NULL, 0), 0);
}

static void test_median_compares_large_values_without_overflow(void **state)
{
    (void)state;
    uint64_t values[] = {UINT64_MAX, 0, UINT64_MAX - 1};
    assert_true(stats_median(values, 3) == UINT64_MAX - 1);
}

static void test_slope_of_a_line_is_exact(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3}, y[] = {5, 3, 1, -1};
    assert_true(fabs(stats_slope(x, y, 4) + 2) < 1e-12);
}

/* By hand: the means are 2 and 3, sum of (x-2)(y-3) = 2 + 0 + 3, sum of (x-2)^2 = 2. */
static void test_slope_is_least_squares(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3}, y[] = {1, 2, 6};
    assert_true(fabs(stats_slope(x, y, 3) - 2.5) < 1e-12);
}

/* Times in nanoseconds since boot are large and close together. */
static void test_slope_survives_a_large_offset(void **state)
{
    (void)state;
    double x[100], y[100];
    for (int i = 0; i < 100; i++) {
        x[i] = 1e6 + i * 0.01;
        y[i] = 1e9 + 123 * (x[i] - 1e6);
    }
    assert_true(fabs(stats_slope(x, y, 100) - 123) < 1e-3);
}

static void test_slope_without_a_line_is_zero(void **state)
{
    (void)state;
    const double x[] = {4, 4, 4}, y[] = {1, 2, 3};
    assert_true(stats_slope(x, y, 3) == 0);
    assert_true(stats_slope(x, y, 1) == 0);
    assert_true(stats_slope(x, y, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_is_the_middle_the_lower_of_two),
        cmocka_unit_test(test_median_compares_large_values_without_overflow),
        cmocka_unit_test(test_slope_of_a_line_is_exact),
        cmocka_unit_test(test_slope_is_least_squares),
        cmocka_unit_test(test_slope_survives_a_large_offset),
        cmocka_unit_test(test_slope_without_a_line_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
