#include "report.h"

#include "text.h"
#include "units.h"

#include <math.h>
#include <string.h>

/*
 * The table for people. What a count depends on stands above it: the drive, how it was read, who
 * kept time. The count itself comes first in its row, then how far the searches agree, then what
 * it cost; what stopped it comes last. A count that something of ours stopped is marked `>=`: the
 * drive could carry more.
 *
 * Units stand in the column heads, nothing is wider than a terminal of 110 columns, and all of it
 * is ASCII except what the machine calls itself.
 */
enum { WIDTH_COLUMNS = 110, INDENT_COLUMNS = 12, NUMBER_BYTES = 32 };

#define LINE(out, label, ...) text_paragraph(out, INDENT_COLUMNS, WIDTH_COLUMNS, label, __VA_ARGS__)

/* --- words and numbers ---------------------------------------------------------------------- */

static const char *const limit_words[LIMIT_COUNT] = {
    "unknown", "drive: bandwidth", "drive: reads a second", "CPU",
    "memory",  "file handles",     "audio device",          "--max-tracks",
};

/* Whether the count is a floor: what stopped it was not the drive. */
static bool is_capped(const struct result_cell *cell)
{
    return cell->limit != LIMIT_NONE && cell->limit != LIMIT_DISK_BANDWIDTH &&
           cell->limit != LIMIT_DISK_IOPS;
}

