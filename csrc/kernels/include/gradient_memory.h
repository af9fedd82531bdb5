/* Numbers in arrays of floats or halves, and sums of the work-items of a sample. */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_MEMORY_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_MEMORY_H

#include "gradient_call.h"
#include "atomics.h"
#include "half.h"

INLINED float number_at(ulong first, long offset, bool is_half)
{
    if (is_half) return half_bits_to_float(((global const ushort *)first)[offset]);
    return ((global const float *)first)[offset];
}

INLINED void put_number(ulong first, long offset, float value, bool is_half)
{
    if (is_half)
        ((global ushort *)first)[offset] = (ushort)float_to_half_bits(value);
    else
        ((global float *)first)[offset] = value;
}

/* The sum of a value over the work-items of a sample, which are neighbours in a sub-group of 32. */
#ifdef __PTX__
INLINED float sum_of_sample(float value, uint mode)
{
    const uint lanes = 1u << spread(mode), lane = (uint)bindless_local_id(0) & 31u;
    const uint members = (lanes == 32u ? ~0u : ((1u << lanes) - 1u) << (lane & ~(lanes - 1u)));
    for (uint distance = lanes >> 1; distance != 0; distance >>= 1) {
        float other;
        __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, %3;" : "=f"(other) : "f"(value), "r"(distance), "r"(members));
        value += other;
    }
    return value;
}
#elif defined(__SPIRV__)
INLINED float sum_of_sample(float value, uint mode)
{
    for (uint distance = 1u << spread(mode) >> 1; distance != 0; distance >>= 1) value += sub_group_shuffle_xor(value, distance);
    return value;
}
#else /* one work-item at a time */
INLINED float sum_of_sample(float value, uint mode) { return value; }
#endif

/* Addends become integers in units of the largest one's power of two times 2^-38; 2^24 of them fit. */
INLINED int exponent_of(uint largest) { return (int)(largest >> 23) - 127 - 38; }

INLINED double power_of_two(int exponent) { return as_double((ulong)(exponent + 1023) << 52); }

#endif
