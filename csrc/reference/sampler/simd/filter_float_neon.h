/* Blending of a block of float texels with 128-bit vectors: four channels at a time, of one, two or four items. The
 * method is that of sampler/simd/filter_float_avx2.h, with sums in 64-bit integers, the lower and upper two channels
 * separately. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FLOAT_NEON_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FLOAT_NEON_H

#include "sampler/simd/vector_neon.h"

#define EXPONENT(e) vdupq_n_s32((int32_t)((uint32_t)(e) << 23))

/* ---- common to float and half */

/* Exponents to which a quad is aligned, biased and in place; *doubtful collects the channels to be recomputed. */
BLR_INLINE_BLEND int32x4_t align_lanes(const struct lanes *lanes, const int lowest_exponent, const bool all_sizes,
                                       uint32x4_t *doubtful)
{
    const int32x4_t lowest = EXPONENT(lowest_exponent);
    int32x4_t maximum = vdupq_n_s32(0), largest = maximum, bits_seen = maximum;
    for (int k = 0; k < 4; k++) {
        const int32x4_t bits = vreinterpretq_s32_f32(lanes->texel[k]);
        const int32x4_t weighed = vandq_s32(bits, vreinterpretq_s32_u32(vcgtzq_s32(lanes->weight[k])));
        maximum = vmaxq_s32(maximum, vandq_s32(bits, vdupq_n_s32(0x7fffffff)));
        largest = vmaxq_s32(largest, vandq_s32(weighed, vdupq_n_s32(0x7fffffff)));
        bits_seen = vorrq_s32(bits_seen, weighed);
    }
    /* Infinities and NaNs, whatever their weight. */
    *doubtful = vorrq_u32(*doubtful, vcgeq_s32(maximum, EXPONENT(255)));
    /* Zero, or too small for the scaling. Zeros are exact unless one of them is negative. */
    const uint32x4_t tiny = all_sizes ? vceqzq_s32(largest) : vcltq_s32(largest, lowest);
    *doubtful = vorrq_u32(*doubtful, vbicq_u32(tiny, vceqzq_s32(bits_seen)));
    return vandq_s32(vmaxq_s32(largest, lowest), EXPONENT(255));
}

/* Left shift for a difference of exponents, in place; a negative count shifts to the right. */
BLR_INLINE_BLEND int32x4_t shift_of(int32x4_t difference)
{
    return vmaxq_s32(vshrq_n_s32(difference, 23), vdupq_n_s32(-100));
}

/* ---- float */

struct float_sums {
    int64x2_t low, high;                  /* unit 2^(exponent - 36) */
    int32x4_t exponent;
};

BLR_INLINE_BLEND struct float_sums sum_fp32(const struct lanes *lanes, uint32x4_t *doubtful)
{
    struct float_sums sums = {vdupq_n_s64(0), vdupq_n_s64(0), align_lanes(lanes, LOWEST_EXPONENT, false, doubtful)};
    const float32x4_t scale = vreinterpretq_f32_s32(vsubq_s32(EXPONENT(281), sums.exponent));
    for (int k = 0; k < 4; k++) {
        const int32x4_t steps = vcvtq_s32_f32(vmulq_f32(lanes->texel[k], scale)), weight = lanes->weight[k];
        sums.low = vmlal_s32(sums.low, vget_low_s32(steps), vget_low_s32(weight));
        sums.high = vmlal_high_s32(sums.high, steps, weight);
    }
    return sums;
}

BLR_INLINE_BLEND float32x4_t round_fp32(const struct float_sums *sums)
{
    const float64x2_t ties = vdupq_n_f64(1.0 + 0x1p-50);
    const float32x2_t low = vcvt_f32_f64(vmulq_f64(vcvtq_f64_s64(sums->low), ties));
    const float32x4_t value = vcvt_high_f32_f64(low, vmulq_f64(vcvtq_f64_s64(sums->high), ties));
    return vmulq_f32(value, vreinterpretq_f32_s32(vsubq_s32(sums->exponent, EXPONENT(35))));
}

