/* Fetches and writes by blocks: addresses from integer coordinates, values converted by vector loops, pixels moved
 * one by one. A block with a pixel outside the image is left to texture/fetch_write.c, which reports the fault. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FETCH_WRITE_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FETCH_WRITE_H

#include "sampler/simd/run_call.h"
#include "texture/fetch_write.h"

/* Constants of a run over all blocks. */
struct pixel_run {
    const struct blr_texture *texture;
    const blr_image_call_t *call;
    uint32_t dimensions;
    bool layered;
    uint32_t extent[3];                   /* extents; the last one is the layer count */
    uint32_t pitch[3];                    /* bytes from pixel to pixel, from row to row, from slice to slice */
};

static bool start_pixels(const struct blr_texture *texture, const blr_image_call_t *call, struct pixel_run *run)
{
    const struct blr_texture_level *level = &texture->level[0];
    if (texture->format->packing || level->row_pitch > UINT32_MAX || level->slice_pitch > UINT32_MAX)
        return false;
    run->texture = texture;
    run->call = call;
    run->dimensions = texture->dimensions;
    run->layered = texture->desc.type == BLR_IMAGE_ARRAY || texture->desc.type == BLR_IMAGE_CUBEMAP;
    run->extent[0] = level->width;
    run->extent[1] = level->height;
    run->extent[2] = run->layered ? texture->num_layers : level->depth;
    run->pitch[0] = texture->pixel_size;
    run->pitch[1] = (uint32_t)level->row_pitch;
    run->pitch[2] = (uint32_t)level->slice_pitch;
    return true;
}

BLR_INLINE uint32_t add_offsets(const struct pixel_run *run, const int32_t *restrict texels, const uint32_t n, const uint32_t d,
                                uintptr_t *restrict address)
{
    const uint32_t extent = run->extent[d];
    const uint64_t pitch = run->pitch[d];
    uint32_t outside = 0;
    BLR_EACH_ITEM {
        const uint32_t place = (uint32_t)texels[(uint32_t)i * n + d];
        outside |= place >= extent;
        address[i] += place * pitch;
    }
    return outside;
}

/* Computes the addresses of a full block of items; false if any is outside. */
static bool locate_pixels(const struct pixel_run *run, uint64_t begin, uintptr_t *restrict address)
{
    const uint32_t n = run->dimensions;
    const int32_t *position = (const int32_t *)run->call->coordinates + begin * n;
    const uintptr_t base = (uintptr_t)run->texture->level[0].data;
    uint32_t outside = 0;
    BLR_EACH_ITEM
        address[i] = base;
    if (n == 1) {
        outside |= add_offsets(run, position, 1, 0, address);
    } else if (n == 2) {
        outside |= add_offsets(run, position, 2, 0, address);
        outside |= add_offsets(run, position, 2, 1, address);
    } else {
        outside |= add_offsets(run, position, 3, 0, address);
        outside |= add_offsets(run, position, 3, 1, address);
        outside |= add_offsets(run, position, 3, 2, address);
    }
    if (run->layered) {
        const uint64_t pitch = run->pitch[2];
        for (int i = 0; i < BLR_BLOCK; i++) {
            const uint32_t layer = run->call->layers ? run->call->layers[begin + (uint32_t)i] : run->call->layer;
            outside |= layer >= run->extent[2];
            address[i] += layer * pitch;
        }
    }
    return outside == 0;
}

/* ---- verbatim copies */

BLR_INLINE void gather_pixels(unsigned char *restrict to, const uintptr_t *restrict address, const size_t size)
{
    for (size_t i = 0; i < BLR_BLOCK; i++)
        memcpy(to + i * size, (const void *)address[i], size);
}

BLR_INLINE void scatter_pixels(const uintptr_t *restrict address, const unsigned char *restrict from, const size_t size)
{
    for (size_t i = 0; i < BLR_BLOCK; i++)
        memcpy((void *)address[i], from + i * size, size);
}

/* Expands to a switch with constant pixel sizes. */
#define FOR_PIXEL_SIZE(size, ACTION) \
    switch (size) {                  \
    case 1: ACTION(1); break;        \
    case 2: ACTION(2); break;        \
    case 3: ACTION(3); break;        \
    case 4: ACTION(4); break;        \
    case 6: ACTION(6); break;        \
    case 8: ACTION(8); break;        \
    case 12: ACTION(12); break;      \
    default: ACTION(16); break;      \
    }

/* ---- fetches */

