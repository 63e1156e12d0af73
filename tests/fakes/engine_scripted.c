#include "engine_scripted.h"

#include "reader_rig.h"

#include <string.h>

enum { QUEUE_MOST = 64 };

struct engine_script engine_script;

static struct engine_read *queue[QUEUE_MOST];
static uint32_t depth;

static int open_script(void **engine, const struct engine_setup *setup, struct error *error)
{
    if (setup->queue_depth > QUEUE_MOST)
        return error_set(error, ERROR_USAGE, "the scripted engine's queue is shorter");
    depth = setup->queue_depth;
    engine_script.opened++;
    *engine = &engine_script;
    return 0;
}

static bool fault_is_due(uint64_t number)
{
    if (engine_script.fault == SCRIPT_NONE || number < engine_script.fault_at)
        return false;
    uint64_t since = number - engine_script.fault_at;
    return engine_script.fault_every == 0 ? since == 0 : since % engine_script.fault_every == 0;
}

/* Reads, or does what the script says; false when the read is not taken. */
static bool serve(struct engine_read *read)
{
    struct engine_script *script = &engine_script;
    bool fault = fault_is_due(script->taken + script->refused);
    script->taken_after_fault += script->faults > 0;
    read->result = (int32_t)read->bytes;
    if (fault) {
        script->faults++;
        script->fault_track = read->track;
        script->fault_offset_bytes = read->offset_bytes;
        if (script->fault == SCRIPT_BUSY) {
            script->refused++;
            return false;
        }
        if (script->fault == SCRIPT_SHORT && read->bytes > 1)
            read->result = (int32_t)(read->bytes / 2);
        if (script->fault == SCRIPT_RESULT)
            read->result = script->fault_result;
    }
    script->taken++;
    for (int32_t i = 0; i < read->result; i++)
        read->memory[i] = rig_content((uint32_t)read->file, read->offset_bytes + (uint32_t)i);
    return true;
}

static enum engine_answer submit_at_once(void *engine, struct engine_read *read)
{
    (void)engine;
    return serve(read) ? ENGINE_DONE : ENGINE_BUSY;
}

static enum engine_answer submit(void *engine, struct engine_read *read)
{
    (void)engine;
    if (engine_script.under_way == depth || !serve(read))
        return ENGINE_BUSY;
    queue[engine_script.under_way++] = read;
    if (engine_script.under_way > engine_script.most_under_way)
        engine_script.most_under_way = engine_script.under_way;
    return ENGINE_QUEUED;
}

/* One at a time, so that the order matters. */
static uint32_t reap(void *engine, struct engine_read **done, uint32_t capacity, uint64_t wait_ns)
{
    (void)engine, (void)wait_ns;
    if (engine_script.under_way == 0 || capacity == 0)
        return 0;
    engine_script.under_way--;
    if (engine_script.newest_first) {
        done[0] = queue[engine_script.under_way];
    } else {
        done[0] = queue[0];
        memmove(queue, queue + 1, engine_script.under_way * sizeof *queue);
    }
    return 1;
}

static void close_script(void *engine)
{
    struct engine_script *script = engine;
    script->closed++;
    script->closed_under_way += script->under_way;
}

const struct engine_operations engine_scripted = {
    .open = open_script, .submit = submit, .reap = reap, .close = close_script};
const struct engine_operations engine_scripted_at_once = {
    .open = open_script, .submit = submit_at_once, .reap = NULL, .close = close_script};
