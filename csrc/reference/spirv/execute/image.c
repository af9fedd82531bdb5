/* Execution of image instructions: device functions, called for the lanes that use the same image. */
#include "spirv/execute/image.h"

#include "platform/heap.h"
#include "sampler/addressing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- images */

/* The view of a lane's image, from the worker's cache if possible. NULL after a fault. */
static struct blr_image_view *find_view(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane,
                                        uint64_t handle)
{
    struct blr_spirv_worker *worker = batch->worker;
    for (uint32_t i = 0; i < BLR_SPIRV_CACHED_VIEWS; i++)
        if (worker->views[i] != NULL && worker->views[i]->object.id == handle)
            return worker->views[i];
    struct blr_error unused;
    struct blr_error *before = blr_error_redirect(&unused);
    struct blr_image_view *view = (struct blr_image_view *)blr_object_acquire_kept(handle, BLR_KIND_IMAGE_HANDLE);
    blr_error_redirect(before);
    if (view == NULL || view->context != worker->launch->context) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "names the image 0x%" PRIx64 ", which does not exist in the queue's context, or was destroyed", handle);
        if (view != NULL)
            blr_image_view_release(view);
        return NULL;
    }
    struct blr_image_view **place = &worker->views[worker->view_next++ % BLR_SPIRV_CACHED_VIEWS];
    if (*place != NULL) {
        for (uint32_t i = 0; worker->pairs != NULL && i < BLR_SPIRV_CACHED_PAIRS; i++)
            if (worker->pairs[i].image == (*place)->object.id)
                worker->pairs[i].image = 0;
        blr_image_view_release(*place);
    }
    *place = view;
    return view;
}

/* ---------------------------------------------------------------- separate samplers */

static bool describe_sampler(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, uint64_t handle,
                             blr_sampler_desc_t *sampler)
{
    static const blr_addressing_t addressing[] = {BLR_ADDRESSING_NONE, BLR_ADDRESSING_CLAMP_TO_EDGE,
                                                  BLR_ADDRESSING_CLAMP_TO_BORDER, BLR_ADDRESSING_REPEAT,
                                                  BLR_ADDRESSING_MIRRORED_REPEAT};
    if (handle >> 63 != 0) {
        blr_addressing_t mode = addressing[(handle >> 8 & 0xff) % 5];
        *sampler = (blr_sampler_desc_t){.addressing = {mode, mode, mode},
                                        .normalized_coordinates = handle >> 4 & 1,
                                        .filtering = handle & 1 ? BLR_FILTERING_LINEAR : BLR_FILTERING_NEAREST};
        return true;
    }
    const struct blr_image_view *view = find_view(batch, op, lane, handle);
    if (view != NULL && !view->texture.sampled) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "takes the unsampled image 0x%" PRIx64 " for a sampler: name a sampled one, whose sampler it is", handle);
        return false;
    }
    if (view != NULL)
        *sampler = view->texture.sampler;
    return view != NULL;
}

/* The texture of an image with a sampler other than its own. */
static const struct blr_texture *find_pair(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane,
                                           uint64_t image, uint64_t sampler)
{
    struct blr_spirv_worker *worker = batch->worker;
    blr_sampler_desc_t desc;
    if (!describe_sampler(batch, op, lane, sampler, &desc))
        return NULL;
    const struct blr_image_view *view = find_view(batch, op, lane, image); /* looked up last, so that it stays cached */
    if (view == NULL)
        return NULL;
    if (worker->pairs == NULL)
        worker->pairs = blr_new(BLR_SPIRV_CACHED_PAIRS * sizeof *worker->pairs);
    if (worker->pairs == NULL) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_OUT_OF_MEMORY, "no memory for a sampler");
        return NULL;
    }
    for (uint32_t i = 0; i < BLR_SPIRV_CACHED_PAIRS; i++)
        if (worker->pairs[i].image == image && worker->pairs[i].sampler == sampler)
            return &worker->pairs[i].texture;
    struct blr_spirv_pair *pair = &worker->pairs[worker->pair_next++ % BLR_SPIRV_CACHED_PAIRS];
    const struct blr_texture *own = &view->texture;
    pair->image = 0;
    memset(&pair->texture, 0, sizeof pair->texture);
    if (blr_texture_init(&pair->texture, &own->desc, own->level, own->num_levels, &desc, own->flags) != BLR_RESULT_SUCCESS) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "samples an image of a format that cannot be sampled");
        return NULL;
    }
    pair->texture.swizzled = own->swizzled;
    memcpy(pair->texture.swizzle, own->swizzle, sizeof own->swizzle);
    memcpy(pair->texture.border, own->border, sizeof own->border);
    pair->image = image;
    pair->sampler = sampler;
    return &pair->texture;
}

