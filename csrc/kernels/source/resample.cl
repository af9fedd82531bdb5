/* A picture of samples by the texture unit: element (i, j, k) of `values`, of shape (depth, height, width), is the sample
 * at its position (place.h) plus 0.5 - centre, rounded to single precision, divided by `scale` and moved by `bias`.
 *
 * The image may be a window of a larger one: boundaries are then applied here, to positions in double precision, and
 * coordinates are rounded as a texture unit rounds them, so that the origin of the window is subtracted exactly.
 *
 * A cubic B-spline is a sum of 2, 4 or 8 linear samples: the weights of two neighbours are w = a + b, and a linear sample
 * at b / w between them, times w, has both. The image holds the coefficients. */
#define OF_TEXTURE_UNIT 1
#include "boundary.h"
#include "geometry.h"
#include "picture.h"
#include "place.h"
#include "stored.h"

struct units {
    double shift; /* 0.5 - centre */
    float scale_x, scale_y, scale_z, bias_x, bias_y, bias_z;
    struct window x, y, z;
    float fill;
};

/* The coordinate in a window of one in the larger image, which has less than 2^22 texels along an axis. */
INLINED float held_coordinate(float coordinate, struct window window, uint boundary, bool filters)
{
    const double above = coordinate > -0x1p22f ? (double)coordinate : -0x1p22, c = above < 0x1p22 ? above : 0x1p22;
    const double rounded = filters ? floor_of(256.0 * c + 0.5).value * 0x1p-8 : floor_of(c).value + 0.5;
    const double from_origin = rounded - (double)window.origin;
    return (float)(boundary == BINDLESS_REPEAT && from_origin < 0.5 ? from_origin + (double)window.whole : from_origin);
}

/* A position in the larger image: inside, where its values continue periodically. Where the value is the fill value, x is
 * not-a-number. */
INLINED double placed(double p, struct window window, uint boundary, bool *fills)
{
    *fills = *fills || !is_finite(p) || bindless_is_beyond_double(p, window.whole, boundary);
    return bindless_is_periodic(boundary) ? folded(bounded(p), window.whole, boundary) : p;
}

INLINED struct position in_larger(struct position p, double centre, struct units units, uint mode)
{
    bool fills = false;
    p.x = placed(p.x - centre, units.x, boundary(mode, 0), &fills);
    if (DIMENSIONS > 1) p.y = placed(p.y - centre, units.y, boundary(mode, 1), &fills);
    if (DIMENSIONS > 2) p.z = placed(p.z - centre, units.z, boundary(mode, 2), &fills);
    if (fills) p.x = __builtin_nan("");
    return p;
}

static inline point in_units(float x, float y, float z, struct units units, uint mode)
{
    if (is_window(mode)) {
        const bool filters = interpolation(mode) != BINDLESS_NEAREST;
        x = x == x ? held_coordinate(x, units.x, boundary(mode, 0), filters) : x;
        y = held_coordinate(y, units.y, boundary(mode, 1), filters);
        z = held_coordinate(z, units.z, boundary(mode, 2), filters);
    }
    if (is_scaled(mode)) {
        x = x / units.scale_x + units.bias_x;
        y = y / units.scale_y + units.bias_y;
        z = z / units.scale_z + units.bias_z;
    }
#if DIMENSIONS == 1
    return x;
#elif DIMENSIONS == 2
    return (point)(x, y);
#else
    return (point)(x, y, z);
#endif
}

static inline point point_of(struct position p, struct units units, uint mode)
{
    if (is_window(mode)) {
        const struct position larger = in_larger(p, is_centred(mode) ? 0.5 : 0.5 - units.shift, units, mode);
        return in_units((float)(larger.x + 0.5), (float)(larger.y + 0.5), (float)(larger.z + 0.5), units, mode);
    }
    if (is_centred(mode)) return in_units((float)p.x, (float)p.y, (float)p.z, units, mode);
    return in_units((float)(p.x + units.shift), (float)(p.y + units.shift), (float)(p.z + units.shift), units, mode);
}

#if CLASS_F
/* Weights and coordinates of the two linear samples along an axis. */
struct pair {
    float weight[2], at[2];
};

INLINED struct pair pair_of(double p, double centre)
{
    const double from = bounded(p - centre);
    const struct whole whole = floor_of(from);
    const float first = (float)whole.index;
    float w[4];
    bindless_weights_float((float)(from - whole.value), BINDLESS_CUBIC, w, 1);
    const float left = w[0] + w[1], right = w[2] + w[3];
    return (struct pair){{left, right}, {first + (w[1] / left - 0.5f), first + (w[3] / right + 1.5f)}};
}

