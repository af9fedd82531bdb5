/* The value of an element of a picture, filtered from texels, which `fetched` of the including file reads; `image` is what it
 * reads them from, of type IMAGE. Weights and sums have single precision, of 32-bit integers double, and of
 * others where the mode says so.
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

INLINED color fetched(IMAGE image, uint layer, int x, int y, int z, struct source source);
#if OF_MEMORY
/* Texels that follow one which is inside, with them: the address of the first is computed once. */
INLINED struct array array_from(struct array array, uint layer, int x, int y, int z, struct source source);
INLINED color fetched_after(struct array first, int x, int y, int z, struct source source);
#endif

/* Whether elements keep their index along an axis. */
INLINED bool keeps(uint mode, uint axis) { return OF_MEMORY && keeps_index(mode, axis); }

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

/* The index nearest to a position; of two, the upper or the even one. */
INLINED int index_near(double p, uint mode)
{
    const struct whole upper = floor_of(p + 0.5);
    return has_even_ties(mode) && (upper.index & 1) != 0 && upper.value == p + 0.5 ? upper.index - 1 : upper.index;
}

/* The index of the nearest texel, or BINDLESS_OUTSIDE; inner: the position is inside. */
INLINED int nearest_of(double p, int n, uint axis, uint mode, bool inner)
{
    if (inner) return index_near(p, mode);
    return bindless_texel_at(index_near(folded(p, n, boundary(mode, axis)), mode), n, boundary(mode, axis));
}

INLINED uint4 nearest(IMAGE image, uint layer, struct position p, struct source source, bool inner)
{
    const uint mode = source.mode;
    const int x = nearest_of(p.x, source.size_x, 0, mode, inner);
    const int y = DIMENSIONS > 1 ? nearest_of(p.y, source.size_y, 1, mode, inner) : 0;
    const int z = DIMENSIONS > 2 ? nearest_of(p.z, source.size_z, 2, mode, inner) : 0;
    if (x < 0 || y < 0 || z < 0) return filled(source);
    return STORED_COLOR(fetched(image, layer, x, y, z, source), source.format, mode);
}

/* Whether all texels of the filter are inside, and the position is near. */
INLINED bool is_inner_along(double p, int n, uint axis, uint mode)
{
    if (keeps(mode, axis)) return true;
    const int kind = (int)interpolation(mode);
    if (kind == BINDLESS_NEAREST) return p >= 0.0 && p <= (double)(n - 1);
    const int before = kind == BINDLESS_LINEAR ? 0 : 1;
#ifdef __NVPTX__
    const ulong sum = __builtin_astype(rounded_sum(p), ulong);
    return (uint)(sum >> 32) == 0x43380000u && (uint)sum - (uint)before < (uint)(n - 1 - 2 * before) && (before == 0 || n > 2 * before);
#else
    return p >= (double)before && p < (double)(n - 1 - before);
#endif
}

INLINED bool is_inner(struct position p, struct source source)
{
    return is_inner_along(p.x, source.size_x, 0, source.mode) &&
           (DIMENSIONS < 2 || is_inner_along(p.y, source.size_y, 1, source.mode)) &&
           (DIMENSIONS < 3 || is_inner_along(p.z, source.size_z, 2, source.mode));
}

INLINED uint4 blended(IMAGE image, uint layer, struct position p, struct source source, bool inner)
{
    const uint format = source.format, mode = source.mode;
    const bool linear = interpolation(mode) == BINDLESS_LINEAR;
#if !CLASS_F
    if (channel_size(format) == 4 || has_double_sums(mode)) {
        if (linear) return stored_doubles(filtered_double(image, layer, p, source, 2, inner), format, mode);
        return stored_doubles(filtered_double(image, layer, p, source, 4, inner), format, mode);
    }
#endif
    if (linear) return stored(filtered_float(image, layer, p, source, 2, inner), format, mode);
    return stored(filtered_float(image, layer, p, source, 4, inner), format, mode);
}

#if CLASS_F
INLINED uint4 spline(IMAGE image, uint layer, struct position p, struct source source)
{
    const int count = (int)bindless_taps(interpolation(source.mode));
    return stored(spline_filtered_float(image, layer, p, source, count, false), source.format, source.mode);
}
#endif

INLINED uint4 sample_picture(IMAGE image, uint layer, struct position at, struct source source)
{
    const uint kind = interpolation(source.mode);
    struct position p =
        is_uncentred(source.mode) ? at : from_centre(at, is_centred(source.mode) ? 0.5 : source.centre);
#if CLASS_F
    const bool is_spline = bindless_is_other_spline(kind);
#else
    const bool is_spline = false;
#endif
    if (OF_MEMORY && !is_spline && is_inner(p, source))
        return kind == BINDLESS_NEAREST ? nearest(image, layer, p, source, true) : blended(image, layer, p, source, true);
    if (!(is_near(p.x) && is_near(p.y) && is_near(p.z))) {
        if (!(is_finite(p.x) && is_finite(p.y) && is_finite(p.z))) return filled(source);
        p = (struct position){bounded(p.x), bounded(p.y), bounded(p.z)};
    }
    if (is_filled(p, source)) return filled(source);
    if (kind == BINDLESS_NEAREST) return nearest(image, layer, p, source, false);
#if CLASS_F
    if (is_spline) return spline(image, layer, p, source);
#endif
    return blended(image, layer, p, source, false);
}
