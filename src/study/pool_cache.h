#ifndef TRACKRAMP_POOL_CACHE_H
#define TRACKRAMP_POOL_CACHE_H

#include <stdint.h>

/* What the kernel keeps of one file in its page cache. Any thread. */

/* Asks the kernel to let go of `file`'s pages. It answers yes even where it keeps some (those not
 * written yet): pool_cache_resident_bytes tells. */
void pool_cache_drop(int file);

/* Bytes of `file`, `file_bytes` long, that are cached now; -1 where the system cannot tell, or will
 * not tell this user. */
int64_t pool_cache_resident_bytes(int file, uint64_t file_bytes);

#endif
