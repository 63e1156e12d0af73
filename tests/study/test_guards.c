#include "study/guards.h"

#include "study/guards_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* What the guards conclude. What they look at is provoked for real in tests/program/guards.sh,
 * tests/host/test_storage.c and tests/study/test_pool_cache.c. */

static const uint64_t memory_bytes = UINT64_C(8) << 30;

static const struct result_warning *find_warning(const struct result_cell *cell, const char *kind)
{
    for (size_t i = 0; i < cell->warning_count; i++) {
        if (strcmp(cell->warnings[i].kind, kind) == 0)
            return &cell->warnings[i];
    }
    return NULL;
}

/* A result with one drive and two block sizes. */
static struct result_volume *make_volume(struct result *result)
{
    struct result_volume *volume = result_add_volume(result, "/drive");
    assert_non_null(result_add_cell(volume, 4096));
    assert_non_null(result_add_cell(volume, 65536));
    volume->pool_bytes = memory_bytes / 4;
    return volume;
}

static void types_of_filesystems(void **state)
{
    (void)state;
    static const char *const drives[] = {"ext4", "xfs", "btrfs", "vfat", "exfat", "ntfs3", ""};
    static const char *const memory[] = {"tmpfs", "ramfs"};
    static const char *const cached[] = {"fuseblk", "fuse.sshfs", "fuse", "nfs", "nfs4",
                                         "cifs",    "smb3",       "9p",   "zfs", "overlay"};
    for (size_t i = 0; i < sizeof drives / sizeof *drives; i++)
        assert_int_equal(guards_filesystem(drives[i]), GUARDS_DRIVE);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        assert_int_equal(guards_filesystem(memory[i]), GUARDS_MEMORY);
    for (size_t i = 0; i < sizeof cached / sizeof *cached; i++)
        assert_int_equal(guards_filesystem(cached[i]), GUARDS_CACHED_BELOW);
}

/* A drive that stands still now and then is no cache, however long it does. */
static void ratio_is_of_medians(void **state)
{
    (void)state;
    uint64_t first[] = {100, 110, 90, 50000, 105}, second[] = {100, 95, 105, 102, 98};
    assert_true(guards_ratio(first, second, 5) == 1.05);
    uint64_t cold[] = {400, 420, 10, 380, 410}, warm[] = {100, 95, 4000, 102, 98};
    double ratio = guards_ratio(cold, warm, 5);
    assert_true(ratio > 3.9 && ratio < 4.1);
    assert_true(guards_ratio(first, second, 0) == 0);
    assert_true(guards_suspicious_ratio == 1.5);
}

static void files_that_hold_no_data(void **state)
{
    (void)state;
    static const char *const kinds[] = {"unwritten", "sparse", "compressed", "inline"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct result result = {0};
        struct result_volume *volume = make_volume(&result);
        struct storage_extents extents = {.file_bytes = 1000};
        uint64_t *bytes[] = {&extents.unwritten_bytes, &extents.hole_bytes,
                             &extents.compressed_bytes, &extents.inline_bytes};
        *bytes[i] = 10; /* as much as nobody would notice */
        guards_doubt_extents(&extents, volume);
        assert_int_equal(volume->cells[0].warning_count, 0);
        *bytes[i] = 250;
        guards_doubt_extents(&extents, volume);
        for (size_t cell = 0; cell < 2; cell++) {
            assert_int_equal(volume->cells[cell].warning_count, 1);
            assert_string_equal(volume->cells[cell].warnings[0].kind, kinds[i]);
            assert_non_null(strstr(volume->cells[cell].warnings[0].text, "25 %"));
            assert_non_null(strstr(volume->cells[cell].warnings[0].text, "trackramp clean"));
        }
        result_fini(&result);
    }
    struct result result = {0};
    struct result_volume *volume = make_volume(&result);
    guards_doubt_extents(&(struct storage_extents){0}, volume); /* no map of them */
    assert_int_equal(volume->cells[0].warning_count, 0);
    result_fini(&result);
}

