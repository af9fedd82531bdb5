/* A picture of a video frame, whose brightness is an image of one channel, and whose two colour differences are another one,
 * mostly of half the size: element (i, j) of `values`, of shape (height, width), has the red, green and blue at its position
 * (place.h). Both images are filtered from fetched texels, nearest or linearly; then the matrix of colours is applied.
 *
 * An axis of `fills` has the fill value outside: the boundary of both images is then the edge, and the colour there is blended
 * with the fill value, as texels of a picture in colours would be. */
#define IMAGE ulong
#include "picture_filter.h"

/* Two bits of `fills` for each axis: border and extent (filter/boundary.h). */
enum fills { NONE, BORDER, EXTENT };

INLINED color fetched(ulong image, uint layer, int x, int y, int z, struct source source)
{
    return PRIMITIVE(fetch_sampled)(image, x, y);
}

/* The first two channels at a position: of a single channel the second one has no meaning. */
INLINED float2 plane_at(ulong image, struct position p, struct source source)
{
    const uint mode = source.mode;
    if (interpolation(mode) == BINDLESS_NEAREST) {
        const int x = nearest_of(p.x, source.size_x, 0, mode, false), y = nearest_of(p.y, source.size_y, 1, mode, false);
        return fetched(image, 0, x, y, 0, source).xy;
    }
    const struct taps_float x = taps_of_float(p.x, source.size_x, boundary(mode, 0), BINDLESS_LINEAR, 2, false);
    const struct taps_float y = taps_of_float(p.y, source.size_y, boundary(mode, 1), BINDLESS_LINEAR, 2, false);
    float2 sum = 0.0f;
    UNROLLED for (int j = 0; j < 2; ++j)
    {
        const float2 left = fetched(image, 0, x.at[0], y.at[j], 0, source).xy;
        const float2 right = fetched(image, 0, x.at[1], y.at[j], 0, source).xy;
        sum += y.weight[j] * (x.weight[0] * left + x.weight[1] * right);
    }
    return sum;
}

/* The share of texels inside along an axis: the rest is the fill value. */
INLINED float share_along(double p, int n, uint kind, uint mode)
{
    if (kind == NONE) return 1.0f;
    if (kind == EXTENT) return p >= -0.5 && p <= (double)n - 0.5 ? 1.0f : 0.0f;
    if (interpolation(mode) == BINDLESS_NEAREST) return p >= -0.5 && p < (double)n - 0.5 ? 1.0f : 0.0f;
    const double before = p + 1.0, behind = (double)n - p, least = before < behind ? before : behind;
    return least > 0.0 ? least < 1.0 ? (float)least : 1.0f : 0.0f;
}

/* A value from 0 to 1, blended with the fill value. */
INLINED float blended_with(float value, float share, float fill)
{
    const float within = value > 0.0f ? value < 1.0f ? value : 1.0f : 0.0f;
    return share * within + (1.0f - share) * fill;
}

/* The rows of the matrix of colours: factors of the three values that are read, 0 to 1, and what is then added. */
struct colours {
    float4 red, green, blue;
};

INLINED float colour_of(float4 row, float y, float2 uv) { return row.x * y + (row.y * uv.x + (row.z * uv.y + row.w)); }

INLINED uint4 sample_planes(ulong image, ulong chroma, struct position at, struct source source, struct source second,
                            double scale_x, double scale_y, double bias_x, double bias_y, struct colours colours, uint fills)
{
    struct position p = from_centre(at, is_centred(source.mode) ? 0.5 : source.centre);
    const float fill = (float)source.fill;
    if (!(is_finite(p.x) && is_finite(p.y))) return stored((float4)fill, source.format, source.mode);
    p = (struct position){bounded(p.x), bounded(p.y), 0.0};
    const float share = share_along(p.x, source.size_x, fills & 3, source.mode) *
                        share_along(p.y, source.size_y, fills >> 2 & 3, source.mode);
    const struct position between = {p.x * scale_x + bias_x, p.y * scale_y + bias_y, 0.0};
    const float y = plane_at(image, p, source).x;
    const float2 uv = plane_at(chroma, between, second);
    const float4 value = (float4)(blended_with(colour_of(colours.red, y, uv), share, fill),
                                  blended_with(colour_of(colours.green, y, uv), share, fill),
                                  blended_with(colour_of(colours.blue, y, uv), share, fill), 0.0f);
    return stored(value, source.format, source.mode);
}

/* size_x, size_y: of the first image; chroma_x, chroma_y: of the second one. Its position is that in the first one, both from
 * the centre of the first texel, times `scale`, plus `bias`. */
kernel void KERNEL(resample_planes)(ulong image, ulong chroma, MAP_PARAMETERS, int size_x, int size_y, int chroma_x, int chroma_y,
                                    float scale_x, float scale_y, float bias_x, float bias_y, float red_y, float red_u,
                                    float red_v, float red, float green_y, float green_u, float green_v, float green,
                                    float blue_y, float blue_u, float blue_v, float blue, uint fills, double fill,
                                    global void *values, uint width, uint height, uint depth, uint format, uint mode)
{
    const struct map map = MAP_OF_PARAMETERS;
    const struct own_field field = own_field_of(map, mode);
    const struct source source = {size_x, size_y, 1, size_x, size_y, 1, {0, 0}, {0, 0}, {0, 0}, centre, fill, format, mode};
    const struct source second = {chroma_x, chroma_y, 1, chroma_x, chroma_y, 1, {0, 0}, {0, 0}, {0, 0}, centre, fill, format, mode};
    const struct colours colours = {{red_y, red_u, red_v, red}, {green_y, green_u, green_v, green}, {blue_y, blue_u, blue_v, blue}};
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const struct extent size = {width, height, depth};
#define LOAD(ELEMENT) position_of(map, field, ELEMENT, mode)
#define DO(POSITION) sample_planes(image, chroma, POSITION, source, second, scale_x, scale_y, bias_x, bias_y, colours, fills)
#define PUT(ELEMENT, ELEMENTS) store_item(out, (ELEMENT).number, ELEMENTS, false)
    FOR_ELEMENTS(size, tile(mode), struct position, LOAD, uint4, DO, PUT);
}
