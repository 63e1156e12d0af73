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
    struct result_cell cells[] = {repeated(65536, 700, 800, 910, 3),
                                  repeated(1048576, 900, 1000, 1100, 3)};
    check(cells, 2, 65536, "within the spread");
    cells[0].high = 899; /* just no overlap */
    check(cells, 2, 1048576, "carries the most");
    cells[0].high = 950; /* overlap, but two runs say nothing about noise */
    cells[0].run_count = 2;
    check(cells, 2, 1048576, "carries the most");
}

static void test_unfinished_cells_are_left_out(void **state)
{
    (void)state;
    struct result_cell cells[] = {cell(4096, 990), cell(65536, 960), cell(1048576, 2000)};
    cells[0].complete = cells[2].complete = false;
    check(cells, 3, 65536, "64 KiB");
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
        cmocka_unit_test(test_unfinished_cells_are_left_out),
        cmocka_unit_test(test_one_cell),
        cmocka_unit_test(test_nothing_to_recommend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
