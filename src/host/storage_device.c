#include "storage.h"

#include "storage_link.h"

#include <dirent.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * Block devices as /sys shows them, by number: /sys/dev/block/MAJOR:MINOR. From there the way down
 * goes to what a device is made of (`slaves`: RAID, volumes, encryption), and through a loop
 * device's file to the device that the file lies on.
 */

enum { DEEPEST = 8, SECTOR_BYTES = 512 /* of `stat`, whatever the drive's are */ };

/* The first line of a file in a device's folder. */
static bool read_line(const char *folder, const char *name, char *out, size_t out_bytes)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool read = fgets(out, (int)out_bytes, file) != NULL;
    fclose(file);
    if (read)
        out[strcspn(out, "\n")] = '\0';
    return read;
}

static bool read_device(const char *folder, const char *name, dev_t *device)
{
    char line[64];
    unsigned high, low;
    if (!read_line(folder, name, line, sizeof line) || sscanf(line, "%u:%u", &high, &low) != 2)
        return false;
    *device = makedev(high, low);
    return true;
}

/* The device's own folder; of the whole drive where it is a partition and `whole`. */
static bool find_folder(dev_t device, bool whole, char folder[PATH_MAX])
{
    char link[64], line[64];
    snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(device), minor(device));
    if (realpath(link, folder) == NULL)
        return false;
    if (whole && read_line(folder, "partition", line, sizeof line))
        *strrchr(folder, '/') = '\0';
    return true;
}

/* --- which -------------------------------------------------------------------------------- */

/* All devices of the Btrfs that `device` is one of: it lists them in a folder of its own. */
static void add_btrfs_members(struct storage_devices *devices, dev_t device)
{
    char folder[PATH_MAX], pattern[PATH_MAX + 64];
    glob_t found;
    if (!find_folder(device, false, folder))
        return;
    snprintf(pattern, sizeof pattern, "/sys/fs/btrfs/*/devices%s", strrchr(folder, '/'));
    if (glob(pattern, 0, NULL, &found) == 0) {
        *strrchr(found.gl_pathv[0], '/') = '\0';
        snprintf(pattern, sizeof pattern, "%s/*", found.gl_pathv[0]);
        globfree(&found);
        if (glob(pattern, 0, NULL, &found) == 0) {
            devices->count = 0;
            for (size_t i = 0; i < found.gl_pathc && devices->count < STORAGE_DEVICES_MAX; i++) {
                if (read_device(found.gl_pathv[i], "dev", &devices->devices[devices->count]))
                    devices->count++;
            }
        }
    }
    globfree(&found);
}

void storage_find_devices(struct storage_devices *devices, const char *directory,
                          const struct drive *drive)
{
    struct stat status;
    char folder[PATH_MAX];
    memset(devices, 0, sizeof *devices);
    /* The node before the folder's own number: Btrfs makes that one up. */
    if (drive->node[0] != '\0' && stat(drive->node, &status) == 0 && S_ISBLK(status.st_mode))
        devices->devices[0] = status.st_rdev;
    else if (stat(directory, &status) == 0)
        devices->devices[0] = status.st_dev;
    else
        return;
    if (!find_folder(devices->devices[0], false, folder))
        return;
    devices->count = 1;
    if (strcmp(drive->filesystem_type, "btrfs") == 0)
        add_btrfs_members(devices, devices->devices[0]);
}

/* --- counters ----------------------------------------------------------------------------- */

static bool count_device(dev_t device, struct storage_counters *counters)
{
    char folder[PATH_MAX], line[512];
    uint64_t reads, sectors, writes;
    /* A drive whose counting was switched off keeps its last figures. */
    if (!find_folder(device, true, folder) ||
        (read_line(folder, "queue/iostats", line, sizeof line) && line[0] == '0'))
        return false;
    if (!find_folder(device, false, folder) || !read_line(folder, "stat", line, sizeof line) ||
        sscanf(line, "%" SCNu64 " %*s %" SCNu64 " %*s %" SCNu64, &reads, &sectors, &writes) != 3)
        return false;
    counters->reads += reads;
    counters->bytes += sectors * SECTOR_BYTES;
    /* One that holds a mounted filesystem and has done nothing at all does not count. */
    return reads > 0 || writes > 0;
}

bool storage_count(const struct storage_devices *devices, struct storage_counters *counters)
{
    bool counted = devices->count > 0;
    memset(counters, 0, sizeof *counters);
    for (size_t i = 0; i < devices->count; i++)
        counted = count_device(devices->devices[i], counters) && counted;
    return counted;
}

/* --- below -------------------------------------------------------------------------------- */

struct descent {
    struct storage_below *below;
    bool link_unknown; /* of one of the drives */
};

/* Where the file of a loop device lies; false where it cannot be looked at from here. */
static bool find_backing(const char *path, dev_t *device, struct storage_below *below)
{
    struct stat status;
    struct statfs filesystem;
    if (stat(path, &status) != 0 || statfs(path, &filesystem) != 0)
        return false;
    if (filesystem.f_type == TMPFS_MAGIC || filesystem.f_type == RAMFS_MAGIC)
        snprintf(below->memory, sizeof below->memory, "%s",
                 filesystem.f_type == TMPFS_MAGIC ? "tmpfs" : "ramfs");
    *device = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
    return true;
}

static bool is_memory(const char *name)
{
    return strncmp(name, "zram", 4) == 0 ||
           (strncmp(name, "ram", 3) == 0 && name[3] >= '0' && name[3] <= '9');
}

/* The devices that the one with this folder is made of. */
static size_t list_parts(const char *folder, dev_t parts[STORAGE_DEVICES_MAX])
{
    char path[PATH_MAX + 64], part[PATH_MAX + 512];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/slaves", folder);
    DIR *entries = opendir(path);
    if (entries == NULL)
        return 0;
    for (struct dirent *entry; count < STORAGE_DEVICES_MAX && (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(part, sizeof part, "%s/%s", path, entry->d_name);
        if (read_device(part, "dev", &parts[count]))
            count++;
    }
    closedir(entries);
    return count;
}

static void descend(struct descent *descent, dev_t device, int depth)
{
    struct storage_below *below = descent->below;
    char folder[PATH_MAX], backing[PATH_MAX], line[16];
    dev_t parts[STORAGE_DEVICES_MAX];
    if (depth > DEEPEST || !find_folder(device, true, folder)) {
        descent->link_unknown = true;
        return;
    }
    const char *name = strrchr(folder, '/') + 1;
    size_t count = list_parts(folder, parts);
    if (read_line(folder, "loop/backing_file", backing, sizeof backing)) {
        if (!read_line(folder, "loop/dio", line, sizeof line) || line[0] != '1')
            snprintf(below->cached_loop, sizeof below->cached_loop, "%.31s", name);
        count = find_backing(backing, &parts[0], below) ? 1 : 0;
        descent->link_unknown = descent->link_unknown || count == 0;
    } else if (is_memory(name)) {
        snprintf(below->memory, sizeof below->memory, "%.31s", name);
    } else if (count == 0) {
        double link = storage_link_bytes_per_second(folder);
        below->link_bytes_per_second += link;
        descent->link_unknown = descent->link_unknown || link == 0;
    }
    for (size_t i = 0; i < count; i++)
        descend(descent, parts[i], depth + 1);
}

void storage_look_below(const struct storage_devices *devices, struct storage_below *below)
{
    struct descent descent = {.below = below};
    memset(below, 0, sizeof *below);
    for (size_t i = 0; i < devices->count; i++)
        descend(&descent, devices->devices[i], 0);
    if (descent.link_unknown)
        below->link_bytes_per_second = 0;
}
