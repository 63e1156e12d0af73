#include "study/pool_cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fakes/skip.h"

/* What is cached of files that are kept warm on purpose, and of files that are not ours. */

enum { FILE_BYTES = 1 << 20, PAGE_BYTES = 4096, NOBODY = 65534, UNKNOWN = -1 };

static char folder[64], place[96];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/var/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0)
        return -1;
    snprintf(place, sizeof place, "%s/overlay", folder);
    return mkdir(place, 0755);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    umount(place);
    snprintf(command, sizeof command, "rm -rf --one-file-system %s", folder);
    return system(command);
}

/* A file on the drive, nothing of it cached. */
static int make_file(const char *in)
{
    static unsigned char content[FILE_BYTES];
    char path[128];
    memset(content, 'a', sizeof content);
    snprintf(path, sizeof path, "%s/file", in);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, sizeof content), sizeof content);
    assert_int_equal(fsync(file), 0);
    pool_cache_drop(file);
    return file;
}

static void warm_up(int file)
{
    static unsigned char content[FILE_BYTES];
    assert_int_equal(pread(file, content, sizeof content, 0), sizeof content);
}

/* Cold, warm, and cold again. */
static void check_own_file(const char *in)
{
    int file = make_file(in);
    int64_t cold = pool_cache_resident_bytes(file, FILE_BYTES);
    warm_up(file);
    int64_t warm = pool_cache_resident_bytes(file, FILE_BYTES);
    pool_cache_drop(file);
    int64_t again = pool_cache_resident_bytes(file, FILE_BYTES);
    close(file);
    if (cold == UNKNOWN && warm == UNKNOWN)
        SKIP("this filesystem does not tell what is cached");
    assert_int_equal(cold, 0);
    assert_int_equal(warm, FILE_BYTES);
    assert_int_equal(again, 0);
}

static void mount_overlay(void)
{
    char options[512];
    if (geteuid() != 0)
        SKIP("only root can mount an overlay");
    snprintf(options, sizeof options, "mkdir %s/lower %s/upper %s/work", folder, folder, folder);
    assert_int_equal(system(options), 0);
    snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", folder,
             folder, folder);
    if (mount("overlay", place, "overlay", 0, options) != 0)
        SKIP("no overlay can be mounted here");
}

static void own_files_are_cold_or_warm(void **state)
{
    (void)state;
    check_own_file(folder);
}

static void own_files_on_an_overlay_are_cold_or_warm(void **state)
{
    (void)state;
    mount_overlay();
    check_own_file(place);
}

/* Dropping says yes, and drops nothing of what somebody has mapped. */
static void what_is_held_stays(void **state)
{
    (void)state;
    int file = make_file(folder);
    void *mapping = mmap(NULL, FILE_BYTES / 2, PROT_READ, MAP_SHARED, file, 0);
    assert_true(mapping != MAP_FAILED);
    warm_up(file);
    for (int at = 0; at < FILE_BYTES / 2; at += PAGE_BYTES)
        assert_int_equal(((volatile unsigned char *)mapping)[at], 'a');
    pool_cache_drop(file);
    int64_t bytes = pool_cache_resident_bytes(file, FILE_BYTES);
    munmap(mapping, FILE_BYTES / 2);
    close(file);
    if (bytes == UNKNOWN)
        SKIP("this filesystem does not tell what is cached");
    assert_in_range(bytes, FILE_BYTES / 2, FILE_BYTES);
}

/* What another user is told of a cold file of ours. */
static int64_t ask_as_nobody(const char *in)
{
    char path[128];
    int64_t bytes = -2;
    int ends[2];
    close(make_file(in));
    snprintf(path, sizeof path, "%s/file", in);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int file = setgid(NOBODY) == 0 && setuid(NOBODY) == 0 ? open(path, O_RDONLY) : -1;
        if (file >= 0)
            bytes = pool_cache_resident_bytes(file, FILE_BYTES);
        _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    return bytes;
}

/* Older kernels count what is cached of anybody's file, newer ones refuse; none says "all". */
static void files_of_others_are_unknown(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("only root can be two users");
    int64_t bytes = ask_as_nobody(folder);
    assert_true(bytes == UNKNOWN || bytes == 0);
}

/* There, the only way to ask is the one that says "all". */
static void files_of_others_on_an_overlay_are_unknown(void **state)
{
    (void)state;
    mount_overlay();
    assert_int_equal(ask_as_nobody(place), UNKNOWN);
}

#define CACHE_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(own_files_are_cold_or_warm),
        CACHE_TEST(own_files_on_an_overlay_are_cold_or_warm),
        CACHE_TEST(what_is_held_stays),
        CACHE_TEST(files_of_others_are_unknown),
        CACHE_TEST(files_of_others_on_an_overlay_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
