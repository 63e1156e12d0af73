#include "reader_rig.h"

#include "monotonic.h"
#include "units.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t patience_ns = 10 * UNITS_NS_PER_SECOND;
static const struct track_format format = {CONTAINER_WAV, ENCODING_PCM16, 48000, 1};
enum { FRAME_BYTES = 2, SUM_FRAMES = 512 };

unsigned char rig_content(uint32_t file, uint64_t offset_bytes)
{
    return (unsigned char)(((offset_bytes + 1) * (2 * file + UINT64_C(0x9e3779b97f4a7c15))) >> 53);
}

static void file_path(const struct rig *rig, uint32_t file, char *path, size_t path_bytes)
{
    snprintf(path, path_bytes, "%s/%u", rig->directory, file);
}

int rig_replace_file(struct rig *rig, uint32_t track, uint64_t bytes, int flags)
{
    char path[96];
    unsigned char *content = malloc(bytes);
    if (content == NULL)
        return -1;
    for (uint64_t i = 0; i < bytes; i++)
        content[i] = rig_content(track, i);
    if (rig->track[track].file >= 0)
        close(rig->track[track].file);
    file_path(rig, track, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool written = file >= 0 && write(file, content, bytes) == (ssize_t)bytes;
    if (file >= 0)
        close(file);
    free(content);
    rig->track[track].file = written ? open(path, flags) : -1;
    return rig->track[track].file >= 0 ? 0 : -1;
}

static int make_files(struct rig *rig)
{
    strcpy(rig->directory, "/tmp/trackramp-test-XXXXXX");
    if (mkdtemp(rig->directory) == NULL) {
        rig->directory[0] = '\0';
        return -1;
    }
    uint64_t bytes = RIG_REGION_OFFSET_BYTES + (uint64_t)RIG_REGION_BLOCKS * rig->block_bytes;
    for (uint32_t track = 0; track < rig->tracks; track++) {
        if (rig_replace_file(rig, track, bytes, O_RDONLY) != 0)
            return -1;
    }
    return 0;
}

static int open_mixer(struct rig *rig)
{
    rig->mixer = aligned_alloc(64, sizeof *rig->mixer);
    if (rig->mixer == NULL)
        return -1;
    memset(rig->mixer, 0, sizeof *rig->mixer);
    rig->mixer->rings = rig->rings;
    rig->mixer->tracks = rig->tracks;
    rig->mixer->format = format;
    rig->mixer->gain = 1;
    rig->mixer->sum_frames = SUM_FRAMES;
    rig->mixer->sum = calloc(SUM_FRAMES, sizeof(float));
    if (rig->mixer->sum == NULL)
        return -1;
    mixer_reset(rig->mixer);
    return 0;
}

int rig_init(struct rig *rig, uint32_t tracks, uint32_t slots, uint32_t block_bytes,
             bool real_files)
{
    uint64_t ring_bytes = (uint64_t)slots * block_bytes;
    *rig = (struct rig){.tracks = tracks, .slots = slots, .block_bytes = block_bytes};
    rig->track = calloc(tracks, sizeof *rig->track);
    rig->rings = aligned_alloc(64, tracks * sizeof *rig->rings);
    rig->memory = aligned_alloc(block_bytes, tracks * ring_bytes);
    rig->landed = calloc(tracks, slots);
    if (rig->track == NULL || rig->rings == NULL || rig->memory == NULL || rig->landed == NULL)
        return -1;
    memset(rig->memory, 0, tracks * ring_bytes);
    for (uint32_t i = 0; i < tracks; i++) {
        rig->track[i] = (struct track){.file = real_files ? -1 : (int)i,
                                       .region_offset_bytes = RIG_REGION_OFFSET_BYTES,
                                       .region_blocks = RIG_REGION_BLOCKS,
                                       .start_block = i * 5 % RIG_REGION_BLOCKS,
                                       .slots = slots,
                                       .ring = &rig->rings[i],
                                       .landed = rig->landed + (size_t)i * slots};
        ring_init(&rig->rings[i], rig->memory + i * ring_bytes, block_bytes, slots, 0, 0);
    }
    if (real_files && make_files(rig) != 0)
        return -1;
    return open_mixer(rig);
}

void rig_fini(struct rig *rig)
{
    char path[96];
    for (uint32_t i = 0; rig->directory[0] != '\0' && i < rig->tracks; i++) {
        if (rig->track[i].file >= 0)
            close(rig->track[i].file);
        file_path(rig, i, path, sizeof path);
        unlink(path);
    }
    if (rig->directory[0] != '\0')
        rmdir(rig->directory);
    if (rig->mixer != NULL)
        free(rig->mixer->sum);
    free(rig->mixer);
    free(rig->track);
    free(rig->rings);
    free(rig->memory);
    free(rig->landed);
    *rig = (struct rig){0};
}

/* --- waiting and playing ------------------------------------------------------------------ */

bool rig_wait_completed(const struct readers *readers, uint64_t blocks)
{
    struct reader_failure failure;
    uint64_t give_up_ns = monotonic_ns() + patience_ns;
    do {
        if (readers_completed_blocks(readers) >= blocks || readers_failed(readers, &failure))
            return true;
        sched_yield();
    } while (monotonic_ns() < give_up_ns);
    return false;
}

bool rig_wait_failed(const struct readers *readers, struct reader_failure *failure)
{
    uint64_t give_up_ns = monotonic_ns() + patience_ns;
    while (!readers_failed(readers, failure)) {
        if (monotonic_ns() > give_up_ns)
            return false;
        sched_yield();
    }
    return true;
}

/* What a track's stream holds at a position. */
static unsigned char stream_byte(const struct rig *rig, uint32_t track, uint64_t position)
{
    uint64_t block = position / rig->block_bytes;
    uint64_t in_region = (rig->track[track].start_block + block) % RIG_REGION_BLOCKS;
    return rig_content(track, RIG_REGION_OFFSET_BYTES + in_region * rig->block_bytes +
                                  position % rig->block_bytes);
}

static uint64_t compare(const struct rig *rig, uint32_t track, uint64_t from, uint64_t to)
{
    const struct ring *ring = &rig->rings[track];
    uint64_t wrong = 0;
    for (uint64_t position = from; position < to; position++)
        wrong += ring->memory[position % ring->size_bytes] != stream_byte(rig, track, position);
    return wrong;
}

static bool wait_for_period(const struct rig *rig, uint64_t bytes)
{
    uint64_t give_up_ns = monotonic_ns() + patience_ns;
    for (uint32_t track = 0; track < rig->tracks; track++) {
        while (ring_readable(&rig->rings[track]) < bytes) {
            if (monotonic_ns() > give_up_ns)
                return false;
            sched_yield();
        }
    }
    return true;
}

bool rig_play(struct rig *rig, uint32_t periods, uint32_t frames, bool patient,
              uint64_t *wrong_bytes)
{
    float bus[SUM_FRAMES];
    uint64_t began_ns = monotonic_ns();
    for (uint32_t period = 0; period < periods; period++) {
        if (patient) {
            uint64_t due_frames = (uint64_t)period * frames;
            monotonic_sleep_until(began_ns +
                                  due_frames * UNITS_NS_PER_SECOND / format.sample_rate_hz);
            if (!wait_for_period(rig, (uint64_t)frames * FRAME_BYTES))
                return false;
        }
        for (uint32_t track = 0; track < rig->tracks; track++) {
            uint64_t bytes = ring_readable(&rig->rings[track]);
            uint64_t from = atomic_load(&rig->rings[track].consumed_bytes);
            if (bytes > (uint64_t)frames * FRAME_BYTES)
                bytes = (uint64_t)frames * FRAME_BYTES;
            *wrong_bytes += compare(rig, track, from, from + bytes);
        }
        mixer_render(rig->mixer, bus, frames, 1, monotonic_ns());
    }
    return true;
}

uint64_t rig_wrong_bytes(const struct rig *rig, bool flat_out)
{
    uint64_t wrong = 0;
    for (uint32_t track = 0; track < rig->tracks; track++) {
        const struct ring *ring = &rig->rings[track];
        uint64_t to = atomic_load(&ring->published_bytes);
        uint64_t from = atomic_load(&ring->consumed_bytes);
        uint64_t asked = rig->track[track].next_block * rig->block_bytes;
        if (flat_out) /* what no later block was read over */
            from = asked > ring->size_bytes ? asked - ring->size_bytes : 0;
        wrong += compare(rig, track, from, to);
    }
    return wrong;
}

uint64_t rig_published_blocks(const struct rig *rig)
{
    uint64_t blocks = 0;
    for (uint32_t track = 0; track < rig->tracks; track++)
        blocks += rig->track[track].published_blocks;
    return blocks;
}
