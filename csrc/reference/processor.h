/* The sets of vector instructions of this processor that the driver has functions for. */

#ifndef BLR_PROCESSOR_H
#define BLR_PROCESSOR_H

#include <stdbool.h>

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))

#include <cpuid.h>
#include <stdatomic.h>

/* Conversions of half precision. Clang before 15 does not know the builtin's name "f16c"; the instruction is asked once,
 * for a virtual machine takes microseconds to answer it. */
static inline bool blr_processor_has_f16c(void)
{
    static atomic_int known; /* 0: not asked, 1: no, 2: yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        unsigned int a, b, c, d;
        answer = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* AVX2 with fused multiplication and conversions of half precision; whether the system keeps its registers, the builtin
 * asks. */
static inline bool blr_processor_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && blr_processor_has_f16c();
}

/* The AVX-512 of server processors; to be asked after AVX2. */
static inline bool blr_processor_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

#endif
#endif
