#include "model_fixture.h"

/* What befalls a modelled drive in the course of time: stalls, slowing down, faults; and that
 * whoever sleeps until model_next_ns misses nothing. */

#define MS UINT64_C(1000000)

static uint64_t since_begin(uint64_t now_ns)
{
    return now_ns - FIXTURE_BEGIN_NS;
}

/* Reads one after another for `seconds`; `done_ns` gets the times. Returns how many. */
static uint32_t read_on(struct model *model, double seconds, uint64_t *done_ns, uint32_t most)
{
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    for (uint32_t count = 0;;) {
        struct model_request request = {.offset_bytes = 0, .bytes = 1 << 20};
        model_submit(model, &request, now_ns);
        struct model_request *taken;
        while ((taken = model_take(model, now_ns)) == NULL)
            now_ns = model_next_ns(model);
        assert_ptr_equal(taken, &request);
        if ((double)since_begin(now_ns) / 1e9 > seconds)
            return count;
        assert_true(count < most);
        done_ns[count++] = since_begin(now_ns);
    }
}

enum { TIMES = 100000 };
static uint64_t times_ns[TIMES];

static void test_nothing_is_done_within_a_stall(void **state)
{
    (void)state;
    struct model *model = fixture_model("position=1ms,overhead=2ms,stall=300ms@1s");
    uint32_t count = read_on(model, 20, times_ns, TIMES);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t second = times_ns[i] / (1000 * MS), within = times_ns[i] % (1000 * MS);
        if (second > 0 && within < 300 * MS)
            fail_msg("done %llu ns after second %llu", (unsigned long long)within,
                     (unsigned long long)second);
    }
    /* 1 s of work, then 0.7 s out of each */
    assert_near(count, (1 + 19 * 0.7) / 0.003, 0.001);
    model_free(model);
}

/* Work that stalls fall into is as much longer, to the nanosecond. */
static void test_a_stall_puts_off_what_it_meets(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin_ms, done_ms;
    } cases[] = {{0, 700},     {200, 900},   {299, 999},   {300, 1500}, {900, 2600},
                 {1000, 2700}, {1100, 2700}, {1499, 2700}, {1500, 2700}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model *model = fixture_model("position=300ms,overhead=400ms,stall=500ms@1s");
        struct model_request request = {.bytes = 4096};
        model_submit(model, &request, FIXTURE_BEGIN_NS + cases[i].begin_ms * MS);
        uint64_t done_ns = FIXTURE_BEGIN_NS + cases[i].done_ms * MS;
        if (cases[i].begin_ms != 900) /* the stall that is next is known, the one behind is not */
            assert_true(model_next_ns(model) == done_ns);
        assert_null(model_take(model, done_ns - 1));
        assert_ptr_equal(model_take(model, done_ns), &request);
        assert_true(request.done_ns == done_ns);
        model_free(model);
    }
}

static void test_random_stalls_come_as_often_as_asked(void **state)
{
    (void)state;
    struct model *model = fixture_model("overhead=1ms,stall-random=50ms@200ms");
    uint32_t count = read_on(model, 100, times_ns, TIMES);
    uint32_t stalls = 0, short_gaps = 0;
    uint64_t last_ns = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t between_ns = times_ns[i] - times_ns[i - 1];
        assert_true(between_ns == MS || between_ns >= 51 * MS);
        if (between_ns == MS)
            continue;
        stalls += (uint32_t)(between_ns / (50 * MS)); /* two may come in a row */
        short_gaps += times_ns[i - 1] - last_ns < 100 * MS;
        last_ns = times_ns[i];
    }
    assert_near(stalls, 100 / 0.25, 0.1);
    /* exponential: 39 % of the gaps are below half of the mean */
    assert_near(short_gaps, 0.39 * stalls, 0.25);
    model_free(model);
}

