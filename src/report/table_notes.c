#include "table_parts.h"

#include "units.h"

#include <stdarg.h>
#include <string.h>

/*
 * What the rows cannot say, a line for each thing and only where there is something to say: the
 * same is said once for all block sizes that it concerns, with the range of their numbers. The
 * sizes are named where it does not concern them all.
 */

/* --- lists and ranges ------------------------------------------------------------------------ */

/* Pieces with commas between them; what has no room is left out. */
enum { LIST_BYTES = 512 };
struct list {
    char text[LIST_BYTES];
    size_t length;
};

static void list_add(struct list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void list_add(struct list *list, const char *format, ...)
{
    char piece[2 * NUMBER_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (list->length + strlen(piece) + 3 > sizeof list->text)
        return;
    list->length += (size_t)snprintf(list->text + list->length, sizeof list->text - list->length,
                                     "%s%s", list->length > 0 ? ", " : "", piece);
}

static void list_add_block(struct list *list, const struct result_cell *cell)
{
    char block[NUMBER_BYTES];
    list_add(list, "%s", units_format_bytes(block, sizeof block, cell->block_bytes));
}

struct range {
    double low, high;
    bool some;
};

static void range_add(struct range *range, double value)
{
    range->low = !range->some || value < range->low ? value : range->low;
    range->high = !range->some || value > range->high ? value : range->high;
    range->some = true;
}

/* `98 to 100`, in whole numbers. */
static const char *range_format(char out[NUMBER_BYTES], const struct range *range)
{
    snprintf(out, NUMBER_BYTES, "%.0f", range->low);
    char high[NUMBER_BYTES];
    snprintf(high, sizeof high, "%.0f", range->high);
    if (strcmp(out, high) != 0)
        snprintf(out, NUMBER_BYTES, "%.0f to %.0f", range->low, range->high);
    return out;
}

/* --- the fit --------------------------------------------------------------------------------- */

/* The knee is told from blocks on both sides of it; so many times beyond them it is a guess. */
enum { KNEE_BEYOND = 4, FIT_BYTES = 96 };

/* `positioning 8.0 ms, transfer 40 MB/s`. */
static const char *fit_words(char out[FIT_BYTES], const struct result_fit *fit)
{
    char rate[NUMBER_BYTES], position[2 * NUMBER_BYTES] = "";
    double us = fit->position_s * 1e6;
    if (us >= 0.05)
        snprintf(position, sizeof position, "positioning %.*f %s, ",
                 us < 9.95 || us >= 999.5 ? 1 : 0, us < 999.5 ? us : us / 1e3,
                 us < 999.5 ? "us" : "ms");
    snprintf(out, FIT_BYTES, "%stransfer %s MB/s", position,
             table_figures(rate, fit->rate_bytes_per_second / 1e6));
    return out;
}

void table_fit(FILE *out, const struct result_volume *volume)
{
    char words[FIT_BYTES], knee[NUMBER_BYTES];
    const struct result_fit *fit = &volume->fit;
    uint32_t largest = 0;
    if (!(fit->rate_bytes_per_second > 0))
        return;
    for (size_t i = 0; i < volume->cell_count; i++) {
        if (volume->cells[i].block_bytes > largest)
            largest = volume->cells[i].block_bytes;
    }
    fit_words(words, fit);
    units_format_bytes(knee, sizeof knee, (uint64_t)fit->knee_bytes);
    if (fit->knee_bytes < 1)
        LINE(out, "  fit", "%s, nothing lost in positioning: larger blocks gain little", words);
    else if (fit->knee_bytes > (double)KNEE_BEYOND * largest)
        LINE(out, "  fit", "%s; all of these blocks are far below the knee, so larger ones gain",
             words);
    else
        LINE(out, "  fit", "%s; blocks above %s gain little (knee)", words, knee);
}

static void print_below_fit(const struct result_volume *volume, FILE *out)
{
    struct list below = {0};
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        char block[NUMBER_BYTES], flood[NUMBER_BYTES], fit[NUMBER_BYTES];
        if (cell->below_fit)
            list_add(&below, "%s (%s MB/s, not %s)",
                     units_format_bytes(block, sizeof block, cell->block_bytes),
                     table_figures(flood, cell->flood_bytes_per_second / 1e6),
                     table_figures(fit, cell->fit_bytes_per_second / 1e6));
    }
    if (below.length > 0)
        LINE(out, "  below fit", "reads slower than the fit says: %s", below.text);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The drive's two limits are one here: the evidence for them is the same. */
static bool has_limit(const struct result_cell *cell, enum limit limit)
{
    return cell->evidence.tracks > 0 && !cell->irregular &&
           (limit == LIMIT_DISK_BANDWIDTH ? table_is_drives(cell) : cell->limit == limit);
}

static void print_limit(const struct result_volume *volume, enum limit limit, bool alone, FILE *out)
{
    struct range tracks = {0}, busy = {0}, callback = {0}, reader = {0}, process = {0}, late = {0};
    struct list blocks = {0};
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_evidence *seen = &volume->cells[i].evidence;
        if (!has_limit(&volume->cells[i], limit))
            continue;
        list_add_block(&blocks, &volume->cells[i]);
        range_add(&tracks, seen->tracks);
        range_add(&busy, seen->queue_busy_percent);
        range_add(&callback, seen->callback_percent);
        range_add(&reader, seen->reader_percent);
        range_add(&process, seen->process_percent);
        range_add(&late, seen->late_callbacks_percent);
    }
    char what[NUMBER_BYTES + LIST_BYTES], n[5][NUMBER_BYTES];
    snprintf(what, sizeof what, "%s%s%s: at %s tracks",
             limit == LIMIT_DISK_BANDWIDTH ? "drive" : table_limit_words(limit),
             alone ? "" : " with ", alone ? "" : blocks.text, range_format(n[0], &tracks));
    range_format(n[1], &busy);
    range_format(n[2], &callback);
    range_format(n[3], &process);
    if (limit == LIMIT_CPU)
        LINE(out, "  limit",
             "%s callback load %s %%, the busiest reader %s %% of a core, the process %s %%; reads "
             "were under way %s %% of the time",
             what, n[2], range_format(n[4], &reader), n[3], n[1]);
    else if (limit == LIMIT_AUDIO_DEVICE)
        LINE(out, "  limit",
             "%s %s %% of the callbacks came late, at a callback load of %s %% and with the "
             "process at %s %% of a core",
             what, range_format(n[4], &late), n[2], n[3]);
    else
        LINE(out, "  limit", "%s%s reads were under way %s %% of the time, callback load %s %%",
             what, limit == LIMIT_DISK_BANDWIDTH ? "" : ", the most allowed,", n[1], n[2]);
}

static void print_limits(const struct result_volume *volume, FILE *out)
{
    unsigned kinds = 0;
    bool found[LIMIT_COUNT] = {false};
    for (int limit = LIMIT_DISK_BANDWIDTH; limit < LIMIT_COUNT; limit++) {
        for (size_t i = 0; i < volume->cell_count && limit != LIMIT_DISK_IOPS; i++)
            found[limit] = found[limit] || has_limit(&volume->cells[i], (enum limit)limit);
        kinds += found[limit];
    }
    for (int limit = LIMIT_DISK_BANDWIDTH; limit < LIMIT_COUNT; limit++) {
        if (found[limit])
            print_limit(volume, (enum limit)limit, kinds == 1, out);
    }
}

/* --- stalls ----------------------------------------------------------------------------------- */

/* Of all cells that are irregular, or of all that are not. */
struct stall_sum {
    size_t cells;
    struct list blocks;
    struct range knee;
    struct result_stalls stalls;
};

static void sum_stalls(const struct result_volume *volume, bool irregular, struct stall_sum *sum)
{
    *sum = (struct stall_sum){0};
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        const struct result_stalls *stalls = &cell->stalls;
        if (cell->irregular != irregular || (!irregular && stalls->seen == 0))
            continue;
        sum->cells++;
        list_add_block(&sum->blocks, cell);
        range_add(&sum->knee, cell->knee);
        sum->stalls.seen += stalls->seen;
        sum->stalls.observed_s += stalls->observed_s;
        if (stalls->worst_s > sum->stalls.worst_s)
            sum->stalls.worst_s = stalls->worst_s;
        if (stalls->ride_out_s > sum->stalls.ride_out_s)
            sum->stalls.ride_out_s = stalls->ride_out_s;
    }
}

