/* Kernels with negligible work, for launch benchmarks. */

kernel void bindless_empty(void) {}

/* Writes the sum of its arguments if `out` is not null. */
kernel void bindless_four_arguments(global ulong *out, ulong a, uint b, float c)
{
    if (out) *out = a + b + (ulong)c;
}
