/* Sums of a block over taps and channels, for one REAL and one type of TEXEL. Included by gradients_part.c for each.
 *
 * Textures whose channels are next to each other have loops over channels; others have loops over samples. */

/* ---------------------------------------------------------------- loops over samples */

/* Texels at offsets, which are valid also outside. Single loads are faster than gather instructions. */
INLINE void NAME(gather)(const TEXEL *from, const OFFSET *restrict offset, const int32_t *restrict outside, const bool outsides,
                         REAL fill, REAL *restrict texel)
{
    _Alignas(64) TEXEL element[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        element[i] = from[offset[i]];
    for (uint32_t i = 0; i < BLOCK; i++)
        texel[i] = outsides && outside[i] ? fill : DECODE(element[i]);
}

/* value += weight * texel, in one channel. */
INLINE void NAME(add_texels)(const uint32_t all, const TEXEL *restrict from, const struct NAME(taps) *restrict taps,
                             const int32_t (*restrict outside)[BLOCK], const bool outsides, REAL fill,
                             const REAL (*restrict weight)[BLOCK], REAL *restrict value)
{
    _Alignas(64) REAL sum[BLOCK], texel[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        sum[i] = value[i];
    for (uint32_t k = 0; k < all; k++) {
        NAME(gather)(from, taps->offset[k], outside[k], outsides, fill, texel);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL product = weight[k][i] * texel[i];
            sum[i] += weight[k][i] != 0 ? product : 0;
        }
    }
    for (uint32_t i = 0; i < BLOCK; i++)
        value[i] = sum[i];
}

/* dot += gradient * texel, in one channel. */
INLINE void NAME(dot_texels)(const uint32_t all, const TEXEL *restrict from, const struct NAME(taps) *restrict taps,
                             const int32_t (*restrict outside)[BLOCK], const bool outsides, REAL fill,
                             const REAL *restrict gradient, REAL (*restrict dot)[BLOCK])
{
    _Alignas(64) REAL texel[BLOCK];
    for (uint32_t k = 0; k < all; k++) {
        NAME(gather)(from, taps->offset[k], outside[k], outsides, fill, texel);
        for (uint32_t i = 0; i < BLOCK; i++)
            dot[k][i] += gradient[i] * texel[i];
    }
}

/* Adds weight * gradient to the gradients of texels, sample by sample. */
INLINE void NAME(scatter)(const uint32_t all, const struct NAME(block) *block, REAL *restrict to,
                          const REAL (*restrict weight)[BLOCK], const REAL *restrict gradient)
{
    _Alignas(64) REAL product[64][BLOCK];
    for (uint32_t k = 0; k < all; k++)
        for (uint32_t i = 0; i < BLOCK; i++)
            product[k][i] = weight[k][i] * gradient[i];
    if (!block->skips) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            UNROLLED
            for (uint32_t k = 0; k < all; k++)
                to[block->gradient.offset[k][i]] += product[k][i];
        }
        return;
    }
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < all; k++)
            if (block->gradient.offset[k][i] != SKIPPED)
                to[block->gradient.offset[k][i]] += product[k][i];
}

