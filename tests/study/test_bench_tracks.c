#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench_fixture.h"

/*
 * Where tracks begin, in their blocks and in their files, on a modelled drive: nothing is read, and
 * no time passes.
 */

enum { TRACKS = 200, SEED = 7, BLOCK_BYTES = 65536, MANY_BYTES = 1 << 30, FEW_BYTES = 100 << 20 };

/* A bench with the tracks made ready; `pool_bytes` bounds the test files they share. */
static struct scene *tracks_new(enum plan_start start, struct track_format format,
                                uint64_t pool_bytes, uint32_t *lead_in)
{
    const struct plan plan = {.block_bytes = {BLOCK_BYTES},
                              .format = format,
                              .buffer_s = 4,
                              .pool_bytes = pool_bytes,
                              .start = start};
    struct scene *scene = scene_new("position=1ms", &plan);
    assert_done(scene, bench_set_tracks(&scene->bench, TRACKS, SEED, lead_in, &scene->error));
    return scene;
}

static const struct track_format cd_mono = {CONTAINER_WAV, ENCODING_PCM16, 44100, 1};

static int by_size(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static uint32_t count_in_order(const struct bench *bench)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < TRACKS; i++)
        count += bench->tracks[i].phase_bytes > bench->tracks[i - 1].phase_bytes;
    return count;
}

static void test_scattered_tracks_begin_in_each_part_of_a_block_in_no_order(void **state)
{
    (void)state;
    uint32_t lead_in;
    struct scene *scene = tracks_new(PLAN_START_SCATTERED, cd_mono, MANY_BYTES, &lead_in);
    assert_in_range(count_in_order(&scene->bench), TRACKS / 4, 3 * TRACKS / 4);
    uint32_t phases[TRACKS];
    for (uint32_t i = 0; i < TRACKS; i++)
        phases[i] = scene->bench.tracks[i].phase_bytes;
    qsort(phases, TRACKS, sizeof *phases, by_size);
    for (uint32_t part = 0; part < TRACKS; part++) {
        double begin = (double)BLOCK_BYTES * part / TRACKS; /* a phase is cut to a whole frame */
        assert_true(phases[part] + 2 > begin);
        assert_true(phases[part] < begin + (double)BLOCK_BYTES / TRACKS);
    }
    scene_free(scene);
}

static void test_staggered_tracks_follow_each_other_at_equal_distances(void **state)
{
    (void)state;
    uint32_t lead_in;
    struct scene *scene = tracks_new(PLAN_START_STAGGERED, cd_mono, MANY_BYTES, &lead_in);
    for (uint32_t i = 0; i < TRACKS; i++) {
        uint32_t exact = (uint32_t)((uint64_t)BLOCK_BYTES * i / TRACKS);
        assert_int_equal(scene->bench.tracks[i].phase_bytes, exact - exact % 2);
    }
    scene_free(scene);
}

static void test_aligned_tracks_begin_where_a_block_does(void **state)
{
    (void)state;
    uint32_t lead_in;
    struct scene *scene = tracks_new(PLAN_START_ALIGNED, cd_mono, MANY_BYTES, &lead_in);
    for (uint32_t i = 0; i < TRACKS; i++)
        assert_int_equal(scene->bench.tracks[i].phase_bytes, 0);
    scene_free(scene);
}

static void test_tracks_begin_at_a_whole_frame(void **state)
{
    (void)state;
    const struct track_format format = {CONTAINER_AIFF, ENCODING_PCM24, 96000, 5};
    for (int start = 0; start < PLAN_START_COUNT; start++) {
        uint32_t lead_in;
        struct scene *scene = tracks_new((enum plan_start)start, format, MANY_BYTES, &lead_in);
        for (uint32_t i = 0; i < TRACKS; i++)
            assert_int_equal(scene->bench.tracks[i].phase_bytes % 15, 0);
        scene_free(scene);
    }
}

