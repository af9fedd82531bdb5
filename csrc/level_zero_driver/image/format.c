#include "level_zero_driver/image/format.h"

#include "reference/image/pixel_format.h"

#define NONE (-1)

/* For each layout its channels, and the channel type for UINT, SINT, UNORM, SNORM and FLOAT. */
static const struct {
    ze_image_format_layout_t layout;
    uint32_t channels;
    int type[5];
} layouts[] = {
#define BYTES {BLR_CHANNEL_UNSIGNED_INT8, BLR_CHANNEL_SIGNED_INT8, BLR_CHANNEL_UNORM_INT8, BLR_CHANNEL_SNORM_INT8, NONE}
#define WORDS                                                                                                       \
    {                                                                                                               \
        BLR_CHANNEL_UNSIGNED_INT16, BLR_CHANNEL_SIGNED_INT16, BLR_CHANNEL_UNORM_INT16, BLR_CHANNEL_SNORM_INT16,     \
            BLR_CHANNEL_FP16                                                                                        \
    }
#define LONGS                                                                                                       \
    {                                                                                                               \
        BLR_CHANNEL_UNSIGNED_INT32, BLR_CHANNEL_SIGNED_INT32, BLR_CHANNEL_UNORM_INT32, BLR_CHANNEL_SNORM_INT32,     \
            BLR_CHANNEL_FP32                                                                                        \
    }
    {ZE_IMAGE_FORMAT_LAYOUT_8, 1, BYTES},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8, 2, BYTES},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8, 3, BYTES},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4, BYTES},
    {ZE_IMAGE_FORMAT_LAYOUT_16, 1, WORDS},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16, 2, WORDS},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16_16, 3, WORDS},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 4, WORDS},
    {ZE_IMAGE_FORMAT_LAYOUT_32, 1, LONGS},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32, 2, LONGS},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32, 3, LONGS},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 4, LONGS},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
     4,
     {BLR_CHANNEL_UNSIGNED_INT_10_10_10_2, BLR_CHANNEL_SIGNED_INT_10_10_10_2, BLR_CHANNEL_UNORM_INT_10_10_10_2,
      BLR_CHANNEL_SNORM_INT_10_10_10_2, BLR_CHANNEL_FP_10_10_10_2}},
    {ZE_IMAGE_FORMAT_LAYOUT_11_11_10, 3, {NONE, NONE, NONE, NONE, BLR_CHANNEL_FP_11_11_10}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, 3, {NONE, NONE, BLR_CHANNEL_UNORM_SHORT_5_6_5, NONE, NONE}},
    {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, 4, {NONE, NONE, BLR_CHANNEL_UNORM_SHORT_5_5_5_1, NONE, NONE}},
    {ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4, 4, {NONE, NONE, BLR_CHANNEL_UNORM_SHORT_4_4_4_4, NONE, NONE}},
};

/* R, G, B, A, 0, 1, and X, which leaves the channel undefined. Depth is not supported. */
static const blr_swizzle_t swizzles[] = {BLR_SWIZZLE_RED,  BLR_SWIZZLE_GREEN, BLR_SWIZZLE_BLUE, BLR_SWIZZLE_ALPHA,
                                         BLR_SWIZZLE_ZERO, BLR_SWIZZLE_ONE,   BLR_SWIZZLE_ZERO};

static ze_result_t resolve_type(const ze_image_format_t *format, struct blz_format *resolved)
{
    if ((unsigned)format->type > ZE_IMAGE_FORMAT_TYPE_FLOAT)
        return blz_fail_enumeration("desc->format.type", format->type, "ZE_IMAGE_FORMAT_TYPE_UINT (0) to _FLOAT (4) are known");
    if ((unsigned)format->layout > ZE_IMAGE_FORMAT_LAYOUT_32_32_32)
        return blz_fail_enumeration("desc->format.layout", format->layout,
                                    "ZE_IMAGE_FORMAT_LAYOUT_8 (0) to _32_32_32 (45) are known");
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].layout != format->layout)
            continue;
        int type = layouts[i].type[format->type];
        if (type == NONE)
            return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                            "an image of layout %d and type %d: Level Zero's table of formats has no such combination",
                            format->layout, format->type);
        resolved->channel_type = (blr_channel_type_t)type;
        resolved->num_channels = layouts[i].channels;
        resolved->pixel_size = blr_pixel_size(resolved->channel_type, resolved->num_channels);
        return ZE_RESULT_SUCCESS;
    }
    return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                    "an image of layout %d: video formats are not supported, only those of Level Zero's table of required formats "
                    "and 8_8_8, 16_16_16, 32_32_32",
                    format->layout);
}

ze_result_t blz_format_resolve(const ze_image_format_t *format, struct blz_format *resolved)
{
    const ze_image_format_swizzle_t swizzle_of[4] = {format->x, format->y, format->z, format->w};
    ze_result_t result = resolve_type(format, resolved);
    for (int c = 0; c < 4 && result == ZE_RESULT_SUCCESS; c++) {
        if (swizzle_of[c] == ZE_IMAGE_FORMAT_SWIZZLE_D)
            result = blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                              "desc->format: swizzle %d is depth, which no format of this driver has", c);
        else if ((unsigned)swizzle_of[c] >= sizeof swizzles / sizeof *swizzles)
            result = blz_fail_enumeration("a swizzle of desc->format", swizzle_of[c],
                                          "ZE_IMAGE_FORMAT_SWIZZLE_R (0) to _D (7) are known");
        else
            resolved->swizzle[c] = swizzles[swizzle_of[c]];
    }
    return result;
}
