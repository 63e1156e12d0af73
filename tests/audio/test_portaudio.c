/*
 * The PortAudio driver against ALSA configurations without a sound card and JACK servers without
 * hardware. Each test runs in a child, for PortAudio may never come back from a dead server, and
 * what it and the environment hold is the process's. Run from the repository's root.
 */
#include "audio.h"
#include "audio/surroundings.h"
#include "monotonic.h"
#include "units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RATE_HZ = 44100, FRAMES = 256 };

/* --- in the child ---------------------------------------------------------------------------- */

static _Atomic uint64_t rendered_frames;
static _Atomic uint64_t nap_ns;

static void sleep_ns(uint64_t duration_ns)
{
    uint64_t until_ns = monotonic_ns() + duration_ns;
    while (monotonic_ns() < until_ns)
        monotonic_sleep_until(until_ns);
}

static void render(void *user, float *bus, uint32_t frames, uint32_t bus_channels, uint64_t now_ns)
{
    (void)user;
    (void)now_ns;
    memset(bus, 0, (size_t)frames * bus_channels * sizeof *bus);
    rendered_frames += frames;
    uint64_t duration_ns = atomic_exchange(&nap_ns, 0);
    if (duration_ns > 0)
        sleep_ns(duration_ns);
}

static int open_output(struct audio **audio, const char *device, uint32_t rate_hz,
                       struct error *error)
{
    struct audio_options options = {
        .device = device, .sample_rate_hz = rate_hz, .frames = FRAMES, .render = render};
    *audio = NULL;
    return audio_open(audio, &options, error);
}

static void expect_error(const char *device, uint32_t rate_hz, enum error_kind kind,
                         const char *const *words)
{
    struct audio *audio;
    struct error error = {0};
    CHECK(open_output(&audio, device, rate_hz, &error) == -1);
    CHECK(audio == NULL);
    dprintf(STDOUT_FILENO, "  %s\n", error.text);
    CHECK(error.kind == kind);
    CHECK(strchr(error.text, '\n') == NULL);
    for (; *words != NULL; words++)
        CHECK(strstr(error.text, *words) != NULL);
}

/* --- no device ------------------------------------------------------------------------------- */

static void child_falls_back(void)
{
    struct audio *audio;
    struct error error = {0};
    CHECK(open_output(&audio, NULL, RATE_HZ, &error) == 0);
    CHECK(strcmp(audio_info(audio)->driver, "clock") == 0);
    CHECK(audio_info(audio)->fell_back);
    audio_close(audio);

    struct audio_device *devices = NULL;
    size_t count = 0;
    CHECK(audio_list(&devices, &count, &error) == 0);
    CHECK(count == 1);
    CHECK(strcmp(devices[0].name, "clock") == 0);
    CHECK(devices[0].is_default);
    free(devices);
}

static void without_a_device_the_clock_stands_in(void **state)
{
    (void)state;
    alsa_is(ALSA_NOTHING);
    run_in_child(child_falls_back);
}

static void child_unknown_name(void)
{
    static const char *const words[] = {"--device", "no such thing", "`trackramp devices`",
                                        "--device clock", NULL};
    expect_error("no such thing", RATE_HZ, ERROR_USAGE, words);
    static const char *const empty[] = {"--device", NULL};
    expect_error("", RATE_HZ, ERROR_USAGE, empty);
}

static void an_unknown_name_is_bad_usage(void **state)
{
    (void)state;
    alsa_is(ALSA_NOTHING);
    run_in_child(child_unknown_name);
    alsa_is(ALSA_NOTHING "pcm.one { type null }\n");
    run_in_child(child_unknown_name);
}

/* --- ALSA ------------------------------------------------------------------------------------ */

/* Far less than it would have taken had nobody stopped it: 13,000 s of audio a second. */
static void check_bounded(void)
{
    CHECK(rendered_frames < UINT64_C(10) * RATE_HZ);
}

