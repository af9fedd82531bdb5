/* Linear samples of planar pictures of floats, and their first derivatives: a frequent call, whose numbers stay in vector
 * registers. Compiled for each instruction set; results are bit-identical, and values those of gradients_part.c.
 *
 * Gradients of texels are added up in the order of the blocks of samples, in a block those of even samples first: a sample
 * adds to texels of the one before, and would wait for its sums. */
#include "gradients/gradients.h"

#if BLR_HAS_PLANAR

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define BLOCK BLR_GRADIENT_BLOCK
#define REAL float
#define FLOOR floorf
#define NAME(name) name##_planar
#include "gradients/axis.h"

/* Numbers of a vector, and the lanes of two vectors that are even, odd, or of the halves of both, alternating. */
#if defined(__AVX512F__)
#include <immintrin.h>
#define WIDTH 16u
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LOWER 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define UPPER 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif defined(__AVX2__)
#include <immintrin.h>
#define WIDTH 8u
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#define LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define UPPER 4, 12, 5, 13, 6, 14, 7, 15
#else
#define WIDTH 4u
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#define LOWER 0, 4, 1, 5
#define UPPER 2, 6, 3, 7
#endif

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (integers){__VA_ARGS__})
#endif

typedef float reals __attribute__((vector_size(4 * WIDTH)));
typedef int32_t integers __attribute__((vector_size(4 * WIDTH)));
typedef float pair __attribute__((vector_size(8)));

INLINE reals load(const float *from)
{
    reals found;
    memcpy(&found, from, sizeof found);
    return found;
}

INLINE integers load_integers(const int32_t *from)
{
    integers found;
    memcpy(&found, from, sizeof found);
    return found;
}

INLINE void store(float *to, reals value) { memcpy(to, &value, sizeof value); }
INLINE void store_integers(int32_t *to, integers value) { memcpy(to, &value, sizeof value); }

/* The lanes of two vectors, alternating. */
INLINE void store_both(float *to, reals a, reals b)
{
    store(to, SHUFFLE(a, b, LOWER));
    store(to + WIDTH, SHUFFLE(a, b, UPPER));
}

/* Where the mask is set `yes`, else `no`. */
INLINE reals choose(integers mask, reals yes, reals no) { return (reals)(((integers)yes & mask) | ((integers)no & ~mask)); }
INLINE integers choose_integers(integers mask, integers yes, integers no) { return (yes & mask) | (no & ~mask); }

/* product, but 0 where a weight is 0. */
INLINE reals weighted(reals weight, reals product) { return (reals)((integers)product & (weight != 0)); }

/* ---------------------------------------------------------------- blocks */

/* A block of samples: taps (left, right) of the upper row, then of the lower one. */
struct block {
    const blr_gradients_t *call;
    const struct blr_gradient_part *part;
    uint64_t first;                       /* sample */
    uint32_t count;
    bool outsides, neighbours;            /* whether any tap is outside; whether all taps of a row are neighbours in memory */
    bool has_other_rows;                  /* whether any row is of another slab */
    int32_t low, high;                    /* rows of this slab, from low to below high */
    float shift, scale[2], offset[2], size[2], fill; /* of the call, and of level 0 */
    _Alignas(64) float at[2][BLOCK], chain[2][BLOCK], rest[2][BLOCK];
    _Alignas(64) int32_t texel[4][BLOCK], gradient[4][BLOCK]; /* offsets; those outside are of a texel inside */
    _Alignas(64) int32_t outside[4][BLOCK], unwanted[4][BLOCK]; /* masks; taps that add nothing in this part */
    _Alignas(64) float weight[4][BLOCK], dot[4][BLOCK];
    _Alignas(64) float values[BLOCK], product[4][BLOCK];
};

static void begin_part(struct block *block, const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    const uint64_t rows = call->levels[0].size[1];
    block->call = call;
    block->part = part;
    block->low = (int32_t)(rows * part->slab / part->slabs);
    block->high = (int32_t)(rows * (part->slab + 1) / part->slabs);
    block->shift = (float)call->shift;
    block->fill = (float)call->fill;
    for (uint32_t d = 0; d < 2; d++) {
        block->scale[d] = (float)call->scale[d];
        block->offset[d] = (float)call->offset[d];
        block->size[d] = (float)(int32_t)call->levels[0].size[d];
    }
}

static int64_t start_of(const struct block *block, const blr_strided_t *array)
{
    return (int64_t)block->first * array->strides[1] + (int64_t)block->part->texture * array->strides[2];
}