static const char *const names[] = {"1D", "2D", "3D"};

/* Checks that an image has the type that the instruction requires. */
static bool fits(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane,
                 const struct blr_texture *texture)
{
    const struct blr_spirv_image_use *use = op->info;
    bool exact = use->operation == BLR_OPERATION_FETCH || use->operation == BLR_OPERATION_WRITE;
    bool cube = texture->desc.type == BLR_IMAGE_CUBEMAP && !exact; /* fetches and writes treat faces as array layers */
    bool arrayed = !cube && (texture->desc.type == BLR_IMAGE_ARRAY || texture->desc.type == BLR_IMAGE_CUBEMAP);
    const bool is_row = use->plain && exact && texture->dimensions == 1 && use->dimensions == 2;
    if (cube != use->cube || (!cube && !is_row && (texture->dimensions != use->dimensions || arrayed != use->arrayed))) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "takes a %s%s image for a %s%s image%s",
                        cube ? "cube" : names[texture->dimensions - 1], arrayed ? " array" : "",
                        use->cube ? "cube" : names[use->dimensions - 1], use->arrayed ? " array" : "",
                        texture->dimensions != use->dimensions && !cube && !use->cube
                            ? ": give one coordinate for each dimension, or the Image dimensions=" : "");
        return false;
    }
    if (use->depths && blr_texture_write_channels(texture) != 1) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "takes an image of %u channels for a depth image",
                        blr_texture_write_channels(texture));
        return false;
    }
    if (use->operation == BLR_OPERATION_WRITE ? texture->sampled
                                              : use->operation != BLR_OPERATION_FETCH && !texture->sampled) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "%s",
                        texture->sampled ? "writes through the handle of a sampled image"
                                         : "samples through the handle of an unsampled image");
        return false;
    }
    return true;
}

/* Chooses the element type of the values: integers of the image's own size, floats as in the kernel. */
static bool choose_element(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane,
                           const struct blr_texture *texture, blr_element_type_t *element)
{
    const struct blr_spirv_image_use *use = op->info;
    bool whole = texture->format->class == BLR_CLASS_SIGNED || texture->format->class == BLR_CLASS_UNSIGNED;
    if (use->floats != whole) {
        *element = whole ? texture->format->storage : use->size == 2 ? BLR_ELEMENT_F16 : BLR_ELEMENT_F32;
        return true;
    }
    blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "takes values of %s channels for %s", texture->format->name,
                    use->floats ? "floats" : "integers");
    return false;
}

/* ---------------------------------------------------------------- calls */

struct items {
    int32_t at[BLR_LANES * 3];
    float point[BLR_LANES * 3], dx[BLR_LANES * 3], dy[BLR_LANES * 3];
    uint32_t layer[BLR_LANES];
    float level[BLR_LANES];
    _Alignas(64) unsigned char values[BLR_LANES * 16]; /* aligned to a cache line: the block sampler stores 64 items
                                                        * at once */
    uint8_t lane[BLR_LANES];
    uint32_t count, first; /* first: the first active lane */
};

/* The numbers of all lanes; inlined for each number of components, so that compilers make vectors of it. */
static inline __attribute__((always_inline)) void interleave(const uint32_t *restrict source, uint32_t *restrict to, size_t components)
{
    for (size_t n = 0; n < BLR_LANES; n++)
        for (size_t c = 0; c < components; c++)
            to[n * components + c] = source[c * BLR_LANES + n];
}

