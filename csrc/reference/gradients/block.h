/* A block of samples of one texture, for one REAL, one type of TEXEL and one type of OFFSET. Included by gradients_part.c
 * for each. Functions with dims and taps are inlined where these are constants. */

/* One of the arrays over texels, and offsets of the taps in it. */
struct NAME(taps) {
    _Alignas(64) OFFSET offset[64][BLOCK];
};

struct NAME(block) {
    const blr_gradients_t *call;
    const struct blr_gradient_part *part;
    uint64_t first;                       /* sample */
    uint32_t count, used;                 /* samples, and levels of which any sample has a part, as a mask */
    bool texels, cotangents, gradients;   /* which arrays of texels this operation and part need */
    bool dots;                            /* whether derivatives of weights are needed */
    bool is_backward_backward;
    bool outsides, skips;                 /* whether any tap is outside; whether any adds nothing */

    _Alignas(64) REAL position[3][BLOCK]; /* in texels of level 0 */
    _Alignas(64) REAL low[BLOCK], rest[BLOCK], moves[BLOCK]; /* level below, fraction above, derivative: 0 if clamped */
    _Alignas(64) REAL cot_position[3][BLOCK], cot_level[BLOCK];
    _Alignas(64) REAL grad_position[3][BLOCK], grad_level[BLOCK];
    struct NAME(cube) cube;

    /* of one level */
    struct NAME(axis) axis[3];
    _Alignas(64) REAL part_of[BLOCK], gain[BLOCK]; /* weight of the level, and its derivative */
    _Alignas(64) REAL cot[3][BLOCK];      /* cotangents of positions in this level */
    _Alignas(64) REAL weight[64][BLOCK], push[64][BLOCK]; /* the weights, and their derivative along the cotangents */
    _Alignas(64) REAL dot[64][BLOCK], cot_dot[64][BLOCK]; /* sums over channels: gradient * texel, gradient * cotangent */
    _Alignas(64) int32_t outside[64][BLOCK];
    struct NAME(taps) texel, cotangent, gradient; /* the last one is SKIPPED where this part adds nothing */

    /* of CHUNK channels */
    _Alignas(64) REAL grad_value[CHUNK][BLOCK], value[CHUNK][BLOCK];
    _Alignas(64) REAL grad_row[BLOCK][CHUNK], row[BLOCK][CHUNK]; /* the same for textures with channels next to each other */
};

/* ---------------------------------------------------------------- arrays of samples */

static const void *NAME(number_at)(const blr_strided_t *array, int64_t offset)
{
    return (const REAL *)array->first + offset;
}

/* One real number for each sample; zeros after the last sample. */
static void NAME(load_reals)(const struct NAME(block) *block, const blr_strided_t *array, int64_t offset, int64_t stride,
                             REAL *restrict to)
{
    const REAL *from = NAME(number_at)(array, offset);
    if (block->count == BLOCK) {
        for (uint32_t i = 0; i < BLOCK; i++)
            to[i] = from[(int64_t)i * stride];
        return;
    }
    for (uint32_t i = 0; i < BLOCK; i++)
        to[i] = i < block->count ? from[(int64_t)i * stride] : 0;
}

static void NAME(store_reals)(const struct NAME(block) *block, const blr_strided_t *array, int64_t offset, int64_t stride,
                              const REAL *restrict from)
{
    REAL *to = (REAL *)array->first + offset;
    for (uint32_t i = 0; i < block->count; i++)
        to[(int64_t)i * stride] = from[i];
}

static int64_t NAME(offset_of)(const struct NAME(block) *block, const blr_strided_t *array, uint32_t channel)
{
    return (int64_t)channel * array->strides[0] + (int64_t)block->first * array->strides[1] +
           (int64_t)block->part->texture * array->strides[2];
}

INLINE void NAME(load_run)(blr_number_type_t type, const void *first, int64_t offset, int64_t stride, uint32_t count,
                           REAL *restrict to)
{
    if (type == BLR_NUMBER_F32) {
        const float *from = (const float *)first + offset;
        if (stride == 1)
            for (uint32_t i = 0; i < count; i++)
                to[i] = (REAL)from[i];
        else
            for (uint32_t i = 0; i < count; i++)
                to[i] = (REAL)from[(int64_t)i * stride];
    } else if (type == BLR_NUMBER_F16) {
        const uint16_t *from = (const uint16_t *)first + offset;
        for (uint32_t i = 0; i < count; i++)
            to[i] = (REAL)blr_lane_from_half(from[(int64_t)i * stride]);
    } else {
        const double *from = (const double *)first + offset;
        for (uint32_t i = 0; i < count; i++)
            to[i] = (REAL)from[(int64_t)i * stride];
    }
}

