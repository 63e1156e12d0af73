#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pool_fixture.h"
#include "study/noise.h"

#include <signal.h>
#include <sys/resource.h>

/* Test files that lie interleaved: piece by piece in turn. */

enum { PIECES = 3, FILE_BYTES = 600000 };

static uint64_t size_of_file(const struct fixture *fixture)
{
    return pool_data_offset(fixture->pool) +
           pool_file_frames(fixture->pool) * format_frame_bytes(&fixture->options.format);
}

static struct stat status_of(const struct fixture *fixture, uint32_t index)
{
    char path[FIXTURE_PATH_BYTES];
    struct stat status;
    assert_int_equal(stat(pool_file_path(fixture->pool, index, path, sizeof path), &status), 0);
    return status;
}

static unsigned char *read_file(const struct fixture *fixture, uint32_t index)
{
    char path[FIXTURE_PATH_BYTES];
    uint64_t bytes = size_of_file(fixture);
    assert_int_equal(status_of(fixture, index).st_size, bytes);
    FILE *file = fopen(pool_file_path(fixture->pool, index, path, sizeof path), "rb");
    assert_non_null(file);
    unsigned char *content = malloc(bytes);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, bytes, file), bytes);
    fclose(file);
    return content;
}

static void check_noise(const struct fixture *fixture, uint32_t index)
{
    uint64_t bytes = size_of_file(fixture) - pool_data_offset(fixture->pool);
    unsigned char *content = read_file(fixture, index), *expected = malloc(bytes);
    assert_non_null(expected);
    noise_fill(&fixture->options.format, fixture->options.seed, index, 0, expected, bytes);
    assert_memory_equal(content + pool_data_offset(fixture->pool), expected, bytes);
    free(expected);
    free(content);
}

/* --- interleaved -------------------------------------------------------------------------- */

static void interleaved_files_hold_what_sequential_ones_do(void **state)
{
    static const uint32_t looked_at[] = {0, 1, 63, 64};
    enum { LOOKED_AT = sizeof looked_at / sizeof *looked_at };
    struct fixture *fixture = *state;
    unsigned char *sequential[LOOKED_AT];
    fixture->options.format = (struct track_format){CONTAINER_AIFF, ENCODING_PCM24, 48000, 3};
    open_pool(fixture);
    grow_pool(fixture, 65);
    uint64_t bytes = size_of_file(fixture);
    for (size_t i = 0; i < LOOKED_AT; i++)
        sequential[i] = read_file(fixture, looked_at[i]);
    close_pool(fixture);
    fixture->options.interleaved = true;
    open_pool(fixture);
    grow_pool(fixture, 65);
    assert_int_equal(size_of_file(fixture), bytes);
    for (size_t i = 0; i < LOOKED_AT; i++) {
        unsigned char *interleaved = read_file(fixture, looked_at[i]);
        assert_memory_equal(interleaved, sequential[i], bytes);
        free(interleaved);
        free(sequential[i]);
    }
    for (uint32_t index = 0; index < pool_files(fixture->pool); index++)
        check_noise(fixture, index);
    close_pool(fixture);
    assert_false(exists(fixture, ""));
}

/* How long the files of the first group are at every call of progress. */
struct sizes {
    const struct fixture *fixture;
    uint64_t calls;
    uint64_t least[PIECES], most[PIECES];
    uint64_t stop_at; /* calls; 0: never */
};

static int watch_sizes(void *user, uint64_t done_bytes, uint64_t wanted_bytes)
{
    struct sizes *sizes = user;
    assert_true(done_bytes <= wanted_bytes);
    uint64_t call = sizes->calls++;
    if (call < PIECES)
        sizes->least[call] = UINT64_MAX;
    for (uint32_t index = 0; call < PIECES && index < POOL_INTERLEAVE_FILES; index++) {
        char name[64], path[FIXTURE_PATH_BYTES];
        struct stat status;
        snprintf(name, sizeof name, "track-%06u.wav.part", index);
        uint64_t bytes = 0;
        if (stat(inside(sizes->fixture, name, path), &status) == 0)
            bytes = (uint64_t)status.st_size;
        if (bytes < sizes->least[call])
            sizes->least[call] = bytes;
        if (bytes > sizes->most[call])
            sizes->most[call] = bytes;
    }
    return sizes->calls == sizes->stop_at;
}

