#include "storage.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fakes/skip.h"

enum { FILE_BYTES = 1 << 20, PIECE_BYTES = 64 << 10 };

/* A folder with a place to mount a drive at, and the drive's image; gone after each test. */
static char folder[64], place[96], image[96], node[64];

static bool run(const char *command)
{
    return system(command) == 0;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/var/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(place, sizeof place, "%s/mnt", folder);
    snprintf(image, sizeof image, "%s/image", folder);
    node[0] = '\0';
    return mkdir(place, 0700);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[256];
    umount(place);
    snprintf(command, sizeof command, "losetup -d %s", node);
    int result = node[0] == '\0' || run(command) ? 0 : -1;
    snprintf(command, sizeof command, "rm -rf --one-file-system %s", folder);
    return run(command) ? result : -1;
}

/* The image at `path` as a loop device, made into a drive and mounted; false where that cannot be
 * done here. */
static bool mount_drive(const char *path, bool direct, const char *type, const char *options)
{
    char command[512];
    snprintf(command, sizeof command,
             "truncate -s 200M %s && mkfs.%s -q %s >/dev/null 2>&1 && "
             "losetup --find --show --direct-io=%s %s 2>/dev/null",
             path, type, path, direct ? "on" : "off", path);
    FILE *output = popen(command, "re");
    assert_non_null(output);
    bool made = fscanf(output, "%63s", node) == 1;
    made = pclose(output) == 0 && made;
    if (!made)
        node[0] = '\0';
    return made && mount(node, place, type, 0, options) == 0;
}

/* A piece that no filesystem can compress, another one each time; and one that it can. */
static const unsigned char *noise(void)
{
    static unsigned char piece[PIECE_BYTES];
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, piece, sizeof piece), sizeof piece);
    close(file);
    return piece;
}

static const unsigned char *letters(void)
{
    static unsigned char piece[PIECE_BYTES];
    memset(piece, 'a', sizeof piece);
    return piece;
}

/* A file of FILE_BYTES in the folder `in`: every `step`-th piece is written, none for NULL; synced.
 */
static int make_file(const char *in, const unsigned char *(*piece)(void), int step)
{
    char path[128];
    snprintf(path, sizeof path, "%s/file", in);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, FILE_BYTES), 0);
    for (int at = 0; piece != NULL && at < FILE_BYTES; at += step * PIECE_BYTES)
        assert_int_equal(pwrite(file, piece(), PIECE_BYTES, at), PIECE_BYTES);
    assert_int_equal(fsync(file), 0);
    return file;
}

/* --- files -------------------------------------------------------------------------------- */

/* Looks at the file, twice into the same sum, and closes it. */
static struct storage_extents look(int file)
{
    struct storage_extents sum = {0}, once = {0};
    if (!storage_add_extents(file, FILE_BYTES, &once)) {
        close(file);
        SKIP("this filesystem has no map of its files");
    }
    sum = once;
    assert_true(storage_add_extents(file, FILE_BYTES, &sum));
    assert_int_equal(once.file_bytes, FILE_BYTES);
    assert_int_equal(sum.file_bytes, 2 * once.file_bytes);
    assert_int_equal(sum.hole_bytes, 2 * once.hole_bytes);
    assert_int_equal(sum.unwritten_bytes, 2 * once.unwritten_bytes);
    assert_int_equal(sum.compressed_bytes, 2 * once.compressed_bytes);
    close(file);
    return once;
}

static void test_written_files_are_data(void **state)
{
    (void)state;
    struct storage_extents extents = look(make_file(folder, noise, 1));
    assert_int_equal(extents.hole_bytes + extents.unwritten_bytes, 0);
    assert_int_equal(extents.compressed_bytes + extents.inline_bytes, 0);
}

static void test_holes_are_found(void **state)
{
    (void)state;
    assert_int_equal(look(make_file(folder, NULL, 1)).hole_bytes, FILE_BYTES);
    /* The last hole reaches the end of the file. */
    assert_int_equal(look(make_file(folder, noise, 2)).hole_bytes, FILE_BYTES / 2);
    assert_int_equal(look(make_file(folder, noise, 16)).hole_bytes, FILE_BYTES - PIECE_BYTES);
}

