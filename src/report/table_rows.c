#include "table_parts.h"

#include "units.h"

#include <math.h>

/*
 * A row a block size: the count first, with what makes it doubtful before it, then how far the
 * searches agree, then what it cost, and last what stopped it. The widths leave the last column
 * room for its longest words.
 */

static void print_column_heads(FILE *out)
{
    fprintf(out, "\n%10s %9s %7s %13s %9s     %8s    %9s   %6s  %s\n", "block", "tracks", "comfort",
            "low-high", "MB/s", "CPU %", "read ms", "rings", "limited by");
    fprintf(out, "%10s %9s %7s %13s %6s %6s %5s %5s %5s %5s %6s\n", "", "sustained", "", "",
            "stream", "flood", "all", "audio", "p99", "worst", "MiB");
}

/* `445`, `>= 445`, `~445`, `! 0`; a dash where there is no count. */
static const char *format_count(char out[NUMBER_BYTES], const struct result_cell *cell)
{
    bool capped = table_is_capped(cell);
    if (!cell->complete && cell->run_count == 0)
        snprintf(out, NUMBER_BYTES, "-");
    else if (cell->irregular)
        snprintf(out, NUMBER_BYTES, "! %u", cell->sustained);
    else
        snprintf(out, NUMBER_BYTES, "%s%s%u", capped ? ">=" : "",
                 cell->spread_wide ? "~"
                 : capped          ? " "
                                   : "",
                 cell->sustained);
    return out;
}

static void print_row(const struct result_cell *cell, uint32_t repeats, bool recommended, FILE *out)
{
    enum { STREAMED, FLOOD, PROCESS, CALLBACK, P99, WORST, RINGS, NUMBERS };
    const double values[NUMBERS] = {
        [STREAMED] = cell->stream_bytes_per_second / 1e6,
        [FLOOD] = cell->flood_bytes_per_second / 1e6,
        [PROCESS] = cell->process_percent,
        [CALLBACK] = cell->callback_percent,
        [P99] = cell->latency_p99_us / 1e3,
        [WORST] = cell->latency_max_us / 1e3,
        [RINGS] = (double)cell->buffer_bytes / (1024 * 1024),
    };
    char block[NUMBER_BYTES], tracks[NUMBER_BYTES], comfortable[NUMBER_BYTES] = "-";
    char range[NUMBER_BYTES] = "-", n[NUMBERS][NUMBER_BYTES];
    if (cell->comfortable > 0)
        snprintf(comfortable, sizeof comfortable, "%u", cell->comfortable);
    if (cell->complete || cell->run_count > 0)
        snprintf(range, sizeof range, "%u-%u", cell->low, cell->high);
    for (int i = 0; i < NUMBERS; i++)
        table_figures(n[i], values[i]);
    fprintf(out, "%2s%8s %9s %7s %13s %6s %6s %5s %5s %5s %5s %6s  ", recommended ? "*" : "",
            units_format_bytes(block, sizeof block, cell->block_bytes), format_count(tracks, cell),
            comfortable, range, n[STREAMED], n[FLOOD], n[PROCESS], n[CALLBACK], n[P99], n[WORST],
            n[RINGS]);
    if (!cell->complete)
        fprintf(out, "unfinished, %zu of %u\n", cell->run_count, repeats);
    else
        fprintf(out, "%s\n",
                cell->irregular ? "stalls, not the load" : table_limit_words(cell->limit));
}

void table_rows(FILE *out, const struct result_volume *volume, uint32_t repeats)
{
    print_column_heads(out);
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        print_row(cell, repeats, cell->block_bytes == volume->recommended_block_bytes, out);
    }
}

/* --- what the columns mean ------------------------------------------------------------------ */

/* The range of n searches holds the true median with a chance of 1 - 2^(1-n). Unsteady cells have
 * more of them than others; of an unfinished run, the rows that got furthest speak. */
static void print_interval(const struct result_volume *volume, FILE *out)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        most = cell->run_count > most ? cell->run_count : most;
        if (cell->complete && cell->run_count < least)
            least = cell->run_count;
    }
    if (least > most)
        least = most;
    double percent = 100 * (1 - pow(2, 1 - (double)least));
    if (least > 1 && least < most)
        LINE(out, "  low-high",
             "of %zu to %zu searches: holds the true middle with a chance of %.0f %% at least",
             least, most, percent);
    else if (least > 1)
        LINE(out, "  low-high", "of %zu searches: holds the true middle with a chance of %.0f %%",
             least, percent);
}

void table_legend(FILE *out, const struct result_volume *volume)
{
    double clean_s = 0;
    bool capped = false, unfinished = false, wide = false;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        capped = capped || (table_is_capped(cell) && !cell->irregular);
        unfinished = unfinished || !cell->complete;
        wide = wide || cell->spread_wide;
        if (cell->complete && cell->sustained > 0 && (clean_s <= 0 || cell->clean_s < clean_s))
            clean_s = cell->clean_s;
    }
    if (volume->recommended_block_bytes > 0)
        LINE(out, "  *", "recommended");
    if (capped)
        LINE(out, "  >=", "stopped by something other than the drive, which could carry more");
    if (wide)
        LINE(out, "  ~",
             "the searches still differ by more than 5 %%: the drive, or what else uses it, is "
             "unsteady");
    LINE(out, "  CPU %", "of one core: the whole process, and its audio callback alone");
    print_interval(volume, out);
    if (unfinished)
        LINE(out, "  -",
             "not measured; a row that is unfinished says how many of its searches ended");
    /* No event in T bounds the rate at 3/T with 95 % confidence. */
    if (clean_s > 0)
        LINE(out, "  held",
             "each count played at least %.3g s without an underrun: at most one in %.3g s, with "
             "95 %% confidence; at comfort no ring fell under 20 %%",
             clean_s, clean_s / 3);
}