static void watch_growing(struct fixture *fixture, struct sizes *sizes)
{
    fixture->options.progress = watch_sizes;
    fixture->options.user = sizes;
    fixture->options.min_file_bytes = FILE_BYTES;
    open_pool(fixture);
}

/* No file gets its second piece before all have their first. */
static void a_piece_of_each_file_in_turn_is_laid_out(void **state)
{
    struct fixture *fixture = *state;
    struct sizes sizes = {.fixture = fixture};
    fixture->options.interleaved = true;
    watch_growing(fixture, &sizes);
    uint64_t file_bytes = size_of_file(fixture);
    grow_pool(fixture, 1);
    for (uint64_t piece = 0; piece < PIECES; piece++) {
        uint64_t laid_out = (piece + 1) * POOL_INTERLEAVE_BYTES;
        assert_int_equal(sizes.least[piece], sizes.most[piece]);
        assert_int_equal(sizes.least[piece], laid_out < file_bytes ? laid_out : file_bytes);
    }
    assert_int_equal(sizes.least[PIECES - 1], file_bytes);
    close_pool(fixture);
}

/* The same watch sees what it should where files are laid one behind the other. */
static void sequential_files_are_laid_one_behind_the_other(void **state)
{
    struct fixture *fixture = *state;
    struct sizes sizes = {.fixture = fixture};
    watch_growing(fixture, &sizes);
    grow_pool(fixture, POOL_INTERLEAVE_FILES);
    for (uint64_t call = 0; call < PIECES; call++)
        assert_int_equal(sizes.least[call], 0);
    assert_int_equal(sizes.most[PIECES - 1], size_of_file(fixture));
    close_pool(fixture);
}

/* A track alone would find its file in one piece, so the others of its group are there too. */
static void files_come_in_whole_groups_within_the_limit(void **state)
{
    static const uint32_t asked[] = {0, 1, 64, 65, 20, 128, 129};
    static const uint32_t made[] = {64, 64, 64, 128, 128, 128, 150};
    struct fixture *fixture = *state;
    fixture->options.interleaved = true;
    fixture->options.limit_bytes = UINT64_C(150) * 307200; /* in whole blocks of 4 KiB */
    open_pool(fixture);
    assert_int_equal(pool_files_limit(fixture->pool), 150);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        grow_pool(fixture, asked[i]);
        assert_int_equal(pool_files(fixture->pool), made[i]);
    }
    for (uint32_t index = 0; index < 150; index++) {
        struct stat status = status_of(fixture, index);
        assert_int_equal(status.st_size, size_of_file(fixture));
        assert_true((uint64_t)status.st_blocks * 512 >= (uint64_t)status.st_size);
    }
    check_noise(fixture, 149);
    assert_int_equal(pool_bytes(fixture->pool), fixture->options.limit_bytes);
    close_pool(fixture);
}

