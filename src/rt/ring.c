#include "ring.h"

void ring_init(struct ring *ring, unsigned char *memory, uint32_t block_bytes, uint32_t slots,
               uint64_t published_bytes, uint64_t consumed_bytes)
{
    ring->memory = memory;
    ring->block_bytes = block_bytes;
    ring->size_bytes = (uint64_t)slots * block_bytes;
    ring->read_offset_bytes = consumed_bytes % ring->size_bytes;
    atomic_init(&ring->published_bytes, published_bytes);
    atomic_init(&ring->consumed_bytes, consumed_bytes);
}
