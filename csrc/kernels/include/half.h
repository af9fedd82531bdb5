/* Conversions between half and single precision, of bits. */
#ifndef BINDLESS_KERNELS_INCLUDE_HALF_H
#define BINDLESS_KERNELS_INCLUDE_HALF_H

#ifdef BINDLESS_OPENCL_C
/* The type half is optional in OpenCL; vload_half and vstore_half are not. */
static inline float half_bits_to_float(uint bits)
{
    const ushort stored = (ushort)bits;
    return vload_half(0, (const half *)&stored);
}
static inline uint float_to_half_bits(float value)
{
    ushort stored;
    vstore_half_rte(value, 0, (half *)&stored);
    return stored;
}
#else
static inline float half_bits_to_float(uint bits) { return (float)__builtin_astype((ushort)bits, half); }
static inline uint float_to_half_bits(float value) { return __builtin_astype((half)value, ushort); }
#endif

#endif
