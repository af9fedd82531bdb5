/* One level of a mipmap from the level above: every pixel is the mean of the pixels that it covers.
 *
 * An axis of even length 2 t has pairs; a pixel of an axis of odd length 2 t + 1 covers 2 + 1/t of the old ones: the
 * weights of 2 i, 2 i + 1, 2 i + 2 are t - i, t and i + 1. Means are computed along x, then y, then z, in double
 * precision. Integer images round to nearest, ties to even. Layers are independent.
 *
 * Both images are unsampled; width, height and depth are those of the source; for layered images depth is the number
 * of layers. The kernel reads only the image's part of the format. */
#include "items.h"
#include "texel.h"

/* The source pixels of a target index along one axis: the first pixel and up to three weights. */
struct cover {
    int first;
    int pixels;
    double before, middle, after;
};

static inline double weight(struct cover cover, int k)
{
    return k == 0 ? cover.before : k == 1 ? cover.middle : cover.after;
}

static inline uint halved(uint length) { return length > 1 ? length / 2 : 1; }

static inline struct cover cover_of(uint i, uint length)
{
    const uint target = halved(length);
    if (length == 1) return (struct cover){0, 1, 1.0, 0.0, 0.0};
    if (length % 2 == 0) return (struct cover){(int)(2 * i), 2, 0.5, 0.5, 0.0};
    const double sum = length;
    return (struct cover){(int)(2 * i), 3, (target - i) / sum, target / sum, (i + 1) / sum};
}

static inline double4 texel_value(ulong image, uint layer, pixel at, uint format)
{
    return __builtin_convertvector(decode_texel(read_texel(image, layer, at, format), format), double4);
}

#if DIMENSIONS == 1
#define PIXEL(X, Y, Z) (X)
#elif DIMENSIONS == 2
#define PIXEL(X, Y, Z) (int2)(X, Y)
#else
#define PIXEL(X, Y, Z) (int3)(X, Y, Z)
#endif

static inline double4 mean_along_x(ulong image, uint layer, struct cover x, int y, int z, uint format)
{
    double4 sum = 0;
    for (int k = 0; k < x.pixels; ++k)
        sum += weight(x, k) * texel_value(image, layer, PIXEL(x.first + k, y, z), format);
    return sum;
}

static inline double4 mean_along_y(ulong image, uint layer, struct cover x, struct cover y, int z, uint format)
{
    double4 sum = 0;
    for (int k = 0; k < y.pixels; ++k)
        sum += weight(y, k) * mean_along_x(image, layer, x, y.first + k, z, format);
    return sum;
}

static inline uint4 elements_of(double4 value)
{
#if CLASS_F
    return __builtin_astype(__builtin_convertvector(value, float4), uint4);
#else
    value = (double4)(__builtin_rint(value.x), __builtin_rint(value.y), __builtin_rint(value.z), __builtin_rint(value.w));
    return __builtin_astype(__builtin_convertvector(value, color), uint4);
#endif
}

kernel void KERNEL(downsample)(ulong source, ulong target, uint width, uint height, uint depth, uint format)
{
    const uint columns = halved(width);
    const uint rows = DIMENSIONS > 1 ? halved(height) : 1;
    const uint slices = LAYERED ? depth : DIMENSIONS > 2 ? halved(depth) : 1;
    const ulong count = (ulong)columns * rows * slices;
    for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) {
        const uint slice = (uint)(i / ((ulong)columns * rows));
        const uint within = (uint)(i - (ulong)slice * columns * rows);
        const uint row = within / columns;
        const uint column = within - row * columns;
        const struct cover x = cover_of(column, width);
        const struct cover y = cover_of(row, DIMENSIONS > 1 ? height : 1);
        const struct cover z = LAYERED ? (struct cover){0, 1, 1.0, 0.0, 0.0} : cover_of(slice, DIMENSIONS > 2 ? depth : 1);
        double4 sum = 0;
        for (int k = 0; k < z.pixels; ++k) sum += weight(z, k) * mean_along_y(source, slice, x, y, z.first + k, format);
        const uint write_format = (format & ~0xffu) | ELEMENT_F32;
        write_texel(target, slice, PIXEL((int)column, (int)row, (int)slice), elements_of(sum), write_format);
    }
}
