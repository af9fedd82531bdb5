/* Nearest texels of a block: no arithmetic but the conversion. */
#ifndef BLR_SAMPLE_BLOCK_NEAREST_AVX2_H
#define BLR_SAMPLE_BLOCK_NEAREST_AVX2_H

#include "sample_block_blend_avx2.h"

BLR_INLINE_BLEND __m256 texels_unorm8(const uintptr_t *texel, const int channels)
{
    __m128i bytes;
    if (channels == 4) {
        bytes = _mm_insert_epi32(_mm_cvtsi32_si128(load_int(texel[0])), load_int(texel[1]), 1);
    } else if (channels == 2) {
        bytes = _mm_setr_epi16(load_short(texel[0]), load_short(texel[1]), load_short(texel[2]), load_short(texel[3]),
                               0, 0, 0, 0);
    } else {
        char codes[8];
        for (int i = 0; i < 8; i++)
            codes[i] = *(const char *)texel[i];
        bytes = _mm_loadl_epi64((const __m128i *)codes);
    }
    return divided(_mm256_cvtepu8_epi32(bytes), 255.0f);
}

#define NEAREST(name, load, channels)                                                                 \
    static uint64_t name(const struct blr_block *block, float *out, bool stream)                      \
    {                                                                                                 \
        for (uint32_t item = 0; item < block->count; item += 8 / (channels), out += 8)                \
            store_lanes(out, load(&block->texel[0][0][item], channels), stream);                      \
        return 0;                                                                                     \
    }

NEAREST(nearest_fp32_1, texels_fp32, 1)
NEAREST(nearest_fp32_2, texels_fp32, 2)
NEAREST(nearest_fp32_4, texels_fp32, 4)
NEAREST(nearest_fp16_1, texels_fp16, 1)
NEAREST(nearest_fp16_2, texels_fp16, 2)
NEAREST(nearest_fp16_4, texels_fp16, 4)
NEAREST(nearest_unorm8_1, texels_unorm8, 1)
NEAREST(nearest_unorm8_2, texels_unorm8, 2)
NEAREST(nearest_unorm8_4, texels_unorm8, 4)

#endif