static void child_default_null(void)
{
    static const char *const words[] = {"`default`", "ALSA", "keeps no time", "--device clock",
                                        NULL};
    expect_error(NULL, RATE_HZ, ERROR_ENVIRONMENT, words);
    check_bounded();
    /* Not the end of everything: the clock opens in the same process. */
    struct audio *audio;
    struct error error = {0};
    CHECK(open_output(&audio, "clock", RATE_HZ, &error) == 0);
    CHECK(!audio_info(audio)->fell_back);
    audio_close(audio);
}

static void a_default_that_keeps_no_time_is_refused(void **state)
{
    (void)state;
    alsa_is(ALSA_DEFAULT_NULL);
    run_in_child(child_default_null);
}

static void child_names(void)
{
    static const char *const ambiguous[] = {"`silent` fits 2", "`trackramp devices`", NULL};
    expect_error("silent", RATE_HZ, ERROR_USAGE, ambiguous);
    static const char *const part[] = {"`silent_two`", "keeps no time", NULL};
    expect_error("NT_TWO", RATE_HZ, ERROR_ENVIRONMENT, part);
    static const char *const whole[] = {"`one`", "keeps no time", NULL};
    expect_error("one", RATE_HZ, ERROR_ENVIRONMENT, whole);
}

static void names_match_whole_then_in_part(void **state)
{
    (void)state;
    alsa_is(ALSA_NOTHING
            "pcm.silent_one { type null }\npcm.silent_two { type null }\npcm.one { type null }\n");
    run_in_child(child_names);
}

/* --- JACK ------------------------------------------------------------------------------------ */

static void child_jack_is_default(void)
{
    struct error error = {0};
    struct audio_device *devices = NULL;
    size_t count = 0;
    CHECK(audio_list(&devices, &count, &error) == 0);
    CHECK(count == 3);
    unsigned defaults = 0;
    for (size_t i = 0; i < count; i++) {
        if (devices[i].is_default)
            CHECK(strncmp(devices[i].host_api, "JACK", 4) == 0);
        defaults += devices[i].is_default;
    }
    CHECK(defaults == 1);
    CHECK(strcmp(devices[count - 1].name, "clock") == 0);
    free(devices);

    struct audio *audio;
    CHECK(open_output(&audio, NULL, RATE_HZ, &error) == 0);
    const struct audio_info *info = audio_info(audio);
    CHECK(strcmp(info->driver, "portaudio") == 0);
    CHECK(strncmp(info->host_api, "JACK", 4) == 0);
    CHECK(info->channels == 2);
    CHECK(!info->fell_back);
    struct audio_counters from, to;
    audio_counters(audio, &from);
    for (int i = 0; i < 400; i++) {
        CHECK(audio_check(audio, &error) == 0);
        sleep_ns(5 * UNITS_NS_PER_MS);
    }
    audio_counters(audio, &to);
    double passed_s = (double)(to.last_ns - from.last_ns) / 1e9;
    double played_s = (double)(to.frames - from.frames) / RATE_HZ;
    dprintf(STDOUT_FILENO, "  pace %.4f, %llu late, %llu xruns of %llu callbacks\n",
            played_s / passed_s, (unsigned long long)(to.late_callbacks - from.late_callbacks),
            (unsigned long long)(to.device_xruns - from.device_xruns),
            (unsigned long long)(to.callbacks - from.callbacks));
    CHECK(played_s / passed_s > 0.98 && played_s / passed_s < 1.02);
    CHECK(to.callbacks > from.callbacks + 100);
    CHECK(to.longest_frames >= FRAMES);

    /* A callback that takes 20 periods: the host flags it, and the next one is late. */
    atomic_store(&nap_ns, 20 * FRAMES * UNITS_NS_PER_SECOND / RATE_HZ);
    sleep_ns(400 * UNITS_NS_PER_MS);
    from = to;
    audio_counters(audio, &to);
    CHECK(to.late_callbacks > from.late_callbacks);
    CHECK(to.device_xruns > from.device_xruns);
    CHECK(to.busy_ns - from.busy_ns > 100 * UNITS_NS_PER_MS);
    audio_close(audio);
    uint64_t frames = rendered_frames;
    sleep_ns(50 * UNITS_NS_PER_MS);
    CHECK(rendered_frames == frames);
    /* PortAudio starts again after it was ended. */
    CHECK(open_output(&audio, "system", RATE_HZ, &error) == 0);
    audio_close(audio);
}

