/* A picture of an array in memory, which is read where it lies: element (i, j, k) of a layer of `values`, of shape (layers, depth,
 * height, width), is the value at its position (place.h). Strides count elements. The second dimension of the launch counts
 * layers, which differ in their first elements. Elements may keep their index along an axis (mode.h). */
#define OF_MEMORY 1
#define IMAGE struct array
struct array {
    global const void *texels;
    long x, y, z, channel, layer; /* strides */
};
#include "picture_filter.h"

/* The offset of a texel's first channel. */
INLINED long offset_of(struct array array, uint layer, int x, int y, int z, struct source source)
{
    const bool packed = has_packed_rows(source.mode);
    const int channels = (int)image_channels(source.format);
    if (is_small(source.mode)) {
        const int rest = (int)layer * (int)array.layer + (DIMENSIONS > 1 ? y * (int)array.y : 0) +
                         (DIMENSIONS > 2 ? z * (int)array.z : 0);
        return rest + x * (packed ? channels : (int)array.x);
    }
    const long rest =
        layer * array.layer + (DIMENSIONS > 1 ? y * array.y : 0) + (DIMENSIONS > 2 ? z * array.z : 0);
    return rest + x * (packed ? (long)channels : array.x);
}

/* The array that begins with a channel of this one. */
INLINED struct array array_at(struct array array, long offset, struct source source)
{
    const long bytes = channel_type(source.format) == FP64 ? 8 : channel_size(source.format);
    array.texels = (global const uchar *)array.texels + offset * bytes;
    return array;
}

INLINED struct array array_from(struct array array, uint layer, int x, int y, int z, struct source source)
{
    return array_at(array, offset_of(array, layer, x, y, z, source), source);
}

#if CLASS_F
INLINED float channel_at(global const void *texels, long at, uint type)
{
    if (type == FP32) return ((global const float *)texels)[at];
    if (type == FP64) return (float)((global const double *)texels)[at];
    return half_bits_to_float(((global const ushort *)texels)[at]);
}
#elif CLASS_I
INLINED int channel_at(global const void *texels, long at, uint type)
{
    if (type == SIGNED_INT32) return ((global const int *)texels)[at];
    if (type == SIGNED_INT16) return ((global const short *)texels)[at];
    return ((global const char *)texels)[at];
}
#else
INLINED uint channel_at(global const void *texels, long at, uint type)
{
    if (type == UNSIGNED_INT32) return ((global const uint *)texels)[at];
    if (type == UNSIGNED_INT16) return ((global const ushort *)texels)[at];
    return ((global const uchar *)texels)[at];
}
#endif

INLINED color texel_at(struct array array, long at, struct source source)
{
    const long next = has_packed_rows(source.mode) ? 1 : array.channel;
    const uint type = channel_type(source.format), channels = image_channels(source.format);
    color texel = 0;
    texel.x = channel_at(array.texels, at, type);
    if (channels > 1) texel.y = channel_at(array.texels, at + next, type);
    if (channels > 2) texel.z = channel_at(array.texels, at + 2 * next, type);
    if (channels > 3) texel.w = channel_at(array.texels, at + 3 * next, type);
    return texel;
}

INLINED color fetched(struct array array, uint layer, int x, int y, int z, struct source source)
{
    return texel_at(array, offset_of(array, layer, x, y, z, source), source);
}

INLINED color fetched_after(struct array first, int x, int y, int z, struct source source)
{
    const struct array row = array_at(first, y * first.y + z * first.z, source);
    return texel_at(row, x * (has_packed_rows(source.mode) ? (long)image_channels(source.format) : first.x), source);
}

INLINED void store_doubles(global uchar *first, uint channels, ulong i, uint4 elements)
{
    global double *out = (global double *)first + i * channels;
    out[0] = (double)__builtin_astype(elements.x, float);
    if (channels > 1) out[1] = (double)__builtin_astype(elements.y, float);
    if (channels > 2) out[2] = (double)__builtin_astype(elements.z, float);
    if (channels > 3) out[3] = (double)__builtin_astype(elements.w, float);
}

kernel void KERNEL(resample_memory)(global const void *texels, long step_x, long step_y, long step_z, long step_channel,
                                    long step_layer, double m00, double m01, double m02, double m03, double m10, double m11,
                                    double m12, double m13, double m20, double m21, double m22, double m23, double centre,
                                    global const void *coords, long first_coord, long component, int size_x, int size_y,
                                    int size_z, double fill, global void *values, uint width, uint height, uint depth,
                                    uint format, uint mode)
{
    const uint layer = bindless_group_id(1);
    const uint bytes = has_double_vectors(mode) ? 8 : 4;
    const struct map map = {{m00, m01, m02, m03}, {m10, m11, m12, m13}, {m20, m21, m22, m23}, {0.0, 0.0, 0.0, 1.0}, centre,
                            (global const uchar *)coords + first_coord * bytes, 1, component, 0, 0, 0};
    const struct own_field field = own_field_of(map, mode);
    const struct source source = {size_x, size_y, size_z, size_x, size_y, size_z, {0, 0}, {0, 0}, {0, 0},
                                  centre, fill, format, mode};
    const struct array array = {texels, step_x, step_y, step_z, step_channel, step_layer};
    const struct extent size = {width, height, depth};
    const bool doubles = element_type(format) == ELEMENT_F64;
    const uint channels = value_channels(format), bytes_of_element = doubles ? 8 : element_size(format);
    global uchar *first = (global uchar *)values + (ulong)layer * width * height * depth * channels * bytes_of_element;
    const struct values out = values_of(first, element_size(format), channels, aligned(format));
#define LOAD(ELEMENT) position_of(map, field, ELEMENT, mode)
#define DO(POSITION) sample_picture(array, layer, POSITION, source)
#define PUT(ELEMENT, ELEMENTS)                                                                                         \
    doubles ? store_doubles(first, channels, (ELEMENT).number, ELEMENTS) : store_item(out, (ELEMENT).number, ELEMENTS, false)
    FOR_ELEMENTS(size, tile(mode), struct position, LOAD, uint4, DO, PUT);
}
