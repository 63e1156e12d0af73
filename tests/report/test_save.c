#include "report/save.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char text[] = "{\"new\": true}\n";
enum { TEXT_BYTES = sizeof text - 1 };

static char folder[64];
static char path[80];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/result.json", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    /* Fails when a temporary file was left there. */
    return rmdir(folder);
}

static unsigned count_files(void)
{
    DIR *list = opendir(folder);
    assert_non_null(list);
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

static void put_old(void)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("old", file);
    assert_int_equal(fclose(file), 0);
}

/* The file at `path` holds just this, and nothing lies beside it. */
static void assert_only(const char *wanted)
{
    char found[64];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, wanted);
    assert_int_equal(count_files(), 1);
}

static mode_t mode_of(const char *file)
{
    struct stat status;
    assert_int_equal(lstat(file, &status), 0);
    return status.st_mode;
}

static void test_new_file_has_the_permissions_the_user_wants(void **state)
{
    (void)state;
    struct error error = {0};
    mode_t before = umask(027);
    int saved = save_text(path, text, TEXT_BYTES, &error);
    umask(before);
    assert_int_equal(saved, 0);
    assert_int_equal(error.kind, ERROR_NONE);
    assert_only(text);
    assert_int_equal(mode_of(path) & 0777, 0640);
}

static void test_old_file_is_replaced_with_its_permissions(void **state)
{
    (void)state;
    struct error error = {0};
    put_old();
    assert_int_equal(chmod(path, 0606), 0);
    assert_int_equal(save_text(path, text, TEXT_BYTES, &error), 0);
    assert_only(text);
    assert_int_equal(mode_of(path) & 0777, 0606);
}

static void test_link_is_followed(void **state)
{
    (void)state;
    char link[96];
    struct error error = {0};
    put_old();
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink("result.json", link), 0);
    int saved = save_text(link, text, TEXT_BYTES, &error);
    mode_t mode = mode_of(link);
    unlink(link);
    assert_int_equal(saved, 0);
    assert_true(S_ISLNK(mode));
    assert_only(text);
}

static void test_unwritable_target_is_named(void **state)
{
    (void)state;
    put_old();
    char under[128];
    snprintf(under, sizeof under, "%s/under", path);
    const char *const targets[] = {"/nonexistent/result.json", under, folder, "/dev/full", ""};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct error error = {0};
        assert_int_equal(save_text(targets[i], text, TEXT_BYTES, &error), -1);
        assert_int_equal(error.kind, ERROR_ENVIRONMENT);
        assert_non_null(strstr(error.text, targets[i]));
        assert_null(strchr(error.text, '\n'));
    }
    assert_only("old");
}

/* A full drive, played by the limit on file sizes: it holds for root too. */
static void test_old_file_stays_whole_when_the_drive_is_full(void **state)
{
    (void)state;
    put_old();
    struct rlimit before;
    struct error error = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = TEXT_BYTES / 2, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int saved = save_text(path, text, TEXT_BYTES, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(saved, -1);
    assert_non_null(strstr(error.text, path));
    assert_only("old");
}

/* Saves to `target` while standard output goes to the file at `path`. */
static int save_redirected(const char *target, struct error *error)
{
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, STDOUT_FILENO);
    printf("before\n");
    int saved = save_text(target, text, TEXT_BYTES, error);
    printf("after\n");
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    return saved;
}

/* Under any of its names, in order with what else is printed. */
static void test_standard_output(void **state)
{
    (void)state;
    const char *const names[] = {"-", "/dev/stdout", path};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error error = {0};
        assert_int_equal(save_redirected(names[i], &error), 0);
        assert_only("before\n{\"new\": true}\nafter\n");
    }
}

static void test_full_standard_output_is_an_error(void **state)
{
    (void)state;
    struct error error = {0};
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    int saved = save_text("-", text, TEXT_BYTES, &error);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(full);
    clearerr(stdout);
    assert_int_equal(saved, -1);
    assert_non_null(strstr(error.text, "standard output"));
}

static void test_pipe_is_written_as_it_is(void **state)
{
    (void)state;
    struct error error = {0};
    char found[64];
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    int saved = save_text(path, text, TEXT_BYTES, &error);
    ssize_t bytes = read(reader, found, sizeof found);
    close(reader);
    assert_int_equal(saved, 0);
    assert_int_equal(bytes, TEXT_BYTES);
    assert_memory_equal(found, text, TEXT_BYTES);
    assert_true(S_ISFIFO(mode_of(path)));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_new_file_has_the_permissions_the_user_wants),
        IN_FOLDER(test_old_file_is_replaced_with_its_permissions),
        IN_FOLDER(test_link_is_followed),
        IN_FOLDER(test_unwritable_target_is_named),
        IN_FOLDER(test_old_file_stays_whole_when_the_drive_is_full),
        IN_FOLDER(test_standard_output),
        IN_FOLDER(test_full_standard_output_is_an_error),
        IN_FOLDER(test_pipe_is_written_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
