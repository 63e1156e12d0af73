#include "driver.h"
#include "monotonic.h"
#include "units.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*
 * An audio device without a device: a thread that sleeps until the next period is due and calls
 * back. Due times are start + n periods, never "now + a period", so errors do not add up. Woken
 * late, it calls back to back until it has caught up, as a device with a deep buffer would: the
 * frames delivered stay true to real time, and every callback that came a period or more after
 * its due time counts as late.
 *
 * The thread runs SCHED_FIFO where the system permits it, below what JACK's servers use.
 */

enum { BUS_CHANNELS = 2, FIFO_PRIORITY = 5 };

struct clock {
    struct driver_stream base;
    /* set before start */
    audio_render render;
    void *user;
    float *bus;
    uint32_t frames;
    uint32_t sample_rate_hz;
    uint64_t start_ns;
    pthread_t thread;
    /* shared: the main thread's word */
    atomic_bool stop;
};

/* Nanoseconds that `frames` last. Split, because frames x 10^9 passes 64 bits within hours. */
static uint64_t duration_ns(const struct clock *clock, uint64_t frames)
{
    uint64_t rate = clock->sample_rate_hz;
    return frames / rate * UNITS_NS_PER_SECOND + frames % rate * UNITS_NS_PER_SECOND / rate;
}

/* The callback. */
static void period(struct clock *clock, uint64_t due_ns)
{
    uint64_t entry_ns = monotonic_ns();
    clock->render(clock->user, clock->bus, clock->frames, BUS_CHANNELS, entry_ns);
    struct driver_callback callback = {
        .entry_ns = entry_ns,
        .busy_ns = monotonic_ns() - entry_ns,
        .frames = clock->frames,
        .late = entry_ns >= due_ns + duration_ns(clock, clock->frames),
    };
    driver_count(&clock->base.counters, &callback);
}

static void *run(void *argument)
{
    struct clock *clock = argument;
    struct sched_param priority = {.sched_priority = FIFO_PRIORITY};
    /* Refused to ordinary users on most systems: then the clock runs like any other thread. */
    (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
    for (uint64_t number = 1;; number++) {
        uint64_t due_ns = clock->start_ns + duration_ns(clock, number * clock->frames);
        while (monotonic_ns() < due_ns)
            monotonic_sleep_until(due_ns);
        if (atomic_load_explicit(&clock->stop, memory_order_relaxed))
            return NULL;
        period(clock, due_ns);
    }
}

static int start_thread(struct clock *clock)
{
    /* Signals are the main thread's: a new thread inherits the mask it is created under. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    clock->start_ns = monotonic_ns();
    int failed = pthread_create(&clock->thread, NULL, run, clock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? -1 : 0;
}

static enum driver_opened clock_open(struct driver_stream **stream,
                                     const struct audio_options *options, struct error *error)
{
    struct clock *clock = aligned_alloc(_Alignof(struct clock), sizeof *clock);
    float *bus = calloc((size_t)options->frames * BUS_CHANNELS, sizeof *bus);
    if (clock == NULL || bus == NULL) {
        error_set(error, ERROR_ENVIRONMENT, "--device clock: out of memory; free some");
        goto failed;
    }
    memset(clock, 0, sizeof *clock);
    clock->render = options->render;
    clock->user = options->user;
    clock->bus = bus;
    clock->frames = options->frames;
    clock->sample_rate_hz = options->sample_rate_hz;
    clock->base.info = (struct audio_info){
        .driver = "clock",
        .host_api = "none",
        .device = "built-in clock",
        .sample_rate_hz = options->sample_rate_hz,
        .frames = options->frames,
        .channels = BUS_CHANNELS,
    };
    if (start_thread(clock) != 0) {
        error_set(error, ERROR_ENVIRONMENT,
                  "--device clock: the system grants no more threads; raise `ulimit -u`");
        goto failed;
    }
    *stream = &clock->base;
    return DRIVER_OPENED;

failed:
    free(bus);
    free(clock);
    return DRIVER_FAILED;
}

static void clock_close(struct driver_stream *stream)
{
    struct clock *clock = (struct clock *)stream;
    atomic_store_explicit(&clock->stop, true, memory_order_relaxed);
    pthread_join(clock->thread, NULL);
    free(clock->bus);
    free(clock);
}

const struct driver driver_clock = {.open = clock_open, .close = clock_close};
