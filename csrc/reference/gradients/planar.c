/* Linear samples of planar pictures of floats, and their first derivatives: a frequent call, whose numbers stay in vector
 * registers. Compiled for each instruction set; results are bit-identical, and values those of gradients_part.c.
 *
 * Gradients of texels are added up in the order of the blocks of samples; in a block, every STEP samples one is added
 * first, then the ones after those. A sample adds to texels of the one before, and would wait for its sums. */
#include "gradients/gradients.h"

#if BLR_HAS_PLANAR

#include "gradients/planar_block.h"

#define STEP 8u                           /* samples between additions */
#define ROW 16u                           /* channels of a row that are added together */

/* ---------------------------------------------------------------- one channel */

/* Weights of the columns and rows, and of the taps. */
struct weights {
    reals column[2], row[2], tap[4];
};

INLINE struct weights weights_at(const struct block *block, uint32_t i)
{
    struct weights result;
    result.column[1] = load(block->rest[0] + i);
    result.row[1] = load(block->rest[1] + i);
    result.column[0] = 1 - result.column[1];
    result.row[0] = 1 - result.row[1];
    for (int k = 0; k < 4; k++)
        result.tap[k] = result.row[k / 2] * result.column[k % 2];
    return result;
}

INLINE reals gather(const float *restrict from, integers offset)
{
#if defined(__AVX512F__)
    return (reals)_mm512_i32gather_ps((__m512i)offset, from, 4);
#elif defined(__AVX2__)
    return (reals)_mm256_i32gather_ps(from, (__m256i)offset, 4);
#else
    return (reals){from[offset[0]], from[offset[1]], from[offset[2]], from[offset[3]]};
#endif
}

/* Two neighbours in memory. */
INLINE double pair_at(const float *restrict from, int32_t offset)
{
    double pair;
    memcpy(&pair, from + offset, sizeof pair);
    return pair;
}

INLINE reals pairs_at(const float *restrict from, const int32_t *restrict offset)
{
#define AT(lane) pair_at(from, offset[lane])
#if WIDTH == 16
    return (reals)(pairs){AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7)};
#elif WIDTH == 8
    return (reals)(pairs){AT(0), AT(1), AT(2), AT(3)};
#else
    return (reals)(pairs){AT(0), AT(1)};
#endif
#undef AT
}

/* The taps of WIDTH samples: pairs where all those of a row are neighbours in memory. */
INLINE void load_taps(const struct block *block, const float *restrict from, uint32_t i, const bool outsides, reals value[4])
{
    const struct taps *taps = &block->texel;
    const integers right = load_integers(taps->right + i);
    const bool are_pairs = !any(right != 1);
    for (int row = 0; row < 2; row++)
        if (are_pairs) {
            const reals a = pairs_at(from, taps->row[row] + i), b = pairs_at(from, taps->row[row] + i + WIDTH / 2);
            value[2 * row] = SHUFFLE(a, b, EVEN);
            value[2 * row + 1] = SHUFFLE(a, b, ODD);
        } else {
            const integers offset = load_integers(taps->row[row] + i);
            value[2 * row] = gather(from, offset);
            value[2 * row + 1] = gather(from, offset + right);
        }
    for (int k = 0; k < 4 && outsides; k++)
        value[k] = choose((load_integers(block->flags + i) & OUTSIDE(k)) != 0, (reals){0} + block->fill, value[k]);
}

INLINE void sum_texels(const struct block *block, const float *restrict from, const bool outsides,
                       float *restrict values)
{
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const struct weights weights = weights_at(block, i);
        reals sum = {0}, texel[4];
        load_taps(block, from, i, outsides, texel);
        for (int k = 0; k < 4; k++)
            sum += apply_weight(weights.tap[k], weights.tap[k] * texel[k]);
        store(values + i, sum);
    }
}

/* Derivatives of a channel's values by the position, times the gradients of the values. */
INLINE void sum_slopes(struct block *block, const float *restrict from, const bool outsides,
                       const float *restrict gradients, bool is_first)
{
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const struct weights weights = weights_at(block, i);
        const reals *u = weights.column, *v = weights.row, gradient = load(gradients + i);
        reals texel[4], along[2];
        load_taps(block, from, i, outsides, texel);
        along[0] = apply_weight(v[0], v[0] * (texel[1] - texel[0])) + apply_weight(v[1], v[1] * (texel[3] - texel[2]));
        along[1] = apply_weight(u[0], u[0] * (texel[2] - texel[0])) + apply_weight(u[1], u[1] * (texel[3] - texel[1]));
        for (uint32_t d = 0; d < 2; d++) {
            const reals sum = gradient * along[d];
            store(block->along[d] + i, is_first ? sum : load(block->along[d] + i) + sum);
        }
    }
}

