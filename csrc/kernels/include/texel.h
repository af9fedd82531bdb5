/* Pixels of unsampled images whose format is known at run time: a texel is the result of an image instruction, a
 * color its value. Reads precede conversions, so that several reads are in flight. */
#ifndef BINDLESS_KERNELS_INCLUDE_TEXEL_H
#define BINDLESS_KERNELS_INCLUDE_TEXEL_H

#include "format.h"
#include "geometry.h"

#if DIMENSIONS == 1
#define SCALE_X(P, BYTES) (P) * (int)(BYTES)
#elif DIMENSIONS == 2
#define SCALE_X(P, BYTES) (int2)((P).x * (int)(BYTES), (P).y)
#else
#define SCALE_X(P, BYTES) (int3)((P).x * (int)(BYTES), (P).y, (P).z)
#endif

#ifdef __NVPTX__

/* Surfaces move blobs of a pixel's size, independent of the format of the array. */
typedef uint4 texel;

static inline texel read_texel(ulong image, uint layer, pixel at, uint format)
{
    const uint bytes = channel_size(format) * image_channels(format);
    const pixel p = SCALE_X(at, bytes);
    uint4 blob = 0;
    switch (bytes) {
    case 16: blob = BLOB_PRIMITIVE(read, b128)(image, AT(layer, p)); break;
    case 8: blob = BLOB_PRIMITIVE(read, b64)(image, AT(layer, p)); break;
    case 4: blob = BLOB_PRIMITIVE(read, b32)(image, AT(layer, p)); break;
    case 2: blob = BLOB_PRIMITIVE(read, b16)(image, AT(layer, p)); break;
    case 1: blob = BLOB_PRIMITIVE(read, b8)(image, AT(layer, p)); break;
    }
    return blob;
}

static inline color decode_texel(texel blob, uint format)
{
    uint4 channels = unpack(blob, channel_size(format));
#if CLASS_F
    return decode(channels, channel_type(format));
#elif CLASS_I
    return sign_extend(channels, channel_size(format));
#else
    return channels;
#endif
}

static inline void write_texel(ulong image, uint layer, pixel at, uint4 elements, uint format)
{
#if CLASS_F
    if (element_type(format) == ELEMENT_F16 && channel_type(format) != FP16)
        elements = encode(decode(elements, FP16), channel_type(format));
    else if (element_type(format) == ELEMENT_F32 && channel_type(format) != FP32)
        elements = encode(__builtin_astype(elements, float4), channel_type(format));
#endif
    const uint bytes = channel_size(format) * image_channels(format);
    const pixel p = SCALE_X(at, bytes);
    const uint4 blob = pack(elements, channel_size(format));
    switch (bytes) {
    case 16: BLOB_PRIMITIVE(write, b128)(image, AT(layer, p), blob); break;
    case 8: BLOB_PRIMITIVE(write, b64)(image, AT(layer, p), blob); break;
    case 4: BLOB_PRIMITIVE(write, b32)(image, AT(layer, p), blob); break;
    case 2: BLOB_PRIMITIVE(write, b16)(image, AT(layer, p), blob); break;
    case 1: BLOB_PRIMITIVE(write, b8)(image, AT(layer, p), blob); break;
    }
}

#else

/* The image instruction converts between the image's format and the register class. */
typedef color texel;

static inline texel read_texel(ulong image, uint layer, pixel at, uint format)
{
    return PRIMITIVE(read)(image, AT(layer, at));
}

static inline color decode_texel(texel value, uint format) { return mask_channels(value, format); }

/* Codes of a normalized image are converted to their value, which rounds back to the same code. */
static inline void write_texel(ulong image, uint layer, pixel at, uint4 elements, uint format)
{
#if CLASS_F
    const uint type = element_type(format) == ELEMENT_F32 ? FP32 : element_type(format) == ELEMENT_F16 ? FP16 : channel_type(format);
    PRIMITIVE(write)(image, AT(layer, at), decode(elements, type));
#else
    PRIMITIVE(write)(image, AT(layer, at), __builtin_astype(elements, color));
#endif
}

#endif
#endif
