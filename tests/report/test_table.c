#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/table_fixture.h"

static void test_head_says_what_the_counts_depend_on(void **state)
{
    (void)state;
    print_table();
    assert_has("AMD Ryzen 7 5800X 8-Core Processor, 16 cores, 32 GiB of memory");
    assert_has("system on JACK Audio Connection Kit, through PortAudio; 44100 Hz, 256 frames");
    assert_has("44.1 kHz pcm16 mono wav, 88.2 kB/s a track");
    assert_has("5 s a trial, 3 searches a block size, 0.1 s of buffer a track, seed 1");
    assert_has("KiB, MiB, GiB are binary (1024); kB/s and MB/s are decimal (10^3, 10^6)");
    assert_has("/mnt/audio drive raid0 of 4 drives, /dev/md0, rotating");
    assert_has("striped in 2 MiB of 512 KiB");
    assert_has("xfs in blocks of 4 KiB, the kernel reads ahead 128 KiB");
    assert_has("direct: past the page cache; engine uring, 2 readers, queue depth 32");
    assert_has("64 files, 6 GiB");
    assert_has("/dev/shm drive none: no block device");
    assert_has("buffered: through the page cache (asked for: direct); engine threads, 1 reader,");
    assert_lacks("incomplete");
}

static void test_other_starts_and_layouts(void **state)
{
    (void)state;
    print_table();
    assert_lacks("tracks start");
    assert_lacks("files lie");
    snprintf(result.method.start, sizeof result.method.start, "aligned");
    print_table();
    assert_has("seed 1; tracks start aligned units");
    snprintf(result.method.layout, sizeof result.method.layout, "interleaved");
    print_table();
    assert_has("seed 1; tracks start aligned; files lie interleaved");
}

/* Nobody's files, no cache, and no time that passed. */
static void test_a_modelled_drive(void **state)
{
    (void)state;
    struct result_volume *volume = &result.volumes[0];
    volume->drive.node[0] = '\0';
    volume->drive.stripe_bytes = 0;
    snprintf(volume->drive.model, sizeof volume->drive.model, "model of a drive: hdd-7200");
    snprintf(volume->engine, sizeof volume->engine, "model");
    snprintf(result.audio.driver, sizeof result.audio.driver, "simulated");
    print_table();
    assert_has("took 12 min 30 s of virtual time");
    assert_has("audio simulated, in virtual time; 44100 Hz, 256 frames a callback");
    assert_has("/mnt/audio drive model of a drive: hdd-7200 read engine model, 2 readers, queue "
               "depth 32 block");
}

static void test_other_tracks_and_outputs(void **state)
{
    (void)state;
    result.track = (struct track_format){CONTAINER_CAF, ENCODING_FLOAT32, 192000, 8};
    result.audio.fell_back = true;
    print_table();
    assert_has("192 kHz float32 8 channels caf, 6.14 MB/s a track");
    assert_has("there is no audio output here, so the built-in clock kept time");
    result.track.channels = 2;
    result.audio.fell_back = false;
    snprintf(result.audio.driver, sizeof result.audio.driver, "clock");
    snprintf(result.audio.device, sizeof result.audio.device, "built-in clock");
    print_table();
    assert_has("float32 stereo caf");
    assert_has("audio built-in clock, 44100 Hz");
}

static void test_rows(void **state)
{
    (void)state;
    print_table();
    assert_has("64 KiB ~445 401 437-456 39.2 40.8 37.2 12.1 9.12 231 55.6 drive: reads a second");
    assert_has("* 1 MiB 2040 1836 2000-2091 180 187 37.2 12.1 9.12 231 4080 drive: bandwidth");
    assert_int_equal(count("*"), 2); /* the row, and what the mark means */
}

