/* Sums of a block over taps and channels, for one REAL and one type of TEXEL. Included by gradients_part.c for each.
 *
 * Textures whose channels are next to each other have loops over channels; others have loops over samples. */

/* ---------------------------------------------------------------- loops over samples */

INLINE REAL NAME(texel_of)(const TEXEL *from, int64_t offset, int32_t outside, REAL fill)
{
    return outside ? fill : DECODE(from[offset]);
}

/* value += weight * texel, in one channel. */
INLINE void NAME(add_texels)(uint32_t all, const TEXEL *from, const struct NAME(taps) *taps,
                             const int32_t (*restrict outside)[BLOCK], REAL fill, const REAL (*restrict weight)[BLOCK],
                             REAL *restrict value)
{
    REAL sum[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        sum[i] = value[i];
    for (uint32_t k = 0; k < all; k++)
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL w = weight[k][i], t = NAME(texel_of)(from, taps->offset[k][i], outside[k][i], fill);
            sum[i] += w != 0 ? w * t : 0;
        }
    for (uint32_t i = 0; i < BLOCK; i++)
        value[i] = sum[i];
}

/* dot += gradient * texel, in one channel; with push, value += push * texel too. */
INLINE void NAME(dot_texels)(uint32_t all, const TEXEL *from, const struct NAME(taps) *taps,
                             const int32_t (*restrict outside)[BLOCK], REAL fill, const REAL *restrict gradient,
                             REAL (*restrict dot)[BLOCK], const REAL (*restrict push)[BLOCK], REAL *restrict value)
{
    for (uint32_t k = 0; k < all; k++)
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL t = NAME(texel_of)(from, taps->offset[k][i], outside[k][i], fill);
            dot[k][i] += gradient[i] * t;
            if (push != NULL)
                value[i] += push[k][i] != 0 ? push[k][i] * t : 0;
        }
}

/* Adds weight * gradient to the gradients of texels, sample by sample. */
static void NAME(scatter)(const struct NAME(block) *block, REAL *to, const REAL (*weight)[BLOCK], const REAL *gradient)
{
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < block->all; k++) {
            const int64_t offset = block->gradient.offset[k][i];
            if (offset != SKIPPED)
                to[offset] += weight[k][i] * gradient[i];
        }
}

static void NAME(run_planes)(struct NAME(block) *block, const TEXEL *texels, const TEXEL *cotangents, REAL *gradients,
                             const blr_gradient_level_t *arrays, uint32_t channel, uint32_t channels)
{
    const REAL fill = (REAL)block->call->fill;
    const REAL(*weight)[BLOCK] = (const REAL(*)[BLOCK])block->weight, (*push)[BLOCK] = (const REAL(*)[BLOCK])block->push;
    const int32_t(*outside)[BLOCK] = (const int32_t(*)[BLOCK])block->outside;
    for (uint32_t c = 0; c < channels; c++) {
        const int64_t at = channel + c;
        const REAL *gradient = block->grad_value[c];
        REAL *value = block->value[c];
        if (texels != NULL) {
            const TEXEL *from = texels + at * arrays->texels.strides[0];
            if (!block->dots)
                NAME(add_texels)(block->all, from, &block->texel, outside, fill, weight, value);
            else if (block->is_backward_backward)
                NAME(dot_texels)(block->all, from, &block->texel, outside, fill, gradient, block->dot, push, value);
            else
                NAME(dot_texels)(block->all, from, &block->texel, outside, fill, gradient, block->dot, NULL, value);
        }
        if (cotangents != NULL) {
            const TEXEL *from = cotangents + at * arrays->cotangents.strides[0];
            NAME(add_texels)(block->all, from, &block->cotangent, outside, 0, weight, value);
            NAME(dot_texels)(block->all, from, &block->cotangent, outside, 0, gradient, block->cot_dot, NULL, value);
        }
        if (gradients != NULL)
            NAME(scatter)(block, gradients + at * arrays->gradients.strides[0], block->is_backward_backward ? push : weight,
                          gradient);
    }
}

/* ---------------------------------------------------------------- loops over channels */

INLINE void NAME(add_row)(const TEXEL *restrict from, REAL weight, uint32_t channels, REAL *restrict value)
{
    for (uint32_t c = 0; c < channels; c++)
        value[c] += weight * DECODE(from[c]);
}

