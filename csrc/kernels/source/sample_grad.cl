/* Samples of mipmaps with the gradients of the coordinates, packed like the coordinates. */
#include "format.h"
#include "geometry.h"
#include "items.h"

struct place {
    point at, dx, dy;
    uint layer;
};

static inline color sample(ulong image, struct place place)
{
    return PRIMITIVE(sample_grad)(image, AT(place.layer, place.at), SPREAD(place.dx), SPREAD(place.dy));
}

kernel void KERNEL(sample_grad)(ulong image, global const void *coords, LAYER_PARAMETERS global const float *dx,
                                global const float *dy, global void *values, ulong count, uint format, uint row)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) {load_point(coords, I, aligned(format)), load_point(dx, I, aligned(format)), load_point(dy, I, aligned(format)), LOAD_LAYER(I)}
#define DO(PLACE) sample(image, PLACE)
#define PUT(I, COLOR, TOGETHER) store_item(out, I, color_to_elements(mask_channels(COLOR, format), format), TOGETHER)
    FOR_ITEMS(count, row, struct place, LOAD, color, DO, PUT);
}
