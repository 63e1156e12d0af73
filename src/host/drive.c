#include "drive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <libmount.h>
#include <libudev.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

/*
 * From a folder down to the drive, each step by the kernel's own numbers where it gives them:
 * folder -> mount (by mount number, so that bind mounts and mounts on top of mounts are told
 * apart) -> block device (by the mount's source, because Btrfs and ZFS hand out device numbers
 * that belong to no device; by the folder's device number where the source is no device node) ->
 * whole disk (a partition's parent) -> through encryption and volume managers to the one disk
 * below, or to the point where several lie side by side, which is where a stripe is.
 *
 * libmount and libudev are named in this file only. Neither needs a running daemon: without
 * udev's database the answers come from /sys.
 */

static void copy_text(char *out, size_t out_bytes, const char *text)
{
    snprintf(out, out_bytes, "%s", text != NULL ? text : "");
}

/* --- the mount ------------------------------------------------------------------------------ */

/* The mount with the number that the kernel gives for `path`; NULL where it gives none (before
 * Linux 5.8) or where the mount is outside this process's view. */
static struct libmnt_fs *find_mount_by_id(struct libmnt_table *table, const char *path)
{
    struct statx status;
    if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) != 0 ||
        (status.stx_mask & STATX_MNT_ID) == 0)
        return NULL;
    struct libmnt_fs *found = NULL, *fs;
    struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_BACKWARD);
    while (iterator != NULL && found == NULL && mnt_table_next_fs(table, iterator, &fs) == 0) {
        if ((uint64_t)mnt_fs_get_id(fs) == status.stx_mnt_id)
            found = fs;
    }
    mnt_free_iter(iterator);
    return found;
}

/* The mount that the path's spelling leads to. */
static struct libmnt_fs *find_mount_by_path(struct libmnt_table *table, const char *path)
{
    char *whole = realpath(path, NULL);
    struct libmnt_fs *fs =
        whole != NULL ? mnt_table_find_mountpoint(table, whole, MNT_ITER_BACKWARD) : NULL;
    free(whole);
    return fs;
}

/*
 * Type and options into `drive`. When the source is a device node: its path as the node, its
 * number into `device`.
 */
static void describe_mount(struct drive *drive, const char *path, dev_t *device)
{
    struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
    if (table == NULL)
        return;
    struct libmnt_fs *fs = find_mount_by_id(table, path);
    if (fs == NULL)
        fs = find_mount_by_path(table, path);
    if (fs != NULL) {
        copy_text(drive->filesystem_type, sizeof drive->filesystem_type, mnt_fs_get_fstype(fs));
        copy_text(drive->filesystem_options, sizeof drive->filesystem_options,
                  mnt_fs_get_options(fs));
        const char *source = mnt_fs_get_source(fs);
        struct stat status;
        if (source != NULL && stat(source, &status) == 0 && S_ISBLK(status.st_mode)) {
            copy_text(drive->node, sizeof drive->node, source);
            *device = status.st_rdev;
        }
    }
    mnt_unref_table(table);
}

/* --- the block device ----------------------------------------------------------------------- */

/* A number from /sys, or `otherwise`. */
static int64_t device_number(struct udev_device *device, const char *name, int64_t otherwise)
{
    const char *text = udev_device_get_sysattr_value(device, name);
    int64_t value;
    return text != NULL && sscanf(text, "%" SCNd64, &value) == 1 ? value : otherwise;
}

/* Takes the reference to `device` and returns one to the whole disk it is on: itself unless it is
 * a partition. */
static struct udev_device *to_whole_disk(struct udev_device *device)
{
    const char *type = udev_device_get_devtype(device);
    if (type == NULL || strcmp(type, "partition") != 0)
        return device;
    /* The parent belongs to the child and would go with it. */
    struct udev_device *disk =
        udev_device_ref(udev_device_get_parent_with_subsystem_devtype(device, "block", "disk"));
    if (disk == NULL)
        return device;
    udev_device_unref(device);
    return disk;
}

/* How many devices `device` is made of (0 for a real drive), and the name of one of them. */
static unsigned count_parts(struct udev_device *device, char *name, size_t name_bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/slaves", udev_device_get_syspath(device));
    DIR *folder = opendir(path);
    if (folder == NULL)
        return 0;
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        copy_text(name, name_bytes, entry->d_name);
        count++;
    }
    closedir(folder);
    return count;
}

/* Takes the reference to a whole disk and returns one to the disk below it, as far down as there
 * is exactly one below; `parts` says how many the last is made of. */
static struct udev_device *to_lowest(struct udev_device *disk, unsigned *parts)
{
    enum { DEEPEST = 16 };
    for (int depth = 0; depth < DEEPEST; depth++) {
        char name[256];
        *parts = count_parts(disk, name, sizeof name);
        if (*parts != 1)
            break;
        struct udev_device *below =
            udev_device_new_from_subsystem_sysname(udev_device_get_udev(disk), "block", name);
        if (below == NULL)
            break;
        udev_device_unref(disk);
        disk = to_whole_disk(below);
    }
    return disk;
}

