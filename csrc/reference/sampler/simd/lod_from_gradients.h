/* Levels of detail of a block from gradients, in one and two dimensions: the arithmetic of sampler/lod_from_gradients.c as a
 * branchless loop. A component is a significand of up to ten bits, an exponent, and for sums a sign. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_LOD_FROM_GRADIENTS_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_LOD_FROM_GRADIENTS_H

#include "sampler/simd/addressing.h"

struct part {
    int32_t significand, exponent, sign;
};

/* Limits as in sampler/lod_from_gradients.c: the exponent of gradients that count as infinite for any extent, the key of
 * lengths that do, and the largest logarithm of an area. */
#define INFINITE_EXPONENT 200
#define KEY_BEYOND_MEASURE (151 * 1024 + 512)
#define LARGEST_LOG (32 * 256 - 1)

/* value * 2^-shift, rounded down; -1 <= shift. */
BLR_INLINE int32_t shifted_down(int32_t value, int32_t shift)
{
    return (value << 1) >> minimum(shift + 1, 31);
}

BLR_INLINE struct part trimmed_part(struct part a)
{
    for (int pass = 0; pass < 2; pass++) {
        int32_t over = a.significand >= 1024;
        a.significand >>= over;
        a.exponent += over;
    }
    return a;
}

/* Exactly ten bits; 0 stays 0. Inputs have at most 24 bits, so that a float holds them. */
BLR_INLINE struct part normalized_part(struct part a)
{
    int32_t bits = bits_of((float)a.significand);
    int32_t size = (bits >> 23) - 126, some = a.significand > 0;
    struct part r = {((bits & 0x7fffff) >> 14 | 512) & -some, a.exponent + ((size - 10) & -some), a.sign};
    return r;
}

/* An extent as a factor: its top ten bits and its exponent. */
struct extent_factor {
    int32_t significand, exponent;
    bool is_power;                        /* power of two: the multiplication leaves significands unchanged */
};

static struct extent_factor factor_of(uint32_t extent)
{
    struct extent_factor r = {0, 0, false};
    int32_t bits = 0;
    while (bits < 32 && extent >> bits)
        bits++;
    r.exponent = bits - 10;
    r.significand = (int32_t)(bits <= 10 ? extent << (10 - bits) : extent >> (bits - 10));
    r.is_power = (extent & (extent - 1)) == 0;
    return r;
}

BLR_INLINE struct part part_of(float gradient, const struct extent_factor *factor, const bool powers)
{
    float size = fabsf(gradient);
    size = size == size ? size : 0.0f;
    int32_t some = size >= 0x1p-126f, infinite = -(size >= 0x1p97f), bits = bits_of(size);
    struct part r = {(bits & 0x7fffff) >> 14 | 512, (bits >> 23) - 136 + factor->exponent + 9, 1};
    if (!powers) {
        int32_t sum = 448;
        for (int bit = 0; bit < 10; bit++)
            sum += ((r.significand << bit) >> 6 << 6) & -(factor->significand >> bit & 1);
        int32_t more = sum >= 1 << 19;
        r.significand = sum >> (9 + more);
        r.exponent += more;
    }
    r.significand = (r.significand & -some & ~infinite) | (512 & infinite);
    r.exponent = (r.exponent & -some & ~infinite) | (-200 & (some - 1)) | (INFINITE_EXPONENT & infinite);
    r.sign = gradient < 0.0f ? -1 : 1;
    return r;
}

BLR_INLINE struct part sum_of_parts(struct part a, struct part b, int32_t sign)
{
    int32_t exponent = maximum(a.exponent, b.exponent) - 1;
    int32_t value = shifted_down(a.significand, exponent - a.exponent) * a.sign +
                    shifted_down(b.significand, exponent - b.exponent) * b.sign * sign;
    int32_t negative = value >> 31;
    struct part r = {(value ^ negative) - negative, exponent, negative | 1};
    return trimmed_part(r);
}

/* Keys order numbers by size; significands have ten bits, or are 0. */
#define KEY_OF_ZERO (-(1 << 24))

BLR_INLINE int32_t key_of(struct part a)
{
    int32_t some = -(a.significand > 0);
    return ((a.exponent * 1024 + a.significand) & some) | (KEY_OF_ZERO & ~some);
}

/* 256 log2 of the number of a key. */
BLR_INLINE int32_t log_of_key(int32_t key, const int32_t *restrict table)
{
    int32_t none = -(key == KEY_OF_ZERO);
    return ((((key >> 10) + 9) * 256 + table[(key >> 1) & 255]) & ~none) | (-1000000 & none);
}

/* 11/16 of a number. */
BLR_INLINE struct part diagonal_part(struct part a)
{
    struct part r = {(11 * a.significand + 4) >> 3, a.exponent - 1, a.sign};
    return trimmed_part(r);
}

