/* Pixel formats: the table of channel types, and conversions of single channels. */
#include "image/pixel_format.h"

#include "image/blocks/block_format.h"
#include "image/packed_format.h"

#include <string.h>

/* Packed pixels of real values: channels are read, filtered and written as floats. */
#define REALS(name, packing) {BLR_ELEMENT_F32, BLR_CLASS_FLOAT, 4, 0, true, name, &packing}
#define UNORM8_BLOCKS(name) {BLR_ELEMENT_U8, BLR_CLASS_UNORM, 0, 255, true, name, NULL}
#define SRGB_BLOCKS(name) {BLR_ELEMENT_F32, BLR_CLASS_FLOAT, 0, 0, true, name, NULL}
#define UNORM16_BLOCKS(name) {BLR_ELEMENT_U16, BLR_CLASS_UNORM, 0, 65535, true, name, NULL}
#define SNORM16_BLOCKS(name) {BLR_ELEMENT_S16, BLR_CLASS_SNORM, 0, 32767, true, name, NULL}
#define FP16_BLOCKS(name) {BLR_ELEMENT_F16, BLR_CLASS_FLOAT, 0, 0, true, name, NULL}
static const struct blr_format formats[BLR_NUM_CHANNEL_TYPES] = {
    [BLR_CHANNEL_SNORM_INT8] = {BLR_ELEMENT_S8, BLR_CLASS_SNORM, 1, 127, true, "snorm_int8", NULL},
    [BLR_CHANNEL_SNORM_INT16] = {BLR_ELEMENT_S16, BLR_CLASS_SNORM, 2, 32767, true, "snorm_int16", NULL},
    [BLR_CHANNEL_UNORM_INT8] = {BLR_ELEMENT_U8, BLR_CLASS_UNORM, 1, 255, true, "unorm_int8", NULL},
    [BLR_CHANNEL_UNORM_INT16] = {BLR_ELEMENT_U16, BLR_CLASS_UNORM, 2, 65535, true, "unorm_int16", NULL},
    [BLR_CHANNEL_SIGNED_INT8] = {BLR_ELEMENT_S8, BLR_CLASS_SIGNED, 1, 0, true, "signed_int8", NULL},
    [BLR_CHANNEL_SIGNED_INT16] = {BLR_ELEMENT_S16, BLR_CLASS_SIGNED, 2, 0, true, "signed_int16", NULL},
    [BLR_CHANNEL_SIGNED_INT32] = {BLR_ELEMENT_S32, BLR_CLASS_SIGNED, 4, 0, false, "signed_int32", NULL},
    [BLR_CHANNEL_UNSIGNED_INT8] = {BLR_ELEMENT_U8, BLR_CLASS_UNSIGNED, 1, 0, true, "unsigned_int8", NULL},
    [BLR_CHANNEL_UNSIGNED_INT16] = {BLR_ELEMENT_U16, BLR_CLASS_UNSIGNED, 2, 0, true, "unsigned_int16", NULL},
    [BLR_CHANNEL_UNSIGNED_INT32] = {BLR_ELEMENT_U32, BLR_CLASS_UNSIGNED, 4, 0, false, "unsigned_int32", NULL},
    [BLR_CHANNEL_FP16] = {BLR_ELEMENT_F16, BLR_CLASS_FLOAT, 2, 0, true, "fp16", NULL},
    [BLR_CHANNEL_FP32] = {BLR_ELEMENT_F32, BLR_CLASS_FLOAT, 4, 0, true, "fp32", NULL},
    [BLR_CHANNEL_SNORM_INT32] = REALS("snorm_int32", blr_packing_snorm32),
    [BLR_CHANNEL_UNORM_INT32] = REALS("unorm_int32", blr_packing_unorm32),
    [BLR_CHANNEL_UNORM_INT_10_10_10_2] = REALS("unorm_int_10_10_10_2", blr_packing_unorm_10_10_10_2),
    [BLR_CHANNEL_SNORM_INT_10_10_10_2] = REALS("snorm_int_10_10_10_2", blr_packing_snorm_10_10_10_2),
    [BLR_CHANNEL_UNSIGNED_INT_10_10_10_2] = {BLR_ELEMENT_U32, BLR_CLASS_UNSIGNED, 4, 0, false,
                                             "unsigned_int_10_10_10_2", &blr_packing_unsigned_10_10_10_2},
    [BLR_CHANNEL_SIGNED_INT_10_10_10_2] = {BLR_ELEMENT_S32, BLR_CLASS_SIGNED, 4, 0, false, "signed_int_10_10_10_2",
                                           &blr_packing_signed_10_10_10_2},
    [BLR_CHANNEL_FP_10_10_10_2] = REALS("fp_10_10_10_2", blr_packing_fp_10_10_10_2),
    [BLR_CHANNEL_FP_11_11_10] = REALS("fp_11_11_10", blr_packing_fp_11_11_10),
    [BLR_CHANNEL_UNORM_SHORT_5_6_5] = REALS("unorm_short_5_6_5", blr_packing_unorm_5_6_5),
    [BLR_CHANNEL_UNORM_SHORT_5_5_5_1] = REALS("unorm_short_5_5_5_1", blr_packing_unorm_5_5_5_1),
    [BLR_CHANNEL_UNORM_SHORT_4_4_4_4] = REALS("unorm_short_4_4_4_4", blr_packing_unorm_4_4_4_4),
    [BLR_CHANNEL_UNORM_INT8_SRGB] = REALS("unorm_int8_srgb", blr_packing_srgb),
    [BLR_CHANNEL_BC1_UNORM] = UNORM8_BLOCKS("bc1_unorm"),
    [BLR_CHANNEL_BC1_SRGB] = SRGB_BLOCKS("bc1_srgb"),
    [BLR_CHANNEL_BC2_UNORM] = UNORM8_BLOCKS("bc2_unorm"),
    [BLR_CHANNEL_BC2_SRGB] = SRGB_BLOCKS("bc2_srgb"),
    [BLR_CHANNEL_BC3_UNORM] = UNORM8_BLOCKS("bc3_unorm"),
    [BLR_CHANNEL_BC3_SRGB] = SRGB_BLOCKS("bc3_srgb"),
    [BLR_CHANNEL_BC4_UNORM] = UNORM16_BLOCKS("bc4_unorm"),
    [BLR_CHANNEL_BC4_SNORM] = SNORM16_BLOCKS("bc4_snorm"),
    [BLR_CHANNEL_BC5_UNORM] = UNORM16_BLOCKS("bc5_unorm"),
    [BLR_CHANNEL_BC5_SNORM] = SNORM16_BLOCKS("bc5_snorm"),
    [BLR_CHANNEL_BC6H_UFLOAT] = FP16_BLOCKS("bc6h_ufloat"),
    [BLR_CHANNEL_BC6H_SFLOAT] = FP16_BLOCKS("bc6h_sfloat"),
    [BLR_CHANNEL_BC7_UNORM] = UNORM8_BLOCKS("bc7_unorm"),
    [BLR_CHANNEL_BC7_SRGB] = SRGB_BLOCKS("bc7_srgb"),
};
#undef REALS
#undef UNORM8_BLOCKS
#undef SRGB_BLOCKS
#undef UNORM16_BLOCKS
#undef SNORM16_BLOCKS
#undef FP16_BLOCKS

