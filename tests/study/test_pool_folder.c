#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pool_fixture.h"

#include <signal.h>
#include <sys/wait.h>

/* Whose the folder is, who holds it, and that it goes away again with ours and nothing else. */

static void make_folder(const struct fixture *fixture)
{
    char path[FIXTURE_PATH_BYTES];
    assert_int_equal(mkdir(inside(fixture, "", path), 0755), 0);
}

static void clean(struct fixture *fixture, uint32_t expected_files)
{
    uint32_t files = 77;
    assert_int_equal(pool_clean(fixture->directory, &files, &fixture->error), 0);
    assert_int_equal(files, expected_files);
}

static void assert_clean_fails(struct fixture *fixture, enum error_kind kind, const char *part)
{
    uint32_t files;
    assert_int_equal(pool_clean(fixture->directory, &files, &fixture->error), -1);
    assert_error(fixture, kind, part);
}

static void a_kept_pool_is_cleaned(void **state)
{
    struct fixture *fixture = *state;
    clean(fixture, 0); /* nothing there */
    fixture->options.keep = true;
    open_pool(fixture);
    grow_pool(fixture, 3);
    close_pool(fixture);
    assert_true(exists(fixture, "track-000002.wav"));
    clean(fixture, 3);
    assert_false(exists(fixture, ""));
    open_pool(fixture); /* no file was made: there is nothing to keep */
    close_pool(fixture);
    assert_false(exists(fixture, ""));
}

static void closing_takes_nothing(void **state)
{
    (void)state;
    assert_int_equal(pool_close(NULL, NULL), 0);
}

static void a_foreign_folder_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    make_folder(fixture);
    put_file(fixture, "track-000000.wav", "somebody's song");
    assert_open_fails(fixture, ERROR_USAGE, "not made by trackramp");
    assert_clean_fails(fixture, ERROR_USAGE, "not made by trackramp");
    assert_true(exists(fixture, "track-000000.wav"));
    put_file(fixture, "trackramp-pool", "trackramp-pool-2\n"); /* no marker of ours */
    assert_open_fails(fixture, ERROR_USAGE, "not made by trackramp");
    remove_file(fixture, "track-000000.wav");
    assert_clean_fails(fixture, ERROR_USAGE, "not made by trackramp");
    remove_file(fixture, "trackramp-pool");
    remove_file(fixture, "");
}

static void a_marker_that_is_a_link_is_none(void **state)
{
    struct fixture *fixture = *state;
    char marker[FIXTURE_PATH_BYTES], target[FIXTURE_PATH_BYTES];
    make_folder(fixture);
    put_file(fixture, "real", "trackramp-pool-1\n");
    assert_int_equal(
        symlink(inside(fixture, "real", target), inside(fixture, "trackramp-pool", marker)), 0);
    assert_open_fails(fixture, ERROR_USAGE, "not made by trackramp");
    assert_clean_fails(fixture, ERROR_USAGE, "not made by trackramp");
    remove_file(fixture, "real");
    remove_file(fixture, "trackramp-pool");
    remove_file(fixture, "");
}

/* A run killed between making and marking, or between unmarking and removing. */
static void an_empty_folder_is_taken_over(void **state)
{
    struct fixture *fixture = *state;
    make_folder(fixture);
    open_pool(fixture);
    close_pool(fixture);
    assert_false(exists(fixture, ""));
    make_folder(fixture);
    put_file(fixture, "trackramp-pool.part", "trackramp-po");
    open_pool(fixture);
    close_pool(fixture);
    assert_false(exists(fixture, ""));
    make_folder(fixture);
    clean(fixture, 0);
    assert_false(exists(fixture, ""));
}

static void a_link_or_file_of_our_name_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char path[FIXTURE_PATH_BYTES], real[FIXTURE_PATH_BYTES];
    snprintf(real, sizeof real, "%s/real", fixture->directory);
    assert_int_equal(mkdir(real, 0755), 0);
    assert_int_equal(symlink("real", inside(fixture, "", path)), 0);
    assert_open_fails(fixture, ERROR_USAGE, "not a folder of trackramp's");
    assert_clean_fails(fixture, ERROR_USAGE, "not a folder of trackramp's");
    assert_true(exists(fixture, ""));
    assert_int_equal(rmdir(real), 0); /* empty: nothing was written through the link */
    assert_open_fails(fixture, ERROR_USAGE, "not a folder of trackramp's"); /* dangling */
    assert_int_equal(unlink(path), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_open_fails(fixture, ERROR_USAGE, "not a folder of trackramp's");
    assert_clean_fails(fixture, ERROR_USAGE, "not a folder of trackramp's");
    assert_int_equal(unlink(path), 0);
}

