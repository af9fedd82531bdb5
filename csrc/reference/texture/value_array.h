/* Values of a call: arrays of (count, channels) in the caller's element type. */
#ifndef BINDLESS_REFERENCE_TEXTURE_VALUE_ARRAY_H
#define BINDLESS_REFERENCE_TEXTURE_VALUE_ARRAY_H

#include "texture/texture.h"

#include <string.h>

/* A pixel as numbers; integer images use the integer members. */
union blr_pixel {
    float real[BLR_MAX_CHANNELS];
    int64_t integer[BLR_MAX_CHANNELS];
};

static inline bool blr_texture_has_reals(const struct blr_texture *texture)
{
    return texture->format->class != BLR_CLASS_SIGNED && texture->format->class != BLR_CLASS_UNSIGNED;
}

static inline void blr_store_element(void *element, blr_element_type_t type, float real, int64_t integer)
{
    switch (type) {
    case BLR_ELEMENT_S8:
    case BLR_ELEMENT_U8: {
        uint8_t code = (uint8_t)integer;
        memcpy(element, &code, sizeof code);
        return;
    }
    case BLR_ELEMENT_S16:
    case BLR_ELEMENT_U16: {
        uint16_t code = (uint16_t)integer;
        memcpy(element, &code, sizeof code);
        return;
    }
    case BLR_ELEMENT_S32:
    case BLR_ELEMENT_U32: {
        uint32_t code = (uint32_t)integer;
        memcpy(element, &code, sizeof code);
        return;
    }
    case BLR_ELEMENT_F16: {
        uint16_t half = blr_float_to_half(real);
        memcpy(element, &half, sizeof half);
        return;
    }
    case BLR_ELEMENT_F32:
        break;
    }
    memcpy(element, &real, sizeof real);
}

/* Stores the first channels of a pixel; channels that the image lacks are 0. */
static inline void blr_store_values(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index,
                                    const union blr_pixel *pixel)
{
    uint32_t size = blr_element_size(call->value_type);
    unsigned char *element = (unsigned char *)call->values + index * call->value_channels * size;
    bool reals = blr_texture_has_reals(texture);
    for (uint32_t channel = 0; channel < call->value_channels; channel++, element += size) {
        bool present = channel < texture->desc.num_channels;
        blr_store_element(element, call->value_type, present && reals ? pixel->real[channel] : 0.0f,
                          present && !reals ? pixel->integer[channel] : 0);
    }
}

#endif
