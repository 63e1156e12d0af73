#include "monotonic.h"

#include "simulation.h"
#include "units.h"

#include <time.h>

/* The one clock of the program, or the virtual one in its place. CLOCK_MONOTONIC is read through
 * the vDSO, without a system call, and is the clock that PortAudio's callbacks and the kernel's
 * timers can be compared with. */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UNITS_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t monotonic_ns(void)
{
    return simulation_is_on() ? simulation_now_ns() : clock_ns(CLOCK_MONOTONIC);
}

void monotonic_sleep_until(uint64_t deadline_ns)
{
    if (simulation_is_on()) {
        simulation_run_until(deadline_ns);
        return;
    }
    struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / UNITS_NS_PER_SECOND),
        .tv_nsec = (long)(deadline_ns % UNITS_NS_PER_SECOND),
    };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}

uint64_t monotonic_process_cpu_ns(void)
{
    return simulation_is_on() ? 0 : clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t monotonic_thread_cpu_ns(void)
{
    return simulation_is_on() ? 0 : clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
