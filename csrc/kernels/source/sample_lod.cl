/* Samples of mipmaps at a level: an item's own if `level` is given, otherwise `lod` for all. */
#include "format.h"
#include "geometry.h"
#include "items.h"

struct place {
    point at;
    uint layer;
    float lod;
};

static inline struct place place_of(global const void *coords, ulong i, uint layer, float lod, ulong count, uint format)
{
    prefetch_point(coords, i, count);
    return (struct place){load_point(coords, i, aligned(format)), layer, lod};
}

static inline color sample(ulong image, struct place place)
{
#if CUBE
    place.at = bindless_cube_direction(place.at);
#endif
    return PRIMITIVE(sample_lod)(image, AT(place.layer, place.at), place.lod);
}

kernel void KERNEL(sample_lod)(ulong image, global const void *coords, LAYER_PARAMETERS global const float *level,
                               float lod, global void *values, ulong count, uint format, uint row)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) place_of(coords, I, LOAD_LAYER(I), level ? level[I] : lod, count, format)
#define DO(PLACE) sample(image, PLACE)
#define PUT(I, COLOR, TOGETHER) store_item(out, I, color_to_elements(mask_channels(COLOR, format), format), TOGETHER)
    FOR_ITEMS(count, row, struct place, LOAD, color, DO, PUT);
}