static void a_jack_server_is_the_default(void **state)
{
    (void)state;
    alsa_is(ALSA_DEFAULT_NULL);
    need_jack("44100");
    run_in_child(child_jack_is_default);
}

static void child_long_periods(void)
{
    struct error error = {0};
    struct audio *audio;
    CHECK(open_output(&audio, NULL, RATE_HZ, &error) == 0);
    struct audio_counters now;
    for (int i = 0; i < 200; i++) {
        CHECK(audio_check(audio, &error) == 0);
        sleep_ns(5 * UNITS_NS_PER_MS);
    }
    audio_counters(audio, &now);
    dprintf(STDOUT_FILENO, "  longest %llu, %llu late of %llu callbacks\n",
            (unsigned long long)now.longest_frames, (unsigned long long)now.late_callbacks,
            (unsigned long long)now.callbacks);
    /* Periods that come in fours are no late callbacks. */
    CHECK(now.late_callbacks < now.callbacks / 10);
    audio_close(audio);
}

static void a_server_with_longer_periods_is_not_late(void **state)
{
    (void)state;
    alsa_is(ALSA_NOTHING);
    need_jack("44100 1024");
    run_in_child(child_long_periods);
}

static void child_other_rate(void)
{
    static const char *const words[] = {
        "JACK", "48000 Hz", "44100 Hz", "--sample-rate 48000", "--device clock", NULL};
    expect_error(NULL, RATE_HZ, ERROR_ENVIRONMENT, words);
    struct audio *audio;
    struct error error = {0};
    CHECK(open_output(&audio, NULL, 48000, &error) == 0);
    audio_close(audio);
}

static void another_rate_than_the_servers_is_refused(void **state)
{
    (void)state;
    alsa_is(ALSA_NOTHING);
    need_jack("48000");
    run_in_child(child_other_rate);
}

static void child_server_dies(void)
{
    struct audio *audio;
    struct error error = {0};
    CHECK(open_output(&audio, NULL, RATE_HZ, &error) == 0);
    CHECK(strncmp(audio_info(audio)->host_api, "JACK", 4) == 0);
    CHECK(audio_check(audio, &error) == 0);
    CHECK(rig_jack("kill", "") == 0);
    uint64_t began_ns = monotonic_ns();
    while (audio_check(audio, &error) == 0) {
        CHECK(monotonic_ns() < began_ns + 4 * UNITS_NS_PER_SECOND);
        sleep_ns(5 * UNITS_NS_PER_MS);
    }
    dprintf(STDOUT_FILENO, "  found after %.2f s: %s\n", (double)(monotonic_ns() - began_ns) / 1e9,
            error.text);
    CHECK(error.kind == ERROR_ENVIRONMENT);
    CHECK(strstr(error.text, "system") != NULL);
    CHECK(strstr(error.text, "--device clock") != NULL);
    /* No audio_close: the process leaves with _exit. */
}

static void a_server_that_dies_is_found_out(void **state)
{
    (void)state;
    alsa_is(ALSA_NOTHING);
    need_jack("44100");
    run_in_child(child_server_dies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_device_the_clock_stands_in),
        cmocka_unit_test(an_unknown_name_is_bad_usage),
        cmocka_unit_test(a_default_that_keeps_no_time_is_refused),
        cmocka_unit_test(names_match_whole_then_in_part),
        cmocka_unit_test_teardown(a_jack_server_is_the_default, jack_stop),
        cmocka_unit_test_teardown(a_server_with_longer_periods_is_not_late, jack_stop),
        cmocka_unit_test_teardown(another_rate_than_the_servers_is_refused, jack_stop),
        cmocka_unit_test_teardown(a_server_that_dies_is_found_out, jack_stop),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
