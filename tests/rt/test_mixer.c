#include "mixer.h"

#include "mixer_fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BUS_FRAMES = 256 };

static const struct track_format mono = {CONTAINER_WAV, ENCODING_PCM16, 44100, 1};

static void assert_near(double got, double expected)
{
    if (fabs(got - expected) > 1e-5)
        fail_msg("the bus holds %.7f, not %.7f", got, expected);
}

/* --- sums --------------------------------------------------------------------------------- */

/* Plays several times round the rings in callbacks of changing size, some longer than the mixer
 * sums at once, each sample on the bus compared. */
static void check_stream(struct track_format format, uint32_t tracks, uint32_t bus_channels)
{
    static const uint32_t sizes[] = {1, 63, 64, 65, 16, 130, 31};
    uint32_t frame_bytes = format_frame_bytes(&format);
    uint64_t held_frames = (FIXTURE_SLOTS - 1) * FIXTURE_BLOCK_BYTES / frame_bytes;
    uint64_t rounds_frames = (uint64_t)5 * FIXTURE_SLOTS * FIXTURE_BLOCK_BYTES / frame_bytes;
    struct mixer_fixture *fixture = fixture_new(format, tracks, 0);
    float bus[BUS_FRAMES * 2];
    uint64_t played = 0, turn = 0;
    mixer_start(&fixture->mixer);
    while (played < rounds_frames) {
        uint32_t frames = sizes[turn++ % (sizeof sizes / sizeof *sizes)];
        if (frames > held_frames)
            frames = (uint32_t)held_frames;
        fixture_feed_all(fixture);
        mixer_render(&fixture->mixer, bus, frames, bus_channels, 1000 + turn);
        for (uint32_t i = 0; i < frames * bus_channels; i++)
            assert_near((double)bus[i], fixture_bus(fixture, played + i / bus_channels,
                                                    i % bus_channels, bus_channels));
        played += frames;
        assert_int_equal(fixture->mixer.frames, played);
        assert_int_equal(fixture->mixer.period_frames, frames);
        assert_int_equal(fixture->mixer.frames_ns, 1000 + turn);
        assert_int_equal(fixture->mixer.released_blocks,
                         played * frame_bytes / FIXTURE_BLOCK_BYTES * tracks);
    }
    assert_int_equal(fixture->mixer.underruns, 0);
    fixture_free(fixture);
}

static void test_sums_of_one_to_many_tracks(void **state)
{
    (void)state;
    for (uint32_t tracks = 1; tracks <= FIXTURE_TRACKS; tracks++)
        check_stream(mono, tracks, 2);
}

/* 512 x 4 bytes are no multiple of 3, 6, 10 or 15: samples and frames lie across the ring's end. */
static void test_every_encoding_and_byte_order(void **state)
{
    (void)state;
    for (int encoding = 0; encoding < ENCODING_COUNT; encoding++) {
        struct track_format format = {CONTAINER_WAV, (enum encoding)encoding, 48000, 1};
        check_stream(format, 3, 2);
        format.container = CONTAINER_AIFF;
        check_stream(format, 3, 2);
    }
}

static void test_channels_are_folded_onto_the_bus(void **state)
{
    (void)state;
    for (int encoding = 0; encoding < ENCODING_COUNT; encoding++) {
        for (uint32_t channels = 1; channels <= 7; channels++) {
            struct track_format format = {CONTAINER_W64, (enum encoding)encoding, 96000, channels};
            check_stream(format, 2, 1);
            check_stream(format, 2, 2);
        }
    }
}

static void test_the_gain_is_applied_to_every_track(void **state)
{
    (void)state;
    struct mixer_fixture *fixture = fixture_new(mono, 4, 0);
    float bus[32];
    fixture->mixer.gain = 0.125f;
    fixture_feed_all(fixture);
    mixer_start(&fixture->mixer);
    mixer_render(&fixture->mixer, bus, 32, 1, 1);
    for (uint32_t i = 0; i < 32; i++)
        assert_near((double)bus[i], fixture_bus(fixture, i, 0, 1));
    fixture_free(fixture);
}

/* --- rings that lack something ------------------------------------------------------------ */

