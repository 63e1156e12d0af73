#include "predict.h"

#include "json_parts.h"
#include "json_value.h"

/* A prediction as a file, `trackramp-prediction-1`: every number of it that was computed stands in
 * an object that says `"predicted": true`. */

static json_t *pack_line(const struct predicted *line)
{
    const struct result_cell *cell = line->cell;
    return json_pack("{s:b, s:o, s:o, s:o, s:b, s:b, s:o}", "predicted", 1, "block_bytes",
                     value_integer(line->block_bytes), "tracks", value_integer(line->tracks),
                     "bytes_per_second", value_real(line->bytes_per_second, 0), "block_measured",
                     cell != NULL, "drive_alone", line->drive_alone, "measured_limit",
                     cell != NULL ? value_string(limit_name(cell->limit)) : json_null());
}

static json_t *pack_volume(const struct result_volume *volume, const struct prediction *wanted)
{
    json_t *blocks = json_array();
    for (size_t i = 0; i < predict_lines(volume, wanted); i++) {
        struct predicted line = predict_line(volume, wanted, i);
        blocks = value_appended(blocks, pack_line(&line));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "path", value_string(volume->path), "io",
                     value_string(volume->io), "fit", json_fit(&volume->fit), "blocks", blocks);
}

int report_prediction_json(const struct result *result, const struct prediction *wanted,
                           const char *path, struct error *error)
{
    json_t *volumes = json_array();
    for (size_t i = 0; i < result->volume_count; i++)
        volumes = value_appended(volumes, pack_volume(&result->volumes[i], wanted));
    json_t *tree =
        json_pack("{s:s, s:b, s:{s:s}, s:o, s:o, s:o, s:o}", "schema", "trackramp-prediction-1",
                  "predicted", 1, "tool", "version", TRACKRAMP_VERSION, "from",
                  value_string(wanted->file), "track", json_track(&wanted->format),
                  "measured_track", json_track(&result->track), "volumes", volumes);
    return value_save(tree, path, error);
}