INLINE void NAME(run_planes)(struct NAME(block) *block, const TEXEL *texels, const TEXEL *cotangents, REAL *gradients,
                             const blr_gradient_level_t *arrays, uint32_t channel, uint32_t channels, const uint32_t all,
                             const bool outsides)
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
                NAME(add_texels)(all, from, &block->texel, outside, outsides, fill, weight, value);
            else
                NAME(dot_texels)(all, from, &block->texel, outside, outsides, fill, gradient, block->dot);
            if (block->is_backward_backward)
                NAME(add_texels)(all, from, &block->texel, outside, outsides, fill, push, value);
        }
        if (cotangents != NULL) {
            const TEXEL *from = cotangents + at * arrays->cotangents.strides[0];
            NAME(add_texels)(all, from, &block->cotangent, outside, outsides, 0, weight, value);
            NAME(dot_texels)(all, from, &block->cotangent, outside, outsides, 0, gradient, block->cot_dot);
        }
        if (gradients != NULL)
            NAME(scatter)(all, block, gradients + at * arrays->gradients.strides[0],
                          block->is_backward_backward ? push : weight, gradient);
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
                                 const TEXEL *beyond, const REAL (*weight)[BLOCK], REAL (*dot)[BLOCK], const uint32_t all)
{
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < all; k++) {
            const TEXEL *row = block->outsides && block->outside[k][i] ? beyond : from + taps->offset[k][i];
            if (weight != NULL && weight[k][i] != 0)
                NAME(add_row)(row, weight[k][i], channels, block->row[i]);
            if (dot != NULL)
                dot[k][i] += NAME(dot_row)(row, block->grad_row[i], channels);
        }
}

static void NAME(run_rows)(struct NAME(block) *block, const TEXEL *texels, const TEXEL *cotangents, REAL *gradients,
                           const blr_gradient_level_t *arrays, uint32_t channel, uint32_t channels, uint32_t all)
{
    const REAL(*weight)[BLOCK] = (const REAL(*)[BLOCK])block->weight, (*push)[BLOCK] = (const REAL(*)[BLOCK])block->push;
    TEXEL beyond[CHUNK], zeros[CHUNK];
    for (uint32_t c = 0; c < CHUNK; c++)
        beyond[c] = ENCODE(block->call->fill), zeros[c] = ENCODE(0.0);
    if (texels != NULL) {
        const TEXEL *from = texels + channel * arrays->texels.strides[0];
        if (!block->dots)
            NAME(run_texel_rows)(block, from, &block->texel, channels, beyond, weight, NULL, all);
        else if (block->is_backward_backward)
            NAME(run_texel_rows)(block, from, &block->texel, channels, beyond, push, block->dot, all);
        else
            NAME(run_texel_rows)(block, from, &block->texel, channels, beyond, NULL, block->dot, all);
    }
    if (cotangents != NULL)
        NAME(run_texel_rows)(block, cotangents + channel * arrays->cotangents.strides[0], &block->cotangent, channels, zeros,
                             weight, block->cot_dot, all);
    if (gradients == NULL)
        return;
    REAL *to = gradients + channel * arrays->gradients.strides[0];
    const REAL(*scattered)[BLOCK] = block->is_backward_backward ? push : weight;
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < all; k++)
            if (block->gradient.offset[k][i] != SKIPPED)
                NAME(scatter_row)(block->grad_row[i], scattered[k][i], channels, to + block->gradient.offset[k][i]);
}

/* ---------------------------------------------------------------- derivatives of weights */

/* The gradients of positions and level, from the sums over channels. */
INLINE void NAME(contract)(struct NAME(block) *block, const uint32_t dims, const uint32_t taps, const bool mixed)
{
    const struct NAME(axis) *axis = block->axis;
    _Alignas(64) REAL grad[3][BLOCK] = {{0}}, grad_level[BLOCK] = {0};
    FOR_TAPS (dims, taps)
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL u = axis[0].weight[x][i], v = dims > 1 ? axis[1].weight[y][i] : 1, w = dims > 2 ? axis[2].weight[z][i] : 1;
            const REAL q = block->dot[k][i], p = mixed ? block->part_of[i] : 1;
            const REAL du = axis[0].slope[x][i] * v * w * p, dv = dims > 1 ? u * axis[1].slope[y][i] * w * p : 0;
            const REAL dw = dims > 2 ? u * v * axis[2].slope[z][i] * p : 0, gain = mixed ? u * v * w * block->gain[i] : 0;
            const REAL qu = du * q, qv = dv * q, qw = dw * q, ql = gain * q;
            grad[0][i] += du != 0 ? qu : 0;
            grad[1][i] += dv != 0 ? qv : 0;
            grad[2][i] += dw != 0 ? qw : 0;
            grad_level[i] += gain != 0 ? ql : 0;
        }
    for (uint32_t d = 0; d < dims; d++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->grad_position[d][i] += grad[d][i] * block->axis[d].chain[i];
    for (uint32_t i = 0; i < BLOCK; i++)
        block->grad_level[i] += grad_level[i];
}