/* Copies 32-bit numbers of the active lanes from the registers of a vector to consecutive items. */
static void collect(const struct blr_spirv_batch *batch, const struct items *items, uint32_t place, uint32_t components,
                    void *target)
{
    const uint32_t *source = blr_register(batch, place);
    uint32_t *to = target;
    if (items->count == BLR_LANES && components == 1)
        memcpy(to, source, BLR_LANES * sizeof *to);
    else if (items->count == BLR_LANES && components == 2)
        interleave(source, to, 2);
    else if (items->count == BLR_LANES)
        interleave(source, to, 3);
    else
        for (size_t c = 0; c < components; c++, source += BLR_LANES)
            for (size_t n = 0; n < items->count; n++)
                to[n * components + c] = source[items->lane[n]];
}

/* Integer coordinates of a sample name a texel: its centre has the texel's value under every sampler. */
static void centre_points(const struct blr_texture *texture, uint32_t dimensions, struct items *items)
{
    const struct blr_texture_level *level = &texture->level[0];
    const uint32_t extent[] = {level->width, level->height, level->depth};
    for (uint32_t n = 0, i = 0; n < items->count; n++)
        for (uint32_t d = 0; d < dimensions; d++, i++)
            items->point[i] = ((float)items->at[i] + 0.5f) / (texture->normalized ? (float)extent[d] : 1.0f);
}

static void gather(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const struct blr_texture *texture,
                   struct items *items)
{
    const struct blr_spirv_image_use *use = op->info;
    const uint32_t layer = op->in[1] + use->dimensions * BLR_LANES * 4u;
    if (use->operation == BLR_OPERATION_FETCH || use->operation == BLR_OPERATION_WRITE) {
        collect(batch, items, op->in[1], texture->dimensions < use->dimensions ? texture->dimensions : use->dimensions, items->at);
        if (use->arrayed)
            collect(batch, items, layer, 1, items->layer);
        return;
    }
    collect(batch, items, op->in[1], use->dimensions, use->float_coordinates ? (void *)items->point : (void *)items->at);
    if (!use->float_coordinates)
        centre_points(texture, use->dimensions, items);
    if (use->operation == BLR_OPERATION_SAMPLE_LOD)
        collect(batch, items, op->in[2], 1, items->level);
    if (use->operation == BLR_OPERATION_SAMPLE_GRADIENT) {
        collect(batch, items, op->in[2], use->dimensions, items->dx);
        collect(batch, items, op->in[3], use->dimensions, items->dy);
    }
    if (!use->arrayed)
        return;
    collect(batch, items, layer, 1, items->layer);
    for (uint32_t n = 0; n < items->count; n++) {
        /* The nearest existing layer, as in OpenCL. */
        float number = (float)(int32_t)items->layer[n], last = (float)(texture->num_layers - 1);
        if (use->float_coordinates)
            memcpy(&number, &items->layer[n], sizeof number);
        number = rintf(number);
        items->layer[n] = number > 0 ? (uint32_t)(number < last ? number : last) : 0;
    }
}

static int64_t integer_at(const unsigned char *element, blr_element_type_t type)
{
    switch (type) {
    case BLR_ELEMENT_S8: return *(const int8_t *)element;
    case BLR_ELEMENT_U8: return *element;
    case BLR_ELEMENT_S16: return *(const int16_t *)(const void *)element;
    case BLR_ELEMENT_U16: return *(const uint16_t *)(const void *)element;
    case BLR_ELEMENT_S32: return *(const int32_t *)(const void *)element;
    default: return *(const uint32_t *)(const void *)element;
    }
}

