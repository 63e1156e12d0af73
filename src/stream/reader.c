#include "reader_loop.h"

#include "monotonic.h"
#include "units.h"

#include <errno.h>
#include <stddef.h>

/*
 * A reader's round: send every block that is due while the queue has room, wait for a completion
 * or for the next slot to become free, whichever the sample clock says comes first, land what came
 * back. Nothing is shared between readers; the ring is the only thing shared with the callback.
 *
 * Reading flat out (no mixer) is the same round with a clock that has always run far enough and a
 * reader that empties each ring as soon as it is filled; so it measures the very same path.
 */

enum { REAP_MOST = 64 };

/* Longest sleep, so that a stop is noticed; shortest, so that a clock that is a little late is not
 * polled in a tight loop. */
#define WAIT_MOST_NS (20 * UNITS_NS_PER_MS)
#define WAIT_LEAST_NS (UNITS_NS_PER_MS / 10)

static bool stopping(const struct readers *all)
{
    return atomic_load_explicit(&all->stop, memory_order_relaxed);
}

static uint64_t clock_frames(const struct readers *all)
{
    return all->mixer == NULL ? UINT64_MAX
                              : atomic_load_explicit(&all->mixer->frames, memory_order_relaxed);
}

static void count(_Atomic uint64_t *counter)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + 1, memory_order_relaxed);
}

static void fail(struct readers *all, const struct engine_read *read)
{
    pthread_mutex_lock(&all->failure_lock);
    if (!all->failed) {
        all->failure.track = read->track;
        all->failure.offset_bytes = read->offset_bytes;
        all->failure.error_number = read->result < 0 ? -read->result : 0;
        all->failed = true;
        all->stop = true;
    }
    pthread_mutex_unlock(&all->failure_lock);
}

/* Flat out, blocks are read in the order in which they would fall due if they were played: in that
 * of the files instead, a disk's head would have hardly any way to go. And a track has one block
 * under way at a time: several would lie side by side, and the kernel would make one large read of
 * them, which tracks that play hardly ever give it. */
void reader_schedule_block(struct reader *reader, uint32_t index)
{
    const struct readers *all = reader->all;
    struct track *track = &all->tracks[index];
    uint64_t number = track->next_block;
    if (all->mixer != NULL)
        schedule_add(&reader->schedule, index, track_free_frame(track, number, all->frame_bytes),
                     track_dry_frame(track, number, all->frame_bytes));
    else if (number != track->published_blocks)
        track->parked = true;
    else if (track->end_block == 0 || number < track->end_block)
        schedule_add(&reader->schedule, index, 0,
                     number * track->ring->block_bytes - track->phase_bytes);
}

static void complete(struct reader *reader, struct engine_read *read, uint64_t now_ns);

/* Gives a read to the engine, or keeps it for the next round where the engine is busy. */
static bool send(struct reader *reader, struct engine_read *read)
{
    switch (reader->all->operations->submit(reader->engine, read)) {
    case ENGINE_DONE:
        complete(reader, read, monotonic_ns());
        return true;
    case ENGINE_QUEUED:
        return true;
    case ENGINE_BUSY:
        break;
    }
    reader->unsent[reader->unsent_count++] = read;
    return false;
}

/* The slot is still being played although its time has come: the track has underrun, and its
 * clock runs behind by what it missed. */
static void wait_for_slot(struct reader *reader, uint32_t index, uint64_t now_frame)
{
    const struct readers *all = reader->all;
    const struct track *track = &all->tracks[index];
    uint64_t consumed = atomic_load_explicit(&track->ring->consumed_bytes, memory_order_relaxed);
    uint64_t needed = (track->next_block + 1) * track->ring->block_bytes - track->ring->size_bytes;
    uint64_t missing_frames = needed > consumed ? (needed - consumed) / all->frame_bytes : 0;
    schedule_add(&reader->schedule, index, now_frame + missing_frames + 1,
                 track_dry_frame(track, track->next_block, all->frame_bytes));
}

static void send_due(struct reader *reader)
{
    struct readers *all = reader->all;
    while (reader->unsent_count > 0) {
        if (!send(reader, reader->unsent[--reader->unsent_count]))
            return;
    }
    while (reader->idle_count > 0 && !stopping(all)) {
        uint64_t now_frame = clock_frames(all);
        uint32_t index;
        if (!schedule_take(&reader->schedule, now_frame, &index))
            return;
        struct track *track = &all->tracks[index];
        if (!ring_slot_is_free(track->ring, track->next_block)) {
            wait_for_slot(reader, index, now_frame);
            continue;
        }
        struct engine_read *read = reader->idle[--reader->idle_count];
        read->file = track->file;
        read->file_index = index / all->count;
        read->offset_bytes = track_block_offset_bytes(track, track->next_block);
        read->memory = ring_slot(track->ring, track->next_block);
        read->bytes = track->ring->block_bytes;
        read->track = index;
        read->block = track->next_block;
        read->submitted_ns = monotonic_ns();
        track->next_block++;
        reader_schedule_block(reader, index);
        if (!send(reader, read))
            return;
    }
}

static void note_slack(struct reader *reader, const struct engine_read *read)
{
    const struct readers *all = reader->all;
    uint64_t dry = track_dry_frame(&all->tracks[read->track], read->block, all->frame_bytes);
    int64_t slack = (int64_t)(dry - clock_frames(all));
    if (slack < reader->min_slack_frames)
        reader->min_slack_frames = slack;
}

