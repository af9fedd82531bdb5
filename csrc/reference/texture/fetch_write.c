/* Fetches and writes: dispatch to blocks, and the path that covers every texture. */
#include "texture/fetch_write.h"
#include "image/packed_format.h"
#include "sampler/simd/block.h"
#include "texture/value_array.h"

/* The address of an item's pixel; NULL, with the fault described, when it is out of range. */
static unsigned char *locate(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index,
                             struct blr_fault *fault)
{
    const struct blr_texture_level *level = &texture->level[0];
    const uint32_t extent[3] = {level->width, level->height, level->depth};
    const int32_t *position = (const int32_t *)call->coordinates + index * texture->dimensions;
    bool layered = texture->desc.type == BLR_IMAGE_ARRAY || texture->desc.type == BLR_IMAGE_CUBEMAP;
    uint64_t place[3] = {0, 0, 0};
    enum blr_fault_kind kind = BLR_FAULT_NONE;
    for (uint32_t d = 0; d < texture->dimensions; d++) {
        if (position[d] < 0 || (uint32_t)position[d] >= extent[d])
            kind = BLR_FAULT_COORDINATES;
        place[d] = (uint64_t)(uint32_t)position[d];
    }
    uint32_t layer = layered ? blr_item_layer(call, index) : 0;
    if (layered) {
        if (layer >= texture->num_layers)
            kind = BLR_FAULT_LAYER;
        place[2] = layer;
    }
    if (kind == BLR_FAULT_NONE)
        return (unsigned char *)level->data + place[2] * level->slice_pitch + place[1] * level->row_pitch +
               place[0] * texture->pixel_size;
    if (fault->kind == BLR_FAULT_NONE) {
        fault->kind = kind;
        fault->index = index;
        fault->dimensions = texture->dimensions;
        for (uint32_t d = 0; d < texture->dimensions; d++)
            fault->coordinates[d] = position[d];
        fault->layer = layer;
    }
    return NULL;
}

void blr_fetch_items_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                     struct blr_fault *fault)
{
    const struct blr_format *format = texture->format;
    uint32_t channels = texture->desc.num_channels;
    bool reals = blr_texture_has_reals(texture);
    uint32_t value_size = blr_element_size(call->value_type) * call->value_channels;
    bool verbatim = call->value_type == format->storage && call->value_channels == channels;
    static const union blr_pixel nothing;
    for (uint64_t index = begin; index < end; index++) {
        const unsigned char *texel = locate(texture, call, index, fault);
        if (!texel) {
            blr_store_values(texture, call, index, &nothing);
            continue;
        }
        unsigned char unpacked[BLR_MAX_PIXEL_SIZE];
        if (format->packing) {
            blr_unpack_pixel(format->packing, channels, texel, unpacked);
            texel = unpacked;
        }
        if (verbatim) {
            memcpy((unsigned char *)call->values + index * value_size, texel, value_size);
            continue;
        }
        union blr_pixel pixel;
        for (uint32_t channel = 0; channel < channels; channel++) {
            if (reals)
                pixel.real[channel] = blr_format_decode(format, texel + channel * format->size);
            else
                pixel.integer[channel] = blr_format_code(format, texel + channel * format->size);
        }
        blr_store_values(texture, call, index, &pixel);
    }
}

void blr_write_items_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                     struct blr_fault *fault)
{
    const struct blr_format *format = texture->format;
    uint32_t channels = texture->desc.num_channels;
    uint32_t element_size = blr_element_size(call->value_type);
    const unsigned char *values = call->values;
    for (uint64_t index = begin; index < end; index++) {
        unsigned char *pixel = locate(texture, call, index, fault);
        if (!pixel)
            continue;
        unsigned char unpacked[BLR_MAX_PIXEL_SIZE];
        unsigned char *texel = format->packing ? unpacked : pixel;
        const unsigned char *value = values + index * call->value_channels * element_size;
        for (uint32_t channel = 0; channel < channels; channel++, texel += format->size) {
            const unsigned char *element = value + channel * element_size;
            if (channel >= call->value_channels) {
                memset(texel, 0, format->size);
            } else if (call->value_type == format->storage) {
                memcpy(texel, element, format->size);
            } else if (call->value_type == BLR_ELEMENT_F16) {
                uint16_t half;
                memcpy(&half, element, sizeof half);
                blr_format_encode(format, texel, blr_half_to_float(half));
            } else {
                float real;
                memcpy(&real, element, sizeof real);
                blr_format_encode(format, texel, real);
            }
        }
        if (format->packing)
            blr_pack_pixel(format->packing, channels, unpacked, pixel);
    }
}

void blr_fetch_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                     struct blr_fault *fault)
{
    if (!blr_fetch_blocks(texture, call, begin, end, fault))
        blr_fetch_items_plain(texture, call, begin, end, fault);
}

void blr_write_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                     struct blr_fault *fault)
{
    if (!blr_write_blocks(texture, call, begin, end, fault))
        blr_write_items_plain(texture, call, begin, end, fault);
}
