#ifndef TRACKRAMP_TESTS_POOL_FIXTURE_H
#define TRACKRAMP_TESTS_POOL_FIXTURE_H

/* What the tests of the pool share: a DIR of their own that must be empty at the end. Included
 * behind cmocka's own headers. */

#include "study/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIXTURE_FILE_BYTES = 300000, FIXTURE_PATH_BYTES = 256 };

struct fixture {
    char directory[64];
    struct pool_options options;
    struct error error;
    struct pool *pool;
};

static inline int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return -1;
    strcpy(fixture->directory, "/var/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(fixture->directory) == NULL) {
        free(fixture);
        return -1;
    }
    fixture->options = (struct pool_options){
        .directory = fixture->directory,
        .format = {CONTAINER_WAV, ENCODING_PCM16, 44100, 1},
        .seed = 1,
        .min_file_bytes = FIXTURE_FILE_BYTES,
        .limit_bytes = 64 << 20,
    };
    *state = fixture;
    return 0;
}

/* Fails when DIR is not empty: no test may leave anything. */
static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    pool_close(fixture->pool, NULL); /* of a test that failed */
    int result = rmdir(fixture->directory);
    if (result != 0) {
        char command[FIXTURE_PATH_BYTES];
        print_error("%s: %s\n", fixture->directory, strerror(errno));
        snprintf(command, sizeof command, "rm -rf --one-file-system '%s'", fixture->directory);
        if (system(command) != 0)
            print_error("%s stays\n", fixture->directory);
    }
    free(fixture);
    return result;
}

static inline void open_pool(struct fixture *fixture)
{
    int result = pool_open(&fixture->pool, &fixture->options, &fixture->error);
    assert_string_equal(fixture->error.text, "");
    assert_int_equal(result, 0);
}

static inline void grow_pool(struct fixture *fixture, uint32_t files)
{
    int result = pool_grow(fixture->pool, files, &fixture->error);
    assert_string_equal(fixture->error.text, "");
    assert_int_equal(result, 0);
}

static inline void close_pool(struct fixture *fixture)
{
    assert_int_equal(pool_close(fixture->pool, &fixture->error), 0);
    assert_string_equal(fixture->error.text, "");
    fixture->pool = NULL;
}

/* The error of a call that failed: its kind, and a part of its one line. Clears it. */
static inline void assert_error(struct fixture *fixture, enum error_kind kind, const char *part)
{
    assert_int_equal(fixture->error.kind, kind);
    if (strstr(fixture->error.text, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", fixture->error.text, part);
    assert_null(strchr(fixture->error.text, '\n'));
    fixture->error = (struct error){.kind = ERROR_NONE};
}

static inline void assert_open_fails(struct fixture *fixture, enum error_kind kind,
                                     const char *part)
{
    assert_int_equal(pool_open(&fixture->pool, &fixture->options, &fixture->error), -1);
    assert_error(fixture, kind, part);
}

/* Path of `name` in DIR/trackramp-files; of the folder itself for "". */
static inline const char *inside(const struct fixture *fixture, const char *name,
                                 char out[FIXTURE_PATH_BYTES])
{
    snprintf(out, FIXTURE_PATH_BYTES, "%s/" POOL_FOLDER "%s%s", fixture->options.directory,
             name[0] != '\0' ? "/" : "", name);
    return out;
}

static inline bool exists(const struct fixture *fixture, const char *name)
{
    char path[FIXTURE_PATH_BYTES];
    struct stat status;
    return lstat(inside(fixture, name, path), &status) == 0;
}

static inline void put_file(const struct fixture *fixture, const char *name, const char *text)
{
    char path[FIXTURE_PATH_BYTES];
    FILE *file = fopen(inside(fixture, name, path), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void remove_file(const struct fixture *fixture, const char *name)
{
    char path[FIXTURE_PATH_BYTES];
    assert_int_equal(remove(inside(fixture, name, path)), 0);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
