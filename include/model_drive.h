#ifndef TRACKRAMP_MODEL_DRIVE_H
#define TRACKRAMP_MODEL_DRIVE_H

#include "model.h"

#include <stdint.h>

/*
 * A modelled drive with files on it, as all readers of a trial share it: where each file lies, and
 * what it holds.
 */

struct model_drive_options {
    const struct model_spec *spec;
    uint64_t seed;
    uint64_t file_bytes;  /* the room that each file takes */
    uint32_t group_files; /* so many files lie piece by piece in turn; 1: each in one piece */
    uint32_t piece_bytes; /* a power of two */
    /* What file `file` holds from `offset_bytes` on. NULL: nobody looks, and reads leave memory as
     * it is, which lets a drive of gigabytes a second be modelled in little time. */
    void (*content)(void *user, uint32_t file, uint64_t offset_bytes, unsigned char *memory,
                    uint32_t bytes);
    void *user;
};

struct model_drive; /* opaque */

/* Its time begins now (monotonic_ns). NULL when memory ends. Main thread. */
struct model_drive *model_drive_new(const struct model_drive_options *options);
void model_drive_free(struct model_drive *drive); /* takes NULL */

#endif
