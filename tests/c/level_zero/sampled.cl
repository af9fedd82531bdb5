kernel void sampled(read_only image2d_t image, sampler_t sampler, global const float2 *at, global float4 *out)
{
    out[get_global_id(0)] = read_imagef(image, sampler, at[get_global_id(0)]);
}
