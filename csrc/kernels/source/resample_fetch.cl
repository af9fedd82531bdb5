/* A picture of values that are filtered here, from fetched texels: element (i, j, k) of `values`, of shape (depth, height,
 * width), is the value at its position (place.h). The image may be a window of a larger one, to which positions and
 * boundaries refer. */
#define IMAGE ulong
#include "picture_filter.h"

INLINED color fetched(ulong image, uint layer, int x, int y, int z, struct source source)
{
    if (is_window(source.mode)) {
        x = held_index(x, source.x, source.held_x);
        y = DIMENSIONS > 1 ? held_index(y, source.y, source.held_y) : y;
        z = DIMENSIONS > 2 ? held_index(z, source.z, source.held_z) : z;
    }
#if DIMENSIONS == 1
    return PRIMITIVE(fetch_sampled)(image, AT(layer, x));
#elif DIMENSIONS == 2
    return PRIMITIVE(fetch_sampled)(image, AT(layer, (pixel)(x, y)));
#else
    return PRIMITIVE(fetch_sampled)(image, AT(layer, (pixel)(x, y, z)));
#endif
}

#if LAYERED
#define LAYER uint layer,
#else
#define LAYER
#define layer 0u
#endif

kernel void KERNEL(resample_fetch)(ulong image, LAYER MAP_PARAMETERS, int size_x, int size_y, int size_z, int origin_x,
                                   int origin_y, int origin_z, int whole_x, int whole_y, int whole_z, double fill,
                                   global void *values, uint width, uint height, uint depth, uint format, uint mode)
{
    const struct map map = MAP_OF_PARAMETERS;
    const struct own_field field = own_field_of(map, mode);
    const bool part = is_window(mode);
    const struct source source = {part ? whole_x : size_x, part ? whole_y : size_y, part ? whole_z : size_z,
                                  size_x, size_y, size_z,
                                  {origin_x, whole_x}, {origin_y, whole_y}, {origin_z, whole_z},
                                  centre, fill, format, mode};
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const struct extent size = {width, height, depth};
#define LOAD(ELEMENT) position_of(map, field, ELEMENT, mode)
#define DO(POSITION) sample_picture(image, layer, POSITION, source)
#define PUT(ELEMENT, ELEMENTS) store_item(out, (ELEMENT).number, ELEMENTS, false)
    FOR_ELEMENTS(size, tile(mode), struct position, LOAD, uint4, DO, PUT);
}
