#include "pool_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One line of magic, then key=value lines. The magic alone says that the folder is ours to clean;
 * the rest must be there in full for its files to be used again. Written beside, synced and
 * renamed into place, so a marker that is there is whole.
 */

#define MAGIC "trackramp-pool-1\n"
enum { TEXT_BYTES = 1024 };

/* The value of `key`, up to its line's end, or NULL. `lines` starts behind a newline. */
static const char *value_of(const char *lines, const char *key, char *out, size_t out_bytes)
{
    size_t key_length = strlen(key);
    for (const char *line = lines; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (end == NULL)
            return NULL;
        size_t length = (size_t)(end - line);
        if (length > key_length && memcmp(line, key, key_length) == 0 && line[key_length] == '=' &&
            length - key_length - 1 < out_bytes) {
            snprintf(out, out_bytes, "%.*s", (int)(length - key_length - 1), line + key_length + 1);
            return out;
        }
        line = end + 1;
    }
    return NULL;
}

static bool read_number(const char *lines, const char *key, uint64_t *number)
{
    char value[32], rest;
    return value_of(lines, key, value, sizeof value) != NULL &&
           sscanf(value, "%" SCNu64 "%c", number, &rest) == 1;
}

/* Also of markers that say nothing of it; so no name may be too long to be seen. */
static bool read_layout(const char *lines, bool *interleaved)
{
    char layout[TEXT_BYTES];
    if (value_of(lines, "layout", layout, sizeof layout) == NULL)
        return true;
    *interleaved = strcmp(layout, "interleaved") == 0;
    return *interleaved || strcmp(layout, "sequential") == 0;
}

static bool read_values(const char *lines, struct pool_marker *marker)
{
    char container[16], encoding[16];
    uint64_t rate, channels;
    if (value_of(lines, "container", container, sizeof container) == NULL ||
        value_of(lines, "encoding", encoding, sizeof encoding) == NULL ||
        !read_number(lines, "sample_rate", &rate) || !read_number(lines, "channels", &channels) ||
        !read_number(lines, "file_frames", &marker->file_frames) ||
        !read_number(lines, "data_offset", &marker->data_offset) ||
        !read_number(lines, "seed", &marker->seed))
        return false;
    marker->format.sample_rate_hz = (uint32_t)rate;
    marker->format.channels = (uint32_t)channels;
    /* Frames beyond this cannot be ours, and their bytes would not fit into 64 bits. */
    return rate <= FORMAT_SAMPLE_RATE_MAX && channels <= FORMAT_CHANNELS_MAX &&
           marker->file_frames < UINT64_C(1) << 48 && read_layout(lines, &marker->interleaved) &&
           format_container_parse(container, &marker->format.container) == 0 &&
           format_encoding_parse(encoding, &marker->format.encoding) == 0;
}

bool pool_marker_read(int folder, struct pool_marker *marker)
{
    char text[TEXT_BYTES];
    struct stat status;
    memset(marker, 0, sizeof *marker);
    int file =
        openat(folder, POOL_MARKER_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    ssize_t bytes = -1;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes < 0)
        return false;
    text[bytes] = '\0';
    if (strncmp(text, MAGIC, strlen(MAGIC)) != 0)
        return false;
    if (!read_values(text + strlen(MAGIC), marker))
        memset(marker, 0, sizeof *marker);
    return true;
}

static int write_text(int folder, const char *text)
{
    unlinkat(folder, POOL_MARKER_UNFINISHED, 0); /* what a killed run may have left */
    int file = openat(folder, POOL_MARKER_UNFINISHED,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return -1;
    ssize_t length = (ssize_t)strlen(text);
    errno = ENOSPC; /* of a short write, which sets none */
    int result = write(file, text, (size_t)length) == length && fsync(file) == 0 ? 0 : -1;
    int reason = errno;
    close(file);
    if (result == 0) {
        result = renameat(folder, POOL_MARKER_UNFINISHED, folder, POOL_MARKER_NAME);
        reason = errno;
    }
    if (result != 0)
        unlinkat(folder, POOL_MARKER_UNFINISHED, 0);
    errno = reason;
    return result;
}

int pool_marker_write(int folder, const struct pool_marker *marker, const char *path,
                      struct error *error)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             MAGIC "container=%s\nencoding=%s\nsample_rate=%" PRIu32 "\nchannels=%" PRIu32
                   "\nfile_frames=%" PRIu64 "\ndata_offset=%" PRIu64 "\nseed=%" PRIu64
                   "\nlayout=%s\n",
             format_container_name(marker->format.container),
             format_encoding_name(marker->format.encoding), marker->format.sample_rate_hz,
             marker->format.channels, marker->file_frames, marker->data_offset, marker->seed,
             marker->interleaved ? "interleaved" : "sequential");
    if (write_text(folder, text) != 0)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s/%s: cannot write: %s; free some space or choose another DIR", path,
                         POOL_MARKER_NAME, strerror(errno));
    return 0;
}
