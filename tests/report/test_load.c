#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "report/json_fixture.h"

static struct result loaded;

static void write_text(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Loading it fails with one line that has these words, and leaves nothing behind. */
static void refused(const char *words)
{
    static const struct result zero;
    struct error error = {0};
    assert_int_equal(report_load(&loaded, path, &error), -1);
    assert_int_equal(error.kind, ERROR_USAGE);
    if (strstr(error.text, words) == NULL)
        fail_msg("`%s` does not say `%s`", error.text, words);
    assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
    for (const char *c = error.text; *c != '\0'; c++)
        assert_true((unsigned char)*c >= ' ' && (unsigned char)*c < 0x7F);
    assert_memory_equal(&loaded, &zero, sizeof zero);
}

static void load_written(void)
{
    struct error error = {0};
    assert_int_equal(report_json(&result, path, &error), 0);
    assert_int_equal(report_load(&loaded, path, &error), 0);
    assert_int_equal(error.kind, ERROR_NONE);
}

static void assert_near(double value, double wanted)
{
    assert_true(fabs(value - wanted) <= 0.5 + 1e-9 * wanted);
}

static void compare_cell(const struct result_cell *cell, const struct result_cell *wanted)
{
    assert_int_equal(cell->block_bytes, wanted->block_bytes);
    assert_int_equal(cell->complete, wanted->complete);
    assert_int_equal(cell->sustained, wanted->sustained);
    assert_int_equal(cell->low, wanted->low);
    assert_int_equal(cell->high, wanted->high);
    assert_int_equal(cell->knee, wanted->knee);
    assert_int_equal(cell->comfortable, wanted->comfortable);
    assert_int_equal(cell->irregular, wanted->irregular);
    assert_int_equal(cell->limit, wanted->limit);
    assert_int_equal(cell->below_fit, wanted->below_fit);
    assert_near(cell->flood_bytes_per_second, wanted->flood_bytes_per_second);
    assert_near(cell->stream_bytes_per_second, wanted->stream_bytes_per_second);
    assert_near(cell->fit_bytes_per_second, wanted->fit_bytes_per_second);
}

static void compare_volume(const struct result_volume *volume, const struct result_volume *wanted)
{
    assert_string_equal(volume->path, wanted->path);
    assert_string_equal(volume->io, wanted->io);
    assert_string_equal(volume->drive.node, wanted->drive.node);
    assert_string_equal(volume->drive.model, wanted->drive.model);
    assert_int_equal(volume->drive.rotational, wanted->drive.rotational);
    assert_int_equal(volume->drive.stripe_unit_bytes, wanted->drive.stripe_unit_bytes);
    assert_int_equal(volume->drive.stripe_bytes, wanted->drive.stripe_bytes);
    assert_true(fabs(volume->fit.position_s - wanted->fit.position_s) < 1e-9);
    assert_near(volume->fit.rate_bytes_per_second, wanted->fit.rate_bytes_per_second);
    assert_near(volume->fit.knee_bytes, wanted->fit.knee_bytes);
    assert_int_equal(volume->cell_count, wanted->cell_count);
    for (size_t i = 0; i < wanted->cell_count; i++)
        compare_cell(&volume->cells[i], &wanted->cells[i]);
}

/* --- what was written comes back ---------------------------------------------------------------
 */

static void test_round_trip(void **state)
{
    (void)state;
    result.volumes[0].cells[1].irregular = true;
    result.track = (struct track_format){CONTAINER_CAF, ENCODING_FLOAT32, 192000, 8};
    load_written();
    assert_int_equal(loaded.track.container, CONTAINER_CAF);
    assert_int_equal(loaded.track.encoding, ENCODING_FLOAT32);
    assert_int_equal(loaded.track.sample_rate_hz, 192000);
    assert_int_equal(loaded.track.channels, 8);
    assert_int_equal(loaded.volume_count, 2);
    for (size_t i = 0; i < 2; i++)
        compare_volume(&loaded.volumes[i], &result.volumes[i]);
    result_fini(&loaded);
}

static void test_every_name_that_there_is_comes_back(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        result.volumes[0].cells[0].limit = (enum limit)i;
        result.track.encoding = (enum encoding)(i % ENCODING_COUNT);
        result.track.container = (enum container)(i % CONTAINER_COUNT);
        load_written();
        assert_int_equal(loaded.volumes[0].cells[0].limit, i);
        assert_int_equal(loaded.track.encoding, i % ENCODING_COUNT);
        assert_int_equal(loaded.track.container, i % CONTAINER_COUNT);
        result_fini(&loaded);
    }
}

