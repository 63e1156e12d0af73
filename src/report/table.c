#include "report.h"

#include "table_parts.h"
#include "units.h"

#include <math.h>
#include <string.h>

/*
 * The table for people. What a count depends on stands above it: the drive, how it was read, who
 * kept time. The count itself comes first in its row, then how far the searches agree, then what
 * it cost; what stopped it comes last. A count that something of ours stopped is marked `>=`: the
 * drive could carry more. Below the rows stands what explains them (table_notes.c).
 */

/* --- words and numbers ---------------------------------------------------------------------- */

const char *table_figures(char out[NUMBER_BYTES], double value)
{
    if (!(value > 0) || !isfinite(value))
        snprintf(out, NUMBER_BYTES, "-");
    else
        snprintf(out, NUMBER_BYTES, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    return out;
}

const char *table_limit_words(enum limit limit)
{
    static const char *const words[LIMIT_COUNT] = {
        "unknown", "drive: bandwidth", "drive: reads a second", "CPU",
        "memory",  "file handles",     "audio device",          "--max-tracks",
    };
    return words[limit];
}

bool table_is_drives(const struct result_cell *cell)
{
    return cell->limit == LIMIT_DISK_BANDWIDTH || cell->limit == LIMIT_DISK_IOPS;
}

bool table_is_capped(const struct result_cell *cell)
{
    return cell->limit != LIMIT_NONE && !table_is_drives(cell);
}

const char *table_io_words(const char *io)
{
    return strcmp(io, "direct") == 0     ? "direct: past the page cache"
           : strcmp(io, "buffered") == 0 ? "buffered: through the page cache"
                                         : "not at all";
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

void table_track(FILE *out, const char *label, const struct track_format *track,
                 const char *container)
{
    char channels[NUMBER_BYTES];
    if (track->channels <= 2)
        snprintf(channels, sizeof channels, "%s", track->channels == 2 ? "stereo" : "mono");
    else
        snprintf(channels, sizeof channels, "%u channels", track->channels);
    double rate = (double)format_bytes_per_second(track);
    LINE(out, label, "%g kHz %s %s%s%s, %.*f %s a track", track->sample_rate_hz / 1e3,
         format_encoding_name(track->encoding), channels, container != NULL ? " " : "",
         container != NULL ? container : "", rate < 1e6 ? 1 : 2,
         rate < 1e6 ? rate / 1e3 : rate / 1e6, rate < 1e6 ? "kB/s" : "MB/s");
}

void table_units(FILE *out)
{
    LINE(out, "units",
         "KiB, MiB, GiB are binary (1024); kB/s and MB/s are decimal (10^3, 10^6), as "
         "drive makers count");
}

/* No time passed: what is called seconds are those of the simulated clock. */
static bool is_virtual(const struct result_audio *audio)
{
    return strcmp(audio->driver, "simulated") == 0;
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
    else if (is_virtual(audio))
        LINE(out, "audio", "simulated, in virtual time; %u Hz, %u frames a callback",
             audio->sample_rate_hz, audio->frames_per_buffer);
    else
        LINE(out, "audio", "%s, %u Hz, %u frames a callback", audio->device, audio->sample_rate_hz,
             audio->frames_per_buffer);
}

/* The start and the layout only where they are not what they are without a word. */
static void print_method(const struct result_method *method, FILE *out)
{
    bool start = method->start[0] != '\0' && strcmp(method->start, "scattered") != 0;
    bool layout = method->layout[0] != '\0' && strcmp(method->layout, "sequential") != 0;
    LINE(out, "method",
         "%g s a trial, %u search%s a block size, %g s of buffer a track, seed %llu%s%s%s%s",
         method->trial_s, method->repeats, method->repeats == 1 ? "" : "es", method->buffer_s,
         (unsigned long long)method->seed, start ? "; tracks start " : "",
         start ? method->start : "", layout ? "; files lie " : "", layout ? method->layout : "");
}

static void print_head(const struct result *result, FILE *out)
{
    char started[NUMBER_BYTES] = "", took[NUMBER_BYTES], memory[NUMBER_BYTES];
    struct tm utc;
    if (gmtime_r(&result->started, &utc) != NULL)
        strftime(started, sizeof started, "%Y-%m-%d %H:%M UTC", &utc);
    const struct host *host = &result->host;
    LINE(out, "trackramp", "%s, %s, took %s%s", result->tool_version, started,
         format_duration(took, result->duration_s),
         is_virtual(&result->audio) ? " of virtual time" : "");
    LINE(out, "machine", "%s, %u core%s, %s of memory, %s, kernel %s", host->cpu, host->cores,
         host->cores == 1 ? "" : "s", units_format_bytes(memory, sizeof memory, host->memory_bytes),
         host->os, host->kernel);
    print_audio(&result->audio, out);
    table_track(out, "track", &result->track, format_container_name(result->track.container));
    print_method(&result->method, out);
    table_units(out);
}

bool table_is_modelled(const struct drive *drive)
{
    return drive->node[0] == '\0' && drive->model[0] != '\0';
}

void table_drive(FILE *out, const struct drive *drive)
{
    char stripes[3 * NUMBER_BYTES] = "";
    if (drive->stripe_bytes > 0) {
        char unit[NUMBER_BYTES], stripe[NUMBER_BYTES];
        snprintf(stripes, sizeof stripes, ", striped in %s of %s",
                 units_format_bytes(stripe, sizeof stripe, drive->stripe_bytes),
                 units_format_bytes(unit, sizeof unit, drive->stripe_unit_bytes));
    }
    if (table_is_modelled(drive))
        LINE(out, "  drive", "%s", drive->model);
    else if (drive->node[0] == '\0')
        LINE(out, "  drive", "none: no block device lies behind this folder");
    else
        LINE(out, "  drive", "%s%s%s%s%s", drive->model, drive->model[0] != '\0' ? ", " : "",
             drive->node,
             drive->rotational == 0  ? ", solid state"
             : drive->rotational > 0 ? ", rotating as the kernel sees it"
                                     : "",
             stripes);
}

static void print_files(const struct result_volume *volume, FILE *out)
{
    char size[NUMBER_BYTES], ahead[NUMBER_BYTES];
    const struct drive *drive = &volume->drive;
    LINE(out, "  files on", "%s in blocks of %s, %s%s",
         either(drive->filesystem_type, "an unknown filesystem"),
         units_format_bytes(size, sizeof size, drive->filesystem_block_bytes),
         drive->read_ahead_bytes > 0 ? "the kernel reads ahead " : "no read-ahead known",
         drive->read_ahead_bytes > 0
             ? units_format_bytes(ahead, sizeof ahead, drive->read_ahead_bytes)
             : "");
}

/* A modelled drive has no files, and no cache to go past. */
static void print_volume_head(const struct result *result, const struct result_volume *volume,
                              FILE *out)
{
    char size[NUMBER_BYTES], how[4 * NUMBER_BYTES] = "";
    const char *asked = result->method.io_requested;
    bool modelled = table_is_modelled(&volume->drive), other = strcmp(asked, volume->io) != 0;
    text_paragraph(out, 0, WIDTH_COLUMNS, "", "%s", volume->path);
    table_drive(out, &volume->drive);
    if (!modelled) {
        print_files(volume, out);
        snprintf(how, sizeof how, "%s%s%s%s; ", table_io_words(volume->io),
                 other ? " (asked for: " : "", other ? asked : "", other ? ")" : "");
    }
    LINE(out, "  read", "%sengine %s, %u reader%s, queue depth %u", how,
         either(volume->engine, "none"), volume->readers, volume->readers == 1 ? "" : "s",
         volume->queue_depth);
    if (!modelled)
        LINE(out, "  test data", "%u file%s, %s", volume->pool_files,
             volume->pool_files == 1 ? "" : "s",
             units_format_bytes(size, sizeof size, volume->pool_bytes));
}

/* -------------------------------------------------------------------------------------------- */

static void print_volume(const struct result *result, const struct result_volume *volume, FILE *out)
{
    print_volume_head(result, volume, out);
    if (volume->cell_count == 0) {
        LINE(out, "  result", "nothing was measured here");
        return;
    }
    table_rows(out, volume, result->method.repeats);
    fputc('\n', out);
    table_legend(out, volume);
    table_notes(out, volume);
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