/* Copies values of consecutive items to registers. Channels that the image lacks are 0. */
static void take_values(const struct blr_spirv_op *op, const struct items *items, blr_element_type_t type, size_t channels,
                        unsigned char *result)
{
    const struct blr_spirv_image_use *use = op->info;
    uint32_t size = blr_element_size(type);
    if (size == 4 && use->size == 4) {
        const uint32_t *values = (const uint32_t *)(const void *)items->values;
        uint32_t *r = (uint32_t *)result;
        for (size_t c = 0; c < channels; c++, r += BLR_LANES)
            if (items->count == BLR_LANES && channels == 1)
                memcpy(r, values, BLR_LANES * sizeof *r);
            else if (items->count == BLR_LANES && channels == 4)
                for (size_t n = 0; n < BLR_LANES; n++)
                    r[n] = values[n * 4 + c];
            else if (items->count == BLR_LANES)
                for (size_t n = 0; n < BLR_LANES; n++)
                    r[n] = values[n * channels + c];
            else
                for (size_t n = 0; n < items->count; n++)
                    r[items->lane[n]] = values[n * channels + c];
        memset(r, 0, (use->components - channels) * BLR_LANES * sizeof *r);
        return;
    }
    for (uint32_t n = 0; n < items->count; n++)
        for (uint32_t c = 0; c < use->components; c++) {
            const unsigned char *element = items->values + (n * channels + c) * size;
            unsigned char *place = result + (c * BLR_LANES + items->lane[n]) * use->size;
            int64_t number;
            if (c >= channels) {
                memset(place, 0, use->size);
            } else if (use->floats) {
                memcpy(place, element, use->size);
            } else {
                number = integer_at(element, type);
                memcpy(place, &number, use->size);
            }
        }
}

/* Saturates an integer of size bytes to the element type, which determines the signedness of both. */
static uint32_t saturate(uint32_t number, uint32_t size, blr_element_type_t type)
{
    const bool is_signed = type == BLR_ELEMENT_S8 || type == BLR_ELEMENT_S16 || type == BLR_ELEMENT_S32;
    const int32_t whole = !is_signed  ? (int32_t)number
                          : size == 1 ? (int8_t)number
                          : size == 2 ? (int16_t)number
                                      : (int32_t)number;
    switch (type) {
    case BLR_ELEMENT_U8: return number < UINT8_MAX ? number : UINT8_MAX;
    case BLR_ELEMENT_U16: return number < UINT16_MAX ? number : UINT16_MAX;
    case BLR_ELEMENT_S8: return (uint32_t)(whole < INT8_MIN ? INT8_MIN : whole > INT8_MAX ? INT8_MAX : whole);
    case BLR_ELEMENT_S16: return (uint32_t)(whole < INT16_MIN ? INT16_MIN : whole > INT16_MAX ? INT16_MAX : whole);
    case BLR_ELEMENT_S32: return (uint32_t)whole;
    default: return number;
    }
}

/* Copies texels of active lanes to consecutive items. Channels that a texel lacks are written as 0. */
static void give_values(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op, struct items *items,
                        blr_element_type_t type, uint32_t channels)
{
    const struct blr_spirv_image_use *use = op->info;
    const unsigned char *texels = blr_register(batch, op->in[2]);
    uint32_t size = blr_element_size(type);
    for (uint32_t n = 0; n < items->count; n++)
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t bits = 0; /* little endian: the low bytes of an integer come first */
            if (c < use->components)
                memcpy(&bits, texels + (c * BLR_LANES + items->lane[n]) * use->size, use->size);
            if (!use->floats)
                bits = saturate(bits, use->size, type);
            memcpy(items->values + (n * channels + c) * size, &bits, size);
        }
}

/* Index of one of an axis's two texels of a linear sample, without the clamp that precedes its weights. */
static int64_t corner(float coordinate, const struct blr_texture *texture, int axis, uint32_t extent, int bits, int number)
{
    int64_t position = blr_texels_256(coordinate, extent, texture->normalized, bits) - 128;
    return bindless_texel_at((position >> 8) + number, extent, texture->boundary[axis]);
}

