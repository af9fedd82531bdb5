/* The pixels of a picture under a projective map: pixel (x, y) of `values`, a (height, width) array, is the sample
 * at (u / w, v / w), where (u, v, w) is the row-major 3x3 matrix times the pixel centre (x + 1/2, y + 1/2, 1).
 * Coordinates are computed in double precision, a x + (b y + c), with each product and sum rounded, and then rounded
 * to single precision; then they are divided by `scale` and moved by `bias`, for images with coordinates from 0 to
 * 1.
 *
 * With GRADIENTS, the difference of the coordinates to the next column and row selects the level of a mipmap.
 * Integer values of a normalized image are codes: the sample times the largest one, rounded, ties to even. */
#include "format.h"
#include "geometry.h"
#include "items.h"

struct map {
    double x[3], y[3], w[3];
    point scale, bias;
};

struct place {
    point at;
#if GRADIENTS
    point dx, dy;
#endif
};

/* Nearly all maps are affine, and a division takes longer than the other operations. */
static inline double divided(double value, double by)
{
    if (by == 1.0) return value;
    return value / by;
}

static inline struct place place_of(struct map map, ulong i, uint width)
{
    const ulong row = i >> 32 ? i / width : (uint)i / width; /* a 64-bit division only for large pictures */
    const double x = (double)(uint)(i - row * width) + 0.5, y = (double)(uint)row + 0.5;
    const double depth = map.w[0] * x + (map.w[1] * y + map.w[2]);
    const double u = divided(map.x[0] * x + (map.x[1] * y + map.x[2]), depth);
    const double v = divided(map.y[0] * x + (map.y[1] * y + map.y[2]), depth);
    struct place place = {.at = (point)((float)u, (float)v) / map.scale + map.bias};
#if GRADIENTS
    const double ux = divided(map.x[0] - u * map.w[0], depth), uy = divided(map.x[1] - u * map.w[1], depth);
    const double vx = divided(map.y[0] - v * map.w[0], depth), vy = divided(map.y[1] - v * map.w[1], depth);
    place.dx = (point)((float)ux, (float)vx) / map.scale;
    place.dy = (point)((float)uy, (float)vy) / map.scale;
#endif
    return place;
}

static inline color sample(ulong image, uint layer, struct place place)
{
#if GRADIENTS
    return PRIMITIVE(sample_grad)(image, AT(layer, place.at), SPREAD(place.dx), SPREAD(place.dy));
#else
    return PRIMITIVE(sample)(image, AT(layer, place.at));
#endif
}

#if CLASS_F
static inline uint code_of(float value, uint type)
{
    const float largest = largest_code(type);
    const float lowest = type == UNORM_INT8 || type == UNORM_INT16 ? 0.0f : -largest;
    return (uint)(int)__builtin_fminf(__builtin_fmaxf(__builtin_rintf(value * largest), lowest), largest);
}
#endif

static inline uint4 stored(color value, uint format)
{
#if CLASS_F
    const uint type = channel_type(format);
    if (!floating(format))
        return (uint4)(code_of(value.x, type), code_of(value.y, type), code_of(value.z, type), code_of(value.w, type));
#endif
    return color_to_elements(value, format);
}

#if LAYERED
#define LAYER uint layer,
#else
#define LAYER
#define layer 0u
#endif
#if GRADIENTS
#define NAME KERNEL(warp_grad)
#else
#define NAME KERNEL(warp)
#endif

kernel void NAME(ulong image, LAYER double m00, double m01, double m02, double m10, double m11, double m12, double m20,
                 double m21, double m22, float scale_x, float scale_y, float bias_x, float bias_y, global void *values,
                 uint width, uint height, uint format)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const struct map map = {{m00, m01, m02}, {m10, m11, m12}, {m20, m21, m22}, {scale_x, scale_y}, {bias_x, bias_y}};
    const ulong count = (ulong)width * height;
#define LOAD(I) place_of(map, I, width)
#define DO(PLACE) sample(image, layer, PLACE)
#define PUT(I, COLOR, TOGETHER) store_item(out, I, stored(mask_channels(COLOR, format), format), TOGETHER)
    FOR_ITEMS(count, width, struct place, LOAD, color, DO, PUT);
}