INLINE void NAME(store_run)(blr_number_type_t type, void *first, int64_t offset, int64_t stride, uint32_t count,
                            const REAL *restrict from)
{
    if (type == BLR_NUMBER_F32) {
        float *to = (float *)first + offset;
        if (stride == 1)
            for (uint32_t i = 0; i < count; i++)
                to[i] = (float)from[i];
        else
            for (uint32_t i = 0; i < count; i++)
                to[(int64_t)i * stride] = (float)from[i];
    } else if (type == BLR_NUMBER_F16) {
        uint16_t *to = (uint16_t *)first + offset;
        for (uint32_t i = 0; i < count; i++)
            to[(int64_t)i * stride] = HALF_OF(from[i]);
    } else {
        double *to = (double *)first + offset;
        for (uint32_t i = 0; i < count; i++)
            to[(int64_t)i * stride] = (double)from[i];
    }
}

/* Values of channels from channel on, as rows or as planes. */
static void NAME(load_values)(struct NAME(block) *block, const blr_strided_t *array, uint32_t channel, uint32_t channels,
                              bool rows)
{
    const int64_t offset = NAME(offset_of)(block, array, channel), step = array->strides[1], stride = array->strides[0];
    const blr_number_type_t type = block->call->value_type;
    if (rows)
        for (uint32_t i = 0; i < block->count; i++)
            NAME(load_run)(type, array->first, offset + i * step, stride, channels, block->grad_row[i]);
    else
        for (uint32_t c = 0; c < channels; c++)
            NAME(load_run)(type, array->first, offset + c * stride, step, block->count, block->grad_value[c]);
}

static void NAME(store_values)(const struct NAME(block) *block, const blr_strided_t *array, uint32_t channel,
                               uint32_t channels, bool rows)
{
    const int64_t offset = NAME(offset_of)(block, array, channel), step = array->strides[1], stride = array->strides[0];
    const blr_number_type_t type = block->call->value_type;
    if (rows)
        for (uint32_t i = 0; i < block->count; i++)
            NAME(store_run)(type, array->first, offset + i * step, stride, channels, block->row[i]);
    else
        for (uint32_t c = 0; c < channels; c++)
            NAME(store_run)(type, array->first, offset + c * stride, step, block->count, block->value[c]);
}

/* ---------------------------------------------------------------- positions and levels */

static void NAME(find_levels)(struct NAME(block) *block)
{
    const blr_gradients_t *call = block->call;
    const REAL most = (REAL)(call->num_levels - 1);
    block->used = 1;
    if (call->between == BLR_BETWEEN_NONE || call->num_levels == 1 || call->level.first == NULL) {
        for (uint32_t i = 0; i < BLOCK; i++)
            block->low[i] = block->rest[i] = block->moves[i] = 0;
        return;
    }
    REAL level[BLOCK];
    const int64_t *strides = call->level.strides;
    NAME(load_reals)(block, &call->level, (int64_t)block->first * strides[0] + (int64_t)block->part->texture * strides[1],
                     strides[0], level);
    const bool is_linear = call->between == BLR_BETWEEN_LINEAR;
    block->used = 0;
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL above = level[i] > 0 ? level[i] : 0, within = above < most ? above : most;
        const REAL low = FLOOR(is_linear ? within : within + (REAL)0.5);
        block->low[i] = low;
        block->rest[i] = is_linear ? within - low : 0;
        block->moves[i] = is_linear && within > 0 && within < most ? 1 : 0;
        if (i < block->count)
            block->used |= (block->moves[i] != 0 ? 3u : 1u) << (uint32_t)low;
    }
}

static void NAME(load_positions)(struct NAME(block) *block)
{
    const blr_gradients_t *call = block->call;
    const blr_strided_t *from = &call->coordinates, *cot = &call->cot_coordinates;
    const uint32_t components = call->cubemap ? 3 : call->dimensions;
    const bool has_cot = block->is_backward_backward && cot->first != NULL;
    for (uint32_t d = 0; d < components; d++) {
        const REAL shift = (REAL)call->shift, scale = (REAL)call->scale[d], offset = (REAL)call->offset[d];
        REAL *restrict at = block->position[d], *restrict toward = block->cot_position[d];
        NAME(load_reals)(block, from, NAME(offset_of)(block, from, d), from->strides[1], at);
        if (has_cot)
            NAME(load_reals)(block, cot, NAME(offset_of)(block, cot, d), cot->strides[1], toward);
        if (!call->cubemap)
            for (uint32_t i = 0; i < BLOCK; i++)
                at[i] = (at[i] + shift) * scale + offset;
        for (uint32_t i = 0; block->is_backward_backward && i < BLOCK; i++)
            toward[i] = !has_cot ? 0 : call->cubemap ? toward[i] : toward[i] * scale;
    }
    if (block->dots) {
        memset(block->grad_position, 0, sizeof block->grad_position);
        memset(block->grad_level, 0, sizeof block->grad_level);
    }
    if (call->cubemap && !block->is_backward_backward)
        memset(block->cot_position, 0, sizeof block->cot_position);
    if (call->cubemap)
        NAME(begin_cube)(block->position, block->cot_position, (REAL)call->levels[0].size[0], &block->cube);
    if (!block->is_backward_backward)
        return;
    const blr_strided_t *cot_level = &call->cot_level;
    const bool has_cot_level = cot_level->first != NULL;
    memset(block->cot_level, 0, sizeof block->cot_level);
    if (has_cot_level)
        NAME(load_reals)(block, cot_level, (int64_t)block->first * cot_level->strides[0] +
                         (int64_t)block->part->texture * cot_level->strides[1], cot_level->strides[0], block->cot_level);
}

