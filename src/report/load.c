#include "report.h"

#include "json_node.h"

#include <stdio.h>
#include <string.h>

/*
 * The way back from the result file to a result, in the order in which json.c and json_cell.c write
 * it, as far as anything needs it. The first thing that is not as those write it ends it with one
 * line. What was added to the format after 0.1.0 may be missing.
 */

static const char schema_name[] = "trackramp-result-1";

/* No drive, and no number of tracks, comes near these. */
static const double rate_most = 1e15, seconds_most = 1e6;

static int load_schema(const struct node *root)
{
    const char *schema;
    if (!node_has(root, "schema"))
        return error_set(root->error, ERROR_USAGE,
                         "%s: has no `schema`, so it is no result of trackramp; name a file that "
                         "`trackramp run --json` wrote",
                         root->path);
    if (node_text(root, "schema", &schema) != 0)
        return -1;
    if (strcmp(schema, schema_name) != 0)
        return error_set(root->error, ERROR_USAGE,
                         "%s: is not of the schema %s, which is the one this version of trackramp "
                         "knows; name such a file, or use the version that made it",
                         root->path, schema_name);
    return 0;
}

static int load_count(const struct node *in, const char *name, uint32_t least, uint32_t most,
                      uint32_t *value)
{
    uint64_t count;
    if (node_whole(in, name, least, most, &count) != 0)
        return -1;
    *value = (uint32_t)count;
    return 0;
}

static int load_track(const struct node *root, struct track_format *format)
{
    struct node track;
    const char *container, *encoding;
    if (node_object(root, "track", &track) != 0 ||
        node_text(&track, "container", &container) != 0 ||
        node_text(&track, "encoding", &encoding) != 0 ||
        load_count(&track, "sample_rate", FORMAT_SAMPLE_RATE_MIN, FORMAT_SAMPLE_RATE_MAX,
                   &format->sample_rate_hz) != 0 ||
        load_count(&track, "channels", 1, FORMAT_CHANNELS_MAX, &format->channels) != 0)
        return -1;
    if (format_container_parse(container, &format->container) != 0)
        return node_fail(&track, "container", "is none that this version knows");
    if (format_encoding_parse(encoding, &format->encoding) != 0)
        return node_fail(&track, "encoding", "is none that this version knows");
    return 0;
}

/* --- a cell ----------------------------------------------------------------------------------- */

static int load_limit(const struct node *block, enum limit *limit)
{
    const char *name;
    if (node_text(block, "limit", &name) != 0)
        return -1;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (strcmp(name, limit_name((enum limit)i)) == 0) {
            *limit = (enum limit)i;
            return 0;
        }
    }
    return node_fail(block, "limit", "is none that this version knows");
}

static int load_tracks(const struct node *block, struct result_cell *cell)
{
    struct node tracks;
    if (node_object(block, "tracks", &tracks) != 0 ||
        load_count(&tracks, "sustained", 0, UINT32_MAX, &cell->sustained) != 0 ||
        load_count(&tracks, "low", 0, UINT32_MAX, &cell->low) != 0 ||
        load_count(&tracks, "high", 0, UINT32_MAX, &cell->high) != 0 ||
        load_count(&tracks, "knee", 0, UINT32_MAX, &cell->knee) != 0)
        return -1;
    if (node_has(&tracks, "comfortable"))
        return load_count(&tracks, "comfortable", 0, UINT32_MAX, &cell->comfortable);
    return 0;
}

static int load_throughput(const struct node *block, struct result_cell *cell)
{
    struct node throughput;
    if (node_object(block, "throughput", &throughput) != 0 ||
        node_number(&throughput, "flood_bytes_per_second", 0, rate_most,
                    &cell->flood_bytes_per_second) != 0 ||
        node_number(&throughput, "stream_bytes_per_second", 0, rate_most,
                    &cell->stream_bytes_per_second) != 0)
        return -1;
    if (node_has(&throughput, "fit_bytes_per_second") &&
        node_number(&throughput, "fit_bytes_per_second", 0, rate_most,
                    &cell->fit_bytes_per_second) != 0)
        return -1;
    return node_has(&throughput, "below_fit")
               ? node_truth(&throughput, "below_fit", &cell->below_fit)
               : 0;
}

