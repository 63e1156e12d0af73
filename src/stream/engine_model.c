#include "engine.h"
#include "model_drive.h"
#include "monotonic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Reads from a modelled drive. The drive is one for all readers, so whoever looks takes what is
 * done and puts it on the list of the engine that asked; the lock is held for that long only. In
 * virtual time there is one thread, and nobody waits in reap.
 *
 * A read is one request of the drive, or one for each piece where files lie interleaved; it is
 * done when all of them are.
 */

struct model_drive {
    struct model_drive_options options;
    pthread_mutex_t lock; /* guards the model and the engines' lists */
    struct model *model;
};

struct slot;

struct piece {
    struct model_request request;
    struct slot *slot;
};

/* A read and its pieces. */
struct slot {
    struct model_engine *engine;
    struct engine_read *read;
    struct piece *pieces;
    uint32_t pieces_left;
    enum model_fault_kind fault;
    struct slot *next; /* among the idle, or the done */
};

struct model_engine {
    struct model_drive *drive;
    struct slot *slots;
    struct piece *pieces;
    struct slot *idle;
    struct slot *done, **done_end; /* the oldest first */
};

/* --- the drive ---------------------------------------------------------------------------- */

struct model_drive *model_drive_new(const struct model_drive_options *options)
{
    struct model_drive *drive = calloc(1, sizeof *drive);
    if (drive == NULL)
        return NULL;
    drive->options = *options;
    drive->model = model_new(options->spec, options->seed, monotonic_ns());
    if (drive->model == NULL) {
        free(drive);
        return NULL;
    }
    pthread_mutex_init(&drive->lock, NULL);
    return drive;
}

void model_drive_free(struct model_drive *drive)
{
    if (drive == NULL)
        return;
    model_free(drive->model);
    pthread_mutex_destroy(&drive->lock);
    free(drive);
}

/* Where on the drive a byte of a file lies. */
static uint64_t place(const struct model_drive *drive, uint32_t file, uint64_t offset_bytes)
{
    const struct model_drive_options *options = &drive->options;
    if (options->group_files <= 1)
        return file * options->file_bytes + offset_bytes;
    uint64_t group = file / options->group_files, member = file % options->group_files;
    uint64_t piece = offset_bytes / options->piece_bytes;
    return group * options->group_files * options->file_bytes +
           (piece * options->group_files + member) * options->piece_bytes +
           offset_bytes % options->piece_bytes;
}

/* How many of `bytes` lie side by side from `offset_bytes` of a file on. */
static uint32_t bytes_in_piece(const struct model_drive *drive, uint64_t offset_bytes,
                               uint32_t bytes)
{
    const struct model_drive_options *options = &drive->options;
    if (options->group_files <= 1)
        return bytes;
    uint32_t left = options->piece_bytes - (uint32_t)(offset_bytes % options->piece_bytes);
    return left < bytes ? left : bytes;
}

/* --- reads -------------------------------------------------------------------------------- */

static void carry_out(const struct slot *slot)
{
    const struct model_drive_options *options = &slot->engine->drive->options;
    struct engine_read *read = slot->read;
    read->result = (int32_t)read->bytes;
    if (slot->fault == MODEL_FAULT_ERROR)
        read->result = -EIO;
    else if (slot->fault == MODEL_FAULT_SHORT)
        read->result = (int32_t)(read->bytes / 2);
    if (options->content == NULL || read->result <= 0)
        return;
    options->content(options->user, (uint32_t)read->file, read->offset_bytes, read->memory,
                     (uint32_t)read->result);
    if (slot->fault == MODEL_FAULT_WRONG)
        memset(read->memory, 0, (size_t)read->result);
}

/* Of several pieces' faults the worst is the read's. */
static int severity(enum model_fault_kind fault)
{
    return fault == MODEL_FAULT_ERROR   ? 3
           : fault == MODEL_FAULT_WRONG ? 2
                                        : fault == MODEL_FAULT_SHORT;
}

