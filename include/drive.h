#ifndef TRACKRAMP_DRIVE_H
#define TRACKRAMP_DRIVE_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* The filesystem a folder lies on and the drive behind it, for the header of a result. */

struct drive {
    /* filesystem */
    char filesystem_type[64];      /* `ext4`, `xfs`, `fuseblk` ... */
    char filesystem_options[1024]; /* mount options, as the kernel lists them */
    uint32_t filesystem_block_bytes;
    /* block device; node is empty where there is none (tmpfs, network) */
    char node[256];             /* `/dev/sda1`: what is mounted */
    char model[256];            /* of the whole drive below; empty when it names none */
    int rotational;             /* 1, 0, or -1 when unknown */
    uint64_t stripe_unit_bytes; /* minimum_io_size of a striped device, 0 otherwise */
    uint64_t stripe_bytes;      /* optimal_io_size of a striped device, 0 otherwise */
    uint64_t read_ahead_bytes;
};

/*
 * Describes what lies behind `path`, a folder that exists. Fails only when the path cannot be
 * looked at (ERROR_USAGE: not there, not a folder); what the system does not tell stays empty.
 * Sources: libmount for the mount, statvfs for the block size, udev and /sys for the drive.
 */
int drive_describe(struct drive *drive, const char *path, struct error *error);

#endif