/* A count of ours is never printed as the drive's. */
static void test_capped_counts_are_marked(void **state)
{
    (void)state;
    static const struct {
        enum limit limit;
        const char *row;
    } cases[] = {
        {LIMIT_CPU, "4 MiB >= 4990 4491 4891-5114 440 458 37.2 12.1 9.12 231 39920 CPU"},
        {LIMIT_MEMORY, "39920 memory"},
        {LIMIT_FILE_HANDLES, "39920 file handles"},
        {LIMIT_AUDIO_DEVICE, "39920 audio device"},
        {LIMIT_MAX_TRACKS, "39920 --max-tracks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result.volumes[0].cells[2].limit = cases[i].limit;
        print_table();
        assert_has(cases[i].row);
        assert_has("4 MiB >= 4990");
        assert_has(">= stopped by something other than the drive");
    }
    result.volumes[0].cells[2].limit = LIMIT_DISK_BANDWIDTH;
    print_table();
    assert_lacks(">=");
}

/* Marks tell at the count what there is to doubt about it. */
static void test_doubtful_counts_are_marked(void **state)
{
    (void)state;
    print_table();
    assert_has("64 KiB ~445");
    assert_has("~ the searches still differ by more than 5 %");
    result.volumes[0].cells[0].spread_wide = false;
    print_table();
    assert_has("64 KiB 445");
    assert_lacks("~");
    result.volumes[0].cells[2].spread_wide = true;
    print_table();
    assert_has("4 MiB >=~4990");
    struct result_cell *cell = &result.volumes[0].cells[0];
    cell->irregular = true;
    cell->sustained = cell->low = cell->high = cell->comfortable = 0;
    print_table();
    assert_has("64 KiB ! 0 - 0-0 39.2 40.8 37.2 12.1 9.12 231 55.6 stalls, not the load");
}

/* Unsteady cells have more searches than others. */
static void test_the_interval_is_that_of_the_fewest_searches(void **state)
{
    (void)state;
    print_table();
    assert_has("low-high of 3 searches: holds the true middle with a chance of 75 %");
    for (int i = 0; i < 3; i++)
        assert_int_equal(result_add_run(&result.volumes[0].cells[1], 2040), 0);
    print_table();
    assert_has("low-high of 3 to 6 searches: holds the true middle with a chance of 75 % at least");
    result.volumes[0].cells[0].run_count = 1;
    print_table();
    assert_lacks("low-high of");
}

static void test_unfinished_cells_say_so(void **state)
{
    (void)state;
    print_table();
    assert_has("8 MiB 1990 - 1990-1990 - 1750 - - - - - unfinished, 1 of 3");
    assert_has("4 KiB - - - - - - - - - - unfinished, 0 of 3");
}

static void test_each_warning_stands_once_with_its_block_sizes(void **state)
{
    (void)state;
    print_table();
    assert_has(
        "late-callbacks at 64 KiB, 1 MiB: 2 callbacks came late; close other programs (as at "
        "64 KiB)");
    assert_has("moved at 1 MiB: the first cell moved by 9 % during the run; repeat it");
    assert_int_equal(count("late-callbacks"), 1);
    assert_int_equal(count("(as at"), 1);
}

static void test_warning_at_every_block_size_is_cut_to_one_paragraph(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= 200; i++)
        result_warn(result_add_cell(&result.volumes[0], i << 20), "many", "a doubt");
    print_table();
    assert_int_equal(count("many at"), 1);
    assert_has("many at 1 MiB, 2 MiB, 3 MiB,");
    assert_has(": a doubt");
}

static void test_recommendation_closes_its_volume(void **state)
{
    (void)state;
    print_table();
    assert_has("Use blocks of 1 MiB: 2040 tracks; larger blocks add less than 3 % and smaller ones "
               "carry fewer tracks for the same drive. /dev/shm");
}

static void test_incomplete_run_says_why(void **state)
{
    (void)state;
    result.complete = false;
    print_table();
    assert_has("This run is incomplete: it was stopped before its end");
    snprintf(result.ended_by, sizeof result.ended_by, "the audio device `system` is gone");
    print_table();
    assert_has("This run is incomplete: the audio device `system` is gone");
    result.volumes[1].cell_count = 0;
    print_table();
    assert_has("nothing was measured here");
}

static void test_zeroed_result_prints(void **state)
{
    (void)state;
    result_fini(&result);
    print_table();
    assert_has("This run is incomplete");
}

/* A path is any bytes: the terminal gets no commands from it. */
static void test_control_characters_are_not_printed(void **state)
{
    (void)state;
    free(result.volumes[0].path);
    result.volumes[0].path = strdup("/mnt/\x1b[2Jau\ndio\x7f/M\xC3\xBCsik");
    print_table();
    assert_has("/mnt/?[2Jau?dio?/M\xC3\xBCsik");
}

static void test_nothing_is_wider_than_the_terminal(void **state)
{
    (void)state;
    struct result_cell *cell = &result.volumes[0].cells[2];
    cell->sustained = cell->low = cell->high = cell->comfortable = 123456;
    cell->block_bytes = 512 * 1024;
    cell->limit = LIMIT_DISK_IOPS;
    cell->stream_bytes_per_second = cell->flood_bytes_per_second = 123456e6;
    cell->process_percent = cell->callback_percent = 6400;
    cell->latency_p99_us = cell->latency_max_us = 99999e3;
    cell->buffer_bytes = UINT64_C(999999) << 20;
    memset(result.host.cpu, 'w', 60);
    snprintf(result.volumes[0].recommendation, sizeof result.volumes[0].recommendation, "%s",
             "M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik "
             "M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik "
             "M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik M\xC3\xBCsik");
    print_table();
    assert_true(count("\n") > 30);
    assert_in_range(widest_line(), 100, 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SAMPLE(test_head_says_what_the_counts_depend_on),
        WITH_SAMPLE(test_other_starts_and_layouts),
        WITH_SAMPLE(test_a_modelled_drive),
        WITH_SAMPLE(test_other_tracks_and_outputs),
        WITH_SAMPLE(test_rows),
        WITH_SAMPLE(test_capped_counts_are_marked),
        WITH_SAMPLE(test_doubtful_counts_are_marked),
        WITH_SAMPLE(test_the_interval_is_that_of_the_fewest_searches),
        WITH_SAMPLE(test_unfinished_cells_say_so),
        WITH_SAMPLE(test_each_warning_stands_once_with_its_block_sizes),
        WITH_SAMPLE(test_warning_at_every_block_size_is_cut_to_one_paragraph),
        WITH_SAMPLE(test_recommendation_closes_its_volume),
        WITH_SAMPLE(test_incomplete_run_says_why),
        WITH_SAMPLE(test_zeroed_result_prints),
        WITH_SAMPLE(test_control_characters_are_not_printed),
        WITH_SAMPLE(test_nothing_is_wider_than_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
