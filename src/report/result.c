#include "result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The lists of a result grow one entry at a time, at most a few thousand in all, from the main
 * thread between trials: never while anything is timed. A list doubles whenever its count reaches
 * a power of two, so no capacity has to be kept beside the count.
 */

static const char *const limit_names[LIMIT_COUNT] = {
    "unknown", "disk-bandwidth", "disk-iops",    "cpu",
    "memory",  "file-handles",   "audio-device", "max-tracks",
};

const char *limit_name(enum limit limit)
{
    return limit_names[limit];
}

const char *ramp_step_name(enum ramp_step step)
{
    static const char *const names[STEP_COUNT] = {"bracket", "close-in", "confirm", "floor",
                                                  "margin"};
    return names[step];
}

double result_fit_bytes_per_second(const struct result_fit *fit, uint32_t block_bytes)
{
    if (!(fit->rate_bytes_per_second > 0))
        return 0;
    return block_bytes / (fit->position_s + block_bytes / fit->rate_bytes_per_second);
}

/*
 * Makes room for entry number `count` and zeroes it. Returns the list, moved or not, or NULL, the
 * old list then being whole.
 */
static void *list_grown(void *list, size_t count, size_t entry_bytes)
{
    if ((count & (count - 1)) == 0) {
        list = realloc(list, (count == 0 ? 1 : 2 * count) * entry_bytes);
        if (list == NULL)
            return NULL;
    }
    memset((char *)list + count * entry_bytes, 0, entry_bytes);
    return list;
}

struct result_volume *result_add_volume(struct result *result, const char *path)
{
    struct result_volume *volumes =
        list_grown(result->volumes, result->volume_count, sizeof *volumes);
    if (volumes == NULL)
        return NULL;
    result->volumes = volumes;
    struct result_volume *volume = &volumes[result->volume_count];
    volume->path = strdup(path);
    if (volume->path == NULL)
        return NULL;
    result->volume_count++;
    return volume;
}

struct result_cell *result_add_cell(struct result_volume *volume, uint32_t block_bytes)
{
    struct result_cell *cells = list_grown(volume->cells, volume->cell_count, sizeof *cells);
    if (cells == NULL)
        return NULL;
    volume->cells = cells;
    struct result_cell *cell = &cells[volume->cell_count++];
    cell->block_bytes = block_bytes;
    return cell;
}

struct result_trial *result_add_trial(struct result_cell *cell)
{
    struct result_trial *trials = list_grown(cell->trials, cell->trial_count, sizeof *trials);
    if (trials == NULL)
        return NULL;
    cell->trials = trials;
    return &trials[cell->trial_count++];
}

int result_add_run(struct result_cell *cell, uint32_t tracks)
{
    uint32_t *runs = list_grown(cell->runs, cell->run_count, sizeof *runs);
    if (runs == NULL)
        return -1;
    cell->runs = runs;
    runs[cell->run_count++] = tracks;
    return 0;
}

void result_warn(struct result_cell *cell, const char *kind, const char *format, ...)
{
    for (size_t i = 0; i < cell->warning_count; i++) {
        if (strncmp(cell->warnings[i].kind, kind, sizeof cell->warnings[i].kind - 1) == 0)
            return;
    }
    struct result_warning *warnings =
        list_grown(cell->warnings, cell->warning_count, sizeof *warnings);
    if (warnings == NULL)
        return;
    cell->warnings = warnings;
    struct result_warning *warning = &warnings[cell->warning_count++];
    snprintf(warning->kind, sizeof warning->kind, "%s", kind);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(warning->text, sizeof warning->text, format, arguments);
    va_end(arguments);
}

static void cell_fini(struct result_cell *cell)
{
    free(cell->runs);
    free(cell->trials);
    free(cell->warnings);
}

void result_fini(struct result *result)
{
    for (size_t v = 0; v < result->volume_count; v++) {
        struct result_volume *volume = &result->volumes[v];
        for (size_t c = 0; c < volume->cell_count; c++)
            cell_fini(&volume->cells[c]);
        free(volume->cells);
        free(volume->path);
    }
    free(result->volumes);
    memset(result, 0, sizeof *result);
}
