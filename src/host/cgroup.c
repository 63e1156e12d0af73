#include "cgroup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A group may be limited itself or through any group above it, so every level from the process's
 * own up to the root is asked, and the least answer counts. Inside a container the path in
 * /proc/self/cgroup may be the host's and not exist here; the walk up then ends at the mount's
 * root, which is the container's own group.
 *
 * Usage counts the page cache, which the kernel gives back when asked: clean file pages are added
 * to what is left. A program that has just written its test files would else see no room at all.
 */

/* The names of one version's files. */
struct version {
    const char *limits[2]; /* either may be NULL */
    const char *usage;
    const char *file_pages[2]; /* lines of memory.stat, with all groups below */
};

static const struct version version_1 = {
    .limits = {"memory.limit_in_bytes", NULL},
    .usage = "memory.usage_in_bytes",
    .file_pages = {"total_inactive_file", "total_active_file"},
};

/* Beyond memory.high a process is slowed down until it is of no use for measuring. */
static const struct version version_2 = {
    .limits = {"memory.max", "memory.high"},
    .usage = "memory.current",
    .file_pages = {"inactive_file", "active_file"},
};

static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return NULL;
    return fopen(path, "re");
}

/* Reads the one number of a file; `otherwise` where there is no file, or the word `max` in it. */
static uint64_t read_number(const char *folder, const char *name, uint64_t otherwise)
{
    FILE *file = name != NULL ? open_in(folder, name) : NULL;
    uint64_t value;
    if (file == NULL)
        return otherwise;
    if (fscanf(file, "%" SCNu64, &value) != 1)
        value = otherwise;
    fclose(file);
    return value;
}

static uint64_t file_pages_bytes(const char *folder, const struct version *version)
{
    FILE *file = open_in(folder, "memory.stat");
    if (file == NULL)
        return 0;
    uint64_t sum = 0, value;
    char name[64];
    while (fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
        if (strcmp(name, version->file_pages[0]) == 0 || strcmp(name, version->file_pages[1]) == 0)
            sum += value;
    }
    fclose(file);
    return sum;
}

/* What one group still allows. Version 1 says `no limit` with a number near 2^63. */
static uint64_t group_available_bytes(const char *folder, const struct version *version)
{
    uint64_t limit = UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        uint64_t one = read_number(folder, version->limits[i], UINT64_MAX);
        limit = one < limit ? one : limit;
    }
    if (limit >= UINT64_MAX / 4)
        return UINT64_MAX;
    uint64_t usage = read_number(folder, version->usage, 0);
    uint64_t reclaimable = file_pages_bytes(folder, version);
    usage = usage > reclaimable ? usage - reclaimable : 0;
    return limit > usage ? limit - usage : 0;
}

/* The least that the group at `mount` + `path` and those above it allow. Cuts `path` down. */
static uint64_t walk_up(const char *mount, char *path, const struct version *version)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char folder[4096];
        if ((size_t)snprintf(folder, sizeof folder, "%s%s", mount, path) < sizeof folder) {
            uint64_t one = group_available_bytes(folder, version);
            least = one < least ? one : least;
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

/* Whether `name` stands in a list separated by commas. */
static bool list_has(char *list, const char *name)
{
    char *rest = NULL;
    for (char *item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        if (strcmp(item, name) == 0)
            return true;
    }
    return false;
}

/* One line of the membership file: `number:controllers:path`; version 2 names no controllers. */
static uint64_t line_available_bytes(char *line, const char *root)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL)
        return UINT64_MAX;
    *controllers++ = '\0';
    *path++ = '\0';
    if (*controllers == '\0')
        return walk_up(root, path, &version_2);
    if (!list_has(controllers, "memory"))
        return UINT64_MAX;
    char mount[4096];
    snprintf(mount, sizeof mount, "%s/memory", root);
    return walk_up(mount, path, &version_1);
}

uint64_t cgroup_available_bytes(const char *membership, const char *root)
{
    FILE *file = fopen(membership, "re");
    if (file == NULL)
        return UINT64_MAX;
    uint64_t least = UINT64_MAX;
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, file) > 0) {
        uint64_t one = line_available_bytes(line, root);
        least = one < least ? one : least;
    }
    free(line);
    fclose(file);
    return least;
}
