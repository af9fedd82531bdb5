/* Samples at the pixels of a picture under a projective map: pixel (x, y) of `values`, a (height, width) array, is the
 * sample at (u / w, v / w), where (u, v, w) is the row-major 3x3 matrix times its centre (x + 1/2, y + 1/2, 1). Each
 * product and sum is rounded by itself, from left to right. An affine map has w exactly 1. */
#include "format.h"
#include "geometry.h"
#include "items.h"

/* The centre of pixel i; a 64-bit division only where the picture needs it. */
static inline point centre(ulong i, uint width)
{
    if (i >> 32) {
        const ulong row = i / width;
        return (point)((float)(uint)(i - row * width) + 0.5f, (float)(uint)row + 0.5f);
    }
    const uint row = (uint)i / width;
    return (point)((float)((uint)i - row * width) + 0.5f, (float)row + 0.5f);
}

kernel void KERNEL(warp)(ulong image, float m00, float m01, float m02, float m10, float m11, float m12, float m20,
                         float m21, float m22, global void *values, uint width, uint height, uint format)
{
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const ulong count = (ulong)width * height;
#define LOAD(I) centre(I, width)
#define ROW(P, A, B, C) (A * (P).x + B * (P).y + C)
#define DO(P)                                                                                                          \
    PRIMITIVE(sample)(image, ROW(P, m00, m01, m02) / ROW(P, m20, m21, m22), ROW(P, m10, m11, m12) / ROW(P, m20, m21, m22))
#define PUT(I, COLOR, TOGETHER) store_item(out, I, color_to_elements(mask_channels(COLOR, format), format), TOGETHER)
    FOR_ITEMS(count, width, point, LOAD, color, DO, PUT);
}