static void test_an_underrun_is_silent_and_counted(void **state)
{
    (void)state;
    /* 10 frames of the first block are left; then one ring gets more, the other does not. */
    struct mixer_fixture *fixture = fixture_new(mono, 2, FIXTURE_BLOCK_BYTES - 20);
    const uint64_t first = (FIXTURE_BLOCK_BYTES - 20) / 2;
    struct mixer *mixer = &fixture->mixer;
    float bus[16];
    mixer_start(mixer);
    mixer_render(mixer, bus, 8, 1, 1);
    assert_int_equal(mixer->underruns, 0);
    assert_int_equal(mixer->fill_bytes, 20);
    fixture_feed(fixture, 1);
    mixer_render(mixer, bus, 16, 1, 2);
    for (uint32_t i = 0; i < 16; i++) {
        double expected = fixture_value(1, first + 8 + i);
        if (i < 2)
            expected += fixture_value(0, first + 8 + i);
        assert_near((double)bus[i], expected);
    }
    assert_int_equal(mixer->underruns, 1);
    assert_int_equal(mixer->fill_bytes, 4);
    mixer_render(mixer, bus, 16, 1, 3);
    assert_int_equal(mixer->underruns, 2);
    assert_int_equal(mixer->fill_bytes, 0);
    /* What comes late is played from where the stream stopped. */
    fixture_feed(fixture, 0);
    mixer_render(mixer, bus, 16, 1, 4);
    for (uint32_t i = 0; i < 16; i++)
        assert_near((double)bus[i],
                    fixture_value(0, first + 10 + i) + fixture_value(1, first + 40 + i));
    assert_int_equal(mixer->underruns, 2);
    assert_int_equal(mixer->fill_bytes, 452);
    assert_int_equal(mixer->lowest_fill_bytes, 0);
    assert_int_equal(mixer->released_blocks, 2);
    fixture_free(fixture);
}

/* Each part of a long callback that finds too little counts, for each track. */
static void test_underruns_are_counted_for_each_ring(void **state)
{
    (void)state;
    struct mixer_fixture *fixture = fixture_new(mono, 5, FIXTURE_BLOCK_BYTES - 2);
    float bus[2 * FIXTURE_SUM_FRAMES];
    mixer_start(&fixture->mixer);
    mixer_render(&fixture->mixer, bus, 2 * FIXTURE_SUM_FRAMES, 1, 1);
    assert_int_equal(fixture->mixer.underruns, 10);
    assert_int_equal(fixture->mixer.released_blocks, 5);
    for (uint32_t i = 1; i < 2 * FIXTURE_SUM_FRAMES; i++)
        assert_true(bus[i] == 0);
    fixture_free(fixture);
}

/* 512 bytes are 170 samples of 24 bits and 2 bytes over, which wait for their third. */
static void test_half_a_sample_waits_for_the_rest_of_it(void **state)
{
    (void)state;
    struct track_format format = {CONTAINER_WAV, ENCODING_PCM24, 44100, 1};
    struct mixer_fixture *fixture = fixture_new(format, 1, 501);
    float bus[8];
    mixer_start(&fixture->mixer);
    mixer_render(&fixture->mixer, bus, 8, 1, 1);
    for (uint32_t i = 0; i < 8; i++)
        assert_near((double)bus[i], i < 3 ? fixture_value(0, 167 + i) : 0);
    assert_int_equal(fixture->mixer.released_blocks, 0);
    fixture_feed(fixture, 0);
    mixer_render(&fixture->mixer, bus, 8, 1, 2);
    for (uint32_t i = 0; i < 8; i++)
        assert_near((double)bus[i], fixture_value(0, 170 + i));
    assert_int_equal(fixture->mixer.released_blocks, 1);
    assert_int_equal(fixture->mixer.underruns, 1);
    fixture_free(fixture);
}

/* --- silent ------------------------------------------------------------------------------- */

static void assert_same_counts(const struct mixer_fixture *one, const struct mixer_fixture *other)
{
    assert_int_equal(one->mixer.frames, other->mixer.frames);
    assert_int_equal(one->mixer.frames_ns, other->mixer.frames_ns);
    assert_int_equal(one->mixer.period_frames, other->mixer.period_frames);
    assert_int_equal(one->mixer.released_blocks, other->mixer.released_blocks);
    assert_int_equal(one->mixer.underruns, other->mixer.underruns);
    assert_int_equal(one->mixer.fill_bytes, other->mixer.fill_bytes);
    assert_int_equal(one->mixer.lowest_fill_bytes, other->mixer.lowest_fill_bytes);
    for (uint32_t track = 0; track < one->mixer.tracks; track++)
        assert_int_equal(one->rings[track].consumed_bytes, other->rings[track].consumed_bytes);
}

