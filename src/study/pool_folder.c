#include "pool_folder.h"

#include "pool.h"
#include "pool_marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The folder is opened once, never through a symbolic link, and everything inside is named
 * relative to that descriptor: nobody can swap it for another while we remove things. It is ours
 * when our marker lies in it, or when it is empty: a run may have been killed between making it
 * and marking it, and, as the marker is the last thing that goes, between unmarking and removing
 * it.
 *
 * The lock lies on the folder itself, so it ends with the process, however that ends. Who gets it
 * must look whether the folder still bears its name: its last holder may have removed it.
 */

enum { OPEN_TRIES = 100 };

const char *pool_folder_track_name(char out[POOL_NAME_BYTES], enum container container,
                                   uint32_t index, bool unfinished)
{
    snprintf(out, POOL_NAME_BYTES, "track-%06u.%s%s", index % POOL_TRACKS_MAX,
             format_container_name(container), unfinished ? ".part" : "");
    return out;
}

/* Takes a test file's name apart; false when it is none. */
static bool parse_track_name(const char *name, enum container *container, uint32_t *index,
                             bool *unfinished)
{
    char again[POOL_NAME_BYTES];
    if (strncmp(name, "track-", 6) != 0)
        return false;
    *index = (uint32_t)strtoul(name + 6, NULL, 10) % POOL_TRACKS_MAX;
    for (int i = 0; i < 2 * CONTAINER_COUNT; i++) {
        *container = (enum container)(i / 2);
        *unfinished = i % 2 != 0;
        if (strcmp(name, pool_folder_track_name(again, *container, *index, *unfinished)) == 0)
            return true;
    }
    return false;
}

static DIR *list(const struct pool_folder *folder)
{
    int descriptor = openat(folder->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (entries == NULL && descriptor >= 0)
        close(descriptor);
    return entries;
}

/* Whether anything but our marker, finished or not, lies in the folder. */
static bool holds_more_than_marker(const struct pool_folder *folder)
{
    DIR *entries = list(folder);
    if (entries == NULL)
        return true;
    bool more = false;
    for (struct dirent *entry; !more && (entry = readdir(entries)) != NULL;)
        more = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
               strcmp(entry->d_name, POOL_MARKER_NAME) != 0 &&
               strcmp(entry->d_name, POOL_MARKER_UNFINISHED) != 0;
    closedir(entries);
    return more;
}

static bool is_ours(const struct pool_folder *folder)
{
    struct pool_marker marker;
    struct stat status;
    if (pool_marker_read(folder->folder, &marker))
        return true;
    /* A marker that is there and not ours is somebody's file. */
    return fstatat(folder->folder, POOL_MARKER_NAME, &status, AT_SYMLINK_NOFOLLOW) != 0 &&
           !holds_more_than_marker(folder);
}

/* --- opening ------------------------------------------------------------------------------ */

static int open_parent(struct pool_folder *folder, const char *directory, struct error *error)
{
    int length =
        snprintf(folder->path, sizeof folder->path, "%s%s" POOL_FOLDER, directory,
                 directory[0] != '\0' && directory[strlen(directory) - 1] == '/' ? "" : "/");
    if (length < 0 || (size_t)length >= sizeof folder->path)
        return error_set(error, ERROR_USAGE, "DIR is too long a path: %.200s...", directory);
    folder->parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->parent >= 0)
        return 0;
    if (errno == ENOENT)
        return error_set(error, ERROR_USAGE, "%s: there is no such folder; name one that exists",
                         directory);
    if (errno == ENOTDIR)
        return error_set(error, ERROR_USAGE,
                         "%s: not a folder; name a folder on the drive to measure", directory);
    return error_set(
        error, errno == ELOOP || errno == ENAMETOOLONG ? ERROR_USAGE : ERROR_ENVIRONMENT,
        "%s: cannot open the folder: %s; choose another DIR", directory, strerror(errno));
}

