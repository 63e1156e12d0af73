#ifndef TRACKRAMP_AUDIO_H
#define TRACKRAMP_AUDIO_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who calls the audio callback: a PortAudio output, the built-in real-time clock, or, in virtual
 * time, a simulated device.
 *
 * A driver calls `render` once a period, from a thread of its own, for as long as it runs. It
 * keeps counts that the main thread reads at any time, and it judges nothing by itself except
 * whether the device keeps time (audio_check).
 */

/*
 * Fills `bus` (`frames` frames, `bus_channels` of them interleaved).
 * `now_ns` is CLOCK_MONOTONIC at entry. Runs in the driver's real-time thread: it must not wait,
 * allocate, or call the system. `frames` may differ from call to call, and from what was asked.
 */
typedef void (*audio_render)(void *user, float *bus, uint32_t frames, uint32_t bus_channels,
                             uint64_t now_ns);

struct audio_options {
    const char *device; /* a PortAudio output's name (or a part that only one has), `clock`,
                           `simulated`, or NULL: the default output, and the clock where there is
                           none */
    uint32_t sample_rate_hz;
    uint32_t frames; /* frames a callback, as asked: hosts may use others */
    audio_render render;
    void *user;
    double gone_s; /* the simulated device stops calling after so long; 0: never */
};

/* Set once by audio_open. Strings live until audio_close. */
struct audio_info {
    const char *driver;   /* `portaudio`, `clock` or `simulated` */
    const char *host_api; /* `JACK Audio Connection Kit`, `ALSA`, ...; `none` for the clock */
    const char *device;   /* its name; `built-in clock` */
    uint32_t sample_rate_hz;
    uint32_t frames;   /* frames a callback, as asked */
    uint32_t channels; /* of the bus: 2, or 1 on a mono output */
    bool fell_back;    /* no device was named and there is no output: the clock stands in */
};

/* Totals since audio_open. Any thread may take them; each is exact, together they are a moment's.
 */
struct audio_counters {
    uint64_t callbacks;
    uint64_t frames;         /* delivered, all callbacks */
    uint64_t late_callbacks; /* the driver came a period or more after its time */
    uint64_t device_xruns;   /* underflow flags the host raised: a callback was late, never an
                                empty ring */
    uint64_t busy_ns;        /* time inside `render` */
    uint64_t last_ns;        /* CLOCK_MONOTONIC at the last callback's entry; 0 before the first */
    uint64_t longest_frames; /* the largest `frames` of any callback */
};

struct audio; /* opaque */

/*
 * Opens and starts the output, and returns once callbacks arrive and the device has been seen to
 * keep time: at least one second of frames, after a warm-up, within 0.98 to 1.02 of
 * CLOCK_MONOTONIC. Errors (ERROR_ENVIRONMENT, ERROR_USAGE for a name nobody has): no such device,
 * another sample rate, a device that never calls back, one that keeps no time. Every one names
 * the device and says what to do (`--device clock` always works). Main thread.
 */
int audio_open(struct audio **audio, const struct audio_options *options, struct error *error);

/* Stops and frees; takes NULL. Not to be called once audio_check has failed, unless audio_is_safe:
 * PortAudio may never come back (a dead JACK server). Then the process must leave with _exit. Main
 * thread. */
void audio_close(struct audio *audio);

/* Whether closing it cannot hang, nor a callback still be running, whatever became of it. */
bool audio_is_safe(const struct audio *audio);

const struct audio_info *audio_info(const struct audio *audio);
void audio_counters(const struct audio *audio, struct audio_counters *counters);

/*
 * Is the device alive and in time? Fails when no callback came for a second, or when over the
 * last seconds its clock ran outside 0.98 to 1.02 of CLOCK_MONOTONIC while its callbacks were not
 * late for want of CPU. Cheap; meant to be called every few milliseconds by the main thread.
 */
int audio_check(struct audio *audio, struct error *error);

/* One output for `trackramp devices`. */
struct audio_device {
    char name[256];
    char host_api[64];
    uint32_t channels;
    double default_sample_rate_hz;
    bool is_default;
};

/* All outputs PortAudio offers here, the built-in clock last. `*devices` is the caller's to free.
 */
int audio_list(struct audio_device **devices, size_t *count, struct error *error);

#endif