static void write_json(json_t *json)
{
    assert_int_equal(json_dump_file(json, path, JSON_INDENT(2)), 0);
}

/* Names that version 0.1.0 did not write; and some that it will never know. */
static void test_older_and_newer_files(void **state)
{
    (void)state;
    json_t *json = written();
    assert_int_equal(json_object_del(at(json, "volumes.0.blocks.0.tracks"), "comfortable"), 0);
    assert_int_equal(json_object_del(at(json, "volumes.0.blocks.0"), "irregular"), 0);
    json_t *throughput = at(json, "volumes.0.blocks.0.throughput");
    assert_int_equal(json_object_del(throughput, "below_fit"), 0);
    assert_int_equal(json_object_del(throughput, "fit_bytes_per_second"), 0);
    json_object_set_new(json, "novelty", json_pack("[{s:[]}]", "list"));
    json_object_set_new(throughput, "novelty", json_null());
    write_json(json);
    json_decref(json);
    struct error error = {0};
    assert_int_equal(report_load(&loaded, path, &error), 0);
    const struct result_cell *cell = &loaded.volumes[0].cells[0];
    assert_int_equal(cell->sustained, 445);
    assert_int_equal(cell->comfortable, 0);
    assert_false(cell->irregular || cell->below_fit || cell->fit_bytes_per_second > 0);
    result_fini(&loaded);
}

/* --- files that are none ------------------------------------------------------------------------
 */

static void test_what_is_no_file(void **state)
{
    (void)state;
    refused("No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    refused("is a folder");
    assert_int_equal(rmdir(path), 0);
    write_text("", 0);
    refused("is empty");
    char whole[sizeof path];
    snprintf(whole, sizeof whole, "%s", path);
    snprintf(path, sizeof path, "/dev/zero"); /* has no size and no end */
    refused("larger than 64 MiB");
    snprintf(path, sizeof path, "%s", whole);
}

static void test_what_is_no_json(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"nonsense\n", "line 1, column 8: this is no JSON"},
        {"{\"schema\": \"x\",\n \"a\": NaN}\n", "line 2, column 9: this is no JSON"},
        {"{\"a\": Infinity}", "this is no JSON"},
        {"\xFF\xFE{", "this is no JSON"},
        {"{\"a\": \"two\nlines\"}", "this is no JSON"},
        {"{\"a\": \"\\u0000\"}", "this is no JSON"},
        {"{} {}", "this is no JSON"},
        {"{\"a\": 1e999}", "line 1, column 11: a number is too large"},
        {"{\"a\": 99999999999999999999}", "a number is too large"},
        {"{\"a\": 1, \"a\": 2}", "a name stands there twice"},
        {"[]", "is JSON, but no result"},
        {"{}", "has no `schema`"},
        {"{\"schema\": null}", "has no `schema`"},
        {"{\"schema\": 1}", "schema must be text"},
        {"{\"schema\": \"trackramp-result-2\"}", "is not of the schema trackramp-result-1"},
        {"{\"schema\": \"trackramp-result-1\"}", "track is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i].text, strlen(cases[i].text));
        refused(cases[i].words);
    }
    char deep[5000];
    memset(deep, '[', sizeof deep);
    write_text(deep, sizeof deep);
    refused("this is no JSON");
}

/* Wherever it is cut, the end is missed, in the line where it is. */
static void test_a_file_that_was_cut_short(void **state)
{
    (void)state;
    json_decref(written());
    static char text[1 << 16];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_in_range(bytes, 10000, sizeof text - 1);
    unsigned line = 1;
    for (size_t cut = 1; cut < bytes - 2; cut++) {
        char words[64];
        line += text[cut - 1] == '\n';
        write_text(text, cut);
        snprintf(words, sizeof words, "ends in the middle of line %u:", line);
        refused(words);
    }
    assert_true(line > 300);
}

static void test_a_file_that_is_too_large(void **state)
{
    (void)state;
    json_decref(written());
    assert_int_equal(truncate(path, 100 << 20), 0);
    refused("larger than 64 MiB");
}

/* --- results that are none -----------------------------------------------------------------------
 */