/* One channel of four texels, counter-clockwise from the lower left. Border texels give 0. */
static void gather_texels(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const struct blr_texture *texture,
                          blr_image_call_t *call, struct items *items, unsigned char *result)
{
    static const uint8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const struct blr_spirv_image_use *use = op->info;
    const struct blr_texture_level *level = &texture->level[0];
    uint32_t size = blr_element_size(call->value_type);
    int bits = blr_fraction_bits(level->width > level->height ? level->width : level->height, texture->alone);
    uint32_t channel[BLR_LANES];
    collect(batch, items, op->in[1], 2, items->point);
    collect(batch, items, op->in[2], 1, channel);
    call->operation = BLR_OPERATION_FETCH;
    call->coordinates = items->at;
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t n = 0; n < items->count; n++) {
            int64_t x = corner(items->point[2 * n], texture, 0, level->width, bits, corners[k][0]);
            int64_t y = corner(items->point[2 * n + 1], texture, 1, level->height, bits, corners[k][1]);
            items->at[2 * n] = (int32_t)x;
            items->at[2 * n + 1] = (int32_t)y;
        }
        struct blr_fault outside = {0};
        blr_texture_run(texture, call, 0, items->count, &outside);
        for (uint32_t n = 0; n < items->count; n++) {
            unsigned char *place = result + (k * BLR_LANES + items->lane[n]) * use->size;
            if (channel[n] >= call->value_channels) {
                memset(place, 0, use->size);
                continue;
            }
            const unsigned char *element = items->values + (n * call->value_channels + channel[n]) * size;
            if (use->floats) {
                memcpy(place, element, use->size);
            } else {
                int64_t number = integer_at(element, call->value_type);
                memcpy(place, &number, use->size);
            }
        }
    }
}

/* Whether the instruction moves the bits of pixels. Surfaces of PTX do: integers of any size, at a multiple of it in
 * their row. Other writes do where the integers are as large as a pixel together and the image has other channels:
 * compilers of SYCL write pixels of a user's type so. */
static bool moves_bits(const struct blr_spirv_image_use *use, const struct blr_texture *texture)
{
    const enum blr_format_class class = texture->format->class;
    const bool whole = class == BLR_CLASS_SIGNED || class == BLR_CLASS_UNSIGNED;
    if (use->plain && !texture->sampled)
        return !use->floats;
    return use->operation == BLR_OPERATION_WRITE && !use->floats && use->size * use->components == texture->pixel_size &&
           !(whole && use->components == texture->desc.num_channels);
}

/* The texture with the instruction's integers as its channels. */
static struct blr_texture as_bits(const struct blr_spirv_image_use *use, const struct blr_texture *texture)
{
    struct blr_texture bits = *texture;
    bits.desc.channel_type = use->size == 1   ? BLR_CHANNEL_UNSIGNED_INT8
                             : use->size == 2 ? BLR_CHANNEL_UNSIGNED_INT16
                                              : BLR_CHANNEL_UNSIGNED_INT32;
    bits.desc.num_channels = use->components;
    bits.format = blr_format_get(bits.desc.channel_type);
    bits.swizzled = false;
    const uint32_t size = use->size * use->components;
    if (size == bits.pixel_size)
        return bits;
    bits.desc.width = bits.desc.width * bits.pixel_size / size;
    for (uint32_t i = 0; i < bits.num_levels; i++)
        bits.level[i].width = (uint32_t)((uint64_t)bits.level[i].width * bits.pixel_size / size);
    bits.pixel_size = size;
    return bits;
}

