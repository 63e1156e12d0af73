#include "model_fixture.h"

/* The arithmetic of a modelled drive: what a read takes, what overlaps, in which order reads are
 * done, and what a stripe makes of them. */

static const uint32_t block_sizes[] = {4096, 65536, 1 << 20, 8 << 20};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof *block_sizes, READS = 4000 };

static double reads_per_second(const char *spec, uint32_t queue, uint32_t bytes)
{
    struct load load = {.spec = spec,
                        .queue = queue,
                        .bytes = bytes,
                        .reads = READS,
                        .span_bytes = UINT64_C(1) << 36};
    return READS / fixture_run(load).seconds;
}

static void test_the_example_of_the_contract(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCK_SIZES; i++) {
        double read_s = 0.008 + block_sizes[i] / (40.0 * 1048576);
        double rate = reads_per_second("position=8ms,rate=40M,depth=1", 1, block_sizes[i]);
        assert_near(rate, 1 / read_s, 1e-6);
        /* more reads wait, and nothing is faster for it */
        rate = reads_per_second("position=8ms,rate=40M,depth=1", 64, block_sizes[i]);
        assert_near(rate, 1 / read_s, 1e-6);
    }
}

/* `depth` positions at once; transfers one by one: whichever is the narrower. */
static void test_positions_overlap_and_transfers_do_not(void **state)
{
    (void)state;
    static const uint32_t depths[] = {1, 2, 4, 32};
    for (uint32_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "position=2ms,rate=100M,depth=%u", depths[i]);
        for (uint32_t j = 0; j < BLOCK_SIZES; j++) {
            double transfer_s = block_sizes[j] / (100.0 * 1048576);
            double wanted = fmin(1 / transfer_s, depths[i] / (0.002 + transfer_s));
            assert_near(reads_per_second(spec, 128, block_sizes[j]), wanted, 0.01);
            /* a queue that is shorter than the drive's depth is the limit itself */
            wanted = fmin(1 / transfer_s, fmin(depths[i], 3) / (0.002 + transfer_s));
            assert_near(reads_per_second(spec, 3, block_sizes[j]), wanted, 0.01);
        }
    }
}

static void test_overhead_counts_for_each_part(void **state)
{
    (void)state;
    const char *whole = "position=1ms,rate=50M,overhead=300us";
    const char *split = "position=1ms,rate=50M,overhead=300us,split=100000";
    for (uint32_t i = 0; i < BLOCK_SIZES; i++) {
        double read_s = 0.001 + block_sizes[i] / (50.0 * 1048576);
        double parts = ceil(block_sizes[i] / 100000.0);
        assert_near(reads_per_second(whole, 1, block_sizes[i]), 1 / (read_s + 0.0003), 1e-6);
        assert_near(reads_per_second(split, 1, block_sizes[i]), 1 / (read_s + parts * 0.0003),
                    1e-6);
    }
}

static void test_spread_times_have_the_mean_asked_for(void **state)
{
    (void)state;
    struct load load = {.bytes = 4096, .queue = 1, .reads = 40000, .seed = 5};
    double transfer_s = 4096 / (100.0 * 1048576);
    load.spec = "position=5ms,spread=uniform,rate=100M";
    assert_near(fixture_run(load).mean_s, 0.005 + transfer_s, 0.01);
    load.spec = "position=5ms,spread=exponential,rate=100M";
    assert_near(fixture_run(load).mean_s, 0.005 + transfer_s, 0.02);
}

/* The shape too: shares of the times below the mean and below half of it. */
static void test_spread_times_have_their_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static const char *const specs[] = {"position=5ms,spread=uniform",
                                        "position=5ms,spread=exponential"};
    static const double below_mean[] = {0.5, 0.632121}, below_half[] = {0.25, 0.393469};
    for (uint32_t i = 0; i < 2; i++) {
        struct model *model = fixture_model(specs[i]);
        uint64_t now_ns = FIXTURE_BEGIN_NS;
        double mean = 0, half = 0, most_s = 0;
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            struct model_request request = {.bytes = 512};
            model_submit(model, &request, now_ns);
            double time_s = (double)(model_next_ns(model) - now_ns) / 1e9;
            now_ns = model_next_ns(model);
            assert_ptr_equal(model_take(model, now_ns), &request);
            mean += (time_s < 0.005) / (double)DRAWS;
            half += (time_s < 0.0025) / (double)DRAWS;
            most_s = fmax(most_s, time_s);
        }
        assert_near(mean, below_mean[i], 0.03);
        assert_near(half, below_half[i], 0.04);
        assert_true(i == 0 ? most_s <= 0.01 : most_s > 0.03);
        model_free(model);
    }
}

