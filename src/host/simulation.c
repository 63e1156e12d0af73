#include "simulation.h"

#include "units.h"

#include <assert.h>
#include <stddef.h>

/* There are few actors (the audio device and the readers), so the next one due is looked for. */

/* No moment of a run is 0, which stands for "not yet" in many places. */
#define FIRST_NS UNITS_NS_PER_SECOND

static struct {
    bool on, running;
    uint64_t now_ns;
    struct actor *first;
} simulation;

void simulation_begin(void)
{
    simulation.on = true;
    simulation.now_ns = FIRST_NS;
    simulation.first = NULL;
}

void simulation_end(void)
{
    simulation.on = false;
}

bool simulation_is_on(void)
{
    return simulation.on;
}

uint64_t simulation_now_ns(void)
{
    return simulation.now_ns;
}

void simulation_add(struct actor *actor)
{
    struct actor **end = &simulation.first;
    while (*end != NULL)
        end = &(*end)->next;
    actor->next = NULL;
    *end = actor;
}

void simulation_remove(struct actor *actor)
{
    for (struct actor **link = &simulation.first; *link != NULL; link = &(*link)->next) {
        if (*link == actor) {
            *link = actor->next;
            return;
        }
    }
}

static struct actor *next_due(void)
{
    struct actor *due = NULL;
    for (struct actor *actor = simulation.first; actor != NULL; actor = actor->next) {
        if (due == NULL || actor->due_ns < due->due_ns)
            due = actor;
    }
    return due;
}

void simulation_run_until(uint64_t deadline_ns)
{
    assert(!simulation.running); /* an actor must not sleep */
    simulation.running = true;
    struct actor *due = next_due();
    while (due != NULL && due->due_ns <= deadline_ns) {
        if (due->due_ns > simulation.now_ns)
            simulation.now_ns = due->due_ns;
        due->act(due, simulation.now_ns);
        assert(due->due_ns > simulation.now_ns); /* or time would stand still */
        due = next_due();
    }
    if (deadline_ns > simulation.now_ns)
        simulation.now_ns = deadline_ns;
    simulation.running = false;
}
