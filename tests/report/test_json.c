#include "report.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/json_fixture.h"

/* --- what is in it --------------------------------------------------------------------------- */

/* The contract, spelled out once more: renaming one of these breaks other people's scripts. */
static void test_every_promised_name_is_there(void **state)
{
    (void)state;
    char names[] =
        "schema tool.version started duration_s complete ended_by host.os host.kernel "
        "host.cpu host.cores host.memory_bytes audio.driver audio.host_api audio.device "
        "audio.sample_rate audio.frames_per_buffer track.container track.encoding "
        "track.sample_rate track.channels track.bytes_per_second method.trial_s "
        "method.repeats method.buffer_s method.io method.io_requested method.engine "
        "method.readers method.queue_depth method.seed method.pool_bytes volumes.0.path "
        "volumes.0.fit.position_s volumes.0.fit.rate_bytes_per_second "
        "volumes.0.fit.knee_bytes volumes.0.filesystem.type "
        "volumes.0.filesystem.block_bytes volumes.0.filesystem.options volumes.0.drive.node "
        "volumes.0.drive.model volumes.0.drive.rotational volumes.0.drive.stripe_unit_bytes "
        "volumes.0.drive.stripe_bytes volumes.0.recommended_block_bytes "
        "volumes.0.blocks.0.block_bytes volumes.0.blocks.0.tracks.sustained "
        "volumes.0.blocks.0.tracks.low volumes.0.blocks.0.tracks.high "
        "volumes.0.blocks.0.tracks.runs.2 volumes.0.blocks.0.tracks.knee "
        "volumes.0.blocks.0.tracks.clean_s volumes.0.blocks.0.limit "
        "volumes.0.blocks.0.throughput.flood_bytes_per_second "
        "volumes.0.blocks.0.throughput.stream_bytes_per_second "
        "volumes.0.blocks.0.cpu.process_percent volumes.0.blocks.0.cpu.callback_percent "
        "volumes.0.blocks.0.read_latency_us.p50 volumes.0.blocks.0.read_latency_us.p99 "
        "volumes.0.blocks.0.read_latency_us.p999 volumes.0.blocks.0.read_latency_us.max "
        "volumes.0.blocks.0.buffer_bytes volumes.0.blocks.0.trials.2.ramp "
        "volumes.0.blocks.0.trials.0.tracks volumes.0.blocks.0.trials.0.seconds "
        "volumes.0.blocks.0.trials.0.underruns "
        "volumes.0.blocks.0.trials.0.backlog_bytes_per_second "
        "volumes.0.blocks.0.trials.0.min_slack_ms volumes.0.blocks.0.trials.0.verdict "
        "volumes.0.blocks.0.trials.0.reason volumes.0.blocks.0.warnings.0.kind "
        "volumes.0.blocks.0.warnings.0.text method.start method.layout "
        "volumes.0.blocks.0.tracks.comfortable volumes.0.blocks.0.tracks.again "
        "volumes.0.blocks.0.irregular volumes.0.blocks.0.spread_wide "
        "volumes.0.blocks.0.evidence.tracks volumes.0.blocks.0.evidence.queue_busy_percent "
        "volumes.0.blocks.0.evidence.callback_percent "
        "volumes.0.blocks.0.evidence.reader_percent "
        "volumes.0.blocks.0.evidence.process_percent "
        "volumes.0.blocks.0.evidence.late_callbacks_percent volumes.0.blocks.0.stalls.seen "
        "volumes.0.blocks.0.stalls.observed_s volumes.0.blocks.0.stalls.per_minute "
        "volumes.0.blocks.0.stalls.worst_s volumes.0.blocks.0.stalls.ride_out_buffer_s "
        "volumes.0.blocks.0.device.our_reads volumes.0.blocks.0.device.our_bytes "
        "volumes.0.blocks.0.device.reads volumes.0.blocks.0.device.bytes "
        "volumes.0.blocks.0.throughput.fit_bytes_per_second "
        "volumes.0.blocks.0.throughput.below_fit "
        "volumes.0.blocks.0.trials.0.lowest_fill_percent volumes.0.blocks.0.trials.0.stalls "
        "volumes.0.blocks.0.trials.0.worst_stall_s";
    json_t *json = written();
    unsigned count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        if (at(json, name) == NULL)
            fail_msg("`%s` is missing", name);
        count++;
    }
    assert_int_equal(count, 97);
    json_decref(json);
}