/* Gradients of the values of a channel, and zeros after the last sample. */
INLINE const float *load_gradients(struct block *block, uint32_t channel)
{
    const blr_strided_t *array = &block->call->grad_values;
    const float *from = (const float *)array->first + start_of(block, array) + channel * array->strides[0];
    if (block->count == BLOCK && array->strides[1] == 1)
        return from;
    for (uint32_t i = 0; i < BLOCK; i++)
        block->values[i] = i < block->count ? from[(int64_t)i * array->strides[1]] : 0;
    return block->values;
}

/* Adds pairs of neighbours, whole rows of which are in this slab. */
INLINE void scatter_pairs(const struct block *block, const struct taps *taps, const float *restrict gradients,
                          float *restrict to)
{
    _Alignas(64) float both[2][2 * BLOCK];
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const struct weights weights = weights_at(block, i);
        reals product[4];
        for (int k = 0; k < 4; k++)
            product[k] = apply_weight(weights.tap[k], weights.tap[k] * load(gradients + i));
        for (int row = 0; row < 2; row++)
            store_both(both[row] + 2 * i, product[2 * row], product[2 * row + 1]);
    }
    for (uint32_t start = 0; start < STEP; start++)
        for (uint32_t i = start; i < BLOCK; i += STEP)
            for (int row = 0; row < 2; row++) {
                float *at = to + taps->row[row][i];
                pair sum, added;
                memcpy(&sum, at, sizeof sum);
                memcpy(&added, both[row] + 2 * i, sizeof added);
                sum += added;
                memcpy(at, &sum, sizeof sum);
            }
}

/* Adds the taps of this slab, in the same order; the others to numbers that nobody reads. Where slabs alternate, branches
 * would be unpredictable. */
INLINE void scatter_taps(const struct block *block, const struct taps *taps, const float *restrict gradients, float *to,
                         const bool alternate)
{
    _Alignas(64) float product[4][BLOCK];
    float unread[4][BLOCK] = {{0}};
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const struct weights weights = weights_at(block, i);
        for (int k = 0; k < 4; k++)
            store(product[k] + i, apply_weight(weights.tap[k], weights.tap[k] * load(gradients + i)));
    }
    for (uint32_t start = 0; start < STEP; start++)
        for (uint32_t i = start; i < block->count; i += STEP)
            for (int k = 0; k < 4; k++) {
                float *const at = to + taps->row[k / 2][i] + (k % 2 ? taps->right[i] : 0);
                float *const places[2] = {at, &unread[k][i]};
                const bool unwanted = (block->flags[i] & UNWANTED(k)) != 0;
                if (alternate)
                    *places[unwanted] += product[k][i];
                else if (!unwanted)
                    *at += product[k][i];
            }
}

INLINE void scatter(const struct block *block, const float *restrict gradients, float *to)
{
    const struct taps *taps = block->shares_offsets ? &block->texel : &block->gradient;
    if (block->neighbours && !block->outsides && !block->others && block->count == BLOCK &&
        block->call->levels[0].gradients.strides[1] == 1)
        scatter_pairs(block, taps, gradients, to);
    else if (block->others)
        scatter_taps(block, taps, gradients, to, true);
    else
        scatter_taps(block, taps, gradients, to, false);
}

/* Adds a weight times a row of channels. */
INLINE void add_row(float *restrict to, float weight, const float *restrict row, uint32_t channels)
{
    uint32_t c = 0;
    for (; c + WIDTH <= channels; c += WIDTH)
        store(to + c, load(to + c) + weight * load(row + c));
    for (; c + 4 <= channels; c += 4) {
        quad sum, added;
        memcpy(&sum, to + c, sizeof sum);
        memcpy(&added, row + c, sizeof added);
        sum += weight * added;
        memcpy(to + c, &sum, sizeof sum);
    }
    for (; c < channels; c++)
        to[c] += weight * row[c];
}

/* Adds channels that are next to each other in the gradients of texels, ROW of them at a time. */
static void scatter_rows(struct block *block, float *to)
{
    const uint32_t all = block->call->channels;
    const struct taps *taps = block->shares_offsets ? &block->texel : &block->gradient;
    _Alignas(64) float rows[BLOCK][ROW], weight[4][BLOCK];
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const struct weights weights = weights_at(block, i);
        for (int k = 0; k < 4; k++)
            store(weight[k] + i, weights.tap[k]);
    }
    for (uint32_t channel = 0; channel < all; channel += ROW) {
        const uint32_t channels = all - channel < ROW ? all - channel : ROW;
        for (uint32_t c = 0; c < channels; c++) {
            const float *from = load_gradients(block, channel + c);
            for (uint32_t i = 0; i < BLOCK; i++)
                rows[i][c] = from[i];
        }
        for (uint32_t start = 0; start < STEP; start++)
            for (uint32_t i = start; i < block->count; i += STEP)
                for (int k = 0; k < 4; k++)
                    if (!(block->flags[i] & UNWANTED(k)))
                        add_row(to + channel + taps->row[k / 2][i] + (k % 2 ? taps->right[i] : 0), weight[k][i], rows[i],
                                channels);
    }
}

