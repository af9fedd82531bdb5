/* Samples of images, or of the first level of mipmaps. */
#include "format.h"
#include "geometry.h"
#include "items.h"

struct place {
    point at;
    uint layer;
};

static inline color sample(ulong image, struct place place)
{
#if CUBE
    place.at = bindless_cube_direction(place.at);
#endif
    return PRIMITIVE(sample)(image, AT(place.layer, place.at));
}

/* Returns whether to access coordinates and values with streaming accesses, so that an image that fits in the cache
 * stays there. It pays off for items with the largest values. */
static inline bool once(uint format)
{
#ifdef __NVPTX__
    return DIMENSIONS == 2 && aligned(format) && element_size(format) * value_channels(format) == 16;
#else
    return false;
#endif
}

static inline struct place place_of(global const void *coords, ulong i, uint layer, ulong count, uint format)
{
    prefetch_point(coords, i, count);
#if DIMENSIONS == 2
    if (once(format)) {
        const uint2 bits = __bindless_load_once_b64((global const uint2 *)coords + i);
        return (struct place){__builtin_astype(bits, point), layer};
    }
#endif
    return (struct place){load_point(coords, i, aligned(format)), layer};
}

static inline void store(struct values out, ulong i, uint4 elements, uint format, bool together)
{
    if (once(format))
        __bindless_store_once_b128((global uint4 *)out.items + i, elements);
    else
        store_item(out, i, elements, together);
}

kernel void KERNEL(sample)(ulong image, global const void *coords, LAYER_PARAMETERS global void *values, ulong count,
                           uint format, uint row)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) place_of(coords, I, LOAD_LAYER(I), count, format)
#define DO(PLACE) sample(image, PLACE)
#define PUT(I, COLOR, TOGETHER) store(out, I, color_to_elements(mask_channels(COLOR, format), format), format, TOGETHER)
    FOR_ITEMS(count, row, struct place, LOAD, color, DO, PUT);
}