/* The key of max + 11/32 min, or of 11/16 of that for a diagonal. */
BLR_INLINE int32_t key_of_length(struct part a, struct part b, const bool diagonal)
{
    int32_t swap = -(key_of(b) > key_of(a));
    int32_t mixed = (a.significand ^ b.significand) & swap, shift = (a.exponent ^ b.exponent) & swap;
    struct part longer = {a.significand ^ mixed, a.exponent ^ shift, 0};
    struct part shorter = {b.significand ^ mixed, b.exponent ^ shift, 0};
    if (diagonal) {
        longer = diagonal_part(longer);
        shorter.significand = (121 * shorter.significand + 32) >> 6;
        shorter.exponent -= 3;
    } else {
        shorter.significand = (11 * shorter.significand + 4) >> 3;
        shorter.exponent -= 2;
    }
    int32_t apart = maximum(longer.exponent - shorter.exponent, 0);
    longer.significand += shorter.significand >> minimum(apart, 31);
    return key_of(trimmed_part(longer));
}

BLR_INLINE struct part normalized_sum(struct part a, struct part b, int32_t sign)
{
    return normalized_part(sum_of_parts(a, b, sign));
}

BLR_INLINE void lods_of(const float *restrict xx, const float *restrict xy, const float *restrict yx,
                        const float *restrict yy, const struct extent_factor *factor, const bool powers,
                        const int32_t *restrict table, int32_t *restrict lod)
{
    BLR_EACH_ITEM {
        struct part ax = part_of(xx[i], &factor[0], powers), ay = part_of(xy[i], &factor[1], powers);
        struct part bx = part_of(yx[i], &factor[0], powers), by = part_of(yy[i], &factor[1], powers);
        int32_t own = maximum(key_of_length(ax, ay, false), key_of_length(bx, by, false));
        int32_t sum = key_of_length(normalized_sum(ax, bx, 1), normalized_sum(ay, by, 1), true);
        int32_t difference = key_of_length(normalized_sum(ax, bx, -1), normalized_sum(ay, by, -1), true);
        lod[i] = log_of_key(maximum(own, maximum(sum, difference)), table);
    }
}

/* ---- footprints of two axes */

/* blr_gradient_measure of a block. */
struct measure_rows {
    _Alignas(64) int32_t major[BLR_BLOCK];
    int32_t ratio[BLR_BLOCK];
    int32_t direction[2][BLR_BLOCK];      /* in 1/64 */
};

/* The longest axis, as the computation of directions needs it. */
struct axis_signs {
    int32_t longer[BLR_BLOCK], shorter[BLR_BLOCK]; /* components in four bits of a common unit */
    int32_t slanted[BLR_BLOCK];           /* masks: both components are significant; y is the longer one */
    int32_t steep[BLR_BLOCK];
    int32_t sign_x[BLR_BLOCK], sign_y[BLR_BLOCK];
};

BLR_INLINE struct part product_of_parts(struct part a, struct part b)
{
    int32_t sum = 448;
    for (int bit = 0; bit < 10; bit++)
        sum += ((a.significand << bit) >> 6 << 6) & -(b.significand >> bit & 1);
    int32_t more = sum >= 1 << 19, some = -(a.significand > 0) & -(b.significand > 0);
    struct part r = {(sum >> (9 + more)) & some, ((a.exponent + b.exponent + 9 + more) & some) | (-600 & ~some), a.sign * b.sign};
    return r;
}

/* Selects one of two numbers by a mask. */
BLR_INLINE struct part chosen(int32_t mask, struct part yes, struct part no)
{
    struct part r = {(yes.significand & mask) | (no.significand & ~mask), (yes.exponent & mask) | (no.exponent & ~mask),
                     (yes.sign & mask) | (no.sign & ~mask)};
    return r;
}

/* The key of the area between two gradients. */
BLR_INLINE int32_t key_of_area(struct part ax, struct part ay, struct part bx, struct part by)
{
    return key_of(normalized_sum(product_of_parts(ax, by), product_of_parts(ay, bx), -1));
}

