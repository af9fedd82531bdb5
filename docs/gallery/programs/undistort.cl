/* The distortion of a lens by Brown and Conrady: where the straight picture's points lie in the one that it takes. */
#include <bindless/device.h>

typedef struct {
    float2 focal_length, principal_point; /* in pixels */
    float k1, k2, k3;                     /* radial */
    float p1, p2;                         /* tangential: lens and sensor are not parallel */
    float _unused;
} lens_t;

static float2 distorted(float2 p, const lens_t *lens)
{
    const float r2 = dot(p, p);
    const float radial = 1 + r2 * (lens->k1 + r2 * (lens->k2 + r2 * lens->k3));
    return p * radial + (float2)(2 * lens->p1 * p.x * p.y + lens->p2 * (r2 + 2 * p.x * p.x),
                                 lens->p1 * (r2 + 2 * p.y * p.y) + 2 * lens->p2 * p.x * p.y);
}

/* The centre of this work-item's pixel. */
static float2 pixel_centre(void)
{
    return (float2)((float)bindless_item_id(1, 2) + 0.5f, (float)bindless_item_id(0, 2) + 0.5f);
}

static size_t place(void) { return bindless_item_id(0, 2) * bindless_item_range(1, 2) + bindless_item_id(1, 2); }

/* What the lens was asked to show, from the photograph that it took. */
kernel void undistort(sampled_image_handle photo, lens_t lens, global float4 *straight)
{
    const float2 p = (pixel_centre() - lens.principal_point) / lens.focal_length;
    straight[place()] = sample_image_float4(photo, distorted(p, &lens) * lens.focal_length + lens.principal_point);
}

/* The photograph that such a lens takes of a flat square scene, which is sampled from 0 to 1. The model has no inverse in closed form: iterate. */
kernel void photograph(sampled_image_handle scene, lens_t lens, global float4 *photo)
{
    const float2 wanted = (pixel_centre() - lens.principal_point) / lens.focal_length;
    float2 p = wanted;
    for (int i = 0; i < 20; i++) p += wanted - distorted(p, &lens);
    photo[place()] =
        sample_image_float4(scene, (p * lens.focal_length + lens.principal_point) / (float)bindless_item_range(0, 2));
}
