#include "random.h"
#include "study/dispersion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_a_drive_like_a_clock_has_none(void **state)
{
    (void)state;
    struct dispersion dispersion;
    dispersion_init(&dispersion, 0.1, 5, 1000);
    for (uint64_t i = 1; i <= 20; i++)
        dispersion_look(&dispersion, 5 + 0.1001 * (double)i, 1000 + 50 * i);
    assert_int_equal(dispersion.stretches, 20);
    assert_true(fabs(dispersion_blocks(&dispersion)) < 0.001);
}

/* Blocks that come by pure chance, each in one of many moments: 1 block. */
static void test_pure_chance_is_one(void **state)
{
    (void)state;
    struct dispersion dispersion;
    uint64_t random = 7, blocks = 0;
    dispersion_init(&dispersion, 1, 0, 0);
    for (uint32_t moment = 1; moment <= 400000; moment++) {
        blocks += random_unit(&random) < 0.02;
        dispersion_look(&dispersion, moment * 0.001, blocks);
    }
    assert_true(dispersion.stretches >= 399);
    double index = dispersion_blocks(&dispersion);
    assert_true(index > 0.8 && index < 1.2);
}

/* By hand: 10, 20, 30 blocks; variance 100, mean 20. */
static void test_variance_over_mean(void **state)
{
    (void)state;
    struct dispersion dispersion;
    dispersion_init(&dispersion, 1, 0, 0);
    dispersion_look(&dispersion, 0.5, 7); /* not yet */
    dispersion_look(&dispersion, 1, 10);
    assert_true(dispersion_blocks(&dispersion) == 0); /* one says nothing */
    dispersion_look(&dispersion, 2, 30);
    dispersion_look(&dispersion, 3, 60);
    assert_true(fabs(dispersion_blocks(&dispersion) - 5) < 1e-9);
}

/* A look that comes late ends a longer stretch, which counts at its own speed. */
static void test_late_looks(void **state)
{
    (void)state;
    struct dispersion dispersion;
    dispersion_init(&dispersion, 1, 0, 0);
    dispersion_look(&dispersion, 1, 10);
    dispersion_look(&dispersion, 3, 30);
    dispersion_look(&dispersion, 4.5, 45);
    assert_int_equal(dispersion.stretches, 3);
    assert_true(fabs(dispersion_blocks(&dispersion)) < 1e-9);
}

static void test_nothing_came(void **state)
{
    (void)state;
    struct dispersion dispersion;
    dispersion_init(&dispersion, 1, 0, 0);
    dispersion_look(&dispersion, 1, 0);
    dispersion_look(&dispersion, 2, 0);
    assert_true(dispersion_blocks(&dispersion) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drive_like_a_clock_has_none),
        cmocka_unit_test(test_pure_chance_is_one),
        cmocka_unit_test(test_variance_over_mean),
        cmocka_unit_test(test_late_looks),
        cmocka_unit_test(test_nothing_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
