#include "limit.h"

#include "stats.h"

#include <stdlib.h>

/* Above these loads a thread or the machine has no more to give: what is left goes to interrupts
 * and to whatever else runs. */
static const double full_thread_percent = 90;
static const double full_machine_share = 0.85;

/* A callback under this load that is late all the same was not held up by its own work. Then only
 * a device that is late more often than not fails a trial; one that works hard may hardly ever be.
 */
static const double light_callback_percent = 60, light_late_share = 0.5, heavy_late_share = 0.05;

bool limit_callbacks_fail(const struct limit_evidence *evidence)
{
    bool light = evidence->callback_percent < light_callback_percent;
    return evidence->late_share > (light ? light_late_share : heavy_late_share);
}

enum limit limit_of_machine(const struct limit_evidence *evidence)
{
    bool late = limit_callbacks_fail(evidence);
    if (late && evidence->callback_percent < light_callback_percent &&
        evidence->process_percent < full_machine_share * 100 * evidence->cores)
        return LIMIT_AUDIO_DEVICE;
    if (late || evidence->callback_percent > full_thread_percent ||
        evidence->reader_percent > full_thread_percent ||
        evidence->process_percent > full_machine_share * 100 * evidence->cores)
        return LIMIT_CPU;
    return LIMIT_NONE;
}

void limit_fit(const struct limit_flood *floods, size_t count, struct result_fit *fit)
{
    *fit = (struct result_fit){0};
    double *blocks = calloc(2 * count + 1, sizeof *blocks);
    double *times = blocks != NULL ? blocks + count : NULL;
    if (blocks == NULL)
        return;
    double mean_block = 0, mean_time = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (floods[i].bytes_per_second <= 0)
            continue;
        blocks[used] = floods[i].block_bytes;
        times[used] = floods[i].block_bytes / floods[i].bytes_per_second;
        mean_block += blocks[used];
        mean_time += times[used];
        used++;
    }
    double slope = stats_slope(blocks, times, used);
    free(blocks);
    if (slope <= 0)
        return;
    double position_s = (mean_time - slope * mean_block) / (double)used;
    fit->position_s = position_s > 0 ? position_s : 0;
    fit->rate_bytes_per_second = 1 / slope;
    fit->knee_bytes = fit->position_s * fit->rate_bytes_per_second;
}

enum limit limit_of_drive(uint32_t block_bytes, const struct limit_flood *floods, size_t count)
{
    const struct limit_flood *self = NULL, *neighbour = NULL;
    for (size_t i = 0; i < count; i++) {
        if (floods[i].bytes_per_second <= 0)
            continue;
        if (floods[i].block_bytes == block_bytes)
            self = &floods[i];
        else if (neighbour == NULL)
            neighbour = &floods[i];
        /* The next larger size before any smaller one. */
        else if (floods[i].block_bytes > block_bytes
                     ? neighbour->block_bytes < block_bytes ||
                           floods[i].block_bytes < neighbour->block_bytes
                     : neighbour->block_bytes < block_bytes &&
                           floods[i].block_bytes > neighbour->block_bytes)
            neighbour = &floods[i];
    }
    if (self == NULL || neighbour == NULL)
        return LIMIT_NONE;
    struct result_fit fit;
    limit_fit((struct limit_flood[]){*self, *neighbour}, 2, &fit);
    if (fit.rate_bytes_per_second == 0) /* larger reads take no longer: only their number counts */
        return LIMIT_DISK_IOPS;
    return block_bytes < fit.knee_bytes ? LIMIT_DISK_IOPS : LIMIT_DISK_BANDWIDTH;
}
