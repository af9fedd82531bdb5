/* Levels of detail of a block from gradients, in one and two dimensions: the arithmetic of sample_gradient.c as a loop
 * without branches. A component is a significand of up to ten bits, an exponent, and for sums a sign. */
#ifndef BLR_SAMPLE_BLOCK_GRADIENT_H
#define BLR_SAMPLE_BLOCK_GRADIENT_H

#include "sample_block_locate.h"

struct part {
    int32_t significand, exponent, sign;
};

BLR_INLINE int32_t bits_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* value * 2^-shift, rounded down; -1 <= shift. */
BLR_INLINE int32_t shifted_down(int32_t value, int32_t shift)
{
    return (value << 1) >> least(shift + 1, 31);
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

/* Ten bits exactly; 0 stays 0. At most 24 bits come in, so that a float holds the number. */
BLR_INLINE struct part normalized_part(struct part a)
{
    int32_t bits = bits_of((float)a.significand);
    int32_t size = (bits >> 23) - 126, some = a.significand > 0;
    struct part r = {((bits & 0x7fffff) >> 14 | 512) & -some, a.exponent + ((size - 10) & -some), a.sign};
    return r;
}

/* An extent as a factor: its top ten bits, and the exponent that goes with them. */
struct extent_factor {
    int32_t significand, exponent;
    bool is_power;                        /* of two: significands come through the multiplication unchanged */
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
    size = size > 0x1p100f ? 0x1p100f : size;
    int32_t some = size >= 0x1p-126f, bits = bits_of(size);
    struct part r = {(bits & 0x7fffff) >> 14 | 512, (bits >> 23) - 136 + factor->exponent + 9, 1};
    if (!powers) {
        int32_t sum = 448;
        for (int bit = 0; bit < 10; bit++)
            sum += ((r.significand << bit) >> 6 << 6) & -(factor->significand >> bit & 1);
        int32_t more = sum >= 1 << 19;
        r.significand = sum >> (9 + more);
        r.exponent += more;
    }
    r.significand &= -some;
    r.exponent = (r.exponent & -some) | (-200 & (some - 1));
    r.sign = gradient < 0.0f ? -1 : 1;
    return r;
}

BLR_INLINE struct part sum_of_parts(struct part a, struct part b, int32_t sign)
{
    int32_t exponent = most(a.exponent, b.exponent) - 1;
    int32_t value = shifted_down(a.significand, exponent - a.exponent) * a.sign +
                    shifted_down(b.significand, exponent - b.exponent) * b.sign * sign;
    int32_t negative = value >> 31;
    struct part r = {(value ^ negative) - negative, exponent, negative | 1};
    return trimmed_part(r);
}

/* Larger numbers have larger keys; significands have ten bits, or are 0. */
#define KEY_OF_ZERO (-(1 << 24))

BLR_INLINE int32_t key_of(struct part a)
{
    int32_t some = -(a.significand > 0);
    return ((a.exponent * 1024 + a.significand) & some) | (KEY_OF_ZERO & ~some);
}

/* 256 log2 of what has a key. */
BLR_INLINE int32_t log_of_key(int32_t key, const int32_t *restrict table)
{
    int32_t none = -(key == KEY_OF_ZERO);
    return ((((key >> 10) + 9) * 256 + table[(key >> 1) & 255]) & ~none) | (-1000000 & none);
}

/* 11/16 of a part. */
BLR_INLINE struct part diagonal_part(struct part a)
{
    struct part r = {(11 * a.significand + 4) >> 3, a.exponent - 1, a.sign};
    return trimmed_part(r);
}

/* The key of max + 11/32 min, or of 11/16 of that. */
BLR_INLINE int32_t key_of_length(struct part a, struct part b, const bool diagonal)
{
    int32_t swap = -(key_of(b) > key_of(a));
    int32_t mixed = (a.significand ^ b.significand) & swap, moved = (a.exponent ^ b.exponent) & swap;
    struct part longer = {a.significand ^ mixed, a.exponent ^ moved, 0};
    struct part shorter = {b.significand ^ mixed, b.exponent ^ moved, 0};
    if (diagonal) {
        longer = diagonal_part(longer);
        shorter.significand = (121 * shorter.significand + 32) >> 6;
        shorter.exponent -= 3;
    } else {
        shorter.significand = (11 * shorter.significand + 4) >> 3;
        shorter.exponent -= 2;
    }
    int32_t apart = most(longer.exponent - shorter.exponent, 0);
    longer.significand += shorter.significand >> least(apart, 31);
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
        int32_t own = most(key_of_length(ax, ay, false), key_of_length(bx, by, false));
        int32_t sum = key_of_length(normalized_sum(ax, bx, 1), normalized_sum(ay, by, 1), true);
        int32_t difference = key_of_length(normalized_sum(ax, bx, -1), normalized_sum(ay, by, -1), true);
        lod[i] = log_of_key(most(own, most(sum, difference)), table);
    }
}

/* ---- whole blocks */

/* Gradients x and y, of each two components; those of one dimension have 0 and an extent of 1 for the second. */
struct gradient_rows {
    _Alignas(64) float x[2][BLR_BLOCK];
    float y[2][BLR_BLOCK];
};

/* The extents that gradients are multiplied with. */
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

/* Arrays of a call, of n components an item. */
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

static void gradient_lods(const struct gradient_rows *rows, const struct gradient_scale *scale, int32_t *lod)
{
    /* Copies, of which compilers know that they are not where the results go. */
    const struct extent_factor factor[2] = {scale->factor[0], scale->factor[1]};
    int32_t table[256];
    for (int k = 0; k < 256; k++)
        table[k] = blr_log2_table[k];
    if (scale->powers)
        lods_of(rows->x[0], rows->x[1], rows->y[0], rows->y[1], factor, true, table, lod);
    else
        lods_of(rows->x[0], rows->x[1], rows->y[0], rows->y[1], factor, false, table, lod);
}

#endif