/* The same for BACKWARD_BACKWARD. */
INLINE void NAME(contract_twice)(struct NAME(block) *block, const uint32_t dims, const uint32_t taps)
{
    const struct NAME(axis) *axis = block->axis;
    _Alignas(64) REAL grad[3][BLOCK] = {{0}}, first[2][BLOCK] = {{0}}; /* and BACKWARD's gradients */
    FOR_TAPS (dims, taps)
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL u = axis[0].weight[x][i], v = dims > 1 ? axis[1].weight[y][i] : 1, w = dims > 2 ? axis[2].weight[z][i] : 1;
            const REAL su = axis[0].slope[x][i], sv = dims > 1 ? axis[1].slope[y][i] : 0, sw = dims > 2 ? axis[2].slope[z][i] : 0;
            const REAL cu = axis[0].curve[x][i], cv = dims > 1 ? axis[1].curve[y][i] : 0, cw = dims > 2 ? axis[2].curve[z][i] : 0;
            const REAL a = block->cot[0][i], b = dims > 1 ? block->cot[1][i] : 0, c = dims > 2 ? block->cot[2][i] : 0;
            const REAL p = block->part_of[i], g = block->gain[i], h = block->cot_level[i] * g;
            const REAL q = block->dot[k][i], r = block->cot_dot[k][i];
            const REAL du = su * v * w, dv = u * sv * w, dw = u * v * sw, whole = g * u * v * w;
            const REAL along = g * (a * du + b * dv + c * dw); /* derivative of the weights along the cotangents */
            const REAL of_u = p * (a * cu * v * w + b * su * sv * w + c * su * v * sw) + h * du;
            const REAL of_v = p * (a * su * sv * w + b * u * cv * w + c * u * sv * sw) + h * dv;
            const REAL of_w = p * (a * su * v * sw + b * u * sv * sw + c * u * v * cw) + h * dw;
            grad[0][i] += (of_u != 0 ? of_u * q : 0) + (p * du != 0 ? p * du * r : 0);
            grad[1][i] += (of_v != 0 ? of_v * q : 0) + (p * dv != 0 ? p * dv * r : 0);
            grad[2][i] += (of_w != 0 ? of_w * q : 0) + (p * dw != 0 ? p * dw * r : 0);
            first[0][i] += p * du != 0 ? p * du * q : 0;
            first[1][i] += p * dv != 0 ? p * dv * q : 0;
            block->grad_level[i] += (along != 0 ? along * q : 0) + (whole != 0 ? whole * r : 0);
        }
    for (uint32_t d = 0; d < dims; d++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->grad_position[d][i] += grad[d][i] * block->axis[d].chain[i];
    for (uint32_t d = 0; block->call->cubemap && d < 2; d++)
        for (uint32_t i = 0; i < BLOCK; i++)
            block->cube.first[d][i] += first[d][i] * block->axis[d].chain[i];
}

/* ---------------------------------------------------------------- blocks */