/* Three figures, as far as that goes: 0.12 1.23 12.3 123 1234; `-` for what was not measured. */
static const char *figures(char out[NUMBER_BYTES], double value)
{
    if (!(value > 0) || !isfinite(value))
        snprintf(out, NUMBER_BYTES, "-");
    else
        snprintf(out, NUMBER_BYTES, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    return out;
}

static const char *either(const char *text, const char *otherwise)
{
    return text[0] != '\0' ? text : otherwise;
}

/* `15 s`, `12 min 30 s`, `2 h 5 min`. */
static const char *format_duration(char out[NUMBER_BYTES], double seconds)
{
    unsigned long whole = seconds > 0 ? (unsigned long)(seconds + 0.5) : 0;
    if (whole < 60)
        snprintf(out, NUMBER_BYTES, "%lu s", whole);
    else if (whole < 3600)
        snprintf(out, NUMBER_BYTES, "%lu min %lu s", whole / 60, whole % 60);
    else
        snprintf(out, NUMBER_BYTES, "%lu h %lu min", whole / 3600, whole % 3600 / 60);
    return out;
}

/* --- head ----------------------------------------------------------------------------------- */

static void print_track(const struct track_format *track, FILE *out)
{
    char channels[NUMBER_BYTES];
    if (track->channels <= 2)
        snprintf(channels, sizeof channels, "%s", track->channels == 2 ? "stereo" : "mono");
    else
        snprintf(channels, sizeof channels, "%u channels", track->channels);
    double rate = (double)format_bytes_per_second(track);
    LINE(out, "track", "%g kHz %s %s %s, %.*f %s a track", track->sample_rate_hz / 1e3,
         format_encoding_name(track->encoding), channels, format_container_name(track->container),
         rate < 1e6 ? 1 : 2, rate < 1e6 ? rate / 1e3 : rate / 1e6, rate < 1e6 ? "kB/s" : "MB/s");
}

static void print_audio(const struct result_audio *audio, FILE *out)
{
    if (audio->fell_back)
        LINE(out, "audio",
             "none: there is no audio output here, so the built-in clock kept time; %u Hz, "
             "%u frames a callback",
             audio->sample_rate_hz, audio->frames_per_buffer);
    else if (strcmp(audio->driver, "portaudio") == 0)
        LINE(out, "audio", "%s on %s, through PortAudio; %u Hz, %u frames a callback",
             audio->device, audio->host_api, audio->sample_rate_hz, audio->frames_per_buffer);
    else
        LINE(out, "audio", "%s, %u Hz, %u frames a callback", audio->device, audio->sample_rate_hz,
             audio->frames_per_buffer);
}

static void print_head(const struct result *result, FILE *out)
{
    char started[NUMBER_BYTES] = "", took[NUMBER_BYTES], memory[NUMBER_BYTES];
    struct tm utc;
    if (gmtime_r(&result->started, &utc) != NULL)
        strftime(started, sizeof started, "%Y-%m-%d %H:%M UTC", &utc);
    const struct host *host = &result->host;
    const struct result_method *method = &result->method;
    LINE(out, "trackramp", "%s, %s, took %s", result->tool_version, started,
         format_duration(took, result->duration_s));
    LINE(out, "machine", "%s, %u core%s, %s of memory, %s, kernel %s", host->cpu, host->cores,
         host->cores == 1 ? "" : "s", units_format_bytes(memory, sizeof memory, host->memory_bytes),
         host->os, host->kernel);
    print_audio(&result->audio, out);
    print_track(&result->track, out);
    LINE(out, "method", "%g s a trial, %u search%s a block size, %g s of buffer a track, seed %llu",
         method->trial_s, method->repeats, method->repeats == 1 ? "" : "es", method->buffer_s,
         (unsigned long long)method->seed);
    LINE(out, "units",
         "KiB, MiB, GiB are binary (1024); kB/s and MB/s are decimal (10^3, 10^6), as "
         "drive makers count");
}

static void print_drive(const struct drive *drive, FILE *out)
{
    char stripes[3 * NUMBER_BYTES] = "";
    if (drive->stripe_bytes > 0) {
        char unit[NUMBER_BYTES], stripe[NUMBER_BYTES];
        snprintf(stripes, sizeof stripes, ", striped in %s of %s",
                 units_format_bytes(stripe, sizeof stripe, drive->stripe_bytes),
                 units_format_bytes(unit, sizeof unit, drive->stripe_unit_bytes));
    }
    if (drive->node[0] == '\0')
        LINE(out, "  drive", "none: no block device lies behind this folder");
    else
        LINE(out, "  drive", "%s%s%s%s%s", drive->model, drive->model[0] != '\0' ? ", " : "",
             drive->node,
             drive->rotational == 0  ? ", solid state"
             : drive->rotational > 0 ? ", rotating as the kernel sees it"
                                     : "",
             stripes);
}

static void print_volume_head(const struct result *result, const struct result_volume *volume,
                              FILE *out)
{
    char size[NUMBER_BYTES], ahead[NUMBER_BYTES];
    const struct drive *drive = &volume->drive;
    text_paragraph(out, 0, WIDTH_COLUMNS, "", "%s", volume->path);
    print_drive(drive, out);
    LINE(out, "  files on", "%s in blocks of %s, %s%s",
         either(drive->filesystem_type, "an unknown filesystem"),
         units_format_bytes(size, sizeof size, drive->filesystem_block_bytes),
         drive->read_ahead_bytes > 0 ? "the kernel reads ahead " : "no read-ahead known",
         drive->read_ahead_bytes > 0
             ? units_format_bytes(ahead, sizeof ahead, drive->read_ahead_bytes)
             : "");
    const char *asked = result->method.io_requested;
    bool other = strcmp(asked, volume->io) != 0;
    LINE(out, "  read", "%s%s%s%s; engine %s, %u reader%s, queue depth %u",
         strcmp(volume->io, "direct") == 0     ? "direct: past the page cache"
         : strcmp(volume->io, "buffered") == 0 ? "buffered: through the page cache"
                                               : "not at all",
         other ? " (asked for: " : "", other ? asked : "", other ? ")" : "",
         either(volume->engine, "none"), volume->readers, volume->readers == 1 ? "" : "s",
         volume->queue_depth);
    LINE(out, "  test data", "%u file%s, %s", volume->pool_files,
         volume->pool_files == 1 ? "" : "s",
         units_format_bytes(size, sizeof size, volume->pool_bytes));
}

/* --- rows ----------------------------------------------------------------------------------- */

static void print_column_heads(FILE *out)
{
    fprintf(out, "\n%10s %9s %13s %8s %6s %7s %5s %7s %7s %6s  %s\n", "block", "tracks", "low-high",
            "streamed", "flood", "CPU %", "CPU %", "read ms", "read ms", "rings", "limited by");
    fprintf(out, "%10s %9s %13s %8s %6s %7s %5s %7s %7s %6s\n", "", "sustained", "", "MB/s", "MB/s",
            "process", "audio", "p99", "worst", "MiB");
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
    char block[NUMBER_BYTES], tracks[NUMBER_BYTES], range[NUMBER_BYTES];
    char n[NUMBERS][NUMBER_BYTES];
    bool found = cell->complete || cell->run_count > 0;
    snprintf(tracks, sizeof tracks, "-");
    snprintf(range, sizeof range, "-");
    if (found) {
        snprintf(tracks, sizeof tracks, "%s%u", is_capped(cell) ? ">= " : "", cell->sustained);
        snprintf(range, sizeof range, "%u-%u", cell->low, cell->high);
    }
    for (int i = 0; i < NUMBERS; i++)
        figures(n[i], values[i]);
    fprintf(out, "%2s%8s %9s %13s %8s %6s %7s %5s %7s %7s %6s  ", recommended ? "*" : "",
            units_format_bytes(block, sizeof block, cell->block_bytes), tracks, range, n[STREAMED],
            n[FLOOD], n[PROCESS], n[CALLBACK], n[P99], n[WORST], n[RINGS]);
    if (cell->complete)
        fprintf(out, "%s\n", limit_words[cell->limit]);
    else
        fprintf(out, "not finished: %zu of %u\n", cell->run_count, repeats);
}

/* What the columns mean, as far as these rows need it. */
static void print_legend(const struct result_volume *volume, FILE *out)
{
    size_t searches = 0; /* that the rows which got furthest have behind them */
    for (size_t i = 0; i < volume->cell_count; i++) {
        if (volume->cells[i].run_count > searches)
            searches = volume->cells[i].run_count;
    }
    double clean_s = 0;
    bool capped = false, unfinished = false;
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        capped = capped || is_capped(cell);
        unfinished = unfinished || !cell->complete;
        if (cell->complete && cell->sustained > 0 && (clean_s <= 0 || cell->clean_s < clean_s))
            clean_s = cell->clean_s;
    }
    fputc('\n', out);
    if (volume->recommended_block_bytes > 0)
        LINE(out, "  *", "recommended");
    if (capped)
        LINE(out, "  >=", "stopped by something other than the drive, which could carry more");
    LINE(out, "  CPU %", "of one core: the whole process, and its audio callback alone");
    if (searches > 1)
        LINE(out, "  low-high", "of %zu searches: holds the true middle with a chance of %.0f %%",
             searches, 100 * (1 - pow(2, 1 - (double)searches)));
    if (unfinished)
        LINE(out, "  -",
             "not measured; a row that is not finished says how many of its searches "
             "ended");
    /* No event in T bounds the rate at 3/T with 95 % confidence. */
    if (clean_s > 0)
        LINE(out, "  held",
             "each count played at least %.3g s without an underrun: at most one in "
             "%.3g s, with 95 %% confidence",
             clean_s, clean_s / 3);
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
    char blocks[512] = "", one[NUMBER_BYTES];
    bool same = true;
    size_t length = 0;
    for (size_t i = first; i < volume->cell_count; i++) {
        const struct result_warning *other = find_warning(&volume->cells[i], warning->kind);
        if (other == NULL || length + NUMBER_BYTES > sizeof blocks)
            continue;
        same = same && strcmp(other->text, warning->text) == 0;
        length += (size_t)snprintf(
            blocks + length, sizeof blocks - length, "%s%s", i == first ? "" : ", ",
            units_format_bytes(one, sizeof one, volume->cells[i].block_bytes));
    }
    units_format_bytes(one, sizeof one, volume->cells[first].block_bytes);
    LINE(out, "  warning", "%s at %s: %s%s%s%s", warning->kind, blocks, warning->text,
         same ? "" : " (as at ", same ? "" : one, same ? "" : ")");
}

