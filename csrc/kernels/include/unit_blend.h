/* The filter of a texture unit, computed in integers: weighted sums of texels, rounded as docs/internals/numerics.md says. Texels
 * and results are bits: of floats, or codes. */
#ifndef BINDLESS_KERNELS_INCLUDE_UNIT_BLEND_H
#define BINDLESS_KERNELS_INCLUDE_UNIT_BLEND_H

#include "format.h"
#include "unit_axis.h"

/* 2 x 2 texels of a slice, in the order (y0,x0) (y0,x1) (y1,x0) (y1,x1). */
struct quad {
    uint4 texel[4];
    share weight[4];
    uint used; /* bit k: texel k is read, though its weight may round to 0 */
};

#if EXACT

#define WHOLE_WEIGHT 1.0f
#define WEIGHT_PART(WEIGHT, SECOND) ((WEIGHT) * (1.0f - (SECOND)))

UNIT void set_weights(struct quad *quad, float x, float y, float weight)
{
    quad->weight[0] = weight * (1.0f - x) * (1.0f - y);
    quad->weight[1] = weight * x * (1.0f - y);
    quad->weight[2] = weight * (1.0f - x) * y;
    quad->weight[3] = weight * x * y;
}

/* A corner of a cubemap has no fourth texel: each of the other three takes a third of its weight. */
UNIT void share_corner(struct quad *quad, int corner)
{
    float whole = 0.0f;
    _Pragma("unroll") for (int k = 0; k < 4; ++k) whole = k == corner ? quad->weight[k] : whole;
    _Pragma("unroll") for (int k = 0; k < 4; ++k)
        quad->weight[k] = k == corner ? 0.0f : quad->weight[k] + whole * (1.0f / 3.0f);
}

#else

/* ---- weights in 1/256, split so that the parts sum to the whole */

#define WHOLE_WEIGHT 256
#define WEIGHT_PART(WEIGHT, SECOND) weight_part(WEIGHT, 256 - (SECOND))

UNIT int weight_part(int weight, int part) { return (weight * part + 128) >> 8; }

UNIT void set_weights(struct quad *quad, int x, int y, int weight)
{
    const int right = weight_part(weight, x), left = weight - right;
    quad->weight[0] = weight_part(left, 256 - y);
    quad->weight[3] = weight_part(right, y);
    quad->weight[1] = right - quad->weight[3];
    quad->weight[2] = left - quad->weight[0];
    quad->used = weight <= 0 ? 0 : 1u | (x != 0 ? 2u : 0u) | (y != 0 ? 4u : 0u) | (x != 0 && y != 0 ? 8u : 0u);
}

/* A corner of a cubemap has no fourth texel: its weight is split among the other three. */
UNIT void share_corner(struct quad *quad, int corner)
{
    int whole = 0;
    _Pragma("unroll") for (int k = 0; k < 4; ++k) whole = k == corner ? quad->weight[k] : whole;
    const int third = (85 * whole + 128) >> 8;
    _Pragma("unroll") for (int k = 0; k < 4; ++k)
        quad->weight[k] = k == corner ? 0 : quad->weight[k] + (k == 3 - corner ? whole - 2 * third : third);
    quad->used = quad->used != 0 ? 15u & ~(1u << corner) : 0;
}

/* ---- sums of floating-point texels */

#define SIGN 0x80000000u
#define INFINITE 0x7f800000u

/* Properties of the texels that count. */
enum { HAS_NAN = 1, HAS_POSITIVE = 2, HAS_NEGATIVE = 4, HAS_NUMBER = 8 };

UNIT uint properties(uint bits, bool half_)
{
    const uint size = bits & ~SIGN;
    if (size > INFINITE) return HAS_NAN | HAS_NUMBER;
    if (size == INFINITE) return HAS_NUMBER | ((bits & SIGN) != 0 ? HAS_NEGATIVE : HAS_POSITIVE);
    const bool vanishes = half_ ? size == 0 : size < 0x00800000u;
    return vanishes && (bits & SIGN) != 0 ? 0 : HAS_NUMBER;
}

/* The exponent of a finite number that is not denormal, or 0. */
UNIT int exponent_of(uint bits)
{
    const int exponent = (int)(bits >> 23 & 255);
    return exponent == 255 ? 0 : exponent;
}

/* The exponents of a quad: the largest one of texels with a weight, and the point of the sums. */
struct scale {
    int shift; /* texels are cut to multiples of 2^-shift */
    bool empty;
};

UNIT struct scale scale_of(uint4 texel, int4 weight, bool half_)
{
    int largest = weight.x != 0 ? exponent_of(texel.x) : 0;
    int next = weight.y != 0 ? exponent_of(texel.y) : 0;
    largest = next > largest ? next : largest;
    next = weight.z != 0 ? exponent_of(texel.z) : 0;
    largest = next > largest ? next : largest;
    next = weight.w != 0 ? exponent_of(texel.w) : 0;
    largest = next > largest ? next : largest;
    const int least = half_ ? -13 : -125;
    const int exponent = largest - 126 < least ? least : largest - 126;
    return (struct scale){(half_ ? 15 : 28) - exponent, largest == 0};
}

