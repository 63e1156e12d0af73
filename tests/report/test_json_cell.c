#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "report/json_fixture.h"

static void test_doubts_and_evidence_are_those_of_the_result(void **state)
{
    (void)state;
    result.volumes[0].cells[1].irregular = true;
    snprintf(result.method.model, sizeof result.method.model, "position=8ms,rate=40M");
    json_t *json = written();
    assert_text(json, "method.model", "position=8ms,rate=40M");
    assert_text(json, "method.start", "scattered");
    assert_text(json, "method.layout", "sequential");
    assert_real(json, "volumes.0.blocks.0.tracks.comfortable", 401);
    assert_real(json, "volumes.0.blocks.0.tracks.again", 440);
    assert_null(at(json, "volumes.0.blocks.1.tracks.again"));
    assert_true(json_is_true(at(json, "volumes.0.blocks.0.spread_wide")));
    assert_true(json_is_false(at(json, "volumes.0.blocks.1.spread_wide")));
    assert_true(json_is_false(at(json, "volumes.0.blocks.0.irregular")));
    assert_true(json_is_true(at(json, "volumes.0.blocks.1.irregular")));
    assert_real(json, "volumes.0.blocks.0.evidence.tracks", 457);
    assert_real(json, "volumes.0.blocks.0.evidence.queue_busy_percent", 99.5);
    assert_real(json, "volumes.0.blocks.0.evidence.callback_percent", 12.75);
    assert_real(json, "volumes.0.blocks.0.evidence.reader_percent", 9.25);
    assert_real(json, "volumes.0.blocks.0.evidence.process_percent", 38.125);
    assert_real(json, "volumes.0.blocks.0.evidence.late_callbacks_percent", 0.063);
    assert_real(json, "volumes.0.blocks.0.stalls.seen", 6);
    assert_real(json, "volumes.0.blocks.0.stalls.observed_s", 120.5);
    assert_real(json, "volumes.0.blocks.0.stalls.per_minute", 2.988); /* 60 x 6 / 120.5 */
    assert_real(json, "volumes.0.blocks.0.stalls.worst_s", 2.04);
    assert_real(json, "volumes.0.blocks.0.stalls.ride_out_buffer_s", 2.5);
    assert_real(json, "volumes.0.blocks.3.stalls.per_minute", 0); /* nothing was looked at */
    assert_real(json, "volumes.0.blocks.0.device.our_reads", 25600);
    assert_real(json, "volumes.0.blocks.0.device.our_bytes", 104857600);
    assert_real(json, "volumes.0.blocks.0.device.reads", 25700);
    assert_real(json, "volumes.0.blocks.0.device.bytes", 105000000);
    assert_real(json, "volumes.0.blocks.0.throughput.fit_bytes_per_second", 51250000);
    assert_true(json_is_null(at(json, "volumes.0.blocks.3.throughput.fit_bytes_per_second")));
    assert_true(json_is_true(at(json, "volumes.0.blocks.0.throughput.below_fit")));
    assert_true(json_is_false(at(json, "volumes.0.blocks.1.throughput.below_fit")));
    assert_real(json, "volumes.0.blocks.0.trials.1.lowest_fill_percent", 43.211);
    assert_real(json, "volumes.0.blocks.0.trials.1.stalls", 1);
    assert_real(json, "volumes.0.blocks.0.trials.1.worst_stall_s", 2.04);
    json_decref(json);
}

/* A real drive has no model, not an empty one. */
static void test_no_model_no_name(void **state)
{
    (void)state;
    json_t *json = written();
    assert_null(at(json, "method.model"));
    json_decref(json);
}

/* A trial in which no read completed has no least slack. */
static void test_what_is_no_number_is_null(void **state)
{
    (void)state;
    result.volumes[0].cells[0].trials[0].min_slack_ms = INFINITY;
    result.volumes[0].cells[0].trials[1].min_slack_ms = NAN;
    result.volumes[0].cells[0].trials[0].lowest_fill_percent = NAN;
    result.volumes[0].cells[0].trials[0].backlog_bytes_per_second = 1e308; /* rounds to infinite */
    json_t *json = written();
    assert_true(json_is_null(at(json, "volumes.0.blocks.0.trials.0.min_slack_ms")));
    assert_true(json_is_null(at(json, "volumes.0.blocks.0.trials.1.min_slack_ms")));
    assert_true(json_is_null(at(json, "volumes.0.blocks.0.trials.0.lowest_fill_percent")));
    json_decref(json);
    /* By the schema these are numbers; where they are none after all, the file is still JSON. */
    struct result_cell *cell = &result.volumes[0].cells[0];
    cell->evidence.queue_busy_percent = cell->evidence.late_callbacks_percent = NAN;
    cell->stalls.worst_s = cell->fit_bytes_per_second = INFINITY;
    cell->stalls.observed_s = cell->stalls.ride_out_s = NAN;
    cell->flood_bytes_per_second = 1e308;
    cell->latency_max_us = 1.7e308;
    struct error error = {0};
    assert_int_equal(report_json(&result, path, &error), 0);
    json_decref(load(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_doubts_and_evidence_are_those_of_the_result),
        IN_FOLDER(test_no_model_no_name),
        IN_FOLDER(test_what_is_no_number_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
