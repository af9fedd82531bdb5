/* Copies pixels with any strides to contiguous memory. Elements of one type are copied as bits, unless they are scaled;
 * others become floats, divided by a scale and moved by a bias for each channel, or integers of 32 bits. Channels that
 * the source lacks are 0, and those that the target lacks are left out. */
#include "bindless/device.h"

/* Types of elements: those of the format word (format.h), and wider ones, which are only read. */
enum element { S8, U8, S16, U16, S32, U32, F16, F32, F64, S64, U64 };

/* Bytes of an element of the format word's types: 1, 1, 2, 2, 4, 4, 2, 4, as exponents of two. */
static inline uint size_of(uint type) { return 1u << (0x9a50u >> 2 * type & 3); }

static inline long integer_at(global const uchar *at, uint type)
{
    switch (type) {
    case S8: return *(global const char *)at;
    case U8: return *at;
    case S16: return *(global const short *)at;
    case U16: return *(global const ushort *)at;
    case S32: return *(global const int *)at;
    case U32: return *(global const uint *)at;
    default: return *(global const long *)at;
    }
}

#ifdef DOUBLES
static inline float number_at(global const uchar *at, uint type, float scale, float bias)
{
    (void)type;
    return (float)(*(global const double *)at / (double)scale + (double)bias);
}
#else
/* The type half is optional in OpenCL, vload_half is not. */
#ifdef BINDLESS_OPENCL_C
static inline float half_at(global const uchar *at) { return vload_half(0, (global const half *)at); }
#else
static inline float half_at(global const uchar *at) { return (float)*(global const half *)at; }
#endif

static inline float number_at(global const uchar *at, uint type, float scale, float bias)
{
    const float value = type == F32   ? *(global const float *)at
                        : type == F16 ? half_at(at)
                        : type == U64 ? (float)*(global const ulong *)at
                                      : (float)integer_at(at, type);
    return value / scale + bias;
}
#endif

/* `target_channels` channels of one or two bytes as one word: unsigned integers of the whole size are stored at once. */
static inline void copy_bits(global const uchar *from, long channel, uint channels, global uchar *to, uint target_channels, uint size)
{
    if (size == 4) {
        for (uint c = 0; c < target_channels; ++c)
            ((global uint *)to)[c] = c < channels ? *(global const uint *)(from + c * channel) : 0;
        return;
    }
    ulong word = 0;
    for (uint c = 0; c < target_channels && c < channels; ++c) {
        const ulong bits = size == 1 ? from[c * channel] : *(global const ushort *)(from + c * channel);
        word |= bits << 8 * size * c;
    }
    switch (target_channels * size) {
    case 1: *to = (uchar)word; break;
    case 2: *(global ushort *)to = (ushort)word; break;
    case 4: *(global uint *)to = (uint)word; break;
    case 8: *(global ulong *)to = word; break;
    default:
        for (uint byte = 0; byte < target_channels * size; ++byte) to[byte] = (uchar)(word >> 8 * byte);
    }
}

/* Four pixels of three bytes at a time become pixels of four bytes; returns how many pixels that are. */
static inline ulong copy_quads(global const uint *from, global uint4 *to, ulong count)
{
    const ulong quads = count / 4;
    for (ulong n = bindless_global_id(0); n < quads; n += bindless_global_size(0)) {
        const uint a = from[3 * n], b = from[3 * n + 1], c = from[3 * n + 2];
        to[n] = (uint4)(a & 0xffffff, a >> 24 | (b & 0xffff) << 8, b >> 16 | (c & 0xff) << 16, c >> 8);
    }
    return 4 * quads;
}

/* `pixels` of a row and `rows` of a plane, both 0 where one stride leads from each pixel to the next. */
kernel void NAME(global const void *source, uint from, long plane, long row, long pixel, long channel, uint rows,
                 uint pixels, uint channels, global void *target, uint to, uint target_channels, ulong count, float scale_x,
                 float scale_y, float scale_z, float bias_x, float bias_y, float bias_z)
{
    const bool as_they_are = scale_x == 1.0f && scale_y == 1.0f && scale_z == 1.0f && bias_x == 0.0f && bias_y == 0.0f &&
                             bias_z == 0.0f;
    const bool bytes_of_rgb = as_they_are && from == to && size_of(to) == 1 && channels == 3 && target_channels == 4 && rows == 0 &&
                              pixel == 3 && channel == 1 && (ulong)source % 4 == 0 && (ulong)target % 16 == 0;
    const ulong done = bytes_of_rgb ? copy_quads((global const uint *)source, (global uint4 *)target, count) : 0;
    for (ulong n = done + bindless_global_id(0); n < count; n += bindless_global_size(0)) {
        const ulong line = rows != 0 ? n / pixels : 0;
        const long place = rows != 0 ? (long)(line / rows) * plane + (long)(line % rows) * row + (long)(n % pixels) * pixel
                                     : (long)n * pixel;
        global const uchar *at = (global const uchar *)source + place;
        if (from == to && as_they_are) {
            const uint size = size_of(to);
            copy_bits(at, channel, channels, (global uchar *)target + n * target_channels * size, target_channels, size);
            continue;
        }
        for (uint c = 0; c < target_channels; ++c) {
            global const uchar *element = at + c * channel;
            if (to == F32)
                ((global float *)target)[n * target_channels + c] =
                    c >= channels ? 0.0f
                                  : number_at(element, from, c == 0 ? scale_x : c == 1 ? scale_y : scale_z,
                                              c == 0 ? bias_x : c == 1 ? bias_y : bias_z);
            else
                ((global int *)target)[n * target_channels + c] = c >= channels ? 0 : (int)integer_at(element, from);
        }
    }
}