static const uint32_t element_sizes[BLR_NUM_ELEMENT_TYPES] = {1, 1, 2, 2, 4, 4, 2, 4};

const struct blr_format *blr_format_get(blr_channel_type_t channel_type)
{
    return (uint32_t)channel_type < BLR_NUM_CHANNEL_TYPES ? &formats[channel_type] : NULL;
}

uint32_t blr_pixel_size(blr_channel_type_t channel_type, uint32_t num_channels)
{
    const struct blr_format *format = blr_format_get(channel_type);
    if (!format || num_channels < 1 || num_channels > BLR_MAX_CHANNELS)
        return 0;
    const struct blr_block_format *block = blr_block_format_get(channel_type);
    if (block)
        return num_channels == block->num_channels ? block->block_size : 0;
    return format->packing ? blr_packed_size(format->packing, num_channels) : format->size * num_channels;
}

uint32_t blr_element_size(blr_element_type_t element_type)
{
    return (uint32_t)element_type < BLR_NUM_ELEMENT_TYPES ? element_sizes[element_type] : 0;
}

bool blr_format_accepts(blr_channel_type_t channel_type, blr_element_type_t value_type, blr_image_operation_t operation)
{
    const struct blr_format *format = blr_format_get(channel_type);
    if (!format)
        return false;
    if (format->class == BLR_CLASS_SIGNED || format->class == BLR_CLASS_UNSIGNED)
        return value_type == format->storage;
    if (value_type == BLR_ELEMENT_F32 || value_type == BLR_ELEMENT_F16)
        return true;
    return operation == BLR_OPERATION_WRITE && format->class != BLR_CLASS_FLOAT && value_type == format->storage;
}