/* `3.0 a minute`, and what would help. */
struct stall_words {
    char often[2 * NUMBER_BYTES], longest[NUMBER_BYTES], help[2 * NUMBER_BYTES];
    char where[NUMBER_BYTES + LIST_BYTES];
};

static void say_stalls(const struct stall_sum *sum, size_t cells, struct stall_words *words)
{
    const struct result_stalls *stalls = &sum->stalls;
    double a_minute = stalls->observed_s > 0 ? 60 * stalls->seen / stalls->observed_s : 0;
    snprintf(words->often, sizeof words->often, "%.*f a minute", a_minute < 0.95 ? 2 : 1, a_minute);
    snprintf(words->longest, sizeof words->longest, "%.*f s", stalls->worst_s < 0.95 ? 2 : 1,
             stalls->worst_s);
    if (stalls->ride_out_s > 0)
        snprintf(words->help, sizeof words->help, "--buffer %g would ride it out",
                 stalls->ride_out_s);
    else
        snprintf(words->help, sizeof words->help, "the buffer rides it out");
    snprintf(words->where, sizeof words->where, "%s%s", sum->cells < cells ? " with " : "",
             sum->cells < cells ? sum->blocks.text : "");
}

static void print_stalls(const struct result_volume *volume, FILE *out)
{
    struct stall_sum sum;
    struct stall_words words = {0};
    char knee[NUMBER_BYTES];
    sum_stalls(volume, true, &sum);
    say_stalls(&sum, volume->cell_count, &words);
    range_format(knee, &sum.knee);
    if (sum.cells > 0 && sum.stalls.ride_out_s > 0)
        LINE(out, "  !",
             "at any count a ring runs dry%s: longest stall %s, %s; %s; the knee is %s tracks",
             words.where, words.longest, words.often, words.help, knee);
    else if (sum.cells > 0)
        LINE(out, "  !",
             "at any count a ring runs dry%s, though the drive is never silent for as long as a "
             "ring "
             "lasts; a longer --buffer may help; the knee is %s tracks",
             words.where, knee);
    sum_stalls(volume, false, &sum);
    say_stalls(&sum, volume->cell_count, &words);
    if (sum.cells > 0)
        LINE(out, "  stalls", "%s%s, the longest %s; %s", words.often, words.where, words.longest,
             words.help);
}

