#include "plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Names that the command line, the result and the help share. */

static const char *const bad_names[] = {"",        " ",          "scatter",    "scattereds",
                                        "Aligned", "aligned ",   " staggered", "sequential,",
                                        "inter",   "INTERLEAVED"};

static void test_starts_have_the_names_that_are_documented(void **state)
{
    (void)state;
    assert_int_equal(PLAN_START_COUNT, 3);
    assert_string_equal(plan_start_name(PLAN_START_SCATTERED), "scattered");
    assert_string_equal(plan_start_name(PLAN_START_ALIGNED), "aligned");
    assert_string_equal(plan_start_name(PLAN_START_STAGGERED), "staggered");
}

static void test_layouts_have_the_names_that_are_documented(void **state)
{
    (void)state;
    assert_int_equal(PLAN_LAYOUT_COUNT, 2);
    assert_string_equal(plan_layout_name(PLAN_LAYOUT_SEQUENTIAL), "sequential");
    assert_string_equal(plan_layout_name(PLAN_LAYOUT_INTERLEAVED), "interleaved");
}

/* A plan that is all zeros, as tests and the options' defaults begin with, is the documented one.
 */
static void test_nothing_said_is_scattered_and_sequential(void **state)
{
    (void)state;
    const struct plan plan = {0};
    assert_string_equal(plan_start_name(plan.start), "scattered");
    assert_string_equal(plan_layout_name(plan.layout), "sequential");
}

static void test_every_start_is_read_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < PLAN_START_COUNT; i++) {
        enum plan_start start = PLAN_START_COUNT;
        assert_int_equal(plan_start_parse(plan_start_name((enum plan_start)i), &start), 0);
        assert_int_equal(start, i);
    }
}

static void test_every_layout_is_read_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < PLAN_LAYOUT_COUNT; i++) {
        enum plan_layout layout = PLAN_LAYOUT_COUNT;
        assert_int_equal(plan_layout_parse(plan_layout_name((enum plan_layout)i), &layout), 0);
        assert_int_equal(layout, i);
    }
}

/* The other option's names are none of one's own. */
static void test_other_names_are_refused_and_change_nothing(void **state)
{
    (void)state;
    enum plan_start start = PLAN_START_STAGGERED;
    enum plan_layout layout = PLAN_LAYOUT_INTERLEAVED;
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++) {
        assert_int_equal(plan_start_parse(bad_names[i], &start), -1);
        assert_int_equal(plan_layout_parse(bad_names[i], &layout), -1);
    }
    for (int i = 0; i < PLAN_LAYOUT_COUNT; i++)
        assert_int_equal(plan_start_parse(plan_layout_name((enum plan_layout)i), &start), -1);
    for (int i = 0; i < PLAN_START_COUNT; i++)
        assert_int_equal(plan_layout_parse(plan_start_name((enum plan_start)i), &layout), -1);
    assert_int_equal(start, PLAN_START_STAGGERED);
    assert_int_equal(layout, PLAN_LAYOUT_INTERLEAVED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_have_the_names_that_are_documented),
        cmocka_unit_test(test_layouts_have_the_names_that_are_documented),
        cmocka_unit_test(test_nothing_said_is_scattered_and_sequential),
        cmocka_unit_test(test_every_start_is_read_by_its_name),
        cmocka_unit_test(test_every_layout_is_read_by_its_name),
        cmocka_unit_test(test_other_names_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