INLINE REAL NAME(dot_row)(const TEXEL *restrict from, const REAL *restrict gradient, uint32_t channels)
{
    REAL sums[LANES] = {0}, sum = 0;
    uint32_t c = 0;
    for (; c + LANES <= channels; c += LANES)
        for (uint32_t i = 0; i < LANES; i++)
            sums[i] += gradient[c + i] * DECODE(from[c + i]);
    for (uint32_t i = 0; c + i < channels; i++)
        sums[i] += gradient[c + i] * DECODE(from[c + i]);
    for (uint32_t i = 0; i < LANES; i++)
        sum += sums[i];
    return sum;
}

INLINE void NAME(scatter_row)(const REAL *restrict gradient, REAL weight, uint32_t channels, REAL *restrict to)
{
    for (uint32_t c = 0; c < channels; c++)
        to[c] += weight * gradient[c];
}

/* One array over texels: value += weight * texel, and dot += gradient * texel. */
INLINE void NAME(run_texel_rows)(struct NAME(block) *block, const TEXEL *from, const struct NAME(taps) *taps, uint32_t channels,
                                 const TEXEL *beyond, const REAL (*weight)[BLOCK], REAL (*dot)[BLOCK])
{
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < block->all; k++) {
            const TEXEL *row = block->outside[k][i] ? beyond : from + taps->offset[k][i];
            if (weight != NULL && weight[k][i] != 0)
                NAME(add_row)(row, weight[k][i], channels, block->row[i]);
            if (dot != NULL)
                dot[k][i] += NAME(dot_row)(row, block->grad_row[i], channels);
        }
}

static void NAME(run_rows)(struct NAME(block) *block, const TEXEL *texels, const TEXEL *cotangents, REAL *gradients,
                           const blr_gradient_level_t *arrays, uint32_t channel, uint32_t channels)
{
    const REAL(*weight)[BLOCK] = (const REAL(*)[BLOCK])block->weight, (*push)[BLOCK] = (const REAL(*)[BLOCK])block->push;
    TEXEL beyond[CHUNK], zeros[CHUNK];
    for (uint32_t c = 0; c < CHUNK; c++)
        beyond[c] = ENCODE(block->call->fill), zeros[c] = ENCODE(0.0);
    if (texels != NULL) {
        const TEXEL *from = texels + channel * arrays->texels.strides[0];
        if (!block->dots)
            NAME(run_texel_rows)(block, from, &block->texel, channels, beyond, weight, NULL);
        else if (block->is_backward_backward)
            NAME(run_texel_rows)(block, from, &block->texel, channels, beyond, push, block->dot);
        else
            NAME(run_texel_rows)(block, from, &block->texel, channels, beyond, NULL, block->dot);
    }
    if (cotangents != NULL)
        NAME(run_texel_rows)(block, cotangents + channel * arrays->cotangents.strides[0], &block->cotangent, channels, zeros,
                             weight, block->cot_dot);
    if (gradients == NULL)
        return;
    REAL *to = gradients + channel * arrays->gradients.strides[0];
    const REAL(*scattered)[BLOCK] = block->is_backward_backward ? push : weight;
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < block->all; k++)
            if (block->gradient.offset[k][i] != SKIPPED)
                NAME(scatter_row)(block->grad_row[i], scattered[k][i], channels, to + block->gradient.offset[k][i]);
}

/* ---------------------------------------------------------------- derivatives of weights */

/* The gradients of positions and level, from the sums over channels. */
static void NAME(contract)(struct NAME(block) *block)
{
    const struct NAME(axis) *axis = block->axis;
    _Alignas(64) REAL grad[3][BLOCK] = {{0}};
    for (uint32_t z = 0, k = 0; z < block->taps[2]; z++)
        for (uint32_t y = 0; y < block->taps[1]; y++)
            for (uint32_t x = 0; x < block->taps[0]; x++, k++)
                for (uint32_t i = 0; i < BLOCK; i++) {
                    const REAL u = axis[0].weight[x][i], v = axis[1].weight[y][i], w = axis[2].weight[z][i];
                    const REAL q = block->dot[k][i], p = block->part_of[i];
                    const REAL du = axis[0].slope[x][i] * v * w, dv = u * axis[1].slope[y][i] * w, dw = u * v * axis[2].slope[z][i];
                    const REAL whole = u * v * w;
                    grad[0][i] += du != 0 && p != 0 ? du * p * q : 0;
                    grad[1][i] += dv != 0 && p != 0 ? dv * p * q : 0;
                    grad[2][i] += dw != 0 && p != 0 ? dw * p * q : 0;
                    block->grad_level[i] += whole != 0 && block->gain[i] != 0 ? whole * block->gain[i] * q : 0;
                }
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->grad_position[d][i] += grad[d][i] * block->axis[d].chain[i];
}

