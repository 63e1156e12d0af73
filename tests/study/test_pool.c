#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakes/skip.h"
#include "pool_fixture.h"
#include "study/noise.h"

#include <signal.h>
#include <sndfile.h>
#include <sys/resource.h>

/* What lies in test files, and how they come and stay. */

static unsigned char *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *content = malloc(*bytes);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, *bytes, file), *bytes);
    fclose(file);
    return content;
}

/* A stored sample as libsndfile's 32-bit integers have it: high bits first; floats as their bits.
 */
static int32_t sample_at(const struct track_format *format, const unsigned char *bytes)
{
    uint32_t width = format_sample_bytes(format->encoding), value = 0;
    for (uint32_t i = 0; i < width; i++)
        value = value << 8 | bytes[format_is_big_endian(format) ? i : width - 1 - i];
    return (int32_t)(value << 8 * (4 - width));
}

/* libsndfile, opening the file by its name, must find exactly the frames that were meant. */
static void check_by_libsndfile(const struct track_format *format, const char *path,
                                const unsigned char *audio, uint64_t frames)
{
    static const int containers[] = {SF_FORMAT_WAV, SF_FORMAT_RF64, SF_FORMAT_W64, SF_FORMAT_AIFF,
                                     SF_FORMAT_CAF};
    static const int encodings[] = {SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32,
                                    SF_FORMAT_FLOAT};
    SF_INFO info = {0};
    SNDFILE *file = sf_open(path, SFM_READ, &info);
    assert_non_null(file);
    assert_int_equal(info.format & SF_FORMAT_TYPEMASK, containers[format->container]);
    assert_int_equal(info.format & SF_FORMAT_SUBMASK, encodings[format->encoding]);
    assert_int_equal(info.samplerate, format->sample_rate_hz);
    assert_int_equal(info.channels, format->channels);
    assert_int_equal(info.frames, frames);
    const uint64_t samples = frames * format->channels;
    int32_t *values = malloc(samples * sizeof *values);
    assert_non_null(values);
    if (format->encoding == ENCODING_FLOAT32)
        assert_int_equal(sf_readf_float(file, (float *)(void *)values, (sf_count_t)frames), frames);
    else
        assert_int_equal(sf_readf_int(file, values, (sf_count_t)frames), frames);
    const uint32_t width = format_sample_bytes(format->encoding);
    for (uint64_t i = 0; i < samples; i++) {
        if (values[i] != sample_at(format, audio + i * width))
            fail_msg("%s: sample %llu differs", path, (unsigned long long)i);
    }
    free(values);
    sf_close(file);
}

static void check_files(struct fixture *fixture, uint32_t files)
{
    const struct track_format *format = &fixture->options.format;
    for (uint32_t index = 0; index < files; index++) {
        char path[FIXTURE_PATH_BYTES];
        size_t bytes;
        pool_file_path(fixture->pool, index, path, sizeof path);
        unsigned char *content = read_whole(path, &bytes);
        const uint64_t frames = pool_file_frames(fixture->pool);
        const size_t audio_bytes = frames * format_frame_bytes(format);
        assert_true(audio_bytes >= fixture->options.min_file_bytes);
        assert_int_equal(bytes, pool_data_offset(fixture->pool) + audio_bytes);
        unsigned char *expected = malloc(audio_bytes);
        assert_non_null(expected);
        noise_fill(format, fixture->options.seed, index, 0, expected, audio_bytes);
        assert_memory_equal(content + pool_data_offset(fixture->pool), expected, audio_bytes);
        check_by_libsndfile(format, path, expected, frames);
        free(expected);
        free(content);
    }
}

static void every_format_holds_the_noise_and_reads_back(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t channel_counts[] = {1, 2, 3, 1024};
    for (int container = 0; container < CONTAINER_COUNT; container++) {
        for (int encoding = 0; encoding < ENCODING_COUNT; encoding++) {
            for (int c = 0; c < 4; c++) {
                fixture->options.format =
                    (struct track_format){(enum container)container, (enum encoding)encoding,
                                          c % 2 == 0 ? 44100 : 768000, channel_counts[c]};
                open_pool(fixture);
                grow_pool(fixture, c == 0 ? 2 : 1);
                assert_int_equal(pool_files(fixture->pool), c == 0 ? 2 : 1);
                check_files(fixture, pool_files(fixture->pool));
                close_pool(fixture);
                assert_false(exists(fixture, ""));
            }
        }
    }
}

/* More than one piece, and a last one that is not whole. */
static void a_long_file_is_seamless(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.format = (struct track_format){CONTAINER_CAF, ENCODING_PCM24, 48000, 5};
    fixture->options.min_file_bytes = (10 << 20) + 12345;
    open_pool(fixture);
    grow_pool(fixture, 2);
    check_files(fixture, 2);
    close_pool(fixture);
}

static void what_libsndfile_cannot_hold_is_refused_before_anything_is_made(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.format.channels = 1025;
    assert_open_fails(fixture, ERROR_USAGE, "1025 channels");
    assert_false(exists(fixture, ""));
}