BLR_INLINE void measures_of(const float *restrict xx, const float *restrict xy, const float *restrict yx,
                            const float *restrict yy, const struct extent_factor *factor, const bool powers,
                            const int32_t *restrict table, struct measure_rows *restrict rows,
                            struct axis_signs *restrict axis)
{
    BLR_EACH_ITEM {
        struct part ax = part_of(xx[i], &factor[0], powers), ay = part_of(xy[i], &factor[1], powers);
        struct part bx = part_of(yx[i], &factor[0], powers), by = part_of(yy[i], &factor[1], powers);
        struct part sx = normalized_sum(ax, bx, 1), sy = normalized_sum(ay, by, 1);
        struct part dx = normalized_sum(ax, bx, -1), dy = normalized_sum(ay, by, -1);
        int32_t size_a = key_of_length(ax, ay, false), size_b = key_of_length(bx, by, false);
        int32_t size_s = key_of_length(sx, sy, true), size_d = key_of_length(dx, dy, true);
        int32_t longest = log_of_key(maximum(maximum(size_a, size_b), maximum(size_s, size_d)), table);
        rows->major[i] = longest;
        rows->ratio[i] = 2 * longest - minimum(log_of_key(key_of_area(ax, ay, bx, by), table), LARGEST_LOG);
        size_a = minimum(size_a, KEY_BEYOND_MEASURE);
        size_b = minimum(size_b, KEY_BEYOND_MEASURE);
        size_s = minimum(size_s, KEY_BEYOND_MEASURE);
        size_d = minimum(size_d, KEY_BEYOND_MEASURE);

        /* The longest vector is chosen; of equals, x before the sum, y before the difference, and the first two
         * before these. */
        int32_t second = -(maximum(size_b, size_d) > maximum(size_a, size_s));
        int32_t diagonal = (-(size_d > size_b) & second) | (-(size_s > size_a) & ~second);
        int32_t turned = -(size_b >= size_a) & second & diagonal;
        struct part x = chosen(diagonal, diagonal_part(chosen(second, dx, sx)), chosen(second, bx, ax));
        struct part y = chosen(diagonal, diagonal_part(chosen(second, dy, sy)), chosen(second, by, ay));

        int32_t steep = -(key_of(y) > key_of(x)), sign = turned | 1;
        struct part longer = chosen(steep, y, x), shorter = chosen(steep, x, y);
        int32_t apart = longer.exponent - shorter.exponent;
        axis->longer[i] = longer.significand >> 6;
        axis->shorter[i] = (shorter.significand >> 6) >> minimum(maximum(apart, 0), 31);
        axis->slanted[i] = -(x.significand > 0) & -(y.significand > 0) & -(apart < 6);
        axis->steep[i] = steep;
        axis->sign_x[i] = x.sign * sign;
        axis->sign_y[i] = y.sign * sign;
    }
}

static void directions_of(const struct axis_signs *restrict axis, struct measure_rows *restrict rows)
{
    BLR_EACH_ITEM {
        double m = (double)axis->longer[i] + 0.5, k = (double)axis->shorter[i] + 0.5;
        double norm = sqrt(m * m + k * k);
        int32_t along = (int32_t)(64.0 * m / norm + 0.5), across = (int32_t)(64.0 * k / norm + 0.5);
        int32_t slanted = axis->slanted[i], steep = axis->steep[i];
        along = (along & slanted) | (64 & ~slanted);
        across = across & slanted;
        rows->direction[0][i] = ((across & steep) | (along & ~steep)) * axis->sign_x[i];
        rows->direction[1][i] = ((along & steep) | (across & ~steep)) * axis->sign_y[i];
    }
}

/* ---- whole blocks */

/* Gradients x and y, with two components each; in one dimension the second is 0, with an extent of 1. */
struct gradient_rows {
    _Alignas(64) float x[2][BLR_BLOCK];
    float y[2][BLR_BLOCK];
};

/* Extents by which gradients are multiplied. */
struct gradient_scale {
    struct extent_factor factor[2];
    bool powers;
};

static void fill_gradient_scale(const struct blr_texture_level *base, struct gradient_scale *scale)
{
    scale->factor[0] = factor_of(base->width);
    scale->factor[1] = factor_of(base->height);
    scale->powers = scale->factor[0].is_power && scale->factor[1].is_power;
}

/* Loads arrays of a call with n components an item. */
static void load_gradients(const float *restrict given_x, const float *restrict given_y, uint32_t n, uint32_t count,
                           struct gradient_rows *restrict rows)
{
    if (n == 2 && count == BLR_BLOCK) {
        BLR_EACH_ITEM {
            rows->x[0][i] = given_x[2 * i];
            rows->x[1][i] = given_x[2 * i + 1];
            rows->y[0][i] = given_y[2 * i];
            rows->y[1][i] = given_y[2 * i + 1];
        }
        return;
    }
    memset(rows, 0, sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < n; d++) {
            rows->x[d][i] = given_x[i * n + d];
            rows->y[d][i] = given_y[i * n + d];
        }
}

static void copy_logarithms(int32_t table[256])
{
    for (int k = 0; k < 256; k++)
        table[k] = blr_log2_table[k];
}

static void gradient_lods(const struct gradient_rows *rows, const struct gradient_scale *scale, int32_t *lod)
{
    /* Local copies, which compilers know not to alias the results. */
    const struct extent_factor factor[2] = {scale->factor[0], scale->factor[1]};
    int32_t table[256];
    copy_logarithms(table);
    if (scale->powers)
        lods_of(rows->x[0], rows->x[1], rows->y[0], rows->y[1], factor, true, table, lod);
    else
        lods_of(rows->x[0], rows->x[1], rows->y[0], rows->y[1], factor, false, table, lod);
}

static void gradient_measures(const struct gradient_rows *rows, const struct gradient_scale *scale,
                              struct measure_rows *measures)
{
    const struct extent_factor factor[2] = {scale->factor[0], scale->factor[1]};
    int32_t table[256];
    copy_logarithms(table);
    struct axis_signs axis;
    if (scale->powers)
        measures_of(rows->x[0], rows->x[1], rows->y[0], rows->y[1], factor, true, table, measures, &axis);
    else
        measures_of(rows->x[0], rows->x[1], rows->y[0], rows->y[1], factor, false, table, measures, &axis);
    directions_of(&axis, measures);
}

#endif
