#include "cell.h"

#include "stats.h"

#include <math.h>

/* What the searches of a cell add up to: the median of their counts, how far they agree, and
 * everything else as it was in the search whose count is the median. */

/* Searches further apart than this share of their median are worth more of them. */
static const double wide_spread = 0.05;

/* What a count may be off by (docs/method.md). */
static const double same_share = 0.02;

/* A count this near the knee did not suffer from stalls. */
static const double rode_out_share = 0.95;

static uint64_t median_of(const struct cell *cell, uint32_t (*value)(const struct cell_search *))
{
    uint64_t values[CELL_SEARCHES_MAX];
    for (uint32_t i = 0; i < cell->search_count; i++)
        values[i] = value(&cell->searches[i]);
    return stats_median(values, cell->search_count);
}

static uint32_t sustained_of(const struct cell_search *search)
{
    return search->sustained;
}

static uint32_t knee_of(const struct cell_search *search)
{
    return search->knee;
}

static uint32_t comfortable_of(const struct cell_search *search)
{
    return search->comfortable;
}

/* Of the first `count` searches. */
static void find_range(const struct cell *cell, uint32_t count, uint32_t *low, uint32_t *high)
{
    *low = UINT32_MAX;
    *high = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sustained = cell->searches[i].sustained;
        *low = sustained < *low ? sustained : *low;
        *high = sustained > *high ? sustained : *high;
    }
}

bool cell_spread_is_wide(const struct cell *cell)
{
    uint32_t low, high;
    if (cell->search_count < 2)
        return false;
    find_range(cell, cell->search_count, &low, &high);
    return high - low > 1 && high - low > wide_spread * (double)median_of(cell, sustained_of);
}

void cell_compare_again(struct cell *cell, bool extra)
{
    struct result_cell *result = cell->result;
    uint32_t low, high, earlier = cell->search_count - 1;
    uint32_t again = cell->searches[earlier].sustained;
    find_range(cell, earlier, &low, &high);
    result->again = again;
    if (extra)
        cell->search_count--;
    double share = earlier < 2 ? wide_spread : same_share;
    if (again + 1 < low * (1 - share) || again > high * (1 + share) + 1)
        result_warn(result, "drift",
                    "at the end of the run this block size carried %u tracks, not the %u to %u of "
                    "before: the drive changed meanwhile, and counts of this run may differ by as "
                    "much for no other reason",
                    again, low, high);
}

static void use_search(struct result_cell *result, const struct cell_search *search)
{
    result->clean_s = search->clean_s;
    result->flood_bytes_per_second = search->flood_bytes_per_second;
    result->stream_bytes_per_second = search->stream_bytes_per_second;
    result->process_percent = search->process_percent;
    result->callback_percent = search->callback_percent;
    result->latency_p50_us = search->latency_p50_us;
    result->latency_p99_us = search->latency_p99_us;
    result->latency_p999_us = search->latency_p999_us;
    result->latency_max_us = search->latency_max_us;
    result->evidence =
        (struct result_evidence){.tracks = search->seen_at,
                                 .queue_busy_percent = 100 * search->evidence.queue_busy_share,
                                 .callback_percent = search->evidence.callback_percent,
                                 .reader_percent = search->evidence.reader_percent,
                                 .process_percent = search->evidence.process_percent,
                                 .late_callbacks_percent = 100 * search->evidence.late_share};
}

/* The ring that plays on through the worst stall: a block is played before its slot asks for the
 * next, and one may just have been asked for when the drive fell silent. Where the count that was
 * held, with stalls in it, is nearly the knee, the ring has shown that it is long enough. */
static void advise_on_stalls(const struct cell *cell)
{
    struct result_cell *result = cell->result;
    struct result_stalls *stalls = &result->stalls;
    if (stalls->seen == 0 && result->irregular)
        result_warn(result, "irregular",
                    "rings run dry at half the knee too, so the load is not the cause, yet the "
                    "drive was never silent for long; use a longer --buffer");
    if (stalls->seen == 0)
        return;
    double wanted_s = stalls->worst_s + 2 * cell->block_s;
    bool rode_it_out = !result->irregular && result->sustained >= rode_out_share * result->knee;
    if (!rode_it_out && wanted_s > cell->slots * cell->block_s)
        stalls->ride_out_s = ceil(2 * wanted_s) / 2;
    double a_minute = 60 * stalls->seen / stalls->observed_s;
    if (result->irregular)
        result_warn(result, "irregular",
                    "rings run dry at half the knee too, so the load is not the cause: the drive "
                    "answered nothing for up to %.2f s, %.1f times a minute; --buffer %.1f would "
                    "play through that",
                    stalls->worst_s, a_minute, stalls->ride_out_s);
    else
        result_warn(result, "stalls",
                    "the drive answered nothing for up to %.2f s, %.1f times a minute, whatever "
                    "the load; %s",
                    stalls->worst_s, a_minute,
                    stalls->ride_out_s > 0 ? "a longer --buffer would play through that"
                                           : "the buffer plays through that");
}

void cell_finish(struct cell *cell, uint32_t repeats)
{
    struct result_cell *result = cell->result;
    if (cell->search_count == 0)
        return;
    result->complete = cell->search_count >= repeats;
    result->sustained = (uint32_t)median_of(cell, sustained_of);
    result->knee = (uint32_t)median_of(cell, knee_of);
    result->comfortable = (uint32_t)median_of(cell, comfortable_of);
    result->spread_wide = cell_spread_is_wide(cell);
    find_range(cell, cell->search_count, &result->low, &result->high);
    for (uint32_t i = 0; i < cell->search_count; i++)
        result_add_run(result, cell->searches[i].sustained);
    /* Everything else is told of the search whose count is the one reported. */
    for (uint32_t i = 0; i < cell->search_count; i++) {
        const struct cell_search *search = &cell->searches[i];
        if (search->sustained != result->sustained)
            continue;
        use_search(result, search);
        result->irregular = search->irregular;
        result->limit = search->capped ? cell->cap_reason : limit_of_machine(&search->evidence);
    }
    result->buffer_bytes = (uint64_t)result->sustained * cell->slots * result->block_bytes;
    advise_on_stalls(cell);
}
