#ifndef TRACKRAMP_STORAGE_LINK_H
#define TRACKRAMP_STORAGE_LINK_H

/* What the USB or SATA link of a drive carries at most, bytes a second; 0: not known. `path` is the
 * drive's folder in /sys, in full, without symbolic links. Main thread. */
double storage_link_bytes_per_second(const char *path);

#endif
