/* Sampling of one item: the path that covers every texture. */
#include "image/packed_format.h"
#include "sampler/sampler.h"
#include "texture/value_array.h"

static void item_footprint(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index,
                           struct blr_footprint *footprint)
{
    bool cube = texture->desc.type == BLR_IMAGE_CUBEMAP;
    uint32_t dimensions = cube ? 3 : texture->dimensions;
    const float *coordinates = (const float *)call->coordinates + index * dimensions;
    uint32_t layer = texture->desc.type == BLR_IMAGE_ARRAY ? blr_item_layer(call, index) : 0;
    int32_t lod = BLR_LOD_NONE;
    if (call->operation == BLR_OPERATION_SAMPLE_LOD) {
        lod = blr_lod_from_float(call->levels ? call->levels[index] : call->level);
    } else if (call->operation == BLR_OPERATION_SAMPLE_GRADIENT && !cube) {
        const float *gradients[2] = {call->gradient_x + index * dimensions, call->gradient_y + index * dimensions};
        const struct blr_texture_level *base = &texture->level[0];
        const uint32_t extent[3] = {base->width, base->height, base->depth};
        if (texture->anisotropy_cap) {
            float gradient[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
            for (uint32_t g = 0; g < 2; g++)
                memcpy(gradient[g], gradients[g], dimensions * sizeof(float));
            struct blr_gradient_measure measure;
            blr_gradient_measure(gradient[0], gradient[1], extent, &measure);
            blr_footprint_anisotropic(texture, coordinates, layer, &measure, footprint);
            return;
        }
        lod = blr_gradient_lod(coordinates, gradients[0], gradients[1], extent, dimensions);
    }
    struct blr_level_pair levels = blr_lod_split(texture, blr_lod_clamp(texture, lod));
    if (cube)
        blr_footprint_cube(texture, coordinates, levels, footprint);
    else
        blr_footprint_standard(texture, coordinates, layer, levels, footprint);
}

#define MAX_TEXELS (4 * BLR_MAX_QUADS)

/* Replaces the packed texels of a footprint by unpacked copies: floats, or 16-bit codes of ten bits that are blended. */
static void unpack_footprint(const struct blr_texture *texture, struct blr_footprint *footprint,
                             unsigned char unpacked[MAX_TEXELS][BLR_MAX_PIXEL_SIZE])
{
    const struct blr_packing *packing = texture->format->packing;
    const bool codes = texture->blends && packing == &blr_packing_unorm_10_10_10_2;
    for (uint32_t q = 0; q < footprint->count; q++)
        for (int k = 0; k < 4; k++, unpacked++) {
            const unsigned char *texel = footprint->quad[q].texel[k];
            if (codes)
                blr_unpack_to_words(texel, *unpacked);
            else
                blr_unpack_pixel(packing, texture->desc.num_channels, texel, *unpacked);
            footprint->quad[q].texel[k] = *unpacked;
        }
}

static float blend_real(const struct blr_texture *texture, const struct blr_footprint *footprint, uint32_t channel)
{
    const struct blr_format *format = texture->format;
    if (format->packing == &blr_packing_srgb)
        return channel < 3 ? blr_blend_srgb(footprint, channel)
                           : blr_blend_normalized(footprint, channel, blr_format_get(BLR_CHANNEL_UNORM_INT8));
    if (format->packing == &blr_packing_unorm_10_10_10_2)
        return blr_blend_normalized(footprint, 2 * channel, blr_format_get(BLR_CHANNEL_UNORM_INT16));
    if (format->storage == BLR_ELEMENT_F32)
        return blr_blend_fp32(footprint, channel * format->size);
    return format->storage == BLR_ELEMENT_F16 ? blr_blend_fp16(footprint, channel * format->size)
                                              : blr_blend_normalized(footprint, channel * format->size, format);
}

void blr_sample_item(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index)
{
    struct blr_footprint footprint;
    const struct blr_format *format = texture->format;
    bool nearest = !texture->blends;
    unsigned char unpacked[MAX_TEXELS][BLR_MAX_PIXEL_SIZE];
    item_footprint(texture, call, index, &footprint);
    if (format->packing != NULL && (nearest || format->packing != &blr_packing_srgb))
        unpack_footprint(texture, &footprint, unpacked);
    const unsigned char *texel = footprint.quad[0].texel[0];
    bool reals = blr_texture_has_reals(texture);
    union blr_pixel pixel;
    for (uint32_t channel = 0; channel < texture->desc.num_channels; channel++) {
        uint32_t offset = channel * format->size;
        if (!reals)
            pixel.integer[channel] = nearest ? blr_format_code(format, texel + offset)
                                             : blr_blend_integer(&footprint, offset, format);
        else
            pixel.real[channel] = nearest ? blr_format_decode(format, texel + offset)
                                          : blend_real(texture, &footprint, channel);
    }
    blr_store_values(texture, call, index, &pixel);
}