/* floor(value * 2^shift), shift being a difference of exponents in place. */
BLR_INLINE_BLEND void floor_sums(struct float_sums *sums, int32x4_t shift)
{
    const int32x4_t count = shift_of(shift);
    sums->low = vshlq_s64(sums->low, vmovl_s32(vget_low_s32(count)));
    sums->high = vshlq_s64(sums->high, vmovl_high_s32(count));
}

BLR_INLINE_BLEND void floor_to(struct float_sums *sums, int32x4_t point)
{
    floor_sums(sums, vsubq_s32(sums->exponent, point));
    sums->exponent = point;
}

BLR_INLINE_BLEND void add_floored(struct float_sums *total, struct float_sums *next, int32x4_t point)
{
    floor_to(next, point);
    total->low = vaddq_s64(total->low, next->low);
    total->high = vaddq_s64(total->high, next->high);
}

BLR_INLINE_BLEND struct float_sums sum_of_quad(const struct blr_block *block, uint32_t q, uint32_t item, const int channels,
                                               const bool boxes, uint32x4_t *doubtful)
{
    struct lanes lanes;
    load_lanes(block, q, item, false, channels, boxes, &lanes);
    return sum_fp32(&lanes, doubtful);
}

BLR_INLINE_BLEND float32x4_t blend_fp32(const struct blr_block *block, uint32_t item, const int channels, const bool several,
                                        const bool boxes, uint32x4_t *doubtful)
{
    struct float_sums total = sum_of_quad(block, 0, item, channels, boxes, doubtful);
    if (several) {
        struct float_sums next = sum_of_quad(block, 1, item, channels, boxes, doubtful);
        int32x4_t point = vandq_s32(vmaxq_s32(total.exponent, next.exponent), EXPONENT(252));
        floor_to(&total, point);
        add_floored(&total, &next, point);
        /* Volumes with two levels have two more quads: the slices of the second level, aligned together. */
        for (uint32_t q = 2; q < block->quads; q += 2) {
            struct float_sums near = sum_of_quad(block, q, item, channels, boxes, doubtful);
            struct float_sums far = sum_of_quad(block, q + 1, item, channels, boxes, doubtful);
            point = vmaxq_s32(point, vandq_s32(vmaxq_s32(near.exponent, far.exponent), EXPONENT(252)));
            floor_to(&total, point);
            add_floored(&total, &near, point);
            add_floored(&total, &far, point);
        }
    }
    return round_fp32(&total);
}

/* ---- half */

/* Sums of a quad in units of 2^(exponent - 23): below 2^23, exact in float. */
BLR_INLINE_BLEND float32x4_t sum_fp16(const struct lanes *lanes, int32x4_t *exponent, uint32x4_t *doubtful)
{
    *exponent = align_lanes(lanes, 113, true, doubtful);
    const float32x4_t scale = vreinterpretq_f32_s32(vsubq_s32(EXPONENT(268), *exponent));
    float32x4_t sum = vdupq_n_f32(0.0f);
    for (int k = 0; k < 4; k++)
        sum = vfmaq_f32(sum, vrndq_f32(vmulq_f32(lanes->texel[k], scale)), vcvtq_f32_s32(lanes->weight[k]));
    return sum;
}

/* Rounds half away from zero to eleven bits, or to 2^-24 below the normal halves. */
BLR_INLINE_BLEND float32x4_t round_fp16(float32x4_t sum, int32x4_t exponent)
{
    const uint32x4_t sign = vdupq_n_u32(0x80000000u);
    const float32x4_t unit = vreinterpretq_f32_s32(vsubq_s32(exponent, EXPONENT(22)));
    const int32x4_t bits = vaddq_s32(vreinterpretq_s32_f32(sum), vdupq_n_s32(0x1000));
    const float32x4_t value = vmulq_f32(vreinterpretq_f32_s32(vandq_s32(bits, vdupq_n_s32(-0x2000))), unit);
    const float32x4_t exact = vmulq_f32(sum, unit);
    float32x4_t steps = vmulq_f32(vabsq_f32(exact), vdupq_n_f32(0x1p24f));
    steps = vmulq_f32(vrndmq_f32(vaddq_f32(steps, vdupq_n_f32(0.5f))), vdupq_n_f32(0x1p-24f));
    return vbslq_f32(vcltq_f32(vabsq_f32(exact), vdupq_n_f32(0x1p-14f)), vbslq_f32(sign, exact, steps), value);
}