static inline float4 added(float4 sum, float weight, float4 value, uint channels)
{
    sum.x += weight * value.x;
    if (channels > 1) sum.y += weight * value.y;
    if (channels > 2) sum.z += weight * value.z;
    if (channels > 3) sum.w += weight * value.w;
    return sum;
}

INLINED float4 spline(ulong image, uint layer, struct position p, double centre, struct units units, uint format,
                            uint mode)
{
    const uint channels = value_channels(format);
    if (is_window(mode)) {
        p = in_larger(p, centre, units, mode);
        centre = 0.0;
        if (p.x != p.x) return units.fill;
    }
    const struct pair none = {{1.0f, 0.0f}, {0.0f, 0.0f}};
    const struct pair x = pair_of(p.x, centre);
    const struct pair y = DIMENSIONS > 1 ? pair_of(p.y, centre) : none;
    const struct pair z = DIMENSIONS > 2 ? pair_of(p.z, centre) : none;
    float4 sum = 0.0f;
    UNROLLED for (int k = 0; k < (DIMENSIONS > 2 ? 2 : 1); ++k)
    {
        UNROLLED for (int j = 0; j < (DIMENSIONS > 1 ? 2 : 1); ++j)
        {
            const point left = in_units(x.at[0], y.at[j], z.at[k], units, mode);
            const point right = in_units(x.at[1], y.at[j], z.at[k], units, mode);
            const float weight = DIMENSIONS > 2 ? y.weight[j] * z.weight[k] : DIMENSIONS > 1 ? y.weight[j] : 1.0f;
            const float4 first = PRIMITIVE(sample)(image, AT(layer, left));
            const float4 second = PRIMITIVE(sample)(image, AT(layer, right));
            sum = added(sum, weight * x.weight[0], first, channels);
            sum = added(sum, weight * x.weight[1], second, channels);
        }
    }
    return sum;
}
#endif

/* The fill value as a sample has it. */
static inline color color_of(float fill)
{
#if CLASS_F
    return fill;
#elif CLASS_I
    return (int)(fill < 0.0f ? fill - 0.5f : fill + 0.5f);
#else
    return fill > 0.0f ? (uint)(fill + 0.5f) : 0u;
#endif
}

INLINED color sampled(ulong image, uint layer, point at, struct units units, uint mode)
{
#if DIMENSIONS == 1
    const float x = at;
#else
    const float x = at.x;
#endif
    if (is_window(mode) && x != x) return color_of(units.fill);
    return PRIMITIVE(sample)(image, AT(layer, at));
}

#if LAYERED
#define LAYER uint layer,
#else
#define LAYER
#define layer 0u
#endif

kernel void KERNEL(resample)(ulong image, LAYER MAP_PARAMETERS, float scale_x, float scale_y, float scale_z, float bias_x,
                             float bias_y, float bias_z, int origin_x, int origin_y, int origin_z, int whole_x,
                             int whole_y, int whole_z, double fill, global void *values, uint width, uint height,
                             uint depth, uint format, uint mode)
{
    const struct map map = MAP_OF_PARAMETERS;
    const struct own_field field = own_field_of(map, mode);
    const struct units units = {0.5 - centre, scale_x, scale_y, scale_z, bias_x, bias_y, bias_z,
                                {origin_x, whole_x}, {origin_y, whole_y}, {origin_z, whole_z}, (float)fill};
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const struct extent size = {width, height, depth};
#define PUT(ELEMENT, COLOR) store_item(out, (ELEMENT).number, STORED_COLOR(COLOR, format, mode), false)
#if CLASS_F
    if (interpolation(mode) == BINDLESS_CUBIC) {
#define LOAD(ELEMENT) position_of(map, field, ELEMENT, mode)
#define DO(POSITION) spline(image, layer, POSITION, is_centred(mode) ? 0.5 : centre, units, format, mode)
        FOR_ELEMENTS(size, tile(mode), struct position, LOAD, color, DO, PUT);
#undef LOAD
#undef DO
        return;
    }
#endif
#define LOAD(ELEMENT) point_of(position_of(map, field, ELEMENT, mode), units, mode)
#define DO(POINT) sampled(image, layer, POINT, units, mode)
    FOR_ELEMENTS_TOGETHER(size, tile(mode), point, LOAD, color, DO, PUT);
}
