/* Kernels whose only cost is their launch, for benchmarks. */

kernel void bindless_empty(void) {}

/* Writes the sum of its arguments where `out` is given. */
kernel void bindless_four_arguments(global ulong *out, ulong a, uint b, float c)
{
    if (out) *out = a + b + (ulong)c;
}
