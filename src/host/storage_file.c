#include "storage.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* A file as its filesystem describes it. */

int64_t storage_direct_align_bytes(int file)
{
#ifdef STATX_DIOALIGN
    struct statx status;
    memset(&status, 0, sizeof status);
    if (statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
        (status.stx_mask & STATX_DIOALIGN) != 0)
        return status.stx_dio_offset_align;
#else
    (void)file;
#endif
    return -1;
}

/* --- extents ------------------------------------------------------------------------------ */

enum { EXTENTS_AT_ONCE = 64 };

/* A request, with room behind it for the answer. */
union map {
    struct fiemap head;
    unsigned char room[sizeof(struct fiemap) + EXTENTS_AT_ONCE * sizeof(struct fiemap_extent)];
};

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Adds what lies between `at_bytes` and the end of `extent`, and returns that end. The first extent
 * may begin before what was asked for, the last one reach past the file. */
static uint64_t add_extent(const struct fiemap_extent *extent, uint64_t at_bytes,
                           struct storage_extents *sum)
{
    uint64_t start = clamp(extent->fe_logical, at_bytes, sum->file_bytes);
    uint64_t end = clamp(extent->fe_logical + extent->fe_length, start, sum->file_bytes);
    sum->hole_bytes += start - at_bytes;
    if ((extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0)
        sum->unwritten_bytes += end - start;
    else if ((extent->fe_flags & FIEMAP_EXTENT_DATA_INLINE) != 0)
        sum->inline_bytes += end - start;
    else if ((extent->fe_flags & FIEMAP_EXTENT_ENCODED) != 0 &&
             (extent->fe_flags & FIEMAP_EXTENT_DATA_ENCRYPTED) == 0)
        /* Encrypted data is "encoded" too, but as long on the drive as in the file. */
        sum->compressed_bytes += end - start;
    return end;
}

bool storage_add_extents(int file, uint64_t file_bytes, struct storage_extents *sum)
{
    struct storage_extents found = {.file_bytes = file_bytes};
    uint64_t at_bytes = 0, asked_from = UINT64_MAX;
    while (at_bytes < file_bytes && at_bytes != asked_from) {
        asked_from = at_bytes;
        union map map = {.head = {.fm_start = at_bytes,
                                  .fm_length = file_bytes - at_bytes,
                                  .fm_flags = FIEMAP_FLAG_SYNC,
                                  .fm_extent_count = EXTENTS_AT_ONCE}};
        if (ioctl(file, FS_IOC_FIEMAP, &map) != 0)
            return false;
        for (uint32_t i = 0; i < map.head.fm_mapped_extents; i++)
            at_bytes = add_extent(&map.head.fm_extents[i], at_bytes, &found);
    }
    found.hole_bytes += file_bytes - at_bytes;
    sum->file_bytes += found.file_bytes;
    sum->hole_bytes += found.hole_bytes;
    sum->unwritten_bytes += found.unwritten_bytes;
    sum->compressed_bytes += found.compressed_bytes;
    sum->inline_bytes += found.inline_bytes;
    return true;
}
