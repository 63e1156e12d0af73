#include "errand.h"
#include "monotonic.h"
#include "units.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * A call that may never return, made by somebody who can be spared. The main thread looks at a
 * flag every two milliseconds: coarse, but it needs no timed wait, which every system has
 * differently.
 */

#define POLL_NS (2 * UNITS_NS_PER_MS)

struct errand {
    void (*run)(void *argument);
    void *argument;
    atomic_bool done; /* released by the errand's thread, acquired by the main thread */
};

static struct errand *hung; /* main thread; kept, for its own thread may yet come back to it */

static void *errand_thread(void *argument)
{
    struct errand *errand = argument;
    errand->run(errand->argument);
    atomic_store_explicit(&errand->done, true, memory_order_release);
    return NULL;
}

static int start_thread(struct errand *errand, pthread_t *thread)
{
    /* Signals are the main thread's: a new thread inherits the mask it is created under. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, errand_thread, errand);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? -1 : 0;
}

int errand_run(void (*run)(void *argument), void *argument, uint64_t limit_ns)
{
    struct errand *errand = hung != NULL ? NULL : calloc(1, sizeof *errand);
    if (errand == NULL)
        return -1;
    errand->run = run;
    errand->argument = argument;
    pthread_t thread;
    if (start_thread(errand, &thread) != 0) {
        free(errand);
        return -1;
    }
    uint64_t now_ns = monotonic_ns(), deadline_ns = now_ns + limit_ns;
    while (!atomic_load_explicit(&errand->done, memory_order_acquire)) {
        if (now_ns >= deadline_ns) {
            hung = errand;
            pthread_detach(thread);
            return -1;
        }
        monotonic_sleep_until(now_ns + POLL_NS);
        now_ns = monotonic_ns();
    }
    pthread_join(thread, NULL);
    free(errand);
    return 0;
}
