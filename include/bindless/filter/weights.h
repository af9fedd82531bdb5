/* Weights of the texels around a position, and their first and second derivatives by it: for each interpolation, the only
 * place that has them. `f`, from 0 to 1, is the fraction of the position after the first texel of two, or the second of four.
 * Weight k is stored `stride` numbers after weight k - 1. */
#ifndef BINDLESS_REAL
#ifndef BINDLESS_FILTER_WEIGHTS_H
#define BINDLESS_FILTER_WEIGHTS_H

#include "bindless/filter/real.h"

/* In the order of blr_interpolation_t. Cubic is the B-spline; the last two are cubic convolutions. */
enum bindless_interpolation {
    BINDLESS_NEAREST,
    BINDLESS_LINEAR,
    BINDLESS_CUBIC,
    BINDLESS_CATMULL_ROM,
    BINDLESS_BICUBIC
};

/* Texels of a filter along one axis. */
BINDLESS_INLINE unsigned int bindless_taps(unsigned int interpolation)
{
    return interpolation == BINDLESS_NEAREST ? 1 : interpolation == BINDLESS_LINEAR ? 2 : 4;
}

#define BINDLESS_REAL float
#include "bindless/filter/weights.h"
#undef BINDLESS_REAL
#if BINDLESS_HAS_DOUBLE
#define BINDLESS_REAL double
#include "bindless/filter/weights.h"
#undef BINDLESS_REAL
#endif

#endif
#else

/* The slope of a cubic convolution one texel away from its centre. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_convolution_slope)(unsigned int interpolation)
{
    return interpolation == BINDLESS_CATMULL_ROM ? (BINDLESS_REAL)-0.5 : (BINDLESS_REAL)-0.75;
}

BINDLESS_INLINE void BINDLESS_OF(bindless_weights)(BINDLESS_REAL f, unsigned int interpolation, BINDLESS_REAL *w,
                                                   unsigned int stride)
{
    const BINDLESS_REAL g = 1 - f;
    if (interpolation == BINDLESS_NEAREST) {
        w[0] = 1;
    } else if (interpolation == BINDLESS_LINEAR) {
        w[0] = g;
        w[stride] = f;
    } else if (interpolation == BINDLESS_CUBIC) {
        const BINDLESS_REAL sixth = (BINDLESS_REAL)1 / 6, two_thirds = (BINDLESS_REAL)2 / 3, middle = (BINDLESS_REAL)0.5;
        w[0] = g * g * g * sixth;
        w[stride] = two_thirds - f * f * (1 - middle * f);
        w[2 * stride] = two_thirds - g * g * (1 - middle * g);
        w[3 * stride] = f * f * f * sixth;
    } else {
        const BINDLESS_REAL a = BINDLESS_OF(bindless_convolution_slope)(interpolation);
        w[0] = a * f * g * g;
        w[stride] = ((a + 2) * f - (a + 3)) * f * f + 1;
        w[2 * stride] = ((a + 2) * g - (a + 3)) * g * g + 1;
        w[3 * stride] = a * g * f * f;
    }
}

BINDLESS_INLINE void BINDLESS_OF(bindless_slopes)(BINDLESS_REAL f, unsigned int interpolation, BINDLESS_REAL *d,
                                                  unsigned int stride)
{
    const BINDLESS_REAL g = 1 - f;
    if (interpolation == BINDLESS_NEAREST) {
        d[0] = 0;
    } else if (interpolation == BINDLESS_LINEAR) {
        d[0] = -1;
        d[stride] = 1;
    } else if (interpolation == BINDLESS_CUBIC) {
        const BINDLESS_REAL middle = (BINDLESS_REAL)0.5;
        d[0] = -middle * g * g;
        d[stride] = f * ((BINDLESS_REAL)1.5 * f - 2);
        d[2 * stride] = -g * ((BINDLESS_REAL)1.5 * g - 2);
        d[3 * stride] = middle * f * f;
    } else {
        const BINDLESS_REAL a = BINDLESS_OF(bindless_convolution_slope)(interpolation);
        d[0] = a * g * (g - 2 * f);
        d[stride] = (3 * (a + 2) * f - 2 * (a + 3)) * f;
        d[2 * stride] = -(3 * (a + 2) * g - 2 * (a + 3)) * g;
        d[3 * stride] = -a * f * (f - 2 * g);
    }
}

BINDLESS_INLINE void BINDLESS_OF(bindless_curves)(BINDLESS_REAL f, unsigned int interpolation, BINDLESS_REAL *c,
                                                  unsigned int stride)
{
    const BINDLESS_REAL g = 1 - f;
    if (interpolation == BINDLESS_NEAREST) {
        c[0] = 0;
    } else if (interpolation == BINDLESS_LINEAR) {
        c[0] = c[stride] = 0;
    } else if (interpolation == BINDLESS_CUBIC) {
        c[0] = g;
        c[stride] = 3 * f - 2;
        c[2 * stride] = 3 * g - 2;
        c[3 * stride] = f;
    } else {
        const BINDLESS_REAL a = BINDLESS_OF(bindless_convolution_slope)(interpolation);
        c[0] = a * (2 * f - 4 * g);
        c[stride] = 6 * (a + 2) * f - 2 * (a + 3);
        c[2 * stride] = 6 * (a + 2) * g - 2 * (a + 3);
        c[3 * stride] = a * (2 * g - 4 * f);
    }
}

#endif