/* ---------------------------------------------------------------- taps of a level */

/* A loop over the taps (x, y, z), whose number is k. */
#undef FOR_TAPS
#define FOR_TAPS(DIMS, TAPS)                                                                                              \
    for (uint32_t z = 0, k = 0; z < ((DIMS) > 2 ? (TAPS) : 1); z++)                                                       \
        for (uint32_t y = 0; y < ((DIMS) > 1 ? (TAPS) : 1); y++)                                                          \
            for (uint32_t x = 0; x < (TAPS); x++, k++)

INLINE uint32_t NAME(all_taps)(const uint32_t dims, const uint32_t taps)
{
    return dims == 1 ? taps : dims == 2 ? taps * taps : taps * taps * taps;
}

/* Taps along an axis in a level. */
INLINE void NAME(begin_axis)(struct NAME(block) *block, uint32_t level, uint32_t d, const uint32_t taps)
{
    const blr_gradients_t *call = block->call;
    const int32_t n = (int32_t)call->levels[level].size[d];
    const REAL ratio = (REAL)n / (REAL)call->levels[0].size[d];
    struct NAME(axis) *axis = &block->axis[d];
    REAL at[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        at[i] = level == 0 ? block->position[d][i] : (block->position[d][i] + (REAL)0.5) * ratio - (REAL)0.5;
        axis->chain[i] = ratio;
    }
    if (call->cubemap)
        NAME(find_cube_taps)(taps, n, at, axis);
    else
        NAME(find_taps)(call, d, n, at, axis, taps);
}

/* Offsets of all taps in one array over texels; those outside become that of the first texel along their axis. */
INLINE void NAME(combine_offsets)(const struct NAME(block) *block, const blr_strided_t *array, OFFSET offsets[64][BLOCK],
                                  const uint32_t dims, const uint32_t taps)
{
    OFFSET offset[3][4][BLOCK];
    for (uint32_t d = 0; d < dims; d++) {
        const OFFSET stride = (OFFSET)array->strides[1 + d];
        for (uint32_t k = 0; k < taps; k++)
            for (uint32_t i = 0; i < BLOCK; i++) {
                const int32_t index = block->axis[d].index[k][i];
                offset[d][k][i] = (OFFSET)(index < 0 ? 0 : index) * stride;
            }
    }
    FOR_TAPS (dims, taps)
        for (uint32_t i = 0; i < BLOCK; i++)
            offsets[k][i] = offset[0][x][i] + (dims > 1 ? offset[1][y][i] : 0) + (dims > 2 ? offset[2][z][i] : 0);
}

INLINE void NAME(find_outside)(struct NAME(block) *block, const uint32_t dims, const uint32_t taps)
{
    const struct NAME(axis) *axis = block->axis;
    int32_t any = 0;
    for (uint32_t d = 0; d < dims; d++)
        for (uint32_t k = 0; k < taps; k++)
            for (uint32_t i = 0; i < BLOCK; i++)
                any |= axis[d].index[k][i];
    block->outsides = any < 0;
    if (!block->outsides)
        return;
    FOR_TAPS (dims, taps)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->outside[k][i] = (axis[0].index[x][i] | (dims > 1 ? axis[1].index[y][i] : 0) |
                                    (dims > 2 ? axis[2].index[z][i] : 0)) < 0;
}

