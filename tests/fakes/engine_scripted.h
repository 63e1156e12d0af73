#ifndef TRACKRAMP_ENGINE_SCRIPTED_H
#define TRACKRAMP_ENGINE_SCRIPTED_H

#include "stream/engine.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An engine without a drive, for one reader: every read gets what reader_rig.h says its file
 * holds, except where the script wants a fault. Reads are counted from 0 in the order in which
 * they are handed in, the resumed and repeated ones too. Look at what it found after the reader
 * has stopped.
 */

enum script_fault {
    SCRIPT_NONE,
    SCRIPT_SHORT,  /* half of what was asked */
    SCRIPT_BUSY,   /* not taken, this once */
    SCRIPT_RESULT, /* fault_result instead */
};

struct engine_script {
    /* set before start */
    enum script_fault fault;
    int32_t fault_result;
    uint64_t fault_at;    /* the first read it befalls ... */
    uint64_t fault_every; /* ... and then each so many reads; 0: no other */
    bool newest_first;    /* completions come in reverse */
    /* found */
    uint64_t taken, refused, faults;
    uint64_t taken_after_fault;
    uint32_t under_way, most_under_way;
    uint32_t fault_track;
    uint64_t fault_offset_bytes;
    uint32_t opened, closed, closed_under_way;
};

extern struct engine_script engine_script;

/* One that queues, and one that reads on the spot. */
extern const struct engine_operations engine_scripted, engine_scripted_at_once;

#endif
