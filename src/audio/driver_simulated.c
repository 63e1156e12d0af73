#include "driver.h"
#include "monotonic.h"
#include "simulation.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/*
 * An audio device in virtual time: an actor that calls back when each period is due, never late.
 * Its computing takes no time, for none passes. It can be told to vanish, as a device does whose
 * plug is pulled: it just calls no more.
 */

enum { BUS_CHANNELS = 2 };

struct simulated {
    struct driver_stream base;
    struct actor actor;
    audio_render render;
    void *user;
    float *bus;
    uint32_t frames;
    uint32_t sample_rate_hz;
    uint64_t start_ns;
    uint64_t gone_ns; /* UINT64_MAX: never */
    uint64_t periods;
};

static struct simulated *of_actor(struct actor *actor)
{
    return (struct simulated *)((char *)actor - offsetof(struct simulated, actor));
}

static uint64_t due_ns(const struct simulated *simulated)
{
    uint64_t frames = (simulated->periods + 1) * simulated->frames;
    uint64_t rate = simulated->sample_rate_hz;
    uint64_t due = simulated->start_ns + frames / rate * UNITS_NS_PER_SECOND +
                   frames % rate * UNITS_NS_PER_SECOND / rate;
    return due < simulated->gone_ns ? due : UINT64_MAX;
}

/* The callback. */
static void period(struct actor *actor, uint64_t now_ns)
{
    struct simulated *simulated = of_actor(actor);
    simulated->render(simulated->user, simulated->bus, simulated->frames, BUS_CHANNELS, now_ns);
    driver_count(&simulated->base.counters,
                 &(struct driver_callback){.entry_ns = now_ns, .frames = simulated->frames});
    simulated->periods++;
    actor->due_ns = due_ns(simulated);
}

static enum driver_opened simulated_open(struct driver_stream **stream,
                                         const struct audio_options *options, struct error *error)
{
    if (!simulation_is_on()) {
        error_set(error, ERROR_USAGE,
                  "--device simulated: virtual time needs a modelled drive; add --engine "
                  "model:SPEC, or use --device clock");
        return DRIVER_FAILED;
    }
    struct simulated *simulated = aligned_alloc(_Alignof(struct simulated), sizeof *simulated);
    float *bus = calloc((size_t)options->frames * BUS_CHANNELS, sizeof *bus);
    if (simulated == NULL || bus == NULL) {
        free(simulated);
        free(bus);
        error_set(error, ERROR_ENVIRONMENT, "--device simulated: out of memory; free some");
        return DRIVER_FAILED;
    }
    memset(simulated, 0, sizeof *simulated);
    simulated->render = options->render;
    simulated->user = options->user;
    simulated->bus = bus;
    simulated->frames = options->frames;
    simulated->sample_rate_hz = options->sample_rate_hz;
    simulated->start_ns = monotonic_ns();
    simulated->gone_ns = UINT64_MAX;
    if (options->gone_s > 0)
        simulated->gone_ns =
            simulated->start_ns + (uint64_t)(options->gone_s * (double)UNITS_NS_PER_SECOND);
    simulated->base.info = (struct audio_info){
        .driver = "simulated",
        .host_api = "none",
        .device = "simulated device",
        .sample_rate_hz = options->sample_rate_hz,
        .frames = options->frames,
        .channels = BUS_CHANNELS,
    };
    simulated->actor.act = period;
    simulated->actor.due_ns = due_ns(simulated);
    simulation_add(&simulated->actor);
    *stream = &simulated->base;
    return DRIVER_OPENED;
}

static void simulated_close(struct driver_stream *stream)
{
    struct simulated *simulated = (struct simulated *)stream;
    simulation_remove(&simulated->actor);
    free(simulated->bus);
    free(simulated);
}

const struct driver driver_simulated = {.open = simulated_open, .close = simulated_close};