static void names_that_are_not_ours_survive(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {
        "notes.txt",          "track-000000.mp3",     "track-0000000.wav",
        "track-00000.wav",    "track-000000.wav.bak", "track-000000.wav.part.part",
        "track-+00001.wav",   "Track-000000.wav",     "track-000000.WAV",
        "trackramp-pool.txt", "track-9999999.wav",    ".hidden",
    };
    enum { NAMES = sizeof names / sizeof names[0] };
    char path[FIXTURE_PATH_BYTES];
    open_pool(fixture);
    grow_pool(fixture, 2);
    for (int i = 0; i < NAMES; i++)
        put_file(fixture, names[i], "mine");
    assert_int_equal(mkdir(inside(fixture, "track-000007.wav", path), 0755), 0);
    put_file(fixture, "track-000009.caf", "ours by name");
    close_pool(fixture);
    assert_false(exists(fixture, "track-000000.wav"));
    assert_false(exists(fixture, "track-000009.caf"));
    clean(fixture, 0); /* still ours: the marker stays as long as the folder */
    for (int i = 0; i < NAMES; i++)
        assert_true(exists(fixture, names[i]));
    assert_true(exists(fixture, "track-000007.wav"));
    open_pool(fixture); /* and serves the next run */
    grow_pool(fixture, 1);
    for (int i = 0; i < NAMES; i++)
        remove_file(fixture, names[i]);
    remove_file(fixture, "track-000007.wav");
    close_pool(fixture);
    assert_false(exists(fixture, ""));
}

/* A link that bears our name goes; what it points to is neither written nor removed. */
static void links_inside_are_not_followed(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"track-000000.wav", "track-000001.wav.part",
                                        "trackramp-pool.part"};
    char path[FIXTURE_PATH_BYTES], outside[FIXTURE_PATH_BYTES], text[8] = "";
    snprintf(outside, sizeof outside, "%s/outside", fixture->directory);
    FILE *file = fopen(outside, "w");
    assert_non_null(file);
    fputs("mine", file);
    fclose(file);
    fixture->options.keep = true;
    open_pool(fixture);
    grow_pool(fixture, 1);
    close_pool(fixture);
    remove_file(fixture, "track-000000.wav");
    for (int i = 0; i < 3; i++)
        assert_int_equal(symlink("../outside", inside(fixture, names[i], path)), 0);
    fixture->options.keep = false;
    open_pool(fixture);
    assert_int_equal(pool_files(fixture->pool), 0);
    grow_pool(fixture, 2);
    for (int i = 2; i < 4; i++) { /* and put there while we run */
        snprintf(path, sizeof path, "%s/" POOL_FOLDER "/track-00000%d.wav.part", fixture->directory,
                 i);
        assert_int_equal(symlink("../outside", path), 0);
    }
    assert_int_equal(pool_grow(fixture->pool, 3, &fixture->error), -1);
    assert_error(fixture, ERROR_ENVIRONMENT, "track-000002.wav.part");
    close_pool(fixture);
    assert_false(exists(fixture, ""));
    file = fopen(outside, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "mine");
    assert_int_equal(unlink(outside), 0);
}

static void a_second_run_is_refused(void **state)
{
    struct fixture *fixture = *state;
    open_pool(fixture);
    grow_pool(fixture, 1);
    struct pool *first = fixture->pool;
    assert_open_fails(fixture, ERROR_ENVIRONMENT, "another trackramp");
    assert_clean_fails(fixture, ERROR_ENVIRONMENT, "another trackramp");
    assert_true(exists(fixture, "track-000000.wav"));
    fixture->pool = first;
    close_pool(fixture);
    open_pool(fixture);
    close_pool(fixture);
}