/* Runs the instruction for all lanes that use one image. False after a fault. */
static bool call_image(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint64_t handle, uint64_t sampler,
                       struct items *items, unsigned char *result)
{
    const struct blr_spirv_image_use *use = op->info;
    const struct blr_texture *texture;
    if (sampler != 0) {
        texture = find_pair(batch, op, items->first, handle, sampler);
    } else {
        const struct blr_image_view *view = find_view(batch, op, items->first, handle);
        texture = view != NULL ? &view->texture : NULL;
    }
    if (texture == NULL || !fits(batch, op, items->first, texture))
        return false;
    struct blr_texture bits;
    if (moves_bits(use, texture)) {
        bits = as_bits(use, texture);
        texture = &bits;
    }
    blr_image_call_t call = {.operation = use->operation,
                             .type = texture->desc.type,
                             .handle = handle,
                             .count = items->count,
                             .values = items->values,
                             .value_channels = use->components};
    if (!choose_element(batch, op, items->first, texture, &call.value_type))
        return false;
    if (use->operation == BLR_OPERATION_SAMPLE_LOD || use->operation == BLR_OPERATION_SAMPLE_GRADIENT ||
        use->operation == BLR_OPERATION_SAMPLE)
        call.operation = texture->desc.type != BLR_IMAGE_MIPMAP                     ? BLR_OPERATION_SAMPLE
                         : use->operation == BLR_OPERATION_SAMPLE ? BLR_OPERATION_SAMPLE_LOD
                                                                  : use->operation;
    /* Only the channels that exist are exchanged, unless they are swizzled. */
    if (texture->desc.num_channels < use->components && texture->desc.num_channels != 3 && !texture->swizzled)
        call.value_channels = texture->desc.num_channels;
    if (use->gathers) {
        gather_texels(batch, op, texture, &call, items, result);
        return true;
    }
    gather(batch, op, texture, items);
    bool exact = call.operation == BLR_OPERATION_FETCH || call.operation == BLR_OPERATION_WRITE;
    call.coordinates = exact ? (const void *)items->at : (const void *)items->point;
    call.layers = use->arrayed ? items->layer : NULL;
    call.levels = use->operation == BLR_OPERATION_SAMPLE_LOD ? items->level : NULL;
    call.gradient_x = items->dx;
    call.gradient_y = items->dy;
    if (call.operation == BLR_OPERATION_WRITE) {
        call.value_channels = blr_texture_write_channels(texture);
        give_values(batch, op, items, call.value_type, call.value_channels);
    }
    /* Items outside the image read 0 or write nothing: no fault, as on a GPU. */
    struct blr_fault outside = {0};
    blr_texture_run(texture, &call, 0, items->count, &outside);
    if (call.operation != BLR_OPERATION_WRITE)
        take_values(op, items, call.value_type, call.value_channels, result);
    return true;
}

/* So many active lanes make a call for all lanes cheaper than one for them alone: it moves vectors, not lanes. */
#define MANY_LANES 8

/* Whether lanes that are not active may be read, too: nothing of what they read is kept. */
static bool reads_alone(const struct blr_spirv_image_use *use)
{
    return use->query == BLR_QUERY_NONE && use->operation != BLR_OPERATION_WRITE && !use->gathers;
}

/* The lanes that use the same image and sampler as a lane. */
static uint64_t lanes_like(const uint64_t *handles, const uint64_t *samplers, uint32_t lane)
{
    uint8_t alike[BLR_LANES];
    uint64_t lanes = 0;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        alike[i] = handles[i] == handles[lane];
    for (uint32_t i = 0; samplers != NULL && i < BLR_LANES; i++)
        alike[i] &= samplers[i] == samplers[lane];
    for (uint32_t i = 0; i < BLR_LANES; i += 8) { /* the product brings one bit of each byte to the highest byte */
        uint64_t bytes;
        memcpy(&bytes, alike + i, sizeof bytes);
        lanes |= bytes * UINT64_C(0x0102040810204080) >> 56 << i;
    }
    return lanes;
}

/* Calls function for each set of lanes that use the same image. */
static void for_each_image(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result,
                           bool (*function)(struct blr_spirv_batch *, const struct blr_spirv_op *, uint64_t, uint64_t,
                                            struct items *, unsigned char *))
{
    const struct blr_spirv_image_use *use = op->info;
    const uint64_t *handles = blr_register(batch, op->in[0]);
    const uint64_t *samplers = use->samples ? handles + BLR_LANES : NULL;
    struct items items;
    for (uint64_t lanes = batch->mask; lanes != 0;) {
        const uint32_t first = (uint32_t)__builtin_ctzll(lanes);
        uint64_t alike = lanes_like(handles, samplers, first) & lanes;
        lanes &= ~alike;
        if (alike == batch->mask && reads_alone(use) && __builtin_popcountll(alike) >= MANY_LANES)
            alike = BLR_ALL_LANES;
        items.first = first;
        items.count = 0;
        if (alike == BLR_ALL_LANES) {
            for (; items.count < BLR_LANES; items.count++)
                items.lane[items.count] = (uint8_t)items.count;
        } else {
            for (; alike != 0; alike &= alike - 1)
                items.lane[items.count++] = (uint8_t)__builtin_ctzll(alike);
        }
        if (!function(batch, op, handles[first], samplers != NULL ? samplers[first] : 0, &items, result))
            return;
    }
}

