/* Writes into unsampled images. Of several items with the same coordinates any one may remain. */
#define TWO_ROWS 1
#include "items.h"
#include "texel.h"

struct item {
    pixel at;
    uint layer;
    uint4 elements;
};

/* Widens integer elements to a register; codes of normalized images keep their bits. */
static inline uint4 widen(uint4 elements, uint format)
{
#if !CLASS_F
    if (signed_element(format)) return __builtin_astype(sign_extend(elements, element_size(format)), uint4);
#endif
    return elements;
}

kernel void KERNEL(write)(ulong image, global const void *coords, LAYER_PARAMETERS global void *values, ulong count,
                          uint format, uint row)
{
    const struct values in = values_of(values, element_size(format), value_channels(format), aligned(format));
#define LOAD(I) {load_pixel(coords, I, aligned(format)), LOAD_LAYER(I), load_item(in, I)}
#define DO(ITEM) ITEM
#define PUT(I, ITEM, TOGETHER)                                                                                         \
    ((void)(TOGETHER), write_texel(image, ITEM.layer, ITEM.at, widen(ITEM.elements, format), format))
    FOR_ITEMS(count, row, struct item, LOAD, struct item, DO, PUT);
}
