/*
 * Location of a block: the arithmetic of sampler/addressing.h, sampler/weights.h and sampler/cube.c as branchless loops
 * over 64 items. Each source file of an instruction set includes this header.
 *
 * Magnitudes are clamped to the range in which they affect the result, so that 32-bit integers hold every position, and
 * doubles hold every product exactly.
 */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_ADDRESSING_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_ADDRESSING_H

#include "sampler/simd/block.h"
#include "sampler/addressing.h"
#include "sampler/cube.h"

#include <math.h>
#include <string.h>

#define BLR_INLINE static inline __attribute__((always_inline))
#define BLR_EACH_ITEM for (int i = 0; i < BLR_BLOCK; i++)

/* One mip level of a block: a row for each item when levels vary, else only the first row. */
struct level_rows {
    _Alignas(64) double texels[3][BLR_BLOCK];      /* texels (1/256 texels when linear) in a step of a coordinate */
    float steps[3][BLR_BLOCK];                     /* steps of a normalized coordinate: 2^bits */
    int32_t extent[3][BLR_BLOCK];
    int32_t share[BLR_BLOCK];                      /* weight of the level */
    uint32_t row_pitch[BLR_BLOCK];
    uint32_t slice_pitch[BLR_BLOCK];
    uintptr_t data[BLR_BLOCK];
};

struct axis_rows {
    _Alignas(64) int32_t first[BLR_BLOCK];
    int32_t second[BLR_BLOCK];
    int32_t weight[BLR_BLOCK];
};

