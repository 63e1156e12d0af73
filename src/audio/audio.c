#include "audio.h"
#include "driver.h"
#include "monotonic.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Picks the driver, and judges the clock that comes with it.
 *
 * The one question: does a second of frames take a second of CLOCK_MONOTONIC? Both ends of a
 * measurement are callbacks (their entry time, and the frames delivered up to then), so that the
 * answer does not depend on when the main thread looks, nor on how long a period is.
 * audio_open asks it over a second at a time until the answer is yes, for sound servers start with
 * holes of a second or two. audio_check asks it over the last seconds, and whether callbacks come
 * at all: a device that vanishes, or a server that dies, shows as a counter that stands still.
 */

enum {
    MARKS = 17,  /* a mark every quarter of a second: check looks back over four */
    MEASURES = 4 /* that open makes before it refuses a clock */
};

#define POLL_NS (5 * UNITS_NS_PER_MS)
#define WARM_UP_NS (200 * UNITS_NS_PER_MS)
#define MEASURE_NS UNITS_NS_PER_SECOND
#define FIRST_CALLBACK_NS (3 * UNITS_NS_PER_SECOND)
#define OPEN_NS (8 * UNITS_NS_PER_SECOND) /* all of audio_open but closing again */
#define RUNAWAY_NS UNITS_NS_PER_SECOND    /* less than the one at which a driver stops by itself */
#define MARK_NS (250 * UNITS_NS_PER_MS)
#define STANDING_NS UNITS_NS_PER_SECOND
#define STANDING_AGAIN_NS (100 * UNITS_NS_PER_MS)
#define PACE_LOWEST 0.98
#define PACE_HIGHEST 1.02

struct audio {
    const struct driver *driver;
    struct driver_stream *stream;
    uint64_t opened_ns;
    struct audio_counters marks[MARKS]; /* the oldest first */
    unsigned mark_count;
    uint64_t standing_since_ns; /* when check first found no callback for a second; 0: it has not */
    uint64_t standing_callbacks;
};

const struct audio_info *audio_info(const struct audio *audio)
{
    return &audio->stream->info;
}