float blr_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = half & 0x7fffu;
    uint32_t bits;
    float value;
    if (magnitude >= 0x7c00u) {
        bits = 0x7f800000u | (magnitude & 0x3ffu) << 13 | (magnitude > 0x7c00u ? 0x400000u : 0);
    } else if (magnitude >= 0x0400u) {
        bits = (magnitude << 13) + 0x38000000u;
    } else {
        value = (float)magnitude * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t blr_float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u)               /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) {             /* a normal half: drop the lower 13 bits with rounding */
        uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
        return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
    }
    if (magnitude <= 0x33000000u)               /* magnitudes up to half of the smallest half round to 0 */
        return (uint16_t)sign;
    uint32_t shift = 126u - (magnitude >> 23);  /* 14 to 24 */
    uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t code = significand >> shift;
    uint32_t rest = significand & ((1u << shift) - 1u);
    uint32_t tie = 1u << (shift - 1u);
    code += rest > tie || (rest == tie && (code & 1u));
    return (uint16_t)(sign | code);
}

int64_t blr_format_code(const struct blr_format *format, const void *channel)
{
    switch (format->storage) {
    case BLR_ELEMENT_S8: {
        int8_t code;
        memcpy(&code, channel, sizeof code);
        return code;
    }
    case BLR_ELEMENT_U8: {
        uint8_t code;
        memcpy(&code, channel, sizeof code);
        return code;
    }
    case BLR_ELEMENT_S16: {
        int16_t code;
        memcpy(&code, channel, sizeof code);
        return code;
    }
    case BLR_ELEMENT_U16:
    case BLR_ELEMENT_F16: {
        uint16_t code;
        memcpy(&code, channel, sizeof code);
        return code;
    }
    case BLR_ELEMENT_S32: {
        int32_t code;
        memcpy(&code, channel, sizeof code);
        return code;
    }
    case BLR_ELEMENT_U32:
    case BLR_ELEMENT_F32:
        break;
    }
    uint32_t code;
    memcpy(&code, channel, sizeof code);
    return code;
}

float blr_format_decode(const struct blr_format *format, const void *channel)
{
    if (format->storage == BLR_ELEMENT_F32) {
        float value;
        memcpy(&value, channel, sizeof value);
        return value;
    }
    int64_t code = blr_format_code(format, channel);
    if (format->storage == BLR_ELEMENT_F16)
        return blr_half_to_float((uint16_t)code);
    float value = (float)code / (float)format->maximum;   /* both exact, so the quotient is correctly rounded */
    return value < -1.0f ? -1.0f : value;
}

void blr_format_encode(const struct blr_format *format, void *channel, float value)
{
    if (format->storage == BLR_ELEMENT_F32) {
        memcpy(channel, &value, sizeof value);
        return;
    }
    if (format->storage == BLR_ELEMENT_F16) {
        uint16_t half = blr_float_to_half(value);
        memcpy(channel, &half, sizeof half);
        return;
    }
    float low = format->class == BLR_CLASS_SNORM ? -1.0f : 0.0f;
    float clamped = value >= low ? (value > 1.0f ? 1.0f : value) : (value < low ? low : 0.0f);
    /* The product is exact in double; adding 1.5 * 2^52 leaves the integer nearest to it, ties to even. */
    double product = (double)clamped * format->maximum;
    double shifted = product + 0x1.8p52;
    int32_t code = (int32_t)(shifted - 0x1.8p52);
    if (format->size == 1) {
        uint8_t byte = (uint8_t)code;
        memcpy(channel, &byte, sizeof byte);
    } else {
        uint16_t word = (uint16_t)code;
        memcpy(channel, &word, sizeof word);
    }
}