/* ---------------------------------------------------------------- parts */

/* Gradients of coordinates, from the sums over channels. */
INLINE void store_coordinates(struct block *block)
{
    const blr_strided_t *to = &block->call->grad_coordinates;
    const bool packed = are_packed(block, to), borders = has_borders(block->call);
    float *first = (float *)to->first + start_of(block, to);
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        reals gradient[2];
        for (uint32_t d = 0; d < 2; d++) {
            gradient[d] = load(block->along[d] + i) * block->scale[d];
            if (!borders)
                gradient[d] *= load(block->chain[d] + i);
        }
        if (packed)
            store_both(first + 2 * i, gradient[0], gradient[1]);
        else
            for (uint32_t d = 0; d < 2; d++)
                store(block->along[d] + i, gradient[d]);
    }
    for (uint32_t i = 0; !packed && i < block->count; i++)
        for (uint32_t d = 0; d < 2; d++)
            first[d * to->strides[0] + (int64_t)i * to->strides[1]] = block->along[d][i];
}

INLINE void store_values(struct block *block, const float *restrict texels, uint32_t channel, const bool outsides)
{
    const blr_strided_t *array = &block->call->values;
    float *to = (float *)array->first + start_of(block, array) + channel * array->strides[0];
    if (block->count == BLOCK && array->strides[1] == 1) {
        sum_texels(block, texels, outsides, to);
        return;
    }
    sum_texels(block, texels, outsides, block->values);
    for (uint32_t i = 0; i < block->count; i++)
        to[(int64_t)i * array->strides[1]] = block->values[i];
}

/* Texels of all channels are read before gradients are added: planes often are at distances that share places of a cache. */
INLINE void run_channels(struct block *block, const bool outsides)
{
    const blr_gradients_t *call = block->call;
    const blr_strided_t *texels = &call->levels[0].texels, *gradients = &call->levels[0].gradients;
    const int64_t texture = (int64_t)block->part->texture;
    const float *from = (const float *)texels->first + texture * texels->strides[4];
    if (call->operation == BLR_GRADIENT_FORWARD) {
        for (uint32_t channel = 0; channel < call->channels; channel++)
            store_values(block, from + channel * texels->strides[0], channel, outsides);
        return;
    }
    if (block->part->gathers && call->grad_coordinates.first != NULL) {
        for (uint32_t channel = 0; channel < call->channels; channel++)
            sum_slopes(block, from + channel * texels->strides[0], outsides, load_gradients(block, channel), channel == 0);
        store_coordinates(block);
    }
    float *to = !block->part->scatters ? NULL : (float *)gradients->first + texture * gradients->strides[4];
    if (to != NULL && gradients->strides[0] == 1 && call->channels >= 4)
        scatter_rows(block, to);
    else if (to != NULL)
        for (uint32_t channel = 0; channel < call->channels; channel++)
            scatter(block, load_gradients(block, channel), to + channel * gradients->strides[0]);
}

static void run(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct block block;
    begin_part(&block, call, part);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        begin_block(&block);
        if (block.outsides)
            run_channels(&block, true);
        else
            run_channels(&block, false);
    }
}

/* The slabs between the first and the last row of a part's samples. */
static uint64_t find_slabs(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct block block;
    const uint64_t rows = call->levels[0].size[1];
    integers low = (integers){0} + INT32_MAX, high = (integers){0} - 1;
    uint64_t mask = 0;
    begin_part(&block, call, part);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        const bool packed = has_borders(call) && are_packed(&block, &call->coordinates);
        if (!packed)
            load_positions(&block, 1);
        for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
            integers y[2], outside[2];
            reals at[2], below;
            find_positions(&block, i, packed, at);
            find_axis(&block, 1, at[1], false, y, outside, &below);
            for (int k = 0; k < 2; k++) {
                low = choose_integers(~outside[k] & (y[k] < low), y[k], low);
                high = choose_integers(~outside[k] & (y[k] > high), y[k], high);
            }
        }
    }
    int32_t minimum = INT32_MAX, maximum = -1;
    for (uint32_t i = 0; i < WIDTH; i++) {
        minimum = low[i] < minimum ? low[i] : minimum;
        maximum = high[i] > maximum ? high[i] : maximum;
    }
    for (uint32_t slab = 0; maximum >= 0 && slab < part->slabs; slab++)
        if ((uint64_t)minimum < rows * (slab + 1) / part->slabs && (uint64_t)maximum >= rows * slab / part->slabs)
            mask |= (uint64_t)1 << slab;
    return mask != 0 ? mask : 1;
}

const struct blr_gradient_set blr_planar_set = {run, find_slabs};

#endif
