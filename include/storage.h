#ifndef TRACKRAMP_STORAGE_H
#define TRACKRAMP_STORAGE_H

#include "drive.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What the system says about a file, and about the block devices that a filesystem lies on: the
 * grounds on which a measurement is believed or doubted. Main thread. Nothing here fails; what the
 * system does not tell is said to be unknown.
 */

/* --- a file ------------------------------------------------------------------------------- */

/* Direct reads of the open `file` are direct at offsets and lengths that are multiples of this many
 * bytes; 0 where the filesystem says that they never are, -1 where it does not say (before Linux
 * 6.1, Btrfs, FUSE). Source: statx(2), STATX_DIOALIGN. */
int64_t storage_direct_align_bytes(int file);

/* How files are stored, in bytes of their length. */
struct storage_extents {
    uint64_t file_bytes;       /* in all */
    uint64_t hole_bytes;       /* no space taken: they read as zeros, from nowhere */
    uint64_t unwritten_bytes;  /* space taken but never written: the same */
    uint64_t compressed_bytes; /* fewer bytes on the drive than in the file */
    uint64_t inline_bytes;     /* kept among the filesystem's own data, and cached with it */
};

/* Adds the open `file`, `file_bytes` long, to `sum`; false where the filesystem has no map of it.
 * Source: the FIEMAP ioctl. */
bool storage_add_extents(int file, uint64_t file_bytes, struct storage_extents *sum);

/* --- the devices -------------------------------------------------------------------------- */

enum { STORAGE_DEVICES_MAX = 32 };

/* The block devices that hold a filesystem. Several only where the filesystem itself spreads over
 * them (Btrfs): a RAID or a logical volume is one device. `count` 0: none are known. */
struct storage_devices {
    dev_t devices[STORAGE_DEVICES_MAX];
    size_t count;
};

/* Those behind the folder `directory`, which drive_describe has described as `drive`. */
void storage_find_devices(struct storage_devices *devices, const char *directory,
                          const struct drive *drive);

/* Reads that devices have completed since the machine started, by whomever. */
struct storage_counters {
    uint64_t reads, bytes;
};

/* Sums up all of `devices`; false where they do not count, or there are none. Source: the block
 * device's `stat` in /sys. */
bool storage_count(const struct storage_devices *devices, struct storage_counters *counters);

/* What lies below the devices, as far down as the system shows. */
struct storage_below {
    char cached_loop[32]; /* `loop0`: its file is read through the page cache; empty: none is */
    char memory[32];      /* `zram0`, `tmpfs`: holds data in memory; empty: nothing does */
    double link_bytes_per_second; /* that the USB or SATA link carries at most; 0: not known */
};

void storage_look_below(const struct storage_devices *devices, struct storage_below *below);

#endif
