/* Image formats: maps Level Zero's layout, type and swizzle to the reference driver's channel type and channels. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_IMAGE_FORMAT_H
#define BINDLESS_LEVEL_ZERO_DRIVER_IMAGE_FORMAT_H

#include "level_zero_driver/core/result.h"

struct blz_format {
    blr_channel_type_t channel_type;
    uint32_t num_channels;
    uint32_t pixel_size;       /* bytes */
    blr_swizzle_t swizzle[4];
};

/* Fails with INVALID_ENUMERATION for a value that Level Zero does not define, with UNSUPPORTED_IMAGE_FORMAT for a
   format that this driver does not support. */
ze_result_t blz_format_resolve(const ze_image_format_t *format, struct blz_format *resolved);

#endif
