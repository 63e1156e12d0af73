#include "model_fixture.h"

/* SPEC in words: what each key does, and that whatever is wrong gets one line that says so. */

static void test_a_plain_drive(void **state)
{
    (void)state;
    struct model_spec spec = fixture_spec("position=8ms,rate=40M,depth=1");
    assert_string_equal(spec.text, "position=8ms,rate=40M,depth=1");
    assert_true(spec.position_s == 0.008);
    assert_true(spec.rate_bytes_per_second == 40 * 1048576.0);
    assert_int_equal(spec.depth, 1);
    assert_int_equal(spec.members, 1);
    assert_int_equal(spec.distribution, MODEL_CONSTANT);
    assert_int_equal(spec.order, MODEL_OLDEST);
    assert_true(spec.rpm == 0 && spec.overhead_s == 0 && spec.stall_s == 0);
    assert_true(spec.slow_after_s == 0 && spec.device_gone_s == 0);
    assert_int_equal(spec.fault_count, 0);
    assert_int_equal(spec.memory_limit_bytes, 0);
}

static void test_sizes_and_times_are_those_of_the_command_line(void **state)
{
    (void)state;
    static const char *const rates[] = {"rate=40M", "rate=40MB", "rate=40MiB", "rate=40m",
                                        "rate=41943040"};
    for (uint32_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_true(fixture_spec(rates[i]).rate_bytes_per_second == 41943040);
    static const char *const positions[] = {"position=1500us", "position=1.5ms", "position=0.0015s",
                                            "position=0.0015"};
    for (uint32_t i = 0; i < sizeof positions / sizeof *positions; i++)
        assert_near(fixture_spec(positions[i]).position_s, 0.0015, 1e-12);
}

static void test_every_key(void **state)
{
    (void)state;
    struct model_spec spec = fixture_spec("position=8ms,spread=exponential,depth=32,rate=1G,"
                                          "overhead=20us,split=128K,slow=0.5@10s,slow-rest=1.5s,"
                                          "stall=2s@20s,stripe=4x64K,device-gone=3s,memory=64M");
    assert_int_equal(spec.distribution, MODEL_EXPONENTIAL);
    assert_int_equal(spec.depth, 32);
    assert_near(spec.overhead_s, 20e-6, 1e-12);
    assert_int_equal(spec.split_bytes, 131072);
    assert_true(spec.slow_factor == 0.5 && spec.slow_after_s == 10 && spec.slow_rest_s == 1.5);
    assert_true(spec.stall_s == 2 && spec.stall_every_s == 20 && !spec.stall_random);
    assert_int_equal(spec.members, 4);
    assert_int_equal(spec.unit_bytes, 65536);
    assert_true(spec.device_gone_s == 3);
    assert_int_equal(spec.memory_limit_bytes, 64 << 20);

    spec = fixture_spec("rate=1M,stall-random=30s@10s,position=1s,spread=uniform");
    assert_true(spec.stall_s == 30 && spec.stall_every_s == 10 && spec.stall_random);
    assert_int_equal(spec.distribution, MODEL_UNIFORM);

    spec = fixture_spec("rpm=5400,seek=1ms:20ms,capacity=1T,rate=90M,order=nearest");
    assert_true(spec.rpm == 5400);
    assert_near(spec.seek_least_s, 0.001, 1e-12);
    assert_near(spec.seek_most_s, 0.02, 1e-12);
    assert_true(spec.capacity_bytes == UINT64_C(1) << 40);
    assert_int_equal(spec.order, MODEL_NEAREST);
}

static void test_data_where_it_is_asked_for_or_needed(void **state)
{
    (void)state;
    assert_false(fixture_spec("rate=1M").data);
    assert_false(fixture_spec("rate=1M,data=no,fail=1s").data);
    assert_true(fixture_spec("rate=1M,data=yes").data);
    assert_true(fixture_spec("rate=1M,wrong=1s").data);
}

static void test_faults_may_be_many(void **state)
{
    (void)state;
    struct model_spec spec = fixture_spec("rate=1M,fail=1s,late=2s:500ms,fail=0,short=3s,wrong=4");
    static const struct model_fault wanted[] = {{MODEL_FAULT_ERROR, 1, 0},
                                                {MODEL_FAULT_LATE, 2, 0.5},
                                                {MODEL_FAULT_ERROR, 0, 0},
                                                {MODEL_FAULT_SHORT, 3, 0},
                                                {MODEL_FAULT_WRONG, 4, 0}};
    assert_int_equal(spec.fault_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(spec.faults[i].kind, wanted[i].kind);
        assert_true(spec.faults[i].at_s == wanted[i].at_s);
        assert_true(spec.faults[i].late_s == wanted[i].late_s);
    }
}

static void test_a_preset_may_be_changed(void **state)
{
    (void)state;
    struct model_spec plain = fixture_spec("hdd-7200");
    struct model_spec changed = fixture_spec("hdd-7200,depth=8,stall=1s@30s");
    assert_string_equal(changed.text, "hdd-7200,depth=8,stall=1s@30s");
    assert_int_equal(plain.depth, 32);
    assert_int_equal(changed.depth, 8);
    assert_true(changed.stall_s == 1 && plain.stall_s == 0);
    assert_true(changed.rpm == 7200 && changed.order == MODEL_NEAREST);
}

static void test_all_presets_are_read_and_explained(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (const struct model_preset *preset = model_presets; preset->name != NULL; preset++) {
        struct model_spec named = fixture_spec(preset->name), spelt = fixture_spec(preset->pairs);
        assert_string_equal(named.text, preset->name);
        assert_true(strlen(preset->help) > 0);
        memset(named.text, 0, sizeof named.text);
        memset(spelt.text, 0, sizeof spelt.text);
        assert_memory_equal(&named, &spelt, sizeof named);
        struct model *model = model_new(&named, 1, 0);
        assert_non_null(model);
        assert_true(model_spec(model)->depth == named.depth);
        model_free(model);
        count++;
    }
    assert_int_equal(count, 6);
}

/* `what` must be in the line: the pair at fault, or the way out. */
static void test_whatever_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pair, *what;
    } cases[] = {
        {"", "\"\": no such drive", "ata-2002, hdd-7200"},
        {"floppy", "floppy: no such drive", "sata-ssd"},
        {"HDD-7200", "HDD-7200: ", "hdd-7200"},
        {"hdd-7200,", "hdd-7200,", "key=value"},
        {",rate=1M", "\"\"", "no such drive"},
        {"rate=1M,", "rate=1M,", "key=value"},
        {"rate=1M,,depth=1", ",depth=1", "key=value"},
        {"rate=1M,hdd-7200", "hdd-7200: ", "comes first"},
        {"hdd-7200,sata-ssd", "sata-ssd: ", "comes first"},
        {"rate=1M,colour=red", "colour=red: ", "position, spread, depth"},
        {"rate=1M,Depth=3", "Depth=3: ", "no such key"},
        {"=3", "=3: ", "no such key"},
        {"rate=1M,rate=2M", "rate=2M: ", "before"},
        {"position=fast", "position=fast: ", "8ms"},
        {"position=-1ms", "position=-1ms: ", "8ms"},
        {"position=1001s", "position=1001s: ", "8ms"},
        {"position=", "position=: ", "8ms"},
        {"position=8ms,spread=gauss", "spread=gauss: ", "exponential"},
        {"rate=1M,spread=uniform", "spread: ", "position"},
        {"rate=1M,depth=0", "depth=0: ", "1 to 1024"},
        {"rate=1M,depth=1025", "depth=1025: ", "1 to 1024"},
        {"rate=1M,depth=2.5", "depth=2.5: ", "1 to 1024"},
        {"rate=1M,order=random", "order=random: ", "nearest"},
        {"rate=1M,order=nearest", "order=nearest", "rpm"},
        {"rate=fast", "rate=fast: ", "40M"},
        {"rate=1000", "rate=1000: ", "1K"},
        {"rate=40.5M", "rate=40.5M: ", "40M"},
        {"rate=1M,overhead=x", "overhead=x: ", "120us"},
        {"rate=1M,split=100", "split=100: ", "512"},
        {"rate=1M,split=8G", "split=8G: ", "128K"},
        {"rate=1M,rpm=0", "rpm=0: ", "7200"},
        {"rate=1M,rpm=fast", "rpm=fast: ", "7200"},
        {"rpm=7200", "rpm: ", "rate"},
        {"rpm=7200,rate=1M,position=1ms", "position: ", "leave it out"},
        {"rpm=7200,rate=1M,seek=1ms:9ms", "seek: ", "capacity"},
        {"rpm=7200,rate=1M,seek=9ms:1ms", "seek=9ms:1ms: ", "1ms:15ms"},
        {"rpm=7200,rate=1M,seek=9ms", "seek=9ms: ", "1ms:15ms"},
        {"rpm=7200,rate=1M,seek=1ms:x", "seek=1ms:x: ", "1ms:15ms"},
        {"rpm=7200,rate=1M,capacity=0", "capacity=0: ", "6T"},
        {"rate=1M,seek=1ms:9ms,capacity=1T", "seek", "rpm"},
        {"rate=1M,slow=2@10s", "slow=2@10s: ", "0.5@10s"},
        {"rate=1M,slow=0@10s", "slow=0@10s: ", "0.5@10s"},
        {"rate=1M,slow=0.5", "slow=0.5: ", "0.5@10s"},
        {"rate=1M,slow=0.5@0", "slow=0.5@0: ", "0.5@10s"},
        {"rate=1M,slow-rest=1s", "slow-rest: ", "give slow"},
        {"rate=1M,slow=0.5@1s,slow-rest=x", "slow-rest=x: ", "30s"},
        {"rate=1M,stall=2s", "stall=2s: ", "2s@20s"},
        {"rate=1M,stall=0@2s", "stall=0@2s: ", "2s@20s"},
        {"rate=1M,stall=1us@10us", "stall=1us@10us: ", "2s@20s"},
        {"rate=1M,stall=20s@20s", "stall=20s@20s: ", "before the next"},
        {"rate=1M,stall=1s@9s,stall-random=1s@9s", "stall-random=1s@9s: ", "one kind"},
        {"rate=1M,stall-random=1s@0", "stall-random=1s@0: ", "2s@20s"},
        {"rate=1M,stripe=4", "stripe=4: ", "4x64K"},
        {"rate=1M,stripe=0x64K", "stripe=0x64K: ", "4x64K"},
        {"rate=1M,stripe=65x64K", "stripe=65x64K: ", "64 at most"},
        {"rate=1M,stripe=4x64", "stripe=4x64: ", "4x64K"},
        {"rate=1M,fail=never", "fail=never: ", "3s"},
        {"rate=1M,short=-1", "short=-1: ", "3s"},
        {"rate=1M,wrong=1ms@3", "wrong=1ms@3: ", "3s"},
        {"rate=1M,late=3s", "late=3s: ", "3s:500ms"},
        {"rate=1M,late=3s:x", "late=3s:x: ", "3s:500ms"},
        {"rate=1M,late=x:3s", "late=x:3s: ", "3s"},
        {"rate=1M,fail=1,fail=2,fail=3,fail=4,fail=5,fail=6,fail=7,fail=8,fail=9",
         "fail=9: ", "8 faults"},
        {"rate=1M,device-gone=0", "device-gone=0: ", "3s"},
        {"rate=1M,memory=0", "memory=0: ", "64M"},
        {"rate=1M,data=on", "data=on: ", "yes or no"},
        {"depth=4", "depth=4: ", "takes no time"},
        {"rate=0", "rate=0: ", "takes no time"},
        {"rate=900G,depth=9", "rate=900G,depth=9: ", "takes no time"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_spec spec = {.depth = 77};
        struct error error = {0};
        if (model_parse(&spec, cases[i].text, &error) != -1)
            fail_msg("`%s` passed", cases[i].text);
        assert_int_equal(error.kind, ERROR_USAGE);
        if (strncmp(error.text, "--engine model: ", 16) != 0 ||
            strstr(error.text, cases[i].pair) == NULL ||
            strstr(error.text, cases[i].what) == NULL || strchr(error.text, '\n') != NULL ||
            strlen(error.text) >= ERROR_TEXT_BYTES - 1)
            fail_msg("`%s`: %s", cases[i].text, error.text);
        assert_int_equal(spec.depth, 77); /* it stays as it was */
    }
}

