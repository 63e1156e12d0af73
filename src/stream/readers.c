#include "reader_loop.h"

#include "monotonic.h"

#include <stdlib.h>
#include <string.h>

/*
 * All readers of a trial, as the main thread sees them: made ready one after the other, started
 * together, looked at, joined. What they did is summed after the join, so their threads write
 * into storage of their own and nothing is locked while they run.
 */

const char *engine_kind_name(enum engine_kind kind)
{
    static const char *const names[] = {"uring", "threads", "model"};
    return names[kind];
}

static const struct engine_operations *find_operations(enum engine_kind kind)
{
    static const struct engine_operations *const operations[] = {&engine_uring, &engine_threads,
                                                                 &engine_model};
    return operations[kind];
}

int engine_probe(enum engine_kind kind, struct error *error)
{
    const struct engine_operations *operations = find_operations(kind);
    void *engine;
    if (operations->open(&engine, &(struct engine_setup){.queue_depth = 1}, error) != 0)
        return -1;
    operations->close(engine);
    return 0;
}

static uint32_t owned_tracks(const struct readers *all, uint32_t first)
{
    return (all->track_count - first + all->count - 1) / all->count;
}

static int open_engine(struct reader *reader, struct error *error)
{
    const struct readers *all = reader->all;
    uint32_t owned = owned_tracks(all, reader->first);
    int *files = malloc(owned * sizeof *files);
    if (files == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for %u tracks", owned);
    for (uint32_t i = 0; i < owned; i++)
        files[i] = all->tracks[reader->first + i * all->count].file;
    struct engine_setup setup = {.queue_depth = reader->depth,
                                 .files = files,
                                 .file_count = owned,
                                 .block_bytes = all->tracks[0].ring->block_bytes,
                                 .drive = all->options.drive};
    int result = all->operations->open(&reader->engine, &setup, error);
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
    reader->depth = depth;
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
    if (open_engine(reader, error) != 0) {
        close_reader(reader);
        return -1;
    }
    for (uint32_t i = 0; i < depth; i++)
        reader->idle[reader->idle_count++] = &reader->reads[i];
    for (uint32_t track = first; track < all->track_count; track += all->count)
        reader_schedule_block(reader, track);
    return 0;
}

/* Starts the reader's loop; 0, or an errno. */
static int start_loop(struct reader *reader)
{
    if (!simulation_is_on())
        return pthread_create(&reader->thread, NULL, reader_run, reader);
    reader->actor = (struct actor){.act = reader_act, .due_ns = monotonic_ns()};
    simulation_add(&reader->actor);
    return 0;
}

static void end_loop(struct reader *reader)
{
    if (!simulation_is_on()) {
        pthread_join(reader->thread, NULL);
        return;
    }
    while (reader->actor.due_ns != UINT64_MAX)
        monotonic_sleep_until(reader->actor.due_ns);
    simulation_remove(&reader->actor);
}

static void end_loops(struct readers *all)
{
    all->stop = true;
    for (uint32_t i = 0; i < all->running; i++)
        end_loop(&all->each[i]);
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

int readers_start_with(struct readers **readers, const struct engine_operations *operations,
                       const struct reader_options *options, struct track *tracks,
                       uint32_t track_count, const struct mixer *mixer, struct error *error)
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
    all->operations = operations;
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
        int result = start_loop(reader);
        if (result != 0) {
            error_set(error, ERROR_ENVIRONMENT,
                      "no thread for reader %u of %u (%s); use fewer --readers", all->running + 1,
                      wanted, strerror(result));
            break;
        }
        all->running++;
    }
    if (all->running < wanted) {
        end_loops(all);
        free_readers(all, opened);
        return -1;
    }
    *readers = all;
    return 0;
}

int readers_start(struct readers **readers, const struct reader_options *options,
                  struct track *tracks, uint32_t track_count, const struct mixer *mixer,
                  struct error *error)
{
    return readers_start_with(readers, find_operations(options->engine), options, tracks,
                              track_count, mixer, error);
}

uint64_t readers_completed_blocks(const struct readers *all)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < all->count; i++)
        blocks += atomic_load(&all->each[i].completed_blocks);
    return blocks;
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
    end_loops(all);
    if (totals != NULL) {
        *totals = (struct reader_totals){.min_slack_frames = INT64_MAX};
        totals->elapsed_ns = monotonic_ns() - all->started_ns;
        for (uint32_t i = 0; i < all->count; i++) {
            const struct reader *reader = &all->each[i];
            totals->busy_share += (double)reader->busy_ns / (double)totals->elapsed_ns / all->count;
            histogram_merge(&totals->latency, &reader->latency);
            if (reader->min_slack_frames < totals->min_slack_frames)
                totals->min_slack_frames = reader->min_slack_frames;
            if (reader->cpu_ns > totals->busiest_cpu_ns)
                totals->busiest_cpu_ns = reader->cpu_ns;
        }
    }
    free_readers(all, all->count);
}
