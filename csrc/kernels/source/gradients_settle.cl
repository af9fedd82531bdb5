/* Adds integer sums to gradients of texels. Those of 0 belong to texels without samples, or to memory
 * between texels. */
#include "gradient_memory.h"

kernel void bindless_gradients_settle(ulong sums, ulong gradients, ulong largest, ulong count)
{
    const uint bits = *(global const uint *)largest;
    if (bits == 0 || bits >= 0x7f800000u) return;
    const double unit = power_of_two(exponent_of(bits));
    for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) {
        const long sum = ((global const long *)sums)[i];
        if (sum != 0) ((global float *)gradients)[i] += (float)((double)sum * unit);
    }
}
