#include "stalls.h"

#include <math.h>

/* A pause of this many blocks' time is none that a drive at work makes, and Linux's I/O controller
 * may hold reads back for a tenth of a second. */
static const double shortest_blocks = 8, shortest_s = 0.25;

/* Looks further apart than this were late themselves: what lies between says nothing. */
static const double look_most_s = 0.1;

void stalls_init(struct stalls *stalls, double blocks_per_second)
{
    double usual_s = blocks_per_second > 0 ? shortest_blocks / blocks_per_second : INFINITY;
    *stalls = (struct stalls){.shortest_s = usual_s > shortest_s ? usual_s : shortest_s};
}

void stalls_end(struct stalls *stalls)
{
    if (stalls->quiet_s >= stalls->shortest_s) {
        stalls->seen++;
        if (stalls->quiet_s > stalls->worst_s)
            stalls->worst_s = stalls->quiet_s;
    }
    stalls->quiet_s = 0;
}

void stalls_look(struct stalls *stalls, double now_s, uint64_t completed_blocks, bool wanted)
{
    double passed_s = now_s - stalls->last_s;
    if (completed_blocks != stalls->completed_blocks || !wanted)
        stalls_end(stalls);
    else if (passed_s < look_most_s)
        stalls->quiet_s += passed_s;
    stalls->last_s = now_s;
    stalls->completed_blocks = completed_blocks;
}
