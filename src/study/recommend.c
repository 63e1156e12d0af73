#include "recommend.h"

#include "units.h"

#include <stdbool.h>
#include <stdio.h>

static const double near_share = 0.95;

/* One search alone has no interval to compare by. */
enum { RUNS_FOR_OVERLAP = 2 };

/* Of the cells whose count is the load's doing; NULL where there is none. */
static const struct result_cell *best_of(const struct result_volume *volume)
{
    const struct result_cell *best = NULL;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        if (!cell->irregular && (best == NULL || cell->sustained > best->sustained))
            best = cell;
    }
    return best;
}

static bool is_near(const struct result_cell *cell, const struct result_cell *best)
{
    return cell->sustained >= near_share * best->sustained;
}

/* Whether the two cannot be told apart. */
static bool is_equal(const struct result_cell *cell, const struct result_cell *best)
{
    return is_near(cell, best) || (cell->run_count >= RUNS_FOR_OVERLAP &&
                                   best->run_count >= RUNS_FOR_OVERLAP && cell->high >= best->low);
}

static bool all_complete(const struct result_volume *volume)
{
    for (size_t i = 0; i < volume->cell_count; i++) {
        if (!volume->cells[i].complete)
            return false;
    }
    return volume->cell_count > 0;
}

static bool is_the_drives(enum limit limit)
{
    return limit == LIMIT_DISK_BANDWIDTH || limit == LIMIT_DISK_IOPS;
}

/* Every cell ran dry at any count: what would help is a ring that outlasts the stalls. */
static void blame_stalls(struct result_volume *volume)
{
    double worst_s = 0, ride_out_s = 0;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_stalls *stalls = &volume->cells[i].stalls;
        worst_s = stalls->worst_s > worst_s ? stalls->worst_s : worst_s;
        ride_out_s = stalls->ride_out_s > ride_out_s ? stalls->ride_out_s : ride_out_s;
    }
    if (ride_out_s > 0)
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "No block size to recommend: the drive stalls for up to %.1f s, which no block "
                 "size mends; measure again with --buffer %g, which would ride that out.",
                 worst_s, ride_out_s);
    else
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "No block size to recommend: rings run dry however few tracks play, which no "
                 "block size mends; measure again with a longer --buffer.");
}

static void explain(struct result_volume *volume, const struct result_cell *chosen,
                    const struct result_cell *best)
{
    char size[32], best_size[32];
    units_format_bytes(size, sizeof size, chosen->block_bytes);
    units_format_bytes(best_size, sizeof best_size, best->block_bytes);
    if (volume->cell_count == 1)
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "%s carries %u track%s; it is the only block size measured.", size,
                 chosen->sustained, chosen->sustained == 1 ? "" : "s");
    else if (chosen == best)
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "Choose %s: it carries the most, %u tracks, and no smaller block comes within "
                 "5 %% of that.",
                 size, chosen->sustained);
    else
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "Choose %s: with %u tracks it is the smallest block within %s of the best (%u at "
                 "%s); larger blocks cost ring memory and %s.",
                 size, chosen->sustained, is_near(chosen, best) ? "5 %" : "the spread",
                 best->sustained, best_size,
                 is_the_drives(best->limit)
                     ? "gain nothing that can be told from noise"
                     : "might carry more only where the drive is not what stopped the count");
}

void recommend(struct result_volume *volume)
{
    const struct result_cell *best = best_of(volume), *chosen = NULL;
    volume->recommended_block_bytes = 0;
    if (all_complete(volume) && best == NULL) {
        blame_stalls(volume);
        return;
    }
    if (!all_complete(volume) || best->sustained == 0) {
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "No block size to recommend: %s.",
                 all_complete(volume) ? "none was found to carry a track"
                                      : "not all were measured to the end");
        return;
    }
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        bool candidate = !cell->irregular && cell->sustained > 0 && is_equal(cell, best);
        if (candidate && (chosen == NULL || cell->block_bytes < chosen->block_bytes))
            chosen = cell;
    }
    volume->recommended_block_bytes = chosen->block_bytes;
    explain(volume, chosen, best);
}