UNIT uint properties_of(uint4 texel, uint used, bool half_)
{
    return ((used & 1) != 0 ? properties(texel.x, half_) : 0) | ((used & 2) != 0 ? properties(texel.y, half_) : 0) |
           ((used & 4) != 0 ? properties(texel.z, half_) : 0) | ((used & 8) != 0 ? properties(texel.w, half_) : 0);
}

/* The next point on a grid of four exponents. */
UNIT int common_point(int point, bool half_) { return point + (((half_ ? 25 : 38) - point) & 3); }

/* The point to which the one or two quads of a level, and the sum before them, are rounded down. */
UNIT int next_point(bool is_first, int point, struct scale near, struct scale far, bool half_)
{
    const int a = common_point(near.shift + 8, half_), b = common_point(far.shift + 8, half_);
    const int level = near.empty ? b : far.empty ? a : a < b ? a : b;
    return !is_first && point < level ? point : level;
}

/* Whether infinities, not-a-numbers or zeros decide the result, which is then in *bits. */
UNIT bool is_special(uint properties, uint *bits)
{
    const bool both = (properties & (HAS_POSITIVE | HAS_NEGATIVE)) == (HAS_POSITIVE | HAS_NEGATIVE);
    *bits = (properties & HAS_NAN) != 0 || both    ? 0x7fffffffu
            : (properties & HAS_POSITIVE) != 0     ? INFINITE
            : (properties & HAS_NEGATIVE) != 0     ? INFINITE | SIGN
                                             : SIGN;
    return properties == 0 || (properties & (HAS_NAN | HAS_POSITIVE | HAS_NEGATIVE)) != 0;
}

#if DOUBLES

/* Sums in double precision, where they are exact: for processors, which have no fast shifts of many integers. */
struct total {
    double sum;
    struct scale scale;
    uint properties;
};

UNIT double double_power(int exponent) { return __builtin_astype((ulong)(exponent + 1023) << 52, double); }

/* The texel, cut towards zero. */
UNIT double cut(uint bits, int shift)
{
    const int exponent = exponent_of(bits), drop = 150 - shift - exponent;
    const uint head = drop <= 0 ? bits : bits & 0xffffffffu << (drop < 24 ? drop : 0);
    return (double)__builtin_astype(exponent == 0 || drop > 23 ? 0u : head, float);
}

UNIT struct total quad_total(uint4 texel, int4 weight, uint used, bool half_)
{
    const struct scale scale = scale_of(texel, weight, half_);
    const double sum = cut(texel.x, scale.shift) * (double)weight.x + cut(texel.y, scale.shift) * (double)weight.y +
                       (cut(texel.z, scale.shift) * (double)weight.z + cut(texel.w, scale.shift) * (double)weight.w);
    return (struct total){sum * 0x1p-8, scale, properties_of(texel, used, half_)};
}

UNIT double floored(double value, int point) { return __builtin_floor(value * double_power(point)) * double_power(-point); }

UNIT struct total added(struct total total, struct total near, struct total far, bool half_)
{
    const uint properties = total.properties | near.properties | far.properties;
    if (near.scale.empty && far.scale.empty) {
        total.properties = properties;
        return total;
    }
    const int point = next_point(total.scale.empty, total.scale.shift + 8, near.scale, far.scale, half_);
    const double sum = (total.scale.empty ? 0.0 : floored(total.sum, point)) +
                       (near.scale.empty ? 0.0 : floored(near.sum, point)) +
                       (far.scale.empty ? 0.0 : floored(far.sum, point));
    return (struct total){sum, {point - 8, false}, properties};
}

/* Fewer than 48 bits: 2^-50 only moves ties away from zero. */
UNIT uint rounded(struct total total, bool half_)
{
    uint bits;
    if (is_special(total.properties, &bits)) return bits;
    if (total.scale.empty || total.sum == 0.0) return 0;
    if (!half_) {
        bits = __builtin_astype((float)(total.sum * (1.0 + 0x1p-50)), uint);
        return (bits & INFINITE) == 0 ? bits & SIGN : bits;
    }
    const ulong size = __builtin_astype(total.sum, ulong) & 0x7fffffffffffffffUL;
    const int exponent = (int)(size >> 52) - 1022, unit = (exponent < -13 ? -13 : exponent) - 11;
    const double steps = __builtin_floor(__builtin_astype(size, double) * double_power(-unit) + 0.5);
    return (total.sum < 0.0 ? SIGN : 0) | __builtin_astype((float)(steps * double_power(unit)), uint);
}

