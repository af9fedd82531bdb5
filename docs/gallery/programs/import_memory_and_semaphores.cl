/* Half of every colour of one image, into another. */
#include <bindless/device.h>

kernel void halve(unsampled_image_handle input, unsampled_image_handle output)
{
    const int2 place = (int2)((int)bindless_item_id(1, 2), (int)bindless_item_id(0, 2));
    write_image(output, place, fetch_image_float4(input, place) * 0.5f);
}
