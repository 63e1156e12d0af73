/* The built-in clock, and audio.c's judgement of any driver's clock. */
#include "audio.h"
#include "audio/driver.h"
#include "monotonic.h"
#include "units.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RATE_HZ = 44100, FRAMES = 256 };

#define PERIOD_NS (FRAMES * UNITS_NS_PER_SECOND / RATE_HZ)

static void sleep_ns(uint64_t duration_ns)
{
    uint64_t until_ns = monotonic_ns() + duration_ns;
    while (monotonic_ns() < until_ns)
        monotonic_sleep_until(until_ns);
}

/* --- a render that counts for itself ------------------------------------------------------- */

struct listener {
    _Atomic uint64_t frames;
    _Atomic uint64_t calls;
    _Atomic uint64_t backwards; /* `now_ns` that was not after the one before */
    _Atomic uint64_t sleep_ns;  /* the next call takes this long, once */
    uint64_t last_ns;
};

static void listen(void *user, float *bus, uint32_t frames, uint32_t bus_channels, uint64_t now_ns)
{
    struct listener *listener = user;
    for (uint32_t i = 0; i < bus_channels * frames; i++)
        bus[i] = 0.5F;
    listener->frames += frames;
    listener->calls++;
    listener->backwards += now_ns <= listener->last_ns;
    listener->last_ns = now_ns;
    uint64_t nap_ns = atomic_exchange(&listener->sleep_ns, 0);
    if (nap_ns > 0)
        sleep_ns(nap_ns);
}

static struct audio *open_clock(struct listener *listener)
{
    struct audio_options options = {.device = "clock",
                                    .sample_rate_hz = RATE_HZ,
                                    .frames = FRAMES,
                                    .render = listen,
                                    .user = listener};
    struct audio *audio = NULL;
    struct error error = {0};
    assert_int_equal(audio_open(&audio, &options, &error), 0);
    assert_int_equal(error.kind, ERROR_NONE);
    assert_non_null(audio);
    return audio;
}

/* Seconds of audio in a second, callback to callback. */
static double pace_between(const struct audio_counters *from, const struct audio_counters *to)
{
    return (double)(to->frames - from->frames) / RATE_HZ /
           ((double)(to->last_ns - from->last_ns) / 1e9);
}

static void watch(struct audio *audio, uint64_t duration_ns)
{
    struct error error = {0};
    for (uint64_t end_ns = monotonic_ns() + duration_ns; monotonic_ns() < end_ns;) {
        assert_int_equal(audio_check(audio, &error), 0);
        sleep_ns(3 * UNITS_NS_PER_MS);
    }
}

static void clock_describes_itself(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct audio *audio = open_clock(&listener);
    const struct audio_info *info = audio_info(audio);
    assert_string_equal(info->driver, "clock");
    assert_string_equal(info->host_api, "none");
    assert_string_equal(info->device, "built-in clock");
    assert_int_equal(info->sample_rate_hz, RATE_HZ);
    assert_int_equal(info->frames, FRAMES);
    assert_int_equal(info->channels, 2);
    assert_false(info->fell_back);
    audio_close(audio);
    audio_close(NULL);
}

static void clock_keeps_time_and_counts(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct audio *audio = open_clock(&listener);
    struct audio_counters from, to;
    audio_counters(audio, &from);
    watch(audio, 1500 * UNITS_NS_PER_MS);
    audio_counters(audio, &to);
    assert_true(from.frames >= RATE_HZ); /* what audio_open waited for */
    assert_true(to.callbacks - from.callbacks > 200);
    assert_true(pace_between(&from, &to) > 0.98);
    assert_true(pace_between(&from, &to) < 1.02);
    assert_int_equal(to.frames, to.callbacks * FRAMES);
    assert_int_equal(to.longest_frames, FRAMES);
    assert_int_equal(to.device_xruns, 0);
    assert_true(to.busy_ns > from.busy_ns);
    audio_close(audio);
    assert_true(listener.calls >= to.callbacks);
    assert_int_equal(listener.frames, listener.calls * FRAMES);
    assert_int_equal(listener.backwards, 0);
    /* Closed is closed: nobody calls any more. */
    uint64_t calls = listener.calls;
    sleep_ns(5 * PERIOD_NS);
    assert_int_equal(listener.calls, calls);
}

/* All counters that a reader gets belong to the same callback, however often it looks. */
static void counters_are_one_moments(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct audio *audio = open_clock(&listener);
    struct audio_counters now, first;
    audio_counters(audio, &first);
    do {
        audio_counters(audio, &now);
        assert_int_equal(now.frames, now.callbacks * FRAMES);
    } while (now.callbacks < first.callbacks + 50);
    audio_close(audio);
}

