#include "reader.h"

#include "engine.h"
#include "monotonic.h"
#include "schedule.h"
#include "units.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

struct reader {
    struct readers *all;
    pthread_t thread;
    uint32_t first; /* its tracks: first, first + readers, first + 2 * readers ... */
    void *engine;
    struct schedule schedule;
    struct engine_read *reads;
    struct engine_read **idle, **unsent; /* stacks: free for use; refused by a busy engine */
    uint32_t idle_count, unsent_count;
    /* known after the thread has ended */
    struct histogram latency;
    int64_t min_slack_frames;
    uint64_t cpu_ns;
    /* shared: its own, for the main thread to look at */
    _Alignas(64) _Atomic uint64_t submitted_blocks;
    _Atomic uint64_t completed_blocks;
};

struct readers {
    struct reader_options options;
    const struct engine_operations *operations;
    struct track *tracks;
    uint32_t track_count;
    const struct mixer *mixer;
    uint32_t frame_bytes;
    uint64_t started_ns;
    struct reader *each;
    uint32_t count, running;
    _Atomic bool stop;
    pthread_mutex_t failure_lock; /* guards `failure` until `failed` is set */
    struct reader_failure failure;
    _Atomic bool failed;
};

const char *engine_kind_name(enum engine_kind kind)
{
    return kind == ENGINE_URING ? "uring" : "threads";
}

static const struct engine_operations *find_operations(enum engine_kind kind)
{
    return kind == ENGINE_URING ? &engine_uring : &engine_threads;
}

int engine_probe(enum engine_kind kind, struct error *error)
{
    const struct engine_operations *operations = find_operations(kind);
    void *engine;
    if (operations->open(&engine, 1, NULL, 0, error) != 0)
        return -1;
    operations->close(engine);
    return 0;
}

/* --- reader thread ------------------------------------------------------------------------ */

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

/* Puts the track's next block into the schedule. Flat out, the order is the blocks' own, and a
 * track whose slots are all under way has to wait for one of them. */
