#include "pool_writer.h"

#include "noise.h"

#include <errno.h>
#include <fcntl.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * libsndfile writes the header, and passes whole pieces of frames through as they are
 * (sf_write_raw), so the file's audio is exactly noise_fill's bytes. It writes through callbacks of
 * ours onto our own descriptor: thus the file's name, flags and errno stay in our hands, and the
 * place of the first audio byte is seen as it is written: no header is ever read back.
 *
 * libsndfile reports a full drive by a short count alone, so the sink keeps the errno of the first
 * write that failed. A sink without a descriptor only counts: that is the rehearsal.
 */

enum { PIECE_BYTES = 1 << 20, PUSH_BYTES = 8 << 20, REHEARSAL_FRAMES = 8 };

struct sink {
    int descriptor; /* -1: nothing is written */
    uint64_t position_bytes;
    uint64_t length_bytes;
    uint64_t pushed_bytes; /* handed to the drive up to here */
    int failure;           /* errno of the first write that failed */
};

static sf_count_t sink_length(void *user)
{
    const struct sink *sink = user;
    return (sf_count_t)sink->length_bytes;
}

static sf_count_t sink_seek(sf_count_t offset, int whence, void *user)
{
    struct sink *sink = user;
    sf_count_t base = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? (sf_count_t)sink->position_bytes
                                           : (sf_count_t)sink->length_bytes;
    if (base + offset < 0)
        return -1;
    sink->position_bytes = (uint64_t)(base + offset);
    return base + offset;
}

static sf_count_t sink_tell(void *user)
{
    const struct sink *sink = user;
    return (sf_count_t)sink->position_bytes;
}

/* Never called: libsndfile only wants it to be there. */
static sf_count_t sink_read(void *out, sf_count_t bytes, void *user)
{
    (void)out, (void)bytes, (void)user;
    return 0;
}

static sf_count_t sink_write(const void *data, sf_count_t bytes, void *user)
{
    struct sink *sink = user;
    sf_count_t done = 0;
    while (sink->descriptor >= 0 && done < bytes) {
        ssize_t written = pwrite(sink->descriptor, (const char *)data + done,
                                 (size_t)(bytes - done), (off_t)sink->position_bytes + done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            if (sink->failure == 0)
                sink->failure = written < 0 ? errno : ENOSPC;
            break;
        }
        done += written;
    }
    if (sink->descriptor < 0)
        done = bytes;
    sink->position_bytes += (uint64_t)done;
    if (sink->position_bytes > sink->length_bytes)
        sink->length_bytes = sink->position_bytes;
    return done;
}

/* Starts write-back of what was written so far, so that dirty pages never pile up and the fsync
 * that follows has little left to wait for. A filesystem that cannot does it at the fsync. */
static void sink_push(struct sink *sink)
{
    if (sink->descriptor < 0)
        return;
    (void)sync_file_range(sink->descriptor, (off_t)sink->pushed_bytes,
                          (off_t)(sink->length_bytes - sink->pushed_bytes), SYNC_FILE_RANGE_WRITE);
    sink->pushed_bytes = sink->length_bytes;
}

static SNDFILE *open_sink(const struct track_format *format, struct sink *sink, struct error *error)
{
    static const int containers[CONTAINER_COUNT] = {SF_FORMAT_WAV, SF_FORMAT_RF64, SF_FORMAT_W64,
                                                    SF_FORMAT_AIFF, SF_FORMAT_CAF};
    static const int encodings[ENCODING_COUNT] = {SF_FORMAT_PCM_16, SF_FORMAT_PCM_24,
                                                  SF_FORMAT_PCM_32, SF_FORMAT_FLOAT};
    SF_VIRTUAL_IO calls = {.get_filelen = sink_length,
                           .seek = sink_seek,
                           .read = sink_read,
                           .write = sink_write,
                           .tell = sink_tell};
    SF_INFO info = {
        .samplerate = (int)format->sample_rate_hz,
        .channels = (int)format->channels,
        .format = containers[format->container] | encodings[format->encoding] |
                  SF_ENDIAN_FILE, /* the container's own, as format_is_big_endian has it */
    };
    SNDFILE *file = sf_open_virtual(&calls, SFM_WRITE, &info, sink);
    if (file == NULL) {
        if (sink->failure == 0)
            error_set(
                error, ERROR_USAGE,
                "--container %s cannot hold %s with %u channels at %u Hz (%s); choose another "
                "--container or fewer --channels",
                format_container_name(format->container), format_encoding_name(format->encoding),
                format->channels, format->sample_rate_hz, sf_strerror(NULL));
        return NULL;
    }
    /* A PEAK chunk would say silence, as raw writes are not looked at (RF64 keeps it all the same:
     * the command does not know RF64). An RF64 that shrinks to WAV would be another container than
     * the one asked for. */
    sf_command(file, SFC_SET_ADD_PEAK_CHUNK, NULL, SF_FALSE);
    sf_command(file, SFC_RF64_AUTO_DOWNGRADE, NULL, SF_FALSE);
    /* Without the chunk a CAF of many channels has a shorter header, but libsndfile 1.2.0 would
     * write on behind the longer one. */
    sf_seek(file, 0, SEEK_SET);
    return file;
}