void blr_spirv_run_image(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    for_each_image(batch, op, result, call_image);
}

/* ---------------------------------------------------------------- queries */

/* SPIR-V's image channel data types and orders. Channel types without an enumerant have that of the read value. */
static const uint8_t channel_types[BLR_NUM_CHANNEL_TYPES] = {
    [BLR_CHANNEL_SNORM_INT8] = 0,
    [BLR_CHANNEL_SNORM_INT16] = 1,
    [BLR_CHANNEL_UNORM_INT8] = 2,
    [BLR_CHANNEL_UNORM_INT16] = 3,
    [BLR_CHANNEL_UNORM_SHORT_5_6_5] = 4,
    [BLR_CHANNEL_SIGNED_INT8] = 7,
    [BLR_CHANNEL_SIGNED_INT16] = 8,
    [BLR_CHANNEL_SIGNED_INT32] = 9,
    [BLR_CHANNEL_SIGNED_INT_10_10_10_2] = 9,
    [BLR_CHANNEL_UNSIGNED_INT8] = 10,
    [BLR_CHANNEL_UNSIGNED_INT16] = 11,
    [BLR_CHANNEL_UNSIGNED_INT32] = 12,
    [BLR_CHANNEL_UNSIGNED_INT_10_10_10_2] = 12,
    [BLR_CHANNEL_FP16] = 13,
    [BLR_CHANNEL_FP32] = 14,
    [BLR_CHANNEL_SNORM_INT32] = 14,
    [BLR_CHANNEL_UNORM_INT32] = 14,
    [BLR_CHANNEL_SNORM_INT_10_10_10_2] = 14,
    [BLR_CHANNEL_FP_10_10_10_2] = 14,
    [BLR_CHANNEL_FP_11_11_10] = 14,
    [BLR_CHANNEL_UNORM_SHORT_5_5_5_1] = 14,
    [BLR_CHANNEL_UNORM_SHORT_4_4_4_4] = 14,
    [BLR_CHANNEL_UNORM_INT_10_10_10_2] = 16,
};
static const uint8_t channel_orders[] = {0, 0, 2, 4, 5}; /* R, RG, RGB, RGBA by the number of channels */
#define DEPTH_ORDER 13u

static bool query_image(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint64_t handle, uint64_t sampler,
                        struct items *items, unsigned char *result)
{
    (void)sampler;
    const struct blr_spirv_image_use *use = op->info;
    struct blr_image_view *view = find_view(batch, op, items->first, handle);
    if (view == NULL || (!use->plain && use->query != BLR_QUERY_LEVELS && use->query != BLR_QUERY_FORMAT && use->query != BLR_QUERY_ORDER &&
                         !fits(batch, op, items->first, &view->texture)))
        return false;
    const struct blr_texture *texture = &view->texture;
    for (uint32_t n = 0; n < items->count; n++) {
        uint32_t lane = items->lane[n], level = 0;
        if (use->query == BLR_QUERY_SIZE_LOD) {
            uint32_t lod = ((const uint32_t *)blr_register(batch, op->in[1]))[lane];
            level = lod < texture->num_levels ? lod : texture->num_levels - 1;
        }
        const struct blr_texture_level *at = &texture->level[level];
        uint64_t answer[4] = {at->width, at->height, at->depth, 0};
        if (use->arrayed)
            answer[use->dimensions] = texture->num_layers;
        if (use->query == BLR_QUERY_LEVELS)
            answer[0] = texture->num_levels;
        else if (use->query == BLR_QUERY_FORMAT)
            answer[0] = channel_types[texture->desc.channel_type];
        else if (use->query == BLR_QUERY_ORDER)
            answer[0] = use->depths ? DEPTH_ORDER : channel_orders[blr_texture_write_channels(texture)];
        for (uint32_t c = 0; c < use->components; c++)
            memcpy(result + (c * BLR_LANES + lane) * op->element, &answer[c], op->element);
    }
    return true;
}

void blr_spirv_run_image_query(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    for_each_image(batch, op, result, query_image);
}