/* --- warnings ------------------------------------------------------------------------------- */

static const struct result_warning *find_warning(const struct result_cell *cell, const char *kind)
{
    for (size_t i = 0; i < cell->warning_count; i++) {
        if (strcmp(cell->warnings[i].kind, kind) == 0)
            return &cell->warnings[i];
    }
    return NULL;
}

/* One kind, first seen at cell `first`: the block sizes it concerns, then the text, once. */
static void print_warning(const struct result_volume *volume, size_t first,
                          const struct result_warning *warning, FILE *out)
{
    char one[NUMBER_BYTES];
    struct list blocks = {0};
    bool same = true;
    for (size_t i = first; i < volume->cell_count; i++) {
        const struct result_warning *other = find_warning(&volume->cells[i], warning->kind);
        if (other == NULL)
            continue;
        same = same && strcmp(other->text, warning->text) == 0;
        list_add_block(&blocks, &volume->cells[i]);
    }
    units_format_bytes(one, sizeof one, volume->cells[first].block_bytes);
    LINE(out, "  warning", "%s at %s: %s%s%s%s", warning->kind, blocks.text, warning->text,
         same ? "" : " (as at ", same ? "" : one, same ? "" : ")");
}

/* What the lines on stalls say with numbers of their own. */
static bool is_told(const struct result_warning *warning)
{
    return strcmp(warning->kind, "irregular") == 0 || strcmp(warning->kind, "stalls") == 0;
}

static void print_warnings(const struct result_volume *volume, FILE *out)
{
    for (size_t c = 0; c < volume->cell_count; c++) {
        for (size_t w = 0; w < volume->cells[c].warning_count; w++) {
            const struct result_warning *warning = &volume->cells[c].warnings[w];
            bool printed = is_told(warning);
            for (size_t before = 0; before < c && !printed; before++)
                printed = find_warning(&volume->cells[before], warning->kind) != NULL;
            if (!printed)
                print_warning(volume, c, warning, out);
        }
    }
}

void table_notes(FILE *out, const struct result_volume *volume)
{
    table_fit(out, volume);
    print_below_fit(volume, out);
    print_limits(volume, out);
    print_stalls(volume, out);
    print_warnings(volume, out);
}