/* Rings are fed for a while, then run dry, then are fed again: all that is counted is the same. */
static void test_a_silent_mixer_counts_as_one_that_mixes(void **state)
{
    (void)state;
    enum { CALLS = 300, FRAMES = 70 };
    struct track_format format = {CONTAINER_AIFF, ENCODING_PCM24, 44100, 2};
    struct mixer_fixture *mixing = fixture_new(format, 3, 501);
    struct mixer_fixture *silent = fixture_new(format, 3, 501);
    float bus[FRAMES * 2], quiet[FRAMES * 2];
    uint32_t heard = 0;
    silent->mixer.silent = true;
    mixer_start(&mixing->mixer);
    mixer_start(&silent->mixer);
    for (uint32_t call = 0; call < CALLS; call++) {
        if (call % 20 < 10) {
            fixture_feed_all(mixing);
            fixture_feed_all(silent);
        }
        memset(quiet, 0x55, sizeof quiet);
        mixer_render(&mixing->mixer, bus, FRAMES, 2, call);
        mixer_render(&silent->mixer, quiet, FRAMES, 2, call);
        assert_same_counts(silent, mixing);
        for (uint32_t i = 0; i < FRAMES * 2; i++) {
            assert_true(quiet[i] == 0);
            heard += bus[i] != 0;
        }
    }
    assert_true(heard > CALLS * FRAMES / 2);
    assert_in_range(silent->mixer.underruns, 3 * CALLS / 4, 3 * CALLS);
    assert_true(silent->mixer.released_blocks > CALLS);
    fixture_free(mixing);
    fixture_free(silent);
}

/* --- rest and play ------------------------------------------------------------------------ */

static void test_at_rest_the_bus_is_silent_and_nothing_is_taken(void **state)
{
    (void)state;
    struct mixer_fixture *fixture = fixture_new(mono, 3, 0);
    float bus[64];
    memset(bus, 0x55, sizeof bus);
    assert_true(mixer_at_rest(&fixture->mixer));
    mixer_render(&fixture->mixer, bus, 32, 2, 1);
    for (uint32_t i = 0; i < 64; i++)
        assert_true(bus[i] == 0);
    assert_int_equal(fixture->mixer.frames, 0);
    assert_int_equal(ring_readable(&fixture->rings[0]), FIXTURE_BLOCK_BYTES);
    mixer_start(&fixture->mixer);
    assert_false(mixer_at_rest(&fixture->mixer));
    mixer_render(&fixture->mixer, bus, 32, 2, 2);
    assert_false(mixer_at_rest(&fixture->mixer));
    mixer_stop(&fixture->mixer);
    assert_false(mixer_at_rest(&fixture->mixer)); /* not before the callback has said so */
    mixer_render(&fixture->mixer, bus, 32, 2, 3);
    assert_true(mixer_at_rest(&fixture->mixer));
    assert_int_equal(fixture->mixer.frames, 32);
    fixture_free(fixture);
}

struct caller {
    struct mixer *mixer;
    _Atomic bool end;
    uint64_t calls;
};

static void *call_render(void *argument)
{
    struct caller *caller = argument;
    float bus[2 * 48];
    while (!atomic_load(&caller->end)) {
        mixer_render(caller->mixer, bus, 48, 2, ++caller->calls);
        sched_yield();
    }
    return NULL;
}

/* The rings and the set-up are written without any lock while the callback goes on: TSan says
 * whether the handshake makes them the main thread's own. */
static void test_the_rings_are_ours_between_stop_and_start(void **state)
{
    (void)state;
    enum { ROUNDS = 200, PLAYED_FRAMES = 480 };
    struct mixer_fixture *fixture = fixture_new(mono, FIXTURE_TRACKS, 0);
    struct mixer *mixer = &fixture->mixer;
    struct caller caller = {.mixer = mixer};
    pthread_t thread;
    uint64_t played = 0;
    assert_int_equal(pthread_create(&thread, NULL, call_render, &caller), 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        mixer->tracks = 1 + round % FIXTURE_TRACKS;
        for (uint32_t track = 0; track < mixer->tracks; track++) {
            memset(fixture->memory[track], (int)round, sizeof fixture->memory[track]);
            ring_init(&fixture->rings[track], fixture->memory[track], FIXTURE_BLOCK_BYTES,
                      FIXTURE_SLOTS, FIXTURE_SLOTS * FIXTURE_BLOCK_BYTES, 0);
        }
        mixer_reset(mixer);
        mixer_start(mixer);
        while (atomic_load(&mixer->frames) < PLAYED_FRAMES)
            sched_yield();
        mixer_stop(mixer);
        while (!mixer_at_rest(mixer))
            sched_yield();
        played += mixer->frames;
        uint64_t held = FIXTURE_SLOTS * FIXTURE_BLOCK_BYTES;
        uint64_t taken = 2 * mixer->frames < held ? 2 * mixer->frames : held;
        for (uint32_t track = 0; track < mixer->tracks; track++)
            assert_int_equal(ring_readable(&fixture->rings[track]), held - taken);
    }
    atomic_store(&caller.end, true);
    pthread_join(thread, NULL);
    assert_true(played >= ROUNDS * PLAYED_FRAMES && played % 48 == 0);
    assert_true(caller.calls >= played / 48 + ROUNDS); /* and one at rest in each round */
    fixture_free(fixture);
}

