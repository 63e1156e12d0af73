#include "host/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_LIMIT UINT64_MAX

/* A folder with a membership file and a tree of groups, as the kernel lays them out. */
static char root[64];
static char membership[80];

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(membership, sizeof membership, "%s/membership", root);
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/* Writes a file below the root, and the folders on the way. */
static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_no_groups_no_limit(void **state)
{
    (void)state;
    assert_true(cgroup_available_bytes(membership, root) == NO_LIMIT);
    put("membership", "0::/\n");
    assert_true(cgroup_available_bytes(membership, root) == NO_LIMIT);
    put("membership", "nonsense\n\n:\n");
    assert_true(cgroup_available_bytes(membership, root) == NO_LIMIT);
}

static void test_version_2_leaves_limit_less_usage_and_page_cache(void **state)
{
    (void)state;
    put("membership", "0::/user.slice/shell.scope\n");
    put("user.slice/shell.scope/memory.max", "1000000\n");
    put("user.slice/shell.scope/memory.current", "900000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 100000);
    put("user.slice/shell.scope/memory.stat",
        "anon 300000\nfile 600000\ninactive_file 500000\nactive_file 50000\nunevictable 7\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 650000);
    put("user.slice/shell.scope/memory.high", "800000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 450000);
    put("user.slice/shell.scope/memory.max", "max\n");
    put("user.slice/shell.scope/memory.high", "max\n");
    assert_true(cgroup_available_bytes(membership, root) == NO_LIMIT);
}

static void test_a_group_above_counts_too(void **state)
{
    (void)state;
    put("membership", "0::/a/b/c\n");
    put("a/memory.max", "5000\n");
    put("a/memory.current", "1000\n");
    put("a/b/memory.max", "max\n");
    put("a/b/memory.current", "1000\n");
    put("a/b/c/memory.max", "9000\n");
    put("a/b/c/memory.current", "1000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 4000);
    put("a/b/c/memory.max", "1500\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 500);
}

static void test_a_used_up_group_leaves_nothing(void **state)
{
    (void)state;
    put("membership", "0::/a\n");
    put("a/memory.max", "5000\n");
    put("a/memory.current", "6000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 0);
    put("a/memory.stat", "inactive_file 700000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 5000);
}

static void test_version_1_has_its_own_names(void **state)
{
    (void)state;
    put("membership", "7:blkio:/\n4:cpu,memory:/jobs/one\n0::/\n");
    put("memory/jobs/one/memory.limit_in_bytes", "1000000\n");
    put("memory/jobs/one/memory.usage_in_bytes", "400000\n");
    put("memory/jobs/one/memory.stat",
        "cache 1\ninactive_file 9\ntotal_inactive_file 200000\ntotal_active_file 100000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 900000);
    put("memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(cgroup_available_bytes(membership, root) == NO_LIMIT);
}

/* The path is the host's, the mount is the container's own group. */
static void test_a_container_without_a_namespace(void **state)
{
    (void)state;
    put("membership", "4:memory:/docker/0123456789\n");
    put("memory/memory.limit_in_bytes", "3000\n");
    put("memory/memory.usage_in_bytes", "1000\n");
    assert_int_equal(cgroup_available_bytes(membership, root), 2000);
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(test_no_groups_no_limit),
        IN_ROOT(test_version_2_leaves_limit_less_usage_and_page_cache),
        IN_ROOT(test_a_group_above_counts_too),
        IN_ROOT(test_a_used_up_group_leaves_nothing),
        IN_ROOT(test_version_1_has_its_own_names),
        IN_ROOT(test_a_container_without_a_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