/* Converts an integer below 2^28 to float, truncated to 24 bits: a value below a tie stays below it. */
BLR_INLINE_BLEND float32x4_t cut_to_float(int32x4_t integer)
{
    int32x4_t size = vabsq_s32(integer);
    const uint32x4_t large = vcgtq_s32(size, vdupq_n_s32((1 << 24) - 1));
    size = vbicq_s32(size, vreinterpretq_s32_u32(vandq_u32(large, vdupq_n_u32(15))));
    return vbslq_f32(vdupq_n_u32(0x80000000u), vreinterpretq_f32_s32(integer), vcvtq_f32_s32(size));
}

BLR_INLINE_BLEND int32x4_t integers_fp16(const struct blr_block *block, uint32_t q, uint32_t item, const int channels,
                                         const bool boxes, int32x4_t *exponent, uint32x4_t *doubtful)
{
    struct lanes lanes;
    load_lanes(block, q, item, true, channels, boxes, &lanes);
    return vcvtq_s32_f32(sum_fp16(&lanes, exponent, doubtful));
}

BLR_INLINE_BLEND int32x4_t floor_bits(int32x4_t integer, int32x4_t from, int32x4_t to)
{
    return vshlq_s32(integer, shift_of(vsubq_s32(from, to)));
}

BLR_INLINE_BLEND float32x4_t blend_fp16(const struct blr_block *block, uint32_t item, const int channels, const bool several,
                                        const bool boxes, uint32x4_t *doubtful)
{
    int32x4_t exponent;
    if (!several) {
        struct lanes lanes;
        load_lanes(block, 0, item, true, channels, boxes, &lanes);
        const float32x4_t sum = sum_fp16(&lanes, &exponent, doubtful);
        return round_fp16(sum, exponent);
    }
    int32x4_t total = integers_fp16(block, 0, item, channels, boxes, &exponent, doubtful);
    int32x4_t point = vandq_s32(exponent, EXPONENT(252));
    total = floor_bits(total, exponent, point);
    for (uint32_t q = 1; q < block->quads;) {
        /* The two slices of a volume's second level are aligned together. */
        const uint32_t together = q == 2 ? 2 : 1;
        const int32x4_t before = point;
        int32x4_t next[2], exponents[2];
        for (uint32_t k = 0; k < together; k++) {
            next[k] = integers_fp16(block, q++, item, channels, boxes, &exponents[k], doubtful);
            point = vmaxq_s32(point, vandq_s32(exponents[k], EXPONENT(252)));
        }
        total = floor_bits(total, before, point);
        for (uint32_t k = 0; k < together; k++)
            total = vaddq_s32(total, floor_bits(next[k], exponents[k], point));
    }
    return round_fp16(cut_to_float(total), point);
}

/* ---- whole blocks */

BLR_INLINE_BLEND uint64_t blend_floats(const struct blr_block *block, float *out, bool stream, const bool half,
                                       const int channels, const bool several, const bool boxes)
{
    uint64_t again = 0;
    for (uint32_t item = 0; item < block->count; item += 4 / LANES_OF(channels), out += 4) {
        uint32x4_t doubtful = vdupq_n_u32(0);
        const float32x4_t value = half ? blend_fp16(block, item, channels, several, boxes, &doubtful)
                                       : blend_fp32(block, item, channels, several, boxes, &doubtful);
        store_lanes(out, value, stream);
        if (any_lane(doubtful))
            again |= (uint64_t)items_of_lanes(doubtful, channels) << item;
    }
    return again;
}

/* taps: quads are aligned in groups of up to four, and weights have two more bits */

