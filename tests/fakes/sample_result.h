#ifndef TRACKRAMP_SAMPLE_RESULT_H
#define TRACKRAMP_SAMPLE_RESULT_H

#include "result.h"

/*
 * A result as a real run leaves it, for tests of reports: two volumes; on the first a full cell
 * with a run of searches that differ and below the fit, a capped one, and an unfinished one;
 * stalls; warnings; every field other than zero but `irregular` and the model. result_fini frees
 * it.
 */
void sample_result_init(struct result *result);

#endif