static void late_callbacks_are_counted_and_caught_up(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct audio *audio = open_clock(&listener);
    struct audio_counters from, to;
    audio_counters(audio, &from);
    atomic_store(&listener.sleep_ns, 20 * PERIOD_NS);
    watch(audio, 100 * PERIOD_NS);
    audio_counters(audio, &to);
    /* Of the 20 periods slept through all but the last were due a period ago or more. */
    assert_true(to.late_callbacks - from.late_callbacks >= 18);
    assert_true(to.busy_ns - from.busy_ns >= 20 * PERIOD_NS);
    double played_s = (double)(to.frames - from.frames) / RATE_HZ;
    double passed_s = (double)(to.last_ns - from.last_ns) / 1e9;
    assert_true(passed_s - played_s < 8 * (double)PERIOD_NS / 1e9);
    audio_close(audio);
}

/* --- a driver whose clock the tests turn ----------------------------------------------------- */

struct puppet {
    struct driver_stream base;
    pthread_t thread;
    atomic_bool halt;
    bool joined;
    double pace;
    uint64_t now_ns; /* of the last callback; the tests move on from it once it is halted */
};

static double puppet_pace;
static struct puppet *puppet_opened;

static void puppet_call(struct puppet *puppet, uint64_t entry_ns, bool late, uint64_t busy_ns)
{
    struct driver_callback callback = {
        .entry_ns = entry_ns, .frames = FRAMES, .late = late, .busy_ns = busy_ns};
    puppet->now_ns = entry_ns;
    driver_count(&puppet->base.counters, &callback);
}

static void *puppet_run(void *argument)
{
    struct puppet *puppet = argument;
    uint64_t start_ns = monotonic_ns();
    for (uint64_t number = 1; !atomic_load(&puppet->halt); number++) {
        uint64_t due_ns = start_ns + (uint64_t)((double)(number * PERIOD_NS) / puppet->pace);
        while (monotonic_ns() < due_ns)
            monotonic_sleep_until(due_ns);
        puppet_call(puppet, due_ns, false, 1000);
    }
    return NULL;
}

static void puppet_halt(struct puppet *puppet)
{
    atomic_store(&puppet->halt, true);
    if (!puppet->joined)
        pthread_join(puppet->thread, NULL);
    puppet->joined = true;
}

static enum driver_opened puppet_open(struct driver_stream **stream,
                                      const struct audio_options *options, struct error *error)
{
    (void)error;
    struct puppet *puppet = aligned_alloc(_Alignof(struct puppet), sizeof *puppet);
    assert_non_null(puppet);
    memset(puppet, 0, sizeof *puppet);
    puppet->pace = puppet_pace;
    puppet->base.info = (struct audio_info){.driver = "puppet",
                                            .host_api = "strings",
                                            .device = "Punch",
                                            .sample_rate_hz = options->sample_rate_hz,
                                            .frames = options->frames,
                                            .channels = 2};
    if (puppet_pace > 0)
        assert_int_equal(pthread_create(&puppet->thread, NULL, puppet_run, puppet), 0);
    else
        puppet->joined = true;
    puppet_opened = puppet;
    *stream = &puppet->base;
    return DRIVER_OPENED;
}

static void puppet_close(struct driver_stream *stream)
{
    puppet_halt((struct puppet *)stream);
    free(stream);
}

static const struct driver puppet_driver = {.open = puppet_open, .close = puppet_close};

static enum driver_opened open_puppet(struct audio **audio, double pace, struct error *error)
{
    struct audio_options options = {.sample_rate_hz = RATE_HZ, .frames = FRAMES, .render = listen};
    puppet_pace = pace;
    return audio_open_driver(audio, &puppet_driver, &options, error);
}

/* A puppet that has opened in time and now waits for the test to make its callbacks. */
static struct audio *open_halted(void)
{
    struct audio *audio = NULL;
    struct error error = {0};
    assert_int_equal(open_puppet(&audio, 1.0, &error), DRIVER_OPENED);
    puppet_halt(puppet_opened);
    return audio;
}

/* Callbacks for `seconds` of made-up time at a pace, one in `late_every` late; checks as it goes,
 * and returns the first answer that is not 0. */
static int play(struct audio *audio, double seconds, double pace, unsigned late_every,
                struct error *error)
{
    struct puppet *puppet = puppet_opened;
    uint64_t step_ns = (uint64_t)((double)PERIOD_NS / pace);
    unsigned callbacks = (unsigned)(seconds * 1e9 / (double)step_ns);
    for (unsigned i = 1; i <= callbacks; i++) {
        bool late = late_every > 0 && i % late_every == 0;
        puppet_call(puppet, puppet->now_ns + step_ns, late, 1000);
        if (audio_check(audio, error) != 0)
            return -1;
    }
    return 0;
}

