/* A picture of samples by the texture unit: element (i, j, k) of `values`, of shape (depth, height, width), is the sample
 * at its position (place.h) plus 0.5 - centre, rounded to single precision, divided by `scale` and moved by `bias`.
 *
 * A cubic B-spline is a sum of 2, 4 or 8 linear samples: the weights of two neighbours are w = a + b, and a linear sample
 * at b / w between them, times w, has both. The image holds the coefficients. */
#include "boundary.h"
#include "geometry.h"
#include "picture.h"
#include "place.h"
#include "stored.h"

#define REAL float
#include "weights.h"

struct units {
    double shift; /* 0.5 - centre */
    float scale_x, scale_y, scale_z, bias_x, bias_y, bias_z;
};

static inline point in_units(float x, float y, float z, struct units units, uint mode)
{
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
    const float4 w = spline_weights_float((float)(from - whole.value));
    const float left = w.x + w.y, right = w.z + w.w;
    return (struct pair){{left, right}, {first + (w.y / left - 0.5f), first + (w.w / right + 1.5f)}};
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

#if LAYERED
#define LAYER uint layer,
#else
#define LAYER
#define layer 0u
#endif

kernel void KERNEL(resample)(ulong image, LAYER MAP_PARAMETERS, float scale_x, float scale_y, float scale_z, float bias_x,
                             float bias_y, float bias_z, global void *values, uint width, uint height, uint depth,
                             uint format, uint mode)
{
    const struct map map = MAP_OF_PARAMETERS;
    const struct units units = {0.5 - centre, scale_x, scale_y, scale_z, bias_x, bias_y, bias_z};
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const struct extent size = {width, height, depth};
#define PUT(ELEMENT, COLOR) store_item(out, (ELEMENT).number, STORED_COLOR(COLOR, format, mode), false)
#if CLASS_F
    if (interpolation(mode) == CUBIC) {
#define LOAD(ELEMENT) position_of(map, ELEMENT, mode)
#define DO(POSITION) spline(image, layer, POSITION, is_centred(mode) ? 0.5 : centre, units, format, mode)
        FOR_ELEMENTS(size, tile(mode), struct position, LOAD, color, DO, PUT);
#undef LOAD
#undef DO
        return;
    }
#endif
#define LOAD(ELEMENT) point_of(position_of(map, ELEMENT, mode), units, mode)
#define DO(POINT) PRIMITIVE(sample)(image, AT(layer, POINT))
    FOR_ELEMENTS_TOGETHER(size, tile(mode), point, LOAD, color, DO, PUT);
}
