#include "mixer.h"

#include "convert.h"

#include <string.h>

/*
 * Samples of all tracks are summed as they lie, interleaved by the track's own channels, in one
 * linear pass a track; the sum is folded onto the bus once at the end. The counters are kept in
 * locals during a period and stored once each: nobody else writes them.
 *
 * Memory, not arithmetic, bounds this loop: a period of one track is a few cache lines in a place
 * of its own. So the lines of the tracks ahead are asked for early.
 */

enum { PREFETCH_RINGS = 16, PREFETCH_SAMPLES = 6, CACHE_LINE_BYTES = 64, PREFETCH_LINES = 9 };

static void store(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* --- main thread -------------------------------------------------------------------------- */

void mixer_reset(struct mixer *mixer)
{
    mixer->probe_track = 0;
    store(&mixer->frames, 0);
    store(&mixer->frames_ns, 0);
    store(&mixer->released_blocks, 0);
    store(&mixer->underruns, 0);
    store(&mixer->fill_bytes, UINT64_MAX);
    store(&mixer->lowest_fill_bytes, UINT64_MAX);
    atomic_store_explicit(&mixer->probes_given, 0, memory_order_relaxed);
    atomic_store_explicit(&mixer->probes_taken, 0, memory_order_relaxed);
}

/* Release: the callback that sees the word (acquire in mixer_render) sees the set-up before it. */
static void command_next(struct mixer *mixer)
{
    atomic_fetch_add_explicit(&mixer->command, 1, memory_order_release);
}

void mixer_start(struct mixer *mixer)
{
    command_next(mixer);
}

void mixer_stop(struct mixer *mixer)
{
    command_next(mixer);
}

bool mixer_at_rest(const struct mixer *mixer)
{
    uint32_t command = atomic_load_explicit(&mixer->command, memory_order_relaxed);
    /* Acquire: pairs with the release at the end of mixer_render; its last touch of a ring is
     * before it. */
    uint32_t answer = atomic_load_explicit(&mixer->answer, memory_order_acquire);
    return command % 2 == 0 && answer == command;
}

bool mixer_take_probe(struct mixer *mixer, struct mixer_probe *probe)
{
    uint32_t taken = atomic_load_explicit(&mixer->probes_taken, memory_order_relaxed);
    if (taken == atomic_load_explicit(&mixer->probes_given, memory_order_acquire))
        return false;
    *probe = mixer->probes[taken % MIXER_PROBES];
    atomic_store_explicit(&mixer->probes_taken, taken + 1, memory_order_release);
    return true;
}

/* --- callback ----------------------------------------------------------------------------- */

/* Copies the first bytes that are about to be played; whole only, so a ring's end may skip one. */
static void give_probe(struct mixer *mixer, uint32_t track, uint64_t readable_bytes)
{
    const struct ring *ring = &mixer->rings[track];
    uint32_t given = atomic_load_explicit(&mixer->probes_given, memory_order_relaxed);
    uint32_t taken = atomic_load_explicit(&mixer->probes_taken, memory_order_acquire);
    uint64_t span_bytes;
    const unsigned char *span = ring_span(ring, &span_bytes);
    if (given - taken == MIXER_PROBES || span_bytes < MIXER_PROBE_BYTES ||
        readable_bytes < MIXER_PROBE_BYTES)
        return;
    struct mixer_probe *probe = &mixer->probes[given % MIXER_PROBES];
    probe->track = track;
    probe->position_bytes = load(&ring->consumed_bytes);
    memcpy(probe->bytes, span, MIXER_PROBE_BYTES);
    atomic_store_explicit(&mixer->probes_given, given + 1, memory_order_release);
}

/* Adds `bytes` (whole samples) of the ring to the sum; a sample may lie across the ring's end. */
static void add_from_ring(const struct mixer *mixer, const struct ring *ring, uint64_t bytes,
                          convert_add add, float scale)
{
    uint32_t sample_bytes = format_sample_bytes(mixer->format.encoding);
    uint64_t span_bytes;
    const unsigned char *span = ring_span(ring, &span_bytes);
    if (span_bytes >= bytes) {
        add(mixer->sum, span, (uint32_t)(bytes / sample_bytes), scale);
        return;
    }
    uint32_t whole = (uint32_t)(span_bytes / sample_bytes);
    uint32_t tail_bytes = (uint32_t)(span_bytes % sample_bytes);
    uint64_t from = 0; /* in memory after the wrap */
    add(mixer->sum, span, whole, scale);
    if (tail_bytes > 0) {
        unsigned char sample[4];
        memcpy(sample, span + span_bytes - tail_bytes, tail_bytes);
        from = sample_bytes - tail_bytes;
        memcpy(sample + tail_bytes, ring->memory, from);
        add(mixer->sum + whole, sample, 1, scale);
        whole++;
    }
    add(mixer->sum + whole, ring->memory + from, (uint32_t)(bytes / sample_bytes) - whole, scale);
}

/* Forced inline: gcc takes a function that only prefetches for one without effect, and drops it. */
static inline __attribute__((always_inline)) void
prefetch_ahead(const struct mixer *mixer, uint32_t track, uint64_t period_bytes)
{
    if (track + PREFETCH_RINGS < mixer->tracks) {
        const struct ring *ring = &mixer->rings[track + PREFETCH_RINGS];
        __builtin_prefetch(ring);
        __builtin_prefetch(&ring->published_bytes);
        __builtin_prefetch(&ring->consumed_bytes, 1);
    }
    if (track + PREFETCH_SAMPLES < mixer->tracks) {
        const struct ring *ring = &mixer->rings[track + PREFETCH_SAMPLES];
        const unsigned char *next = ring->memory + ring->read_offset_bytes;
        uint64_t lines = period_bytes / CACHE_LINE_BYTES + 1;
        for (uint64_t line = 0; line < lines && line < PREFETCH_LINES; line++)
            __builtin_prefetch(next + line * CACHE_LINE_BYTES);
    }
}

/* Folds the sum onto the bus: track channel c goes to bus channel c modulo the bus's channels,
 * and a mono track to all of them. */
static void fold(const struct mixer *mixer, float *bus, uint32_t frames, uint32_t bus_channels)
{
    uint32_t channels = mixer->format.channels;
    memset(bus, 0, (uint64_t)frames * bus_channels * sizeof *bus);
    for (uint32_t frame = 0; frame < frames; frame++) {
        const float *from = mixer->sum + (uint64_t)frame * channels;
        float *to = bus + (uint64_t)frame * bus_channels;
        for (uint32_t i = 0; channels == 1 && i < bus_channels; i++)
            to[i] = from[0];
        for (uint32_t i = 0; channels > 1 && i < channels; i++)
            to[i % bus_channels] += from[i];
    }
}

/* One period, at most sum_frames long. */
static void render_period(struct mixer *mixer, float *bus, uint32_t frames, uint32_t bus_channels)
{
    uint32_t frame_bytes = format_frame_bytes(&mixer->format);
    uint64_t period_bytes = (uint64_t)frames * frame_bytes;
    convert_add add = mixer->silent ? NULL
                                    : convert_function(mixer->format.encoding,
                                                       format_is_big_endian(&mixer->format));
    float scale = mixer->gain / convert_full_scale(mixer->format.encoding);
    uint64_t emptiest = UINT64_MAX, released = 0, underruns = 0;

    memset(mixer->sum, 0, (uint64_t)frames * mixer->format.channels * sizeof *mixer->sum);
    for (uint32_t track = 0; track < mixer->tracks; track++) {
        struct ring *ring = &mixer->rings[track];
        prefetch_ahead(mixer, track, period_bytes);
        uint64_t readable = ring_readable(ring);
        uint64_t bytes = period_bytes;
        if (readable < emptiest)
            emptiest = readable;
        if (readable < period_bytes) {
            underruns++;
            bytes = readable - readable % frame_bytes;
        }
        if (track == mixer->probe_track)
            give_probe(mixer, track, readable);
        if (add != NULL)
            add_from_ring(mixer, ring, bytes, add, scale);
        released += ring_consume(ring, bytes);
    }
    mixer->probe_track = mixer->probe_track + 1 < mixer->tracks ? mixer->probe_track + 1 : 0;
    fold(mixer, bus, frames, bus_channels);

    store(&mixer->underruns, load(&mixer->underruns) + underruns);
    store(&mixer->released_blocks, load(&mixer->released_blocks) + released);
    store(&mixer->fill_bytes, emptiest);
    if (emptiest < load(&mixer->lowest_fill_bytes))
        store(&mixer->lowest_fill_bytes, emptiest);
    store(&mixer->frames, load(&mixer->frames) + frames);
}

void mixer_render(void *user, float *bus, uint32_t frames, uint32_t bus_channels, uint64_t now_ns)
{
    struct mixer *mixer = user;
    uint32_t command = atomic_load_explicit(&mixer->command, memory_order_acquire);
    if (command % 2 == 0) {
        memset(bus, 0, (uint64_t)frames * bus_channels * sizeof *bus);
    } else {
        for (uint32_t done = 0; done < frames;) {
            uint32_t part = frames - done < mixer->sum_frames ? frames - done : mixer->sum_frames;
            render_period(mixer, bus + (uint64_t)done * bus_channels, part, bus_channels);
            done += part;
        }
        store(&mixer->period_frames, frames);
        store(&mixer->frames_ns, now_ns);
    }
    atomic_store_explicit(&mixer->answer, command, memory_order_release);
}
