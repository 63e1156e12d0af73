#include "report.h"

#include "save.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The result file, in the order a person reads it. Every value is made by one of the few small
 * functions at the top, which know what JSON cannot hold: bytes that are no UTF-8 (file names are
 * any bytes), numbers that are no numbers, digits that are noise. jansson's own allocation
 * failures come back as NULL through json_pack, so one test at the end covers them all.
 *
 * Names here are a contract (docs/result.schema.json): they may be added to, not changed.
 */

/* --- values --------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at `text`, 0 when its bytes are none (RFC 3629). */
static size_t character_bytes(const unsigned char *text)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;
    size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    /* Shortest form only, no surrogates, nothing above U+10FFFF. */
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < bytes; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    }
    return bytes;
}

/* A string; every byte that is no UTF-8 becomes U+FFFD. */
static json_t *string(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *clean = malloc(strlen(text) * (sizeof replacement - 1) + 1);
    if (clean == NULL)
        return NULL;
    size_t length = 0;
    while (*text != '\0') {
        size_t bytes = character_bytes((const unsigned char *)text);
        const char *from = bytes > 0 ? text : replacement;
        size_t from_bytes = bytes > 0 ? bytes : sizeof replacement - 1;
        memcpy(clean + length, from, from_bytes);
        length += from_bytes;
        text += bytes > 0 ? bytes : 1;
    }
    json_t *value = json_stringn_nocheck(clean, length);
    free(clean);
    return value;
}

/* A number to so many decimals; null where it is infinite or none. */
static json_t *real(double value, int decimals)
{
    if (!isfinite(value))
        return json_null();
    double scale = pow(10, decimals);
    return json_real(round(value * scale) / scale);
}

/* JSON's integers are signed here; nothing that is counted comes near. */
static json_t *integer(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* For numbers whose 0 means that there is none. */
static json_t *integer_or_null(uint64_t value)
{
    return value > 0 ? integer(value) : json_null();
}

/* The list with `entry` at its end; NULL when either could not be made. Takes both references. */
static json_t *appended(json_t *list, json_t *entry)
{
    if (json_array_append_new(list, entry) == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* --- the machine and the method ------------------------------------------------------------- */

static json_t *pack_started(time_t time)
{
    char text[64];
    struct tm utc;
    if (gmtime_r(&time, &utc) == NULL)
        return NULL;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return string(text);
}

static json_t *pack_host(const struct host *host)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "os", string(host->os), "kernel",
                     string(host->kernel), "cpu", string(host->cpu), "cores", integer(host->cores),
                     "memory_bytes", integer(host->memory_bytes));
}

static json_t *pack_audio(const struct result_audio *audio)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "driver", string(audio->driver), "host_api",
                     string(audio->host_api), "device", string(audio->device), "sample_rate",
                     integer(audio->sample_rate_hz), "frames_per_buffer",
                     integer(audio->frames_per_buffer), "fell_back", audio->fell_back);
}

static json_t *pack_track(const struct track_format *track)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "container",
                     format_container_name(track->container), "encoding",
                     format_encoding_name(track->encoding), "sample_rate",
                     integer(track->sample_rate_hz), "channels", integer(track->channels),
                     "bytes_per_second", integer(format_bytes_per_second(track)));
}

static json_t *pack_method(const struct result_method *method)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
                     "trial_s", real(method->trial_s, 3), "repeats", integer(method->repeats),
                     "buffer_s", real(method->buffer_s, 3), "io", string(method->io),
                     "io_requested", string(method->io_requested), "engine", string(method->engine),
                     "readers", integer(method->readers), "queue_depth",
                     integer(method->queue_depth), "seed", integer(method->seed), "pool_bytes",
                     integer(method->pool_bytes), "max_tracks", integer_or_null(method->max_tracks),
                     "frames", integer(method->frames), "keep", method->keep, "descriptor_limit",
                     integer(method->descriptor_limit));
}

/* --- a cell --------------------------------------------------------------------------------- */

static json_t *pack_runs(const struct result_cell *cell)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cell->run_count; i++) {
        list = appended(list, integer(cell->runs[i]));
    }
    return list;
}

static json_t *pack_trials(const struct result_cell *cell)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cell->trial_count; i++) {
        const struct result_trial *trial = &cell->trials[i];
        json_t *entry =
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "ramp", integer(trial->ramp),
                      "step", ramp_step_name(trial->step), "tracks", integer(trial->tracks),
                      "seconds", real(trial->seconds, 3), "underruns", integer(trial->underruns),
                      "backlog_bytes_per_second", real(trial->backlog_bytes_per_second, 0),
                      "min_slack_ms", real(trial->min_slack_ms, 3), "verdict",
                      trial->pass ? "pass" : "fail", "reason", string(trial->reason));
        list = appended(list, entry);
    }
    return list;
}

static json_t *pack_warnings(const struct result_cell *cell)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cell->warning_count; i++) {
        const struct result_warning *warning = &cell->warnings[i];
        json_t *entry =
            json_pack("{s:o, s:o}", "kind", string(warning->kind), "text", string(warning->text));
        list = appended(list, entry);
    }
    return list;
}

