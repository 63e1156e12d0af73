#include "report.h"

#include "json_parts.h"
#include "json_value.h"

#include <jansson.h>

/*
 * The result file, in the order a person reads it. Every value is made by one of the small
 * functions of json_value.h. jansson's own allocation failures come back as NULL through json_pack,
 * so one test at the end covers them all.
 *
 * Names here are a contract (docs/result.schema.json): they may be added to, not changed.
 */

/* --- the machine and the method ------------------------------------------------------------- */

static json_t *pack_started(time_t time)
{
    char text[64];
    struct tm utc;
    if (gmtime_r(&time, &utc) == NULL)
        return NULL;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return value_string(text);
}

static json_t *pack_host(const struct host *host)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "os", value_string(host->os), "kernel",
                     value_string(host->kernel), "cpu", value_string(host->cpu), "cores",
                     value_integer(host->cores), "memory_bytes", value_integer(host->memory_bytes));
}

static json_t *pack_audio(const struct result_audio *audio)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "driver", value_string(audio->driver),
                     "host_api", value_string(audio->host_api), "device",
                     value_string(audio->device), "sample_rate",
                     value_integer(audio->sample_rate_hz), "frames_per_buffer",
                     value_integer(audio->frames_per_buffer), "fell_back", audio->fell_back);
}

json_t *json_track(const struct track_format *track)
{
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o}", "container", format_container_name(track->container),
        "encoding", format_encoding_name(track->encoding), "sample_rate",
        value_integer(track->sample_rate_hz), "channels", value_integer(track->channels),
        "bytes_per_second", value_integer(format_bytes_per_second(track)));
}

static json_t *pack_method(const struct result_method *method)
{
    json_t *packed = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
        "trial_s", value_real(method->trial_s, 3), "repeats", value_integer(method->repeats),
        "buffer_s", value_real(method->buffer_s, 3), "io", value_string(method->io), "io_requested",
        value_string(method->io_requested), "engine", value_string(method->engine), "readers",
        value_integer(method->readers), "queue_depth", value_integer(method->queue_depth), "seed",
        value_integer(method->seed), "start", value_string(method->start), "layout",
        value_string(method->layout), "pool_bytes", value_integer(method->pool_bytes), "max_tracks",
        value_integer_or_null(method->max_tracks), "frames", value_integer(method->frames), "keep",
        method->keep, "descriptor_limit", value_integer(method->descriptor_limit));
    if (method->model[0] != '\0')
        packed = value_with(packed, "model", value_string(method->model));
    return packed;
}

/* --- a volume ------------------------------------------------------------------------------- */

static json_t *pack_blocks(const struct result_volume *volume)
{
    json_t *list = json_array();
    for (size_t i = 0; i < volume->cell_count; i++) {
        list = value_appended(list, json_cell(&volume->cells[i]));
    }
    return list;
}

json_t *json_fit(const struct result_fit *fit)
{
    if (!(fit->rate_bytes_per_second > 0))
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "position_s", value_real(fit->position_s, 9),
                     "rate_bytes_per_second", value_real(fit->rate_bytes_per_second, 0),
                     "knee_bytes", value_real(fit->knee_bytes, 0));
}

static json_t *pack_volume(const struct result_volume *volume)
{
    const struct drive *drive = &volume->drive;
    json_t *filesystem =
        json_pack("{s:o, s:o, s:o, s:o}", "type", value_string(drive->filesystem_type),
                  "block_bytes", value_integer(drive->filesystem_block_bytes), "options",
                  value_string(drive->filesystem_options), "read_ahead_bytes",
                  value_integer(drive->read_ahead_bytes));
    json_t *device =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "node", value_string(drive->node), "model",
                  value_string(drive->model), "rotational",
                  drive->rotational < 0 ? json_null() : json_boolean(drive->rotational),
                  "stripe_unit_bytes", value_integer(drive->stripe_unit_bytes), "stripe_bytes",
                  value_integer(drive->stripe_bytes));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
                     value_string(volume->path), "filesystem", filesystem, "drive", device, "io",
                     value_string(volume->io), "engine", value_string(volume->engine), "readers",
                     value_integer(volume->readers), "queue_depth",
                     value_integer(volume->queue_depth), "files", value_integer(volume->pool_files),
                     "pool_bytes", value_integer(volume->pool_bytes), "recommended_block_bytes",
                     value_integer_or_null(volume->recommended_block_bytes), "recommendation",
                     value_string(volume->recommendation), "fit", json_fit(&volume->fit), "blocks",
                     pack_blocks(volume));
}

static json_t *pack_volumes(const struct result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->volume_count; i++) {
        list = value_appended(list, pack_volume(&result->volumes[i]));
    }
    return list;
}

/* -------------------------------------------------------------------------------------------- */

static json_t *pack_whole(const struct result *result)
{
    return json_pack("{s:s, s:{s:o}, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
                     "trackramp-result-1", "tool", "version", value_string(result->tool_version),
                     "started", pack_started(result->started), "duration_s",
                     value_real(result->duration_s, 3), "complete", result->complete, "ended_by",
                     result->complete || result->ended_by[0] == '\0'
                         ? json_null()
                         : value_string(result->ended_by),
                     "host", pack_host(&result->host), "audio", pack_audio(&result->audio), "track",
                     json_track(&result->track), "method", pack_method(&result->method), "volumes",
                     pack_volumes(result));
}

int report_json(const struct result *result, const char *path, struct error *error)
{
    return value_save(pack_whole(result), path, error);
}