static void print_warnings(const struct result_volume *volume, FILE *out)
{
    for (size_t c = 0; c < volume->cell_count; c++) {
        for (size_t w = 0; w < volume->cells[c].warning_count; w++) {
            const struct result_warning *warning = &volume->cells[c].warnings[w];
            bool printed = false;
            for (size_t before = 0; before < c && !printed; before++)
                printed = find_warning(&volume->cells[before], warning->kind) != NULL;
            if (!printed)
                print_warning(volume, c, warning, out);
        }
    }
}

/* -------------------------------------------------------------------------------------------- */

static void print_volume(const struct result *result, const struct result_volume *volume, FILE *out)
{
    uint32_t repeats = result->method.repeats;
    print_volume_head(result, volume, out);
    if (volume->cell_count == 0) {
        LINE(out, "  result", "nothing was measured here");
        return;
    }
    print_column_heads(out);
    for (size_t i = 0; i < volume->cell_count; i++) {
        const struct result_cell *cell = &volume->cells[i];
        print_row(cell, repeats, cell->block_bytes == volume->recommended_block_bytes, out);
    }
    print_legend(volume, out);
    print_warnings(volume, out);
    if (volume->recommendation[0] != '\0') {
        fputc('\n', out);
        text_paragraph(out, 2, WIDTH_COLUMNS, "", "%s", volume->recommendation);
    }
}

void report_table(const struct result *result, FILE *out)
{
    print_head(result, out);
    for (size_t i = 0; i < result->volume_count; i++) {
        fputc('\n', out);
        print_volume(result, &result->volumes[i], out);
    }
    if (!result->complete) {
        fputc('\n', out);
        text_paragraph(out, 0, WIDTH_COLUMNS, "", "This run is incomplete: %s",
                       either(result->ended_by, "it was stopped before its end"));
    }
}
