/* The sets of vector instructions of this processor that the driver has functions for. */

#ifndef BLR_PROCESSOR_H
#define BLR_PROCESSOR_H

#include <stdbool.h>

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))

#include <cpuid.h>

/* AVX2 with fused multiplication and conversions of half precision. The builtin asks the operating system too; clang
 * before 15 does not know its name "f16c". */
static inline bool blr_processor_has_avx2(void)
{
    unsigned int a, b, c, d;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (c & bit_F16C) != 0;
}

/* The AVX-512 of server processors; to be asked after AVX2. */
static inline bool blr_processor_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

#endif
#endif