static void test_space_never_written_is_found(void **state)
{
    (void)state;
    int file = make_file(folder, NULL, 1);
    if (fallocate(file, 0, 0, FILE_BYTES + PIECE_BYTES) != 0) {
        close(file);
        SKIP("this filesystem cannot reserve space");
    }
    /* What is reserved behind its end is none of the file. */
    assert_int_equal(ftruncate(file, FILE_BYTES), 0);
    assert_int_equal(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, FILE_BYTES + PIECE_BYTES), 0);
    assert_int_equal(pwrite(file, noise(), PIECE_BYTES, PIECE_BYTES), PIECE_BYTES);
    assert_int_equal(fsync(file), 0);
    struct storage_extents extents = look(file);
    assert_int_equal(extents.unwritten_bytes, FILE_BYTES - PIECE_BYTES);
    assert_int_equal(extents.hole_bytes, 0);
}

/* More pieces than are asked for at once. */
static void test_many_extents_add_up(void **state)
{
    (void)state;
    enum { BLOCK_BYTES = 4096 };
    int file = make_file(folder, NULL, 1);
    for (int at = 0; at < FILE_BYTES; at += 2 * BLOCK_BYTES)
        assert_int_equal(pwrite(file, noise(), BLOCK_BYTES, at), BLOCK_BYTES);
    assert_int_equal(fsync(file), 0);
    struct storage_extents extents = look(file);
    if (extents.hole_bytes == 0)
        SKIP("this filesystem has larger blocks");
    assert_int_equal(extents.hole_bytes, FILE_BYTES / 2);
}

static void test_btrfs_compression_is_found(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("only root can mount a drive");
    if (!mount_drive(image, true, "btrfs", "compress-force=zstd"))
        SKIP("no Btrfs can be mounted here");
    assert_int_equal(look(make_file(place, letters, 1)).compressed_bytes, FILE_BYTES);
    /* What cannot be compressed is stored as it is, even there. */
    assert_int_equal(look(make_file(place, noise, 1)).compressed_bytes, 0);
}

static void test_alignment_is_what_the_kernel_says(void **state)
{
    (void)state;
    int file = make_file(folder, noise, 1);
    int64_t align = storage_direct_align_bytes(file);
    close(file);
    assert_true(align >= -1);
    if (align > 0)
        assert_int_equal(align & (align - 1), 0);
    if (geteuid() != 0)
        SKIP("only root can mount a drive");
    if (!mount_drive(image, true, "ext4", "data=journal"))
        SKIP("no ext4 can be mounted here");
    file = make_file(place, noise, 1);
    int64_t journaled = storage_direct_align_bytes(file);
    close(file);
    assert_true(journaled == 0 || (journaled == -1 && align == -1));
}

/* --- devices ------------------------------------------------------------------------------ */

static void find(struct storage_devices *devices, const char *in)
{
    struct drive drive;
    struct error error = {0};
    assert_int_equal(drive_describe(&drive, in, &error), 0);
    storage_find_devices(devices, in, &drive);
}

static dev_t number_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_rdev;
}

static void test_memory_has_no_device(void **state)
{
    (void)state;
    struct storage_devices devices;
    struct storage_counters counters = {1, 1};
    struct storage_below below;
    struct drive drive = {.filesystem_type = "tmpfs"};
    storage_find_devices(&devices, "/proc", &drive);
    assert_int_equal(devices.count, 0);
    assert_false(storage_count(&devices, &counters));
    assert_int_equal(counters.bytes, 0);
    storage_look_below(&devices, &below);
    assert_string_equal(below.cached_loop, "");
    assert_true(below.link_bytes_per_second == 0);
}

/* Direct reads, none of which the device may leave out. */
static void test_reads_are_counted(void **state)
{
    (void)state;
    struct storage_devices devices;
    struct storage_counters before, after;
    if (geteuid() != 0)
        SKIP("only root can mount a drive");
    if (!mount_drive(image, true, "ext4", NULL))
        SKIP("no ext4 can be mounted here");
    char path[128];
    unsigned char *buffer = aligned_alloc(4096, PIECE_BYTES);
    close(make_file(place, noise, 1));
    snprintf(path, sizeof path, "%s/file", place);
    int file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    find(&devices, place);
    assert_int_equal(devices.count, 1);
    assert_int_equal(devices.devices[0], number_of(node));
    assert_true(storage_count(&devices, &before));
    for (int at = 0; at < FILE_BYTES; at += PIECE_BYTES)
        assert_int_equal(pread(file, buffer, PIECE_BYTES, at), PIECE_BYTES);
    assert_true(storage_count(&devices, &after));
    assert_in_range(after.bytes - before.bytes, FILE_BYTES, 2 * FILE_BYTES);
    assert_in_range(after.reads - before.reads, FILE_BYTES / PIECE_BYTES, FILE_BYTES / 512);
    free(buffer);
    close(file);
}

