/* Elements of arrays of floats, or of halves. */
#ifndef BINDLESS_KERNELS_INCLUDE_REALS_H
#define BINDLESS_KERNELS_INCLUDE_REALS_H

#include "mode.h"

#include "half.h" /* after the extension that device.h enables */

INLINED float real_at(global const void *array, ulong index, bool is_half)
{
    return is_half ? half_bits_to_float(((global const ushort *)array)[index]) : ((global const float *)array)[index];
}

INLINED void put_real(global void *array, ulong index, float value, bool is_half)
{
    if (is_half)
        ((global ushort *)array)[index] = (ushort)float_to_half_bits(value);
    else
        ((global float *)array)[index] = value;
}

#endif
