#include "study/recommend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A cell of one search. */
static struct result_cell cell(uint32_t block_bytes, uint32_t sustained)
{
    return (struct result_cell){.block_bytes = block_bytes,
                                .complete = true,
                                .sustained = sustained,
                                .low = sustained,
                                .high = sustained,
                                .run_count = 1};
}

static struct result_cell repeated(uint32_t block_bytes, uint32_t low, uint32_t middle,
                                   uint32_t high, size_t runs)
{
    struct result_cell made = cell(block_bytes, middle);
    made.low = low;
    made.high = high;
    made.run_count = runs;
    return made;
}

static void check(struct result_cell *cells, size_t count, uint32_t block_bytes, const char *says)
{
    struct result_volume volume = {.cells = cells, .cell_count = count};
    recommend(&volume);
    assert_int_equal(volume.recommended_block_bytes, block_bytes);
    if (strstr(volume.recommendation, says) == NULL)
        fail_msg("`%s` does not say `%s`", volume.recommendation, says);
    assert_true(strlen(volume.recommendation) < sizeof volume.recommendation - 1);
}

static void test_the_smallest_within_five_percent(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 500), cell(65536, 949), cell(131072, 950),
                                  cell(262144, 990), cell(1048576, 1000)};
    check(cells, 5, 131072, "128 KiB: with 950 tracks");
    check(cells, 5, 131072, "1000 at 1 MiB");
    cells[1].sustained = 951;
    check(cells, 5, 65536, "64 KiB: with 951 tracks");
}

static void test_the_best_where_no_smaller_comes_near(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 10), cell(65536, 100), cell(1048576, 200)};
    check(cells, 3, 1048576, "1 MiB: it carries the most, 200 tracks");
}

/* The order of the command line is the user's. */
static void test_cells_in_any_order(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(1048576, 1000), cell(4096, 960), cell(65536, 990)};
    check(cells, 3, 4096, "4 KiB: with 960 tracks");
}

static void test_a_smaller_block_may_be_the_best(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(65536, 1000), cell(1048576, 800)};
    check(cells, 2, 65536, "carries the most, 1000 tracks");
}

static void test_repeats_that_overlap_are_as_good(void **state)
{
    (void)state;
    struct result_cell cells[] = {repeated(65536, 850, 880, 900, 3),
                                  repeated(1048576, 900, 1000, 1100, 3)};
    check(cells, 2, 65536, "64 KiB: with 880 tracks it is the smallest block within the spread");
    cells[0].high = 899;
    check(cells, 2, 1048576, "carries the most");
    cells[0].high = 900;
    cells[0].run_count = cells[1].run_count = 2;
    check(cells, 2, 65536, "within the spread");
    cells[0].run_count = 1; /* one search has no spread */
    check(cells, 2, 1048576, "carries the most");
    cells[0].run_count = 2;
    cells[1].run_count = 1;
    check(cells, 2, 1048576, "carries the most");
}

/* Of several that overlap with the best the smallest, and none that overlaps with those alone. */
static void test_the_smallest_of_those_that_overlap_with_the_best(void **state)
{
    (void)state;
    struct result_cell cells[] = {
        repeated(16384, 600, 700, 830, 3), repeated(262144, 850, 930, 1000, 3),
        repeated(65536, 820, 880, 920, 3), repeated(1048576, 900, 1000, 1100, 3)};
    check(cells, 4, 65536, "with 880 tracks");
}

/* A size that plays not even one track is never the answer. */
static void test_no_tracks_are_not_equal_to_some(void **state)
{
    (void)state;
    struct result_cell cells[] = {repeated(65536, 0, 0, 1, 3), repeated(1048576, 1, 2, 2, 3)};
    check(cells, 2, 1048576, "carries the most");
}

static void make_irregular(struct result_cell *cell, double worst_s, double ride_out_s)
{
    cell->irregular = true;
    cell->sustained = cell->low = cell->high = 0;
    cell->stalls = (struct result_stalls){
        .seen = 6, .observed_s = 120, .worst_s = worst_s, .ride_out_s = ride_out_s};
}

static void test_irregular_sizes_are_left_out(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 0), cell(65536, 940), cell(1048576, 1000)};
    make_irregular(&cells[0], 2, 2.5);
    check(cells, 3, 1048576, "1 MiB: it carries the most");
    cells[1].sustained = 960;
    check(cells, 3, 65536, "64 KiB: with 960 tracks");
    cells[0].low = cells[0].high = 1000; /* whatever stands there */
    cells[0].sustained = 1000;
    check(cells, 3, 65536, "64 KiB: with 960 tracks");
}

static void test_stalls_at_every_size(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 0), cell(65536, 0)};
    make_irregular(&cells[0], 2, 2.5);
    make_irregular(&cells[1], 2.42, 3);
    check(cells, 2, 0,
          "No block size to recommend: the drive stalls for up to 2.4 s, which no block size "
          "mends; measure again with --buffer 3, which would ride that out.");
    check(cells, 1, 0, "--buffer 2.5, which");
    cells[0].stalls.ride_out_s = 0;
    check(cells, 1, 0, "rings run dry however few tracks play");
    cells[1].complete = false;
    check(cells, 2, 0, "not all were measured to the end");
}

static void test_an_unfinished_run_recommends_nothing(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 990), cell(65536, 960), cell(1048576, 2000)};
    cells[2].complete = false;
    check(cells, 3, 0, "not all were measured to the end");
}

/* Nobody knows what a drive would do that something else stopped short of. */
static void test_a_count_that_the_drive_did_not_stop(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 490), cell(65536, 500)};
    cells[0].limit = cells[1].limit = LIMIT_DISK_BANDWIDTH;
    check(cells, 2, 4096, "gain nothing");
    cells[1].limit = LIMIT_MAX_TRACKS;
    check(cells, 2, 4096, "not what stopped the count");
}

static void test_one_cell(void **state)
{
    (void)state;
    struct result_cell only = cell(65536, 123);
    check(&only, 1, 65536, "64 KiB carries 123 tracks; it is the only block size");
}

static void test_nothing_to_recommend(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 0), cell(65536, 0)};
    check(NULL, 0, 0, "No block size to recommend");
    check(cells, 2, 0, "No block size to recommend");
    cells[1] = cell(65536, 100);
    cells[1].complete = false;
    check(cells, 2, 0, "No block size to recommend");
    check(cells + 1, 1, 0, "No block size to recommend");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_smallest_within_five_percent),
        cmocka_unit_test(test_the_best_where_no_smaller_comes_near),
        cmocka_unit_test(test_cells_in_any_order),
        cmocka_unit_test(test_a_smaller_block_may_be_the_best),
        cmocka_unit_test(test_repeats_that_overlap_are_as_good),
        cmocka_unit_test(test_the_smallest_of_those_that_overlap_with_the_best),
        cmocka_unit_test(test_no_tracks_are_not_equal_to_some),
        cmocka_unit_test(test_irregular_sizes_are_left_out),
        cmocka_unit_test(test_stalls_at_every_size),
        cmocka_unit_test(test_an_unfinished_run_recommends_nothing),
        cmocka_unit_test(test_a_count_that_the_drive_did_not_stop),
        cmocka_unit_test(test_one_cell),
        cmocka_unit_test(test_nothing_to_recommend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
