/* The bits of a block of 16 bytes, read from the lowest on; the partitions of BC6H and BC7. */
#ifndef BINDLESS_REFERENCE_IMAGE_BLOCKS_BLOCK_BITS_H
#define BINDLESS_REFERENCE_IMAGE_BLOCKS_BLOCK_BITS_H

#include <stdint.h>

struct blr_block_bits {
    uint64_t low, high;
};

/* The little-endian number in the first `count` bytes. */
static inline uint64_t blr_block_number(const unsigned char *bytes, unsigned int count)
{
    uint64_t number = 0;
    for (unsigned int i = 0; i < count; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

static inline struct blr_block_bits blr_block_bits_of(const unsigned char block[16])
{
    return (struct blr_block_bits){blr_block_number(block, 8), blr_block_number(block + 8, 8)};
}

/* Removes the lowest `count` bits, at most 16. */
static inline uint32_t blr_block_take(struct blr_block_bits *bits, unsigned int count)
{
    uint32_t value = (uint32_t)(bits->low & ((1u << count) - 1u));
    if (count != 0) {
        bits->low = bits->low >> count | bits->high << (64 - count);
        bits->high >>= count;
    }
    return value;
}

/* Weights of the second endpoint, of 64, of indices of 2, 3 and 4 bits: row `bits - 2`. */
extern const uint8_t blr_block_weights[3][16];

static inline int32_t blr_block_blend(int32_t first, int32_t second, int32_t weight)
{
    return (first * (64 - weight) + second * weight + 32) >> 6;
}

/* The subset of each texel of partitions of two subsets, one bit a texel, and of three, two bits; and the texel of the
 * second and third subset whose index lacks its highest bit, as that of texel 0 does for the first. */
extern const uint16_t blr_block_halves[64];
extern const uint8_t blr_block_half_anchors[64];
extern const uint32_t blr_block_thirds[64];
extern const uint8_t blr_block_third_anchors[64][2];

#endif