BLR_INLINE int32_t minimum(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

BLR_INLINE int32_t maximum(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

BLR_INLINE int32_t bits_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Selects one of two addresses by the sign of a number, without a branch that would prevent vectorisation. */
BLR_INLINE uintptr_t if_negative(int32_t number, uintptr_t yes, uintptr_t no)
{
    uintptr_t mask = (uintptr_t)(intptr_t)(number >> 31);
    return (yes & mask) | (no & ~mask);
}

/* ---- positions: 1/256 texel from the first centre (linear), else the index */

/* Replaces NaN and denormals by 0. */
BLR_INLINE float clean(float x)
{
    return fabsf(x) >= 0x1p-126f ? x : 0.0f;
}

/* Clamps a cleaned coordinate. */
BLR_INLINE float cut(float x, float low, float high)
{
    x = low > x ? low : x;
    return high < x ? high : x;
}

/* floor(u * texels + half), for u * texels > -256 * extent: adding a multiple makes the number positive, so that
 * truncation rounds down. */
BLR_INLINE int32_t texel_position(float u, const struct level_rows *level, int d, int row, const bool linear)
{
    int32_t bias = 256 * level->extent[d][row];
    return (int32_t)((double)u * level->texels[d][row] + ((double)bias + (linear ? 0.5 : 0.0))) - bias - (linear ? 128 : 0);
}

BLR_INLINE int32_t position_within(float x, const struct level_rows *level, int d, int row, const bool linear)
{
    return texel_position(floorf(cut(x, -1.0f, 2.0f) * level->steps[d][row]), level, d, row, linear);
}

/* The same within one period of the texture: 1, or 2 for mirrored addressing. All steps are exact in float: scaling
 * by powers of two, and the remainder of a division, which has no more bits than the number. */
BLR_INLINE int32_t position_periodic(float x, const struct level_rows *level, int d, int row, const bool linear,
                                     const float periods)
{
    float period = level->steps[d][row] * periods;
    float u = floorf(cut(x, -BLR_COORDINATE_LIMIT, BLR_COORDINATE_LIMIT) * level->steps[d][row]);
    return texel_position(u - floorf(u * (1.0f / period)) * period, level, d, row, linear);
}

BLR_INLINE int32_t position_in_texels(float x, const struct level_rows *level, int d, int row, const bool linear)
{
    x = cut(x, -1.0f, (float)level->extent[d][row] + 1.0f);
    if (!linear)
        return (int32_t)floorf(x);
    float y = x * 256.0f, whole = floorf(y);
    return (int32_t)whole + (y - whole >= 0.5f) - 128;
}

/* ---- addressing: from positions to an axis's two texels */

BLR_INLINE void clamp_item(int32_t position, int32_t extent, const bool linear, struct axis_rows *axis, int i)
{
    int32_t last = extent - 1;
    position = minimum(maximum(position, 0), linear ? 256 * last : last);
    axis->first[i] = linear ? position >> 8 : position;
    axis->second[i] = minimum(axis->first[i] + 1, last);
    axis->weight[i] = linear ? position & 255 : 0;
}

BLR_INLINE void border_item(int32_t position, int32_t extent, const bool linear, struct axis_rows *axis, int i)
{
    int32_t first = linear ? position >> 8 : position, second = first + 1;
    axis->first[i] = first < 0 || first >= extent ? BINDLESS_OUTSIDE : first;
    axis->second[i] = second < 0 || second >= extent ? BINDLESS_OUTSIDE : second;
    axis->weight[i] = linear ? position & 255 : 0;
}

/* Valid for positions from -1 to 2 extents. */
BLR_INLINE void mirror_item(int32_t position, int32_t extent, const bool linear, struct axis_rows *axis, int i)
{
    int32_t first = linear ? position >> 8 : position, second = first + 1;
    first = maximum(first, 0);
    axis->first[i] = first >= extent ? 2 * extent - 1 - first : first;
    axis->second[i] = maximum(second >= extent ? 2 * extent - 1 - second : second, 0);
    axis->weight[i] = linear ? position & 255 : 0;
}

/* Valid for positions from -1 to the extent. */
BLR_INLINE void repeat_item(int32_t position, int32_t extent, const bool linear, struct axis_rows *axis, int i)
{
    int32_t first = linear ? position >> 8 : position, second = first + 1;
    axis->first[i] = first < 0 ? extent - 1 : first;
    axis->second[i] = second >= extent ? 0 : second;
    axis->weight[i] = linear ? position & 255 : 0;
}

/* Locates one axis of a block: each combination of modes has its own loop. */
BLR_INLINE void locate_axis(const struct blr_texture *texture, const float *restrict x,
                            const struct level_rows *restrict level, int d, const int vary, const bool linear,
                            struct axis_rows *restrict axis)
{
    const unsigned int boundary = texture->boundary[d];
    if (!texture->normalized) {
        if (boundary == BINDLESS_EDGE) {
            BLR_EACH_ITEM
                clamp_item(position_in_texels(x[i], level, d, 0, linear), level->extent[d][0], linear, axis, i);
        } else {
            BLR_EACH_ITEM
                border_item(position_in_texels(x[i], level, d, 0, linear), level->extent[d][0], linear, axis, i);
        }
    } else if (boundary == BINDLESS_REPEAT) {
        BLR_EACH_ITEM
            repeat_item(position_periodic(x[i], level, d, i * vary, linear, 1.0f), level->extent[d][i * vary], linear,
                        axis, i);
    } else if (boundary == BINDLESS_MIRRORED_REPEAT) {
        BLR_EACH_ITEM
            mirror_item(position_periodic(x[i], level, d, i * vary, linear, 2.0f), level->extent[d][i * vary], linear,
                        axis, i);
    } else if (boundary == BINDLESS_EDGE) {
        BLR_EACH_ITEM
            clamp_item(position_within(x[i], level, d, i * vary, linear), level->extent[d][i * vary], linear, axis, i);
    } else {
        BLR_EACH_ITEM
            border_item(position_within(x[i], level, d, i * vary, linear), level->extent[d][i * vary], linear, axis, i);
    }
}

/* ---- quads */

BLR_INLINE void emit_texels(const struct blr_texture *texture, const struct level_rows *restrict level, const int vary,
                            const bool border, const bool sliced, const struct axis_rows *restrict x, const struct axis_rows *restrict y,
                            const int32_t *restrict slice, uintptr_t texel[4][BLR_BLOCK])
{
    const uint64_t size = texture->pixel_size;
    uintptr_t outside = (uintptr_t)texture->border;
    uintptr_t *restrict t0 = texel[0], *restrict t1 = texel[1], *restrict t2 = texel[2], *restrict t3 = texel[3];
    BLR_EACH_ITEM {
        uint64_t pitch = level->row_pitch[i * vary];
        uintptr_t data = level->data[i * vary];
        if (sliced)
            data += (uint64_t)(uint32_t)slice[i] * (uint64_t)level->slice_pitch[i * vary];
        uintptr_t upper = data + (uint64_t)(uint32_t)y->first[i] * pitch;
        uintptr_t lower = data + (uint64_t)(uint32_t)y->second[i] * pitch;
        uint64_t column = (uint64_t)(uint32_t)x->first[i] * size;
        uint64_t right = (uint64_t)(uint32_t)x->second[i] * size;
        if (border) {
            t0[i] = if_negative(x->first[i] | y->first[i] | slice[i], outside, upper + column);
            t1[i] = if_negative(x->second[i] | y->first[i] | slice[i], outside, upper + right);
            t2[i] = if_negative(x->first[i] | y->second[i] | slice[i], outside, lower + column);
            t3[i] = if_negative(x->second[i] | y->second[i] | slice[i], outside, lower + right);
        } else {
            t0[i] = upper + column;
            t1[i] = upper + right;
            t2[i] = lower + column;
            t3[i] = lower + right;
        }
    }
}

/* column_weights packs the weights of a row, left | right << 16; lower_weights gives the lower row's part of them,
 * rounded to nearest, a half down for left and up for right. The packed numbers do not overflow into each other:
 * weights are at most 256, y is at most 255. */
BLR_INLINE uint32_t column_weights(int32_t whole, int32_t x)
{
    const uint32_t right = ((uint32_t)(whole * x) + 128) >> 8;
    return (uint32_t)whole + right * 0xffff;
}

BLR_INLINE uint32_t lower_weights(uint32_t columns, int32_t y)
{
    return (columns * (uint32_t)y + (128 << 16 | 127)) >> 8 & 0x00ff00ff;
}

BLR_INLINE void set_weights(uint32_t columns, int32_t y, const bool integers, struct blr_block *restrict block, uint32_t q, int i)
{
    const uint32_t lower = lower_weights(columns, y), upper = columns - lower;
    if (integers) {
        block->pair[q][0][i] = (int32_t)upper;
        block->pair[q][1][i] = (int32_t)lower;
    } else {
        block->weight[q][0][i] = (int32_t)(upper & 0xffff);
        block->weight[q][1][i] = (int32_t)(upper >> 16);
        block->weight[q][2][i] = (int32_t)(lower & 0xffff);
        block->weight[q][3][i] = (int32_t)(lower >> 16);
    }
}

BLR_INLINE void emit_weights(const int32_t *restrict x, const int32_t *restrict y, const int32_t *restrict whole,
                             const bool integers, struct blr_block *restrict block, uint32_t q)
{
    if (integers) {
        BLR_EACH_ITEM
            set_weights(column_weights(whole[i], x[i]), y[i], true, block, q, i);
    } else {
        BLR_EACH_ITEM
            set_weights(column_weights(whole[i], x[i]), y[i], false, block, q, i);
    }
}

/* ---- whole levels */

struct block_work {
    _Alignas(64) float coordinate[3][BLR_BLOCK];
    int32_t layer[BLR_BLOCK];                      /* layer or face */
    int32_t level[BLR_BLOCK];                      /* when levels vary */
    int32_t fraction[BLR_BLOCK];
    struct level_rows rows;
    struct axis_rows axis[3];
    int32_t whole[BLR_BLOCK];
    int32_t slice[BLR_BLOCK];
};

static bool has_border(const struct blr_texture *texture)
{
    for (int d = 0; d < 3; d++)
        if (texture->boundary[d] == BINDLESS_BORDER)
            return true;
    return false;
}

static void fill_level_row(const struct blr_texture *texture, uint32_t index, struct level_rows *rows, int i)
{
    const struct blr_texture_level *level = &texture->level[index];
    const uint32_t extent[3] = {level->width, level->height, level->depth};
    uint32_t largest = extent[0];
    for (uint32_t d = 1; d < texture->dimensions; d++)
        largest = extent[d] > largest ? extent[d] : largest;
    for (int d = 0; d < 3; d++) {
        int bits = blr_fraction_bits(d < 2 ? largest : extent[2], texture->alone);
        rows->steps[d][i] = (float)(1 << bits);
        rows->texels[d][i] = (double)extent[d] * (texture->linear ? 256.0 : 1.0) / (double)(1 << bits);
        rows->extent[d][i] = (int32_t)extent[d];
    }
    rows->row_pitch[i] = (uint32_t)level->row_pitch;
    rows->slice_pitch[i] = (uint32_t)level->slice_pitch;
    rows->data[i] = (uintptr_t)level->data;
}

/* Gathers the rows of a block with varying levels from a table with one row for each level. */
static void gather_level_rows(const struct level_rows *restrict table, uint32_t dimensions, const int32_t *restrict index,
                              struct level_rows *restrict rows)
{
    for (uint32_t d = 0; d < dimensions; d++)
        BLR_EACH_ITEM {
            rows->steps[d][i] = table->steps[d][index[i]];
            rows->texels[d][i] = table->texels[d][index[i]];
            rows->extent[d][i] = table->extent[d][index[i]];
        }
    BLR_EACH_ITEM {
        rows->row_pitch[i] = table->row_pitch[index[i]];
        rows->slice_pitch[i] = table->slice_pitch[index[i]];
        rows->data[i] = table->data[index[i]];
    }
}

BLR_INLINE void emit_quad(const struct blr_texture *texture, const int vary, const bool border, const bool integers,
                          const int32_t *slice, const int32_t *whole, struct block_work *work, struct blr_block *block)
{
    uint32_t q = block->quads++;
    const struct axis_rows *x = &work->axis[0], *y = &work->axis[1];
    bool sliced = texture->dimensions == 3 || texture->num_layers > 1;
    if (border && sliced)
        emit_texels(texture, &work->rows, vary, true, true, x, y, slice, block->texel[q]);
    else if (border)
        emit_texels(texture, &work->rows, vary, true, false, x, y, slice, block->texel[q]);
    else if (sliced)
        emit_texels(texture, &work->rows, vary, false, true, x, y, slice, block->texel[q]);
    else
        emit_texels(texture, &work->rows, vary, false, false, x, y, slice, block->texel[q]);
    if (texture->blends)
        emit_weights(work->axis[0].weight, work->axis[1].weight, whole, integers, block, q);
}

BLR_INLINE void locate_level(const struct blr_texture *texture, const int vary, const bool linear, const bool border,
                             const bool integers, const int32_t *share, struct block_work *work, struct blr_block *block)
{
    for (uint32_t d = 0; d < texture->dimensions; d++) {
        locate_axis(texture, work->coordinate[d], &work->rows, (int)d, vary, linear, &work->axis[d]);
    }
    if (texture->dimensions < 3) {
        emit_quad(texture, vary, border, integers, work->layer, share, work, block);
        return;
    }
    if (!linear) {
        emit_quad(texture, vary, border, integers, work->axis[2].first, share, work, block);
        return;
    }
    BLR_EACH_ITEM
        work->whole[i] = (share[i] * (256 - work->axis[2].weight[i]) + 128) >> 8;
    emit_quad(texture, vary, border, integers, work->axis[2].first, work->whole, work, block);
    BLR_EACH_ITEM
        work->whole[i] = share[i] - work->whole[i];
    emit_quad(texture, vary, border, integers, work->axis[2].second, work->whole, work, block);
}

#endif