/* --- probes ------------------------------------------------------------------------------- */

static void check_probe(const struct mixer_fixture *fixture, const struct mixer_probe *probe)
{
    for (uint64_t i = 0; i < MIXER_PROBE_BYTES; i++)
        assert_int_equal(probe->bytes[i], fixture_byte(&fixture->mixer.format, probe->track,
                                                       probe->position_bytes + i));
}

static void test_probes_show_what_is_about_to_be_played(void **state)
{
    (void)state;
    struct track_format format = {CONTAINER_AIFF, ENCODING_PCM24, 44100, 1};
    struct mixer_fixture *fixture = fixture_new(format, 3, 0);
    struct mixer_probe probe;
    float bus[32];
    uint64_t given = 0;
    assert_false(mixer_take_probe(&fixture->mixer, &probe));
    mixer_start(&fixture->mixer);
    for (uint64_t call = 0; call < 1000; call++) {
        fixture_feed_all(fixture);
        mixer_render(&fixture->mixer, bus, 32, 1, call);
        if (!mixer_take_probe(&fixture->mixer, &probe))
            continue; /* less than a probe lay before the ring's end */
        assert_int_equal(probe.track, call % 3);
        assert_int_equal(probe.position_bytes, call * 32 * 3);
        check_probe(fixture, &probe);
        assert_false(mixer_take_probe(&fixture->mixer, &probe));
        given++;
    }
    assert_true(given > 950);
    fixture_free(fixture);
}

static void test_probes_not_taken_stay_as_they_are(void **state)
{
    (void)state;
    struct mixer_fixture *fixture = fixture_new(mono, 2, 0);
    struct mixer_probe probe;
    float bus[4];
    mixer_start(&fixture->mixer);
    for (uint64_t call = 0; call < 3 * MIXER_PROBES; call++) {
        fixture_feed_all(fixture);
        mixer_render(&fixture->mixer, bus, 4, 1, call);
    }
    for (uint64_t i = 0; i < MIXER_PROBES; i++) {
        assert_true(mixer_take_probe(&fixture->mixer, &probe));
        assert_int_equal(probe.position_bytes, i * 4 * 2);
        check_probe(fixture, &probe);
    }
    assert_false(mixer_take_probe(&fixture->mixer, &probe));
    mixer_render(&fixture->mixer, bus, 4, 1, 1);
    assert_true(mixer_take_probe(&fixture->mixer, &probe)); /* there is room again */
    assert_int_equal(probe.position_bytes, 3 * MIXER_PROBES * 4 * 2);
    fixture_free(fixture);
}

/* An empty ring has nothing to show. */
static void test_an_empty_ring_gives_no_probe(void **state)
{
    (void)state;
    struct mixer_fixture *fixture = fixture_new(mono, 1, FIXTURE_BLOCK_BYTES - 6);
    struct mixer_probe probe;
    float bus[4];
    mixer_start(&fixture->mixer);
    mixer_render(&fixture->mixer, bus, 4, 1, 1);
    mixer_render(&fixture->mixer, bus, 4, 1, 2);
    assert_false(mixer_take_probe(&fixture->mixer, &probe));
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_one_to_many_tracks),
        cmocka_unit_test(test_every_encoding_and_byte_order),
        cmocka_unit_test(test_channels_are_folded_onto_the_bus),
        cmocka_unit_test(test_the_gain_is_applied_to_every_track),
        cmocka_unit_test(test_an_underrun_is_silent_and_counted),
        cmocka_unit_test(test_underruns_are_counted_for_each_ring),
        cmocka_unit_test(test_half_a_sample_waits_for_the_rest_of_it),
        cmocka_unit_test(test_a_silent_mixer_counts_as_one_that_mixes),
        cmocka_unit_test(test_at_rest_the_bus_is_silent_and_nothing_is_taken),
        cmocka_unit_test(test_the_rings_are_ours_between_stop_and_start),
        cmocka_unit_test(test_probes_show_what_is_about_to_be_played),
        cmocka_unit_test(test_probes_not_taken_stay_as_they_are),
        cmocka_unit_test(test_an_empty_ring_gives_no_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
