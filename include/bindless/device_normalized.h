/* Fetches and writes of normalized unsampled images as floats: the functions of device.h with a channel type. */
#ifndef BINDLESS_DEVICE_NORMALIZED_H
#define BINDLESS_DEVICE_NORMALIZED_H

#define BINDLESS_AT_1d int at
#define BINDLESS_AT_2d int2 at
#define BINDLESS_AT_3d int3 at
#define BINDLESS_AT_1d_array int at, uint layer
#define BINDLESS_AT_2d_array int2 at, uint layer

#ifdef __NVPTX__
/* Targets that address pixels by bytes: x is scaled by the pixel's size. */
#define BINDLESS_BYTES_1d(PIXEL) at *(PIXEL)
#define BINDLESS_BYTES_2d(PIXEL) at.x *(PIXEL), at.y
#define BINDLESS_BYTES_3d(PIXEL) at.x *(PIXEL), at.y, at.z
#define BINDLESS_BYTES_1d_array(PIXEL) layer, at *(PIXEL)
#define BINDLESS_BYTES_2d_array(PIXEL) layer, at.x *(PIXEL), at.y

BINDLESS_FUNCTION bool bindless_has_bytes(uint type)
{
    return type == bindless_snorm_int8 || type == bindless_unorm_int8;
}

BINDLESS_FUNCTION bool bindless_has_signs(uint type)
{
    return type == bindless_snorm_int8 || type == bindless_snorm_int16;
}

BINDLESS_FUNCTION float bindless_largest_code(uint type)
{
    return type == bindless_unorm_int8    ? 255.0f
           : type == bindless_unorm_int16 ? 65535.0f
           : type == bindless_snorm_int8  ? 127.0f
                                          : 32767.0f;
}

/* code / largest, correctly rounded for every code, independent of the compiler's division: the product with the
 * reciprocal is off by one unit at most, and the remainder corrects it. */
BINDLESS_FUNCTION float bindless_value_of(int code, uint type)
{
    const float largest = bindless_largest_code(type);
    const float reciprocal = 1.0f / largest; /* exact reciprocal of a constant */
    const float near = (float)code * reciprocal;
    const float value = __builtin_fmaf(__builtin_fmaf(-near, largest, (float)code), reciprocal, near);
    return __builtin_fmaxf(value, -1.0f);
}

BINDLESS_FUNCTION float4 bindless_decode(uint4 raw, uint type)
{
    int4 codes;
    if (bindless_has_bytes(type)) {
        const char4 bytes = __builtin_astype(raw.x, char4);
        codes = __builtin_convertvector(bytes, int4);
        codes = bindless_has_signs(type) ? codes : codes & 255;
    } else {
        const short4 words = __builtin_astype(raw.xy, short4);
        codes = __builtin_convertvector(words, int4);
        codes = bindless_has_signs(type) ? codes : codes & 65535;
    }
    return (float4)(bindless_value_of(codes.x, type), bindless_value_of(codes.y, type),
                    bindless_value_of(codes.z, type), bindless_value_of(codes.w, type));
}

/* The nearest code, ties to even, without double rounding: the rounded product can be wrong only exactly between two
 * codes, and there its rounding error decides. NaN becomes 0. */
BINDLESS_FUNCTION int bindless_code_of(float value, uint type)
{
    const float largest = bindless_largest_code(type), lowest = bindless_has_signs(type) ? -1.0f : 0.0f;
    const float inside = value == value ? __builtin_fminf(__builtin_fmaxf(value, lowest), 1.0f) : 0.0f;
    const float product = inside * largest;
    const float error = __builtin_fmaf(inside, largest, -product);
    const float code = __builtin_rintf(product), left = product - code;
    return (int)code + (left == 0.5f && error > 0.0f) - (left == -0.5f && error < 0.0f);
}

BINDLESS_FUNCTION uint4 bindless_encode(float4 color, uint type)
{
    const int4 codes = (int4)(bindless_code_of(color.x, type), bindless_code_of(color.y, type),
                              bindless_code_of(color.z, type), bindless_code_of(color.w, type));
    if (bindless_has_bytes(type)) return BINDLESS_RAW_32(__builtin_convertvector(codes, char4));
    return BINDLESS_RAW_64(__builtin_convertvector(codes, short4));
}