static int load_block(const struct node *block, struct result_volume *volume)
{
    uint32_t block_bytes;
    if (load_count(block, "block_bytes", 1, UINT32_MAX, &block_bytes) != 0)
        return -1;
    struct result_cell *cell = result_add_cell(volume, block_bytes);
    if (cell == NULL)
        return error_set(block->error, ERROR_ENVIRONMENT, "%s: not enough memory to load it",
                         block->path);
    if (node_truth(block, "complete", &cell->complete) != 0 || load_tracks(block, cell) != 0 ||
        load_limit(block, &cell->limit) != 0 || load_throughput(block, cell) != 0)
        return -1;
    return node_has(block, "irregular") ? node_truth(block, "irregular", &cell->irregular) : 0;
}

/* --- a volume --------------------------------------------------------------------------------- */

static int load_drive(const struct node *in, struct drive *drive)
{
    struct node found;
    const char *node, *model;
    if (node_object(in, "drive", &found) != 0 || node_text(&found, "node", &node) != 0 ||
        node_text(&found, "model", &model) != 0 ||
        node_whole(&found, "stripe_unit_bytes", 0, UINT64_MAX, &drive->stripe_unit_bytes) != 0 ||
        node_whole(&found, "stripe_bytes", 0, UINT64_MAX, &drive->stripe_bytes) != 0)
        return -1;
    snprintf(drive->node, sizeof drive->node, "%s", node);
    snprintf(drive->model, sizeof drive->model, "%s", model);
    bool rotational = false;
    if (node_has(&found, "rotational") && node_truth(&found, "rotational", &rotational) != 0)
        return -1;
    drive->rotational = node_has(&found, "rotational") ? rotational : -1;
    return 0;
}

static int load_fit(const struct node *in, struct result_fit *fit)
{
    struct node found;
    if (!node_has(in, "fit"))
        return 0;
    /* A drive that reads no byte in a second is none. */
    if (node_object(in, "fit", &found) != 0 ||
        node_number(&found, "position_s", 0, seconds_most, &fit->position_s) != 0 ||
        node_number(&found, "rate_bytes_per_second", 1, rate_most, &fit->rate_bytes_per_second) !=
            0 ||
        node_number(&found, "knee_bytes", 0, seconds_most * rate_most, &fit->knee_bytes) != 0)
        return -1;
    return 0;
}

static int load_volume(const struct node *found, struct result *result)
{
    const char *path, *io;
    struct node blocks, block;
    if (node_text(found, "path", &path) != 0 || node_text(found, "io", &io) != 0 ||
        node_list(found, "blocks", &blocks) != 0)
        return -1;
    struct result_volume *volume = result_add_volume(result, path);
    if (volume == NULL)
        return error_set(found->error, ERROR_ENVIRONMENT, "%s: not enough memory to load it",
                         found->path);
    snprintf(volume->io, sizeof volume->io, "%s", io);
    if (load_drive(found, &volume->drive) != 0 || load_fit(found, &volume->fit) != 0)
        return -1;
    for (size_t i = 0; i < node_count(&blocks); i++) {
        if (node_entry(&blocks, i, &block) != 0 || load_block(&block, volume) != 0)
            return -1;
    }
    return 0;
}

static int load_volumes(const struct node *root, struct result *result)
{
    struct node volumes, volume;
    if (node_list(root, "volumes", &volumes) != 0)
        return -1;
    for (size_t i = 0; i < node_count(&volumes); i++) {
        if (node_entry(&volumes, i, &volume) != 0 || load_volume(&volume, result) != 0)
            return -1;
    }
    return 0;
}

int report_load(struct result *result, const char *path, struct error *error)
{
    struct node root;
    *result = (struct result){0};
    if (node_open(&root, path, error) != 0)
        return -1;
    int loaded = load_schema(&root) == 0 && load_track(&root, &result->track) == 0 &&
                         load_volumes(&root, result) == 0
                     ? 0
                     : -1;
    node_close(&root);
    if (loaded != 0)
        result_fini(result);
    return loaded;
}
