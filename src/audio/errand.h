#ifndef TRACKRAMP_AUDIO_ERRAND_H
#define TRACKRAMP_AUDIO_ERRAND_H

#include <stdint.h>

/*
 * Calls `run(argument)` on a thread of its own, with all signals blocked there and in the threads
 * that it starts, and waits at most `limit_ns`. Returns 0 when `run` has returned. Returns -1 when
 * it was abandoned: it may go on at any time, so whatever it touches must stay; no errand is run
 * any more after that, for whoever hung holds locks that the next would wait for. Also -1 when
 * there was no thread or memory for it. Main thread.
 */
int errand_run(void (*run)(void *argument), void *argument, uint64_t limit_ns);

#endif
