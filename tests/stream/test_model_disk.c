#include "model_fixture.h"

/* The disk: seek, platter, the order of reads; and that the presets do what their sources say. */

#define DISK "rpm=6000,seek=1ms:9ms,capacity=64G,rate=100M" /* a turn: 10 ms, 1 MiB of a track */

static uint64_t read_ns(struct model *model, uint64_t *now_ns, uint64_t offset_bytes,
                        uint32_t bytes)
{
    struct model_request request = {.offset_bytes = offset_bytes, .bytes = bytes};
    uint64_t begin_ns = *now_ns;
    model_submit(model, &request, begin_ns);
    *now_ns = model_next_ns(model);
    assert_ptr_equal(model_take(model, *now_ns), &request);
    return *now_ns - begin_ns;
}

static void assert_ms(uint64_t ns, double ms)
{
    if (fabs((double)ns / 1e6 - ms) > 0.0001)
        fail_msg("%.6f ms instead of %.6f", (double)ns / 1e6, ms);
}

static void test_the_platter_brings_a_place_by_its_angle(void **state)
{
    (void)state;
    struct model *model = fixture_model(DISK);
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    uint32_t quarter = 262144; /* of a track, 2.5 ms */
    assert_ms(read_ns(model, &now_ns, 0, quarter), 2.5);
    assert_ms(read_ns(model, &now_ns, quarter, quarter), 2.5);       /* right behind */
    assert_ms(read_ns(model, &now_ns, 3 * quarter, quarter), 5);     /* a quarter passes first */
    assert_ms(read_ns(model, &now_ns, 3 * quarter, quarter), 10);    /* once more: a whole turn */
    assert_ms(read_ns(model, &now_ns, 5 * quarter, quarter), 5);     /* the next track */
    assert_ms(read_ns(model, &now_ns, 0, quarter), 7.5 + 2.5 - 2.5); /* back to the first */
    assert_ms(read_ns(model, &now_ns, quarter + quarter / 4, quarter), 0.625 + 2.5); /* no seek */
    now_ns += 123456789;
    assert_ms(read_ns(model, &now_ns, 2 * quarter + quarter / 4, quarter), 2.5); /* read ahead */
    model_free(model);
}

static void test_a_seek_takes_the_root_of_its_distance(void **state)
{
    (void)state;
    static const struct {
        double share, seek_ms;
    } cases[] = {{1.0 / 1024, 1 + 8 / 32.0}, {0.25, 5}, {1, 9}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model *model = fixture_model(DISK);
        uint64_t now_ns = FIXTURE_BEGIN_NS;
        uint64_t far = (uint64_t)(cases[i].share * 64 * 1024) << 20; /* whole tracks */
        read_ns(model, &now_ns, 0, 4096);
        /* the head is at 4096 and the place at the beginning of a track: it comes round at 10 ms */
        uint64_t took_ns = read_ns(model, &now_ns, far, 4096);
        assert_ms(took_ns, 10);
        assert_ms(read_ns(model, &now_ns, 0, 1 << 20), 10 + 10 - 10 * 4096.0 / (1 << 20));
        /* with the angle chosen so that nothing is left to wait for */
        double angle = fmod(cases[i].seek_ms, 10) / 10;
        uint64_t place = far + (uint64_t)(angle * (1 << 20) / 512 + 1) * 512;
        took_ns = read_ns(model, &now_ns, place, 512);
        assert_true((double)took_ns / 1e6 >= cases[i].seek_ms);
        assert_true((double)took_ns / 1e6 < cases[i].seek_ms + 0.05);
        model_free(model);
    }
}