/* Puts every request that is done on its engine's list. Under the lock. */
static void sort_done(struct model_drive *drive, uint64_t now_ns)
{
    struct model_request *request;
    while ((request = model_take(drive->model, now_ns)) != NULL) {
        struct slot *slot = ((struct piece *)request->user)->slot;
        if (severity(request->fault) > severity(slot->fault))
            slot->fault = request->fault;
        if (--slot->pieces_left > 0)
            continue;
        carry_out(slot);
        slot->next = NULL;
        *slot->engine->done_end = slot;
        slot->engine->done_end = &slot->next;
    }
}

static int open_model(void **engine, const struct engine_setup *setup, struct error *error)
{
    const struct model_drive_options *options = &setup->drive->options;
    uint32_t pieces = 1;
    if (options->group_files > 1) /* a block may begin and end within a piece */
        pieces = setup->block_bytes / options->piece_bytes + 2;
    struct model_engine *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->slots = calloc(setup->queue_depth, sizeof *made->slots);
        made->pieces = calloc((size_t)setup->queue_depth * pieces, sizeof *made->pieces);
    }
    if (made == NULL || made->slots == NULL || made->pieces == NULL) {
        if (made != NULL) {
            free(made->slots);
            free(made->pieces);
        }
        free(made);
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the modelled drive's queue");
    }
    made->drive = setup->drive;
    made->done_end = &made->done;
    for (uint32_t i = 0; i < setup->queue_depth; i++) {
        made->slots[i].engine = made;
        made->slots[i].pieces = &made->pieces[i * pieces];
        made->slots[i].next = made->idle;
        made->idle = &made->slots[i];
    }
    *engine = made;
    return 0;
}

static enum engine_answer submit(void *engine, struct engine_read *read)
{
    struct model_engine *model = engine;
    struct model_drive *drive = model->drive;
    struct slot *slot = model->idle;
    if (slot == NULL)
        return ENGINE_BUSY;
    model->idle = slot->next;
    slot->read = read;
    slot->fault = MODEL_FAULT_NONE;
    slot->pieces_left = 0;
    pthread_mutex_lock(&drive->lock);
    uint64_t now_ns = monotonic_ns();
    for (uint32_t from = 0; from < read->bytes;) {
        struct piece *piece = &slot->pieces[slot->pieces_left++];
        uint64_t offset_bytes = read->offset_bytes + from;
        uint32_t bytes = bytes_in_piece(drive, offset_bytes, read->bytes - from);
        piece->slot = slot;
        piece->request =
            (struct model_request){.offset_bytes = place(drive, (uint32_t)read->file, offset_bytes),
                                   .bytes = bytes,
                                   .user = piece};
        from += bytes;
    }
    for (uint32_t i = 0; i < slot->pieces_left; i++)
        model_submit(drive->model, &slot->pieces[i].request, now_ns);
    pthread_mutex_unlock(&drive->lock);
    return ENGINE_QUEUED;
}

static uint64_t next_ns(void *engine)
{
    struct model_engine *model = engine;
    pthread_mutex_lock(&model->drive->lock);
    uint64_t next = model->done != NULL ? monotonic_ns() : model_next_ns(model->drive->model);
    pthread_mutex_unlock(&model->drive->lock);
    return next;
}

static uint32_t reap(void *engine, struct engine_read **done, uint32_t capacity, uint64_t wait_ns)
{
    struct model_engine *model = engine;
    uint64_t now_ns = monotonic_ns(), next = wait_ns > 0 ? next_ns(engine) : 0;
    if (next > now_ns)
        monotonic_sleep_until(next < now_ns + wait_ns ? next : now_ns + wait_ns);
    uint32_t count = 0;
    pthread_mutex_lock(&model->drive->lock);
    sort_done(model->drive, monotonic_ns());
    while (count < capacity && model->done != NULL) {
        struct slot *slot = model->done;
        model->done = slot->next;
        slot->next = model->idle;
        model->idle = slot;
        done[count++] = slot->read;
    }
    if (model->done == NULL)
        model->done_end = &model->done;
    pthread_mutex_unlock(&model->drive->lock);
    return count;
}

static void close_model(void *engine)
{
    struct model_engine *model = engine;
    free(model->slots);
    free(model->pieces);
    free(model);
}

const struct engine_operations engine_model = {
    .open = open_model, .submit = submit, .reap = reap, .close = close_model, .next_ns = next_ns};
