#ifndef TRACKRAMP_SIMULATION_H
#define TRACKRAMP_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Virtual time. Between simulation_begin and simulation_end the functions of monotonic.h answer
 * from a clock that stands still while anything runs, and moves only when the main thread sleeps:
 * then it jumps from one due moment to the next, and the actor that is due then acts. What
 * would be threads is actors, so everything happens in one thread, in an order that depends on
 * nothing but the actors, and minutes pass in milliseconds. Main thread only.
 */

/* One that wants to act at certain moments. Lives in the struct of whatever acts. */
struct actor {
    /* Its turn. Sets `due_ns`, later than `now_ns`, and does not sleep. */
    void (*act)(struct actor *actor, uint64_t now_ns);
    uint64_t due_ns; /* UINT64_MAX: not any more */
    struct actor *next;
};

void simulation_begin(void);
void simulation_end(void);
bool simulation_is_on(void);
uint64_t simulation_now_ns(void);

/* Of several that are due at the same moment, the one added first acts first. */
void simulation_add(struct actor *actor);
void simulation_remove(struct actor *actor);

/* Lets time pass. */
void simulation_run_until(uint64_t deadline_ns);

#endif
