/* Detection of the processor's vector instruction sets that the driver has code for. */

#ifndef BINDLESS_REFERENCE_PLATFORM_CPU_FEATURES_H
#define BINDLESS_REFERENCE_PLATFORM_CPU_FEATURES_H

#include <stdbool.h>

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))

#include <cpuid.h>
#include <stdatomic.h>

/* Half-precision conversions (F16C). Clang before 15 does not know the builtin's name "f16c"; the CPUID instruction
 * runs once, because it takes microseconds in a virtual machine. */
static inline bool blr_processor_has_f16c(void)
{
    static atomic_int state; /* 0: not queried, 1: no, 2: yes */
    int answer = atomic_load_explicit(&state, memory_order_relaxed);
    if (answer == 0) {
        unsigned int a, b, c, d;
        answer = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 ? 2 : 1;
        atomic_store_explicit(&state, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* AVX2 with FMA and F16C; the builtin also checks that the system saves the registers. */
static inline bool blr_processor_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && blr_processor_has_f16c();
}

/* AVX-512 F, DQ, BW and VL, as of server processors; query AVX2 first. */
static inline bool blr_processor_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

#endif
#endif
