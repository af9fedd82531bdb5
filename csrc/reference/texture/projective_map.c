/* Pictures: generation of the coordinates of a map, and sampling part by part. */
#include "texture/projective_map.h"
#include "sampler/simd/block.h"
#include "texture/scaled_picture.h"

#include <string.h>

#define BLR_MAP_NAME blr_map_rows_portable
#include "texture/projective_map_rows.h"

/* Items that are generated and sampled at a time: their arrays fit the L1 and L2 caches. */
#define AT_ONCE 2048u

struct picture_part {
    _Alignas(64) float at[2 * AT_ONCE];
    float step[2][2 * AT_ONCE];
    float values[BLR_MAX_CHANNELS * AT_ONCE];
};

static const struct blr_map_rows *rows_of(const struct blr_texture *texture)
{
#if BLR_HAS_X86_BLOCKS
    switch (blr_vectors_of(texture)) {
    case BLR_VECTORS_AVX512:
        return &blr_map_rows_avx512;
    case BLR_VECTORS_AVX2:
        return &blr_map_rows_avx2;
    default:
        break;
    }
#else
    (void)texture;
#endif
    return &blr_map_rows_portable;
}

/* Computes the coordinates of count items, row by row of the picture. */
static void place_items(const struct blr_map_rows *rows, const blr_image_map_t *map, uint64_t first, uint32_t count,
                        bool gradients, struct picture_part *part)
{
    for (uint32_t done = 0; done < count;) {
        uint64_t item = first + done, column = item % map->width, rest = map->width - column;
        uint32_t here = count - done < rest ? count - done : (uint32_t)rest;
        const struct blr_map_part row = {
            .map = map,
            .column = column,
            .row = item / map->width,
            .count = here,
            .at = part->at + 2 * done,
            .step_x = gradients ? part->step[0] + 2 * done : NULL,
            .step_y = gradients ? part->step[1] + 2 * done : NULL,
        };
        rows->place(&row);
        done += here;
    }
}

/* Number of items in the first part, so that the following ones start on a cache line for block stores. */
static uint32_t first_count(const unsigned char *values, uint32_t size)
{
    const uint32_t rest = (64 - (uint32_t)((uintptr_t)values % 64)) % 64;
    return rest % size ? AT_ONCE : AT_ONCE - BLR_BLOCK + rest / size;
}

/* The same pixels as an integer texture, whose samples are the codes of the unsigned normalized ones: for a sum Q of
 * weights times codes both give floor((Q + 128) / 256): the normalized sample is floor((257 Q + 128) / 256) / 65535.
 * False where results differ, and for small pixels, for which floats are faster. */
static bool as_integers(const struct blr_texture *texture, struct blr_texture *integers)
{
    const uint32_t smallest = blr_vectors_of(texture) == BLR_VECTORS_AVX512 ? 3 : 4; /* bytes */
    if (texture->format->class != BLR_CLASS_UNORM || texture->pixel_size < smallest || texture->swizzled ||
        (texture->flags & BLR_TEXTURE_EXACT_FILTERING))
        return false;
    *integers = *texture;
    integers->desc.channel_type = texture->format->size == 1 ? BLR_CHANNEL_UNSIGNED_INT8 : BLR_CHANNEL_UNSIGNED_INT16;
    integers->format = blr_format_get(integers->desc.channel_type);
    return true;
}

void blr_run_mapped(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                    struct blr_fault *fault)
{
    struct picture_part part;
    struct blr_texture integers;
    const struct blr_map_rows *rows = rows_of(texture);
    if (blr_run_scaled(texture, rows, call, begin, end))
        return;
    const struct blr_format *format = texture->format;
    const uint32_t element = blr_element_size(call->value_type);
    bool codes = format->maximum != 0 && call->value_type != BLR_ELEMENT_F32 && call->value_type != BLR_ELEMENT_F16;
    if (codes && as_integers(texture, &integers)) {
        texture = &integers;
        codes = false;
    }
    const bool gradients = call->operation == BLR_OPERATION_SAMPLE_GRADIENT;
    const uint32_t size = call->value_channels * element;
    uint32_t count = codes ? AT_ONCE : first_count((unsigned char *)call->values + begin * size, size);
    for (uint64_t item = begin; item < end; item += count, count = AT_ONCE) {
        unsigned char *values = (unsigned char *)call->values + item * size;
        if (end - item < count)
            count = (uint32_t)(end - item);
        blr_image_call_t batch = *call;
        struct blr_fault here;
        place_items(rows, &call->map, item, count, gradients, &part);
        memset(&batch.map, 0, sizeof batch.map);
        batch.coordinates = part.at;
        batch.gradient_x = gradients ? part.step[0] : NULL;
        batch.gradient_y = gradients ? part.step[1] : NULL;
        batch.values = values;
        if (codes) {
            batch.count = count;
            batch.value_type = BLR_ELEMENT_F32;
            batch.values = part.values;
        }
        if (blr_texture_run(texture, &batch, 0, count, &here) != BLR_RESULT_SUCCESS && fault->kind == BLR_FAULT_NONE) {
            *fault = here;
            fault->index += item;
        }
        if (codes)
            rows->code(part.values, (uint64_t)count * call->value_channels,
                       format->class == BLR_CLASS_SNORM ? -format->maximum : 0, format->maximum, format->size, values);
    }
}
