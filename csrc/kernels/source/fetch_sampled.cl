/* Fetches of pixels of sampled images at integer coordinates, without the sampler. */
#include "format.h"
#include "geometry.h"
#include "items.h"

struct place {
    pixel at;
    uint layer;
};

kernel void KERNEL(fetch_sampled)(ulong image, global const void *coords, LAYER_PARAMETERS global void *values,
                                  ulong count, uint format, uint row)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) {load_pixel(coords, I, aligned(format)), LOAD_LAYER(I)}
#define DO(PLACE) PRIMITIVE(fetch_sampled)(image, AT(PLACE.layer, PLACE.at))
#define PUT(I, COLOR, TOGETHER) store_item(out, I, color_to_elements(mask_channels(COLOR, format), format), TOGETHER)
    FOR_ITEMS(count, row, struct place, LOAD, color, DO, PUT);
}