BLR_INLINE_BLEND void add_taps_fp32(const struct blr_block *block, uint32_t item, struct blr_totals *totals, uint32_t lane,
                                    const int channels, uint32x4_t *doubtful)
{
    struct float_sums next[BLR_BLOCK_QUADS], total = {vld1q_s64(&totals->even[lane / 2]), vld1q_s64(&totals->odd[lane / 2]),
                                                      vld1q_s32(&totals->point[lane])};
    int32x4_t point = total.exponent;
    for (uint32_t q = 0; q < block->quads; q++) {
        next[q] = sum_of_quad(block, q, item, channels, false, doubtful);
        point = vmaxq_s32(point, vandq_s32(next[q].exponent, EXPONENT(252)));
    }
    floor_to(&total, point);
    for (uint32_t q = 0; q < block->quads; q++) {
        next[q].exponent = vsubq_s32(next[q].exponent, EXPONENT(2));
        add_floored(&total, &next[q], point);
    }
    vst1q_s64(&totals->even[lane / 2], total.low);
    vst1q_s64(&totals->odd[lane / 2], total.high);
    vst1q_s32(&totals->point[lane], point);
}

BLR_INLINE_BLEND void add_taps_fp16(const struct blr_block *block, uint32_t item, struct blr_totals *totals, uint32_t lane,
                                    const int channels, uint32x4_t *doubtful)
{
    int32x4_t next[BLR_BLOCK_QUADS], exponent[BLR_BLOCK_QUADS];
    const int32x4_t before = vld1q_s32(&totals->point[lane]);
    int32x4_t point = before;
    for (uint32_t q = 0; q < block->quads; q++) {
        struct lanes lanes;
        load_lanes(block, q, item, true, channels, false, &lanes);
        exponent[q] = align_lanes(&lanes, 113, true, doubtful);
        const float32x4_t scale = vreinterpretq_f32_s32(vsubq_s32(EXPONENT(268), exponent[q]));
        next[q] = vdupq_n_s32(0);
        for (int k = 0; k < 4; k++)
            next[q] = vmlaq_s32(next[q], vcvtq_s32_f32(vmulq_f32(lanes.texel[k], scale)), lanes.weight[k]);
        point = vmaxq_s32(point, vandq_s32(exponent[q], EXPONENT(252)));
    }
    int32x4_t total = floor_bits(vld1q_s32(&totals->sum[lane]), before, point);
    for (uint32_t q = 0; q < block->quads; q++)
        total = vaddq_s32(total, floor_bits(next[q], vsubq_s32(exponent[q], EXPONENT(2)), point));
    vst1q_s32(&totals->sum[lane], total);
    vst1q_s32(&totals->point[lane], point);
}

BLR_INLINE_BLEND uint64_t add_taps_of_floats(const struct blr_block *block, struct blr_totals *totals, const bool half,
                                             const int channels)
{
    uint64_t again = 0;
    uint32_t lane = 0;
    for (uint32_t item = 0; item < block->count; item += 4 / LANES_OF(channels), lane += 4) {
        uint32x4_t doubtful = vdupq_n_u32(0);
        if (half)
            add_taps_fp16(block, item, totals, lane, channels, &doubtful);
        else
            add_taps_fp32(block, item, totals, lane, channels, &doubtful);
        if (any_lane(doubtful))
            again |= (uint64_t)items_of_lanes(doubtful, channels) << item;
    }
    return again;
}

BLR_INLINE_BLEND void end_taps_of_floats(const struct blr_totals *totals, uint32_t lanes, float *out, const bool half)
{
    for (uint32_t lane = 0; lane < lanes; lane += 4) {
        const int32x4_t point = vld1q_s32(&totals->point[lane]);
        const struct float_sums sums = {vld1q_s64(&totals->even[lane / 2]), vld1q_s64(&totals->odd[lane / 2]), point};
        vst1q_f32(out + lane, half ? round_fp16(cut_to_float(vld1q_s32(&totals->sum[lane])), point) : round_fp32(&sums));
    }
}

#endif
