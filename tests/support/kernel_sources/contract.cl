/* Kernels that every backend runs in the tests of the contract. */
#include <bindless/device.h>

/* data *= factor for the first count */
kernel void scale(global float *data, float factor, uint count)
{
    if (bindless_global_id(0) < count) data[bindless_global_id(0)] *= factor;
}

/* The work-group's data back to front, by way of local memory. */
kernel void reverse(global uint *data, local uint *unused, local uint *piece)
{
    const size_t i = bindless_local_id(0), n = bindless_local_size(0);
    piece[i] = data[bindless_global_id(0)];
    bindless_barrier();
    data[bindless_global_id(0)] = piece[n - 1 - i];
    (void)unused;
}

/* Every work-item its own number, dimension 0 fastest. */
kernel void where(global uint *data)
{
    const size_t i = bindless_global_id(1) * bindless_global_size(0) + bindless_global_id(0);
    data[i] = (uint)i;
}
