/* Calls that may never return. The last test leaves one behind, after which no errand is run. */
#include "audio/errand.h"
#include "monotonic.h"
#include "units.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

static atomic_int calls;
static atomic_bool signals_blocked;
static atomic_bool leave;
static atomic_bool left;

static void note(void *argument)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_store(&signals_blocked, sigismember(&mask, SIGINT) == 1);
    atomic_fetch_add(&calls, *(int *)argument);
}

static void hang(void *argument)
{
    (void)argument;
    while (!atomic_load(&leave))
        monotonic_sleep_until(monotonic_ns() + UNITS_NS_PER_MS);
    atomic_store(&left, true);
}

static void an_errand_returns(void **state)
{
    (void)state;
    int three = 3;
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(errand_run(note, &three, 10 * UNITS_NS_PER_SECOND), 0);
        assert_int_equal(atomic_load(&calls), 3 * i);
    }
    assert_true(atomic_load(&signals_blocked));
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
}

static void one_that_hangs_is_abandoned(void **state)
{
    (void)state;
    int one = 1, before = atomic_load(&calls);
    assert_int_equal(errand_run(hang, NULL, 50 * UNITS_NS_PER_MS), -1);
    assert_false(atomic_load(&left));
    assert_int_equal(errand_run(note, &one, 10 * UNITS_NS_PER_SECOND), -1);
    assert_int_equal(atomic_load(&calls), before);
    atomic_store(&leave, true);
    while (!atomic_load(&left))
        monotonic_sleep_until(monotonic_ns() + UNITS_NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_errand_returns),
        cmocka_unit_test(one_that_hangs_is_abandoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