static void files_that_find_no_space_leave_those_before_them(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit limit;
    fixture->options.interleaved = true;
    open_pool(fixture);
    grow_pool(fixture, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (int piece = 0; piece < 2; piece++) {
        struct rlimit low = {.rlim_cur = piece == 0 ? 1 : POOL_INTERLEAVE_BYTES + 1,
                             .rlim_max = limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
        int result = pool_grow(fixture->pool, 65, &fixture->error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(result, -1);
        assert_error(fixture, ERROR_ENVIRONMENT, "--layout sequential");
        assert_int_equal(pool_files(fixture->pool), 64);
        assert_false(exists(fixture, "track-000064.wav"));
        assert_false(exists(fixture, "track-000064.wav.part"));
        assert_false(exists(fixture, "track-000127.wav.part"));
    }
    check_noise(fixture, 63);
    close_pool(fixture);
    assert_false(exists(fixture, ""));
}

/* While space is taken, at the first file's writing, in the middle, behind the last. */
static void a_stop_at_any_time_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct sizes sizes = {.fixture = fixture};
    fixture->options.interleaved = true;
    watch_growing(fixture, &sizes);
    grow_pool(fixture, 1);
    close_pool(fixture);
    const uint64_t stops[] = {1, PIECES, PIECES + 1, sizes.calls / 2, sizes.calls};
    assert_true(sizes.calls > PIECES + POOL_INTERLEAVE_FILES);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        sizes = (struct sizes){.fixture = fixture, .stop_at = stops[i]};
        open_pool(fixture);
        assert_int_equal(pool_grow(fixture->pool, 1, &fixture->error), -1);
        assert_error(fixture, ERROR_INTERRUPTED, "interrupted");
        assert_int_equal(sizes.calls, stops[i]);
        close_pool(fixture);
        assert_false(exists(fixture, ""));
    }
}

/* --- what an earlier run left ------------------------------------------------------------- */

static void leave_files(struct fixture *fixture, bool interleaved)
{
    fixture->options.interleaved = interleaved;
    fixture->options.keep = true;
    open_pool(fixture);
    grow_pool(fixture, 2);
    close_pool(fixture);
    fixture->options.keep = false;
}

static void files_of_the_same_layout_alone_are_used_again(void **state)
{
    struct fixture *fixture = *state;
    for (int left = 0; left < 2; left++) {
        uint32_t files = left ? POOL_INTERLEAVE_FILES : 2;
        leave_files(fixture, left);
        fixture->options.keep = true;
        open_pool(fixture);
        assert_int_equal(pool_files(fixture->pool), files);
        check_noise(fixture, files - 1);
        close_pool(fixture);
        fixture->options.keep = false;
        fixture->options.interleaved = !left;
        open_pool(fixture);
        assert_int_equal(pool_files(fixture->pool), 0);
        assert_false(exists(fixture, "track-000000.wav"));
        grow_pool(fixture, 1);
        check_noise(fixture, 0);
        close_pool(fixture);
        assert_false(exists(fixture, ""));
    }
}

/* Puts `line` (a whole line, or nothing) in place of the marker's `layout=`. */
static void set_layout_line(const struct fixture *fixture, const char *line)
{
    char path[FIXTURE_PATH_BYTES], text[1024], changed[2048];
    FILE *file = fopen(inside(fixture, "trackramp-pool", path), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *from = strstr(text, "layout=");
    assert_non_null(from);
    char *behind = strchr(from, '\n');
    assert_non_null(behind);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(from - text), text, line, behind + 1);
    put_file(fixture, "trackramp-pool", changed);
}

/* How many of the files left with such a line are used again. */
static uint32_t files_used_again(struct fixture *fixture, const char *line, bool interleaved)
{
    leave_files(fixture, false);
    set_layout_line(fixture, line);
    fixture->options.interleaved = interleaved;
    open_pool(fixture);
    uint32_t files = pool_files(fixture->pool);
    assert_int_equal(exists(fixture, "track-000001.wav"), files == 2);
    close_pool(fixture);
    assert_false(exists(fixture, ""));
    return files;
}

static void a_marker_that_says_nothing_of_it_means_sequential(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(files_used_again(fixture, "", false), 2);
    assert_int_equal(files_used_again(fixture, "", true), 0);
}

static void the_marker_is_believed(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(files_used_again(fixture, "layout=sequential\n", false), 2);
    assert_int_equal(files_used_again(fixture, "layout=sequential\n", true), 0);
    assert_int_equal(files_used_again(fixture, "layout=interleaved\n", false), 0);
    assert_int_equal(files_used_again(fixture, "layout=interleaved\n", true), 2);
}

/* Of a version to come, or damaged: it may lie in any way. */
static void a_layout_that_nobody_knows_is_none(void **state)
{
    static const char *const lines[] = {"layout=\n", "layout=inter\n", "layout=sequential \n",
                                        "layout=interleaved-in-groups-of-four\n"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(files_used_again(fixture, lines[i], false), 0);
        assert_int_equal(files_used_again(fixture, lines[i], true), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(interleaved_files_hold_what_sequential_ones_do),
        FIXTURE_TEST(a_piece_of_each_file_in_turn_is_laid_out),
        FIXTURE_TEST(sequential_files_are_laid_one_behind_the_other),
        FIXTURE_TEST(files_come_in_whole_groups_within_the_limit),
        FIXTURE_TEST(files_that_find_no_space_leave_those_before_them),
        FIXTURE_TEST(a_stop_at_any_time_leaves_nothing),
        FIXTURE_TEST(files_of_the_same_layout_alone_are_used_again),
        FIXTURE_TEST(a_marker_that_says_nothing_of_it_means_sequential),
        FIXTURE_TEST(the_marker_is_believed),
        FIXTURE_TEST(a_layout_that_nobody_knows_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