INLINE void NAME(run_level)(struct NAME(block) *block, uint32_t level, uint32_t channel, uint32_t channels, bool rows,
                            const uint32_t dims, const uint32_t taps, const bool mixed)
{
    const blr_gradients_t *call = block->call;
    const blr_gradient_level_t *arrays = &call->levels[level];
    const int64_t texture = (int64_t)block->part->texture;
    const uint32_t all = NAME(all_taps)(dims, taps);
    const TEXEL *texels = !block->texels ? NULL : (const TEXEL *)arrays->texels.first + texture * arrays->texels.strides[4];
    const TEXEL *cotangents =
        !block->cotangents ? NULL : (const TEXEL *)arrays->cotangents.first + texture * arrays->cotangents.strides[4];
    REAL *gradients = !block->gradients ? NULL : (REAL *)arrays->gradients.first + texture * arrays->gradients.strides[4];
    if (block->dots)
        memset(block->dot, 0, all * sizeof block->dot[0]);
    if (block->dots && block->is_backward_backward)
        memset(block->cot_dot, 0, all * sizeof block->cot_dot[0]);
    if (rows)
        NAME(run_rows)(block, texels, cotangents, gradients, arrays, channel, channels, all);
    else if (block->outsides)
        NAME(run_planes)(block, texels, cotangents, gradients, arrays, channel, channels, all, true);
    else
        NAME(run_planes)(block, texels, cotangents, gradients, arrays, channel, channels, all, false);
    if (!block->dots)
        return;
    if (call->cubemap)
        NAME(complete_corners)(&block->cube, block->dot);
    if (call->cubemap && block->is_backward_backward)
        NAME(complete_corners)(&block->cube, block->cot_dot);
    if (block->is_backward_backward)
        NAME(contract_twice)(block, dims, taps);
    else
        NAME(contract)(block, dims, taps, mixed);
}

INLINE void NAME(run_block)(struct NAME(block) *block, const uint32_t dims, const uint32_t taps, const bool mixed)
{
    const blr_gradients_t *call = block->call;
    const bool is_forward = call->operation == BLR_GRADIENT_FORWARD, gathers = block->part->gathers;
    const blr_strided_t *results = is_forward ? &call->values : &call->grad_grad_values;
    const bool has_values = gathers && results->first != NULL && call->operation != BLR_GRADIENT_BACKWARD;
    const bool rows = call->channels >= 4 && call->levels[0].texels.strides[0] == 1 &&
                      (!block->gradients || call->levels[0].gradients.strides[0] == 1) &&
                      (!block->cotangents || call->levels[0].cotangents.strides[0] == 1);
    if (mixed)
        NAME(find_levels)(block);
    else
        block->used = 1;
    NAME(load_positions)(block);
    for (uint32_t channel = 0, channels; channel < call->channels; channel += channels) {
        channels = call->channels - channel < CHUNK ? call->channels - channel : CHUNK;
        if (!is_forward)
            NAME(load_values)(block, &call->grad_values, channel, channels, rows);
        if (has_values && rows)
            memset(block->row, 0, sizeof block->row);
        else if (has_values)
            memset(block->value, 0, channels * sizeof block->value[0]);
        for (uint32_t level = 0; level < (mixed ? call->num_levels : 1); level++) {
            if (!(block->used >> level & 1))
                continue;
            if (channel == 0 || (block->used & (block->used - 1)) != 0)
                NAME(begin_level)(block, level, dims, taps, mixed);
            NAME(run_level)(block, level, channel, channels, rows, dims, taps, mixed);
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

/* The most frequent kinds of textures have code of their own. */
#ifdef FREQUENT
static void NAME(run_two_linear)(struct NAME(block) *block) { NAME(run_block)(block, 2, 2, false); }
static void NAME(run_three_linear)(struct NAME(block) *block) { NAME(run_block)(block, 3, 2, false); }
#endif
static void NAME(run_any)(struct NAME(block) *block)
{
    NAME(run_block)(block, block->call->dimensions, bindless_taps(block->call->interpolation), true);
}

static void NAME(run)(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct NAME(block) block;
    block.call = call;
    block.part = part;
    block.is_backward_backward = call->operation == BLR_GRADIENT_BACKWARD_BACKWARD;
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
    void (*run_block)(struct NAME(block) *) = NAME(run_any);
#ifdef FREQUENT
    if (bindless_taps(call->interpolation) == 2 && call->num_levels == 1 && !call->cubemap && call->dimensions > 1)
        run_block = call->dimensions == 2 ? NAME(run_two_linear) : NAME(run_three_linear);
#endif
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        run_block(&block);
    }
}