#else

/* A running sum, of value / 2^(shift + 8). */
struct total {
    long sum;
    struct scale scale;
    uint properties;
};

/* The texel in steps of 2^(largest - 28) or, for half precision, 2^(largest - 15), cut towards zero. */
UNIT int significand_of(uint bits, int up)
{
    const int whole = (int)((bits & 0x7fffffu) | 0x800000u);
    const int cut = up >= 0 ? whole << up : whole >> (up > -31 ? -up : 31);
    const int size = exponent_of(bits) == 0 ? 0 : cut;
    return (bits & SIGN) != 0 ? -size : size;
}

UNIT struct total quad_total(uint4 texel, int4 weight, uint used, bool half_)
{
    const struct scale scale = scale_of(texel, weight, half_);
    const int shift = scale.shift;
    const int a = significand_of(texel.x, exponent_of(texel.x) - 150 + shift);
    const int b = significand_of(texel.y, exponent_of(texel.y) - 150 + shift);
    const int c = significand_of(texel.z, exponent_of(texel.z) - 150 + shift);
    const int d = significand_of(texel.w, exponent_of(texel.w) - 150 + shift);
    struct total total = {0, scale, properties_of(texel, used, half_)};
    if (half_) {
        total.sum = a * weight.x + b * weight.y + c * weight.z + d * weight.w;
    } else { /* in two halves of 14 bits, the products of which have 23 */
        const int high = (a >> 14) * weight.x + (b >> 14) * weight.y + (c >> 14) * weight.z + (d >> 14) * weight.w;
        const int low = (a & 0x3fff) * weight.x + (b & 0x3fff) * weight.y + (c & 0x3fff) * weight.z + (d & 0x3fff) * weight.w;
        total.sum = (long)high * 0x4000 + low;
    }
    return total;
}

/* value * 2^shift, rounded down. */
UNIT long shifted(long value, int shift)
{
    return shift >= 0 ? value << (shift < 62 ? shift : 62) : value >> (shift > -63 ? -shift : 63);
}

UNIT long sum_at(struct total total, int point)
{
    return total.scale.empty ? 0 : shifted(total.sum, point - total.scale.shift - 8);
}

/* Adds the one or two quads of a level: they and the sum are rounded down to a common point. */
UNIT struct total added(struct total total, struct total near, struct total far, bool half_)
{
    const uint properties = total.properties | near.properties | far.properties;
    if (near.scale.empty && far.scale.empty) {
        total.properties = properties;
        return total;
    }
    const int point = next_point(total.scale.empty, total.scale.shift + 8, near.scale, far.scale, half_);
    return (struct total){sum_at(total, point) + sum_at(near, point) + sum_at(far, point), {point - 8, false}, properties};
}

/* Bits of a number below 2^48: those of an integer below 2^24 are the exponent of the same float. */
UNIT int bit_length(ulong value)
{
    const uint high = (uint)(value >> 24);
    const float number = (float)(int)(high != 0 ? high : (uint)value);
    return (int)(__builtin_astype(number, uint) >> 23) - 126 + (high != 0 ? 24 : 0);
}

/* The bits of the sum as a float, rounded to single or half precision, half away from zero. */
UNIT uint rounded(struct total total, bool half_)
{
    uint bits;
    if (is_special(total.properties, &bits)) return bits;
    if (total.scale.empty || total.sum == 0) return 0;
    const uint sign = total.sum < 0 ? SIGN : 0;
    const ulong size = (ulong)(total.sum < 0 ? -total.sum : total.sum);
    const int least = half_ ? -24 : -149, digits = half_ ? 11 : 24;
    int unit = bit_length(size) - (total.scale.shift + 8) - digits;
    unit = unit < least ? least : unit;
    const int shift = unit + (total.scale.shift + 8);
    const uint steps = (uint)(shift > 0 ? (size + ((ulong)1 << (shift - 1))) >> shift : size << -shift);
    if (half_) return sign | __builtin_astype((float)(int)steps * power_of_two(unit), uint);
    if (steps < 0x800000u) return sign; /* a denormal number */
    return sign | (((uint)(unit + 149) << 23) + steps);
}

#endif

/* ---- integers: weighted sums of codes, in 1/256 */

UNIT uint normalized_of(int sum, uint type)
{
    if (type == UNORM_INT8) return __builtin_astype(quotient((float)((257 * sum + 128) >> 8), UNORM_INT16), uint);
    if (type == UNORM_INT16) return __builtin_astype(quotient((float)((sum + 128) >> 8), UNORM_INT16), uint);
    if (type == SNORM_INT8) sum = 258 * sum + (sum >> 12) * 32;
    const int code = (sum + 128) >> 8;
    return __builtin_astype(quotient((float)(code > -32767 ? code : -32767), SNORM_INT16), uint);
}

#endif
#endif
