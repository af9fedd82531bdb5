/* A picture of values that are filtered here, from fetched texels: element (i, j, k) of `values`, of shape (depth, height,
 * width), is the value at its position (place.h). The image may be a window of a larger one, to which positions and
 * boundaries refer. Weights and sums have single precision, of 32-bit integers double.
 *
 * Texels that are not a number can have no weight: then the sum is divided by the sum of the other weights. */
#include "boundary.h"
#include "geometry.h"
#include "picture.h"
#include "place.h"
#include "stored.h"

struct source {
    int size_x, size_y, size_z; /* of the larger image */
    int held_x, held_y, held_z; /* of the image */
    struct window x, y, z;
    double centre;
    double fill;
    uint format, mode;
};

INLINED color fetched(ulong image, uint layer, int x, int y, int z, struct source source)
{
    if (is_window(source.mode)) {
        x = held_index(x, source.x, source.held_x);
        y = DIMENSIONS > 1 ? held_index(y, source.y, source.held_y) : y;
        z = DIMENSIONS > 2 ? held_index(z, source.z, source.held_z) : z;
    }
#if DIMENSIONS == 1
    return PRIMITIVE(fetch_sampled)(image, AT(layer, x));
#elif DIMENSIONS == 2
    return PRIMITIVE(fetch_sampled)(image, AT(layer, (pixel)(x, y)));
#else
    return PRIMITIVE(fetch_sampled)(image, AT(layer, (pixel)(x, y, z)));
#endif
}

/* Fused on GPUs; processors without the instruction would compute it digit by digit. */
#ifdef __NVPTX__
#define MULTIPLY_ADD(A, B, C) __builtin_elementwise_fma(A, B, C)
#else
#define MULTIPLY_ADD(A, B, C) ((A) * (B) + (C))
#endif

#define REAL float
#include "filter.h"
#undef REAL
#if !CLASS_F
#define REAL double
#include "filter.h"
#undef REAL
#endif

INLINED struct position from_centre(struct position p, double centre)
{
    return (struct position){p.x - centre, p.y - centre, p.z - centre};
}

/* Whether the value is the fill value as a whole. */
INLINED bool is_filled(struct position p, struct source source)
{
    return bindless_is_beyond_double(p.x, source.size_x, boundary(source.mode, 0)) ||
           (DIMENSIONS > 1 && bindless_is_beyond_double(p.y, source.size_y, boundary(source.mode, 1))) ||
           (DIMENSIONS > 2 && bindless_is_beyond_double(p.z, source.size_z, boundary(source.mode, 2)));
}

static inline uint4 filled(struct source source)
{
#if CLASS_F
    return stored((float4)(float)source.fill, source.format, source.mode);
#else
    return stored_doubles((double4)source.fill, source.format, source.mode);
#endif
}

/* The index of the nearest texel, or BINDLESS_OUTSIDE. */
static inline int nearest_of(double p, int n, uint boundary)
{
    return bindless_texel_at(floor_of(folded(p, n, boundary) + 0.5).index, n, boundary);
}

INLINED uint4 nearest(ulong image, uint layer, struct position p, struct source source)
{
    const uint mode = source.mode;
    const int x = nearest_of(p.x, source.size_x, boundary(mode, 0));
    const int y = DIMENSIONS > 1 ? nearest_of(p.y, source.size_y, boundary(mode, 1)) : 0;
    const int z = DIMENSIONS > 2 ? nearest_of(p.z, source.size_z, boundary(mode, 2)) : 0;
    if (x < 0 || y < 0 || z < 0) return filled(source);
    return STORED_COLOR(fetched(image, layer, x, y, z, source), source.format, mode);
}

INLINED uint4 resampled(ulong image, uint layer, struct position at, struct source source)
{
    const uint kind = interpolation(source.mode);
    struct position p = from_centre(at, is_centred(source.mode) ? 0.5 : source.centre);
    if (!(is_near(p.x) && is_near(p.y) && is_near(p.z))) {
        if (!(is_finite(p.x) && is_finite(p.y) && is_finite(p.z))) return filled(source);
        p = (struct position){bounded(p.x), bounded(p.y), bounded(p.z)};
    }
    if (is_filled(p, source)) return filled(source);
    if (kind == BINDLESS_NEAREST) return nearest(image, layer, p, source);
#if !CLASS_F
    if (channel_size(source.format) == 4) {
        if (kind == BINDLESS_LINEAR) return stored_doubles(filtered_double(image, layer, p, source, 2), source.format, source.mode);
        return stored_doubles(filtered_double(image, layer, p, source, 4), source.format, source.mode);
    }
#endif
    if (kind == BINDLESS_LINEAR) return stored(filtered_float(image, layer, p, source, 2), source.format, source.mode);
    return stored(filtered_float(image, layer, p, source, 4), source.format, source.mode);
}

#if LAYERED
#define LAYER uint layer,
#else
#define LAYER
#define layer 0u
#endif

kernel void KERNEL(resample_fetch)(ulong image, LAYER MAP_PARAMETERS, int size_x, int size_y, int size_z, int origin_x,
                                   int origin_y, int origin_z, int whole_x, int whole_y, int whole_z, double fill,
                                   global void *values, uint width, uint height, uint depth, uint format, uint mode)
{
    const struct map map = MAP_OF_PARAMETERS;
    const bool part = is_window(mode);
    const struct source source = {part ? whole_x : size_x, part ? whole_y : size_y, part ? whole_z : size_z,
                                  size_x, size_y, size_z,
                                  {origin_x, whole_x}, {origin_y, whole_y}, {origin_z, whole_z},
                                  centre, fill, format, mode};
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const struct extent size = {width, height, depth};
#define LOAD(ELEMENT) position_of(map, ELEMENT, mode)
#define DO(POSITION) resampled(image, layer, POSITION, source)
#define PUT(ELEMENT, ELEMENTS) store_item(out, (ELEMENT).number, ELEMENTS, false)
    FOR_ELEMENTS(size, tile(mode), struct position, LOAD, uint4, DO, PUT);
}
