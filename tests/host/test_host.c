#include "host.h"
#include "monotonic.h"
#include "units.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <cmocka.h>

static void test_machine_is_described(void **state)
{
    (void)state;
    struct host host;
    struct utsname name;
    assert_int_equal(uname(&name), 0);
    host_describe(&host);
    assert_string_equal(host.kernel, name.release);
    assert_true(host.os[0] != '\0' && strpbrk(host.os, "\"\n=") == NULL);
    assert_true(host.cpu[0] != '\0' && strpbrk(host.cpu, "\n:") == NULL);
    assert_true(host.memory_bytes > 1 << 20);
}

/* Not those of the machine: a run under taskset has what taskset left it. */
static void test_cores_are_those_of_this_process(void **state)
{
    (void)state;
    cpu_set_t all, one;
    struct host host;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    host_describe(&host);
    assert_int_equal(host.cores, CPU_COUNT(&all));
    int first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    host_describe(&host);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(host.cores, 1);
}

static void test_available_memory_is_some_of_the_machines(void **state)
{
    (void)state;
    struct host host;
    host_describe(&host);
    uint64_t available = host_available_memory_bytes();
    assert_true(available > 0 && available <= host.memory_bytes);
}

static void test_descriptor_limit_is_raised_to_the_hard_one(void **state)
{
    (void)state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(host_raise_descriptor_limit(), limit.rlim_max);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(limit.rlim_cur, limit.rlim_max);
}

static void test_sleep_ends_at_its_deadline_not_before(void **state)
{
    (void)state;
    uint64_t deadline = monotonic_ns() + 20 * UNITS_NS_PER_MS;
    monotonic_sleep_until(deadline);
    uint64_t woke = monotonic_ns();
    assert_true(woke >= deadline);
    monotonic_sleep_until(deadline); /* past: returns at once, or this test hangs */
}

static void test_sleeping_costs_no_cpu_and_working_does(void **state)
{
    (void)state;
    uint64_t process = monotonic_process_cpu_ns();
    uint64_t thread = monotonic_thread_cpu_ns();
    monotonic_sleep_until(monotonic_ns() + 50 * UNITS_NS_PER_MS);
    assert_true(monotonic_thread_cpu_ns() - thread < 50 * UNITS_NS_PER_MS);
    while (monotonic_thread_cpu_ns() - thread < 2 * UNITS_NS_PER_MS)
        ;
    assert_true(monotonic_process_cpu_ns() - process >= 2 * UNITS_NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_is_described),
        cmocka_unit_test(test_cores_are_those_of_this_process),
        cmocka_unit_test(test_available_memory_is_some_of_the_machines),
        cmocka_unit_test(test_descriptor_limit_is_raised_to_the_hard_one),
        cmocka_unit_test(test_sleep_ends_at_its_deadline_not_before),
        cmocka_unit_test(test_sleeping_costs_no_cpu_and_working_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
