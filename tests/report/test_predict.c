#include "report.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/table_fixture.h"

static struct prediction wanted;

static void print_wanted(const struct result *from, FILE *out)
{
    report_prediction(from, &wanted, out);
}

/* 8 ms and 40 MB/s, measured at 64 KiB, 1 MiB and 4 MiB with nothing to doubt. */
static int make_prediction(void **state)
{
    set_up(state);
    struct result_volume *volume = &result.volumes[0];
    volume->fit = (struct result_fit){8e-3, 40e6, 320e3};
    free(volume->cells[3].runs);
    volume->cell_count = 3;
    for (size_t i = 0; i < 3; i++) {
        volume->cells[i].below_fit = false;
        volume->cells[i].limit = LIMIT_DISK_IOPS;
    }
    wanted = (struct prediction){.file = "old.json", .format = result.track};
    return 0;
}

/* 65536 / (8 ms + 65536 / 40 MB/s) = 6.80 MB/s = 77.09 x 88,200; at 1 MiB 30.65 MB/s = 347.5 x. */
static void test_the_same_format(void **state)
{
    (void)state;
    print_with(print_wanted);
    assert_has("predicted from old.json, by the fit of each drive; none of this was measured");
    assert_has(
        "track 44.1 kHz pcm16 mono, 88.2 kB/s a track measured 44.1 kHz pcm16 mono wav, 88.2");
    assert_has("/mnt/audio drive raid0 of 4 drives, /dev/md0, rotating");
    assert_has("read direct: past the page cache fit positioning 8.0 ms, transfer 40.0 MB/s");
    assert_has(" 64 KiB 77 6.80 predicted 1 MiB 347 30.6 predicted 4 MiB 421 37.2 predicted /dev");
}

static void test_another_format(void **state)
{
    (void)state;
    wanted.format = (struct track_format){CONTAINER_WAV, ENCODING_PCM24, 96000, 2};
    print_with(print_wanted);
    assert_has("track 96 kHz pcm24 stereo, 576.0 kB/s a track");
    assert_has(" 64 KiB 11 6.80 predicted 1 MiB 53 30.6 predicted 4 MiB 64 37.2 predicted /dev");
}

static void test_other_block_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {8 << 20, 4096, 262144, 65536};
    wanted.block_bytes = sizes;
    wanted.block_size_count = 4;
    print_with(print_wanted);
    assert_has(" 8 MiB 436 38.5 predicted, beyond the block sizes measured");
    assert_has(" 4 KiB 5 0.51 predicted, beyond the block sizes measured");
    assert_has(" 256 KiB 204 18.0 predicted, between the block sizes measured");
    assert_has(" 64 KiB 77 6.80 predicted /dev");
}

