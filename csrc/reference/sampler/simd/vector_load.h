/* Loading texels and weights into lanes, for each instruction set with VECTOR_LANES 32-bit lanes. The including file
 * defines struct lanes, lanes_of_ints, row_pairs_fp32, texels_fp16 and texels_fp32 first. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_LOAD_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_LOAD_H

BLR_INLINE_BLEND void load_lanes(const struct blr_block *block, uint32_t q, uint32_t item, const bool half,
                                 const int channels, const bool boxes, struct lanes *lanes)
{
    const uint32_t pixel_size = (uint32_t)channels * (half ? 2 : 4);
    if (!half && channels == 1 && (boxes || block->dense[item >> 3])) {
        row_pairs_fp32(block, q, 0, item, boxes, &lanes->texel[0], &lanes->texel[1]);
        row_pairs_fp32(block, q, 1, item, boxes, &lanes->texel[2], &lanes->texel[3]);
    } else {
        for (int k = 0; k < 4; k++) {
            uintptr_t worked_out[16];
            const uintptr_t *texel = texels_at(block, q, k, item, VECTOR_LANES / LANES_OF(channels), pixel_size, boxes, worked_out);
            lanes->texel[k] = half ? texels_fp16(texel, channels) : texels_fp32(texel, channels);
        }
    }
    for (int k = 0; k < 4; k++)
        lanes->weight[k] = lanes_of_ints(&block->weight[q][k][item], channels);
}

#endif
