/* Vectors of samples of planar pictures, and the texels of a block of them. Included by planar.c, which is compiled for each
 * instruction set. */
#ifndef BINDLESS_REFERENCE_GRADIENTS_PLANAR_BLOCK_H
#define BINDLESS_REFERENCE_GRADIENTS_PLANAR_BLOCK_H

#include "gradients/gradients.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define BLOCK 64u
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
typedef uint32_t naturals __attribute__((vector_size(4 * WIDTH)));
typedef float pair __attribute__((vector_size(8)));
typedef float quad __attribute__((vector_size(16)));
typedef double pairs __attribute__((vector_size(4 * WIDTH))); /* of numbers that are copied, not computed with */

INLINE reals load(const float *from)
{
    reals values;
    memcpy(&values, from, sizeof values);
    return values;
}

INLINE integers load_integers(const int32_t *from)
{
    integers values;
    memcpy(&values, from, sizeof values);
    return values;
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
INLINE reals apply_weight(reals weight, reals product) { return (reals)((integers)product & (weight != 0)); }

/* ---------------------------------------------------------------- blocks */

/* Offsets of the left taps in both rows of an array of texels, and from a left tap to the right one. Those of taps outside
 * are of a texel inside. */
struct taps {
    _Alignas(64) int32_t row[2][BLOCK], right[BLOCK];
};

/* Flags of a sample: which columns and rows of its taps are outside, and which rows are of another slab. */
enum { LEFT_OUTSIDE = 1, RIGHT_OUTSIDE = 2, UPPER_OUTSIDE = 4, LOWER_OUTSIDE = 8, UPPER_OTHER = 16, LOWER_OTHER = 32 };
#define ANY_OUTSIDE (LEFT_OUTSIDE | RIGHT_OUTSIDE | UPPER_OUTSIDE | LOWER_OUTSIDE)

/* Those that make a tap have the fill value, and those that make it add nothing. */
#define OUTSIDE(k) ((k % 2 ? RIGHT_OUTSIDE : LEFT_OUTSIDE) | (k / 2 ? LOWER_OUTSIDE : UPPER_OUTSIDE))
#define UNWANTED(k) (OUTSIDE(k) | (k / 2 ? LOWER_OTHER : UPPER_OTHER))

/* A block of samples. Taps (left, right) of the upper row come first, then those of the lower one. */
struct block {
    const blr_gradients_t *call;
    const struct blr_gradient_part *part;
    uint64_t first;                       /* sample */
    uint32_t count;
    bool shares_offsets;                  /* whether those of gradients are those of texels */
    bool outsides, others;                /* whether any tap is outside; whether any row is of another slab */
    bool neighbours;                      /* whether all taps of a row are neighbours in the picture */
    int32_t low, high;                    /* rows of this slab, from low to below high */
    float shift, scale[2], offset[2], size[2], fill; /* of the call, and of level 0 */
    _Alignas(64) float at[2][BLOCK], chain[2][BLOCK]; /* chain: unless both boundaries are borders */
    _Alignas(64) float rest[2][BLOCK];
    struct taps texel, gradient;
    _Alignas(64) int32_t flags[BLOCK];
    _Alignas(64) float values[BLOCK], along[2][BLOCK];
};

static bool has_borders(const blr_gradients_t *call)
{
    return call->boundary[0] == BLR_BOUNDARY_BORDER && call->boundary[1] == BLR_BOUNDARY_BORDER;
}

static void begin_part(struct block *block, const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    const blr_gradient_level_t *level = &call->levels[0];
    const uint64_t rows = level->size[1];
    block->call = call;
    block->part = part;
    block->low = (int32_t)(rows * part->slab / part->slabs);
    block->high = (int32_t)(rows * (part->slab + 1) / part->slabs);
    block->shares_offsets = level->texels.strides[1] == level->gradients.strides[1] &&
                            level->texels.strides[2] == level->gradients.strides[2];
    block->shift = (float)call->shift;
    block->fill = (float)call->fill;
    for (uint32_t d = 0; d < 2; d++) {
        block->scale[d] = (float)call->scale[d];
        block->offset[d] = (float)call->offset[d];
        block->size[d] = (float)(int32_t)level->size[d];
    }
}

static int64_t start_of(const struct block *block, const blr_strided_t *array)
{
    return (int64_t)block->first * array->strides[1] + (int64_t)block->part->texture * array->strides[2];
}

/* ---------------------------------------------------------------- positions */

INLINE reals place(const struct block *block, uint32_t d, reals coordinate)
{
    return (coordinate + block->shift) * block->scale[d] + block->offset[d];
}

/* Whether pairs of coordinates fill the block, as they do an array in C's order. */
INLINE bool are_packed(const struct block *block, const blr_strided_t *array)
{
    return block->count == BLOCK && array->strides[0] == 1 && array->strides[1] == 2;
}

/* Positions along an axis, for boundaries and arrays that the fast way has not; as near the image as they can be. */
static void load_positions(struct block *block, uint32_t d)
{
    const blr_gradients_t *call = block->call;
    const blr_strided_t *from = &call->coordinates;
    const float *first = (const float *)from->first + start_of(block, from) + d * from->strides[0];
    float *restrict at = block->at[d];
    for (uint32_t i = 0; i < BLOCK; i++) {
        at[i] = i < block->count ? first[(int64_t)i * from->strides[1]] : 0;
        block->chain[d][i] = 1;
    }
    for (uint32_t i = 0; i < BLOCK; i += WIDTH)
        store(at + i, place(block, d, load(at + i)));
    fold_planar(call->boundary[d], (int32_t)call->levels[0].size[d], at, block->chain[d]);
}

/* Positions along both axes; those far outside of a border, four texels outside, where they have the same values. */
INLINE void find_positions(const struct block *block, uint32_t i, const bool packed, reals at[2])
{
    if (!packed) {
        at[0] = load(block->at[0] + i);
        at[1] = load(block->at[1] + i);
        return;
    }
    const blr_strided_t *from = &block->call->coordinates;
    const float *first = (const float *)from->first + start_of(block, from) + 2 * i;
    const reals a = load(first), b = load(first + WIDTH), zero = {0};
    at[0] = place(block, 0, SHUFFLE(a, b, EVEN));
    at[1] = place(block, 1, SHUFFLE(a, b, ODD));
    for (uint32_t d = 0; d < 2; d++) {
        at[d] = choose(at[d] > -4, at[d], zero - 4);
        at[d] = choose(at[d] < block->size[d] + 4, at[d], zero + (block->size[d] + 4));
    }
}

/* The texels below and above positions, those outside replaced; whether they are outside; the fraction above the lower. */
INLINE void find_axis(const struct block *block, uint32_t d, reals at, const bool borders, integers index[2],
                      integers outside[2], reals *rest)
{
    const int32_t n = (int32_t)block->call->levels[0].size[d];
    const blr_boundary_t boundary = borders ? BLR_BOUNDARY_BORDER : block->call->boundary[d];
    const int32_t after = bindless_has_border(boundary) || boundary == BLR_BOUNDARY_REPEAT ? 0 : n - 1;
    integers low = __builtin_convertvector(at, integers);
    low += __builtin_convertvector(low, reals) > at; /* a mask is -1 */
    const integers high = low + 1;
    *rest = at - __builtin_convertvector(low, reals);
    outside[0] = (integers)((naturals)low >= (uint32_t)n);
    outside[1] = (integers)((naturals)high >= (uint32_t)n);
    index[0] = low & ~outside[0];
    index[1] = after == 0 ? high & ~outside[1] : choose_integers(outside[1], (integers){0} + after, high);
    if (!bindless_has_border(boundary))
        outside[0] = outside[1] = (integers){0};
}

INLINE void store_taps(struct taps *taps, const blr_strided_t *array, const integers x[2], const integers y[2], uint32_t i)
{
    const int32_t columns = (int32_t)array->strides[1], rows = (int32_t)array->strides[2];
    const integers offset = x[0] * columns;
    store_integers(taps->row[0] + i, offset + y[0] * rows);
    store_integers(taps->row[1] + i, offset + y[1] * rows);
    store_integers(taps->right + i, x[1] * columns - offset);
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

INLINE void find_block(struct block *block, const bool packed, const bool borders, const bool scatters)
{
    const blr_gradient_level_t *level = &block->call->levels[0];
    integers flagged = {0}, apart = {0};
    for (uint32_t i = 0; i < BLOCK; i += WIDTH) {
        integers x[2], y[2], beside[2], over[2];
        reals at[2], rest[2];
        find_positions(block, i, packed, at);
        find_axis(block, 0, at[0], borders, x, beside, &rest[0]);
        find_axis(block, 1, at[1], borders, y, over, &rest[1]);
        integers flags = (beside[0] & LEFT_OUTSIDE) | (beside[1] & RIGHT_OUTSIDE) | (over[0] & UPPER_OUTSIDE) |
                         (over[1] & LOWER_OUTSIDE);
        if (scatters)
            flags |= (((y[0] < block->low) | (y[0] >= block->high)) & UPPER_OTHER) |
                     (((y[1] < block->low) | (y[1] >= block->high)) & LOWER_OTHER);
        flagged |= flags;
        apart |= x[1] != x[0] + 1;
        for (uint32_t d = 0; d < 2; d++)
            store(block->rest[d] + i, rest[d]);
        store_integers(block->flags + i, flags);
        store_taps(&block->texel, &level->texels, x, y, i);
        if (scatters && !block->shares_offsets)
            store_taps(&block->gradient, &level->gradients, x, y, i);
    }
    block->outsides = any(flagged & ANY_OUTSIDE);
    block->others = any(flagged & (UPPER_OTHER | LOWER_OTHER));
    block->neighbours = !any(apart);
}

static void begin_block(struct block *block)
{
    const bool borders = has_borders(block->call), scatters = block->part->scatters;
    if (borders && are_packed(block, &block->call->coordinates)) {
        if (scatters)
            find_block(block, true, true, true);
        else
            find_block(block, true, true, false);
        return;
    }
    load_positions(block, 0);
    load_positions(block, 1);
    find_block(block, false, false, scatters);
}

#endif
