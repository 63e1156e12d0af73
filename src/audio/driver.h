#ifndef TRACKRAMP_AUDIO_DRIVER_H
#define TRACKRAMP_AUDIO_DRIVER_H

#include "audio.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The seam between audio.c, which judges, and the drivers, which call. A driver starts a thread
 * that calls `render` once a period and then driver_count; that thread's one function is the only
 * code that runs in the callback outside rt/.
 */

/* What a driver counts, on a cache line of its own. Written by the callback thread alone. */
struct driver_counters {
    _Alignas(64) _Atomic uint64_t sequence; /* odd while the others are being written */
    _Atomic uint64_t callbacks;
    _Atomic uint64_t frames;
    _Atomic uint64_t late_callbacks;
    _Atomic uint64_t device_xruns;
    _Atomic uint64_t busy_ns;
    _Atomic uint64_t last_ns;
    _Atomic uint64_t longest_frames;
};

/* One callback, for driver_count. */
struct driver_callback {
    uint64_t entry_ns; /* CLOCK_MONOTONIC */
    uint64_t busy_ns;  /* inside `render` */
    uint32_t frames;
    bool late; /* came a period or more after its time */
    bool xrun; /* the host says that it ran dry */
};

/* Callback thread. One writer needs no read-modify-write. */
static inline void driver_add(_Atomic uint64_t *counter, uint64_t amount)
{
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + amount, memory_order_release);
}

/*
 * Callback thread, after `render`. Each store is a release that pairs with an acquire in
 * audio_counters: who sees a new value also sees `sequence` odd or moved on, and looks again. So
 * all counters that a reader gets are of the same callback.
 */
static inline void driver_count(struct driver_counters *counters,
                                const struct driver_callback *callback)
{
    uint64_t sequence = atomic_load_explicit(&counters->sequence, memory_order_relaxed);
    atomic_store_explicit(&counters->sequence, sequence + 1, memory_order_relaxed);
    driver_add(&counters->callbacks, 1);
    driver_add(&counters->frames, callback->frames);
    driver_add(&counters->late_callbacks, callback->late);
    driver_add(&counters->device_xruns, callback->xrun);
    driver_add(&counters->busy_ns, callback->busy_ns);
    atomic_store_explicit(&counters->last_ns, callback->entry_ns, memory_order_release);
    if (callback->frames > atomic_load_explicit(&counters->longest_frames, memory_order_relaxed))
        atomic_store_explicit(&counters->longest_frames, callback->frames, memory_order_release);
    atomic_store_explicit(&counters->sequence, sequence + 2, memory_order_release);
}

/* What every driver's stream begins with. Allocated by the driver, cache lines and all. */
struct driver_stream {
    struct driver_counters counters;
    struct audio_info info; /* set by open but for `fell_back`; strings live until close */
};

/* DRIVER_NO_OUTPUT: no device was named, and there is none. */
enum driver_opened { DRIVER_FAILED = -1, DRIVER_OPENED = 0, DRIVER_NO_OUTPUT = 1 };

struct driver {
    /* Starts callbacks. Must not hang, whatever the device does. Main thread. */
    enum driver_opened (*open)(struct driver_stream **stream, const struct audio_options *options,
                               struct error *error);
    /* Stops callbacks and frees, within seconds: where the device does not let go, its thread may
     * yet come back, and the stream's memory is left to it. Main thread. */
    void (*close)(struct driver_stream *stream);
};

extern const struct driver driver_clock;
extern const struct driver driver_portaudio;
extern const struct driver driver_simulated;

/* All outputs that PortAudio offers, with room in `*devices` for one more. Main thread. */
int driver_portaudio_list(struct audio_device **devices, size_t *count, struct error *error);

/* What audio_open does once it has picked a driver: start it, and see that it keeps time.
 * Returns DRIVER_NO_OUTPUT without an error. Main thread. */
enum driver_opened audio_open_driver(struct audio **audio, const struct driver *driver,
                                     const struct audio_options *options, struct error *error);

#endif
