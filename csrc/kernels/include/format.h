/* The `format` argument of the kernels: formats of the values array and of the image.
 *     bits 0-7    element type of the values
 *     bits 8-11   channels of the values, 1 to 4
 *     bits 16-23  channel type of the image
 *     bits 24-27  channels of the image
 *     bit 28      promises that pairs of coordinates (gradients too) and whole items of values are aligned
 * A loader of PTX may replace the argument by a constant: code for other formats then folds away. */
#ifndef BINDLESS_KERNELS_INCLUDE_FORMAT_H
#define BINDLESS_KERNELS_INCLUDE_FORMAT_H

#include "blob.h"
#include "geometry.h"
#include "half.h"

enum element_type { ELEMENT_S8, ELEMENT_U8, ELEMENT_S16, ELEMENT_U16, ELEMENT_S32, ELEMENT_U32, ELEMENT_F16, ELEMENT_F32,
                    ELEMENT_F64 /* of pictures of arrays in memory alone */ };

enum channel_type {
    SNORM_INT8, SNORM_INT16, UNORM_INT8, UNORM_INT16,
    SIGNED_INT8, SIGNED_INT16, SIGNED_INT32,
    UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32,
    FP16, FP32,
    FP64 /* of arrays in memory alone */
};

/* OpenCL C can receive the format at compile time, as specialization constant 0, for the same purpose. */
#ifdef BINDLESS_OPENCL_C
#define KNOWN(FORMAT) bindless_constant_uint(0, FORMAT)
#else
#define KNOWN(FORMAT) (FORMAT)
#endif

static inline uint element_type(uint format) { return KNOWN(format) & 0xff; }
static inline uint value_channels(uint format) { return KNOWN(format) >> 8 & 0xf; }
static inline uint channel_type(uint format) { return KNOWN(format) >> 16 & 0xff; }
static inline uint image_channels(uint format) { return KNOWN(format) >> 24 & 0xf; }
static inline bool aligned(uint format) { return (KNOWN(format) >> 28 & 1) != 0; }

/* Bytes of an element: 1, 1, 2, 2, 4, 4, 2, 4 in the order of the enumeration, as exponents of two. */
static inline uint element_size(uint format) { return 1u << (0x9a50u >> 2 * element_type(format) & 3); }

/* Bytes of one channel of the image, encoded the same way. */
static inline uint channel_size(uint format) { return 1u << (0x992444u >> 2 * channel_type(format) & 3); }

static inline bool floating(uint format) { return element_type(format) >= ELEMENT_F16; }
static inline bool signed_element(uint format) { return (element_type(format) & 1) == 0 && !floating(format); }

/* The largest code of a normalized channel type, as a float. */
static inline float largest_code(uint type)
{
    return type == UNORM_INT8 ? 255.0f : type == UNORM_INT16 ? 65535.0f : type == SNORM_INT8 ? 127.0f : 32767.0f;
}

/* The code nearest to value * largest for |value| <= 1, ties to even, without double rounding: the product, rounded
 * to float, can be wrong only exactly between two codes, where its own rounding error decides. */
static inline int nearest_code(float value, float largest)
{
    float product = value * largest;
    float code = __builtin_rintf(product);
    float error = __builtin_fmaf(value, largest, -product);
    float rest = product - code;
    if (rest == 0.5f && error > 0.0f) code += 1.0f;
    if (rest == -0.5f && error < 0.0f) code -= 1.0f;
    return (int)code;
}

static inline uint encode_channel(float value, uint type)
{
    if (type == FP32) return __builtin_astype(value, uint);
    if (type == FP16) return float_to_half_bits(value);
    float lowest = type == UNORM_INT8 || type == UNORM_INT16 ? 0.0f : -1.0f;
    value = value == value ? __builtin_fminf(__builtin_fmaxf(value, lowest), 1.0f) : 0.0f;
    return (uint)nearest_code(value, largest_code(type));
}

/* Encodes values as stored channels: rounds to nearest even, clamps normalized types, and maps NaN to 0. */
static inline uint4 encode(float4 values, uint type)
{
    return (uint4)(encode_channel(values.x, type), encode_channel(values.y, type), encode_channel(values.z, type),
                   encode_channel(values.w, type));
}

/* code / largest for every code, correctly rounded, without a division: the reciprocal has a high and a low part, so
 * that a single rounding of the sum gives the quotient. Verified for every code of each type, not for arbitrary
 * numbers. */
static inline float quotient(float code, uint type)
{
    const float high = type == UNORM_INT8    ? 0x1.010102p-8f
                       : type == UNORM_INT16 ? 0x1.0001p-16f
                       : type == SNORM_INT8  ? 0x1.020408p-7f
                                             : 0x1.0002p-15f;
    const float low = type == UNORM_INT8    ? -0x1.fdfdfep-33f
                      : type == UNORM_INT16 ? 0x1.0001p-48f
                      : type == SNORM_INT8  ? 0x1.020408p-35f
                                            : 0x1.0002p-45f;
    return __builtin_fmaf(code, high, code * low);
}

static inline float decode_code(uint bits, uint type)
{
    if (type == UNORM_INT8 || type == UNORM_INT16) return quotient((float)bits, type);
    const int code = type == SNORM_INT8 ? (int)(bits << 24) >> 24 : (int)(bits << 16) >> 16;
    return __builtin_fmaxf(quotient((float)code, type), -1.0f);
}

/* Decodes stored channels, each zero-extended: max(code / largest, -1), correctly rounded for normalized types. */
static inline float4 decode(uint4 channels, uint type)
{
    if (type == FP32) return __builtin_astype(channels, float4);
    if (type == FP16)
        return (float4)(half_bits_to_float(channels.x), half_bits_to_float(channels.y), half_bits_to_float(channels.z),
                        half_bits_to_float(channels.w));
    return (float4)(decode_code(channels.x, type), decode_code(channels.y, type), decode_code(channels.z, type),
                    decode_code(channels.w, type));
}

/* Converts a color to elements of a values array. Classes i and u keep the low bits of each channel. */
#if CLASS_F
static inline uint4 color_to_elements(float4 value, uint format)
{
    if (element_type(format) == ELEMENT_F16)
        return (uint4)(float_to_half_bits(value.x), float_to_half_bits(value.y), float_to_half_bits(value.z),
                       float_to_half_bits(value.w));
    return __builtin_astype(value, uint4);
}
#else
static inline uint4 color_to_elements(color value, uint format)
{
    return __builtin_astype(value, uint4);
}
#endif

/* Sets channels that the image does not have to zero, including alpha. */
static inline color mask_channels(color value, uint format)
{
    uint channels = image_channels(format);
    if (channels < 4) value.w = 0;
    if (channels < 3) value.z = 0;
    if (channels < 2) value.y = 0;
    return value;
}

#endif
