/* Fetches of pixels of unsampled images. */
#include "items.h"
#include "texel.h"

struct place {
    pixel at;
    uint layer;
};

kernel void KERNEL(fetch)(ulong image, global const void *coords, LAYER_PARAMETERS global void *values, ulong count,
                          uint format, uint row)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) {load_pixel(coords, I, aligned(format)), LOAD_LAYER(I)}
#define DO(PLACE) read_texel(image, PLACE.layer, PLACE.at, format)
#define PUT(I, TEXEL, TOGETHER) store_item(out, I, color_to_elements(decode_texel(TEXEL, format), format), TOGETHER)
    FOR_ITEMS(count, row, struct place, LOAD, texel, DO, PUT);
}
