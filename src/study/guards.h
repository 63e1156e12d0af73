#ifndef TRACKRAMP_GUARDS_H
#define TRACKRAMP_GUARDS_H

#include "bench.h"
#include "error.h"
#include "result.h"
#include "storage.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Is what is read read from the drive, and is it what a drive would have to read? Each doubt is a
 * warning in the cells it concerns. A modelled drive has nothing to doubt. Main thread.
 */

struct guards {
    bool buffered;                /* reads that were asked to be direct went through a cache */
    bool counted;                 /* the devices below count what they read */
    double link_bytes_per_second; /* of USB or SATA; 0: not known */
};

/*
 * Before a drive's cells are measured: its filesystem, what lies below it, how the first test files
 * are stored (as many as the first reading asks for are made), and whether they come faster a
 * second time. Takes a few seconds at most, besides writing. Sets bench->devices. Errors: those of
 * making and opening test files, and an interrupt.
 */
int guards_look(struct guards *guards, struct bench *bench, struct result_volume *volume,
                struct error *error);

/* After they have been measured: what arrived against what the devices read and the link carries,
 * and whether data that may not have been cold would fit into `memory_bytes`. */
void guards_judge(struct guards *guards, bool direct, uint64_t memory_bytes,
                  struct result_volume *volume);

/* What a filesystem's type promises. */
enum guards_filesystem { GUARDS_DRIVE, GUARDS_MEMORY, GUARDS_CACHED_BELOW };
enum guards_filesystem guards_filesystem(const char *type);

/* Warns of files that hold no data, or other data than a drive would have to read. */
void guards_doubt_extents(const struct storage_extents *extents, struct result_volume *volume);

#endif