static void test_values_are_those_of_the_result(void **state)
{
    (void)state;
    json_t *json = written();
    assert_text(json, "schema", "trackramp-result-1");
    assert_text(json, "started", "2026-01-02T03:04:05Z");
    assert_real(json, "duration_s", 750.457);
    assert_true(json_is_true(at(json, "complete")));
    assert_true(json_is_null(at(json, "ended_by")));
    assert_real(json, "host.memory_bytes", 34359738368.0);
    assert_true(json_is_false(at(json, "audio.fell_back")));
    assert_real(json, "track.bytes_per_second", 88200);
    assert_real(json, "method.buffer_s", 0.1);
    assert_real(json, "volumes.0.fit.position_s", 0.008345679);
    assert_true(json_is_true(at(json, "volumes.0.drive.rotational")));
    assert_true(json_is_null(at(json, "volumes.1.drive.rotational")));
    assert_true(json_is_null(at(json, "volumes.1.fit")));
    assert_true(json_is_null(at(json, "volumes.1.recommended_block_bytes")));
    assert_real(json, "volumes.0.recommended_block_bytes", 1048576);
    assert_real(json, "volumes.0.blocks.0.tracks.sustained", 445);
    assert_real(json, "volumes.0.blocks.0.tracks.runs.0", 456);
    assert_real(json, "volumes.0.blocks.0.tracks.runs.2", 445);
    assert_text(json, "volumes.0.blocks.0.limit", "disk-iops");
    assert_text(json, "volumes.0.blocks.2.limit", "max-tracks");
    assert_text(json, "volumes.0.blocks.3.limit", "unknown");
    assert_true(json_is_false(at(json, "volumes.0.blocks.3.complete")));
    assert_text(json, "volumes.0.blocks.0.trials.0.verdict", "fail");
    assert_text(json, "volumes.0.blocks.0.trials.1.verdict", "pass");
    assert_text(json, "volumes.0.blocks.0.trials.1.step", "close-in");
    assert_text(json, "volumes.0.blocks.0.warnings.0.text",
                "2 callbacks came late; close other programs");
    assert_int_equal(json_array_size(at(json, "volumes.0.blocks")), 4);
    assert_int_equal(json_array_size(at(json, "volumes")), 2);
    json_decref(json);
}

static void test_noise_digits_are_not_written(void **state)
{
    (void)state;
    json_decref(written());
    char text[16384];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    assert_non_null(strstr(text, "\"buffer_s\": 0.1,"));
    assert_non_null(strstr(text, "\"seconds\": 5.012,"));
    assert_non_null(strstr(text, "\"min_slack_ms\": 412.123,"));
}

static void test_zeroed_result_is_valid(void **state)
{
    (void)state;
    result_fini(&result);
    json_t *json = written();
    assert_int_equal(json_array_size(at(json, "volumes")), 0);
    assert_true(json_is_false(at(json, "complete")));
    assert_true(json_is_null(at(json, "ended_by")));
    assert_true(json_is_null(at(json, "method.max_tracks")));
    json_decref(json);
}

static void test_incomplete_run_says_what_ended_it(void **state)
{
    (void)state;
    result.complete = false;
    snprintf(result.ended_by, sizeof result.ended_by, "the audio device `system` is gone");
    json_t *json = written();
    assert_true(json_is_false(at(json, "complete")));
    assert_text(json, "ended_by", "the audio device `system` is gone");
    json_decref(json);
}

/* Linux takes any byte but 0 and `/` in a name. */
static void test_odd_bytes_become_replacement_characters(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *wanted;
    } cases[] = {
        {"/plain \"quoted\" \\ \t\n\x01", "/plain \"quoted\" \\ \t\n\x01"},
        {"/M\xC3\xBCsik/\xE2\x99\xAB/\xF0\x9F\x8E\xB5",
         "/M\xC3\xBCsik/\xE2\x99\xAB/\xF0\x9F\x8E\xB5"},
        {"/latin-1 M\xFCsik", "/latin-1 M\xEF\xBF\xBDsik"},
        {"/cut \xE2\x99", "/cut \xEF\xBF\xBD\xEF\xBF\xBD"},
        {"/overlong \xC0\xAF", "/overlong \xEF\xBF\xBD\xEF\xBF\xBD"},
        {"/overlong \xE0\x80\xAF", "/overlong \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"/surrogate \xED\xA0\x80", "/surrogate \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"/too high \xF4\x90\x80\x80",
         "/too high \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"/alone \x80\xFF", "/alone \xEF\xBF\xBD\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(result.volumes[0].path);
        result.volumes[0].path = strdup(cases[i].bytes);
        assert_non_null(result.volumes[0].path);
        json_t *json = written();
        assert_text(json, "volumes.0.path", cases[i].wanted);
        json_decref(json);
    }
}

/* --- memory ---------------------------------------------------------------------------------- */

static void put_old(void)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("old", file);
    assert_int_equal(fclose(file), 0);
}

static void assert_old_is_whole(void)
{
    char text[8] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "old");
}

static unsigned long allocations_left;

static void *failing_malloc(size_t bytes)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return malloc(bytes);
}

