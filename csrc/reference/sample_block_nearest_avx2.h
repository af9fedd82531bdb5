/* Nearest texels of a block: no arithmetic but the conversion. */
#ifndef BLR_SAMPLE_BLOCK_NEAREST_AVX2_H
#define BLR_SAMPLE_BLOCK_NEAREST_AVX2_H

#include "sample_block_blend_avx2.h"
#include "sample_block_codes_avx2.h"

BLR_INLINE_BLEND __m256 texels_unorm8(const uintptr_t *texel, const int channels)
{
    return divided(_mm256_cvtepu8_epi32(eight_bytes(texel, channels)), 255.0f);
}

/* Codes, as integers in the place of the results. */
BLR_INLINE_BLEND __m256 texels_s8(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepi8_epi32(eight_bytes(texel, channels)));
}

BLR_INLINE_BLEND __m256 texels_u8(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepu8_epi32(eight_bytes(texel, channels)));
}

BLR_INLINE_BLEND __m256 texels_s16(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepi16_epi32(eight_words(texel, channels)));
}

BLR_INLINE_BLEND __m256 texels_u16(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepu16_epi32(eight_words(texel, channels)));
}

#define NEAREST(name, load, channels)                                                                 \
    static uint64_t name##_##channels(const struct blr_block *block, float *out, bool stream)         \
    {                                                                                                 \
        for (uint32_t item = 0; item < block->count; item += 8 / LANES_OF(channels), out += 8)        \
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
