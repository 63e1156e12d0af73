#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pool_fixture.h"

/* A modelled drive's pool: the arithmetic of the real one, and no file. */

static void a_modelled_pool_makes_no_file(void **state)
{
    struct fixture *fixture = *state;
    char path[FIXTURE_PATH_BYTES];
    open_pool(fixture);
    uint64_t frames = pool_file_frames(fixture->pool), offset = pool_data_offset(fixture->pool);
    grow_pool(fixture, 3);
    uint64_t bytes = pool_bytes(fixture->pool);
    close_pool(fixture);
    fixture->options.modelled = true;
    fixture->options.keep = true;
    open_pool(fixture);
    assert_int_equal(pool_files(fixture->pool), 0);
    grow_pool(fixture, 3);
    assert_int_equal(pool_files(fixture->pool), 3);
    /* As the real ones. */
    assert_int_equal(pool_bytes(fixture->pool), bytes);
    assert_int_equal(pool_file_frames(fixture->pool), frames);
    assert_int_equal(pool_data_offset(fixture->pool), offset);
    assert_false(exists(fixture, ""));
    /* What stands for a descriptor is none: closing it leaves the standard streams open. */
    for (uint32_t index = 0; index < 3; index++) {
        int file = pool_open_file(fixture->pool, index, true, &fixture->error);
        assert_int_equal(file, index);
        pool_close_file(fixture->pool, file);
        assert_true(fcntl((int)index, F_GETFD) >= 0);
    }
    assert_string_equal(pool_file_path(fixture->pool, 2, path, sizeof path), "modelled file 3");
    close_pool(fixture);
    assert_false(exists(fixture, ""));
}

static void a_modelled_pool_has_nothing_cached(void **state)
{
    struct fixture *fixture = *state;
    double resident = -2;
    fixture->options.modelled = true;
    open_pool(fixture);
    grow_pool(fixture, 3);
    assert_int_equal(pool_evict(fixture->pool, &resident, &fixture->error), 0);
    assert_true(resident == 0);
    for (int stream = 0; stream < 3; stream++)
        assert_true(fcntl(stream, F_GETFD) >= 0);
    close_pool(fixture);
}

static void a_modelled_drive_needs_no_folder(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.modelled = true;
    fixture->options.directory = "ata-2002,depth=4";
    open_pool(fixture);
    grow_pool(fixture, 1);
    assert_int_equal(access(fixture->options.directory, F_OK), -1);
    close_pool(fixture);
    fixture->options.directory = fixture->directory;
}

static void the_limit_of_a_modelled_pool_is_16_gib_or_what_is_asked(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t most_bytes = UINT64_C(16) << 30, file_bytes = 307200;
    fixture->options.modelled = true;
    fixture->options.limit_bytes = 0;
    open_pool(fixture);
    assert_int_equal(pool_limit_bytes(fixture->pool), most_bytes);
    assert_int_equal(pool_files_limit(fixture->pool), most_bytes / file_bytes);
    grow_pool(fixture, UINT32_MAX);
    assert_int_equal(pool_files(fixture->pool), most_bytes / file_bytes);
    assert_int_equal(pool_bytes(fixture->pool), most_bytes / file_bytes * file_bytes);
    close_pool(fixture);
    fixture->options.limit_bytes = 3 * file_bytes + 1;
    open_pool(fixture);
    assert_int_equal(pool_limit_bytes(fixture->pool), 3 * file_bytes + 1);
    assert_int_equal(pool_files_limit(fixture->pool), 3);
    close_pool(fixture);
    fixture->options.limit_bytes = 1; /* one file there is, whatever was asked */
    open_pool(fixture);
    assert_int_equal(pool_files_limit(fixture->pool), 1);
    grow_pool(fixture, 1000);
    assert_int_equal(pool_files(fixture->pool), 1);
    close_pool(fixture);
}

static void a_modelled_pool_comes_in_whole_groups_too(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.modelled = true;
    fixture->options.interleaved = true;
    fixture->options.limit_bytes = 0;
    open_pool(fixture);
    grow_pool(fixture, 65);
    assert_int_equal(pool_files(fixture->pool), 128);
    close_pool(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_modelled_pool_makes_no_file),
        FIXTURE_TEST(a_modelled_pool_has_nothing_cached),
        FIXTURE_TEST(a_modelled_drive_needs_no_folder),
        FIXTURE_TEST(the_limit_of_a_modelled_pool_is_16_gib_or_what_is_asked),
        FIXTURE_TEST(a_modelled_pool_comes_in_whole_groups_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
