constant sampler_t nearest = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void image_scaling(read_only image2d_t source, write_only image2d_t destination, uint width, uint height)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    const float2 normalized = (convert_float2(at) + 0.5f) / (float2)(width, height);
    write_imagef(destination, at, read_imagef(source, nearest, normalized));
}
