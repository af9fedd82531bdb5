/* Half-precision arithmetic: computed exactly as floats, and rounded once to nearest even. */
#ifndef BINDLESS_REFERENCE_SPIRV_HALF_H
#define BINDLESS_REFERENCE_SPIRV_HALF_H

#include <stdint.h>
#include <string.h>

static inline float blr_lane_from_half(uint16_t half)
{
    uint32_t magnitude = half & 0x7fffu, bits;
    float value;
    if (magnitude >= 0x7c00u) {
        bits = 0x7f800000u | (magnitude & 0x3ffu) << 13;
    } else {
        /* 2^112 adjusts the exponent; denormals convert exactly because floats have the range for them. */
        bits = magnitude << 13;
        memcpy(&value, &bits, sizeof value);
        value *= 0x1p112f;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= (uint32_t)(half & 0x8000u) << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint16_t blr_lane_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u) /* 65520 and more */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) { /* normal halves */
        uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
        return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
    }
    float small;
    memcpy(&small, &magnitude, sizeof small);
    small += 0.5f; /* the last bit now has the weight of the least half */
    memcpy(&magnitude, &small, sizeof magnitude);
    return (uint16_t)(sign | (magnitude - 0x3f000000u));
}

static inline uint16_t blr_lane_to_half_from_double(double value)
{
    float nearest = (float)value;
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    /* Avoids double rounding: an inexact intermediate float is made odd. */
    if ((double)nearest != value && value == value && (bits & 0x7fffffffu) < 0x7f800000u && (bits & 1u) == 0) {
        double magnitude = value < 0 ? -value : value, size = nearest < 0 ? -(double)nearest : (double)nearest;
        bits += magnitude > size ? 1u : UINT32_MAX;
        if (nearest == 0.0f)
            bits = 1u | (value < 0 ? 0x80000000u : 0u);
        memcpy(&nearest, &bits, sizeof nearest);
    }
    return blr_lane_to_half(nearest);
}

#endif
