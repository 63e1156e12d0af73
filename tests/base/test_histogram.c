#include "histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct histogram histogram, other;

/* A fixed sequence over all magnitudes (xorshift, Marsaglia 2003). */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> (*state & 63);
}

static void test_empty_is_zero(void **state)
{
    (void)state;
    histogram_reset(&histogram);
    assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
    assert_int_equal(histogram_quantile(&histogram, 1), 0);
}

static void test_one_value_is_every_quantile(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 63, 64, 65, 127, 128, 1000003, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        histogram_reset(&histogram);
        histogram_add(&histogram, values[i]);
        assert_true(histogram_quantile(&histogram, 0) == values[i]);
        assert_true(histogram_quantile(&histogram, 0.5) == values[i]);
        assert_true(histogram_quantile(&histogram, 1) == values[i]);
    }
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The promise of the header, against the sorted values: never below, at most 1/64 above. */
static void test_quantiles_are_within_the_promised_error(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static uint64_t values[COUNT];
    uint64_t seed = 88172645463325252u;
    histogram_reset(&histogram);
    for (int i = 0; i < COUNT; i++) {
        values[i] = next(&seed);
        histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof *values, compare);
    static const struct {
        double quantile;
        int index;
    } cases[] = {{0.5, COUNT / 2 - 1},
                 {0.9, COUNT * 9 / 10 - 1},
                 {0.99, COUNT * 99 / 100 - 1},
                 {0.999, COUNT * 999 / 1000 - 1},
                 {1, COUNT - 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t wanted = values[cases[i].index];
        uint64_t got = histogram_quantile(&histogram, cases[i].quantile);
        assert_true(got >= wanted);
        assert_true(got - wanted <= wanted / HISTOGRAM_STEPS);
    }
    assert_true(histogram_quantile(&histogram, 1) == values[COUNT - 1]);
}

static void test_merged_is_as_if_added_to_one(void **state)
{
    (void)state;
    static struct histogram both;
    uint64_t seed = 42;
    histogram_reset(&histogram);
    histogram_reset(&other);
    histogram_reset(&both);
    for (int i = 0; i < 1000; i++) {
        uint64_t value = next(&seed);
        histogram_add(i % 3 == 0 ? &histogram : &other, value);
        histogram_add(&both, value);
    }
    histogram_merge(&histogram, &other);
    assert_memory_equal(&histogram, &both, sizeof both);
    assert_int_equal(both.count, 1000);
}

static void test_reset_forgets(void **state)
{
    (void)state;
    histogram_add(&histogram, 77);
    histogram_reset(&histogram);
    histogram_reset(&other);
    histogram_add(&histogram, 5);
    histogram_add(&other, 5);
    assert_memory_equal(&histogram, &other, sizeof other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_is_zero),
        cmocka_unit_test(test_one_value_is_every_quantile),
        cmocka_unit_test(test_quantiles_are_within_the_promised_error),
        cmocka_unit_test(test_merged_is_as_if_added_to_one),
        cmocka_unit_test(test_reset_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