/* The same drawn anew from the same seed, and something else from another. */
static void test_the_seed_decides(void **state)
{
    (void)state;
    uint32_t lead_in, differ = 0;
    struct scene *one = tracks_new(PLAN_START_SCATTERED, cd_mono, MANY_BYTES, &lead_in);
    uint32_t phases[TRACKS], starts[TRACKS];
    for (uint32_t i = 0; i < TRACKS; i++) {
        phases[i] = one->bench.tracks[i].phase_bytes;
        starts[i] = one->bench.tracks[i].start_block;
    }
    for (uint64_t seed = SEED; seed <= SEED + 1; seed++) {
        assert_done(one, bench_set_tracks(&one->bench, TRACKS, seed, &lead_in, &one->error));
        for (uint32_t i = 0; i < TRACKS; i++) {
            bool same = one->bench.tracks[i].phase_bytes == phases[i] &&
                        one->bench.tracks[i].start_block == starts[i];
            if (seed == SEED)
                assert_true(same);
            else
                differ += !same;
        }
    }
    assert_true(differ > TRACKS * 9 / 10);
    scene_free(one);
}

/* All rings are full, but for one block each of those that would be short of one last. */
static void test_the_lead_in_is_missing_where_most_is_left_to_play(void **state)
{
    (void)state;
    for (int start = 0; start < PLAN_START_COUNT; start++) {
        uint32_t lead_in, missing = 0, latest_missing = 0, earliest_held = UINT32_MAX;
        struct scene *scene = tracks_new((enum plan_start)start, cd_mono, MANY_BYTES, &lead_in);
        for (uint32_t i = 0; i < TRACKS; i++) {
            const struct track *track = &scene->bench.tracks[i];
            uint32_t phase = track->phase_bytes;
            if (track->next_block == track->slots) {
                earliest_held = phase < earliest_held ? phase : earliest_held;
            } else {
                assert_int_equal(track->next_block, track->slots - 1);
                latest_missing = phase > latest_missing ? phase : latest_missing;
                missing++;
            }
            assert_int_equal(track->first_read_block, track->next_block);
            assert_int_equal(track->published_blocks, track->next_block);
        }
        assert_int_equal(missing, lead_in);
        /* 0.12 s of 200 tracks of 88,200 bytes/s each is 32.3 blocks. */
        assert_int_equal(lead_in, 32);
        assert_true(latest_missing <= earliest_held);
        scene_free(scene);
    }
}

/* Up to four tracks play a file: each in its own quarter of it. */
static void test_tracks_that_share_a_file_start_far_apart(void **state)
{
    (void)state;
    uint32_t lead_in, seen[64] = {0};
    struct scene *scene = tracks_new(PLAN_START_SCATTERED, cd_mono, FEW_BYTES, &lead_in);
    uint32_t files = pool_files_limit(scene->bench.pool);
    uint32_t parts = (TRACKS + files - 1) / files;
    assert_in_range(files, 50, 64);
    for (uint32_t i = 0; i < TRACKS; i++) {
        const struct track *track = &scene->bench.tracks[i];
        uint32_t part =
            (uint32_t)(((track->start_block + UINT64_C(1)) * parts - 1) / track->region_blocks);
        uint32_t file = bench_file_of(&scene->bench, i);
        assert_in_range(file, 0, files - 1);
        assert_int_equal(seen[file] & (UINT32_C(1) << part), 0);
        seen[file] |= UINT32_C(1) << part;
    }
    scene_free(scene);
}

static void test_flat_out_rings_begin_empty(void **state)
{
    (void)state;
    uint32_t lead_in;
    struct scene *scene = tracks_new(PLAN_START_SCATTERED, cd_mono, MANY_BYTES, &lead_in);
    assert_done(scene, bench_set_flood(&scene->bench, TRACKS, SEED, &scene->error));
    for (uint32_t i = 0; i < TRACKS; i++)
        assert_int_equal(ring_readable(scene->bench.tracks[i].ring), 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scattered_tracks_begin_in_each_part_of_a_block_in_no_order),
        cmocka_unit_test(test_staggered_tracks_follow_each_other_at_equal_distances),
        cmocka_unit_test(test_aligned_tracks_begin_where_a_block_does),
        cmocka_unit_test(test_tracks_begin_at_a_whole_frame),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_the_lead_in_is_missing_where_most_is_left_to_play),
        cmocka_unit_test(test_tracks_that_share_a_file_start_far_apart),
        cmocka_unit_test(test_flat_out_rings_begin_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
