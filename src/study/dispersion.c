#include "dispersion.h"

void dispersion_init(struct dispersion *dispersion, double stretch_s, double now_s,
                     uint64_t completed_blocks)
{
    *dispersion = (struct dispersion){
        .stretch_s = stretch_s, .began_s = now_s, .began_blocks = completed_blocks};
}

/* Mean and sum of squared deviations, updated value by value (Welford 1962). */
void dispersion_look(struct dispersion *dispersion, double now_s, uint64_t completed_blocks)
{
    double passed_s = now_s - dispersion->began_s;
    if (passed_s < dispersion->stretch_s)
        return;
    double came = (double)(completed_blocks - dispersion->began_blocks);
    double blocks = came * dispersion->stretch_s / passed_s;
    double from_mean = blocks - dispersion->mean;
    dispersion->stretches++;
    dispersion->mean += from_mean / dispersion->stretches;
    dispersion->squares += from_mean * (blocks - dispersion->mean);
    dispersion->began_s = now_s;
    dispersion->began_blocks = completed_blocks;
}

double dispersion_blocks(const struct dispersion *dispersion)
{
    if (dispersion->stretches < 2 || dispersion->mean <= 0)
        return 0;
    return dispersion->squares / (dispersion->stretches - 1) / dispersion->mean;
}
