#ifndef TRACKRAMP_MONOTONIC_H
#define TRACKRAMP_MONOTONIC_H

#include <stdint.h>

/* In virtual time (simulation.h) all of these answer from the virtual clock, on which sleeping is
 * what makes time pass and computing takes none. */

/* CLOCK_MONOTONIC in nanoseconds. Any thread. */
uint64_t monotonic_ns(void);

/* Sleeps until `deadline_ns` on that clock; a signal may end the sleep early. */
void monotonic_sleep_until(uint64_t deadline_ns);

/* CPU time of the whole process, of the calling thread: user and system, in nanoseconds. */
uint64_t monotonic_process_cpu_ns(void);
uint64_t monotonic_thread_cpu_ns(void);

#endif