static void test_a_long_text_is_refused_and_overruns_nothing(void **state)
{
    (void)state;
    char text[2000];
    struct model_spec spec;
    for (size_t length = 200; length < sizeof text; length++) {
        struct error error = {0};
        snprintf(text, sizeof text, "rate=%0*d", (int)length - 5, 4096);
        int parsed = model_parse(&spec, text, &error);
        assert_true(parsed == (length < MODEL_TEXT_BYTES ? 0 : -1));
        memset(text, ',', length);
        assert_int_equal(model_parse(&spec, text, &error), -1);
        memset(text, 'x', length);
        assert_int_equal(model_parse(&spec, text, &error), -1);
        memcpy(text, "seek=", 5);
        assert_int_equal(model_parse(&spec, text, &error), -1);
        memset(text, '=', length);
        assert_int_equal(model_parse(&spec, text, &error), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_drive),
        cmocka_unit_test(test_sizes_and_times_are_those_of_the_command_line),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_data_where_it_is_asked_for_or_needed),
        cmocka_unit_test(test_faults_may_be_many),
        cmocka_unit_test(test_a_preset_may_be_changed),
        cmocka_unit_test(test_all_presets_are_read_and_explained),
        cmocka_unit_test(test_whatever_is_wrong_is_named),
        cmocka_unit_test(test_a_long_text_is_refused_and_overruns_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
