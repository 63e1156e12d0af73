#include "moment.h"

#include "monotonic.h"
#include "units.h"

void moment_look(struct moment *moment, const struct bench *bench, const struct readers *readers)
{
    moment->ns = monotonic_ns();
    moment->cpu_ns = monotonic_process_cpu_ns();
    audio_counters(bench->audio, &moment->audio);
    /* Completed first: what is given back after that look can only add to the backlog. */
    moment->completed_blocks = readers != NULL ? readers_completed_blocks(readers) : 0;
    moment->released_blocks = atomic_load(&bench->mixer->released_blocks);
    moment->underruns = atomic_load(&bench->mixer->underruns);
    moment->frames = atomic_load(&bench->mixer->frames);
}

double moment_seconds_between(const struct moment *from, const struct moment *to)
{
    return (double)(to->ns - from->ns) / (double)UNITS_NS_PER_SECOND;
}