/* All blocks are really there: no hole, no mere reservation. */
static void files_take_the_space_of_their_bytes(void **state)
{
    struct fixture *fixture = *state;
    open_pool(fixture);
    grow_pool(fixture, 40); /* more than one batch */
    assert_int_equal(pool_files(fixture->pool), 40);
    for (uint32_t index = 0; index < 40; index++) {
        char path[FIXTURE_PATH_BYTES];
        struct stat status;
        pool_file_path(fixture->pool, index, path, sizeof path);
        assert_int_equal(stat(path, &status), 0);
        assert_true((uint64_t)status.st_blocks * 512 >= (uint64_t)status.st_size);
        assert_true((uint64_t)status.st_size <= pool_bytes(fixture->pool) / 40);
    }
    close_pool(fixture);
}

static void the_limit_holds(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.limit_bytes = 1 << 20;
    open_pool(fixture);
    assert_int_equal(pool_limit_bytes(fixture->pool), 1 << 20);
    assert_int_equal(pool_files_limit(fixture->pool), 3);
    grow_pool(fixture, 1000);
    assert_int_equal(pool_files(fixture->pool), 3);
    assert_true(pool_bytes(fixture->pool) <= 1 << 20);
    grow_pool(fixture, 2); /* never shrinks */
    assert_int_equal(pool_files(fixture->pool), 3);
    close_pool(fixture);
    fixture->options.limit_bytes = 1; /* one file there is, whatever was asked */
    open_pool(fixture);
    grow_pool(fixture, 1000);
    assert_int_equal(pool_files(fixture->pool), 1);
    close_pool(fixture);
}

static ino_t inode_of(const struct fixture *fixture, uint32_t index)
{
    char path[FIXTURE_PATH_BYTES];
    struct stat status;
    pool_file_path(fixture->pool, index, path, sizeof path);
    assert_int_equal(stat(path, &status), 0);
    return status.st_ino;
}

static void matching_files_are_used_again_and_damaged_ones_are_not(void **state)
{
    struct fixture *fixture = *state;
    char path[FIXTURE_PATH_BYTES];
    fixture->options.keep = true;
    open_pool(fixture);
    grow_pool(fixture, 4);
    uint64_t frames = pool_file_frames(fixture->pool);
    ino_t first = inode_of(fixture, 0);
    close_pool(fixture);
    fixture->options.min_file_bytes /= 2; /* a longer file serves as well */
    open_pool(fixture);
    assert_int_equal(pool_files(fixture->pool), 4);
    assert_int_equal(pool_file_frames(fixture->pool), frames);
    assert_int_equal(inode_of(fixture, 0), first);
    close_pool(fixture);
    assert_int_equal(truncate(inside(fixture, "track-000001.wav", path), 5000), 0);
    put_file(fixture, "track-000004.wav.part", "cut off");
    open_pool(fixture); /* all behind the damaged one go: they must be contiguous */
    assert_int_equal(pool_files(fixture->pool), 1);
    assert_false(exists(fixture, "track-000001.wav"));
    assert_false(exists(fixture, "track-000003.wav"));
    assert_false(exists(fixture, "track-000004.wav.part"));
    grow_pool(fixture, 3);
    assert_int_equal(inode_of(fixture, 0), first);
    check_files(fixture, 3);
    close_pool(fixture);
    fixture->options.limit_bytes = 700000; /* room for two */
    fixture->options.keep = false;
    open_pool(fixture);
    assert_int_equal(pool_files(fixture->pool), 2);
    assert_false(exists(fixture, "track-000002.wav"));
    close_pool(fixture);
}

static void other_files_are_made_anew(void **state)
{
    struct fixture *fixture = *state;
    const struct pool_options original = fixture->options;
    for (int change = 0; change < 7; change++) {
        fixture->options = original;
        fixture->options.keep = true;
        open_pool(fixture);
        grow_pool(fixture, 2);
        close_pool(fixture);
        fixture->options.seed += change == 0;
        fixture->options.format.sample_rate_hz += change == 1 ? 1 : 0;
        fixture->options.format.channels += change == 2;
        fixture->options.format.encoding = change == 3 ? ENCODING_PCM32 : ENCODING_PCM16;
        fixture->options.format.container = change == 4 ? CONTAINER_CAF : CONTAINER_WAV;
        fixture->options.min_file_bytes *= change == 5 ? 2 : 1;
        if (change == 6)
            put_file(fixture, "trackramp-pool", "trackramp-pool-1\ncontainer=wav\nencoding=pc");
        fixture->options.keep = false;
        open_pool(fixture);
        assert_int_equal(pool_files(fixture->pool), 0);
        assert_false(exists(fixture, "track-000000.wav"));
        assert_false(exists(fixture, "track-000001.wav"));
        grow_pool(fixture, 1);
        check_files(fixture, 1);
        close_pool(fixture);
        assert_false(exists(fixture, ""));
    }
}

