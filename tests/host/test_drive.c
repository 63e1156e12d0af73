#include "drive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "fakes/skip.h"

static struct drive drive;

/* The kernel's list read in the plainest way: type of the last mount on exactly this folder. */
static bool mounted_type(const char *folder, char type[64])
{
    FILE *file = fopen("/proc/self/mounts", "re");
    assert_non_null(file);
    char line[4096], at[1024], one[64];
    bool found = false;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%*s %1023s %63s", at, one) == 2 && strcmp(at, folder) == 0) {
            snprintf(type, 64, "%s", one);
            found = true;
        }
    }
    fclose(file);
    return found;
}

static void test_root_is_what_the_kernel_mounted(void **state)
{
    (void)state;
    char type[64];
    struct error error = {0};
    struct statvfs filesystem;
    assert_true(mounted_type("/", type));
    assert_int_equal(statvfs("/", &filesystem), 0);
    assert_int_equal(drive_describe(&drive, "/", &error), 0);
    assert_string_equal(drive.filesystem_type, type);
    assert_int_equal(drive.filesystem_block_bytes, filesystem.f_bsize);
    assert_true(strncmp(drive.filesystem_options, "rw", 2) == 0 ||
                strncmp(drive.filesystem_options, "ro", 2) == 0);
    if (drive.node[0] != '\0')
        assert_int_equal(strncmp(drive.node, "/dev/", 5), 0);
}

static void test_memory_has_no_drive(void **state)
{
    (void)state;
    char type[64];
    struct error error = {0};
    if (!mounted_type("/dev/shm", type) || strcmp(type, "tmpfs") != 0)
        SKIP("/dev/shm is no tmpfs here");
    assert_int_equal(drive_describe(&drive, "/dev/shm", &error), 0);
    assert_string_equal(drive.filesystem_type, "tmpfs");
    assert_string_equal(drive.node, "");
    assert_string_equal(drive.model, "");
    assert_int_equal(drive.rotational, -1);
    assert_int_equal(drive.stripe_bytes, 0);
}

static void test_no_folder_is_a_usage_error_that_names_it(void **state)
{
    (void)state;
    static const char *const cases[] = {"/nonexistent/folder", "/proc/self/mounts", ""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        assert_int_equal(drive_describe(&drive, cases[i], &error), -1);
        assert_int_equal(error.kind, ERROR_USAGE);
        assert_non_null(strstr(error.text, cases[i]));
        assert_null(strchr(error.text, '\n'));
    }
}

/* --- a drive of our own ---------------------------------------------------------------------- */

static char folder[64];    /* empty: there is none */
static char mount_at[80];  /* a filesystem on a loop device */
static char second_at[80]; /* the same once more, as a bind mount */
static char image_path[80];
static char loop_node[64];

/* The first line a command prints; whether it succeeded. */
static bool run(char *line, size_t line_bytes, const char *command)
{
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    line[0] = '\0';
    if (fgets(line, (int)line_bytes, pipe) != NULL)
        line[strcspn(line, "\n")] = '\0';
    char rest[256];
    while (fgets(rest, sizeof rest, pipe) != NULL)
        ;
    return pclose(pipe) == 0;
}

/* Undoes as much as was done; cmocka calls it whether the test passed or not. */
static int remove_loop(void **state)
{
    (void)state;
    umount2(second_at, MNT_DETACH);
    umount2(mount_at, MNT_DETACH);
    if (loop_node[0] != '\0') {
        char command[128], line[64];
        snprintf(command, sizeof command, "losetup --detach %s 2>&1", loop_node);
        run(line, sizeof line, command);
    }
    rmdir(second_at);
    rmdir(mount_at);
    unlink(image_path);
    rmdir(folder);
    loop_node[0] = '\0';
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(mount_at, sizeof mount_at, "%s/mount", folder);
    snprintf(second_at, sizeof second_at, "%s/again", folder);
    snprintf(image_path, sizeof image_path, "%s/image", folder);
    return mkdir(mount_at, 0700) == 0 && mkdir(second_at, 0700) == 0 ? 0 : -1;
}

/* False where this machine cannot. */
static bool mount_loop(const char *type, const char *mkfs)
{
    char command[512];
    snprintf(command, sizeof command,
             "truncate -s 200M %s && %s %s >/dev/null 2>&1 && losetup --find --show %s 2>/dev/null",
             image_path, mkfs, image_path, image_path);
    if (!run(loop_node, sizeof loop_node, command)) {
        loop_node[0] = '\0';
        return false;
    }
    return mount(loop_node, mount_at, type, 0, NULL) == 0 &&
           mount(mount_at, second_at, "none", MS_BIND, NULL) == 0;
}

static void check_loop(const char *type)
{
    char model[128];
    snprintf(model, sizeof model, "loop device on %s", image_path);
    const char *const places[] = {mount_at, second_at};
    for (int i = 0; i < 2; i++) {
        struct error error = {0};
        assert_int_equal(drive_describe(&drive, places[i], &error), 0);
        assert_string_equal(drive.filesystem_type, type);
        assert_string_equal(drive.node, loop_node);
        assert_string_equal(drive.model, model);
        assert_true(drive.rotational == 0 || drive.rotational == 1);
        assert_true(drive.read_ahead_bytes > 0);
        assert_int_equal(drive.stripe_bytes, 0);
    }
}

static void test_loop_device_names_its_file(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("only root can mount a loop device");
    if (!mount_loop("ext4", "mkfs.ext4 -q -b 1024"))
        SKIP("no loop device can be mounted here");
    check_loop("ext4");
    assert_int_equal(drive.filesystem_block_bytes, 1024);
}

/* Its folders have a device number that belongs to no device, and read-ahead of its own. */
static void test_btrfs_is_found_through_its_source(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("only root can mount a loop device");
    if (!mount_loop("btrfs", "mkfs.btrfs -q"))
        SKIP("no Btrfs can be mounted here");
    check_loop("btrfs");
    /* Btrfs reads 4 MiB ahead unless told otherwise; the loop device another amount. Which of
     * several Btrfs is ours, only its UUID would tell. */
    char line[64];
    if (run(line, sizeof line, "set -- /sys/class/bdi/btrfs-*; [ $# = 1 ] && cat $1/read_ahead_kb"))
        assert_int_equal(drive.read_ahead_bytes, strtoull(line, NULL, 10) * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root_is_what_the_kernel_mounted),
        cmocka_unit_test(test_memory_has_no_drive),
        cmocka_unit_test(test_no_folder_is_a_usage_error_that_names_it),
        cmocka_unit_test_setup_teardown(test_loop_device_names_its_file, make_folder, remove_loop),
        cmocka_unit_test_setup_teardown(test_btrfs_is_found_through_its_source, make_folder,
                                        remove_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