/* Whether `served-from-cache` comes where the device read `bytes` of our million. */
static bool is_doubted(uint64_t bytes, bool counted, bool direct, bool *buffered)
{
    struct result result = {0};
    struct result_volume *volume = make_volume(&result);
    struct guards guards = {.counted = counted};
    volume->cells[1].device = (struct result_device){
        .our_reads = 16, .our_bytes = 1000000, .reads = bytes / 65536, .bytes = bytes};
    guards_judge(&guards, direct, memory_bytes, volume);
    assert_int_equal(volume->cells[0].warning_count, 0);
    const struct result_warning *warning = find_warning(&volume->cells[1], "served-from-cache");
    bool doubted = warning != NULL;
    if (doubted)
        assert_int_equal(strstr(warning->text, "--io direct") == NULL, direct);
    *buffered = guards.buffered;
    result_fini(&result);
    return doubted;
}

static void device_that_reads_less_than_we(void **state)
{
    (void)state;
    bool buffered;
    assert_false(is_doubted(1000000, true, true, &buffered));
    assert_false(is_doubted(5000000, true, true, &buffered)); /* others read too */
    assert_false(is_doubted(910000, true, true, &buffered));
    assert_false(buffered);
    assert_true(is_doubted(890000, true, true, &buffered));
    assert_true(buffered);
    assert_true(is_doubted(0, true, true, &buffered));
    assert_true(is_doubted(0, true, false, &buffered));
    assert_false(buffered); /* asked for */
    assert_false(is_doubted(0, false, true, &buffered));
    assert_false(buffered);
}

static void speeds_no_drive_has(void **state)
{
    (void)state;
    struct result result = {0};
    struct result_volume *volume = make_volume(&result);
    struct guards guards = {.link_bytes_per_second = 60e6};
    volume->cells[0].flood_bytes_per_second = 59e6;
    volume->cells[0].stream_bytes_per_second = 80e6;
    volume->cells[1].flood_bytes_per_second = 61e6;
    volume->cells[1].stream_bytes_per_second = 100e6;
    guards_judge(&guards, true, memory_bytes, volume);
    assert_null(find_warning(&volume->cells[0], "above-link"));
    assert_null(find_warning(&volume->cells[0], "above-flood"));
    assert_non_null(find_warning(&volume->cells[1], "above-link"));
    assert_non_null(find_warning(&volume->cells[1], "above-flood"));
    guards.link_bytes_per_second = 0; /* not known */
    volume->cells[0].flood_bytes_per_second = 1e12;
    guards_judge(&guards, true, memory_bytes, volume);
    assert_int_equal(volume->cells[0].warning_count, 0);
    result_fini(&result);
}

/* Only where nothing else says that the files were cold. */
static void little_data_beside_memory(void **state)
{
    (void)state;
    for (int unknown = 0; unknown < 2; unknown++) {
        for (int counted = 0; counted < 2; counted++) {
            for (int large = 0; large < 2; large++) {
                struct result result = {0};
                struct result_volume *volume = make_volume(&result);
                struct guards guards = {.counted = counted != 0};
                if (unknown)
                    result_warn(&volume->cells[0], "cache-unknown", "cannot be told");
                if (large)
                    volume->pool_bytes = memory_bytes;
                volume->cells[0].device = (struct result_device){.our_bytes = 1, .bytes = 1};
                guards_judge(&guards, false, memory_bytes, volume);
                assert_int_equal(find_warning(&volume->cells[0], "small-data") != NULL,
                                 unknown && !counted && !large);
                assert_null(find_warning(&volume->cells[1], "small-data"));
                result_fini(&result);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_filesystems),    cmocka_unit_test(ratio_is_of_medians),
        cmocka_unit_test(files_that_hold_no_data), cmocka_unit_test(device_that_reads_less_than_we),
        cmocka_unit_test(speeds_no_drive_has),     cmocka_unit_test(little_data_beside_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
