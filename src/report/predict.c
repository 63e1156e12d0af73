#include "predict.h"

#include "table_parts.h"
#include "units.h"

/*
 * Track counts for another format, computed and not measured: a drive that takes s + B/R for a read
 * of B bytes carries B / (s + B/R) bytes a second, whatever they mean, and so as many tracks as
 * their rate goes into that. What else may stop a count (CPU, memory, stalls) is not in the fit;
 * where it was seen, the line says so.
 */

/* --- arithmetic ------------------------------------------------------------------------------- */

size_t predict_lines(const struct result_volume *volume, const struct prediction *wanted)
{
    if (!(volume->fit.rate_bytes_per_second > 0))
        return 0;
    return wanted->block_size_count > 0 ? wanted->block_size_count : volume->cell_count;
}

static bool is_drive_alone(const struct result_cell *cell)
{
    return cell->irregular || cell->below_fit || table_is_capped(cell);
}

struct predicted predict_line(const struct result_volume *volume, const struct prediction *wanted,
                              size_t index)
{
    struct predicted line = {.block_bytes = wanted->block_size_count > 0
                                                ? wanted->block_bytes[index]
                                                : volume->cells[index].block_bytes};
    bool smaller = false, larger = false;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        smaller = smaller || cell->block_bytes <= line.block_bytes;
        larger = larger || cell->block_bytes >= line.block_bytes;
        if (cell->block_bytes == line.block_bytes)
            line.cell = cell;
    }
    line.beyond = !smaller || !larger;
    line.drive_alone = line.cell != NULL && is_drive_alone(line.cell);
    line.bytes_per_second = result_fit_bytes_per_second(&volume->fit, line.block_bytes);
    line.tracks =
        (uint64_t)(line.bytes_per_second / (double)format_bytes_per_second(&wanted->format));
    return line;
}

const char *predict_lack(const struct result_volume *volume)
{
    return volume->cell_count < 2
               ? "a fit takes two block sizes at least; measure them, such as with "
                 "`trackramp run --block-size 64K,1M`"
               : "the block sizes measured give no fit, since larger blocks took no longer to "
                 "read; measure larger ones besides";
}

int report_prediction_check(const struct result *result, const struct prediction *wanted,
                            struct error *error)
{
    for (size_t i = 0; i < result->volume_count; i++) {
        if (predict_lines(&result->volumes[i], wanted) > 0)
            return 0;
    }
    return error_set(error, ERROR_USAGE, "%s: nothing can be predicted from it: %s", wanted->file,
                     result->volume_count > 0 ? predict_lack(&result->volumes[0])
                                              : "no drive was measured");
}

/* --- the table -------------------------------------------------------------------------------- */

/* What stands behind `predicted` in a row, beginning with its comma; empty where there is nothing.
 */
static const char *doubt(const struct predicted *line, char *out, size_t out_bytes)
{
    const struct result_cell *cell = line->cell;
    if (cell == NULL)
        snprintf(out, out_bytes, ", %s the block sizes measured",
                 line->beyond ? "beyond" : "between");
    else if (cell->irregular)
        snprintf(out, out_bytes, ", of the drive alone: the run stalled at any count");
    else if (table_is_capped(cell))
        snprintf(out, out_bytes, ", of the drive alone: the run stopped at %s",
                 table_limit_words(cell->limit));
    else if (cell->below_fit)
        snprintf(out, out_bytes, ", of the drive alone: the run read this size slower");
    else
        snprintf(out, out_bytes, "%s", "");
    return out;
}

static void print_line(const struct predicted *line, FILE *out)
{
    enum { REMARK_COLUMN = 32 };
    char block[NUMBER_BYTES], rate[NUMBER_BYTES], row[4 * NUMBER_BYTES], remark[128];
    snprintf(row, sizeof row, "%10s %9llu %9s",
             units_format_bytes(block, sizeof block, line->block_bytes),
             (unsigned long long)line->tracks, table_figures(rate, line->bytes_per_second / 1e6));
    text_paragraph(out, REMARK_COLUMN, WIDTH_COLUMNS, row, "predicted%s",
                   doubt(line, remark, sizeof remark));
}

static void print_volume(const struct result_volume *volume, const struct prediction *wanted,
                         FILE *out)
{
    size_t lines = predict_lines(volume, wanted);
    text_paragraph(out, 0, WIDTH_COLUMNS, "", "%s", volume->path);
    table_drive(out, &volume->drive);
    if (!table_is_modelled(&volume->drive))
        LINE(out, "  read", "%s", table_io_words(volume->io));
    if (lines == 0) {
        LINE(out, "  predicted", "nothing: %s", predict_lack(volume));
        return;
    }
    table_fit(out, volume);
    fprintf(out, "\n%10s %9s %9s\n%10s %9s %9s\n", "block", "tracks", "MB/s", "", "predicted",
            "predicted");
    for (size_t i = 0; i < lines; i++) {
        struct predicted line = predict_line(volume, wanted, i);
        print_line(&line, out);
    }
}

void report_prediction(const struct result *result, const struct prediction *wanted, FILE *out)
{
    LINE(out, "predicted", "from %s, by the fit of each drive; none of this was measured",
         wanted->file);
    table_track(out, "track", &wanted->format, NULL);
    table_track(out, "measured", &result->track, format_container_name(result->track.container));
    LINE(out, "not in it",
         "whatever else may stop a count: CPU, memory, file handles, the audio device, stalls");
    table_units(out);
    for (size_t i = 0; i < result->volume_count; i++) {
        fputc('\n', out);
        print_volume(&result->volumes[i], wanted, out);
    }
}
