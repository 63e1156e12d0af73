#include "limit.h"

/* Above these loads a thread or the machine has no more to give: what is left goes to interrupts
 * and to whatever else runs. */
static const double full_thread_percent = 90;
static const double full_machine_share = 0.85;

/* A callback under this load that is late all the same was not held up by its own work. Then only
 * a device that is late more often than not fails a trial; one that works hard may hardly ever be.
 */
static const double light_callback_percent = 60, light_late_share = 0.5, heavy_late_share = 0.05;

/* How far below the fit is noise for certain; and a line through two points misses neither. */
static const double noise_share = 0.05;
enum { CELLS_TO_MISS = 3 };

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

/*
 * Least squares of the relative errors (t - s - B u) / t, with u = 1 / R: an absolute error would
 * be the largest blocks' alone, which take hundreds of times as long as the smallest. With
 * a = 1 / t and b = B / t that is the plane 1 = a s + b u through the origin. Its determinant, the
 * sum of (a b' - a' b)^2 over all pairs, is 0 exactly where all blocks are of one size.
 */
void limit_fit(const struct limit_flood *floods, size_t count, struct result_fit *fit)
{
    double aa = 0, ab = 0, bb = 0, sum_a = 0, sum_b = 0, determinant = 0;
    *fit = (struct result_fit){0};
    for (size_t i = 0; i < count; i++) {
        double b = floods[i].bytes_per_second, a = b / floods[i].block_bytes;
        if (b <= 0)
            continue;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        sum_a += a;
        sum_b += b;
        for (size_t k = 0; k < i; k++) {
            double other = floods[k].bytes_per_second;
            double part = b * other * (1.0 / floods[i].block_bytes - 1.0 / floods[k].block_bytes);
            determinant += part * part;
        }
    }
    if (determinant <= 0)
        return;
    double position_s = (bb * sum_a - ab * sum_b) / determinant;
    double inverse_rate = (aa * sum_b - ab * sum_a) / determinant;
    if (inverse_rate <= 0)
        return;
    if (position_s < 0) { /* the best line that begins at zero instead */
        position_s = 0;
        inverse_rate = sum_b / bb;
    }
    fit->position_s = position_s;
    fit->rate_bytes_per_second = 1 / inverse_rate;
    fit->knee_bytes = position_s / inverse_rate;
}

void limit_mark_fit(struct result_volume *volume)
{
    size_t measured = 0;
    for (size_t i = 0; i < volume->cell_count; i++)
        measured += volume->cells[i].flood_bytes_per_second > 0;
    for (size_t i = 0; i < volume->cell_count; i++) {
        struct result_cell *cell = &volume->cells[i];
        double half_spread = 0;
        if (cell->sustained > 0)
            half_spread = 0.5 * (cell->high - cell->low) / cell->sustained;
        double noise = half_spread > noise_share ? half_spread : noise_share;
        cell->fit_bytes_per_second = result_fit_bytes_per_second(&volume->fit, cell->block_bytes);
        cell->below_fit = measured >= CELLS_TO_MISS && cell->flood_bytes_per_second > 0 &&
                          cell->flood_bytes_per_second < (1 - noise) * cell->fit_bytes_per_second;
    }
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