static void test_a_drive_slows_down_after_its_time_of_work(void **state)
{
    (void)state;
    struct model *model = fixture_model("position=1ms,rate=1G,slow=0.25@2s");
    uint32_t count = read_on(model, 10, times_ns, TIMES);
    double fast_s = 0.001 + 1.0 / 1024, s = 0;
    for (uint32_t i = 0; i < count; i++) {
        double took_s = (double)times_ns[i] / 1e9 - s;
        s = (double)times_ns[i] / 1e9;
        if (s < 2)
            assert_near(took_s, fast_s, 1e-5);
        else if (s - took_s > 2) /* one read is in between */
            assert_near(took_s, 4 * fast_s, 1e-5);
    }
    assert_near(count, 2 / fast_s + 8 / (4 * fast_s), 0.01);
    model_free(model);
}

/* How long a read takes that is given at `now_ns`, in ms. */
static uint64_t read_ms(struct model *model, uint64_t *now_ns)
{
    struct model_request request = {.bytes = 4096};
    uint64_t begin_ns = *now_ns;
    model_submit(model, &request, begin_ns);
    *now_ns = model_next_ns(model);
    assert_ptr_equal(model_take(model, *now_ns), &request);
    return (*now_ns - begin_ns) / MS;
}

static void test_rest_restores_the_speed(void **state)
{
    (void)state;
    struct model *model = fixture_model("position=100ms,slow=0.5@1s,slow-rest=3s");
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(read_ms(model, &now_ns), 100);
    assert_int_equal(read_ms(model, &now_ns), 200);
    now_ns += 2999 * MS;
    assert_int_equal(read_ms(model, &now_ns), 200);
    now_ns += 3000 * MS;
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(read_ms(model, &now_ns), 100);
        now_ns += 1000 * MS; /* too short: it neither counts as work nor as rest */
    }
    assert_int_equal(read_ms(model, &now_ns), 200);
    model_free(model);
    model = fixture_model("position=100ms,slow=0.5@1s"); /* for good */
    now_ns = FIXTURE_BEGIN_NS;
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(read_ms(model, &now_ns), 100);
    now_ns += 1000000 * MS;
    assert_int_equal(read_ms(model, &now_ns), 200);
    model_free(model);
}

static void test_each_fault_meets_one_read(void **state)
{
    (void)state;
    /* Reads are done at 10, 20, 30 ... ms. The first fault meets the one at 30; both of the same
     * moment meet one each; the last comes after a pause. */
    struct model *model =
        fixture_model("position=10ms,fail=25ms,short=50ms,wrong=50ms,fail=1s,short=0");
    enum { READS = 8 };
    static const enum model_fault_kind wanted[READS] = {
        MODEL_FAULT_SHORT, MODEL_FAULT_NONE,  MODEL_FAULT_ERROR, MODEL_FAULT_NONE,
        MODEL_FAULT_SHORT, MODEL_FAULT_WRONG, MODEL_FAULT_NONE,  MODEL_FAULT_NONE};
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    for (uint32_t i = 0; i < READS; i++) {
        struct model_request request = {.bytes = 4096, .fault = MODEL_FAULT_WRONG};
        model_submit(model, &request, now_ns);
        now_ns += 10 * MS;
        assert_ptr_equal(model_take(model, now_ns), &request);
        assert_int_equal(request.fault, wanted[i]);
    }
    struct model_request request = {.bytes = 4096};
    model_submit(model, &request, now_ns + 5000 * MS);
    assert_ptr_equal(model_take(model, now_ns + 5010 * MS), &request);
    assert_int_equal(request.fault, MODEL_FAULT_ERROR);
    model_free(model);
}