static int report_failure(const struct sink *sink, const char *path, struct error *error)
{
    if (sink->failure == ENOSPC || sink->failure == EDQUOT)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s: the drive is full (%s); free some space, or ask for smaller test "
                         "files with --pool-size",
                         path, strerror(sink->failure));
    return error_set(error, ERROR_ENVIRONMENT,
                     "%s: cannot write the test file: %s; check the drive", path,
                     strerror(sink->failure != 0 ? sink->failure : EIO));
}

/* Writes all frames in pieces through `buffer`; 0, or -1 with an error or the sink's failure. */
static int write_frames(const struct pool_writer *writer, SNDFILE *file, struct sink *sink,
                        uint32_t number, unsigned char *buffer, uint64_t *data_offset,
                        struct error *error)
{
    const uint32_t frame_bytes = format_frame_bytes(&writer->format);
    const uint64_t total_bytes = writer->frames * frame_bytes;
    const uint64_t piece_bytes = PIECE_BYTES - PIECE_BYTES % frame_bytes;
    for (uint64_t done = 0; done < total_bytes;) {
        if (writer->progress != NULL && writer->progress(writer->user, done) != 0)
            return error_set(error, ERROR_INTERRUPTED, "interrupted while writing test files");
        uint64_t bytes = total_bytes - done < piece_bytes ? total_bytes - done : piece_bytes;
        noise_fill(&writer->format, writer->seed, number, done, buffer, bytes);
        if (sf_write_raw(file, buffer, (sf_count_t)bytes) != (sf_count_t)bytes)
            return -1;
        if (done == 0)
            *data_offset = sink->position_bytes - bytes;
        if (sink->length_bytes - sink->pushed_bytes >= PUSH_BYTES)
            sink_push(sink);
        done += bytes;
    }
    return 0;
}

static int write_to_sink(const struct pool_writer *writer, struct sink *sink, const char *path,
                         uint32_t number, uint64_t *data_offset, struct error *error)
{
    unsigned char *buffer = malloc(PIECE_BYTES);
    if (buffer == NULL)
        return error_set(error, ERROR_ENVIRONMENT, "%s: out of memory", path);
    SNDFILE *file = open_sink(&writer->format, sink, error);
    int result = file == NULL ? -1 : 0;
    if (result == 0)
        result = write_frames(writer, file, sink, number, buffer, data_offset, error);
    /* Closing writes the header again, with the lengths; its own answer says nothing. */
    if (file != NULL)
        sf_close(file);
    free(buffer);
    if (error->kind == ERROR_NONE && (result != 0 || sink->failure != 0))
        return report_failure(sink, path, error);
    return result;
}

int pool_writer_data_offset(const struct track_format *format, uint64_t *data_offset,
                            struct error *error)
{
    struct pool_writer rehearsal = {.format = *format, .frames = REHEARSAL_FRAMES};
    struct sink sink = {.descriptor = -1};
    return write_to_sink(&rehearsal, &sink, "rehearsal", 0, data_offset, error);
}

int pool_writer_write(const struct pool_writer *writer, int descriptor, const char *path,
                      uint32_t file, struct error *error)
{
    struct sink sink = {.descriptor = descriptor};
    uint64_t data_offset;
    if (write_to_sink(writer, &sink, path, file, &data_offset, error) != 0)
        return -1;
    sink_push(&sink);
    return 0;
}
