#ifndef TRACKRAMP_CGROUP_H
#define TRACKRAMP_CGROUP_H

#include <stdint.h>

/*
 * What the control groups this process is in still allow it, in bytes; UINT64_MAX where none has
 * a limit. Versions 1 and 2. `membership` is `/proc/self/cgroup`, `root` is `/sys/fs/cgroup`;
 * tests give others. Main thread; never fails.
 */
uint64_t cgroup_available_bytes(const char *membership, const char *root);

#endif
