#ifndef TRACKRAMP_CHECK_H
#define TRACKRAMP_CHECK_H

#include "bench.h"
#include "error.h"

#include <stdint.h>

/*
 * The spot check: is what came through the rings what was written into the test files? Each
 * function adds the samples compared to `*checked`; a difference is an error (corruption) that
 * names the file and the place.
 */

/* While a trial runs: what the callback noted as it drained it. */
int check_drained(struct bench *bench, uint64_t *checked, struct error *error);

/* After a trial, readers stopped and mixer at rest: the newest block of some of the rings, which
 * a short trial with long blocks may not have come to drain. */
int check_rings(const struct bench *bench, uint32_t tracks, uint64_t *checked, struct error *error);

#endif