static void test_a_late_read_is_overtaken(void **state)
{
    (void)state;
    struct model *model = fixture_model("position=10ms,late=0:100ms,late=5ms:35ms,late=30ms:2ms");
    struct model_request requests[6];
    /* done at 10 20 30 40 50 60 ms; 0 comes at 110, 1 at 55, 2 at 32 */
    static const uint32_t order[] = {2, 3, 4, 1, 5, 0};
    static const uint64_t done_ms[] = {32, 40, 50, 55, 60, 110};
    for (uint32_t i = 0; i < 6; i++) {
        requests[i] = (struct model_request){.bytes = 4096};
        model_submit(model, &requests[i], FIXTURE_BEGIN_NS);
    }
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    for (uint32_t i = 0; i < 6; i++) {
        struct model_request *taken;
        while ((taken = model_take(model, now_ns)) == NULL) {
            assert_true(model_next_ns(model) > now_ns);
            now_ns = model_next_ns(model);
        }
        assert_ptr_equal(taken, &requests[order[i]]);
        assert_true(now_ns == FIXTURE_BEGIN_NS + done_ms[i] * MS);
        assert_true(taken->done_ns == now_ns);
        assert_int_equal(taken->fault, MODEL_FAULT_NONE);
    }
    assert_true(model_next_ns(model) == UINT64_MAX);
    model_free(model);
}

/* --- any drive ------------------------------------------------------------------------------ */

/* A random description in SPEC's words. `least_ns` gets what a read of 512 bytes takes at least. */
static void random_spec(uint64_t *random, char *text, size_t text_bytes, uint64_t *least_ns)
{
    uint64_t overhead_us = random_below(random, 2) * random_below(random, 500);
    uint64_t rate = 200000 + random_below(random, 200000000);
    int used = snprintf(text, text_bytes, "rate=%llu,overhead=%lluus,depth=%llu",
                        (unsigned long long)rate, (unsigned long long)overhead_us,
                        (unsigned long long)(1 + random_below(random, 40)));
    char *end = text + used;
    size_t left = text_bytes - (size_t)used;
    *least_ns = overhead_us * 1000;
    if (random_below(random, 3) == 0) {
        snprintf(end, left, ",rpm=7200,seek=1ms:9ms,capacity=%u,order=%s", 1U << 24,
                 random_below(random, 2) == 0 ? "oldest" : "nearest");
    } else {
        static const char *const spreads[] = {"constant", "uniform", "exponential"};
        uint64_t spread = random_below(random, 3);
        uint64_t position_us = 1 + random_below(random, 5000);
        snprintf(end, left, ",position=%lluus,spread=%s", (unsigned long long)position_us,
                 spreads[spread]);
        *least_ns += spread == 0 ? position_us * 1000 : 0;
    }
    static const char *const more[] = {",split=1K",
                                       ",stripe=3x1K",
                                       ",stripe=7x512",
                                       ",stall=20ms@90ms",
                                       ",stall-random=15ms@60ms",
                                       ",slow=0.3@80ms",
                                       ",slow=0.6@30ms,slow-rest=10ms",
                                       ",fail=50ms,late=20ms:70ms,short=0,late=100ms:1us"};
    static const uint32_t excludes[] = {0, 4, 2, 16, 8, 64, 32, 0};
    uint32_t taken = 0;
    for (uint32_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (random_below(random, 3) != 0 || (taken & excludes[i]) != 0)
            continue;
        taken |= 1U << i;
        snprintf(text + strlen(text), text_bytes - strlen(text), "%s", more[i]);
    }
}

enum { SCRIPT = 150 };

struct script {
    struct model_spec spec;
    uint64_t seed;
    uint64_t submit_ns[SCRIPT];
    uint64_t offset_bytes[SCRIPT];
    uint32_t bytes[SCRIPT];
};

struct script_result {
    uint64_t done_ns[SCRIPT];
    enum model_fault_kind fault[SCRIPT];
    uint32_t order[SCRIPT];
    uint32_t looks;
};

/* Submits at the times of the script, and looks what is done at those times and, in between, at
 * those of model_next_ns, or every `step_ns`. */
