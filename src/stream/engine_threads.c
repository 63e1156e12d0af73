#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A read on the spot: parallelism comes from the number of readers, one thread each. */

static int open_threads(void **engine, const struct engine_setup *setup, struct error *error)
{
    (void)setup, (void)error;
    *engine = NULL;
    return 0;
}

static enum engine_answer submit(void *engine, struct engine_read *read)
{
    (void)engine;
    ssize_t got;
    do
        got = pread(read->file, read->memory, read->bytes, (off_t)read->offset_bytes);
    while (got < 0 && errno == EINTR);
    read->result = got < 0 ? -errno : (int32_t)got;
    return ENGINE_DONE;
}

static void close_threads(void *engine)
{
    (void)engine;
}

const struct engine_operations engine_threads = {
    .open = open_threads, .submit = submit, .reap = NULL, .close = close_threads};
