/*
 * Floating-point environment of a caller's thread while it runs driver work: results do not depend on the caller's
 * rounding and denormal modes, and the caller's modes and exception flags are restored afterwards.
 *
 * Most callers use the default modes. Checking for them costs a tenth of saving and restoring everything.
 */
#ifndef BINDLESS_REFERENCE_PLATFORM_FP_ENVIRONMENT_H
#define BINDLESS_REFERENCE_PLATFORM_FP_ENVIRONMENT_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define BLR_ENVIRONMENT_IS_SEEN 1
#include <xmmintrin.h>
#endif

struct blr_environment {
    fenv_t own;
    bool saved;
#if defined(BLR_ENVIRONMENT_IS_SEEN)
    uint32_t control; /* the SSE control and status register */
#endif
};

#if defined(BLR_ENVIRONMENT_IS_SEEN)
enum { BLR_SSE_FLAGS = 0x3f, BLR_SSE_DEFAULT = 0x1f80, BLR_X87_FLAGS = 0x3f };
#if defined(_WIN32)
enum { BLR_X87_DEFAULT = 0x27f };
#else
enum { BLR_X87_DEFAULT = 0x37f };
#endif

static inline bool blr_x87_has_flags(void)
{
    uint16_t status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return (status & BLR_X87_FLAGS) != 0;
}

static inline bool blr_environment_is_default(uint32_t control)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (control & ~(uint32_t)BLR_SSE_FLAGS) == BLR_SSE_DEFAULT && x87 == BLR_X87_DEFAULT && !blr_x87_has_flags();
}
#endif

/* The default modes, for a thread that runs driver work. MinGW's FE_DFL_ENV leaves the modes of SSE. */
static inline void blr_environment_set_default(void)
{
    fesetenv(FE_DFL_ENV);
#if defined(BLR_ENVIRONMENT_IS_SEEN)
    _mm_setcsr(BLR_SSE_DEFAULT);
#endif
}

static inline void blr_environment_enter(struct blr_environment *environment)
{
#if defined(BLR_ENVIRONMENT_IS_SEEN)
    environment->control = _mm_getcsr();
    environment->saved = !blr_environment_is_default(environment->control);
#else
    environment->saved = true;
#endif
    if (environment->saved) {
        fegetenv(&environment->own);
        blr_environment_set_default();
    }
}

static inline void blr_environment_leave(const struct blr_environment *environment)
{
    if (environment->saved) {
        fesetenv(&environment->own);
#if defined(BLR_ENVIRONMENT_IS_SEEN)
        _mm_setcsr(environment->control);
#endif
        return;
    }
#if defined(BLR_ENVIRONMENT_IS_SEEN)
    if (_mm_getcsr() != environment->control)
        _mm_setcsr(environment->control);
    if (blr_x87_has_flags())
        __asm__ volatile("fnclex");
#endif
}

#endif
