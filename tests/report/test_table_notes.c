#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "report/table_fixture.h"

static struct result_volume *volume(void)
{
    return &result.volumes[0];
}

/* Three cells that the drive stopped, with nothing to doubt. */
static void make_quiet(void)
{
    free(volume()->cells[3].runs);
    volume()->cell_count = 3;
    for (size_t i = 0; i < 3; i++) {
        struct result_cell *cell = &volume()->cells[i];
        cell->spread_wide = cell->below_fit = false;
        cell->limit = LIMIT_DISK_BANDWIDTH;
        cell->stalls = (struct result_stalls){.observed_s = 120};
        cell->warning_count = 0;
    }
    volume()->cells[0].limit = LIMIT_DISK_IOPS;
}

/* What a reader has to get through where there is nothing to say. */
static void test_a_quiet_run_adds_the_fit_and_the_limit(void **state)
{
    (void)state;
    make_quiet();
    print_table();
    assert_has("at comfort no ring fell under 20 % fit positioning 8.3 ms, transfer 180 MB/s; "
               "blocks above 1.4 MiB gain little (knee) limit drive: at 457 to 5115 tracks reads "
               "were under way 100 % of the time, callback load 13 % Use blocks");
}

static void test_the_fit_in_words(void **state)
{
    (void)state;
    static const struct {
        struct result_fit fit;
        const char *words;
    } cases[] = {
        {{8e-3, 40e6, 320e3}, "fit positioning 8.0 ms, transfer 40.0 MB/s; blocks above 312 KiB "},
        {{85e-6, 3.5e9, 297.5e3}, "fit positioning 85 us, transfer 3500 MB/s; blocks above 291 "},
        {{5.25e-6, 7e9, 36750}, "fit positioning 5.2 us, transfer 7000 MB/s; blocks above 36 KiB"},
        {{0.9996e-3, 1e8, 99960}, "fit positioning 1.0 ms, transfer 100 MB/s"},
        {{0, 1.5e6, 0}, "fit transfer 1.50 MB/s, nothing lost in positioning: larger blocks gain "},
        {{1, 20e6, 20e6}, "fit positioning 1000.0 ms, transfer 20.0 MB/s; blocks above 19 MiB"},
        {{1, 40e6, 40e6}, "all of these blocks are far below the knee, so larger ones gain"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        volume()->fit = cases[i].fit;
        print_table();
        assert_has(cases[i].words);
    }
    volume()->fit = (struct result_fit){0};
    print_table();
    assert_lacks("positioning");
}

static void test_what_lies_below_the_fit(void **state)
{
    (void)state;
    print_table();
    assert_has("below fit reads slower than the fit says: 64 KiB (40.8 MB/s, not 51.2) limit");
    volume()->cells[1].below_fit = true;
    print_table();
    assert_has("64 KiB (40.8 MB/s, not 51.2), 1 MiB (187 MB/s, not 189)");
    volume()->cells[0].below_fit = volume()->cells[1].below_fit = false;
    print_table();
    assert_lacks("below fit");
}

/* The evidence for each kind of limit, and for which sizes where there are several kinds. */
static void test_why_the_limit_is_what_it_is(void **state)
{
    (void)state;
    static const struct {
        enum limit limit;
        const char *words;
    } cases[] = {
        {LIMIT_CPU, "limit CPU with 1 MiB: at 2092 tracks callback load 13 %, the busiest reader "
                    "9 % of a core, the process 38 %; reads were under way 100 % of the time"},
        {LIMIT_AUDIO_DEVICE,
         "limit audio device with 1 MiB: at 2092 tracks 71 % of the callbacks came late, at a "
         "callback load of 13 % and with the process at 38 % of a core"},
        {LIMIT_MEMORY, "limit memory with 1 MiB: at 2092 tracks, the most allowed, reads were "
                       "under way 100 % of the time, callback load 13 %"},
        {LIMIT_FILE_HANDLES, "limit file handles with 1 MiB: at 2092 tracks, the most allowed,"},
        {LIMIT_MAX_TRACKS, "limit --max-tracks with 1 MiB: at 2092 tracks, the most allowed,"},
    };
    make_quiet();
    volume()->cells[1].evidence.late_callbacks_percent = 71;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        volume()->cells[1].limit = cases[i].limit;
        print_table();
        assert_has(cases[i].words);
        assert_has("limit drive with 64 KiB, 4 MiB: at 457 to 5115 tracks");
    }
}

static void test_ranges_of_evidence(void **state)
{
    (void)state;
    make_quiet();
    volume()->cells[0].evidence.queue_busy_percent = 97.2;
    volume()->cells[1].evidence.callback_percent = 2.6;
    volume()->cells[1].evidence.tracks = 0; /* nothing was seen there */
    print_table();
    assert_has("limit drive: at 457 to 5115 tracks reads were under way 97 to 100 % of the time, "
               "callback load 13 %");
    volume()->cells[1].evidence.tracks = 230;
    print_table();
    assert_has("limit drive: at 230 to 5115 tracks");
    assert_has("callback load 3 to 13 %");
    for (size_t i = 0; i < 3; i++)
        volume()->cells[i].evidence.tracks = 0;
    print_table();
    assert_lacks("reads were under way");
}