/* The same for BACKWARD_BACKWARD. */
static void NAME(contract_twice)(struct NAME(block) *block)
{
    const struct NAME(axis) *axis = block->axis;
    _Alignas(64) REAL grad[3][BLOCK] = {{0}}, first[2][BLOCK] = {{0}}; /* and BACKWARD's gradients */
    for (uint32_t z = 0, k = 0; z < block->taps[2]; z++)
        for (uint32_t y = 0; y < block->taps[1]; y++)
            for (uint32_t x = 0; x < block->taps[0]; x++, k++)
                for (uint32_t i = 0; i < BLOCK; i++) {
                    const REAL u = axis[0].weight[x][i], v = axis[1].weight[y][i], w = axis[2].weight[z][i];
                    const REAL su = axis[0].slope[x][i], sv = axis[1].slope[y][i], sw = axis[2].slope[z][i];
                    const REAL a = block->cot[0][i], b = block->cot[1][i], c = block->cot[2][i];
                    const REAL p = block->part_of[i], g = block->gain[i], h = block->cot_level[i] * g;
                    const REAL q = block->dot[k][i], r = block->cot_dot[k][i];
                    const REAL du = su * v * w, dv = u * sv * w, dw = u * v * sw;
                    const REAL along = a * du + b * dv + c * dw; /* the weights' derivative along the cotangents */
                    const REAL of_u = p * (a * axis[0].curve[x][i] * v * w + b * su * sv * w + c * su * v * sw) + h * du;
                    const REAL of_v = p * (a * su * sv * w + b * u * axis[1].curve[y][i] * w + c * u * sv * sw) + h * dv;
                    const REAL of_w = p * (a * su * v * sw + b * u * sv * sw + c * u * v * axis[2].curve[z][i]) + h * dw;
                    grad[0][i] += (of_u != 0 ? of_u * q : 0) + (p * du != 0 ? p * du * r : 0);
                    grad[1][i] += (of_v != 0 ? of_v * q : 0) + (p * dv != 0 ? p * dv * r : 0);
                    grad[2][i] += (of_w != 0 ? of_w * q : 0) + (p * dw != 0 ? p * dw * r : 0);
                    first[0][i] += p * du != 0 ? p * du * q : 0;
                    first[1][i] += p * dv != 0 ? p * dv * q : 0;
                    block->grad_level[i] += (g * along != 0 ? g * along * q : 0) + (g * u * v * w != 0 ? g * u * v * w * r : 0);
                }
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->grad_position[d][i] += grad[d][i] * block->axis[d].chain[i];
    for (uint32_t d = 0; block->call->cubemap && d < 2; d++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->cube.first[d][i] += first[d][i] * block->axis[d].chain[i];
}

/* ---------------------------------------------------------------- blocks */

static void NAME(run_level)(struct NAME(block) *block, uint32_t level, uint32_t channel, uint32_t channels, bool rows)
{
    const blr_gradients_t *call = block->call;
    const blr_gradient_level_t *arrays = &call->levels[level];
    const int64_t texture = (int64_t)block->part->texture;
    const TEXEL *texels = !block->texels ? NULL : (const TEXEL *)arrays->texels.first + texture * arrays->texels.strides[4];
    const TEXEL *cotangents =
        !block->cotangents ? NULL : (const TEXEL *)arrays->cotangents.first + texture * arrays->cotangents.strides[4];
    REAL *gradients = !block->gradients ? NULL : (REAL *)arrays->gradients.first + texture * arrays->gradients.strides[4];
    for (uint32_t k = 0; block->dots && k < block->all; k++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->dot[k][i] = block->cot_dot[k][i] = 0;
    if (rows)
        NAME(run_rows)(block, texels, cotangents, gradients, arrays, channel, channels);
    else
        NAME(run_planes)(block, texels, cotangents, gradients, arrays, channel, channels);
    if (!block->dots)
        return;
    if (call->cubemap) {
        NAME(complete_corners)(&block->cube, block->dot);
        NAME(complete_corners)(&block->cube, block->cot_dot);
    }
    if (block->is_backward_backward)
        NAME(contract_twice)(block);
    else
        NAME(contract)(block);
}

static void NAME(run_block)(struct NAME(block) *block)
{
    const blr_gradients_t *call = block->call;
    const bool is_forward = call->operation == BLR_GRADIENT_FORWARD, gathers = block->part->gathers;
    const blr_strided_t *results = is_forward ? &call->values : &call->grad_grad_values;
    const bool has_values = gathers && results->first != NULL && call->operation != BLR_GRADIENT_BACKWARD;
    const bool rows = call->channels >= 4 && call->levels[0].texels.strides[0] == 1 &&
                      (!block->gradients || call->levels[0].gradients.strides[0] == 1) &&
                      (!block->cotangents || call->levels[0].cotangents.strides[0] == 1);
    NAME(find_levels)(block);
    NAME(load_positions)(block);
    for (uint32_t channel = 0, channels; channel < call->channels; channel += channels) {
        channels = call->channels - channel < CHUNK ? call->channels - channel : CHUNK;
        if (!is_forward)
            NAME(load_values)(block, &call->grad_values, channel, channels, rows);
        if (has_values && rows)
            memset(block->row, 0, sizeof block->row);
        else if (has_values)
            memset(block->value, 0, channels * sizeof block->value[0]);
        for (uint32_t level = 0; level < call->num_levels; level++) {
            if (!(block->used >> level & 1))
                continue;
            if (channel == 0 || (block->used & (block->used - 1)) != 0)
                NAME(begin_level)(block, level);
            NAME(run_level)(block, level, channel, channels, rows);
        }
        if (has_values)
            NAME(store_values)(block, results, channel, channels, rows);
    }
    if (!gathers || is_forward)
        return;
    if (call->cubemap)
        NAME(finish_cube)(&block->cube, block->grad_position);
    const blr_strided_t *to = &call->grad_coordinates, *to_level = &call->grad_level;
    for (uint32_t d = 0; to->first != NULL && d < (call->cubemap ? 3 : call->dimensions); d++) {
        const REAL scale = call->cubemap ? 1 : (REAL)call->scale[d];
        for (uint32_t i = 0; i < BLOCK; i++)
            block->grad_position[d][i] *= scale;
        NAME(store_reals)(block, to, NAME(offset_of)(block, to, d), to->strides[1], block->grad_position[d]);
    }
    if (to_level->first != NULL)
        NAME(store_reals)(block, to_level, (int64_t)block->first * to_level->strides[0] +
                          (int64_t)block->part->texture * to_level->strides[1], to_level->strides[0], block->grad_level);
}

static void NAME(run)(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct NAME(block) block;
    const uint32_t taps = blr_gradient_taps(call);
    block.call = call;
    block.part = part;
    block.is_backward_backward = call->operation == BLR_GRADIENT_BACKWARD_BACKWARD;
    block.all = 1;
    for (uint32_t d = 0; d < 3; d++)
        block.all *= block.taps[d] = d < call->dimensions ? taps : 1;
    const bool wants_places = part->gathers && (call->grad_coordinates.first != NULL || call->grad_level.first != NULL);
    const bool wants_values = part->gathers && call->grad_grad_values.first != NULL;
    block.dots = call->operation == BLR_GRADIENT_BACKWARD ? wants_places
                 : block.is_backward_backward             ? wants_places || wants_values
                                                          : false;
    block.texels = call->operation == BLR_GRADIENT_FORWARD || block.dots;
    block.cotangents = block.is_backward_backward && block.dots && call->levels[0].cotangents.first != NULL;
    block.gradients = part->scatters;
    memset(block.value, 0, sizeof block.value);
    memset(block.grad_value, 0, sizeof block.grad_value);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        NAME(run_block)(&block);
    }
}

/* The slabs of the rows from low to high of an axis of n texels. */
INLINE uint64_t NAME(slabs_between)(int32_t low, int32_t high, uint64_t n, uint32_t slabs)
{
    const uint64_t from = (((uint64_t)low + 1) * slabs - 1) / n, to = (((uint64_t)high + 1) * slabs - 1) / n;
    return (to >= 63 ? UINT64_MAX : ((uint64_t)1 << (to + 1)) - 1) & ~(((uint64_t)1 << from) - 1);
}

static uint64_t NAME(find_slabs)(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct NAME(block) block;
    uint64_t found = 0;
    block.call = call;
    block.part = part;
    block.is_backward_backward = false;
    const uint32_t last = call->dimensions - 1, taps = blr_gradient_taps(call);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        NAME(find_levels)(&block);
        NAME(load_positions)(&block);
        for (uint32_t level = 0; level < call->num_levels; level++) {
            if (!(block.used >> level & 1))
                continue;
            NAME(begin_axis)(&block, level, last);
            for (uint32_t k = 0; k < taps; k++) {
                int32_t low = INT32_MAX, high = -1;
                for (uint32_t i = 0; i < block.count; i++) {
                    const int32_t index = block.axis[last].index[k][i];
                    low = index >= 0 && index < low ? index : low;
                    high = index > high ? index : high;
                }
                if (high >= 0)
                    found |= NAME(slabs_between)(low, high, call->levels[level].size[last], part->slabs);
            }
        }
    }
    return found != 0 ? found : 1;
}