static void nothing_stays_cached(void **state)
{
    struct fixture *fixture = *state;
    double resident = -2;
    size_t bytes;
    char path[FIXTURE_PATH_BYTES];
    open_pool(fixture);
    assert_int_equal(pool_evict(fixture->pool, &resident, &fixture->error), 0);
    assert_true(resident == 0);
    grow_pool(fixture, 3);
    free(read_whole(pool_file_path(fixture->pool, 1, path, sizeof path), &bytes));
    assert_int_equal(pool_evict(fixture->pool, &resident, &fixture->error), 0);
    close_pool(fixture);
    if (resident < 0)
        SKIP("this filesystem does not tell what is cached");
    assert_true(resident == 0);
}

static void files_open_for_streaming(void **state)
{
    struct fixture *fixture = *state;
    unsigned char expected[64], found[64];
    open_pool(fixture);
    grow_pool(fixture, 2);
    int file = pool_open_file(fixture->pool, 1, false, &fixture->error);
    assert_true(file >= 0);
    assert_true((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(pread(file, found, sizeof found, (off_t)pool_data_offset(fixture->pool)), 64);
    noise_fill(&fixture->options.format, 1, 1, 0, expected, sizeof expected);
    assert_memory_equal(found, expected, sizeof found);
    close(file);
    file = pool_open_file(fixture->pool, 1, true, &fixture->error);
    if (file >= 0) {
        assert_true((fcntl(file, F_GETFL) & O_DIRECT) != 0);
        close(file);
    } else {
        assert_error(fixture, ERROR_ENVIRONMENT, "--io buffered");
    }
    assert_int_equal(pool_open_file(fixture->pool, 2, false, &fixture->error), -1);
    assert_error(fixture, ERROR_ENVIRONMENT, "track-000002.wav");
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    file = pool_open_file(fixture->pool, 1, false, &fixture->error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(file, -1);
    assert_error(fixture, ERROR_ENVIRONMENT, "--max-tracks");
    close_pool(fixture);
}

/* A write may fail in the header, in the middle, at the end: nothing of that file stays. */
static void a_failed_write_leaves_the_files_before_it(void **state)
{
    struct fixture *fixture = *state;
    static const rlim_t limits[] = {1, 43, 44, 100, 1 << 20, (1 << 20) + 44, (2 << 20) - 1};
    fixture->options.min_file_bytes = 2 << 20;
    open_pool(fixture);
    grow_pool(fixture, 1);
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit low = {.rlim_cur = limits[i], .rlim_max = limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
        int result = pool_grow(fixture->pool, 2, &fixture->error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(result, -1);
        assert_error(fixture, ERROR_ENVIRONMENT, "track-000001.wav");
        assert_int_equal(pool_files(fixture->pool), 1);
        assert_false(exists(fixture, "track-000001.wav"));
        assert_false(exists(fixture, "track-000001.wav.part"));
    }
    grow_pool(fixture, 2);
    check_files(fixture, 2);
    close_pool(fixture);
}

struct watch {
    uint64_t calls, stop_at, last_done, wanted, widest_gap;
};

static int watch_progress(void *user, uint64_t done_bytes, uint64_t wanted_bytes)
{
    struct watch *watch = user;
    assert_true(done_bytes >= watch->last_done && done_bytes <= wanted_bytes);
    if (done_bytes - watch->last_done > watch->widest_gap)
        watch->widest_gap = done_bytes - watch->last_done;
    watch->last_done = done_bytes;
    watch->wanted = wanted_bytes;
    return ++watch->calls == watch->stop_at;
}

static void progress_is_told_and_can_stop_at_any_call(void **state)
{
    struct fixture *fixture = *state;
    struct watch watch = {0};
    fixture->options.progress = watch_progress;
    fixture->options.user = &watch;
    fixture->options.min_file_bytes = 3 << 20;
    open_pool(fixture);
    grow_pool(fixture, 3);
    assert_int_equal(watch.last_done, watch.wanted);
    assert_true(watch.wanted >= 9 << 20);
    assert_in_range(watch.widest_gap, 1, 64 << 20);
    close_pool(fixture);
    const uint64_t calls = watch.calls;
    for (uint64_t stop = 1; stop <= calls; stop++) {
        watch = (struct watch){.stop_at = stop};
        open_pool(fixture);
        assert_int_equal(pool_grow(fixture->pool, 3, &fixture->error), -1);
        assert_error(fixture, ERROR_INTERRUPTED, "interrupted");
        assert_int_equal(watch.calls, stop);
        close_pool(fixture);
        assert_false(exists(fixture, ""));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(every_format_holds_the_noise_and_reads_back),
        FIXTURE_TEST(a_long_file_is_seamless),
        FIXTURE_TEST(what_libsndfile_cannot_hold_is_refused_before_anything_is_made),
        FIXTURE_TEST(files_take_the_space_of_their_bytes),
        FIXTURE_TEST(the_limit_holds),
        FIXTURE_TEST(matching_files_are_used_again_and_damaged_ones_are_not),
        FIXTURE_TEST(other_files_are_made_anew),
        FIXTURE_TEST(nothing_stays_cached),
        FIXTURE_TEST(files_open_for_streaming),
        FIXTURE_TEST(a_failed_write_leaves_the_files_before_it),
        FIXTURE_TEST(progress_is_told_and_can_stop_at_any_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
