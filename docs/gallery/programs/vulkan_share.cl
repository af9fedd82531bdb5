/* What a camera does with light: it spreads around bright places, and bright places do not end at white. */
#include <bindless/device.h>

/* A Gaussian of 12 x 12 pixels by 36 samples: a sample between four pixels is their mean. */
static float4 spread(sampled_image_handle scene, float2 centre)
{
    float4 sum = (float4)(0, 0, 0, 0);
    float weights = 0;
    for (int j = -5; j <= 5; j += 2)
        for (int i = -5; i <= 5; i += 2) {
            const float weight = exp(-(float)(i * i + j * j) / 16.0f);
            sum += weight * sample_image_float4(scene, centre + (float2)((float)i, (float)j) + 0.5f);
            weights += weight;
        }
    return sum / weights;
}

/* From the light of a frame to the codes of a screen. */
kernel void develop(sampled_image_handle scene, unsampled_image_handle screen, float exposure)
{
    const int y = (int)bindless_item_id(0, 2), x = (int)bindless_item_id(1, 2);
    const float2 centre = (float2)((float)x + 0.5f, (float)y + 0.5f);
    const float4 light = 0.7f * sample_image_float4(scene, centre) + 0.3f * spread(scene, centre);
    const float4 seen = 1 - exp(-exposure * light);
    const float4 code = 255 * pow(seen, 1 / 2.2f) + 0.5f;
    write_image(screen, (int2)(x, y), (uchar4)((uchar)code.x, (uchar)code.y, (uchar)code.z, 255));
}
