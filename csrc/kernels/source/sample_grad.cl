/* Samples of mipmaps with the gradients of the coordinates, packed like the coordinates. */
#include "format.h"
#include "geometry.h"
#include "items.h"

struct place {
    point at, dx, dy;
    uint layer;
};

static inline struct place place_of(global const void *coords, global const float *dx, global const float *dy, ulong i,
                                    uint layer, ulong count, uint format)
{
    prefetch_point(coords, i, count);
    prefetch_point(dx, i, count);
    prefetch_point(dy, i, count);
    return (struct place){load_point(coords, i, aligned(format)), load_point(dx, i, aligned(format)),
                          load_point(dy, i, aligned(format)), layer};
}

static inline color sample(ulong image, struct place place)
{
    return PRIMITIVE(sample_grad)(image, AT(place.layer, place.at), SPREAD(place.dx), SPREAD(place.dy));
}

kernel void KERNEL(sample_grad)(ulong image, global const void *coords, LAYER_PARAMETERS global const float *dx,
                                global const float *dy, global void *values, ulong count, uint format, uint row)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) place_of(coords, dx, dy, I, LOAD_LAYER(I), count, format)
#define DO(PLACE) sample(image, PLACE)
#define PUT(I, COLOR, TOGETHER) store_item(out, I, color_to_elements(mask_channels(COLOR, format), format), TOGETHER)
    FOR_ITEMS(count, row, struct place, LOAD, color, DO, PUT);
}
