#ifndef TRACKRAMP_RING_H
#define TRACKRAMP_RING_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * A track's buffer: whole blocks between one reader and one callback, without a lock.
 *
 * Positions count bytes of the track's stream since the trial began and never wrap; a position's
 * place in memory is its remainder by the ring's size. The reader fills whole blocks in order and
 * moves `published_bytes`; the callback takes any number of bytes and moves `consumed_bytes`. Each
 * side loads the other's index once (acquire), works, and stores its own once (release): the
 * release of one pairs with the acquire of the other, and carries the bytes with it.
 */
struct ring {
    /* set before start */
    unsigned char *memory; /* block-aligned */
    uint64_t size_bytes;   /* slots x block_bytes */
    uint32_t block_bytes;
    /* callback only */
    uint64_t read_offset_bytes; /* where in memory the next unread byte lies */
    /* shared, on cache lines of their own: written by the reader, by the callback */
    _Alignas(64) _Atomic uint64_t published_bytes;
    _Alignas(64) _Atomic uint64_t consumed_bytes;
};

/* Before start: a ring of `slots` blocks over `memory`, holding the stream from `consumed_bytes`
 * up to `published_bytes` (a whole number of blocks, at most `slots` of them unread). */
void ring_init(struct ring *ring, unsigned char *memory, uint32_t block_bytes, uint32_t slots,
               uint64_t published_bytes, uint64_t consumed_bytes);

/* --- reader ------------------------------------------------------------------------------- */

/* Where block `number` of the stream goes. */
static inline unsigned char *ring_slot(const struct ring *ring, uint64_t number)
{
    return ring->memory + number * ring->block_bytes % ring->size_bytes;
}

/* Whether block `number`'s slot has been played and may be overwritten. Pairs with the release
 * in ring_consume: what the callback read there, it has read. */
static inline int ring_slot_is_free(const struct ring *ring, uint64_t number)
{
    uint64_t consumed = atomic_load_explicit(&ring->consumed_bytes, memory_order_acquire);
    return (number + 1) * ring->block_bytes <= consumed + ring->size_bytes;
}

/* All blocks below `number` are in place. Pairs with the acquire in ring_readable. */
static inline void ring_publish(struct ring *ring, uint64_t number)
{
    atomic_store_explicit(&ring->published_bytes, number * ring->block_bytes, memory_order_release);
}

/* --- callback ----------------------------------------------------------------------------- */

/* Bytes that may be taken now. Pairs with the release in ring_publish. */
static inline uint64_t ring_readable(const struct ring *ring)
{
    uint64_t published = atomic_load_explicit(&ring->published_bytes, memory_order_acquire);
    return published - atomic_load_explicit(&ring->consumed_bytes, memory_order_relaxed);
}

/* The next unread byte, and through `span_bytes` how many lie in one piece behind it. */
static inline const unsigned char *ring_span(const struct ring *ring, uint64_t *span_bytes)
{
    *span_bytes = ring->size_bytes - ring->read_offset_bytes;
    return ring->memory + ring->read_offset_bytes;
}

/* Gives back `bytes`, at most ring_readable, as played. Returns how many blocks that completed.
 * Pairs with the acquire in ring_slot_is_free. */
static inline uint32_t ring_consume(struct ring *ring, uint64_t bytes)
{
    uint64_t before = atomic_load_explicit(&ring->consumed_bytes, memory_order_relaxed);
    uint64_t after = before + bytes;
    ring->read_offset_bytes += bytes;
    if (ring->read_offset_bytes >= ring->size_bytes)
        ring->read_offset_bytes -= ring->size_bytes;
    atomic_store_explicit(&ring->consumed_bytes, after, memory_order_release);
    uint64_t block = ring->block_bytes; /* a power of two: this is before / block, cheaply */
    return (uint32_t)((after & ~(block - 1)) - (before & ~(block - 1))) / ring->block_bytes;
}

#endif