static void test_every_failed_allocation_is_an_error_and_keeps_the_old_file(void **state)
{
    (void)state;
    put_old();
    result_fini(&result);
    struct result_cell *cell = result_add_cell(result_add_volume(&result, "/mnt"), 4096);
    assert_int_equal(result_add_run(cell, 7), 0);
    assert_non_null(result_add_trial(cell));
    result_warn(cell, "kind", "text");
    cell->again = 7;
    snprintf(result.method.model, sizeof result.method.model, "depth=1");
    unsigned long n = 0;
    int reported = -1;
    json_set_alloc_funcs(failing_malloc, free);
    for (; reported != 0 && n < 100000; n++) {
        struct error error = {0};
        allocations_left = n;
        reported = report_json(&result, path, &error);
        if (reported != 0) {
            assert_int_equal(error.kind, ERROR_ENVIRONMENT);
            assert_non_null(strstr(error.text, "memory"));
            assert_old_is_whole();
        }
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(reported == 0 && n > 100); /* it did fail that often before */
    json_decref(load(path));
}

/* --- the schema itself ------------------------------------------------------------------------ */

/* Each of these changes to a good result must be noticed. */
static void test_schema_notices(void **state)
{
    (void)state;
    static const struct {
        const char *parent, *name, *json; /* NULL: the name is taken away */
    } changes[] = {
        {"", "schema", "\"trackramp-result-2\""},
        {"", "started", "\"yesterday\""},
        {"", "volumes", "{}"},
        {"", "complete", "1"},
        {"", "novelty", "1"},
        {"host", "cores", "-1"},
        {"host", "cores", "1.5"},
        {"host", "kernel", NULL},
        {"volumes.0", "path", "null"},
        {"volumes.0", "fit", NULL},
        {"volumes.0", "io", "\"cached\""},
        {"volumes.0.blocks.0", "limit", "\"weather\""},
        {"volumes.0.blocks.0.tracks", "runs", "[1, \"2\"]"},
        {"volumes.0.blocks.0.trials.1", "verdict", "\"maybe\""},
        {"volumes.0.blocks.0.trials.1", "min_slack_ms", "\"none\""},
        {"volumes.0.blocks.0.trials.1", "step", "\"guess\""},
        {"volumes.0.blocks.0.trials.1", "lowest_fill_percent", "-1"},
        {"method", "start", "\"random\""},
        {"method", "layout", NULL},
        {"volumes.0.blocks.0", "evidence", "null"},
        {"volumes.0.blocks.0.evidence", "queue_busy_percent", NULL},
        {"volumes.0.blocks.0.stalls", "per_minute", "\"3\""},
        {"volumes.0.blocks.0.device", "our_reads", "0.5"},
        {"volumes.0.blocks.0.throughput", "below_fit", "0"},
        {"volumes.0.blocks.0.tracks", "comfortable", NULL},
        {"volumes.0.blocks.0.warnings.0", "kind", "\"two words\""},
    };
    json_t *good = written(), *schema = load(SCHEMA);
    char message[JSON_SCHEMA_MESSAGE_BYTES];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        json_t *bad = json_deep_copy(good);
        json_t *parent = at(bad, changes[i].parent);
        assert_true(json_is_object(parent));
        if (changes[i].json == NULL)
            assert_int_equal(json_object_del(parent, changes[i].name), 0);
        else
            json_object_set_new(parent, changes[i].name,
                                json_loads(changes[i].json, JSON_DECODE_ANY, NULL));
        if (json_schema_check(schema, bad, true, message) != -1)
            fail_msg("%s.%s as %s passed", changes[i].parent, changes[i].name, changes[i].json);
        assert_non_null(strstr(message, changes[i].name));
        json_decref(bad);
    }
    /* Names may be added: the schema leaves them be, and only this test does not. */
    json_object_set_new(good, "novelty", json_true());
    assert_int_equal(json_schema_check(schema, good, false, message), 0);
    json_decref(schema);
    json_decref(good);
}

static void test_unknown_keyword_of_a_schema_is_refused(void **state)
{
    (void)state;
    char message[JSON_SCHEMA_MESSAGE_BYTES];
    json_t *schema = json_pack("{s:s, s:i}", "type", "string", "maxLength", 5);
    json_t *value = json_string("text");
    assert_int_equal(json_schema_check(schema, value, false, message), -1);
    assert_non_null(strstr(message, "maxLength"));
    json_decref(value);
    json_decref(schema);
}

/* For whole runs: checks the file that TRACKRAMP_RESULT_FILE names. */
static void test_named_file(void **state)
{
    (void)state;
    const char *named = getenv("TRACKRAMP_RESULT_FILE");
    char message[JSON_SCHEMA_MESSAGE_BYTES];
    if (named != NULL && json_schema_check_file(SCHEMA, named, true, message) != 0)
        fail_msg("%s: %s", named, message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_every_promised_name_is_there),
        IN_FOLDER(test_values_are_those_of_the_result),
        IN_FOLDER(test_noise_digits_are_not_written),
        IN_FOLDER(test_zeroed_result_is_valid),
        IN_FOLDER(test_incomplete_run_says_what_ended_it),
        IN_FOLDER(test_odd_bytes_become_replacement_characters),
        IN_FOLDER(test_every_failed_allocation_is_an_error_and_keeps_the_old_file),
        IN_FOLDER(test_schema_notices),
        cmocka_unit_test(test_unknown_keyword_of_a_schema_is_refused),
        cmocka_unit_test(test_named_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
