#include "host.h"

#include "cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * The machine as the kernel describes it in /proc and /etc. Everything here is for the header of a
 * result, or a bound on how much the measurement may take; nothing that is missing is an error,
 * because a measurement is as good on a machine that does not say its name.
 */

/* Copies `text` into `out`, cut to fit, without the newline at its end. */
static void copy_line(char *out, size_t out_bytes, const char *text)
{
    snprintf(out, out_bytes, "%.*s", (int)strcspn(text, "\n"), text);
}

/*
 * Finds the first line `key<separator>value` of a file, blanks around the separator allowed, and
 * copies the value.
 */
static bool find_value(const char *path, const char *key, char separator, char *out,
                       size_t out_bytes)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = false;
    char *line = NULL;
    size_t size = 0;
    size_t key_bytes = strlen(key);
    while (!found && getline(&line, &size, file) > 0) {
        if (strncmp(line, key, key_bytes) != 0)
            continue;
        const char *rest = line + key_bytes;
        rest += strspn(rest, " \t");
        if (*rest != separator)
            continue;
        rest++;
        rest += strspn(rest, " \t");
        copy_line(out, out_bytes, rest);
        found = out[0] != '\0';
    }
    free(line);
    fclose(file);
    return found;
}

/* Takes the quotes and backslashes of os-release (shell syntax) off, in place. */
static void unquote(char *text)
{
    char *to = text;
    char quote = '\0';
    for (const char *from = text; *from != '\0'; from++) {
        if (quote == '\0' ? *from == '"' || *from == '\'' : *from == quote) {
            quote = quote == '\0' ? *from : '\0';
            continue;
        }
        if (*from == '\\' && quote != '\'' && from[1] != '\0')
            from++;
        *to++ = *from;
    }
    *to = '\0';
}

static void describe_os(struct host *host)
{
    static const char *const files[] = {"/etc/os-release", "/usr/lib/os-release"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (find_value(files[i], "PRETTY_NAME", '=', host->os, sizeof host->os)) {
            unquote(host->os);
            return;
        }
    }
    copy_line(host->os, sizeof host->os, "Linux");
}

/* Each architecture names its processor under another key; some only by the machine's type. */
static void describe_cpu(struct host *host, const char *machine)
{
    static const char *const keys[] = {"model name", "Model", "Hardware", "cpu model", "cpu"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (find_value("/proc/cpuinfo", keys[i], ':', host->cpu, sizeof host->cpu))
            return;
    }
    copy_line(host->cpu, sizeof host->cpu, machine);
}

static uint32_t usable_cores(void)
{
    /* The kernel refuses a set smaller than its own, which is larger than cpu_set_t on big
     * machines. */
    for (int cpus = CPU_SETSIZE; cpus <= CPU_SETSIZE * 64; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (set == NULL)
            break;
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (uint32_t)count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

void host_describe(struct host *host)
{
    memset(host, 0, sizeof *host);
    struct utsname name;
    bool named = uname(&name) == 0;
    copy_line(host->kernel, sizeof host->kernel, named ? name.release : "unknown");
    describe_os(host);
    describe_cpu(host, named ? name.machine : "unknown");
    host->cores = usable_cores();
    struct sysinfo info;
    if (sysinfo(&info) == 0)
        host->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
}

/* Kernels before 3.14 have no MemAvailable; what is free is then the safe answer. */
static uint64_t machine_available_bytes(void)
{
    char text[64];
    uint64_t kib;
    if (find_value("/proc/meminfo", "MemAvailable", ':', text, sizeof text) &&
        sscanf(text, "%" SCNu64, &kib) == 1)
        return kib * 1024;
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (uint64_t)info.freeram * info.mem_unit : 0;
}

/* What is left of this process's address space where that is limited (ulimit -v). */
static uint64_t address_space_left_bytes(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%" SCNu64, &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    uint64_t used_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used_bytes ? limit.rlim_cur - used_bytes : 0;
}

uint64_t host_available_memory_bytes(void)
{
    uint64_t machine = machine_available_bytes();
    uint64_t group = cgroup_available_bytes("/proc/self/cgroup", "/sys/fs/cgroup");
    uint64_t space = address_space_left_bytes();
    uint64_t least = group < machine ? group : machine;
    return space < least ? space : least;
}

uint64_t host_raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return _POSIX_OPEN_MAX; /* what every system grants */
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}
