#ifndef TRACKRAMP_TABLE_PARTS_H
#define TRACKRAMP_TABLE_PARTS_H

#include "result.h"
#include "text.h"

#include <stdio.h>

/*
 * What the parts of the table for people share. Units stand in the column heads, nothing is wider
 * than a terminal of 110 columns, and all of it is ASCII except what the machine calls itself.
 */
enum { WIDTH_COLUMNS = 110, INDENT_COLUMNS = 12, NUMBER_BYTES = 32 };

#define LINE(out, label, ...) text_paragraph(out, INDENT_COLUMNS, WIDTH_COLUMNS, label, __VA_ARGS__)

/* Three figures, as far as that goes: 0.12 1.23 12.3 123 1234; `-` for what was not measured. */
const char *table_figures(char out[NUMBER_BYTES], double value);

/* `44.1 kHz pcm16 mono wav, 88.2 kB/s a track`; without the container where that is NULL. */
void table_track(FILE *out, const char *label, const struct track_format *track,
                 const char *container);

/* The line that says how sizes and speeds are counted. */
void table_units(FILE *out);

/* A drive without a node is a modelled one: its model says how. */
bool table_is_modelled(const struct drive *drive);

/* The line that says which drive it is. */
void table_drive(FILE *out, const struct drive *drive);

/* `direct: past the page cache`. */
const char *table_io_words(const char *io);

/* `drive: bandwidth`, `CPU`: what stopped a count. */
const char *table_limit_words(enum limit limit);

/* Whether the drive stopped the count, and whether something else did: a count is a floor then.
 * Neither where that is not known. */
bool table_is_drives(const struct result_cell *cell);
bool table_is_capped(const struct result_cell *cell);

/* The line `positioning 8.0 ms, transfer 40 MB/s; blocks above 320 KiB gain little (knee)`; nothing
 * where there is no fit. */
void table_fit(FILE *out, const struct result_volume *volume);

/* The heads of the columns and a row for each cell; then what the columns mean, as far as these
 * rows need it. */
void table_rows(FILE *out, const struct result_volume *volume, uint32_t repeats);
void table_legend(FILE *out, const struct result_volume *volume);

/* What the rows cannot say: the fit, what stopped the counts and how that is known, stalls, and the
 * warnings. */
void table_notes(FILE *out, const struct result_volume *volume);

#endif
