#include "fakes/drive_limit.h"

#include <math.h>
#include <stdlib.h>

/* A generator of its own, too: nothing here is shared with what it judges. */
static double chance(void)
{
    return drand48();
}

static double position_s(const struct model_spec *spec)
{
    switch (spec->distribution) {
    case MODEL_CONSTANT:
        break;
    case MODEL_UNIFORM:
        return 2 * spec->position_s * chance();
    case MODEL_EXPONENTIAL:
        return -spec->position_s * log(1 - chance());
    }
    return spec->position_s;
}

double drive_limit_blocks_per_second(const struct model_spec *spec, uint32_t block_bytes,
                                     uint32_t reads)
{
    double rate = spec->rate_bytes_per_second;
    double transfer_s =
        spec->overhead_s + (rate > 0 ? (double)block_bytes / spec->members / rate : 0);
    double ready_s[MODEL_DEPTH_MAX], free_s = 0, warm_s = 0;
    uint32_t warm = reads / 10;
    srand48(1);
    for (uint32_t place = 0; place < spec->depth; place++)
        ready_s[place] = position_s(spec);
    for (uint32_t read = 0; read < reads; read++) {
        uint32_t next = 0;
        for (uint32_t place = 1; place < spec->depth; place++) {
            if (ready_s[place] < ready_s[next])
                next = place;
        }
        free_s = fmax(free_s, ready_s[next]) + transfer_s;
        ready_s[next] = free_s + position_s(spec);
        if (read + 1 == warm)
            warm_s = free_s;
    }
    double working = 1;
    if (spec->stall_every_s > 0)
        working -= spec->stall_s / spec->stall_every_s;
    return working * (reads - warm) / (free_s - warm_s);
}