/* Two reads are positioned at once; the third comes in when the first has been transferred, which
 * frees its place, and not when the second was ready. */
static void test_a_place_is_held_until_the_transfer_ends(void **state)
{
    (void)state;
    struct model *model = fixture_model("position=10ms,overhead=4ms,depth=2");
    struct model_request requests[4];
    static const uint64_t done_ms[] = {14, 18, 28, 32};
    for (uint32_t i = 0; i < 4; i++) {
        requests[i] = (struct model_request){.bytes = 4096};
        model_submit(model, &requests[i], FIXTURE_BEGIN_NS + (i == 3 ? 12000000 : 0));
    }
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t done_ns = FIXTURE_BEGIN_NS + done_ms[i] * 1000000;
        assert_true(model_next_ns(model) == done_ns);
        assert_null(model_take(model, done_ns - 1));
        assert_ptr_equal(model_take(model, done_ns), &requests[i]);
        assert_true(requests[i].done_ns == done_ns);
    }
    model_free(model);
}

/* Who is ready first is transferred first, whoever came first; what is done comes in order, also
 * when it is fetched all at once. */
static void test_reads_are_done_in_the_order_of_being_ready(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static struct model_request requests[MANY];
    struct model *model = fixture_model("position=10ms,spread=uniform,overhead=1us,depth=1000");
    uint32_t overtaken = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        requests[i] = (struct model_request){.bytes = 4096};
        model_submit(model, &requests[i], FIXTURE_BEGIN_NS);
    }
    uint64_t before_ns = 0;
    struct model_request *before = NULL, *request;
    uint32_t taken = 0;
    while ((request = model_take(model, FIXTURE_BEGIN_NS + UINT64_C(1000000000))) != NULL) {
        assert_true(request->done_ns >= before_ns + 1000);
        overtaken += before != NULL && request < before;
        before = request;
        before_ns = request->done_ns;
        taken++;
    }
    assert_int_equal(taken, MANY);
    assert_true(overtaken > MANY / 4);
    model_free(model);
}

static void test_with_equal_times_the_oldest_is_first(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static struct model_request requests[MANY];
    struct model *model = fixture_model("position=1ms,rate=1G,depth=64");
    for (uint32_t i = 0; i < MANY; i++) {
        requests[i] = (struct model_request){.bytes = 4096};
        model_submit(model, &requests[i], FIXTURE_BEGIN_NS);
    }
    for (uint32_t i = 0; i < MANY; i++)
        assert_ptr_equal(model_take(model, FIXTURE_BEGIN_NS + UINT64_C(9000000000)), &requests[i]);
    model_free(model);
}

/* k members, k times the reads, where a read is within a unit; or k times the rate in one read. */
static void test_a_stripe_is_as_many_drives(void **state)
{
    (void)state;
    double one = reads_per_second("position=5ms,rate=50M", 64, 65536);
    double four = reads_per_second("position=5ms,rate=50M,stripe=4x64K", 256, 65536);
    assert_near(four, 4 * one, 0.05); /* random places: now and then a member waits */
    double part_s = 0.005 + 262144 / (50.0 * 1048576);
    four = reads_per_second("position=5ms,rate=50M,stripe=4x64K", 1, 1 << 20);
    assert_near(four, 1 / part_s, 1e-6);
    assert_near(reads_per_second("position=5ms,rate=50M,stripe=1x64K", 1, 1 << 20),
                1 / (0.005 + 1048576 / (50.0 * 1048576)), 1e-6);
}

