#ifndef TRACKRAMP_DISPERSION_H
#define TRACKRAMP_DISPERSION_H

#include <stdint.h>

/*
 * How unevenly a busy drive answers: the variance over the mean of how many blocks come in equal
 * stretches of time (the index of dispersion, in blocks). 0 for a drive that keeps time like a
 * clock, 1 for one that answers by pure chance. Over n blocks, chance alone moves the mean speed by
 * sqrt(dispersion / n) (one sigma, as a share), so it says how long a trial has to last. Pure.
 */
struct dispersion {
    double stretch_s;
    double began_s;
    uint64_t began_blocks;
    uint32_t stretches;
    double mean, squares; /* of the blocks that came in them */
};

void dispersion_init(struct dispersion *dispersion, double stretch_s, double now_s,
                     uint64_t completed_blocks);

/* `now_s` in order; stretches end at the first look past their time, and count by how long they
 * really were. */
void dispersion_look(struct dispersion *dispersion, double now_s, uint64_t completed_blocks);

/* 0 with fewer than two stretches. */
double dispersion_blocks(const struct dispersion *dispersion);

#endif
