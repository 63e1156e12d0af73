#include "units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_sizes_are_binary(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"512", 512},
        {"4096", 4096},
        {"4K", 4096},
        {"4k", 4096},
        {"64KiB", 65536},
        {"64kib", 65536},
        {"64KB", 65536},
        {"1M", 1048576},
        {"8MiB", 8388608},
        {"16G", UINT64_C(16) << 30},
        {"2T", UINT64_C(2) << 40},
        {"7B", 7},
        {"18446744073709551615", UINT64_MAX},
        {"16777215T", UINT64_C(16777215) << 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 1234567;
        assert_int_equal(units_parse_bytes(cases[i].text, &bytes), 0);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void test_what_is_no_size_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",          " 4K",
        "4K ",       "-4K",
        "+4K",       "K",
        "4KK",       "4Ki",
        "4iB",       "4P",
        "0x10K",     "4.5K",
        "1e3",       "4K,",
        "iB",        "4 K",
        "4KiBx",     "18446744073709551616",
        "16777216T", "99999999999999999999",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 1234567;
        if (units_parse_bytes(cases[i], &bytes) != -1)
            fail_msg("`%s` passed for a size", cases[i]);
        assert_int_equal(bytes, 1234567);
    }
}

static void test_counts_are_whole_and_unsigned(void **state)
{
    (void)state;
    uint64_t count = 9;
    assert_int_equal(units_parse_count("20000", &count), 0);
    assert_int_equal(count, 20000);
    assert_int_equal(units_parse_count("0", &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(units_parse_count("18446744073709551615", &count), 0);
    assert_true(count == UINT64_MAX);
    static const char *const refused[] = {"",   "-1",  "+1",  " 1",   "1 ",
                                          "1K", "1.0", "0x1", "zwei", "18446744073709551616"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (units_parse_count(refused[i], &count) != -1)
            fail_msg("`%s` passed for a count", refused[i]);
    }
}

static void test_seconds_are_positive_decimals(void **state)
{
    (void)state;
    double seconds = 0;
    assert_int_equal(units_parse_seconds("5", &seconds), 0);
    assert_true(seconds == 5);
    assert_int_equal(units_parse_seconds("0.25", &seconds), 0);
    assert_true(seconds == 0.25);
    assert_int_equal(units_parse_seconds(".5s", &seconds), 0);
    assert_true(seconds == 0.5);
    static const char *const refused[] = {"",   "0",   "0.0", "-1",    "+1",         " 1",   "1 ",
                                          "s",  "1ss", "inf", "nan",   "1e3",        "0x10", ".",
                                          "5m", "1,5", "1s ", "1.2.3", "2000000000", "1s5"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (units_parse_seconds(refused[i], &seconds) != -1)
            fail_msg("`%s` passed for seconds", refused[i]);
    }
}

static void test_times_take_their_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {
        {"8ms", 0.008}, {"120us", 120e-6}, {"2s", 2},          {"1.5s", 1.5},       {"0.5", 0.5},
        {"0", 0},       {"0us", 0},        {".25ms", 0.00025}, {"66.7us", 66.7e-6},
    };
    double seconds = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seconds = -1;
        assert_int_equal(units_parse_time(cases[i].text, &seconds), 0);
        assert_true(seconds - cases[i].seconds < 1e-18 && cases[i].seconds - seconds < 1e-18);
    }
    static const char *const refused[] = {
        "",    "ms",  "-1ms", "+1",     " 1", "1 ms", "1ns",  "1sms", "1e3",       "nan",
        "1 s", "1mS", "1m",   "1.2.3s", ".",  "1,5",  "0x1s", "1s,2", "2000000000"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        seconds = 7;
        if (units_parse_time(refused[i], &seconds) != -1)
            fail_msg("`%s` passed for a time", refused[i]);
        assert_true(seconds == 7);
    }
}

static void test_decimals_are_plain(void **state)
{
    (void)state;
    double value = 7;
    assert_int_equal(units_parse_decimal("0.5", &value), 0);
    assert_true(value == 0.5);
    assert_int_equal(units_parse_decimal("12", &value), 0);
    assert_true(value == 12);
    static const char *const refused[] = {"", "-1", "1s", "1e3", "0x1", "inf", ".", "1 ", "50%"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (units_parse_decimal(refused[i], &value) != -1)
            fail_msg("`%s` passed for a number", refused[i]);
    }
    assert_true(value == 12);
}

static void test_sizes_print_for_people(void **state)
{
    (void)state;
    char out[32];
    assert_string_equal(units_format_bytes(out, sizeof out, 0), "0 B");
    assert_string_equal(units_format_bytes(out, sizeof out, 512), "512 B");
    assert_string_equal(units_format_bytes(out, sizeof out, 1023), "1023 B");
    assert_string_equal(units_format_bytes(out, sizeof out, 65536), "64 KiB");
    assert_string_equal(units_format_bytes(out, sizeof out, 1536 * 1024), "1.5 MiB");
    assert_string_equal(units_format_bytes(out, sizeof out, UINT64_C(16) << 30), "16 GiB");
    assert_string_equal(units_format_bytes(out, sizeof out, UINT64_C(4096) << 40), "4096 TiB");
}

static void test_block_sizes_print_as_the_command_line_takes_them(void **state)
{
    (void)state;
    char out[32];
    assert_string_equal(units_format_block(out, sizeof out, 4096), "4K");
    for (uint64_t bytes = 4096; bytes <= 8 << 20; bytes *= 2) {
        uint64_t back = 0;
        assert_int_equal(units_parse_bytes(units_format_block(out, sizeof out, bytes), &back), 0);
        assert_int_equal(back, bytes);
    }
}

static void test_a_short_buffer_is_not_overrun(void **state)
{
    (void)state;
    char out[8] = "xxxxxxx";
    assert_string_equal(units_format_bytes(out, 4, 65536), "64 ");
    assert_string_equal(out + 4, "xxx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_binary),
        cmocka_unit_test(test_what_is_no_size_is_refused_and_changes_nothing),
        cmocka_unit_test(test_counts_are_whole_and_unsigned),
        cmocka_unit_test(test_seconds_are_positive_decimals),
        cmocka_unit_test(test_times_take_their_unit),
        cmocka_unit_test(test_decimals_are_plain),
        cmocka_unit_test(test_sizes_print_for_people),
        cmocka_unit_test(test_block_sizes_print_as_the_command_line_takes_them),
        cmocka_unit_test(test_a_short_buffer_is_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
