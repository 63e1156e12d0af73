#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakes/skip.h"
#include "pool_fixture.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

/* On a small drive of our own: how much of it is taken, and what happens when it is full. */

enum { IMAGE_BYTES = 48 << 20 };

struct small_drive {
    struct fixture *fixture;
    char image[FIXTURE_PATH_BYTES];
    char mount_point[FIXTURE_PATH_BYTES];
    bool mounted;
};

static int run(const char *format, const char *first, const char *second)
{
    char command[4 * FIXTURE_PATH_BYTES];
    snprintf(command, sizeof command, format, first, second);
    return system(command);
}

static int setup_mount(void **state)
{
    void *fixture;
    struct small_drive *drive = calloc(1, sizeof *drive);
    if (drive == NULL || fixture_setup(&fixture) != 0)
        return -1;
    drive->fixture = fixture;
    *state = drive;
    const char *directory = drive->fixture->directory;
    snprintf(drive->mount_point, sizeof drive->mount_point, "%s/drive", directory);
    snprintf(drive->image, sizeof drive->image, "%s/image", directory);
    drive->fixture->options.directory = drive->mount_point;
    return mkdir(drive->mount_point, 0755);
}

static int setup_ext4(void **state)
{
    if (setup_mount(state) != 0)
        return -1;
    struct small_drive *drive = *state;
    int file = open(drive->image, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ready = file >= 0 && ftruncate(file, IMAGE_BYTES) == 0;
    if (file >= 0)
        close(file);
    drive->mounted =
        ready && geteuid() == 0 &&
        run("mkfs.ext4 -q -m 0 %1$s >/dev/null 2>&1 && mount -o loop %1$s %2$s 2>/dev/null",
            drive->image, drive->mount_point) == 0;
    if (drive->mounted) {
        char found[FIXTURE_PATH_BYTES + 16];
        snprintf(found, sizeof found, "%s/lost+found", drive->mount_point);
        rmdir(found);
    }
    return ready ? 0 : -1;
}

static int setup_ramfs(void **state)
{
    if (setup_mount(state) != 0)
        return -1;
    struct small_drive *drive = *state;
    drive->mounted = mount("none", drive->mount_point, "ramfs", 0, NULL) == 0;
    return 0;
}

static int teardown_mount(void **state)
{
    struct small_drive *drive = *state;
    int result = 0;
    pool_close(drive->fixture->pool, NULL); /* of a test that failed: it would hold the drive */
    drive->fixture->pool = NULL;
    if (drive->mounted && umount(drive->mount_point) != 0) {
        print_error("%s: %s\n", drive->mount_point, strerror(errno));
        result = -1;
    }
    if (unlink(drive->image) != 0 && errno != ENOENT)
        result = -1;
    rmdir(drive->mount_point);
    void *fixture = drive->fixture;
    free(drive);
    return fixture_teardown(&fixture) != 0 ? -1 : result;
}

static struct fixture *mounted(void **state)
{
    struct small_drive *drive = *state;
    if (!drive->mounted)
        SKIP("mounting a small drive takes root, mkfs.ext4 and loop devices");
    return drive->fixture;
}

static uint64_t free_bytes(const struct fixture *fixture)
{
    struct statvfs status;
    assert_int_equal(statvfs(fixture->options.directory, &status), 0);
    return (uint64_t)status.f_bavail * status.f_frsize;
}

/* Whether the drive is empty: what a run that failed must leave. */
static void assert_nothing_left(const struct fixture *fixture)
{
    assert_false(exists(fixture, ""));
}

static const char *ballast_path(const struct fixture *fixture, char out[FIXTURE_PATH_BYTES])
{
    snprintf(out, FIXTURE_PATH_BYTES, "%s/ballast", fixture->options.directory);
    return out;
}

/* Takes space away, as another program would: all but `left_bytes`. */
static void fill_drive(const struct fixture *fixture, uint64_t left_bytes)
{
    char path[FIXTURE_PATH_BYTES];
    int file = open(ballast_path(fixture, path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    for (uint64_t free_now = free_bytes(fixture); free_now > left_bytes;) {
        struct stat status;
        assert_int_equal(fstat(file, &status), 0);
        uint64_t more = free_now - left_bytes;
        if (posix_fallocate(file, status.st_size, more < 4096 ? 4096 : (off_t)more) != 0 &&
            posix_fallocate(file, status.st_size, 4096) != 0)
            break;
        free_now = free_bytes(fixture);
    }
    close(file);
}

static void empty_drive(const struct fixture *fixture)
{
    char path[FIXTURE_PATH_BYTES];
    assert_int_equal(unlink(ballast_path(fixture, path)), 0);
}

static void a_tenth_stays_free_whatever_is_asked(void **state)
{
    struct fixture *fixture = mounted(state);
    const uint64_t free_before = free_bytes(fixture);
    fixture->options.limit_bytes = UINT64_C(1) << 50;
    fixture->options.keep = true;
    open_pool(fixture);
    assert_true(pool_limit_bytes(fixture->pool) <= free_before - free_before / 10);
    assert_true(pool_limit_bytes(fixture->pool) >= free_before / 10 * 8);
    grow_pool(fixture, UINT32_MAX);
    const uint32_t files = pool_files(fixture->pool);
    assert_int_equal(files, pool_files_limit(fixture->pool));
    assert_true(files > 100);
    assert_true(free_bytes(fixture) >= free_before / 10);
    close_pool(fixture);
    /* Files that are used again count as free space: the next run may have as many. */
    fixture->options.keep = false;
    open_pool(fixture);
    assert_in_range(pool_files(fixture->pool), files - 2, files);
    close_pool(fixture);
    /* So do files that are replaced. */
    fixture->options.keep = true;
    open_pool(fixture);
    grow_pool(fixture, UINT32_MAX);
    close_pool(fixture);
    fixture->options.keep = false;
    fixture->options.seed++;
    open_pool(fixture);
    assert_int_equal(pool_files(fixture->pool), 0);
    assert_in_range(pool_files_limit(fixture->pool), files - 2, files + 2);
    grow_pool(fixture, UINT32_MAX);
    assert_true(free_bytes(fixture) >= free_before / 10);
    close_pool(fixture);
    assert_nothing_left(fixture);
}

static void the_default_is_a_tenth(void **state)
{
    struct fixture *fixture = mounted(state);
    const uint64_t free_before = free_bytes(fixture);
    fixture->options.limit_bytes = 0;
    open_pool(fixture);
    assert_in_range(pool_limit_bytes(fixture->pool), free_before / 10 - 65536, free_before / 10);
    grow_pool(fixture, UINT32_MAX);
    assert_true(pool_bytes(fixture->pool) <= free_before / 10);
    assert_true(free_bytes(fixture) >= free_before / 10 * 9 - (1 << 20));
    close_pool(fixture);
    fixture->options.min_file_bytes = free_before / 5; /* one file is allowed to be larger */
    open_pool(fixture);
    assert_int_equal(pool_files_limit(fixture->pool), 1);
    grow_pool(fixture, 5);
    assert_int_equal(pool_files(fixture->pool), 1);
    close_pool(fixture);
}

static void a_full_drive_is_told_and_left_as_it_was(void **state)
{
    struct fixture *fixture = mounted(state);
    fixture->options.min_file_bytes = free_bytes(fixture) / 100 * 95;
    assert_open_fails(fixture, ERROR_ENVIRONMENT, fixture->options.directory);
    assert_nothing_left(fixture);
    fixture->options.min_file_bytes = FIXTURE_FILE_BYTES;
    fill_drive(fixture, 0);
    assert_true(free_bytes(fixture) < FIXTURE_FILE_BYTES);
    assert_open_fails(fixture, ERROR_ENVIRONMENT, fixture->options.directory);
    assert_nothing_left(fixture);
    empty_drive(fixture);
}

static void space_that_others_took_stops_the_growing(void **state)
{
    struct fixture *fixture = mounted(state);
    const uint64_t free_before = free_bytes(fixture);
    fixture->options.limit_bytes = 20 << 20;
    open_pool(fixture);
    grow_pool(fixture, 2);
    fill_drive(fixture, free_before / 10 + (2 << 20));
    assert_int_equal(pool_grow(fixture->pool, 40, &fixture->error), -1);
    assert_error(fixture, ERROR_ENVIRONMENT, "--pool-size");
    assert_true(pool_files(fixture->pool) > 2);
    assert_true(free_bytes(fixture) >= free_before / 10);
    assert_false(exists(fixture, "track-000002.wav.part"));
    empty_drive(fixture);
    grow_pool(fixture, 40);
    assert_int_equal(pool_files(fixture->pool), 40);
    close_pool(fixture);
    assert_nothing_left(fixture);
}

/* Fills the drive once some bytes are written, with the file that is being written half way. */
static int fill_in_the_middle(void *user, uint64_t done_bytes, uint64_t wanted_bytes)
{
    struct fixture *fixture = user;
    (void)wanted_bytes;
    if (done_bytes >= 5 << 20)
        fill_drive(fixture, 0);
    return 0;
}

static void a_drive_that_fills_up_loses_only_the_file_at_fault(void **state)
{
    struct fixture *fixture = mounted(state);
    fixture->options.min_file_bytes = 3 << 20;
    fixture->options.limit_bytes = 20 << 20;
    fixture->options.progress = fill_in_the_middle;
    fixture->options.user = fixture;
    open_pool(fixture);
    assert_int_equal(pool_grow(fixture->pool, 4, &fixture->error), -1);
    assert_error(fixture, ERROR_ENVIRONMENT, "the drive is full");
    assert_int_equal(pool_files(fixture->pool), 1);
    assert_true(exists(fixture, "track-000000.wav"));
    assert_false(exists(fixture, "track-000001.wav"));
    assert_false(exists(fixture, "track-000001.wav.part"));
    close_pool(fixture);
    assert_nothing_left(fixture);
    empty_drive(fixture);
}

static void a_read_only_drive_is_told(void **state)
{
    struct fixture *fixture = mounted(state);
    uint32_t files;
    fixture->options.keep = true;
    open_pool(fixture);
    grow_pool(fixture, 1);
    close_pool(fixture);
    const char *directory = fixture->options.directory;
    assert_int_equal(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_open_fails(fixture, ERROR_ENVIRONMENT, "Read-only");
    assert_int_equal(pool_clean(directory, &files, &fixture->error), -1);
    assert_error(fixture, ERROR_ENVIRONMENT, "Read-only");
    assert_int_equal(mount(NULL, directory, NULL, MS_REMOUNT, NULL), 0);
    assert_int_equal(pool_clean(directory, &files, &fixture->error), 0);
    assert_int_equal(files, 1);
    assert_int_equal(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_open_fails(fixture, ERROR_ENVIRONMENT, "Read-only");
    assert_nothing_left(fixture);
}

/* ramfs tells no size, and has no direct reads. */
static void a_filesystem_that_tells_nothing_takes_the_users_word(void **state)
{
    struct small_drive *drive = *state;
    struct fixture *fixture = drive->fixture;
    if (!drive->mounted)
        SKIP("mounting a ramfs takes root");
    fixture->options.limit_bytes = 0;
    assert_open_fails(fixture, ERROR_ENVIRONMENT, "--pool-size");
    assert_nothing_left(fixture);
    fixture->options.limit_bytes = 1 << 20;
    open_pool(fixture);
    assert_int_equal(pool_files_limit(fixture->pool), 3);
    grow_pool(fixture, 2);
    int file = pool_open_file(fixture->pool, 0, false, &fixture->error);
    assert_true(file >= 0);
    close(file);
    file = pool_open_file(fixture->pool, 0, true, &fixture->error);
    if (file >= 0) /* a kernel that allows it there */
        close(file);
    else
        assert_error(fixture, ERROR_ENVIRONMENT, "--io buffered");
    double resident; /* nothing leaves memory here, and that must be seen */
    assert_int_equal(pool_evict(fixture->pool, &resident, &fixture->error), 0);
    assert_true(resident == 1 || resident == -1);
    close_pool(fixture);
    assert_nothing_left(fixture);
}

#define MOUNT_TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, teardown_mount)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MOUNT_TEST(a_tenth_stays_free_whatever_is_asked, setup_ext4),
        MOUNT_TEST(the_default_is_a_tenth, setup_ext4),
        MOUNT_TEST(a_full_drive_is_told_and_left_as_it_was, setup_ext4),
        MOUNT_TEST(space_that_others_took_stops_the_growing, setup_ext4),
        MOUNT_TEST(a_drive_that_fills_up_loses_only_the_file_at_fault, setup_ext4),
        MOUNT_TEST(a_read_only_drive_is_told, setup_ext4),
        MOUNT_TEST(a_filesystem_that_tells_nothing_takes_the_users_word, setup_ramfs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
