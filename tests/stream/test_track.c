#include "track.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCK_BYTES = 64, SLOTS_MOST = 5 };

struct bed {
    unsigned char memory[SLOTS_MOST * BLOCK_BYTES], landed[SLOTS_MOST];
    struct ring ring;
    struct track track;
};

/* A track whose ring holds `held` blocks and is to be played from `phase_bytes` on. */
static void bed_init(struct bed *bed, uint32_t slots, uint64_t held, uint32_t phase_bytes)
{
    memset(bed, 0, sizeof *bed);
    ring_init(&bed->ring, bed->memory, BLOCK_BYTES, slots, held * BLOCK_BYTES, phase_bytes);
    bed->track = (struct track){.file = -1,
                                .region_offset_bytes = 128,
                                .region_blocks = 7,
                                .start_block = 3,
                                .phase_bytes = phase_bytes,
                                .slots = slots,
                                .ring = &bed->ring,
                                .landed = bed->landed,
                                .first_read_block = held,
                                .next_block = held,
                                .published_blocks = held};
}

static uint64_t readable(struct bed *bed)
{
    return ring_readable(&bed->ring) / BLOCK_BYTES;
}

static void test_block_offsets_go_round_the_region(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 3, 0, 0);
    static const uint64_t expected[] = {3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0};
    for (uint64_t number = 0; number < 12; number++)
        assert_int_equal(track_block_offset_bytes(&bed.track, number),
                         128 + expected[number] * BLOCK_BYTES);
    /* Beyond 4 GiB of file, and of stream. */
    bed.track.region_offset_bytes = UINT64_C(6) << 32;
    bed.track.region_blocks = UINT32_MAX;
    bed.track.start_block = UINT32_MAX - 1;
    assert_true(track_block_offset_bytes(&bed.track, 0) ==
                (UINT64_C(6) << 32) + (uint64_t)(UINT32_MAX - 1) * BLOCK_BYTES);
    assert_true(track_block_offset_bytes(&bed.track, 1) == UINT64_C(6) << 32);
    assert_true(track_block_offset_bytes(&bed.track, (uint64_t)UINT32_MAX * 9 + 2) ==
                (UINT64_C(6) << 32) + BLOCK_BYTES);
}

static void test_blocks_that_land_in_order_are_published_at_once(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 3, 0, 0);
    for (uint64_t number = 0; number < 20; number++) {
        track_land(&bed.track, number);
        assert_int_equal(bed.track.published_blocks, number + 1);
        assert_int_equal(readable(&bed), 1);
        ring_consume(&bed.ring, BLOCK_BYTES);
    }
}

static void test_a_block_waits_for_those_before_it(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 4, 0, 0);
    track_land(&bed.track, 2);
    track_land(&bed.track, 1);
    assert_int_equal(readable(&bed), 0);
    track_land(&bed.track, 0);
    assert_int_equal(readable(&bed), 3);
    track_land(&bed.track, 3);
    assert_int_equal(readable(&bed), 4);
    ring_consume(&bed.ring, 4 * BLOCK_BYTES);
    track_land(&bed.track, 5); /* the flags are free for the next round */
    assert_int_equal(readable(&bed), 0);
    track_land(&bed.track, 4);
    assert_int_equal(readable(&bed), 2);
}

/* Every order in which the reads of a full ring may come back, twice round the ring. */
static void check_order(uint32_t slots, const uint32_t *order)
{
    struct bed bed;
    bed_init(&bed, slots, 0, 0);
    for (uint64_t round = 0; round < 2; round++) {
        bool there[SLOTS_MOST] = {false};
        for (uint32_t i = 0; i < slots; i++) {
            track_land(&bed.track, round * slots + order[i]);
            there[order[i]] = true;
            uint32_t in_order = 0;
            while (in_order < slots && there[in_order])
                in_order++;
            assert_int_equal(readable(&bed), in_order);
        }
        ring_consume(&bed.ring, (uint64_t)slots * BLOCK_BYTES);
    }
}

