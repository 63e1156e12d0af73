#include "pool_cache.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * cachestat (Linux 6.5) counts a file's cached pages in one call. Older kernels have mincore,
 * which needs a mapping. An overlay's own files cache nothing, their pages belong to the file
 * below, so cachestat says 0 there whatever is cached; mincore sees the right ones.
 *
 * Which pages of a file are cached betrays what others read in it, so the kernel tells only who
 * owns the file or may write it. Anyone else is refused by cachestat (by newer kernels), and told
 * by mincore that all is cached: that answer is none.
 */

enum { CACHESTAT_CALL = 451, OVERLAY_MAGIC = 0x794c7630 };

/* struct cachestat of Linux 6.5's <linux/mman.h>, which the C library lacks: five counts of pages,
 * the cached ones first. The range before it is offset and length, 0 for all. */
enum { RANGE_WORDS = 2, COUNT_CACHED = 0, COUNTS = 5 };

void pool_cache_drop(int file)
{
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static bool is_overlay(int file)
{
    struct statfs status;
    return fstatfs(file, &status) == 0 && (uint32_t)status.f_type == OVERLAY_MAGIC;
}

static bool is_told(int file)
{
    struct stat status;
    return (fstat(file, &status) == 0 && status.st_uid == geteuid()) ||
           faccessat(file, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

/* Pages cached by the older way, or -1. */
static int64_t count_mapped(int file, size_t file_bytes, size_t page_bytes)
{
    if (!is_told(file))
        return -1;
    size_t pages = (file_bytes + page_bytes - 1) / page_bytes;
    void *mapping = mmap(NULL, file_bytes, PROT_READ, MAP_SHARED, file, 0);
    if (mapping == MAP_FAILED)
        return -1;
    unsigned char *flags = malloc(pages);
    int64_t cached = -1;
    if (flags != NULL && mincore(mapping, file_bytes, flags) == 0) {
        cached = 0;
        for (size_t page = 0; page < pages; page++)
            cached += flags[page] & 1;
    }
    free(flags);
    munmap(mapping, file_bytes);
    return cached;
}

int64_t pool_cache_resident_bytes(int file, uint64_t file_bytes)
{
    const int64_t page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t whole[RANGE_WORDS] = {0}, counts[COUNTS] = {0};
    int64_t pages;
    if (!is_overlay(file) && syscall(CACHESTAT_CALL, file, whole, counts, 0) == 0)
        pages = (int64_t)counts[COUNT_CACHED];
    else
        pages = count_mapped(file, file_bytes, (size_t)page_bytes);
    if (pages < 0)
        return -1;
    int64_t bytes = pages * page_bytes;
    return bytes < (int64_t)file_bytes ? bytes : (int64_t)file_bytes;
}
