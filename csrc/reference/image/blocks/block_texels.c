/* Decoding of regions of blocks, row by row. */
#include "image/blocks/block_texels.h"

#include "platform/thread_pool.h"

#include <string.h>

/* Least number of blocks of a part of the work. */
#define LEAST_PART 512u

struct region {
    const struct blr_block_format *format;
    uint32_t size, texel;                 /* bytes of a block and of a texel */
    const struct blr_texture_level *blocks, *texels;
    uint64_t first[3], extent[3];
};

blr_image_desc_t blr_texels_describe(const blr_image_desc_t *desc)
{
    blr_image_desc_t texels = *desc;
    const struct blr_block_format *format = blr_block_format_get(desc->channel_type);
    if (format != NULL)
        texels.channel_type = format->srgb ? BLR_CHANNEL_UNORM_INT8_SRGB : format->texel;
    return texels;
}

void blr_texels_border(const blr_image_desc_t *desc, unsigned char *border)
{
    const struct blr_block_format *format = blr_block_format_get(desc->channel_type);
    const uint16_t one = 0x3c00;
    if (format != NULL && format->texel == BLR_CHANNEL_FP16)
        memcpy(border + 3 * sizeof one, &one, sizeof one);
}

/* Decodes rows of blocks, numbered through all slices of the region. */
static bool decode_rows(void *argument, uint64_t begin, uint64_t end)
{
    const struct region *region = argument;
    const struct blr_texture_level *blocks = region->blocks, *texels = region->texels;
    const uint32_t size = region->size, texel = region->texel;
    void (*const decode)(const unsigned char *, void *) = region->format->decode;
    for (uint64_t number = begin; number < end; number++) {
        const uint64_t row = region->first[1] + number % region->extent[1], slice = region->first[2] + number / region->extent[1];
        const unsigned char *block = (const unsigned char *)blocks->data + slice * blocks->slice_pitch +
                                     row * blocks->row_pitch + region->first[0] * size;
        unsigned char *to = (unsigned char *)texels->data + slice * texels->slice_pitch +
                            row * BLR_BLOCK_SIDE * texels->row_pitch + region->first[0] * BLR_BLOCK_SIDE * texel;
        const uint64_t below = texels->height - row * BLR_BLOCK_SIDE;
        const uint32_t rows = below < BLR_BLOCK_SIDE ? (uint32_t)below : BLR_BLOCK_SIDE;
        uint64_t right = texels->width - region->first[0] * BLR_BLOCK_SIDE;
        for (uint64_t i = 0; i < region->extent[0]; i++, block += size, to += BLR_BLOCK_SIDE * texel, right -= BLR_BLOCK_SIDE) {
            _Alignas(8) unsigned char decoded[BLR_MAX_BLOCK_TEXEL_SIZE * BLR_BLOCK_TEXELS];
            decode(block, decoded);
            const size_t line = (right < BLR_BLOCK_SIDE ? (size_t)right : BLR_BLOCK_SIDE) * texel;
            for (uint32_t y = 0; y < rows; y++)
                memcpy(to + y * texels->row_pitch, decoded + (size_t)y * BLR_BLOCK_SIDE * texel, line);
        }
    }
    return true;
}

static void decode_region(const blr_image_desc_t *desc, const struct blr_texture_level *blocks, const struct blr_texture_level *texels,
                          const uint64_t first[3], const uint64_t extent[3])
{
    const blr_image_desc_t decoded = blr_texels_describe(desc);
    struct region region = {
        .format = blr_block_format_get(desc->channel_type),
        .size = blr_pixel_size(desc->channel_type, desc->num_channels),
        .texel = blr_pixel_size(decoded.channel_type, desc->num_channels),
        .blocks = blocks,
        .texels = texels,
    };
    memcpy(region.first, first, sizeof region.first);
    memcpy(region.extent, extent, sizeof region.extent);
    const uint64_t rows = extent[1] * extent[2];
    blr_parallel_for(rows, blr_parallel_grain(rows, LEAST_PART / extent[0] + 1), decode_rows, &region);
}

void blr_texels_decode(const struct blr_image *image, const uint64_t first[3], const uint64_t extent[3])
{
    decode_region(&image->desc, &image->level[0], &image->texels[0], first, extent);
}

blr_result_t blrDecodeBlocks(blr_channel_type_t type, const void *blocks, uint32_t width, uint32_t height, void *texels)
{
    const struct blr_block_format *format = blr_block_format_get(type);
    if (format == NULL || blocks == NULL || texels == NULL || width == 0 || height == 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "channel type %d, %u x %u, blocks or texels NULL: a type of blocks is needed",
                        (int)type, width, height);
    const uint32_t texel = blr_pixel_size(format->texel, format->num_channels);
    const blr_image_desc_t desc = {.width = width, .height = height, .num_channels = format->num_channels, .channel_type = type};
    const uint64_t first[3] = {0, 0, 0};
    const uint64_t extent[3] = {((uint64_t)width + 3) / BLR_BLOCK_SIDE, ((uint64_t)height + 3) / BLR_BLOCK_SIDE, 1};
    const struct blr_texture_level from = {.data = (void *)(uintptr_t)blocks, .row_pitch = extent[0] * format->block_size};
    const struct blr_texture_level to = {
        .data = texels, .width = width, .height = height, .row_pitch = (uint64_t)width * texel};
    decode_region(&desc, &from, &to, first, extent);
    return BLR_RESULT_SUCCESS;
}