/* Copies a model name: blanks around it off, and the underscores that udev puts for blanks. */
static void copy_model(char *out, size_t out_bytes, const char *text, bool underscores)
{
    copy_text(out, out_bytes, text + strspn(text, " "));
    size_t length = strlen(out);
    while (length > 0 && strchr(" \n_", out[length - 1]) != NULL)
        out[--length] = '\0';
    for (char *c = out; underscores && *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

static void describe_model(struct drive *drive, struct udev_device *lowest, unsigned parts)
{
    char *out = drive->model;
    size_t out_bytes = sizeof drive->model;
    const char *text;
    if (parts > 1) {
        const char *level = udev_device_get_sysattr_value(lowest, "md/level");
        snprintf(out, out_bytes, "%s%s%u drives", level != NULL ? level : "",
                 level != NULL ? " of " : "", parts);
    } else if ((text = udev_device_get_sysattr_value(lowest, "loop/backing_file")) != NULL) {
        snprintf(out, out_bytes, "loop device on %s", text);
    } else if ((text = udev_device_get_property_value(lowest, "ID_MODEL")) != NULL) {
        /* Before /sys: there, the SCSI layer cuts it to 16 characters. */
        copy_model(out, out_bytes, text, true);
    } else if ((text = udev_device_get_sysattr_value(lowest, "device/model")) != NULL ||
               (text = udev_device_get_sysattr_value(lowest, "device/name")) != NULL) {
        copy_model(out, out_bytes, text, false);
    }
}

/* A single drive names an optimal size too, at times; only drives side by side have a stripe. */
static void describe_stripe(struct drive *drive, struct udev_device *lowest, unsigned parts)
{
    int64_t unit = device_number(lowest, "queue/minimum_io_size", 0);
    int64_t whole = device_number(lowest, "queue/optimal_io_size", 0);
    if (parts > 1 && unit > 0 && unit < whole) {
        drive->stripe_unit_bytes = (uint64_t)unit;
        drive->stripe_bytes = (uint64_t)whole;
    }
}

/* --- read-ahead ----------------------------------------------------------------------------- */

static bool read_kib(const char *path, uint64_t *bytes)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    uint64_t kib;
    bool read = fscanf(file, "%" SCNu64, &kib) == 1;
    fclose(file);
    if (read)
        *bytes = kib * 1024;
    return read;
}

/* Btrfs lists each filesystem by its UUID, with links to its devices. */
static bool read_btrfs_read_ahead(const char *device_name, uint64_t *bytes)
{
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "/sys/fs/btrfs/*/devices/%s", device_name);
    glob_t found;
    bool read = false;
    if (glob(pattern, 0, NULL, &found) == 0) {
        /* Not `..`: it would follow the link. */
        char *end = strstr(found.gl_pathv[0], "/devices/");
        char path[4096];
        snprintf(path, sizeof path, "%.*s/bdi/read_ahead_kb", (int)(end - found.gl_pathv[0]),
                 found.gl_pathv[0]);
        read = read_kib(path, bytes);
    }
    globfree(&found);
    return read;
}

/*
 * The read-ahead of the filesystem, which need not be the disk's: Btrfs and FUSE set their own.
 * Each names its place in /sys in its own way; an ordinary filesystem uses its disk's.
 */
static void describe_read_ahead(struct drive *drive, dev_t folder_device, struct udev_device *node)
{
    char path[4096];
    snprintf(path, sizeof path, "/sys/class/bdi/%u:%u-fuseblk/read_ahead_kb", major(folder_device),
             minor(folder_device));
    if (read_kib(path, &drive->read_ahead_bytes))
        return;
    if (node != NULL && strcmp(drive->filesystem_type, "btrfs") == 0 &&
        read_btrfs_read_ahead(udev_device_get_sysname(node), &drive->read_ahead_bytes))
        return;
    snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(folder_device),
             minor(folder_device));
    read_kib(path, &drive->read_ahead_bytes);
}

/* -------------------------------------------------------------------------------------------- */

/* All that /sys and udev say about block device number `device`. */
static void describe_device(struct drive *drive, struct udev *udev, dev_t device,
                            dev_t folder_device)
{
    struct udev_device *node = udev_device_new_from_devnum(udev, 'b', device);
    describe_read_ahead(drive, folder_device, node);
    if (node == NULL)
        return;
    if (drive->node[0] == '\0')
        copy_text(drive->node, sizeof drive->node, udev_device_get_devnode(node));
    struct udev_device *disk = to_whole_disk(node);
    drive->rotational = (int)device_number(disk, "queue/rotational", -1);
    if (drive->read_ahead_bytes == 0)
        drive->read_ahead_bytes = (uint64_t)device_number(disk, "queue/read_ahead_kb", 0) * 1024;
    unsigned parts = 0;
    struct udev_device *lowest = to_lowest(disk, &parts);
    describe_model(drive, lowest, parts);
    describe_stripe(drive, lowest, parts);
    udev_device_unref(lowest);
}

int drive_describe(struct drive *drive, const char *path, struct error *error)
{
    memset(drive, 0, sizeof *drive);
    drive->rotational = -1;
    struct stat folder;
    struct statvfs filesystem;
    if (stat(path, &folder) != 0 || statvfs(path, &filesystem) != 0)
        return error_set(error, ERROR_USAGE, "%s: %s; name a folder on the drive to be measured",
                         path, strerror(errno));
    if (!S_ISDIR(folder.st_mode))
        return error_set(error, ERROR_USAGE,
                         "%s is not a folder; name a folder on the drive to be measured", path);
    drive->filesystem_block_bytes = (uint32_t)filesystem.f_bsize;
    dev_t device = folder.st_dev;
    describe_mount(drive, path, &device);
    struct udev *udev = udev_new();
    if (udev != NULL)
        describe_device(drive, udev, device, folder.st_dev);
    udev_unref(udev);
    return 0;
}
