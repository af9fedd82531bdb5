/* Storing a block's results to the caller's array: selects its channels and converts to its element type. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_STORE_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_STORE_H

#include "sampler/simd/normalise.h"
#include "sampler/simd/vector.h"

/* Channels that the image lacks are 0. */
static inline __attribute__((always_inline)) void
pack_channels(const union block_values *restrict values, uint32_t count, const uint32_t lanes, const uint32_t channels,
              const uint32_t output, union block_values *restrict packed)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < output; c++)
            packed->integer[i * output + c] = c < channels ? values->integer[i * lanes + c] : 0;
}

static void pack(const union block_values *values, uint32_t count, uint32_t channels, uint32_t output,
                 union block_values *packed)
{
    if (channels == 3 && output == 3)
        pack_channels(values, count, 4, 3, 3, packed);
    else
        pack_channels(values, count, LANES_OF(channels), channels, output, packed);
}

/* Converts 32-bit numbers to smaller elements. */
static void narrow(const union block_values *restrict values, uint32_t count, blr_element_type_t type,
                   union block_values *restrict elements)
{
    if (type == BLR_ELEMENT_F16) {
        for (uint32_t i = 0; i < count; i += 8)
            eight_to_halves(values->real + i, elements->word + i);
    } else if (blr_element_size(type) == 1) {
        for (uint32_t i = 0; i < count; i++)
            elements->byte[i] = (uint8_t)values->integer[i];
    } else {
        for (uint32_t i = 0; i < count; i++)
            elements->word[i] = (uint16_t)values->integer[i];
    }
}

static void store_values(const blr_image_call_t *call, uint32_t channels, uint64_t begin, uint32_t count, bool stream,
                         const union block_values *values)
{
    union block_values packed, elements;
    const uint32_t output = call->value_channels, element_size = blr_element_size(call->value_type);
    const size_t item_size = (size_t)output * element_size;
    unsigned char *to = (unsigned char *)call->values + begin * item_size;
    if (channels != output || channels == 3) {
        pack(values, count, channels, output, &packed);
        values = &packed;
    }
    if (element_size < sizeof(float)) {
        narrow(values, count * output, call->value_type, &elements);
        values = &elements;
    }
    if (stream && count == BLR_BLOCK && (uintptr_t)to % 64 == 0)
        copy_past_caches(to, (const unsigned char *)values, BLR_BLOCK * item_size);
    else
        memcpy(to, values, count * item_size);
}

#endif
