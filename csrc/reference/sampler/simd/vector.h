/* Definitions shared by the vectors of all instruction sets: the arrangement of channels in lanes, and texel
 * addresses. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_H

#include "sampler/simd/block.h"

#include <string.h>

#define BLR_INLINE_BLEND static inline __attribute__((always_inline))

/* Three channels occupy four lanes. */
#define LANES_OF(channels) ((channels) == 3 ? 4 : (channels))

/* Biased exponents between which scaling by powers of two stays within the normal floats. */
#define LOWEST_EXPONENT 40

struct code_kind {
    int bytes;                            /* 1 or 2 */
    bool is_signed;
};

BLR_INLINE_BLEND int load_int(uintptr_t address)
{
    int value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

BLR_INLINE_BLEND short load_short(uintptr_t address)
{
    short value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

BLR_INLINE_BLEND int load_three_bytes(uintptr_t address)
{
    return (unsigned short)load_short(address) | *(const unsigned char *)(address + 2) << 16;
}

/* Addresses of one texel of several items: stored in the block, or computed from the places of boxes. */
BLR_INLINE_BLEND const uintptr_t *texels_at(const struct blr_block *block, uint32_t q, int k, uint32_t item,
                                            const uint32_t items, const uint32_t pixel_size, const bool boxes,
                                            uintptr_t worked_out[16])
{
    if (!boxes)
        return &block->texel[q][k][item];
    const struct blr_boxes *box = &block->box[q];
    const uintptr_t base = box->base + (k & 2 ? box->row_step : 0) + (k & 1 ? pixel_size : 0);
    for (uint32_t i = 0; i < items; i++)
        worked_out[i] = base + block->place[box->level][item + i];
    return worked_out;
}

#endif
