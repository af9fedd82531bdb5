/* Additions of several work-items to one number, and the largest of their numbers. */
#ifndef BINDLESS_KERNELS_INCLUDE_ATOMICS_H
#define BINDLESS_KERNELS_INCLUDE_ATOMICS_H

#include "mode.h"

#ifdef __PTX__
INLINED void add_float(global float *to, float value)
{
    __asm__ volatile("red.global.add.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}
INLINED void add_integer(global ulong *to, long value)
{
    __asm__ volatile("red.global.add.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
}
INLINED void raise_to(global uint *to, uint value)
{
    __asm__ volatile("red.global.max.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}
/* Returns the number before. */
INLINED int add_local(local int *to, int value)
{
    int before;
    __asm__ volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(to), "r"(value) : "memory");
    return before;
}
INLINED void raise_local(local int *to, int value)
{
    __asm__ volatile("red.shared.max.s32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}
#elif defined(__SPIRV__)
INLINED void add_float(global float *to, float value)
{
    volatile global uint *bits = (volatile global uint *)to;
    uint now = *bits, before;
    do {
        before = now;
        now = atomic_cmpxchg(bits, before, as_uint(as_float(before) + value));
    } while (now != before);
}
INLINED int add_local(local int *to, int value) { return (int)atomic_add((volatile local uint *)to, (uint)value); }
INLINED void raise_local(local int *to, int value)
{
    volatile local uint *bits = (volatile local uint *)to;
    uint now = *bits, before;
    do {
        before = now;
        now = (int)before < value ? atomic_cmpxchg(bits, before, (uint)value) : before;
    } while (now != before);
}
#else /* one work-item at a time */
INLINED void add_float(global float *to, float value) { *to += value; }
INLINED void add_integer(global ulong *to, long value) { *to += (ulong)value; }
INLINED void raise_to(global uint *to, uint value) { *to = value > *to ? value : *to; }
INLINED int add_local(local int *to, int value)
{
    const int before = *to;
    *to = before + value;
    return before;
}
INLINED void raise_local(local int *to, int value) { *to = value > *to ? value : *to; }
#endif

#endif