/* Acquires, pairing with the releases in driver_count, which says why this is consistent. */
void audio_counters(const struct audio *audio, struct audio_counters *counters)
{
    const struct driver_counters *from = &audio->stream->counters;
    uint64_t before, after;
    do {
        before = atomic_load_explicit(&from->sequence, memory_order_acquire);
        counters->callbacks = atomic_load_explicit(&from->callbacks, memory_order_acquire);
        counters->frames = atomic_load_explicit(&from->frames, memory_order_acquire);
        counters->late_callbacks =
            atomic_load_explicit(&from->late_callbacks, memory_order_acquire);
        counters->device_xruns = atomic_load_explicit(&from->device_xruns, memory_order_acquire);
        counters->busy_ns = atomic_load_explicit(&from->busy_ns, memory_order_acquire);
        counters->last_ns = atomic_load_explicit(&from->last_ns, memory_order_acquire);
        counters->longest_frames =
            atomic_load_explicit(&from->longest_frames, memory_order_acquire);
        after = atomic_load_explicit(&from->sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
}

/* --- keeping time ------------------------------------------------------------------------- */

/* Seconds of frames per second of CLOCK_MONOTONIC between two callbacks. */
static double pace(const struct audio *audio, const struct audio_counters *from,
                   const struct audio_counters *to)
{
    double played_ns = (double)(to->frames - from->frames) * (double)UNITS_NS_PER_SECOND /
                       audio->stream->info.sample_rate_hz;
    return played_ns / (double)(to->last_ns - from->last_ns);
}

static bool pace_is_true(double measured)
{
    return measured >= PACE_LOWEST && measured <= PACE_HIGHEST;
}

static int refuse(const struct audio *audio, struct error *error, const char *fault)
{
    return error_set(error, ERROR_ENVIRONMENT,
                     "audio output `%s` (%s) %s; choose another with --device, or --device clock",
                     audio->stream->info.device, audio->stream->info.host_api, fault);
}

static int refuse_pace(const struct audio *audio, struct error *error, double measured)
{
    char fault[96];
    snprintf(fault, sizeof fault, "keeps no time: %.4g s of audio in a second", measured);
    return refuse(audio, error, fault);
}

/* Whether more was delivered than any device could have asked for ahead of its time. */
static bool runs_away(const struct audio *audio, const struct audio_counters *now)
{
    double played_s = (double)now->frames / audio->stream->info.sample_rate_hz;
    /* The first callbacks may come before opened_ns. */
    double passed_ns = (double)now->last_ns - (double)audio->opened_ns;
    return played_s * (double)UNITS_NS_PER_SECOND > passed_ns + (double)RUNAWAY_NS;
}

/* Waits until the device has been seen to keep time for a second. */
static int keeps_time(const struct audio *audio, uint64_t deadline_ns, struct error *error)
{
    struct audio_counters mark = {0}, now;
    uint64_t warm_ns = 0;
    double measured = 0;
    unsigned measures = 0;
    for (uint64_t now_ns = monotonic_ns(); now_ns < deadline_ns; now_ns = monotonic_ns()) {
        monotonic_sleep_until(now_ns + POLL_NS);
        audio_counters(audio, &now);
        if (now.callbacks == 0) {
            if (now_ns > audio->opened_ns + FIRST_CALLBACK_NS)
                return refuse(audio, error, "opens but never asks for audio");
            continue;
        }
        if (runs_away(audio, &now))
            return refuse(audio, error, "keeps no time: it takes audio as fast as it can get it");
        if (warm_ns == 0)
            warm_ns = now_ns + WARM_UP_NS;
        if (now_ns < warm_ns || mark.callbacks == 0) {
            mark = now;
        } else if (now.last_ns >= mark.last_ns + MEASURE_NS) {
            measured = pace(audio, &mark, &now);
            if (pace_is_true(measured))
                return 0;
            if (++measures == MEASURES)
                return refuse_pace(audio, error, measured);
            mark = now;
        }
    }
    return refuse(audio, error, "asked for audio a few times and then no more");
}

/*
 * Whether the time between two marks was short of CPU, which makes callbacks miss their time for
 * no fault of the device. Late callbacks say so, unless nearly all are late and render was idle:
 * that is a device which is slow.
 */
static bool was_starved(const struct audio_counters *from, const struct audio_counters *to)
{
    uint64_t callbacks = to->callbacks - from->callbacks;
    uint64_t late = to->late_callbacks - from->late_callbacks;
    if (2 * (to->busy_ns - from->busy_ns) > to->last_ns - from->last_ns)
        return true;
    return (late > 0 || to->device_xruns > from->device_xruns) && 2 * late < callbacks;
}

/* Seen twice, a while apart: after a suspended process goes on, main may look before the device
 * had its turn. */
static int check_alive(struct audio *audio, const struct audio_counters *now, struct error *error)
{
    uint64_t now_ns = monotonic_ns();
    uint64_t last_ns = now->last_ns != 0 ? now->last_ns : audio->opened_ns;
    if (now_ns < last_ns + STANDING_NS) {
        audio->standing_since_ns = 0;
        return 0;
    }
    if (audio->standing_since_ns == 0 || audio->standing_callbacks != now->callbacks) {
        audio->standing_since_ns = now_ns;
        audio->standing_callbacks = now->callbacks;
        return 0;
    }
    if (now_ns < audio->standing_since_ns + STANDING_AGAIN_NS)
        return 0;
    return refuse(audio, error, "has asked for no audio for more than a second: it is gone");
}

int audio_check(struct audio *audio, struct error *error)
{
    struct audio_counters now;
    audio_counters(audio, &now);
    if (check_alive(audio, &now, error) != 0)
        return -1;
    if (audio->mark_count > 0 &&
        now.last_ns < audio->marks[audio->mark_count - 1].last_ns + MARK_NS)
        return 0;
    if (audio->mark_count < MARKS) {
        audio->marks[audio->mark_count++] = now;
        return 0;
    }
    memmove(&audio->marks[0], &audio->marks[1], (MARKS - 1) * sizeof audio->marks[0]);
    audio->marks[MARKS - 1] = now;
    double measured = pace(audio, &audio->marks[0], &now);
    if (pace_is_true(measured) || was_starved(&audio->marks[0], &now))
        return 0;
    return refuse_pace(audio, error, measured);
}

/* --- open and close ----------------------------------------------------------------------- */

enum driver_opened audio_open_driver(struct audio **audio, const struct driver *driver,
                                     const struct audio_options *options, struct error *error)
{
    struct audio *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        error_set(error, ERROR_ENVIRONMENT, "out of memory opening the audio output; free some");
        return DRIVER_FAILED;
    }
    opened->driver = driver;
    uint64_t deadline_ns = monotonic_ns() + OPEN_NS;
    enum driver_opened result = driver->open(&opened->stream, options, error);
    if (result != DRIVER_OPENED) {
        free(opened);
        return result;
    }
    opened->opened_ns = monotonic_ns();
    if (keeps_time(opened, deadline_ns, error) != 0) {
        audio_close(opened);
        return DRIVER_FAILED;
    }
    *audio = opened;
    return DRIVER_OPENED;
}

int audio_open(struct audio **audio, const struct audio_options *options, struct error *error)
{
    bool clock_is_named = options->device != NULL && strcmp(options->device, "clock") == 0;
    enum driver_opened result = DRIVER_NO_OUTPUT;
    if (options->device != NULL && strcmp(options->device, "simulated") == 0)
        result = audio_open_driver(audio, &driver_simulated, options, error);
    else if (!clock_is_named)
        result = audio_open_driver(audio, &driver_portaudio, options, error);
    if (result != DRIVER_NO_OUTPUT)
        return result == DRIVER_OPENED ? 0 : -1;
    if (audio_open_driver(audio, &driver_clock, options, error) != DRIVER_OPENED)
        return -1;
    (*audio)->stream->info.fell_back = !clock_is_named;
    return 0;
}

bool audio_is_safe(const struct audio *audio)
{
    return audio->driver == &driver_simulated;
}

void audio_close(struct audio *audio)
{
    if (audio == NULL)
        return;
    audio->driver->close(audio->stream);
    free(audio);
}

int audio_list(struct audio_device **devices, size_t *count, struct error *error)
{
    if (driver_portaudio_list(devices, count, error) != 0)
        return -1;
    struct audio_device *clock = &(*devices)[*count];
    *clock = (struct audio_device){
        .name = "clock",
        .host_api = "none",
        .channels = 2,
        .default_sample_rate_hz = 44100,
        .is_default = true,
    };
    for (size_t i = 0; i < *count; i++) {
        if ((*devices)[i].is_default)
            clock->is_default = false;
    }
    (*count)++;
    return 0;
}
