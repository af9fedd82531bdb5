/* Small kernels for tests of the runtime: what each does is said in one line. */
#include <bindless/device.h>

/* y = a x + y */
kernel void axpy(float a, global const float *x, global float *y) { y[bindless_global_id(0)] += a * x[bindless_global_id(0)]; }

kernel void fill(global int *out, int value) { out[bindless_global_id(0)] = value; }

kernel void increment(global int *out) { out[bindless_global_id(0)] += 1; }

kernel void copy(global const int *in, global int *out) { out[bindless_global_id(0)] = in[bindless_global_id(0)]; }

/* Counts to n in every work-item and says so: takes as long as asked. */
kernel void busy(global int *out, uint n)
{
    volatile uint count = 0;
    while (count < n) count = count + 1;
    out[bindless_global_id(0)] = (int)count;
}
