/* Location of a block of cubemap directions. Items that touch more than one face get their texels and weights from
 * the item path. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_CUBE_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_CUBE_H

#include "sampler/simd/addressing.h"

struct cube_rows {
    _Alignas(64) float s[BLR_BLOCK];
    float t[BLR_BLOCK];
};

/* blr_cube_project for a block: faces become layers. */
static void project_items(struct block_work *restrict work, struct cube_rows *restrict cube)
{
    const float *restrict dx = work->coordinate[0], *restrict dy = work->coordinate[1], *restrict dz = work->coordinate[2];
    BLR_EACH_ITEM {
        float x = dx[i], y = dy[i], z = dz[i];
        float ax = x == x ? fabsf(x) : 0.0f, ay = y == y ? fabsf(y) : 0.0f, az = z == z ? fabsf(z) : 0.0f;
        float largest = ax > ay ? ax : ay;
        largest = largest > az ? largest : az;
        x /= largest;
        y /= largest;
        z /= largest;
        x = x == x ? x : 0.0f;
        y = y == y ? y : 0.0f;
        z = z == z ? z : 0.0f;
        ax = fabsf(x);
        ay = fabsf(y);
        az = fabsf(z);
        int32_t on_z = (az >= ax) & (az >= ay), on_y = (ay >= ax) & !on_z;
        float major = on_z ? z : on_y ? y : x;
        int32_t bits;
        memcpy(&bits, &major, sizeof bits);
        int32_t negative = (bits < 0) & (major != 0.0f);
        float s_x = negative ? z : -z, s_z = negative ? -x : x, t_y = negative ? -z : z;
        work->layer[i] = (on_z ? 4 : on_y ? 2 : 0) + negative;
        cube->s[i] = on_z ? s_z : on_y ? x : s_x;
        cube->t[i] = (on_z | !on_y) ? -y : t_y;
    }
}

static void face_positions(const float *restrict s, const struct level_rows *restrict level, const int vary,
                           const bool linear, int32_t *restrict position)
{
    BLR_EACH_ITEM {
        float middle = level->steps[0][i * vary] * 0.5f;
        position[i] = texel_position(middle + floorf(clean(s[i]) * middle), level, 0, i * vary, linear);
    }
}

/* Replaces the rows of one item by a footprint. */
static void patch_item(const struct blr_quad *quad, const bool integers, struct blr_block *block, uint32_t q, int i)
{
    for (int k = 0; k < 4; k++) {
        block->texel[q][k][i] = (uintptr_t)quad->texel[k];
        block->weight[q][k][i] = quad->weight[k];
    }
    if (integers)
        for (int row = 0; row < 2; row++)
            block->pair[q][row][i] = quad->weight[2 * row] | quad->weight[2 * row + 1] << 16;
}

static void address_face(unsigned int boundary, const int32_t *restrict position,
                         const struct level_rows *restrict level, const int vary, const bool linear,
                         struct axis_rows *restrict axis)
{
    if (boundary == BINDLESS_EDGE) {
        BLR_EACH_ITEM
            clamp_item(position[i], level->extent[0][i * vary], linear, axis, i);
    } else if (boundary == BINDLESS_BORDER) {
        BLR_EACH_ITEM
            border_item(position[i], level->extent[0][i * vary], linear, axis, i);
    } else if (boundary == BINDLESS_MIRRORED_REPEAT) {
        BLR_EACH_ITEM
            mirror_item(position[i], level->extent[0][i * vary], linear, axis, i);
    } else {
        BLR_EACH_ITEM
            repeat_item(position[i], level->extent[0][i * vary], linear, axis, i);
    }
}

BLR_INLINE void locate_cube_level(const struct blr_texture *texture, const int vary, const bool linear, const bool border,
                                  const bool integers, const int32_t *share, const int32_t *level_index,
                                  const struct cube_rows *cube, struct block_work *work, struct blr_block *block)
{
    _Alignas(64) int32_t position[2][BLR_BLOCK];
    face_positions(cube->s, &work->rows, vary, linear, position[0]);
    face_positions(cube->t, &work->rows, vary, linear, position[1]);
    for (int d = 0; d < 2; d++) {
        unsigned int boundary = texture->boundary[d];
        if (texture->seamless || (!linear && boundary == BINDLESS_MIRRORED_REPEAT))
            boundary = BINDLESS_EDGE;
        else if (!linear && boundary == BINDLESS_REPEAT)   /* only u = 1 lies outside */
            BLR_EACH_ITEM
                position[d][i] = position[d][i] >= work->rows.extent[0][i * vary] ? 0 : position[d][i];
        address_face(boundary, position[d], &work->rows, vary, linear, &work->axis[d]);
    }
    uint32_t q = block->quads;
    emit_quad(texture, vary, border, integers, work->layer, share, work, block);
    if (!texture->seamless || !linear)
        return;
    uint8_t crossing[BLR_BLOCK];
    BLR_EACH_ITEM {
        int32_t last = 256 * (work->rows.extent[0][i * vary] - 1);
        int32_t x = position[0][i], y = position[1][i];
        crossing[i] = (x < 0) | (x >= last) | (y < 0) | (y >= last);
    }
    for (int i = 0; i < (int)block->count; i++) {
        if (!crossing[i])
            continue;
        struct blr_footprint footprint;
        const float direction[3] = {work->coordinate[0][i], work->coordinate[1][i], work->coordinate[2][i]};
        struct blr_level_pair levels = {(uint32_t)level_index[i * vary], 0};
        blr_footprint_cube_level(texture, direction, levels.level, share[i], &footprint);
        patch_item(&footprint.quad[0], integers, block, q, i);
    }
}

#endif
