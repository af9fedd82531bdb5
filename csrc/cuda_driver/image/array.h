/* Arrays and mipmapped arrays: images of the reference driver, whose texels have the array's format. */
#ifndef BINDLESS_CUDA_DRIVER_IMAGE_ARRAY_H
#define BINDLESS_CUDA_DRIVER_IMAGE_ARRAY_H

#include "cuda_driver/driver/context.h"

struct bcu_array {
    struct bcu_resource resource;
    blr_image_t image;
    bool owns;                          /* else the image is a level of a mipmapped array */
    struct bcu_array *mipmap;           /* of a level: retained */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* as created */
    blr_image_desc_t desc;              /* of the image, as integers or floats */
    uint32_t pixel_size;                /* bytes of a texel, or of a block of texels */
    uint32_t levels;                    /* of a mipmapped array, else 1 */
    uint64_t extent[3];                 /* texels, or blocks, as copies count them: z is the layer, or face */
    struct bcu_array *level[BLR_MAX_MIP_LEVELS]; /* of a mipmapped array, made at the first request */
};

static inline bool bcu_has_blocks(blr_channel_type_t type) { return type >= BLR_CHANNEL_BC1_UNORM; }

/* Texels, or blocks, along width or height. */
static inline uint64_t bcu_texel_groups(blr_channel_type_t type, uint64_t texels)
{
    return bcu_has_blocks(type) ? (texels + 3) / 4 : texels;
}

CUresult bcu_array_acquire(CUarray handle, struct bcu_array **array);
CUresult bcu_mipmap_acquire(CUmipmappedArray handle, struct bcu_array **array);
static inline void bcu_array_release(struct bcu_array *array) { bcu_resource_release(&array->resource); }

/* Channels of the image of an array: the three of BC6H have a fourth one there, which is 1. */
static inline unsigned bcu_image_channels(CUarray_format format, unsigned channels)
{
    return channels == 3 && (format == CU_AD_FORMAT_BC6H_UF16 || format == CU_AD_FORMAT_BC6H_SF16) ? 4 : channels;
}

/* The channel type of texels of so many channels of an image, as integers, floats, or normalized numbers, and the bytes of
 * a channel. */
CUresult bcu_format(CUarray_format format, unsigned channels, bool normalized, blr_channel_type_t *type, uint32_t *bytes);

/* Fills in an array from a descriptor; levels is 0 for an array without levels. */
CUresult bcu_array_describe(struct bcu_array *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels);

/* Registers an array that has its image. On failure the image is destroyed. */
CUresult bcu_array_register(struct bcu_array *array, struct bcu_context *context, bool is_mipmap, void *handle);

#endif