/* What stopped the measured count is not in the fit. */
static void test_predictions_of_the_drive_alone(void **state)
{
    (void)state;
    struct result_cell *cell = &result.volumes[0].cells[1];
    static const struct {
        enum limit limit;
        const char *words;
    } cases[] = {
        {LIMIT_CPU, "predicted, of the drive alone: the run stopped at CPU 4 MiB"},
        {LIMIT_MEMORY, "predicted, of the drive alone: the run stopped at memory 4 MiB"},
        {LIMIT_FILE_HANDLES, "the drive alone: the run stopped at file handles 4 MiB"},
        {LIMIT_AUDIO_DEVICE, "the drive alone: the run stopped at audio device 4 MiB"},
        {LIMIT_MAX_TRACKS, "the drive alone: the run stopped at --max-tracks 4 MiB"},
        {LIMIT_DISK_BANDWIDTH, "30.6 predicted 4 MiB"},
        {LIMIT_NONE, "30.6 predicted 4 MiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cell->limit = cases[i].limit;
        print_with(print_wanted);
        assert_has(cases[i].words);
    }
    cell->below_fit = true;
    print_with(print_wanted);
    assert_has("predicted, of the drive alone: the run read this size slower 4 MiB");
    cell->irregular = true;
    print_with(print_wanted);
    assert_has("predicted, of the drive alone: the run stalled at any count 4 MiB");
    assert_in_range(widest_line(), 80, 110);
}

static void test_a_volume_without_a_fit(void **state)
{
    (void)state;
    struct error error = {0};
    print_with(print_wanted); /* the second one has one cell */
    assert_has(
        "/dev/shm drive none: no block device lies behind this folder read buffered: through "
        "the page cache predicted nothing: a fit takes two block sizes at least; measure "
        "them, such as with `trackramp run --block-size 64K,1M`");
    assert_int_equal(report_prediction_check(&result, &wanted, &error), 0);
    assert_int_equal(error.kind, ERROR_NONE);
    result.volumes[0].fit = (struct result_fit){0};
    print_with(print_wanted);
    assert_has("predicted nothing: the block sizes measured give no fit, since larger blocks took "
               "no longer to read; measure larger ones besides");
    assert_int_equal(report_prediction_check(&result, &wanted, &error), -1);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_string_equal(error.text, "old.json: nothing can be predicted from it: the block sizes "
                                    "measured give no fit, since larger blocks took no longer to "
                                    "read; measure larger ones besides");
    result_fini(&result);
    error = (struct error){0};
    assert_int_equal(report_prediction_check(&result, &wanted, &error), -1);
    assert_non_null(strstr(error.text, "no drive was measured"));
}

static void test_a_modelled_drive_has_no_cache(void **state)
{
    (void)state;
    result.volumes[0].drive.node[0] = '\0';
    print_with(print_wanted);
    assert_lacks("past the page cache");
}

/* Every line says that it is predicted. */
static void test_as_json(void **state)
{
    (void)state;
    char path[] = "/tmp/trackramp-test-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    struct error error = {0};
    wanted.format = (struct track_format){CONTAINER_WAV, ENCODING_PCM24, 96000, 2};
    result.volumes[0].cells[1].limit = LIMIT_CPU;
    static const uint32_t sizes[] = {65536, 1 << 20, 4096};
    wanted.block_bytes = sizes;
    wanted.block_size_count = 3;
    assert_int_equal(report_prediction_json(&result, &wanted, path, &error), 0);
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(unlink(path), 0);
    json_t *expected = json_pack(
        "{s:s, s:b, s:{s:s}, s:s, s:{s:s, s:s, s:i, s:i, s:i}, s:{s:s, s:s, s:i, s:i, s:i}, "
        "s:[{s:s, s:s, s:{s:f, s:f, s:f}, s:["
        "{s:b, s:i, s:i, s:f, s:b, s:b, s:s}, {s:b, s:i, s:i, s:f, s:b, s:b, s:s},"
        "{s:b, s:i, s:i, s:f, s:b, s:b, s:n}]}, {s:s, s:s, s:n, s:[]}]}",
        "schema", "trackramp-prediction-1", "predicted", 1, "tool", "version", TRACKRAMP_VERSION,
        "from", "old.json", "track", "container", "wav", "encoding", "pcm24", "sample_rate", 96000,
        "channels", 2, "bytes_per_second", 576000, "measured_track", "container", "wav", "encoding",
        "pcm16", "sample_rate", 44100, "channels", 1, "bytes_per_second", 88200, "volumes", "path",
        "/mnt/audio", "io", "direct", "fit", "position_s", 0.008, "rate_bytes_per_second", 40e6,
        "knee_bytes", 320e3, "blocks", "predicted", 1, "block_bytes", 65536, "tracks", 11,
        "bytes_per_second", 6799469.0, "block_measured", 1, "drive_alone", 0, "measured_limit",
        "disk-iops", "predicted", 1, "block_bytes", 1048576, "tracks", 53, "bytes_per_second",
        30647213.0, "block_measured", 1, "drive_alone", 1, "measured_limit", "cpu", "predicted", 1,
        "block_bytes", 4096, "tracks", 0, "bytes_per_second", 505529.0, "block_measured", 0,
        "drive_alone", 0, "measured_limit", "path", "/dev/shm", "io", "buffered", "fit", "blocks");
    assert_non_null(expected);
    if (!json_equal(json, expected))
        fail_msg("%s", json_dumps(json, JSON_INDENT(1)));
    json_decref(expected);
    json_decref(json);
}

#define WITH_PREDICTION(test) cmocka_unit_test_setup_teardown(test, make_prediction, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PREDICTION(test_the_same_format),
        WITH_PREDICTION(test_another_format),
        WITH_PREDICTION(test_other_block_sizes),
        WITH_PREDICTION(test_predictions_of_the_drive_alone),
        WITH_PREDICTION(test_a_volume_without_a_fit),
        WITH_PREDICTION(test_a_modelled_drive_has_no_cache),
        WITH_PREDICTION(test_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