/* Numbers at a stride; zeros after the last sample. */
INLINE void load_strided(const float *from, int64_t stride, uint32_t count, float *restrict to)
{
    if (count == BLOCK && stride == 1)
        memcpy(to, from, BLOCK * sizeof *to);
    else
        for (uint32_t i = 0; i < BLOCK; i++)
            to[i] = i < count ? from[(int64_t)i * stride] : 0;
}

INLINE void store_strided(float *to, int64_t stride, uint32_t count, const float *restrict from)
{
    if (count == BLOCK && stride == 1)
        memcpy(to, from, BLOCK * sizeof *to);
    else
        for (uint32_t i = 0; i < count; i++)
            to[(int64_t)i * stride] = from[i];
}

/* Positions along both axes; those that repeat or are mirrored, as near the image as they can be. */
INLINE void load_positions(struct block *block)
{
    const blr_gradients_t *call = block->call;
    const blr_strided_t *from = &call->coordinates;
    const float *first = (const float *)from->first + start_of(block, from);
    if (block->count == BLOCK && from->strides[0] == 1 && from->strides[1] == 2)
        for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
            const reals a = load(first + 2 * i), b = load(first + 2 * i + WIDTH);
            store(block->at[0] + i, SHUFFLE(a, b, EVEN));
            store(block->at[1] + i, SHUFFLE(a, b, ODD));
        }
    else
        for (uint32_t d = 0; d < 2; d++)
            load_strided(first + d * from->strides[0], from->strides[1], block->count, block->at[d]);
    for (uint32_t d = 0; d < 2; d++) {
        for (uint32_t i = 0; i < BLOCK; i += WIDTH)
            store(block->at[d] + i, (load(block->at[d] + i) + block->shift) * block->scale[d] + block->offset[d]);
        if (call->boundary[d] == BLR_BOUNDARY_BORDER || call->boundary[d] == BLR_BOUNDARY_EDGE)
            continue;
        for (uint32_t i = 0; i < BLOCK; i++)
            block->chain[d][i] = 1;
        fold_planar(call->boundary[d], (int32_t)call->levels[0].size[d], block->at[d], block->chain[d]);
    }
}

/* Positions near the image that have the same values, and their derivatives: as fold_planar. */
INLINE reals limit(struct block *block, uint32_t d, uint32_t i)
{
    const blr_boundary_t boundary = block->call->boundary[d];
    const float size = block->size[d];
    const reals at = load(block->at[d] + i), zero = {0};
    if (boundary == BLR_BOUNDARY_BORDER) {
        const reals above = choose(at > -4, at, zero - 4);
        store(block->chain[d] + i, zero + 1);
        return choose(above < size + 4, above, zero + (size + 4));
    }
    if (boundary != BLR_BOUNDARY_EDGE)
        return at;
    const reals above = choose(at > 0, at, zero), last = zero + (size - 1);
    store(block->chain[d] + i, choose((above > 0) & (above < last), zero + 1, zero));
    return choose(above < last, above, last);
}

/* The texels below and above positions, -1 outside, and the fraction above the one below. */
INLINE void find_axis(struct block *block, uint32_t d, uint32_t i, integers found[2], reals *rest)
{
    const int32_t n = (int32_t)block->call->levels[0].size[d];
    const blr_boundary_t boundary = block->call->boundary[d];
    const int32_t after = boundary == BLR_BOUNDARY_BORDER ? -1 : boundary == BLR_BOUNDARY_REPEAT ? 0 : n - 1;
    const reals at = limit(block, d, i);
    integers low = __builtin_convertvector(at, integers);
    low += __builtin_convertvector(low, reals) > at; /* a mask is -1 */
    const integers high = low + 1;
    *rest = at - __builtin_convertvector(low, reals);
    found[0] = low | (low < 0) | (low >= n);
    found[1] = choose_integers((high >= 0) & (high < n), high, (integers){0} + after);
}

/* Offsets of the taps in one array of texels. */
INLINE void find_offsets(const blr_strided_t *array, const integers x[2], const integers y[2], uint32_t i,
                         int32_t offset[4][BLOCK])
{
    const int32_t columns = (int32_t)array->strides[1], rows = (int32_t)array->strides[2];
    for (int k = 0; k < 4; k++)
        store_integers(offset[k] + i, (x[k % 2] & ~(x[k % 2] < 0)) * columns + (y[k / 2] & ~(y[k / 2] < 0)) * rows);
}

