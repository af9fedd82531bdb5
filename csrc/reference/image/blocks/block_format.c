/* The table of block formats. */
#include "image/blocks/block_format.h"

#define BC(NAME, SIZE, TEXEL, CHANNELS, SRGB, DECODE) \
    [BLR_CHANNEL_##NAME - BLR_CHANNEL_BC1_UNORM] = {SIZE, BLR_CHANNEL_##TEXEL, CHANNELS, SRGB, blr_decode_##DECODE}
static const struct blr_block_format formats[] = {
    BC(BC1_UNORM, 8, UNORM_INT8, 4, false, bc1),
    BC(BC1_SRGB, 8, UNORM_INT8, 4, true, bc1),
    BC(BC2_UNORM, 16, UNORM_INT8, 4, false, bc2),
    BC(BC2_SRGB, 16, UNORM_INT8, 4, true, bc2),
    BC(BC3_UNORM, 16, UNORM_INT8, 4, false, bc3),
    BC(BC3_SRGB, 16, UNORM_INT8, 4, true, bc3),
    BC(BC4_UNORM, 8, UNORM_INT16, 1, false, bc4_unorm),
    BC(BC4_SNORM, 8, SNORM_INT16, 1, false, bc4_snorm),
    BC(BC5_UNORM, 16, UNORM_INT16, 2, false, bc5_unorm),
    BC(BC5_SNORM, 16, SNORM_INT16, 2, false, bc5_snorm),
    BC(BC6H_UFLOAT, 16, FP16, 4, false, bc6h_ufloat),
    BC(BC6H_SFLOAT, 16, FP16, 4, false, bc6h_sfloat),
    BC(BC7_UNORM, 16, UNORM_INT8, 4, false, bc7),
    BC(BC7_SRGB, 16, UNORM_INT8, 4, true, bc7),
};
#undef BC

const struct blr_block_format *blr_block_format_get(blr_channel_type_t channel_type)
{
    uint32_t index = (uint32_t)channel_type - (uint32_t)BLR_CHANNEL_BC1_UNORM;
    return index < sizeof formats / sizeof formats[0] ? &formats[index] : NULL;
}