/* What each member gets of a read, seen by the time that the slowest takes, against counting bytes
 * one by one. */
static void test_a_stripe_cuts_reads_by_its_units(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t members = 1 + (uint32_t)random_below(&random, 7);
        uint32_t unit = 512 * (1 + (uint32_t)random_below(&random, 5));
        uint64_t offset = random_below(&random, 40000);
        uint32_t bytes = 1 + (uint32_t)random_below(&random, 20000);
        uint64_t of_member[7] = {0}, most = 0;
        char spec[64];
        for (uint64_t at = offset; at < offset + bytes; at++)
            of_member[at / unit % members]++;
        for (uint32_t i = 0; i < members; i++)
            most = of_member[i] > most ? of_member[i] : most;
        snprintf(spec, sizeof spec, "rate=1000000,stripe=%ux%u", members, unit);
        struct model *model = fixture_model(spec);
        struct model_request request = {.offset_bytes = offset, .bytes = bytes};
        model_submit(model, &request, FIXTURE_BEGIN_NS);
        uint64_t done_ns = FIXTURE_BEGIN_NS + most * 1000; /* 1 us a byte */
        while (model_next_ns(model) < done_ns)
            assert_null(model_take(model, model_next_ns(model)));
        assert_ptr_equal(model_take(model, done_ns), &request);
        assert_true(request.done_ns == done_ns);
        model_free(model);
    }
}

/* More reads than the drive has parts for. */
static void test_any_number_of_reads_may_be_under_way(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct model_request *requests = calloc(MANY, sizeof *requests);
    struct model *model = fixture_model("rate=1G,depth=4,stripe=3x4K");
    assert_non_null(requests);
    for (uint32_t i = 0; i < MANY; i++) {
        requests[i] = (struct model_request){.offset_bytes = i * UINT64_C(16384), .bytes = 16384};
        model_submit(model, &requests[i], FIXTURE_BEGIN_NS);
    }
    for (uint32_t i = 0; i < MANY; i++)
        assert_non_null(model_take(model, FIXTURE_BEGIN_NS + UINT64_C(10000000000)));
    assert_null(model_take(model, FIXTURE_BEGIN_NS + UINT64_C(10000000000)));
    double wanted_s = MANY * 16384.0 / 3 / (1 << 30), last_ns = 0;
    for (uint32_t i = 0; i < MANY; i++)
        last_ns = fmax(last_ns, (double)(requests[i].done_ns - FIXTURE_BEGIN_NS));
    assert_near(last_ns / 1e9, wanted_s, 0.01);
    model_free(model);
    free(requests);
}

static void test_the_same_seed_gives_the_same_answers(void **state)
{
    (void)state;
    struct load load = {.spec = "position=4ms,spread=exponential,rate=90M,depth=8,"
                                "stripe=3x16K,stall-random=30ms@200ms,slow=0.5@1s,slow-rest=1s",
                        .queue = 20,
                        .bytes = 65536,
                        .reads = 3000,
                        .span_bytes = UINT64_C(1) << 34,
                        .seed = 1};
    struct load_result one = fixture_run(load), same = fixture_run(load);
    load.seed = 2;
    struct load_result other = fixture_run(load);
    assert_true(one.print == same.print);
    assert_true(one.print != other.print);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_example_of_the_contract),
        cmocka_unit_test(test_positions_overlap_and_transfers_do_not),
        cmocka_unit_test(test_overhead_counts_for_each_part),
        cmocka_unit_test(test_spread_times_have_the_mean_asked_for),
        cmocka_unit_test(test_spread_times_have_their_distribution),
        cmocka_unit_test(test_a_place_is_held_until_the_transfer_ends),
        cmocka_unit_test(test_reads_are_done_in_the_order_of_being_ready),
        cmocka_unit_test(test_with_equal_times_the_oldest_is_first),
        cmocka_unit_test(test_a_stripe_is_as_many_drives),
        cmocka_unit_test(test_a_stripe_cuts_reads_by_its_units),
        cmocka_unit_test(test_any_number_of_reads_may_be_under_way),
        cmocka_unit_test(test_the_same_seed_gives_the_same_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
