/* Blending of float and half texels: aligned to the largest exponent, truncated, summed exactly in
 * integers, rounded half away from zero. */
#include "image/packed_format.h"
#include "sampler/sampler.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct precision {
    int bits;                             /* significand bits of the result */
    int guard;                            /* bits kept of a texel, beyond those */
    int min_exponent;                     /* frexp exponent of the smallest normal number */
};

/* Texels of sRGB have 8 bits, and sums of them become halves. */
static const struct precision fp32 = {24, 4, -125}, fp16 = {11, 4, -13}, srgb = {11, -3, -13};

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A sum of texels: value = sum / 2^point. */
struct quad_sum {
    int64_t sum;
    int point;
    bool empty;                           /* no nonzero texel contributed */
};

static int64_t floor_shift(int64_t value, int shift)
{
    if (shift >= 0)
        return value * (INT64_C(1) << shift);
    return value >> (shift > -63 ? -shift : 63);
}

static struct quad_sum sum_quad(const float texel[4], const int32_t weight[4], struct precision precision)
{
    struct quad_sum result = {0, 0, true};
    uint32_t largest = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t exponent = float_bits(texel[k]) >> 23 & 255;
        if (weight[k] && exponent > largest)
            largest = exponent;
    }
    if (largest == 0)
        return result;
    result.empty = false;
    int exponent = (int)largest - 126;
    if (exponent < precision.min_exponent)
        exponent = precision.min_exponent;
    int shift = precision.bits + precision.guard - exponent;
    for (int k = 0; k < 4; k++) {
        uint32_t bits = float_bits(texel[k]);
        int biased = (int)(bits >> 23 & 255);
        if (!weight[k] || biased == 0)
            continue;
        int64_t significand = (bits & 0x7fffffu) | 0x800000u;
        int up = biased - 150 + shift;
        int64_t truncated = up >= 0 ? significand << up : significand >> (up > -63 ? -up : 63);
        result.sum += (bits >> 31 ? -truncated : truncated) * weight[k];
    }
    result.point = shift + 8;
    return result;
}

/* The common point that several sums are aligned to: the next one on a grid of four exponents. */
static int common_point(int point, struct precision precision)
{
    int distance = precision.bits + precision.guard + 10 - point;
    return point + (distance % 4 + 4) % 4;
}

static float round_sum(int64_t sum, int point, struct precision precision)
{
    if (sum == 0)
        return 0.0f;
    double value = ldexp((double)sum, -point);
    if (precision.bits == 24) {           /* fewer than 48 bits: 2^-50 only moves a tie */
        float nearest = (float)(value * (1.0 + 0x1p-50));
        return fabsf(nearest) < FLT_MIN ? copysignf(0.0f, nearest) : nearest;
    }
    int exponent;
    frexp(value, &exponent);
    if (exponent < precision.min_exponent)
        exponent = precision.min_exponent;
    double steps = floor(ldexp(fabs(value), precision.bits - exponent) + 0.5);
    return (float)copysign(ldexp(steps, exponent - precision.bits), value);
}

/* Special values among the texels: NaNs, infinities and signed zeros. Returns whether *special is the result. */
struct special {
    bool nan, positive, negative, all_negative_zero;
};

static void look_at(struct special *special, float texel, struct precision precision)
{
    /* A denormal float counts as a zero of its sign; halves are never denormal after conversion to float. */
    bool vanishes = precision.bits == 24 ? fabsf(texel) < FLT_MIN : texel == 0.0f;
    special->nan |= isnan(texel);
    special->positive |= texel == INFINITY;
    special->negative |= texel == -INFINITY;
    special->all_negative_zero &= vanishes && signbit(texel);
}

static bool special_result(const struct special *special, float *result)
{
    if (special->nan || (special->positive && special->negative)) {
        uint32_t bits = 0x7fffffffu;
        memcpy(result, &bits, sizeof bits);
        return true;
    }
    if (special->positive || special->negative) {
        *result = special->positive ? INFINITY : -INFINITY;
        return true;
    }
    if (special->all_negative_zero) {
        *result = -0.0f;
        return true;
    }
    return false;
}