static void test_reading_on_reaches_the_rate(void **state)
{
    (void)state;
    struct load load = {.spec = DISK ",depth=4", .queue = 4, .bytes = 65536, .reads = 2000};
    assert_near(2000 * 65536.0 / fixture_run(load).seconds, 100 * 1048576.0, 1e-4);
    load.bytes = 4096;
    assert_near(2000 * 4096.0 / fixture_run(load).seconds, 100 * 1048576.0, 1e-4);
    /* and of two members twice the rate, wherever the units end */
    load.spec = DISK ",depth=4,stripe=2x64K";
    load.bytes = 98304;
    assert_near(2000 * 98304.0 / fixture_run(load).seconds, 200 * 1048576.0, 1e-3);
}

/* A third of the stroke is not the mean of a root: 8/15 is. And half a turn. */
static void test_random_reads_take_the_mean_expected(void **state)
{
    (void)state;
    struct load load = {
        .spec = DISK, .queue = 1, .bytes = 4096, .reads = 20000, .span_bytes = UINT64_C(64) << 30};
    double transfer_s = 4096 / (100 * 1048576.0);
    assert_near(fixture_run(load).mean_s, 0.001 + 0.008 * 8 / 15 + 0.005 + transfer_s, 0.01);
    /* several under way are of no use to a disk that takes the oldest */
    load.spec = DISK ",depth=32";
    load.queue = 32;
    assert_near(fixture_run(load).seconds / 20000, 0.001 + 0.008 * 8 / 15 + 0.005 + transfer_s,
                0.01);
}

static void test_an_overhead_passes_before_the_arm_moves(void **state)
{
    (void)state;
    struct model *model = fixture_model(DISK ",overhead=2ms");
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    uint32_t quarter = 262144;
    assert_ms(read_ns(model, &now_ns, 0, quarter), 2 + 2.5);
    /* from 4.5 ms on: the overhead, and 1 ms until the place at 7.5 ms comes by */
    assert_ms(read_ns(model, &now_ns, 3 * quarter, quarter), 2 + 1 + 2.5);
    model_free(model);
    struct load load = {.spec = DISK ",overhead=2ms",
                        .queue = 1,
                        .bytes = 4096,
                        .reads = 20000,
                        .span_bytes = UINT64_C(64) << 30};
    double transfer_s = 4096 / (100 * 1048576.0);
    assert_near(fixture_run(load).mean_s, 0.003 + 0.008 * 8 / 15 + 0.005 + transfer_s, 0.01);
}

static double random_reads_per_second(const char *spec, uint32_t queue, uint64_t span_bytes)
{
    struct load load = {
        .spec = spec, .queue = queue, .bytes = 4096, .reads = 10000, .span_bytes = span_bytes};
    return 10000 / fixture_run(load).seconds;
}

/* The more there are to choose from, the less of the way and of the turn is left. */
static void test_the_nearest_first_is_faster(void **state)
{
    (void)state;
    uint64_t span = UINT64_C(64) << 30;
    double oldest = random_reads_per_second(DISK ",depth=32", 32, span);
    double before = oldest;
    for (uint32_t depth = 2; depth <= 32; depth *= 2) {
        char spec[128];
        snprintf(spec, sizeof spec, DISK ",order=nearest,depth=%u", depth);
        double nearest = random_reads_per_second(spec, 32, span);
        assert_true(nearest > 1.05 * before);
        before = nearest;
    }
    assert_true(before > 2 * oldest && before < 3.5 * oldest);
    /* and with nothing to choose from it is the same */
    assert_near(random_reads_per_second(DISK ",order=nearest,depth=32", 1, span), oldest, 0.02);
}

