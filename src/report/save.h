#ifndef TRACKRAMP_SAVE_H
#define TRACKRAMP_SAVE_H

#include "error.h"

#include <stddef.h>

/*
 * Writes a finished report to `path`, or to standard output for `-`. A regular file is written
 * beside its name and renamed, so that what was there before stays whole until the new one is;
 * anything else (a terminal, a pipe) is written as it is. Errors: ERROR_ENVIRONMENT, naming the
 * file; nothing is left behind. Main thread.
 */
int save_text(const char *path, const char *text, size_t bytes, struct error *error);

#endif