static void permute(uint32_t slots, uint32_t *order, uint32_t done, uint32_t *orders)
{
    if (done == slots) {
        check_order(slots, order);
        ++*orders;
        return;
    }
    for (uint32_t i = done; i < slots; i++) {
        uint32_t kept = order[done];
        order[done] = order[i];
        order[i] = kept;
        permute(slots, order, done + 1, orders);
        order[i] = order[done];
        order[done] = kept;
    }
}

static void test_every_order_of_landing(void **state)
{
    (void)state;
    static const uint32_t factorial[] = {1, 1, 2, 6, 24, 120};
    for (uint32_t slots = 1; slots <= SLOTS_MOST; slots++) {
        uint32_t order[SLOTS_MOST] = {0, 1, 2, 3, 4}, orders = 0;
        permute(slots, order, 0, &orders);
        assert_int_equal(orders, factorial[slots]);
    }
}

/* Plays frame by frame and looks when the promises come true. */
static void check_frames(uint32_t slots, uint32_t frame_bytes, uint32_t phase_bytes)
{
    struct bed bed;
    bed_init(&bed, slots, slots, phase_bytes);
    for (uint64_t number = 0; number < 12; number++) {
        uint64_t last_byte_of_slot = (number + 1) * BLOCK_BYTES - (uint64_t)slots * BLOCK_BYTES;
        uint64_t free_frame = 0, dry_frame = 0;
        /* Free: the first frame count at which everything before the block's slot is played. */
        if (number >= slots) {
            while (phase_bytes + free_frame * frame_bytes < last_byte_of_slot)
                free_frame++;
        }
        /* Dry: how many whole frames there are before the block's first byte is wanted. */
        while (phase_bytes + (dry_frame + 1) * frame_bytes <= number * BLOCK_BYTES)
            dry_frame++;
        assert_int_equal(track_free_frame(&bed.track, number, frame_bytes), free_frame);
        assert_int_equal(track_dry_frame(&bed.track, number, frame_bytes), dry_frame);
    }
}

static void test_free_and_dry_frames_against_playing(void **state)
{
    (void)state;
    static const uint32_t frame_bytes[] = {1, 2, 3, 4, 6, 8, 10, 15, 64, 100};
    for (uint32_t slots = 2; slots <= SLOTS_MOST; slots++) {
        for (size_t i = 0; i < sizeof frame_bytes / sizeof *frame_bytes; i++) {
            for (uint32_t phase = 0; phase < BLOCK_BYTES; phase += frame_bytes[i])
                check_frames(slots, frame_bytes[i], phase);
        }
    }
}

/* The schedule's clock and the ring agree: at its free frame a slot is free, one earlier not. */
static void test_the_slot_is_free_at_its_free_frame(void **state)
{
    (void)state;
    for (uint32_t frame_bytes = 1; frame_bytes <= 12; frame_bytes++) {
        for (uint32_t phase = 0; phase < BLOCK_BYTES; phase += frame_bytes) {
            struct bed bed;
            bed_init(&bed, 3, 3, phase);
            uint64_t frames = track_free_frame(&bed.track, 4, frame_bytes);
            if (frames > 0) {
                ring_consume(&bed.ring, (frames - 1) * frame_bytes);
                assert_false(ring_slot_is_free(&bed.ring, 4));
                ring_consume(&bed.ring, frame_bytes);
            }
            assert_true(ring_slot_is_free(&bed.ring, 4));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_offsets_go_round_the_region),
        cmocka_unit_test(test_blocks_that_land_in_order_are_published_at_once),
        cmocka_unit_test(test_a_block_waits_for_those_before_it),
        cmocka_unit_test(test_every_order_of_landing),
        cmocka_unit_test(test_free_and_dry_frames_against_playing),
        cmocka_unit_test(test_the_slot_is_free_at_its_free_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
