#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The text is complete before a file is touched, so that all that can go wrong here is the file
 * itself. The data is on the drive before the name is moved: after a power cut there is the old
 * file or the new one, not an empty one.
 *
 * A path that is standard output under another name (/dev/stdout, or the file it was redirected
 * to) goes through the same stream as the rest of the output, in order; replacing that file would
 * lose what else is printed.
 */

static int failed(const char *path, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: cannot write the result: %s; name another file",
                     path, strerror(errno));
}

/* Writes to a stream that stays open. */
static int write_stream(FILE *stream, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, stream) == bytes && fflush(stream) == 0 ? 0 : -1;
}

/* Writes all to `descriptor` and closes it, in any case. Keeps the first errno. */
static int write_and_close(int descriptor, const char *text, size_t bytes, bool to_drive)
{
    int first = 0;
    while (bytes > 0 && first == 0) {
        ssize_t written = write(descriptor, text, bytes);
        if (written < 0 && errno != EINTR)
            first = errno;
        if (written > 0) {
            text += written;
            bytes -= (size_t)written;
        }
    }
    if (first == 0 && to_drive && fsync(descriptor) != 0)
        first = errno;
    if (close(descriptor) != 0 && first == 0)
        first = errno;
    errno = first;
    return first == 0 ? 0 : -1;
}

/* Writes `path` beside its name, with the permissions of the file it replaces (`mode`, or -1). */
static int replace_file(const char *path, int mode, const char *text, size_t bytes)
{
    char *temporary;
    if (asprintf(&temporary, "%s.%ld.part", path, (long)getpid()) < 0)
        return -1;
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int result = -1;
    if (descriptor >= 0) {
        if (mode >= 0)
            fchmod(descriptor, (mode_t)mode);
        result = write_and_close(descriptor, text, bytes, true);
        if (result == 0)
            result = rename(temporary, path);
        int first = errno;
        if (result != 0)
            unlink(temporary);
        errno = first;
    }
    free(temporary);
    return result;
}

int save_text(const char *path, const char *text, size_t bytes, struct error *error)
{
    struct stat target, output;
    bool exists = stat(path, &target) == 0;
    int result;
    if (strcmp(path, "-") == 0 ||
        (exists && fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == target.st_dev &&
         output.st_ino == target.st_ino)) {
        result = write_stream(stdout, text, bytes);
    } else if (!exists) {
        result = replace_file(path, -1, text, bytes);
    } else if (S_ISREG(target.st_mode)) {
        /* Through a link to the file it names, which may lie in another folder. */
        char *whole = realpath(path, NULL);
        result = replace_file(whole != NULL ? whole : path, target.st_mode & 0777, text, bytes);
        int first = errno;
        free(whole);
        errno = first;
    } else {
        int descriptor = open(path, O_WRONLY | O_CLOEXEC);
        result = descriptor < 0 ? -1 : write_and_close(descriptor, text, bytes, false);
    }
    return result == 0 ? 0 : failed(strcmp(path, "-") == 0 ? "standard output" : path, error);
}
