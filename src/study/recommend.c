#include "recommend.h"

#include "units.h"

#include <stdbool.h>
#include <stdio.h>

static const double near_share = 0.95;

/* From three runs on, their extremes say something about noise. */
enum { RUNS_FOR_OVERLAP = 3 };

static const struct result_cell *best_of(const struct result_volume *volume)
{
    const struct result_cell *best = NULL;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        if (best == NULL || cell->sustained > best->sustained)
            best = cell;
    }
    return best;
}

static bool as_good(const struct result_cell *cell, const struct result_cell *best)
{
    if (cell->sustained >= near_share * best->sustained)
        return true;
    return cell->run_count >= RUNS_FOR_OVERLAP && best->run_count >= RUNS_FOR_OVERLAP &&
           cell->sustained >= best->low;
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
                 size, chosen->sustained,
                 chosen->sustained >= near_share * best->sustained ? "5 %" : "the spread",
                 best->sustained, best_size,
                 is_the_drives(best->limit)
                     ? "gain nothing that can be told from noise"
                     : "might carry more only where the drive is not what stopped the count");
}

void recommend(struct result_volume *volume)
{
    const struct result_cell *best = best_of(volume), *chosen = NULL;
    volume->recommended_block_bytes = 0;
    if (!all_complete(volume) || best->sustained == 0) {
        snprintf(volume->recommendation, sizeof volume->recommendation,
                 "No block size to recommend: %s.",
                 all_complete(volume) ? "none was found to carry a track"
                                      : "not all were measured to the end");
        return;
    }
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        if (as_good(cell, best) && (chosen == NULL || cell->block_bytes < chosen->block_bytes))
            chosen = cell;
    }
    volume->recommended_block_bytes = chosen->block_bytes;
    explain(volume, chosen, best);
}
