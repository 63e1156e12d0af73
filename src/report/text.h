#ifndef TRACKRAMP_TEXT_H
#define TRACKRAMP_TEXT_H

#include <stdio.h>

/*
 * Prints a labelled paragraph for a terminal: `label`, then the printf-style text from column
 * `indent` on, broken between words so that no line passes `width` columns (a longer word stays
 * whole). Control characters, which a file name may hold, become `?`. Any thread.
 */
void text_paragraph(FILE *out, unsigned indent, unsigned width, const char *label,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