static void test_stalls_though_counts_hold(void **state)
{
    (void)state;
    make_quiet();
    print_table();
    assert_lacks("stalls");
    for (size_t i = 0; i < 3; i++)
        volume()->cells[i].stalls = (struct result_stalls){6, 120, 2.04, 0};
    print_table();
    assert_has("stalls 3.0 a minute, the longest 2.0 s; the buffer rides it out");
    volume()->cells[1].stalls = (struct result_stalls){0, 120, 0, 0};
    volume()->cells[2].stalls = (struct result_stalls){1, 1080, 0.25, 1.5};
    print_table(); /* 7 in 20 minutes */
    assert_has("stalls 0.35 a minute with 64 KiB, 4 MiB, the longest 2.0 s; --buffer 1.5 would "
               "ride it out");
}

static void test_irregular_cells(void **state)
{
    (void)state;
    make_quiet();
    for (size_t i = 0; i < 3; i++) {
        volume()->cells[i].irregular = true;
        volume()->cells[i].stalls = (struct result_stalls){6, 120, 2.04, 2.5};
    }
    print_table();
    assert_has("! at any count a ring runs dry: longest stall 2.0 s, 3.0 a minute; --buffer 2.5 "
               "would ride it out; the knee is 459 to 5117 tracks");
    assert_lacks("under way"); /* the load did not stop it */
    assert_lacks(" stalls 3.0");
    volume()->cells[0].irregular = volume()->cells[2].irregular = false;
    print_table();
    assert_has("! at any count a ring runs dry with 1 MiB: longest stall 2.0 s, 3.0 a minute; "
               "--buffer 2.5 would ride it out; the knee is 2094 tracks");
    assert_has(" stalls 3.0 a minute with 64 KiB, 4 MiB, the longest 2.0 s");
    volume()->cells[1].stalls = (struct result_stalls){.observed_s = 120};
    print_table();
    assert_has("! at any count a ring runs dry with 1 MiB, though the drive is never silent for as "
               "long as a ring lasts; a longer --buffer may help; the knee is 2094 tracks");
}

/* The lines on stalls say it with numbers; the warnings are for programs. */
static void test_stalls_are_told_once(void **state)
{
    (void)state;
    result_warn(&volume()->cells[0], "stalls", "the drive answered nothing");
    result_warn(&volume()->cells[1], "irregular", "rings run dry");
    result_warn(&volume()->cells[1], "drift", "at the end 440 tracks, not the 445 of before");
    print_table();
    assert_lacks("the drive answered nothing");
    assert_lacks("rings run dry");
    assert_has("warning drift at 1 MiB: at the end 440 tracks");
    volume()->cells[1].warning_count = 0;
    volume()->cells[0].again = 7777;
    print_table();
    assert_lacks("7777"); /* the first cell's repetition is of no interest without drift */
}

static void test_notes_are_no_wider_than_the_terminal(void **state)
{
    (void)state;
    static const enum limit limits[] = {LIMIT_DISK_IOPS, LIMIT_CPU, LIMIT_AUDIO_DEVICE,
                                        LIMIT_MAX_TRACKS};
    for (uint32_t i = 0; i < 12; i++) {
        struct result_cell *cell = result_add_cell(volume(), UINT32_C(4096) << i);
        assert_non_null(cell);
        *cell = volume()->cells[0];
        cell->runs = NULL, cell->trials = NULL, cell->warnings = NULL;
        cell->run_count = cell->trial_count = cell->warning_count = 0;
        cell->block_bytes = UINT32_C(4096) << i;
        cell->limit = limits[i % 4];
        cell->irregular = i > 8;
        cell->below_fit = true;
        cell->evidence.tracks = 1000000 - i;
        cell->evidence.process_percent = 6400.0 - i;
    }
    print_table();
    assert_has("256 KiB (40.8 MB/s, not 51.2), 512 KiB (40.8");
    assert_in_range(widest_line(), 100, 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SAMPLE(test_a_quiet_run_adds_the_fit_and_the_limit),
        WITH_SAMPLE(test_the_fit_in_words),
        WITH_SAMPLE(test_what_lies_below_the_fit),
        WITH_SAMPLE(test_why_the_limit_is_what_it_is),
        WITH_SAMPLE(test_ranges_of_evidence),
        WITH_SAMPLE(test_stalls_though_counts_hold),
        WITH_SAMPLE(test_irregular_cells),
        WITH_SAMPLE(test_stalls_are_told_once),
        WITH_SAMPLE(test_notes_are_no_wider_than_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