/* Whether any lane of a mask is set. */
INLINE bool any(integers mask)
{
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    uint64_t halves[2];
    memcpy(halves, &mask, sizeof halves);
    return (halves[0] | halves[1]) != 0;
#endif
}

INLINE void begin_block(struct block *block, const bool scatters)
{
    const blr_gradient_level_t *level = &block->call->levels[0];
    integers outside = {0}, apart = {0}, other = {0};
    load_positions(block);
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        integers x[2], y[2];
        reals right, below;
        find_axis(block, 0, i, x, &right);
        find_axis(block, 1, i, y, &below);
        const reals u[2] = {1 - right, right}, v[2] = {1 - below, below};
        store(block->rest[0] + i, right);
        store(block->rest[1] + i, below);
        for (int k = 0; k < 4; k++) {
            const integers out = (x[k % 2] | y[k / 2]) < 0, others = (y[k / 2] < block->low) | (y[k / 2] >= block->high);
            store(block->weight[k] + i, v[k / 2] * u[k % 2]);
            store_integers(block->outside[k] + i, out);
            outside |= out;
            if (!scatters)
                continue;
            store_integers(block->unwanted[k] + i, out | others);
            other |= others;
        }
        apart |= x[1] != x[0] + 1;
        find_offsets(&level->texels, x, y, i, block->texel);
        if (scatters)
            find_offsets(&level->gradients, x, y, i, block->gradient);
    }
    block->outsides = any(outside);
    block->neighbours = !any(apart);
    block->has_other_rows = any(other);
}

/* ---------------------------------------------------------------- one channel */

/* A tap of WIDTH samples. */
INLINE reals gather(const struct block *block, const float *restrict from, int k, uint32_t i, const bool outsides)
{
#if defined(__AVX512F__)
    const reals texel = (reals)_mm512_i32gather_ps((__m512i)load_integers(block->texel[k] + i), from, 4);
#elif defined(__AVX2__)
    const reals texel = (reals)_mm256_i32gather_ps(from, (__m256i)load_integers(block->texel[k] + i), 4);
#else
    _Alignas(64) float found[WIDTH];
    for (uint32_t lane = 0; lane < WIDTH; lane++)
        found[lane] = from[block->texel[k][i + lane]];
    const reals texel = load(found);
#endif
    return outsides ? choose(load_integers(block->outside[k] + i), (reals){0} + block->fill, texel) : texel;
}

INLINE void sum_texels(struct block *block, const float *restrict from, const bool outsides)
{
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        reals sum = {0};
        for (int k = 0; k < 4; k++) {
            const reals weight = load(block->weight[k] + i);
            sum += weighted(weight, weight * gather(block, from, k, i, outsides));
        }
        store(block->values + i, sum);
    }
}

INLINE void add_dots(struct block *block, const float *restrict from, const bool outsides)
{
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const reals gradient = load(block->values + i);
        for (int k = 0; k < 4; k++)
            store(block->dot[k] + i, load(block->dot[k] + i) + gradient * gather(block, from, k, i, outsides));
    }
}

/* Adds pairs of neighbours, whole rows of which are in this slab. */
INLINE void scatter_pairs(const struct block *block, float *restrict to)
{
    _Alignas(64) float both[2][2 * BLOCK];
    for (int row = 0; row < 2; row++)
        for (uint32_t i = 0; i < BLOCK; i += WIDTH)
            store_both(both[row] + 2 * i, load(block->product[2 * row] + i), load(block->product[2 * row + 1] + i));
    for (uint32_t start = 0; start < 2; start++)
        for (uint32_t i = start; i < BLOCK; i += 2)
            for (int row = 0; row < 2; row++) {
                float *at = to + block->gradient[2 * row][i];
                pair sum, added;
                memcpy(&sum, at, sizeof sum);
                memcpy(&added, both[row] + 2 * i, sizeof added);
                sum += added;
                memcpy(at, &sum, sizeof sum);
            }
}

/* Adds the taps of this slab, in the same order; the others to numbers that nobody reads, since branches would be
 * unpredictable. */
static void scatter_taps(const struct block *block, float *to)
{
    float unread[4][BLOCK] = {{0}};
    for (uint32_t start = 0; start < 2; start++)
        for (uint32_t i = start; i < block->count; i += 2)
            for (int k = 0; k < 4; k++)
                *(block->unwanted[k][i] ? &unread[k][i] : to + block->gradient[k][i]) += block->product[k][i];
}

