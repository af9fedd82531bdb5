/* Swizzled textures: rearrangement of channels before writes and after reads. */
#include "texture/swizzle.h"

#include <string.h>

#define AT_ONCE 64u

void blr_texture_set_swizzle(struct blr_texture *texture, const blr_swizzle_t swizzle[BLR_MAX_CHANNELS])
{
    const uint32_t channels = texture->desc.num_channels;
    texture->swizzled = false;
    for (uint32_t c = 0; c < BLR_MAX_CHANNELS; c++) {
        uint32_t from = (uint32_t)swizzle[c];
        if (from <= BLR_SWIZZLE_ALPHA && from >= channels)
            from = from == BLR_SWIZZLE_ALPHA ? BLR_SWIZZLE_ONE : BLR_SWIZZLE_ZERO;
        texture->swizzle[c] = (uint8_t)from;
        if (from != (c < channels ? c : BLR_SWIZZLE_ZERO))
            texture->swizzled = true;
    }
}

/* A call restricted to the items from begin on. */
static blr_image_call_t call_from(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin)
{
    bool directions = texture->desc.type == BLR_IMAGE_CUBEMAP && call->operation != BLR_OPERATION_FETCH &&
                      call->operation != BLR_OPERATION_WRITE;
    uint64_t dimensions = directions ? 3 : texture->dimensions;
    blr_image_call_t part = *call;
    part.coordinates = (const float *)call->coordinates + begin * dimensions;
    if (call->layers)
        part.layers = call->layers + begin;
    if (call->levels)
        part.levels = call->levels + begin;
    if (call->gradient_x)
        part.gradient_x = call->gradient_x + begin * dimensions;
    if (call->gradient_y)
        part.gradient_y = call->gradient_y + begin * dimensions;
    return part;
}

static uint32_t one_of(blr_element_type_t type)
{
    const float one = 1.0f;
    uint32_t bits = 1;
    if (type == BLR_ELEMENT_F16)
        bits = 0x3c00u;
    else if (type == BLR_ELEMENT_F32)
        memcpy(&bits, &one, sizeof bits);
    return bits;
}

static void move_element(unsigned char *to, const unsigned char *from, uint32_t size)
{
    if (size == 4)
        memcpy(to, from, 4);
    else if (size == 2)
        memcpy(to, from, 2);
    else
        *to = *from;
}

/* Rearranges values from the image's channels to the call's; the low bytes of a number come first. */
static void arrange(const struct blr_texture *texture, const blr_image_call_t *call, const unsigned char *values,
                    uint64_t begin, uint32_t count)
{
    const uint32_t size = blr_element_size(call->value_type), channels = texture->desc.num_channels;
    const uint32_t zero = 0, one = one_of(call->value_type);
    unsigned char *out = (unsigned char *)call->values + begin * call->value_channels * size;
    for (uint32_t i = 0; i < count; i++, values += channels * size)
        for (uint32_t c = 0; c < call->value_channels; c++, out += size) {
            uint32_t from = texture->swizzle[c];
            move_element(out, from < channels ? values + from * size : (const unsigned char *)(from == BLR_SWIZZLE_ONE ? &one : &zero),
                         size);
        }
}

/* The inverse for writes: each channel of the image from the first that names it, 0 where none does. */
static void arrange_back(const struct blr_texture *texture, const blr_image_call_t *call, unsigned char *values,
                         uint64_t begin, uint32_t count)
{
    const uint32_t size = blr_element_size(call->value_type), channels = texture->desc.num_channels;
    const unsigned char *in = (const unsigned char *)call->values + begin * call->value_channels * size;
    memset(values, 0, (size_t)count * channels * size);
    for (uint32_t k = 0; k < channels; k++)
        for (uint32_t c = 0; c < call->value_channels; c++) {
            if (texture->swizzle[c] != k)
                continue;
            for (uint32_t i = 0; i < count; i++)
                move_element(values + (i * channels + k) * size, in + (i * call->value_channels + c) * size, size);
            break;
        }
}

void blr_run_swizzled(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault)
{
    _Alignas(64) unsigned char values[AT_ONCE * BLR_MAX_CHANNELS * 4];
    for (uint64_t item = begin; item < end; item += AT_ONCE) {
        uint32_t count = end - item < AT_ONCE ? (uint32_t)(end - item) : AT_ONCE;
        blr_image_call_t part = call_from(texture, call, item);
        struct blr_fault here = {0};
        part.count = count;
        part.values = values;
        part.value_channels = texture->desc.num_channels;
        if (call->operation == BLR_OPERATION_WRITE)
            arrange_back(texture, call, values, item, count);
        blr_run_plain(texture, &part, 0, count, &here);
        if (call->operation != BLR_OPERATION_WRITE)
            arrange(texture, call, values, item, count);
        if (here.kind != BLR_FAULT_NONE && fault->kind == BLR_FAULT_NONE) {
            *fault = here;
            fault->index += item;
        }
    }
}
