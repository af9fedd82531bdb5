/* Blending of integer codes: exact sums with eight fraction bits (ten under anisotropy). */
#include "sampler/sampler.h"

static int64_t weighted_sum(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format)
{
    int64_t sum = 0;
    for (uint32_t q = 0; q < footprint->count; q++)
        for (int k = 0; k < 4; k++)
            sum += blr_format_code(format, footprint->quad[q].texel[k] + offset) * footprint->quad[q].weight[k];
    return sum;
}

float blr_blend_normalized(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format)
{
    int64_t sum = weighted_sum(footprint, offset, format);
    int shift = 8 + (int)footprint->extra_bits;
    int64_t half = INT64_C(1) << (shift - 1);
    bool byte = format->size == 1;
    if (format->class == BLR_CLASS_UNORM)
        return (float)(((byte ? 257 * sum : sum) + half) >> shift) / 65535.0f;
    if (byte)                             /* 32 (Q >> 12) with eight fraction bits, 128 (Q >> 14) with ten */
        sum = 258 * sum + (sum >> (shift + 4)) * (half >> 2);
    int64_t code = (sum + half) >> shift;
    return (float)(code > -32767 ? code : -32767) / 32767.0f;
}

int32_t blr_blend_integer(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format)
{
    int shift = 8 + (int)footprint->extra_bits;
    /* 32-bit integers are filtered only along anisotropic footprints, and their fraction is truncated. */
    int64_t half = format->size < 4 ? INT64_C(1) << (shift - 1) : 0;
    return (int32_t)((weighted_sum(footprint, offset, format) + half) >> shift);
}
