#include "study/stalls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

/* A drive that answers 100 blocks a second is looked at every 5 ms. */

#define LOOK_S 0.005
#define BLOCKS_A_SECOND 100.0

struct watch {
    struct stalls stalls;
    double now_s, blocks;
};

static struct watch begin(double blocks_per_second)
{
    struct watch watch = {.now_s = 0};
    stalls_init(&watch.stalls, blocks_per_second);
    return watch;
}

static void go_on(struct watch *watch, double seconds, double speed, bool wanted)
{
    for (double until_s = watch->now_s + seconds; watch->now_s < until_s;) {
        watch->now_s += LOOK_S;
        watch->blocks += speed * LOOK_S;
        stalls_look(&watch->stalls, watch->now_s, (uint64_t)watch->blocks, wanted);
    }
}

static void test_a_drive_at_work_does_not_stall(void **state)
{
    (void)state;
    struct watch watch = begin(BLOCKS_A_SECOND);
    go_on(&watch, 10, BLOCKS_A_SECOND, true);
    stalls_end(&watch.stalls);
    assert_int_equal(watch.stalls.seen, 0);
}

static void test_silence_while_blocks_are_wanted_is_a_stall(void **state)
{
    (void)state;
    struct watch watch = begin(BLOCKS_A_SECOND);
    for (int i = 1; i <= 3; i++) {
        go_on(&watch, 2, BLOCKS_A_SECOND, true);
        go_on(&watch, 0.5 * i, 0, true);
    }
    go_on(&watch, 2, BLOCKS_A_SECOND, true);
    stalls_end(&watch.stalls);
    assert_int_equal(watch.stalls.seen, 3);
    assert_true(watch.stalls.worst_s > 1.45 && watch.stalls.worst_s < 1.55);
}

static void test_a_stall_that_lasts_to_the_end_counts(void **state)
{
    (void)state;
    struct watch watch = begin(BLOCKS_A_SECOND);
    go_on(&watch, 1, BLOCKS_A_SECOND, true);
    go_on(&watch, 1, 0, true);
    stalls_end(&watch.stalls);
    assert_int_equal(watch.stalls.seen, 1);
}

static void test_silence_that_nobody_minds_is_none(void **state)
{
    (void)state;
    struct watch watch = begin(BLOCKS_A_SECOND);
    go_on(&watch, 5, 0, false);
    go_on(&watch, 0.2, 0, true); /* under a quarter of a second: Linux's I/O controller */
    go_on(&watch, 5, 0, false);
    stalls_end(&watch.stalls);
    assert_int_equal(watch.stalls.seen, 0);
}

/* A slow drive rests between two blocks. */
static void test_what_counts_as_a_stall_follows_the_speed(void **state)
{
    (void)state;
    struct watch slow = begin(2);
    go_on(&slow, 3, 0, true);
    go_on(&slow, 1, 2, true);
    assert_int_equal(slow.stalls.seen, 0);
    go_on(&slow, 5, 0, true);
    stalls_end(&slow.stalls);
    assert_int_equal(slow.stalls.seen, 1);

    struct watch unknown = begin(0);
    go_on(&unknown, 60, 0, true);
    stalls_end(&unknown.stalls);
    assert_int_equal(unknown.stalls.seen, 0);
}

/* The program itself may have been held up: what lies between two looks far apart is not known. */
static void test_a_late_look_says_nothing(void **state)
{
    (void)state;
    struct watch watch = begin(BLOCKS_A_SECOND);
    go_on(&watch, 1, BLOCKS_A_SECOND, true);
    watch.now_s += 5;
    stalls_look(&watch.stalls, watch.now_s, (uint64_t)watch.blocks, true);
    go_on(&watch, 1, BLOCKS_A_SECOND, true);
    stalls_end(&watch.stalls);
    assert_int_equal(watch.stalls.seen, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drive_at_work_does_not_stall),
        cmocka_unit_test(test_silence_while_blocks_are_wanted_is_a_stall),
        cmocka_unit_test(test_a_stall_that_lasts_to_the_end_counts),
        cmocka_unit_test(test_silence_that_nobody_minds_is_none),
        cmocka_unit_test(test_what_counts_as_a_stall_follows_the_speed),
        cmocka_unit_test(test_a_late_look_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