static void refused_with(const struct error *error, const char *words)
{
    assert_int_equal(error->kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(error->text, words));
    assert_non_null(strstr(error->text, "Punch"));
    assert_non_null(strstr(error->text, "--device clock"));
    assert_null(strchr(error->text, '\n'));
}

static void open_refuses_a_runaway(void **state)
{
    (void)state;
    struct audio *audio = NULL;
    struct error error = {0};
    assert_int_equal(open_puppet(&audio, 1000, &error), DRIVER_FAILED);
    refused_with(&error, "as fast as it can");
    assert_null(audio);
}

static void open_refuses_a_slow_clock(void **state)
{
    (void)state;
    struct audio *audio = NULL;
    struct error error = {0};
    assert_int_equal(open_puppet(&audio, 0.95, &error), DRIVER_FAILED);
    refused_with(&error, "keeps no time: 0.95");
}

static void open_refuses_the_mute(void **state)
{
    (void)state;
    struct audio *audio = NULL;
    struct error error = {0};
    assert_int_equal(open_puppet(&audio, 0, &error), DRIVER_FAILED);
    refused_with(&error, "never asks");
}

static void check_passes_a_true_clock(void **state)
{
    (void)state;
    struct audio *audio = open_halted();
    struct error error = {0};
    assert_int_equal(play(audio, 20, 1.0, 0, &error), 0);
    assert_int_equal(play(audio, 20, 0.99, 0, &error), 0);
    assert_int_equal(play(audio, 20, 1.01, 0, &error), 0);
    audio_close(audio);
}

static void check_finds_a_drift(void **state)
{
    (void)state;
    static const double paces[] = {0.9, 0.97, 1.03, 1.5};
    for (unsigned i = 0; i < sizeof paces / sizeof paces[0]; i++) {
        struct audio *audio = open_halted();
        struct error error = {0};
        assert_int_equal(play(audio, 10, 1.0, 0, &error), 0);
        assert_int_equal(play(audio, 5, paces[i], 0, &error), -1);
        refused_with(&error, "keeps no time");
        audio_close(audio);
    }
}

static void check_blames_no_device_for_want_of_cpu(void **state)
{
    (void)state;
    struct audio *audio = open_halted();
    struct error error = {0};
    assert_int_equal(play(audio, 10, 0.9, 10, &error), 0);
    /* The same drift with none late any more is the device's own. */
    assert_int_equal(play(audio, 10, 0.9, 0, &error), -1);
    audio_close(audio);
}

/* Every callback late, and render idle: no want of CPU, but half a clock. */
static void check_finds_half_a_clock(void **state)
{
    (void)state;
    struct audio *audio = open_halted();
    struct error error = {0};
    assert_int_equal(play(audio, 10, 0.5, 1, &error), -1);
    audio_close(audio);
}

static void check_finds_a_stand_still(void **state)
{
    (void)state;
    struct audio *audio = open_halted();
    struct error error = {0};
    uint64_t began_ns = monotonic_ns();
    while (audio_check(audio, &error) == 0 && monotonic_ns() < began_ns + 5 * UNITS_NS_PER_SECOND)
        sleep_ns(5 * UNITS_NS_PER_MS);
    uint64_t took_ns = monotonic_ns() - began_ns;
    refused_with(&error, "gone");
    assert_true(took_ns > 900 * UNITS_NS_PER_MS);
    assert_true(took_ns < 3 * UNITS_NS_PER_SECOND);
    audio_close(audio);
}

/* After a process was stopped, main looks before the device had its turn. */
static void check_forgives_one_look_after_a_pause(void **state)
{
    (void)state;
    struct audio *audio = open_halted();
    struct error error = {0};
    sleep_ns(1300 * UNITS_NS_PER_MS);
    assert_int_equal(audio_check(audio, &error), 0);
    puppet_call(puppet_opened, monotonic_ns(), true, 1000);
    sleep_ns(200 * UNITS_NS_PER_MS);
    assert_int_equal(audio_check(audio, &error), 0);
    audio_close(audio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_describes_itself),
        cmocka_unit_test(clock_keeps_time_and_counts),
        cmocka_unit_test(counters_are_one_moments),
        cmocka_unit_test(late_callbacks_are_counted_and_caught_up),
        cmocka_unit_test(open_refuses_a_runaway),
        cmocka_unit_test(open_refuses_a_slow_clock),
        cmocka_unit_test(open_refuses_the_mute),
        cmocka_unit_test(check_passes_a_true_clock),
        cmocka_unit_test(check_finds_a_drift),
        cmocka_unit_test(check_blames_no_device_for_want_of_cpu),
        cmocka_unit_test(check_finds_half_a_clock),
        cmocka_unit_test(check_finds_a_stand_still),
        cmocka_unit_test(check_forgives_one_look_after_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
