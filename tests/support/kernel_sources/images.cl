/* Images that a kernel finds by number in memory. */
#include <bindless/device.h>

/* Pixel (i % 7, i / 7 % 5) of image which[i]: the first row of the table holds unsampled images, the second sampled. */
kernel void gather(global const ulong *table, global const uint *which, global float2 *fetched, global float2 *sampled,
                   uint images)
{
    const uint i = (uint)bindless_global_id(0);
    const int2 at = (int2)((int)(i % 7), (int)(i / 7 % 5));
    fetched[i] = fetch_image_float2(table[which[i]], at);
    sampled[i] = sample_image_float2(table[images + which[i]], (float2)((float)at.x + 0.5f, (float)at.y + 0.5f));
}

/* Doubles every pixel of the images whose handles another array points to. */
kernel void twice(global const ulong *const global *tables, uint image)
{
    const int2 at = (int2)((int)bindless_global_id(0), (int)bindless_global_id(1));
    const unsampled_image_handle handle = tables[0][image];
    write_image(handle, at, fetch_image_float2(handle, at) * 2.0f);
}
