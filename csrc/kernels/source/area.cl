/* Means along one axis of an array (outer, length, inner): each of the `size` new elements is the mean of the part
 * that it covers, size <= length. Sums have the type SUM and run from the first element to the last; each product
 * and sum is rounded. If size divides length, whole elements are summed and divided at the end; otherwise elements
 * are weighted by the covered share. The mean is rounded to MEAN, and, if `to` is an integer type, to the nearest
 * integer, ties to even, clamped to lowest and highest. */
#include "bindless/device.h"

/* Types of elements: those of the format word (format.h), and doubles. */
enum element { S8, U8, S16, U16, S32, U32, F16, F32, F64 };

static inline SUM element_at(global const void *array, ulong i, uint type)
{
    switch (type) {
    case S8: return (SUM)((global const char *)array)[i];
    case U8: return (SUM)((global const uchar *)array)[i];
    case S16: return (SUM)((global const short *)array)[i];
    case U16: return (SUM)((global const ushort *)array)[i];
    case S32: return (SUM)((global const int *)array)[i];
    case U32: return (SUM)((global const uint *)array)[i];
    case F16: return (SUM)((global const half *)array)[i];
    case F32: return (SUM)((global const float *)array)[i];
    default: return (SUM)((global const double *)array)[i];
    }
}

static inline void put_element(global void *array, ulong i, uint type, MEAN mean, double lowest, double highest)
{
    const double whole = __builtin_fmin(__builtin_fmax(__builtin_rint((double)mean), lowest), highest);
    switch (type) {
    case S8:
    case U8: ((global uchar *)array)[i] = (uchar)(int)whole; break;
    case S16:
    case U16: ((global ushort *)array)[i] = (ushort)(int)whole; break;
    case S32:
    case U32: ((global uint *)array)[i] = (uint)(long)whole; break;
    case F16: ((global half *)array)[i] = (half)mean; break;
    case F32: ((global float *)array)[i] = (float)mean; break;
    default: ((global double *)array)[i] = (double)mean;
    }
}

static inline SUM mean_of(global const void *array, ulong start, uint inner, uint type, ulong step, ulong i)
{
    SUM sum = element_at(array, start + i * step * inner, type);
    for (ulong k = i * step + 1; k < (i + 1) * step; ++k) sum += element_at(array, start + k * inner, type);
    return sum / (SUM)step;
}

static inline SUM weighted_mean_of(global const void *array, ulong start, uint inner, uint type, ulong length, ulong size,
                                   ulong i)
{
    const ulong begin = i * length, end = begin + length; /* in units of 1 / size of an element */
    SUM sum = 0;
    for (ulong k = begin / size; k * size < end; ++k) {
        const ulong from = k * size > begin ? k * size : begin;
        const ulong to = (k + 1) * size < end ? (k + 1) * size : end;
        sum += element_at(array, start + k * inner, type) * (SUM)((double)(to - from) / (double)length);
    }
    return sum;
}

kernel void NAME(global const void *array, uint from, global void *means, uint to, ulong outer, uint length, uint size,
                 uint inner, double lowest, double highest)
{
    const ulong count = outer * size * inner;
    for (ulong n = bindless_global_id(0); n < count; n += bindless_global_size(0)) {
        const ulong line = n / inner; /* of new elements */
        const ulong start = line / size * length * inner + n % inner;
        const SUM mean = length % size == 0 ? mean_of(array, start, inner, from, length / size, line % size)
                                            : weighted_mean_of(array, start, inner, from, length, size, line % size);
        put_element(means, n, to, (MEAN)mean, lowest, highest);
    }
}