static void schedule_next_block(struct reader *reader, uint32_t index)
{
    const struct readers *all = reader->all;
    struct track *track = &all->tracks[index];
    uint64_t number = track->next_block;
    if (all->mixer != NULL)
        schedule_add(&reader->schedule, index, track_free_frame(track, number, all->frame_bytes),
                     track_dry_frame(track, number, all->frame_bytes));
    else if (ring_slot_is_free(track->ring, number))
        schedule_add(&reader->schedule, index, 0, number);
    else
        track->parked = true;
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
        schedule_next_block(reader, index);
        count(&reader->submitted_blocks);
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
    if (read->result == -EINTR || read->result == -EAGAIN) {
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
        schedule_next_block(reader, read->track);
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
    if (next_frame <= now_frame)
        return 0;
    if (next_frame == UINT64_MAX)
        return WAIT_MOST_NS;
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

static void *run(void *argument)
{
    struct reader *reader = argument;
    struct readers *all = reader->all;
    uint32_t depth = reader->idle_count;
    while (!stopping(all) || reader->idle_count < depth) {
        if (!stopping(all) || reader->unsent_count > 0)
            send_due(reader);
        if (reader->idle_count < depth)
            land_completed(reader, stopping(all) ? WAIT_MOST_NS : wait_ns(reader));
        else if (!stopping(all))
            monotonic_sleep_until(monotonic_ns() + wait_ns(reader));
    }
    reader->cpu_ns = monotonic_thread_cpu_ns();
    return NULL;
}

/* --- main thread -------------------------------------------------------------------------- */

static uint32_t owned_tracks(const struct readers *all, uint32_t first)
{
    return (all->track_count - first + all->count - 1) / all->count;
}

static int open_engine(struct reader *reader, uint32_t depth, struct error *error)
{
    const struct readers *all = reader->all;
    uint32_t owned = owned_tracks(all, reader->first);
    int *files = malloc(owned * sizeof *files);
    if (files == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for %u tracks", owned);
    for (uint32_t i = 0; i < owned; i++)
        files[i] = all->tracks[reader->first + i * all->count].file;
    int result = all->operations->open(&reader->engine, depth, files, owned, error);
    free(files);
    return result;
}

static void close_reader(struct reader *reader)
{
    schedule_fini(&reader->schedule);
    free(reader->reads);
    free(reader->idle);
    free(reader->unsent);
}

static int open_reader(struct reader *reader, struct readers *all, uint32_t first,
                       struct error *error)
{
    uint32_t depth = all->operations->reap == NULL ? 1 : all->options.queue_depth;
    reader->all = all;
    reader->first = first;
    reader->min_slack_frames = INT64_MAX;
    reader->reads = calloc(depth, sizeof *reader->reads);
    reader->idle = calloc(depth, sizeof(void *));
    reader->unsent = calloc(depth, sizeof(void *));
    if (reader->reads == NULL || reader->idle == NULL || reader->unsent == NULL ||
        schedule_init(&reader->schedule, owned_tracks(all, first)) != 0) {
        error_set(error, ERROR_ENVIRONMENT, "out of memory for a reader of depth %u", depth);
        close_reader(reader);
        return -1;
    }
    if (open_engine(reader, depth, error) != 0) {
        close_reader(reader);
        return -1;
    }
    for (uint32_t i = 0; i < depth; i++)
        reader->idle[reader->idle_count++] = &reader->reads[i];
    for (uint32_t track = first; track < all->track_count; track += all->count)
        schedule_next_block(reader, track);
    return 0;
}

static void end_threads(struct readers *all)
{
    all->stop = true;
    for (uint32_t i = 0; i < all->running; i++)
        pthread_join(all->each[i].thread, NULL);
}

static void free_readers(struct readers *all, uint32_t opened)
{
    for (uint32_t i = 0; i < opened; i++) {
        all->operations->close(all->each[i].engine);
        close_reader(&all->each[i]);
    }
    pthread_mutex_destroy(&all->failure_lock);
    free(all->each);
    free(all);
}

int readers_start(struct readers **readers, const struct reader_options *options,
                  struct track *tracks, uint32_t track_count, const struct mixer *mixer,
                  struct error *error)
{
    struct readers *all = calloc(1, sizeof *all);
    uint32_t wanted = options->readers < track_count ? options->readers : track_count;
    if (all != NULL)
        all->each = aligned_alloc(64, wanted * sizeof *all->each);
    if (all == NULL || all->each == NULL) {
        free(all);
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for %u readers", wanted);
    }
    memset(all->each, 0, wanted * sizeof *all->each);
    all->options = *options;
    all->operations = find_operations(options->engine);
    all->tracks = tracks;
    all->track_count = track_count;
    all->mixer = mixer;
    all->frame_bytes = mixer != NULL ? format_frame_bytes(&mixer->format) : 1;
    all->count = wanted;
    pthread_mutex_init(&all->failure_lock, NULL);
    all->started_ns = monotonic_ns();

    uint32_t opened = 0;
    while (opened < wanted && open_reader(&all->each[opened], all, opened, error) == 0)
        opened++;
    while (opened == wanted && all->running < wanted) {
        struct reader *reader = &all->each[all->running];
        int result = pthread_create(&reader->thread, NULL, run, reader);
        if (result != 0) {
            error_set(error, ERROR_ENVIRONMENT,
                      "no thread for reader %u of %u (%s); use fewer --readers", all->running + 1,
                      wanted, strerror(result));
            break;
        }
        all->running++;
    }
    if (all->running < wanted) {
        end_threads(all);
        free_readers(all, opened);
        return -1;
    }
    *readers = all;
    return 0;
}

void readers_counters(const struct readers *all, struct reader_counters *counters)
{
    *counters = (struct reader_counters){0};
    /* Completed first: a block that is counted there is then counted as submitted too. */
    for (uint32_t i = 0; i < all->count; i++)
        counters->completed_blocks += atomic_load(&all->each[i].completed_blocks);
    for (uint32_t i = 0; i < all->count; i++)
        counters->submitted_blocks += atomic_load(&all->each[i].submitted_blocks);
}

bool readers_failed(const struct readers *all, struct reader_failure *failure)
{
    if (!atomic_load(&all->failed))
        return false;
    *failure = all->failure;
    return true;
}

void readers_stop(struct readers *all, struct reader_totals *totals)
{
    end_threads(all);
    if (totals != NULL) {
        *totals = (struct reader_totals){.min_slack_frames = INT64_MAX};
        totals->elapsed_ns = monotonic_ns() - all->started_ns;
        for (uint32_t i = 0; i < all->count; i++) {
            const struct reader *reader = &all->each[i];
            histogram_merge(&totals->latency, &reader->latency);
            if (reader->min_slack_frames < totals->min_slack_frames)
                totals->min_slack_frames = reader->min_slack_frames;
            if (reader->cpu_ns > totals->busiest_cpu_ns)
                totals->busiest_cpu_ns = reader->cpu_ns;
        }
    }
    free_readers(all, all->count);
}