static bool still_bears_its_name(const struct pool_folder *folder)
{
    struct stat held, named;
    return fstat(folder->folder, &held) == 0 &&
           fstatat(folder->parent, POOL_FOLDER, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static int lock_folder(const struct pool_folder *folder, struct error *error)
{
    while (flock(folder->folder, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (errno == EWOULDBLOCK)
            return error_set(error, ERROR_ENVIRONMENT,
                             "%s: another trackramp is using it; wait for it to end, or choose "
                             "another DIR",
                             folder->path);
        /* Network filesystems may lock no folders (NFS wants them open for writing). Running
         * there without a lock is better than not running. */
        if (errno == EBADF || errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS)
            return 0;
        return error_set(error, ERROR_ENVIRONMENT, "%s: cannot lock the folder: %s", folder->path,
                         strerror(errno));
    }
    return 0;
}

static int make_folder(struct pool_folder *folder, struct error *error)
{
    folder->made = mkdirat(folder->parent, POOL_FOLDER, 0755) == 0;
    if (folder->made || errno == EEXIST)
        return 0;
    const char *advice = errno == ENOSPC || errno == EDQUOT ? "the drive is full: free some space"
                                                            : "choose a DIR that can be written to";
    return error_set(error, ERROR_ENVIRONMENT, "%s: cannot make the folder: %s; %s", folder->path,
                     strerror(errno), advice);
}

/* One try: 1 open and locked, 0 gone or replaced under our hands (errno says ENOENT when it was
 * not there at all), -1 an error. */
static int try_open(struct pool_folder *folder, bool create, struct error *error)
{
    if (create && make_folder(folder, error) != 0)
        return -1;
    folder->folder =
        openat(folder->parent, POOL_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->folder < 0) {
        if (errno == ENOENT)
            return 0;
        if (errno == ENOTDIR || errno == ELOOP)
            return error_set(error, ERROR_USAGE,
                             "%s: not a folder of trackramp's; move it away, or choose another DIR",
                             folder->path);
        error_set(error, ERROR_ENVIRONMENT, "%s: cannot open the folder: %s; choose another DIR",
                  folder->path, strerror(errno));
        if (folder->made)
            unlinkat(folder->parent, POOL_FOLDER, AT_REMOVEDIR);
        return -1;
    }
    if (lock_folder(folder, error) != 0)
        return -1;
    if (still_bears_its_name(folder))
        return 1;
    close(folder->folder);
    folder->folder = -1;
    errno = EAGAIN;
    return 0;
}

int pool_folder_open(struct pool_folder *folder, const char *directory, bool create,
                     struct error *error)
{
    *folder = (struct pool_folder){.parent = -1, .folder = -1};
    int found = open_parent(folder, directory, error);
    if (found == 0) {
        int tries = 0;
        do
            found = try_open(folder, create, error);
        while (found == 0 && (create || errno != ENOENT) && ++tries < OPEN_TRIES);
        if (found == 0 && tries == OPEN_TRIES)
            found =
                error_set(error, ERROR_ENVIRONMENT,
                          "%s: it keeps vanishing; is another program cleaning DIR?", folder->path);
    }
    if (found == 1 && !folder->made && !is_ours(folder))
        found = error_set(error, ERROR_USAGE,
                          "%s: not made by trackramp (it has no %s file); move it away, or choose "
                          "another DIR",
                          folder->path, POOL_MARKER_NAME);
    if (found != 1)
        pool_folder_close(folder);
    return found;
}

void pool_folder_close(struct pool_folder *folder)
{
    if (folder->folder >= 0)
        close(folder->folder);
    if (folder->parent >= 0)
        close(folder->parent);
    folder->folder = folder->parent = -1;
}

/* --- what lies in it ---------------------------------------------------------------------- */

uint32_t pool_folder_count(const struct pool_folder *folder, enum container container,
                           uint64_t file_bytes)
{
    for (uint32_t index = 0; index < POOL_TRACKS_MAX; index++) {
        char name[POOL_NAME_BYTES];
        struct stat status;
        pool_folder_track_name(name, container, index, false);
        if (fstatat(folder->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode) || (uint64_t)status.st_size != file_bytes)
            return index;
    }
    return POOL_TRACKS_MAX;
}

/* One pass over the folder; returns how many files went. */
static uint32_t trim_pass(const struct pool_folder *folder, DIR *entries, enum container container,
                          uint32_t keep, struct error *error)
{
    uint32_t removed = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        enum container of;
        uint32_t index;
        bool unfinished;
        if (!parse_track_name(entry->d_name, &of, &index, &unfinished) ||
            (of == container && !unfinished && index < keep))
            continue;
        if (unlinkat(folder->folder, entry->d_name, 0) == 0)
            removed++;
        else if (errno != ENOENT && errno != EISDIR) /* a folder of that name is not ours */
            error_set(error, ERROR_ENVIRONMENT, "%s/%s: cannot remove the test file: %s",
                      folder->path, entry->d_name, strerror(errno));
    }
    return removed;
}

int pool_folder_trim(const struct pool_folder *folder, enum container container, uint32_t keep,
                     uint32_t *removed, struct error *error)
{
    struct error local = {.kind = ERROR_NONE};
    uint32_t pass;
    *removed = 0;
    do { /* some filesystems skip entries while others are removed: look until nothing is left */
        DIR *entries = list(folder);
        if (entries == NULL)
            return error_set(error, ERROR_ENVIRONMENT, "%s: cannot list the folder: %s",
                             folder->path, strerror(errno));
        pass = trim_pass(folder, entries, container, keep, &local);
        closedir(entries);
        *removed += pass;
    } while (pass > 0);
    return local.kind == ERROR_NONE ? 0 : error_set(error, local.kind, "%s", local.text);
}

int pool_folder_remove(struct pool_folder *folder, uint32_t *files, struct error *error)
{
    if (pool_folder_trim(folder, CONTAINER_WAV, 0, files, error) != 0)
        return -1;
    if (holds_more_than_marker(folder))
        return 0;
    if ((unlinkat(folder->folder, POOL_MARKER_UNFINISHED, 0) != 0 && errno != ENOENT) ||
        (unlinkat(folder->folder, POOL_MARKER_NAME, 0) != 0 && errno != ENOENT) ||
        (unlinkat(folder->parent, POOL_FOLDER, AT_REMOVEDIR) != 0 && errno != ENOTEMPTY &&
         errno != EEXIST))
        return error_set(error, ERROR_ENVIRONMENT, "%s: cannot remove the folder: %s", folder->path,
                         strerror(errno));
    return 0;
}
