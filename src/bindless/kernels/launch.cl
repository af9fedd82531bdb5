/* launch.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF

kernel void bindless_empty(void) {}
kernel void bindless_four_arguments(global ulong *out, ulong a, uint b, float c)
{
if (out) *out = a + b + (ulong)c;
}
