#include "schedule.h"

#include <stdlib.h>

/* Two binary heaps, smallest key first. */

static void heap_push(struct schedule_heap *heap, struct schedule_entry entry)
{
    uint32_t at = heap->count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (heap->entries[parent].key <= entry.key)
            break;
        heap->entries[at] = heap->entries[parent];
        at = parent;
    }
    heap->entries[at] = entry;
}

static struct schedule_entry heap_pop(struct schedule_heap *heap)
{
    struct schedule_entry first = heap->entries[0];
    struct schedule_entry last = heap->entries[--heap->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->entries[child + 1].key < heap->entries[child].key)
            child++;
        if (heap->entries[child].key >= last.key)
            break;
        heap->entries[at] = heap->entries[child];
        at = child;
    }
    heap->entries[at] = last;
    return first;
}

int schedule_init(struct schedule *schedule, uint32_t capacity)
{
    schedule->waiting.count = schedule->ready.count = 0;
    schedule->waiting.entries = malloc(capacity * sizeof *schedule->waiting.entries);
    schedule->ready.entries = malloc(capacity * sizeof *schedule->ready.entries);
    if (schedule->waiting.entries == NULL || schedule->ready.entries == NULL) {
        schedule_fini(schedule);
        return -1;
    }
    return 0;
}

void schedule_fini(struct schedule *schedule)
{
    free(schedule->waiting.entries);
    free(schedule->ready.entries);
    schedule->waiting.entries = schedule->ready.entries = NULL;
}

void schedule_add(struct schedule *schedule, uint32_t track, uint64_t free_frame,
                  uint64_t dry_frame)
{
    struct schedule_entry entry = {.key = free_frame, .dry_frame = dry_frame, .track = track};
    heap_push(&schedule->waiting, entry);
}

bool schedule_take(struct schedule *schedule, uint64_t now_frame, uint32_t *track)
{
    while (schedule->waiting.count > 0 && schedule->waiting.entries[0].key <= now_frame) {
        struct schedule_entry entry = heap_pop(&schedule->waiting);
        entry.key = entry.dry_frame;
        heap_push(&schedule->ready, entry);
    }
    if (schedule->ready.count == 0)
        return false;
    *track = heap_pop(&schedule->ready).track;
    return true;
}

uint64_t schedule_next_frame(const struct schedule *schedule)
{
    if (schedule->ready.count > 0)
        return 0;
    return schedule->waiting.count > 0 ? schedule->waiting.entries[0].key : UINT64_MAX;
}
