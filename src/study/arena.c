#include "arena.h"

#include "units.h"

#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 2 << 20 };

/* Grown in steps, so that ramping up by a track is not a system call each. */
static const uint64_t step_bytes = 32 << 20;

int arena_init(struct arena *arena, uint64_t limit_bytes, struct error *error)
{
    memset(arena, 0, sizeof *arena);
    uint64_t bytes = limit_bytes + HUGE_PAGE_BYTES;
    void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        char size[32];
        return error_set(error, ERROR_ENVIRONMENT,
                         "no address space for %s of ring memory; raise its limit (ulimit -v)",
                         units_format_bytes(size, sizeof size, bytes));
    }
    uintptr_t misaligned = (uintptr_t)mapping % HUGE_PAGE_BYTES;
    arena->mapping = mapping;
    arena->mapping_bytes = bytes;
    arena->memory = (unsigned char *)mapping + (misaligned ? HUGE_PAGE_BYTES - misaligned : 0);
    arena->limit_bytes = limit_bytes;
    /* Fewer translations for the callback, which visits every ring each period. A wish only. */
    madvise(mapping, bytes, MADV_HUGEPAGE);
    return 0;
}

void arena_fini(struct arena *arena)
{
    if (arena->mapping != NULL)
        munmap(arena->mapping, arena->mapping_bytes);
    memset(arena, 0, sizeof *arena);
}

int arena_back(struct arena *arena, uint64_t bytes, struct error *error)
{
    if (bytes <= arena->backed_bytes)
        return 0;
    uint64_t wanted = (bytes + step_bytes - 1) / step_bytes * step_bytes;
    if (wanted > arena->limit_bytes)
        wanted = arena->limit_bytes;
    if (bytes > wanted) {
        char size[32];
        return error_set(error, ERROR_ENVIRONMENT,
                         "rings of %s do not fit into memory; use a smaller --buffer or fewer "
                         "--max-tracks",
                         units_format_bytes(size, sizeof size, bytes));
    }
    unsigned char *from = arena->memory + arena->backed_bytes;
    memset(from, 0, wanted - arena->backed_bytes);
    /* Where the limit on locked memory forbids it, rings can be paged out under pressure; the
     * memory budget leaves enough free that there is none. */
    mlock(from, wanted - arena->backed_bytes);
    arena->backed_bytes = wanted;
    return 0;
}
