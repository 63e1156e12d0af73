#include "engine.h"

#include "units.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

/*
 * io_uring: reads are put into the submission queue and sent in one system call together with the
 * wait for completions. Files are registered, so that the kernel need not look up and count a
 * descriptor for every read.
 */

struct uring {
    struct io_uring ring;
};

static int unavailable(int error_number, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT,
                     "--engine uring: io_uring is not to be had here (%s); use --engine threads",
                     strerror(error_number));
}

static int open_uring(void **engine, const struct engine_setup *setup, struct error *error)
{
    struct uring *uring = calloc(1, sizeof *uring);
    if (uring == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "out of memory for the io_uring engine");
    /* Completions need no interrupt of the reader: it comes to fetch them (Linux 5.19 on). */
    int result = io_uring_queue_init(setup->queue_depth, &uring->ring, IORING_SETUP_COOP_TASKRUN);
    if (result == -EINVAL)
        result = io_uring_queue_init(setup->queue_depth, &uring->ring, 0);
    if (result < 0) {
        free(uring);
        return unavailable(-result, error);
    }
    /* Without it a wait with a time limit would put completions of its own among ours, and a
     * kernel that old may not know plain reads either. */
    if (!(uring->ring.features & IORING_FEAT_EXT_ARG))
        result = -ENOSYS;
    else if (setup->file_count > 0)
        result = io_uring_register_files(&uring->ring, setup->files, setup->file_count);
    if (result < 0) {
        io_uring_queue_exit(&uring->ring);
        free(uring);
        return unavailable(-result, error);
    }
    *engine = uring;
    return 0;
}

static enum engine_answer submit(void *engine, struct engine_read *read)
{
    struct uring *uring = engine;
    struct io_uring_sqe *entry = io_uring_get_sqe(&uring->ring);
    if (entry == NULL)
        return ENGINE_BUSY;
    io_uring_prep_read(entry, (int)read->file_index, read->memory, read->bytes, read->offset_bytes);
    entry->flags |= IOSQE_FIXED_FILE;
    io_uring_sqe_set_data(entry, read);
    return ENGINE_QUEUED;
}

static uint32_t reap(void *engine, struct engine_read **done, uint32_t capacity, uint64_t wait_ns)
{
    struct uring *uring = engine;
    struct io_uring_cqe *entry;
    if (wait_ns > 0 && !io_uring_cq_ready(&uring->ring)) {
        struct __kernel_timespec wait = {.tv_sec = (long long)(wait_ns / UNITS_NS_PER_SECOND),
                                         .tv_nsec = (long long)(wait_ns % UNITS_NS_PER_SECOND)};
        io_uring_submit_and_wait_timeout(&uring->ring, &entry, 1, &wait, NULL);
    } else if (io_uring_sq_ready(&uring->ring) > 0) {
        io_uring_submit(&uring->ring);
    }
    /* Whatever the call answered (time out, a signal, busy): what has completed is what counts,
     * and what could not be sent stays in the queue for the next call. */
    unsigned head;
    uint32_t count = 0;
    io_uring_for_each_cqe(&uring->ring, head, entry)
    {
        if (count == capacity)
            break;
        struct engine_read *read = io_uring_cqe_get_data(entry);
        read->result = entry->res;
        done[count++] = read;
    }
    io_uring_cq_advance(&uring->ring, count);
    return count;
}

/* The kernel takes a ring apart after io_uring_queue_exit has returned. Its files must be let go of
 * before: what is removed while it is open lives on, on FUSE under another name in the folder. */
static void close_uring(void *engine)
{
    struct uring *uring = engine;
    io_uring_unregister_files(&uring->ring);
    io_uring_queue_exit(&uring->ring);
    free(uring);
}

const struct engine_operations engine_uring = {
    .open = open_uring, .submit = submit, .reap = reap, .close = close_uring};