static float load_fp32(const unsigned char *channel)
{
    float value;
    memcpy(&value, channel, sizeof value);
    return value;
}

static float load_fp16(const unsigned char *channel)
{
    uint16_t half;
    memcpy(&half, channel, sizeof half);
    return blr_half_to_float(half);
}

/* Groups of quads are aligned together and added to the running sum, which is floored when its point moves. The
 * finer level's groups come first, and no group spans both levels. */
static float add_quads(const struct blr_footprint *footprint, const struct quad_sum quads[BLR_MAX_QUADS], struct precision precision)
{
    if (footprint->count == 1 && footprint->extra_bits == 0)
        return round_sum(quads[0].sum, quads[0].point, precision);

    int64_t sum = 0;
    int point = 0;
    bool empty = true;
    uint32_t extra = footprint->extra_bits;
    for (uint32_t begin = 0, end; begin < footprint->count; begin = end) {
        uint32_t limit = begin < footprint->first_level ? footprint->first_level : footprint->count;
        end = begin + footprint->group < limit ? begin + footprint->group : limit;
        int next = 0;
        bool live = false;
        for (uint32_t q = begin; q < end; q++) {
            if (quads[q].empty)
                continue;
            int candidate = common_point(quads[q].point, precision);
            next = !live || candidate < next ? candidate : next;
            live = true;
        }
        if (!live)
            continue;
        if (!empty && point < next)
            next = point;
        sum = empty ? 0 : floor_shift(sum, next - point);
        point = next;
        empty = false;
        for (uint32_t q = begin; q < end; q++)
            if (!quads[q].empty)
                sum += floor_shift(quads[q].sum, point - quads[q].point - (int)extra);
    }
    return round_sum(sum, point, precision);
}

static float blend(const struct blr_footprint *footprint, uint32_t offset, struct precision precision,
                   float (*load)(const unsigned char *))
{
    struct special special = {false, false, false, true};
    struct quad_sum quads[BLR_MAX_QUADS];
    for (uint32_t q = 0; q < footprint->count; q++) {
        const struct blr_quad *quad = &footprint->quad[q];
        float texel[4];
        for (int k = 0; k < 4; k++) {
            texel[k] = load(quad->texel[k] + offset);
            if (quad->used >> k & 1u)
                look_at(&special, texel[k], precision);
            if (!isfinite(texel[k]))
                texel[k] = 0.0f;
        }
        quads[q] = sum_quad(texel, quad->weight, precision);
    }
    float result;
    return special_result(&special, &result) ? result : add_quads(footprint, quads, precision);
}

float blr_blend_fp32(const struct blr_footprint *footprint, uint32_t offset)
{
    return blend(footprint, offset, fp32, load_fp32);
}

float blr_blend_fp16(const struct blr_footprint *footprint, uint32_t offset)
{
    return blend(footprint, offset, fp16, load_fp16);
}

/* ---------------------------------------------------------------- codes of sRGB */

/* Significands are cut at the largest exponent among the texels with a weight. */
static struct quad_sum sum_srgb_quad(const struct blr_quad *quad, uint32_t channel)
{
    struct quad_sum result = {0, 0, true};
    uint32_t exponent = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t parts = blr_srgb_parts[quad->texel[k][channel]];
        if (quad->weight[k] == 0)
            continue;
        result.empty &= parts == 0;
        if (parts >> 16 > exponent)
            exponent = parts >> 16;
    }
    for (int k = 0; k < 4; k++) {
        const uint32_t parts = blr_srgb_parts[quad->texel[k][channel]];
        if (quad->weight[k] != 0)
            result.sum += (int64_t)((parts & 0xffffu) >> (exponent - (parts >> 16))) * quad->weight[k];
    }
    result.point = 22 - (int)exponent;
    return result;
}

float blr_blend_srgb(const struct blr_footprint *footprint, uint32_t channel)
{
    struct quad_sum quads[BLR_MAX_QUADS];
    for (uint32_t q = 0; q < footprint->count; q++)
        quads[q] = sum_srgb_quad(&footprint->quad[q], channel);
    return add_quads(footprint, quads, srgb);
}