static bool make_fetch_plan(const struct blr_texture *texture, const blr_image_call_t *call, struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->texture = texture;
    plan->call = call;
    plan->channels = texture->desc.num_channels;
    plan->lanes = LANES_OF(plan->channels);
    plan->kind = &kinds[texture->desc.channel_type][plan->channels - 1];
    plan->blend = plan->kind->nearest;
    plan->finish = finish_of_codes(texture->format);
    plan->direct = !plan->finish && blr_element_size(call->value_type) == sizeof(float) &&
                   call->value_channels == plan->lanes && plan->channels == plan->lanes;
    plan->direct_size = plan->lanes * (uint32_t)sizeof(float);
    plan->stream = call->count * call->value_channels * blr_element_size(call->value_type) >= STREAM_BYTES;
    return plan->blend != NULL;
}

static bool fetch_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                         struct blr_fault *fault)
{
    struct pixel_run run;
    struct plan plan;
    struct blr_block block;
    const uint32_t size = texture->pixel_size;
    const bool verbatim = call->value_type == texture->format->storage && call->value_channels == texture->desc.num_channels;
    if (!start_pixels(texture, call, &run) || !make_fetch_plan(texture, call, &plan))
        return false;
    block.quads = 1; /* only the first addresses are read */
    block.count = BLR_BLOCK;
    block.boxes_only = false;
    memset(block.dense, 0, sizeof block.dense);
    uint64_t item = begin;
    for (uint32_t count = first_count(&plan, begin); item < end; item += count, count = BLR_BLOCK) {
        if (end - item < BLR_BLOCK || count < BLR_BLOCK) {
            count = end - item < count ? (uint32_t)(end - item) : count;
            blr_fetch_items_plain(texture, call, item, item + count, fault);
        } else if (!locate_pixels(&run, item, block.texel[0][0])) {
            blr_fetch_items_plain(texture, call, item, item + BLR_BLOCK, fault);
        } else if (verbatim && !plan.direct) {
            unsigned char *to = (unsigned char *)call->values + item * size;
#define GATHER(SIZE) gather_pixels(to, block.texel[0][0], SIZE)
            FOR_PIXEL_SIZE(size, GATHER)
        } else {
            blend_block(&plan, item, &block);
        }
    }
    return true;
}

/* ---- writes */

static void widen_halves(const uint16_t *restrict halves, uint32_t count, float *restrict values)
{
    for (uint32_t i = 0; i < count; i += 8)
        eight_from_halves(halves + i, values + i);
}

/* Encodes as blr_format_encode. */
static void encode_normalized(const struct blr_format *format, const float *restrict values, uint32_t count,
                              int32_t *restrict codes)
{
    const double maximum = format->maximum;
    const float low = format->class == BLR_CLASS_SNORM ? -1.0f : 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        const float value = values[i], number = value == value ? value : 0.0f;
        const float above = number > low ? number : low;
        const double product = (double)(above < 1.0f ? above : 1.0f) * maximum;
        codes[i] = (int32_t)(product + 0x1.8p52 - 0x1.8p52);
    }
}

/* Converts values to pixels of the image's channel count. */
static const unsigned char *encode_block(const struct blr_format *format, const blr_image_call_t *call,
                                         const void *input, union block_values *restrict reals,
                                         union block_values *restrict pixels)
{
    const uint32_t count = BLR_BLOCK * call->value_channels;
    union block_values codes;
    if (call->value_type == format->storage)
        return input;
    const float *values = input;
    if (call->value_type == BLR_ELEMENT_F16) {
        widen_halves(input, count, reals->real);
        values = reals->real;
    }
    if (format->storage == BLR_ELEMENT_F32)
        return (const unsigned char *)values;
    if (format->storage == BLR_ELEMENT_F16) {
        memcpy(codes.real, values, count * sizeof(float));
        narrow(&codes, count, BLR_ELEMENT_F16, pixels);
    } else {
        encode_normalized(format, values, count, codes.integer);
        narrow(&codes, count, format->storage, pixels);
    }
    return pixels->byte;
}

static bool write_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                         struct blr_fault *fault)
{
    struct pixel_run run;
    _Alignas(64) uintptr_t address[BLR_BLOCK];
    union block_values reals, pixels;
    const uint32_t size = texture->pixel_size, value_size = call->value_channels * blr_element_size(call->value_type);
    if (call->value_channels != texture->desc.num_channels || !start_pixels(texture, call, &run))
        return false;
    for (uint64_t item = begin; item < end; item += BLR_BLOCK) {
        if (end - item < BLR_BLOCK || !locate_pixels(&run, item, address)) {
            const uint64_t last = end - item < BLR_BLOCK ? end : item + BLR_BLOCK;
            blr_write_items_plain(texture, call, item, last, fault);
            continue;
        }
        const unsigned char *from =
            encode_block(texture->format, call, (const unsigned char *)call->values + item * value_size, &reals, &pixels);
#define SCATTER(SIZE) scatter_pixels(address, from, SIZE)
        FOR_PIXEL_SIZE(size, SCATTER)
    }
    return true;
}

#endif
