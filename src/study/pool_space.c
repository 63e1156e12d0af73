#include "pool_space.h"

#include "units.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

/*
 * Space is judged once, at opening, when the files to be removed are gone and those kept count as
 * free: a tenth of that is the floor below which the drive is never filled. The limit keeps
 * another hundredth away from it for what the filesystem itself writes; the floor is checked
 * before each file, as others write too.
 *
 * A filesystem of no size at all (ramfs, some FUSE ones) does not tell; there the user's word
 * counts, and without one nothing is written.
 */

#define DEFAULT_LIMIT_BYTES (UINT64_C(16) << 30)

static int ask(const struct pool_folder *folder, bool *told, uint64_t *free_bytes,
               struct error *error)
{
    struct statvfs status;
    if (fstatvfs(folder->folder, &status) != 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: cannot ask for the free space: %s",
                         folder->path, strerror(errno));
    *told = status.f_blocks != 0;
    *free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
    return 0;
}

static uint64_t smaller(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

int pool_space_init(struct pool_space *space, const struct pool_folder *folder, uint64_t own_bytes,
                    uint64_t file_bytes, uint64_t wanted_bytes, struct error *error)
{
    bool told;
    uint64_t free_bytes;
    if (ask(folder, &told, &free_bytes, error) != 0)
        return -1;
    if (!told && wanted_bytes == 0)
        return error_set(error, ERROR_ENVIRONMENT,
                         "%s: the filesystem does not say how much space is free; say how much to "
                         "use with --pool-size",
                         folder->path);
    free_bytes += own_bytes;
    const uint64_t tenth_bytes = free_bytes / 10;
    const uint64_t most_bytes = free_bytes - tenth_bytes - free_bytes / 100;
    if (told && file_bytes > most_bytes) {
        char needed[32], there[32];
        return error_set(
            error, ERROR_ENVIRONMENT,
            "%s: the drive is full: one test file takes %s, and of the %s free a tenth "
            "must stay so; free some space or choose another DIR",
            folder->path, units_format_bytes(needed, sizeof needed, file_bytes),
            units_format_bytes(there, sizeof there, free_bytes));
    }
    if (wanted_bytes == 0)
        wanted_bytes = smaller(tenth_bytes, DEFAULT_LIMIT_BYTES);
    space->limit_bytes = told ? smaller(wanted_bytes, most_bytes) : wanted_bytes;
    if (space->limit_bytes < file_bytes)
        space->limit_bytes = file_bytes;
    space->floor_bytes = told ? tenth_bytes : 0;
    return 0;
}

int pool_space_check(const struct pool_space *space, const struct pool_folder *folder,
                     uint64_t bytes, struct error *error)
{
    bool told;
    uint64_t free_bytes;
    if (ask(folder, &told, &free_bytes, error) != 0)
        return -1;
    if (!told || free_bytes >= space->floor_bytes + bytes)
        return 0;
    char needed[32], there[32], stays[32];
    return error_set(error, ERROR_ENVIRONMENT,
                     "%s: the next test files take %s, but only %s are free now and %s must stay "
                     "so; free some space or ask for less with --pool-size",
                     folder->path, units_format_bytes(needed, sizeof needed, bytes),
                     units_format_bytes(there, sizeof there, free_bytes),
                     units_format_bytes(stays, sizeof stays, space->floor_bytes));
}
