#ifndef TRACKRAMP_PROGRESS_H
#define TRACKRAMP_PROGRESS_H

#include "study.h"

#include <stdint.h>
#include <stdio.h>

/* The line that says what is going on; only on a terminal. */
struct progress {
    FILE *console;
    int shown; /* a line is standing there */
    int terminal;
    uint64_t next_ns;
};

void progress_init(struct progress *progress, FILE *console);
void progress_show(struct progress *progress, const struct study_progress *study);
/* Takes the line away, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