static void test_each_value_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *parent, *name, *json; /* NULL: the name is taken away */
        const char *words;
    } changes[] = {
        {"", "track", NULL, "track is missing"},
        {"", "track", "[]", "track must be an object"},
        {"", "volumes", "{}", "volumes must be a list"},
        {"", "volumes", "[7]", "volumes[0] must be an object"},
        {"track", "encoding", "\"mp3\"", "track.encoding is none that this version knows"},
        {"track", "encoding", "16", "track.encoding must be text"},
        {"track", "container", "\"ogg\"", "track.container is none that"},
        {"track", "sample_rate", "8000", "track.sample_rate is 8000; it must be from 44100 to"},
        {"track", "sample_rate", "44100.0", "track.sample_rate must be a whole number"},
        {"track", "channels", "0", "track.channels is 0; it must be from 1 to 1024"},
        {"track", "channels", "-2", "track.channels is -2;"},
        {"volumes.1", "path", "null", "volumes[1].path must be text"},
        {"volumes.0", "blocks", "null", "volumes[0].blocks must be a list"},
        {"volumes.0", "drive", "\"sda\"", "volumes[0].drive must be an object"},
        {"volumes.0.drive", "stripe_bytes", "-1", "volumes[0].drive.stripe_bytes is -1;"},
        {"volumes.0.drive", "rotational", "1", "volumes[0].drive.rotational must be true or"},
        {"volumes.0", "fit", "0", "volumes[0].fit must be an object"},
        {"volumes.0.fit", "position_s", "-0.001", "volumes[0].fit.position_s is -0.001; it must"},
        {"volumes.0.fit", "rate_bytes_per_second", "0", "fit.rate_bytes_per_second is 0; it must"},
        {"volumes.0.fit", "rate_bytes_per_second", "1e300", "rate_bytes_per_second is 1e+300;"},
        {"volumes.0.fit", "knee_bytes", "null", "volumes[0].fit.knee_bytes must be a number"},
        {"volumes.0.blocks.2", "block_bytes", "0", "volumes[0].blocks[2].block_bytes is 0; it"},
        {"volumes.0.blocks.2", "block_bytes", "4294967296", "block_bytes is 4294967296; it"},
        {"volumes.0.blocks.2", "complete", "1", "blocks[2].complete must be true or false"},
        {"volumes.0.blocks.2", "limit", "\"weather\"", "blocks[2].limit is none that this"},
        {"volumes.0.blocks.2", "irregular", "\"no\"", "blocks[2].irregular must be true or"},
        {"volumes.0.blocks.2.tracks", "sustained", "-1", "blocks[2].tracks.sustained is -1;"},
        {"volumes.0.blocks.2.tracks", "sustained", "\"445\"", "sustained must be a whole number"},
        {"volumes.0.blocks.2.tracks", "high", NULL, "blocks[2].tracks.high is missing"},
        {"volumes.0.blocks.2.tracks", "comfortable", "0.5", "comfortable must be a whole number"},
        {"volumes.0.blocks.2.throughput", "flood_bytes_per_second", "-5", "second is -5; it must"},
        {"volumes.0.blocks.2.throughput", "below_fit", "3", "below_fit must be true or false"},
    };
    json_t *good = written();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        json_t *bad = json_deep_copy(good);
        json_t *parent = at(bad, changes[i].parent);
        assert_true(json_is_object(parent));
        if (changes[i].json == NULL)
            assert_int_equal(json_object_del(parent, changes[i].name), 0);
        else
            json_object_set_new(parent, changes[i].name,
                                json_loads(changes[i].json, JSON_DECODE_ANY, NULL));
        write_json(bad);
        refused(changes[i].words);
        json_decref(bad);
    }
    json_decref(good);
}

static unsigned long allocations_left;

static void *failing_malloc(size_t bytes)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return malloc(bytes);
}

/* Some of them jansson takes for a token that is none, and says so. */
static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    json_decref(written());
    int outcome = -1;
    unsigned long n = 0, memory = 0;
    json_set_alloc_funcs(failing_malloc, free);
    for (; outcome != 0 && n < 100000; n += 7) {
        struct error error = {0};
        allocations_left = n;
        outcome = report_load(&loaded, path, &error);
        assert_int_equal(error.kind == ERROR_NONE, outcome == 0);
        memory += strstr(error.text, "memory") != NULL;
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(outcome == 0 && n > 500 && memory > 50);
    result_fini(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_round_trip),
        IN_FOLDER(test_every_name_that_there_is_comes_back),
        IN_FOLDER(test_older_and_newer_files),
        IN_FOLDER(test_what_is_no_file),
        IN_FOLDER(test_what_is_no_json),
        IN_FOLDER(test_a_file_that_was_cut_short),
        IN_FOLDER(test_a_file_that_is_too_large),
        IN_FOLDER(test_each_value_is_checked),
        IN_FOLDER(test_every_failed_allocation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