static json_t *pack_block(const struct result_cell *cell)
{
    json_t *tracks =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "sustained", integer(cell->sustained), "low",
                  integer(cell->low), "high", integer(cell->high), "runs", pack_runs(cell), "knee",
                  integer(cell->knee), "clean_s", real(cell->clean_s, 3));
    json_t *throughput =
        json_pack("{s:o, s:o}", "flood_bytes_per_second", real(cell->flood_bytes_per_second, 0),
                  "stream_bytes_per_second", real(cell->stream_bytes_per_second, 0));
    json_t *cpu = json_pack("{s:o, s:o}", "process_percent", real(cell->process_percent, 3),
                            "callback_percent", real(cell->callback_percent, 3));
    json_t *latency =
        json_pack("{s:o, s:o, s:o, s:o}", "p50", real(cell->latency_p50_us, 3), "p99",
                  real(cell->latency_p99_us, 3), "p999", real(cell->latency_p999_us, 3), "max",
                  real(cell->latency_max_us, 3));
    return json_pack("{s:o, s:b, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "block_bytes", integer(cell->block_bytes), "complete", cell->complete,
                     "tracks", tracks, "limit", limit_name(cell->limit), "throughput", throughput,
                     "cpu", cpu, "read_latency_us", latency, "buffer_bytes",
                     integer(cell->buffer_bytes), "checked_samples", integer(cell->checked_samples),
                     "late_callbacks", integer(cell->late_callbacks), "device_xruns",
                     integer(cell->device_xruns), "warnings", pack_warnings(cell), "trials",
                     pack_trials(cell));
}

/* --- a volume ------------------------------------------------------------------------------- */

static json_t *pack_blocks(const struct result_volume *volume)
{
    json_t *list = json_array();
    for (size_t i = 0; i < volume->cell_count; i++) {
        list = appended(list, pack_block(&volume->cells[i]));
    }
    return list;
}

static json_t *pack_fit(const struct result_fit *fit)
{
    if (!(fit->rate_bytes_per_second > 0))
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "position_s", real(fit->position_s, 9),
                     "rate_bytes_per_second", real(fit->rate_bytes_per_second, 0), "knee_bytes",
                     real(fit->knee_bytes, 0));
}

static json_t *pack_volume(const struct result_volume *volume)
{
    const struct drive *drive = &volume->drive;
    json_t *filesystem = json_pack("{s:o, s:o, s:o, s:o}", "type", string(drive->filesystem_type),
                                   "block_bytes", integer(drive->filesystem_block_bytes), "options",
                                   string(drive->filesystem_options), "read_ahead_bytes",
                                   integer(drive->read_ahead_bytes));
    json_t *device = json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "node", string(drive->node), "model", string(drive->model),
        "rotational", drive->rotational < 0 ? json_null() : json_boolean(drive->rotational),
        "stripe_unit_bytes", integer(drive->stripe_unit_bytes), "stripe_bytes",
        integer(drive->stripe_bytes));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
                     string(volume->path), "filesystem", filesystem, "drive", device, "io",
                     string(volume->io), "engine", string(volume->engine), "readers",
                     integer(volume->readers), "queue_depth", integer(volume->queue_depth), "files",
                     integer(volume->pool_files), "pool_bytes", integer(volume->pool_bytes),
                     "recommended_block_bytes", integer_or_null(volume->recommended_block_bytes),
                     "recommendation", string(volume->recommendation), "fit",
                     pack_fit(&volume->fit), "blocks", pack_blocks(volume));
}

static json_t *pack_volumes(const struct result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->volume_count; i++) {
        list = appended(list, pack_volume(&result->volumes[i]));
    }
    return list;
}

/* -------------------------------------------------------------------------------------------- */

static json_t *pack_whole(const struct result *result)
{
    return json_pack("{s:s, s:{s:o}, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
                     "trackramp-result-1", "tool", "version", string(result->tool_version),
                     "started", pack_started(result->started), "duration_s",
                     real(result->duration_s, 3), "complete", result->complete, "ended_by",
                     result->complete || result->ended_by[0] == '\0' ? json_null()
                                                                     : string(result->ended_by),
                     "host", pack_host(&result->host), "audio", pack_audio(&result->audio), "track",
                     pack_track(&result->track), "method", pack_method(&result->method), "volumes",
                     pack_volumes(result));
}

int report_json(const struct result *result, const char *path, struct error *error)
{
    json_t *tree = pack_whole(result);
    /* 15 digits: what a double holds for sure. More would print 0.1 as 0.10000000000000001. */
    char *text = tree != NULL ? json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(tree);
    if (text == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "%s: not enough memory to write the result",
                         path);
    /* The newline takes the place of the end mark: save_text counts bytes. */
    size_t length = strlen(text);
    text[length] = '\n';
    int saved = save_text(path, text, length + 1, error);
    free(text);
    return saved;
}
