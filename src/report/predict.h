#ifndef TRACKRAMP_PREDICT_H
#define TRACKRAMP_PREDICT_H

#include "report.h"

/* One line of a prediction. */
struct predicted {
    uint32_t block_bytes;
    double bytes_per_second; /* that the drive reads flat out, by its fit */
    uint64_t tracks;
    const struct result_cell *cell; /* measured at this size; NULL: it was not */
    bool beyond;                    /* of all sizes that were measured */
    bool drive_alone;               /* something besides the drive's speed was seen at this size */
};

/* Line `index` of the prediction for a volume that has a fit. Pure. */
struct predicted predict_line(const struct result_volume *volume, const struct prediction *wanted,
                              size_t index);

/* How many lines there are: none for a volume without a fit. */
size_t predict_lines(const struct result_volume *volume, const struct prediction *wanted);

/* Why there is no fit, and what would make one. */
const char *predict_lack(const struct result_volume *volume);

#endif