static void check_loop(bool direct)
{
    struct storage_devices devices;
    struct storage_below below;
    if (geteuid() != 0)
        SKIP("only root can mount a drive");
    if (!mount_drive(image, direct, "ext4", NULL))
        SKIP("no ext4 can be mounted here");
    find(&devices, place);
    storage_look_below(&devices, &below);
    assert_string_equal(below.cached_loop, direct ? "" : node + strlen("/dev/"));
    assert_string_equal(below.memory, "");
}

static void test_loop_past_the_cache(void **state)
{
    (void)state;
    check_loop(true);
}

static void test_loop_through_the_cache(void **state)
{
    (void)state;
    check_loop(false);
}

static void test_loop_on_memory(void **state)
{
    (void)state;
    struct storage_devices devices;
    struct storage_below below;
    char path[128];
    if (geteuid() != 0)
        SKIP("only root can mount a drive");
    if (mount("none", folder, "tmpfs", 0, NULL) != 0)
        SKIP("no tmpfs can be mounted here");
    snprintf(path, sizeof path, "%s/image", folder);
    assert_int_equal(mkdir(place, 0700), 0);
    bool mounted = mount_drive(path, false, "ext4", NULL);
    if (mounted) {
        find(&devices, place);
        storage_look_below(&devices, &below);
        umount(place);
    }
    char command[128];
    snprintf(command, sizeof command, "losetup -d %s", node);
    assert_true(node[0] == '\0' || run(command));
    node[0] = '\0';
    umount2(folder, MNT_DETACH);
    if (!mounted)
        SKIP("no ext4 can be mounted here");
    assert_string_equal(below.memory, "tmpfs");
}

static void test_btrfs_counts_all_its_devices(void **state)
{
    (void)state;
    struct storage_devices devices;
    char command[512], second[64] = "";
    if (geteuid() != 0)
        SKIP("only root can mount a drive");
    if (!mount_drive(image, true, "btrfs", NULL))
        SKIP("no Btrfs can be mounted here");
    find(&devices, place);
    assert_int_equal(devices.count, 1);
    snprintf(command, sizeof command,
             "truncate -s 200M %s2 && n=$(losetup --find --show %s2) && echo $n && "
             "btrfs device add -f $n %s >/dev/null 2>&1",
             image, image, place);
    FILE *output = popen(command, "re");
    bool made = fscanf(output, "%63s", second) == 1;
    made = pclose(output) == 0 && made;
    find(&devices, place);
    umount(place);
    snprintf(command, sizeof command, "losetup -d %s", second);
    assert_true(second[0] == '\0' || run(command));
    if (!made)
        SKIP("no device can be added to a Btrfs here");
    assert_int_equal(devices.count, 2);
    assert_true(devices.devices[0] == number_of(node) || devices.devices[1] == number_of(node));
    assert_true(devices.devices[0] != devices.devices[1]);
}

#define STORAGE_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORAGE_TEST(test_written_files_are_data),
        STORAGE_TEST(test_holes_are_found),
        STORAGE_TEST(test_space_never_written_is_found),
        STORAGE_TEST(test_many_extents_add_up),
        STORAGE_TEST(test_btrfs_compression_is_found),
        STORAGE_TEST(test_alignment_is_what_the_kernel_says),
        STORAGE_TEST(test_memory_has_no_device),
        STORAGE_TEST(test_reads_are_counted),
        STORAGE_TEST(test_loop_past_the_cache),
        STORAGE_TEST(test_loop_through_the_cache),
        STORAGE_TEST(test_loop_on_memory),
        STORAGE_TEST(test_btrfs_counts_all_its_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
