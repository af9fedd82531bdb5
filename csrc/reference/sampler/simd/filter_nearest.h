/* Nearest texels of a block: loading and conversion, without arithmetic. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_NEAREST_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_NEAREST_H

#include "sampler/simd/vector.h"

#define NEAREST(name, load, channels)                                                                 \
    static uint64_t name##_##channels(const struct blr_block *block, float *out, bool stream)         \
    {                                                                                                 \
        for (uint32_t item = 0; item < block->count; item += VECTOR_LANES / LANES_OF(channels), out += VECTOR_LANES) \
            store_lanes(out, load(&block->texel[0][0][item], channels), stream);                      \
        return 0;                                                                                     \
    }

#define NEAREST_ALL(name, load) \
    NEAREST(name, load, 1)      \
    NEAREST(name, load, 2)      \
    NEAREST(name, load, 3)      \
    NEAREST(name, load, 4)

NEAREST_ALL(nearest_32, texels_fp32)
NEAREST_ALL(nearest_fp16, texels_fp16)
NEAREST_ALL(nearest_unorm8, texels_unorm8)
NEAREST_ALL(nearest_s8, texels_s8)
NEAREST_ALL(nearest_u8, texels_u8)
NEAREST_ALL(nearest_s16, texels_s16)
NEAREST_ALL(nearest_u16, texels_u16)

#endif