INLINE void scatter(struct block *block, float *to)
{
    for (int k = 0; k < 4; k++)
        for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
            const reals weight = load(block->weight[k] + i);
            store(block->product[k] + i, weighted(weight, weight * load(block->values + i)));
        }
    if (block->neighbours && !block->outsides && !block->has_other_rows && block->count == BLOCK &&
        block->call->levels[0].gradients.strides[1] == 1)
        scatter_pairs(block, to);
    else
        scatter_taps(block, to);
}

/* ---------------------------------------------------------------- parts */

/* Gradients of coordinates, from the sums over channels. */
INLINE void store_coordinates(struct block *block)
{
    const blr_strided_t *to = &block->call->grad_coordinates;
    _Alignas(64) float found[2][BLOCK];
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        const reals right = load(block->rest[0] + i), below = load(block->rest[1] + i);
        const reals u[2] = {1 - right, right}, v[2] = {1 - below, below};
        reals along[2] = {{0}, {0}};
        for (int k = 0; k < 4; k++) {
            const reals dot = load(block->dot[k] + i);
            const reals by_x = k % 2 ? v[k / 2] : -v[k / 2], by_y = k / 2 ? u[k % 2] : -u[k % 2];
            along[0] += weighted(by_x, by_x * dot);
            along[1] += weighted(by_y, by_y * dot);
        }
        for (int d = 0; d < 2; d++)
            store(found[d] + i, along[d] * load(block->chain[d] + i) * block->scale[d]);
    }
    float *first = (float *)to->first + start_of(block, to);
    if (block->count == BLOCK && to->strides[0] == 1 && to->strides[1] == 2)
        for (uint32_t i = 0; i < BLOCK; i += WIDTH)
            store_both(first + 2 * i, load(found[0] + i), load(found[1] + i));
    else
        for (int d = 0; d < 2; d++)
            store_strided(first + d * to->strides[0], to->strides[1], block->count, found[d]);
}

INLINE void run_channels(struct block *block, const bool outsides)
{
    const blr_gradients_t *call = block->call;
    const blr_gradient_level_t *level = &call->levels[0];
    const int64_t texture = (int64_t)block->part->texture;
    const float *texels = (const float *)level->texels.first + texture * level->texels.strides[4];
    const bool is_forward = call->operation == BLR_GRADIENT_FORWARD;
    const bool dots = !is_forward && block->part->gathers && call->grad_coordinates.first != NULL;
    const blr_strided_t *array = is_forward ? &call->values : &call->grad_values;
    float *values = (float *)array->first + start_of(block, array);
    float *gradients = !block->part->scatters ? NULL : (float *)level->gradients.first + texture * level->gradients.strides[4];
    if (dots)
        memset(block->dot, 0, sizeof block->dot);
    for (uint32_t channel = 0; channel < call->channels; channel++) {
        const float *from = texels + channel * level->texels.strides[0];
        float *const at = values + channel * array->strides[0];
        if (is_forward) {
            sum_texels(block, from, outsides);
            store_strided(at, array->strides[1], block->count, block->values);
            continue;
        }
        load_strided(at, array->strides[1], block->count, block->values);
        if (dots)
            add_dots(block, from, outsides);
        if (gradients != NULL)
            scatter(block, gradients + channel * level->gradients.strides[0]);
    }
    if (dots)
        store_coordinates(block);
}

static void run(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct block block;
    begin_part(&block, call, part);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        if (part->scatters)
            begin_block(&block, true);
        else
            begin_block(&block, false);
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
    uint64_t found = 0;
    begin_part(&block, call, part);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        load_positions(&block);
        for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
            integers y[2];
            reals below;
            find_axis(&block, 1, i, y, &below);
            for (int k = 0; k < 2; k++) {
                low = choose_integers((y[k] >= 0) & (y[k] < low), y[k], low);
                high = choose_integers(y[k] > high, y[k], high);
            }
        }
    }
    int32_t least = INT32_MAX, most = -1;
    for (uint32_t i = 0; i < WIDTH; i++) {
        least = low[i] < least ? low[i] : least;
        most = high[i] > most ? high[i] : most;
    }
    for (uint32_t slab = 0; most >= 0 && slab < part->slabs; slab++)
        if ((uint64_t)least < rows * (slab + 1) / part->slabs && (uint64_t)most >= rows * slab / part->slabs)
            found |= (uint64_t)1 << slab;
    return found != 0 ? found : 1;
}

const struct blr_gradient_set blr_planar_set = {run, find_slabs};

#endif
