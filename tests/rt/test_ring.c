#include "ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCK_BYTES = 256, SLOTS = 3, RING_BYTES = BLOCK_BYTES * SLOTS };

/* What the stream holds at a position: no two positions a ring or a block apart look the same for
 * long, so a byte that came twice, late or not at all shows. */
static unsigned char content(uint64_t position)
{
    return (unsigned char)((position * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

static void fill_block(unsigned char *slot, uint64_t number)
{
    for (uint64_t i = 0; i < BLOCK_BYTES; i++)
        slot[i] = content(number * BLOCK_BYTES + i);
}

static void test_a_new_ring_is_empty_and_all_slots_are_free(void **state)
{
    (void)state;
    unsigned char memory[RING_BYTES];
    struct ring ring;
    ring_init(&ring, memory, BLOCK_BYTES, SLOTS, 0, 0);
    assert_int_equal(ring_readable(&ring), 0);
    for (uint64_t number = 0; number < SLOTS; number++) {
        assert_true(ring_slot_is_free(&ring, number));
        assert_ptr_equal(ring_slot(&ring, number), memory + number * BLOCK_BYTES);
    }
    assert_false(ring_slot_is_free(&ring, SLOTS));
    assert_ptr_equal(ring_slot(&ring, SLOTS), memory);
}

static void test_a_full_ring_frees_a_slot_with_its_last_byte(void **state)
{
    (void)state;
    unsigned char memory[RING_BYTES];
    struct ring ring;
    ring_init(&ring, memory, BLOCK_BYTES, SLOTS, RING_BYTES, 0);
    assert_int_equal(ring_readable(&ring), RING_BYTES);
    assert_false(ring_slot_is_free(&ring, SLOTS));
    assert_int_equal(ring_consume(&ring, BLOCK_BYTES - 1), 0);
    assert_false(ring_slot_is_free(&ring, SLOTS));
    assert_int_equal(ring_consume(&ring, 1), 1);
    assert_true(ring_slot_is_free(&ring, SLOTS));
    assert_false(ring_slot_is_free(&ring, SLOTS + 1));
    assert_int_equal(ring_readable(&ring), RING_BYTES - BLOCK_BYTES);
}

/* Blocks are counted where they end, whatever the pieces in which they are taken. */
static void test_consume_counts_the_blocks_it_completes(void **state)
{
    (void)state;
    unsigned char memory[RING_BYTES];
    for (uint64_t phase = 0; phase < 2 * BLOCK_BYTES; phase += 7) {
        for (uint64_t bytes = 0; bytes <= RING_BYTES - phase; bytes++) {
            struct ring ring;
            ring_init(&ring, memory, BLOCK_BYTES, SLOTS, RING_BYTES, phase);
            uint32_t completed = 0;
            for (uint64_t at = phase + 1; at <= phase + bytes; at++)
                completed += at % BLOCK_BYTES == 0;
            assert_int_equal(ring_consume(&ring, bytes), completed);
            assert_int_equal(ring_readable(&ring), RING_BYTES - phase - bytes);
        }
    }
}

static void test_a_ring_taken_at_once_is_at_its_beginning_again(void **state)
{
    (void)state;
    unsigned char memory[RING_BYTES];
    struct ring ring;
    uint64_t span_bytes;
    ring_init(&ring, memory, BLOCK_BYTES, SLOTS, RING_BYTES, 0);
    assert_int_equal(ring_consume(&ring, RING_BYTES), SLOTS);
    assert_ptr_equal(ring_span(&ring, &span_bytes), memory);
    assert_int_equal(span_bytes, RING_BYTES);
    assert_int_equal(ring_readable(&ring), 0);
}

/* A trial may begin anywhere in a stream. */
static void test_a_ring_may_begin_in_the_middle_of_a_block(void **state)
{
    (void)state;
    unsigned char memory[RING_BYTES];
    struct ring ring;
    uint64_t span_bytes, begin = 7 * BLOCK_BYTES + 100;
    ring_init(&ring, memory, BLOCK_BYTES, SLOTS, 9 * BLOCK_BYTES, begin);
    assert_int_equal(ring_readable(&ring), 2 * BLOCK_BYTES - 100);
    assert_ptr_equal(ring_span(&ring, &span_bytes), memory + begin % RING_BYTES);
    assert_int_equal(span_bytes, RING_BYTES - begin % RING_BYTES);
    assert_true(ring_slot_is_free(&ring, 9));
    assert_false(ring_slot_is_free(&ring, 10));
}

/* Positions are 64 bits: a stream may be longer than 4 GiB. */
static void test_positions_beyond_four_gigabytes(void **state)
{
    (void)state;
    unsigned char memory[RING_BYTES];
    struct ring ring;
    uint64_t number = (UINT64_C(5) << 32) / BLOCK_BYTES;
    number -= number % SLOTS;
    ring_init(&ring, memory, BLOCK_BYTES, SLOTS, (number + 2) * BLOCK_BYTES, number * BLOCK_BYTES);
    assert_int_equal(ring_readable(&ring), 2 * BLOCK_BYTES);
    assert_ptr_equal(ring_slot(&ring, number), memory);
    assert_int_equal(ring_consume(&ring, BLOCK_BYTES + 1), 1);
    assert_true(ring_slot_is_free(&ring, number + 3));
    assert_false(ring_slot_is_free(&ring, number + 4));
}

/* --- two threads -------------------------------------------------------------------------- */

enum { STREAM_BLOCKS = 20000 };

static void *write_stream(void *argument)
{
    struct ring *ring = argument;
    for (uint64_t number = 0; number < STREAM_BLOCKS; number++) {
        while (!ring_slot_is_free(ring, number))
            sched_yield();
        fill_block(ring_slot(ring, number), number);
        ring_publish(ring, number + 1);
    }
    return NULL;
}

/* Looks at the next bytes, across the ring's end; returns how many of them are wrong. */
static uint64_t wrong_bytes(const struct ring *ring, uint64_t position, uint64_t bytes)
{
    uint64_t wrong = 0, span_bytes;
    const unsigned char *span = ring_span(ring, &span_bytes);
    for (uint64_t i = 0; i < bytes; i++) {
        unsigned char got = i < span_bytes ? span[i] : ring->memory[i - span_bytes];
        wrong += got != content(position + i);
    }
    return wrong;
}

static void test_every_byte_passes_between_threads_once_and_in_order(void **state)
{
    (void)state;
    /* Up to what whole blocks can always provide, wherever reading stands: two blocks and a byte.
     */
    static const uint64_t amounts[] = {1, 3, 255, 257, 509, 2, 513, 64, 131};
    unsigned char memory[RING_BYTES];
    struct ring ring;
    pthread_t writer;
    ring_init(&ring, memory, BLOCK_BYTES, SLOTS, 0, 0);
    assert_int_equal(pthread_create(&writer, NULL, write_stream, &ring), 0);
    const uint64_t whole = (uint64_t)STREAM_BLOCKS * BLOCK_BYTES;
    uint64_t moved = 0, wrong = 0, blocks = 0, wraps = 0, turn = 0;
    while (moved < whole) {
        uint64_t bytes = amounts[turn++ % (sizeof amounts / sizeof *amounts)], span_bytes;
        if (bytes > whole - moved)
            bytes = whole - moved;
        while (ring_readable(&ring) < bytes)
            sched_yield();
        ring_span(&ring, &span_bytes);
        wraps += bytes > span_bytes;
        wrong += wrong_bytes(&ring, moved, bytes);
        blocks += ring_consume(&ring, bytes);
        moved += bytes;
    }
    pthread_join(writer, NULL);
    assert_int_equal(moved, whole);
    assert_int_equal(wrong, 0);
    assert_int_equal(blocks, STREAM_BLOCKS);
    assert_int_equal(ring_readable(&ring), 0);
    assert_true(wraps > 1000); /* the amounts did reach across the ring's end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_ring_is_empty_and_all_slots_are_free),
        cmocka_unit_test(test_a_full_ring_frees_a_slot_with_its_last_byte),
        cmocka_unit_test(test_consume_counts_the_blocks_it_completes),
        cmocka_unit_test(test_a_ring_taken_at_once_is_at_its_beginning_again),
        cmocka_unit_test(test_a_ring_may_begin_in_the_middle_of_a_block),
        cmocka_unit_test(test_positions_beyond_four_gigabytes),
        cmocka_unit_test(test_every_byte_passes_between_threads_once_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