/* Pixels of CHANNELS channels; BYTES and WORDS are their blobs for 8-bit and 16-bit channels. */
#define BINDLESS_NORMALIZED_IN(T, N, FORM, GEOMETRY, CHANNELS, BYTES, WORDS)                                           \
    BINDLESS_FUNCTION T fetch_##FORM##_##T(unsampled_image_handle image, BINDLESS_AT_##GEOMETRY,                       \
                                           uint type)                                                                  \
    {                                                                                                                  \
        uint4 raw = bindless_has_bytes(type)                                                                           \
                        ? __bindless_read_##GEOMETRY##_##BYTES(image, BINDLESS_BYTES_##GEOMETRY(CHANNELS))             \
                        : __bindless_read_##GEOMETRY##_##WORDS(image, BINDLESS_BYTES_##GEOMETRY(2 * CHANNELS));        \
        return BINDLESS_NARROW_##N(bindless_decode(raw, type), T);                                                     \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_##FORM(unsampled_image_handle image, BINDLESS_AT_##GEOMETRY, T color,                 \
                                        uint type)                                                                     \
    {                                                                                                                  \
        const uint4 raw = bindless_encode(BINDLESS_WIDEN_##N(color, float4), type);                                    \
        if (bindless_has_bytes(type))                                                                                  \
            __bindless_write_##GEOMETRY##_##BYTES(image, BINDLESS_BYTES_##GEOMETRY(CHANNELS), raw);                    \
        else                                                                                                           \
            __bindless_write_##GEOMETRY##_##WORDS(image, BINDLESS_BYTES_##GEOMETRY(2 * CHANNELS), raw);                \
    }
#else
/* Targets whose image instructions convert. */
#define BINDLESS_GIVEN_1d at
#define BINDLESS_GIVEN_2d at
#define BINDLESS_GIVEN_3d at
#define BINDLESS_GIVEN_1d_array at, layer
#define BINDLESS_GIVEN_2d_array at, layer

#define BINDLESS_NORMALIZED_IN(T, N, FORM, GEOMETRY, CHANNELS, BYTES, WORDS)                                           \
    BINDLESS_FUNCTION T fetch_##FORM##_##T(unsampled_image_handle image, BINDLESS_AT_##GEOMETRY,                       \
                                           uint type)                                                                  \
    {                                                                                                                  \
        (void)type;                                                                                                    \
        return fetch_##FORM##_##T(image, BINDLESS_GIVEN_##GEOMETRY);                                                   \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_##FORM(unsampled_image_handle image, BINDLESS_AT_##GEOMETRY, T color,                 \
                                        uint type)                                                                     \
    {                                                                                                                  \
        (void)type;                                                                                                    \
        write_##FORM(image, BINDLESS_GIVEN_##GEOMETRY, color);                                                         \
    }
#endif

#define BINDLESS_NORMALIZED(T, N, CHANNELS, BYTES, WORDS)                                                              \
    BINDLESS_NORMALIZED_IN(T, N, image, 1d, CHANNELS, BYTES, WORDS)                                                    \
    BINDLESS_NORMALIZED_IN(T, N, image, 2d, CHANNELS, BYTES, WORDS)                                                    \
    BINDLESS_NORMALIZED_IN(T, N, image, 3d, CHANNELS, BYTES, WORDS)                                                    \
    BINDLESS_NORMALIZED_IN(T, N, image_array, 1d_array, CHANNELS, BYTES, WORDS)                                        \
    BINDLESS_NORMALIZED_IN(T, N, image_array, 2d_array, CHANNELS, BYTES, WORDS)                                        \
    BINDLESS_FUNCTION T fetch_cubemap_##T(unsampled_image_handle image, int2 at, uint face,                            \
                                          uint type)                                                                   \
    {                                                                                                                  \
        return fetch_image_array_##T(image, at, face, type);                                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_cubemap(unsampled_image_handle image, int2 at, uint face, T color,                    \
                                         uint type)                                                                    \
    {                                                                                                                  \
        write_image_array(image, at, face, color, type);                                                               \
    }

#define BINDLESS_NORMALIZED_RESULTS(S)                                                                                 \
    BINDLESS_NORMALIZED(S, 1, 1, b8, b16)                                                                              \
    BINDLESS_NORMALIZED(S##2, 2, 2, b16, b32)                                                                          \
    BINDLESS_NORMALIZED(S##3, 3, 4, b32, b64)                                                                          \
    BINDLESS_NORMALIZED(S##4, 4, 4, b32, b64)

BINDLESS_NORMALIZED_RESULTS(float)
#ifdef cl_khr_fp16
BINDLESS_NORMALIZED_RESULTS(half)
#endif

#endif
