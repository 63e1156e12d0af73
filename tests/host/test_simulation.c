#include "monotonic.h"
#include "simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Virtual time: who acts when, and that nothing else makes time pass. */

enum { ACTS_MOST = 64 };

static struct {
    int who[ACTS_MOST];
    uint64_t when_ns[ACTS_MOST];
    unsigned count;
} seen;

struct walker {
    struct actor actor;
    int name;
    uint64_t step_ns;
    unsigned turns; /* left */
};

static void walk(struct actor *actor, uint64_t now_ns)
{
    struct walker *walker = (struct walker *)actor;
    assert_int_equal(now_ns, monotonic_ns());
    seen.who[seen.count] = walker->name;
    seen.when_ns[seen.count++] = now_ns;
    actor->due_ns = --walker->turns > 0 ? now_ns + walker->step_ns : UINT64_MAX;
}

static struct walker make_walker(int name, uint64_t first_ns, uint64_t step_ns, unsigned turns)
{
    return (struct walker){.actor = {.act = walk, .due_ns = first_ns},
                           .name = name,
                           .step_ns = step_ns,
                           .turns = turns};
}

static int begin(void **state)
{
    (void)state;
    seen.count = 0;
    simulation_begin();
    return 0;
}

static int end(void **state)
{
    (void)state;
    simulation_end();
    return 0;
}

static void test_only_sleeping_makes_time_pass(void **state)
{
    (void)state;
    uint64_t began_ns = monotonic_ns();
    assert_true(began_ns > 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(monotonic_ns(), began_ns);
    monotonic_sleep_until(began_ns + 12345);
    assert_int_equal(monotonic_ns(), began_ns + 12345);
    monotonic_sleep_until(began_ns); /* is past: no step back */
    assert_int_equal(monotonic_ns(), began_ns + 12345);
    assert_int_equal(monotonic_process_cpu_ns(), 0);
    assert_int_equal(monotonic_thread_cpu_ns(), 0);
}

static void test_actors_act_in_the_order_of_their_times(void **state)
{
    (void)state;
    uint64_t now_ns = monotonic_ns();
    struct walker slow = make_walker(1, now_ns + 30, 30, 3),
                  fast = make_walker(2, now_ns + 7, 7, 9);
    simulation_add(&slow.actor);
    simulation_add(&fast.actor);
    monotonic_sleep_until(now_ns + 200);
    assert_int_equal(seen.count, 12);
    for (unsigned i = 1; i < seen.count; i++)
        assert_true(seen.when_ns[i] >= seen.when_ns[i - 1]);
    assert_int_equal(seen.when_ns[0], now_ns + 7);
    assert_int_equal(seen.when_ns[seen.count - 1], now_ns + 90);
    assert_int_equal(monotonic_ns(), now_ns + 200);
}

static void test_at_the_same_moment_the_first_one_added_acts_first(void **state)
{
    (void)state;
    uint64_t now_ns = monotonic_ns();
    struct walker first = make_walker(1, now_ns + 10, 10, 4),
                  then = make_walker(2, now_ns + 10, 10, 4);
    simulation_add(&first.actor);
    simulation_add(&then.actor);
    monotonic_sleep_until(now_ns + 40);
    assert_int_equal(seen.count, 8);
    for (unsigned i = 0; i < seen.count; i++)
        assert_int_equal(seen.who[i], i % 2 + 1);
}

static void test_who_is_not_due_yet_waits(void **state)
{
    (void)state;
    uint64_t now_ns = monotonic_ns();
    struct walker walker = make_walker(1, now_ns + 100, 1, 1);
    simulation_add(&walker.actor);
    monotonic_sleep_until(now_ns + 99);
    assert_int_equal(seen.count, 0);
    monotonic_sleep_until(now_ns + 100);
    assert_int_equal(seen.count, 1);
}

static void test_who_was_removed_acts_no_more(void **state)
{
    (void)state;
    uint64_t now_ns = monotonic_ns();
    struct walker one = make_walker(1, now_ns + 1, 1, 9), two = make_walker(2, now_ns + 1, 1, 9);
    simulation_add(&one.actor);
    simulation_add(&two.actor);
    monotonic_sleep_until(now_ns + 1);
    simulation_remove(&one.actor);
    simulation_remove(&one.actor); /* twice does no harm */
    monotonic_sleep_until(now_ns + 4);
    assert_int_equal(seen.count, 2 + 3);
    for (unsigned i = 2; i < seen.count; i++)
        assert_int_equal(seen.who[i], 2);
}

static void test_real_time_returns_at_the_end(void **state)
{
    (void)state;
    simulation_end();
    assert_false(simulation_is_on());
    uint64_t before_ns = monotonic_ns();
    monotonic_sleep_until(before_ns + 1000);
    assert_true(monotonic_ns() > before_ns);
    assert_true(monotonic_process_cpu_ns() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_sleeping_makes_time_pass, begin, end),
        cmocka_unit_test_setup_teardown(test_actors_act_in_the_order_of_their_times, begin, end),
        cmocka_unit_test_setup_teardown(test_at_the_same_moment_the_first_one_added_acts_first,
                                        begin, end),
        cmocka_unit_test_setup_teardown(test_who_is_not_due_yet_waits, begin, end),
        cmocka_unit_test_setup_teardown(test_who_was_removed_acts_no_more, begin, end),
        cmocka_unit_test_setup_teardown(test_real_time_returns_at_the_end, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