static void a_bad_dir_is_named(void **state)
{
    struct fixture *fixture = *state;
    char path[FIXTURE_PATH_BYTES];
    uint32_t files;
    snprintf(path, sizeof path, "%s/none", fixture->directory);
    fixture->options.directory = path;
    assert_open_fails(fixture, ERROR_USAGE, path);
    assert_int_equal(pool_clean(path, &files, &fixture->error), -1);
    assert_error(fixture, ERROR_USAGE, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_open_fails(fixture, ERROR_USAGE, "not a folder");
    assert_int_equal(unlink(path), 0);
    fixture->options.directory = "";
    assert_open_fails(fixture, ERROR_USAGE, "no such folder");
}

static void a_dir_without_permission_is_named(void **state)
{
    struct fixture *fixture = *state;
    if (geteuid() == 0) { /* root may write anywhere: be somebody else in a child */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct error error = {.kind = ERROR_NONE};
            if (setgid(65534) != 0 || setuid(65534) != 0)
                _exit(10);
            int result = pool_open(&fixture->pool, &fixture->options, &error);
            _exit(result == -1 && error.kind == ERROR_ENVIRONMENT &&
                          strstr(error.text, fixture->directory) != NULL
                      ? 0
                      : 11);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        return;
    }
    assert_int_equal(chmod(fixture->directory, 0555), 0);
    assert_open_fails(fixture, ERROR_ENVIRONMENT, fixture->directory);
    assert_int_equal(chmod(fixture->directory, 0755), 0);
}

/* --- a run that is killed ----------------------------------------------------------------- */

struct death {
    int ready; /* a pipe: written to once the moment has come */
    int calls_left;
};

static int wait_for_death(void *user, uint64_t done_bytes, uint64_t wanted_bytes)
{
    struct death *death = user;
    (void)done_bytes, (void)wanted_bytes;
    if (--death->calls_left > 0)
        return 0;
    if (write(death->ready, "", 1) != 1)
        _exit(12);
    for (;;)
        pause();
}

/* Kills a child with SIGKILL at its `call`-th report of progress. */
static void kill_a_run(struct fixture *fixture, int call)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct death death = {.ready = ends[1], .calls_left = call};
        struct error error = {.kind = ERROR_NONE};
        fixture->options.progress = wait_for_death;
        fixture->options.user = &death;
        if (pool_open(&fixture->pool, &fixture->options, &error) == 0)
            pool_grow(fixture->pool, 40, &error);
        _exit(13); /* it was to die before */
    }
    close(ends[1]);
    ssize_t told = read(ends[0], &byte, 1);
    close(ends[0]);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(told, 1);
    assert_true(WIFSIGNALED(status));
}

static void what_a_killed_run_left_goes(void **state)
{
    struct fixture *fixture = *state;
    static const int calls[] = {1, 2, 4, 60, 75};
    fixture->options.min_file_bytes = 2 << 20;
    fixture->options.limit_bytes = UINT64_C(256) << 20;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        kill_a_run(fixture, calls[i]);
        assert_true(exists(fixture, "trackramp-pool"));
        open_pool(fixture); /* the lock died with it */
        /* Only whole files are kept: those of batches that were synced. */
        assert_int_equal(pool_files(fixture->pool) > 0, calls[i] >= 60);
        grow_pool(fixture, 1);
        close_pool(fixture);
        assert_false(exists(fixture, ""));
        kill_a_run(fixture, calls[i]);
        uint32_t files;
        assert_int_equal(pool_clean(fixture->directory, &files, &fixture->error), 0);
        assert_true(files > 0);
        assert_false(exists(fixture, ""));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_kept_pool_is_cleaned),
        FIXTURE_TEST(closing_takes_nothing),
        FIXTURE_TEST(a_foreign_folder_is_left_alone),
        FIXTURE_TEST(a_marker_that_is_a_link_is_none),
        FIXTURE_TEST(an_empty_folder_is_taken_over),
        FIXTURE_TEST(a_link_or_file_of_our_name_is_refused),
        FIXTURE_TEST(names_that_are_not_ours_survive),
        FIXTURE_TEST(links_inside_are_not_followed),
        FIXTURE_TEST(a_second_run_is_refused),
        FIXTURE_TEST(a_bad_dir_is_named),
        FIXTURE_TEST(a_dir_without_permission_is_named),
        FIXTURE_TEST(what_a_killed_run_left_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