/* Taps that add nothing: outside, of another part, of weight 0, after the last sample. */
INLINE void NAME(skip_gradients)(struct NAME(block) *block, uint32_t level, const uint32_t dims, const uint32_t taps)
{
    const blr_gradients_t *call = block->call;
    const struct blr_gradient_part *part = block->part;
    const uint32_t last = dims - 1;
    const uint64_t rows = call->levels[level].size[last];
    const int32_t low = (int32_t)(rows * part->slab / part->slabs), high = (int32_t)(rows * (part->slab + 1) / part->slabs);
    REAL(*const weight)[BLOCK] = block->is_backward_backward ? block->push : block->weight;
    int32_t any = block->count < BLOCK;
    FOR_TAPS (dims, taps) {
        const int32_t *restrict row = call->cubemap ? block->cube.row[k]
                                                    : block->axis[last].index[dims == 1 ? x : dims == 2 ? y : z];
        const REAL *restrict weights = weight[k];
        OFFSET *restrict offset = block->gradient.offset[k];
        int32_t skips[BLOCK];
        for (uint32_t i = 0; i < BLOCK; i++)
            skips[i] = (weights[i] == 0) | (row[i] < low) | (row[i] >= high);
        for (uint32_t i = 0; block->outsides && i < BLOCK; i++)
            skips[i] |= block->outside[k][i];
        for (uint32_t i = 0; i < BLOCK; i++)
            offset[i] = skips[i] ? SKIPPED : offset[i];
        for (uint32_t i = 0; i < BLOCK; i++)
            any |= skips[i];
    }
    block->skips = any != 0;
}

INLINE void NAME(weigh)(struct NAME(block) *block, const uint32_t dims, const uint32_t taps, const bool mixed)
{
    const struct NAME(axis) *axis = block->axis;
    FOR_TAPS (dims, taps)
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL u = axis[0].weight[x][i], v = dims > 1 ? axis[1].weight[y][i] : 1, w = dims > 2 ? axis[2].weight[z][i] : 1;
            block->weight[k][i] = mixed ? w * v * u * block->part_of[i] : w * v * u;
        }
}

/* The derivative of the weights along the cotangents of coordinates and level. */
INLINE void NAME(weigh_push)(struct NAME(block) *block, const uint32_t dims, const uint32_t taps)
{
    const struct NAME(axis) *axis = block->axis;
    FOR_TAPS (dims, taps)
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL u = axis[0].weight[x][i], v = dims > 1 ? axis[1].weight[y][i] : 1, w = dims > 2 ? axis[2].weight[z][i] : 1;
            REAL along = block->cot[0][i] * axis[0].slope[x][i] * v * w;
            along += dims > 1 ? block->cot[1][i] * u * axis[1].slope[y][i] * w : 0;
            along += dims > 2 ? block->cot[2][i] * u * v * axis[2].slope[z][i] : 0;
            block->push[k][i] = along * block->part_of[i] + block->cot_level[i] * block->gain[i] * (u * v * w);
        }
}

/* All that channels need of a level. Mixed: samples have parts of several levels. */
INLINE void NAME(begin_level)(struct NAME(block) *block, uint32_t level, const uint32_t dims, const uint32_t taps,
                              const bool mixed)
{
    const blr_gradients_t *call = block->call;
    const blr_gradient_level_t *arrays = &call->levels[level];
    for (uint32_t d = 0; d < dims; d++)
        NAME(begin_axis)(block, level, d, taps);
    for (uint32_t i = 0; (mixed || block->is_backward_backward) && i < BLOCK; i++) {
        const REAL from = mixed ? (REAL)level - block->low[i] : 0, rest = mixed ? block->rest[i] : 0;
        const REAL moves = mixed ? block->moves[i] : 0;
        block->part_of[i] = from == 0 ? 1 - rest : from == 1 ? rest : 0;
        block->gain[i] = from == 0 ? -moves : from == 1 ? moves : 0;
    }
    NAME(weigh)(block, dims, taps, mixed);
    block->outsides = false;
    if (call->cubemap)
        NAME(find_cube_texels)(taps, (int32_t)arrays->size[0], block->axis, &block->cube);
    else
        NAME(find_outside)(block, dims, taps);
    if (block->is_backward_backward) {
        for (uint32_t d = 0; d < dims; d++)
            for (uint32_t i = 0; i < BLOCK; i++)
                block->cot[d][i] = block->cot_position[d][i] * block->axis[d].chain[i];
        NAME(weigh_push)(block, dims, taps);
    }
    if (call->cubemap) {
        NAME(spread_corners)(&block->cube, block->weight);
        if (block->is_backward_backward)
            NAME(spread_corners)(&block->cube, block->push);
    }
    const blr_strided_t *of[3] = {&arrays->texels, &arrays->cotangents, &arrays->gradients};
    struct NAME(taps) *parts[3] = {&block->texel, &block->cotangent, &block->gradient};
    const bool is_used[3] = {block->texels, block->cotangents, block->gradients};
    for (int k = 0; k < 3; k++)
        if (is_used[k] && call->cubemap)
            NAME(combine_cube_offsets)(taps * taps, &block->cube, of[k]->strides, parts[k]->offset);
        else if (is_used[k])
            NAME(combine_offsets)(block, of[k], parts[k]->offset, dims, taps);
    if (block->gradients)
        NAME(skip_gradients)(block, level, dims, taps);
}
