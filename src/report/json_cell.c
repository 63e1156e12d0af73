#include "json_parts.h"

#include "json_value.h"

/* A cell of the result file (docs/result.schema.json). */

static json_t *pack_runs(const struct result_cell *cell)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cell->run_count; i++) {
        list = value_appended(list, value_integer(cell->runs[i]));
    }
    return list;
}

static json_t *pack_trial(const struct result_trial *trial)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "ramp",
                     value_integer(trial->ramp), "step", ramp_step_name(trial->step), "tracks",
                     value_integer(trial->tracks), "seconds", value_real(trial->seconds, 3),
                     "underruns", value_integer(trial->underruns), "backlog_bytes_per_second",
                     value_real(trial->backlog_bytes_per_second, 0), "min_slack_ms",
                     value_real(trial->min_slack_ms, 3), "lowest_fill_percent",
                     value_real(trial->lowest_fill_percent, 3), "stalls",
                     value_integer(trial->stalls), "worst_stall_s",
                     value_real(trial->worst_stall_s, 3), "verdict", trial->pass ? "pass" : "fail",
                     "reason", value_string(trial->reason));
}

static json_t *pack_trials(const struct result_cell *cell)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cell->trial_count; i++)
        list = value_appended(list, pack_trial(&cell->trials[i]));
    return list;
}

static json_t *pack_warnings(const struct result_cell *cell)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cell->warning_count; i++) {
        const struct result_warning *warning = &cell->warnings[i];
        json_t *entry = json_pack("{s:o, s:o}", "kind", value_string(warning->kind), "text",
                                  value_string(warning->text));
        list = value_appended(list, entry);
    }
    return list;
}

static json_t *pack_tracks(const struct result_cell *cell)
{
    json_t *tracks = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sustained", value_integer(cell->sustained), "low",
        value_integer(cell->low), "high", value_integer(cell->high), "runs", pack_runs(cell),
        "knee", value_integer(cell->knee), "comfortable", value_integer(cell->comfortable),
        "clean_s", value_real(cell->clean_s, 3));
    if (cell->again > 0)
        tracks = value_with(tracks, "again", value_integer(cell->again));
    return tracks;
}

static json_t *pack_throughput(const struct result_cell *cell)
{
    return json_pack("{s:o, s:o, s:o, s:b}", "flood_bytes_per_second",
                     value_real(cell->flood_bytes_per_second, 0), "stream_bytes_per_second",
                     value_real(cell->stream_bytes_per_second, 0), "fit_bytes_per_second",
                     value_real_or_null(cell->fit_bytes_per_second, 0), "below_fit",
                     cell->below_fit);
}

static json_t *pack_latency(const struct result_cell *cell)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "p50", value_real(cell->latency_p50_us, 3), "p99",
                     value_real(cell->latency_p99_us, 3), "p999",
                     value_real(cell->latency_p999_us, 3), "max",
                     value_real(cell->latency_max_us, 3));
}

static json_t *pack_evidence(const struct result_evidence *evidence)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "tracks", value_integer(evidence->tracks),
                     "queue_busy_percent", value_real(evidence->queue_busy_percent, 3),
                     "callback_percent", value_real(evidence->callback_percent, 3),
                     "reader_percent", value_real(evidence->reader_percent, 3), "process_percent",
                     value_real(evidence->process_percent, 3), "late_callbacks_percent",
                     value_real(evidence->late_callbacks_percent, 3));
}

static json_t *pack_stalls(const struct result_stalls *stalls)
{
    double per_minute = stalls->observed_s > 0 ? 60 * stalls->seen / stalls->observed_s : 0;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "seen", value_integer(stalls->seen), "observed_s",
                     value_real(stalls->observed_s, 3), "per_minute", value_real(per_minute, 3),
                     "worst_s", value_real(stalls->worst_s, 3), "ride_out_buffer_s",
                     value_real(stalls->ride_out_s, 3));
}

static json_t *pack_device(const struct result_device *device)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "our_reads", value_integer(device->our_reads),
                     "our_bytes", value_integer(device->our_bytes), "reads",
                     value_integer(device->reads), "bytes", value_integer(device->bytes));
}

json_t *json_cell(const struct result_cell *cell)
{
    json_t *cpu = json_pack("{s:o, s:o}", "process_percent", value_real(cell->process_percent, 3),
                            "callback_percent", value_real(cell->callback_percent, 3));
    return json_pack(
        "{s:o, s:b, s:o, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "block_bytes", value_integer(cell->block_bytes), "complete", cell->complete, "tracks",
        pack_tracks(cell), "irregular", cell->irregular, "spread_wide", cell->spread_wide, "limit",
        limit_name(cell->limit), "evidence", pack_evidence(&cell->evidence), "throughput",
        pack_throughput(cell), "cpu", cpu, "read_latency_us", pack_latency(cell), "stalls",
        pack_stalls(&cell->stalls), "device", pack_device(&cell->device), "buffer_bytes",
        value_integer(cell->buffer_bytes), "checked_samples", value_integer(cell->checked_samples),
        "late_callbacks", value_integer(cell->late_callbacks), "device_xruns",
        value_integer(cell->device_xruns), "warnings", pack_warnings(cell), "trials",
        pack_trials(cell));
}
