#ifndef TRACKRAMP_HOST_H
#define TRACKRAMP_HOST_H

#include "error.h"

#include <stdint.h>

/* The machine, and what it lets this process have. Main thread. */

struct host {
    char os[128];     /* `Debian GNU/Linux 12 (bookworm)`; `Linux` where unknown */
    char kernel[128]; /* release */
    char cpu[128];    /* model name */
    uint32_t cores;   /* that this process may use */
    uint64_t memory_bytes;
};

/* Fills what can be found out; what cannot says `unknown` or 0. Never fails. */
void host_describe(struct host *host);

/* Memory that can be had without swapping, in bytes: MemAvailable, or what the control group or the
 * limit on address space (ulimit -v) leaves, where that is less. */
uint64_t host_available_memory_bytes(void);

/* Raises RLIMIT_NOFILE to its hard limit and returns how many descriptors this process may have. */
uint64_t host_raise_descriptor_limit(void);

#endif