/* One read far away, while near ones go on coming. */
static void test_nobody_waits_for_ever(void **state)
{
    (void)state;
    enum { NEAR = 1000 };
    static struct model_request near[NEAR];
    struct model *model = fixture_model(DISK ",order=nearest,depth=8");
    struct model_request far = {.offset_bytes = UINT64_C(60) << 30, .bytes = 4096}, *taken;
    uint64_t now_ns = FIXTURE_BEGIN_NS, random = 1;
    uint32_t sent = 0, done = 0;
    for (;;) {
        while (sent < done + 8) {
            assert_true(sent < NEAR);
            near[sent] = (struct model_request){.offset_bytes = random_below(&random, 1000) * 4096,
                                                .bytes = 4096};
            model_submit(model, &near[sent++], now_ns);
            if (sent == 4)
                model_submit(model, &far, now_ns);
        }
        now_ns = model_next_ns(model);
        taken = model_take(model, now_ns);
        if (taken == &far)
            break;
        done += taken != NULL;
    }
    assert_true(done >= 30 && done <= 40); /* four times the depth, and who was on the way */
    model_free(model);
}

/* --- presets -------------------------------------------------------------------------------- */

static void test_presets_of_disks_do_what_their_sources_say(void **state)
{
    (void)state;
    /* about 13 ms to a random place, of which 8.9 ms are the seek and 4.2 ms half a turn */
    struct load load = {
        .spec = "ata-2002", .queue = 1, .bytes = 4096, .reads = 20000, .span_bytes = 100000000000};
    assert_near(fixture_run(load).mean_s, 0.0003 + 0.0089 + 0.0042, 0.02);
    load = (struct load){.spec = "ata-2002", .queue = 1, .bytes = 8 << 20, .reads = 100};
    assert_near(100 * (double)load.bytes / fixture_run(load).seconds, 33.5e6, 0.01);

    load = (struct load){
        .spec = "hdd-7200", .queue = 1, .bytes = 4096, .reads = 20000, .span_bytes = 6000000000000};
    assert_near(fixture_run(load).mean_s, 0.0074 + 0.00416, 0.01);
    load.queue = 32;
    double gain = 20000 / fixture_run(load).seconds * (0.0074 + 0.00416);
    assert_true(gain > 2 && gain < 3);
    load = (struct load){.spec = "hdd-7200", .queue = 4, .bytes = 1 << 20, .reads = 1000};
    assert_near(1000 * (double)load.bytes / fixture_run(load).seconds, 180e6, 0.001);
}

static void test_presets_of_flash_do_what_their_sources_say(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double alone, at_32, rate;
        uint32_t rate_queue, rate_bytes; /* as the source measured the rate */
    } cases[] = {
        {"sata-ssd", 13000, 98000, 560e6, 32, 131072},
        {"nvme-ssd", 17000, 500000, 3500e6, 32, 131072},
        {"usb-stick", 1010.5, 1245.8, 136.3e6, 1, 1 << 20},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load load = {.spec = cases[i].spec,
                            .queue = 1,
                            .bytes = 4096,
                            .reads = 10000,
                            .span_bytes = UINT64_C(1) << 36};
        assert_near(10000 / fixture_run(load).seconds, cases[i].alone, 0.02);
        load.queue = 32;
        assert_near(10000 / fixture_run(load).seconds, cases[i].at_32, 0.02);
        load.queue = cases[i].rate_queue;
        load.bytes = cases[i].rate_bytes;
        load.span_bytes = 0;
        assert_near(10000 * (double)load.bytes / fixture_run(load).seconds, cases[i].rate, 0.03);
    }
    struct load load = {.spec = "infinite", .queue = 8, .bytes = 1 << 20, .reads = 1000};
    assert_near(fixture_run(load).seconds, 0.001, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_platter_brings_a_place_by_its_angle),
        cmocka_unit_test(test_a_seek_takes_the_root_of_its_distance),
        cmocka_unit_test(test_reading_on_reaches_the_rate),
        cmocka_unit_test(test_random_reads_take_the_mean_expected),
        cmocka_unit_test(test_an_overhead_passes_before_the_arm_moves),
        cmocka_unit_test(test_the_nearest_first_is_faster),
        cmocka_unit_test(test_nobody_waits_for_ever),
        cmocka_unit_test(test_presets_of_disks_do_what_their_sources_say),
        cmocka_unit_test(test_presets_of_flash_do_what_their_sources_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