static void complete(struct reader *reader, struct engine_read *read, uint64_t now_ns)
{
    struct readers *all = reader->all;
    if ((read->result == -EINTR || read->result == -EAGAIN) && !stopping(all)) {
        send(reader, read);
        return;
    }
    if (read->result > 0 && (uint32_t)read->result < read->bytes) { /* short: ask for the rest */
        read->offset_bytes += (uint32_t)read->result;
        read->memory += read->result;
        read->bytes -= (uint32_t)read->result;
        send(reader, read);
        return;
    }
    reader->idle[reader->idle_count++] = read;
    if (read->result <= 0) {
        fail(all, read);
        return;
    }
    histogram_add(&reader->latency, now_ns - read->submitted_ns);
    struct track *track = &all->tracks[read->track];
    if (all->mixer != NULL)
        note_slack(reader, read);
    track_land(track, read->block);
    if (all->mixer == NULL) {
        uint64_t published = track->published_blocks * track->ring->block_bytes;
        ring_consume(track->ring, published - atomic_load(&track->ring->consumed_bytes));
    }
    if (track->parked) {
        track->parked = false;
        reader_schedule_block(reader, read->track);
    }
    count(&reader->completed_blocks);
}

/* How long nothing can become due: until the callback that frees the next slot. */
static uint64_t wait_ns(const struct reader *reader)
{
    const struct readers *all = reader->all;
    if (reader->unsent_count > 0 || reader->idle_count == 0)
        return WAIT_MOST_NS; /* only a completion helps */
    uint64_t next_frame = schedule_next_frame(&reader->schedule);
    uint64_t now_frame = clock_frames(all);
    if (next_frame == UINT64_MAX)
        return WAIT_MOST_NS; /* every track waits for a read of its own */
    if (next_frame <= now_frame)
        return 0;
    uint64_t period = atomic_load_explicit(&all->mixer->period_frames, memory_order_relaxed);
    uint64_t clock_ns = atomic_load_explicit(&all->mixer->frames_ns, memory_order_relaxed);
    if (period == 0 || clock_ns == 0)
        return WAIT_LEAST_NS; /* the clock has not started */
    uint64_t periods = (next_frame - now_frame + period - 1) / period;
    uint64_t due_ns =
        clock_ns + periods * period * UNITS_NS_PER_SECOND / all->mixer->format.sample_rate_hz;
    uint64_t now_ns = monotonic_ns();
    if (due_ns < now_ns + WAIT_LEAST_NS)
        return WAIT_LEAST_NS;
    return due_ns - now_ns < WAIT_MOST_NS ? due_ns - now_ns : WAIT_MOST_NS;
}

static void land_completed(struct reader *reader, uint64_t longest_ns)
{
    struct engine_read *done[REAP_MOST];
    uint32_t landed;
    do {
        landed = reader->all->operations->reap(reader->engine, done, REAP_MOST, longest_ns);
        uint64_t now_ns = monotonic_ns();
        for (uint32_t i = 0; i < landed; i++)
            complete(reader, done[i], now_ns);
        longest_ns = 0;
    } while (landed == REAP_MOST);
}

static bool reads_under_way(const struct reader *reader)
{
    return reader->idle_count < reader->depth;
}

/* Adds up the time in which reads are under way, from look to look. */
static void note_busy(struct reader *reader)
{
    if (reads_under_way(reader) == (reader->busy_since_ns != 0))
        return;
    uint64_t now_ns = monotonic_ns();
    if (reader->busy_since_ns != 0)
        reader->busy_ns += now_ns - reader->busy_since_ns;
    reader->busy_since_ns = reads_under_way(reader) ? now_ns : 0;
}

/* The first half of a round: afterwards nothing that is due is left, or the queue is full. */
static void send_round(struct reader *reader)
{
    if (!stopping(reader->all) || reader->unsent_count > 0)
        send_due(reader);
    note_busy(reader);
}

static bool is_done(const struct reader *reader)
{
    return stopping(reader->all) && !reads_under_way(reader);
}

static uint64_t longest_wait_ns(const struct reader *reader)
{
    return stopping(reader->all) ? WAIT_MOST_NS : wait_ns(reader);
}

void *reader_run(void *argument)
{
    struct reader *reader = argument;
    while (!is_done(reader)) {
        send_round(reader);
        if (reads_under_way(reader)) {
            land_completed(reader, longest_wait_ns(reader));
            note_busy(reader);
        } else if (!stopping(reader->all)) {
            monotonic_sleep_until(monotonic_ns() + wait_ns(reader));
        }
    }
    reader->cpu_ns = monotonic_thread_cpu_ns();
    return NULL;
}

void reader_act(struct actor *actor, uint64_t now_ns)
{
    struct reader *reader = (struct reader *)((char *)actor - offsetof(struct reader, actor));
    if (reads_under_way(reader))
        land_completed(reader, 0);
    send_round(reader);
    uint64_t longest_ns = longest_wait_ns(reader);
    actor->due_ns = now_ns + (longest_ns > 0 ? longest_ns : WAIT_LEAST_NS);
    if (reads_under_way(reader)) {
        /* Submitted just now, it has to be sent before it can be waited for. */
        uint64_t next_ns = reader->all->operations->next_ns(reader->engine);
        if (next_ns < actor->due_ns)
            actor->due_ns = next_ns > now_ns ? next_ns : now_ns + 1;
    } else if (stopping(reader->all)) {
        actor->due_ns = UINT64_MAX;
    }
}