static void play(const struct script *script, uint64_t step_ns, struct script_result *result)
{
    static struct model_request requests[SCRIPT];
    struct model *model = model_new(&script->spec, script->seed, FIXTURE_BEGIN_NS);
    uint64_t now_ns = FIXTURE_BEGIN_NS;
    uint32_t sent = 0, done = 0;
    assert_non_null(model);
    *result = (struct script_result){0};
    while (done < SCRIPT) {
        struct model_request *taken;
        while ((taken = model_take(model, now_ns)) != NULL) {
            uint32_t index = (uint32_t)(taken - requests);
            assert_true(done < SCRIPT && index < sent && result->done_ns[index] == 0);
            assert_true(taken->done_ns <= now_ns && (step_ns > 0 || taken->done_ns == now_ns));
            result->done_ns[index] = taken->done_ns;
            result->fault[index] = taken->fault;
            result->order[done++] = index;
        }
        if (sent < SCRIPT && script->submit_ns[sent] == now_ns) {
            requests[sent] = (struct model_request){.offset_bytes = script->offset_bytes[sent],
                                                    .bytes = script->bytes[sent]};
            model_submit(model, &requests[sent++], now_ns);
            continue;
        }
        uint64_t next_ns = step_ns > 0 ? now_ns + step_ns : model_next_ns(model);
        assert_true(next_ns > now_ns);
        if (sent < SCRIPT && script->submit_ns[sent] < next_ns)
            next_ns = script->submit_ns[sent];
        assert_true(done == SCRIPT || next_ns != UINT64_MAX);
        now_ns = next_ns;
        result->looks++;
    }
    assert_null(model_take(model, now_ns + UINT64_C(1000000000000)));
    assert_true(model_next_ns(model) == UINT64_MAX);
    model_free(model);
}

static void test_any_drive_gives_every_read_back_once_and_in_time(void **state)
{
    (void)state;
    enum { DRIVES = 1500 };
    static struct script script;
    static struct script_result slept, stepped;
    uint64_t looks = 0;
    for (uint64_t drive = 0; drive < DRIVES; drive++) {
        uint64_t random = drive, least_ns, at_ns = FIXTURE_BEGIN_NS;
        uint64_t pause_ns = 1 + random_below(&random, 2 * MS);
        char text[MODEL_TEXT_BYTES];
        random_spec(&random, text, sizeof text, &least_ns);
        script.spec = fixture_spec(text);
        script.seed = drive;
        for (uint32_t i = 0; i < SCRIPT; i++) {
            if (random_below(&random, 3) == 0)
                at_ns += random_below(&random, pause_ns);
            if (random_below(&random, 40) == 0)
                at_ns += random_below(&random, 40 * MS);
            script.submit_ns[i] = at_ns;
            script.offset_bytes[i] = random_below(&random, 1 << 15) * 512;
            script.bytes[i] = 512 * (1 + (uint32_t)random_below(&random, 32));
        }
        play(&script, 0, &slept);
        play(&script, 1 + random_below(&random, 2 * MS), &stepped);
        for (uint32_t i = 0; i < SCRIPT; i++) {
            double transfer_s =
                512 / script.spec.rate_bytes_per_second; /* of one member at least */
            uint64_t least = least_ns + (uint64_t)(transfer_s * 1e9);
            if (slept.done_ns[i] < script.submit_ns[i] + least)
                fail_msg("%s: read %u was done too soon", text, i);
            if (slept.done_ns[i] != stepped.done_ns[i] || slept.fault[i] != stepped.fault[i] ||
                slept.order[i] != stepped.order[i])
                fail_msg("%s: who looks rarely sees other answers", text);
            if (i > 0 && slept.done_ns[slept.order[i]] < slept.done_ns[slept.order[i - 1]])
                fail_msg("%s: read %u is out of order", text, slept.order[i]);
        }
        looks += slept.looks;
    }
    /* about one look for a read, and one for submitting it: model_next_ns is rarely early */
    assert_true(looks < UINT64_C(3) * DRIVES * SCRIPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_done_within_a_stall),
        cmocka_unit_test(test_a_stall_puts_off_what_it_meets),
        cmocka_unit_test(test_random_stalls_come_as_often_as_asked),
        cmocka_unit_test(test_a_drive_slows_down_after_its_time_of_work),
        cmocka_unit_test(test_rest_restores_the_speed),
        cmocka_unit_test(test_each_fault_meets_one_read),
        cmocka_unit_test(test_a_late_read_is_overtaken),
        cmocka_unit_test(test_any_drive_gives_every_read_back_once_and_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
