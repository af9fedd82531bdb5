/* Weights of the texels around a position, and their first and second derivatives by it: for each interpolation, the only
 * place that has them. Of n texels, bindless_taps_before are before the one that `f` counts from; `f`, from 0 to 1, is the
 * fraction of the position after its centre, or for an odd n after its edge (bindless_tap_shift). Weight k is stored `stride`
 * numbers after weight k - 1. */
#ifndef BINDLESS_REAL
#ifndef BINDLESS_FILTER_WEIGHTS_H
#define BINDLESS_FILTER_WEIGHTS_H

#include "bindless/filter/real.h"

/* In the order of blr_interpolation_t. Cubic and the last three are B-splines of degrees 3, 2, 4 and 5; those between them are
 * cubic convolutions. */
enum bindless_interpolation {
    BINDLESS_NEAREST,
    BINDLESS_LINEAR,
    BINDLESS_CUBIC,
    BINDLESS_CATMULL_ROM,
    BINDLESS_BICUBIC,
    BINDLESS_QUADRATIC,
    BINDLESS_QUARTIC,
    BINDLESS_QUINTIC
};
#define BINDLESS_LAST_INTERPOLATION BINDLESS_QUINTIC
#define BINDLESS_MOST_TAPS 6

/* Whether a filter is a B-spline of another degree than 3. */
BINDLESS_INLINE bool bindless_is_other_spline(unsigned int interpolation) { return interpolation >= BINDLESS_QUADRATIC; }

/* Texels of a filter along one axis. */
BINDLESS_INLINE unsigned int bindless_taps(unsigned int interpolation)
{
    return interpolation == BINDLESS_NEAREST     ? 1
           : interpolation == BINDLESS_LINEAR    ? 2
           : interpolation == BINDLESS_QUADRATIC ? 3
           : interpolation == BINDLESS_QUARTIC   ? 5
           : interpolation == BINDLESS_QUINTIC   ? 6
                                                 : 4;
}

/* Of so many texels, those before the floor of a position plus the shift. */
BINDLESS_INLINE unsigned int bindless_taps_before(unsigned int taps) { return (taps - 1) / 2; }
BINDLESS_INLINE float bindless_tap_shift(unsigned int taps) { return taps % 2 != 0 ? 0.5f : 0.0f; }

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

/* Weights of a B-spline of any degree, from those of the degrees below. */
BINDLESS_INLINE void BINDLESS_OF(bindless_spline_weights)(BINDLESS_REAL f, int degree, BINDLESS_REAL *w, unsigned int stride)
{
    w[0] = 1;
    for (int d = 1; d <= degree; d++) {
        const BINDLESS_REAL share = (BINDLESS_REAL)1 / (BINDLESS_REAL)d;
        BINDLESS_REAL above = 0;
        for (int k = d; k >= 0; k--) {
            const BINDLESS_REAL below = k > 0 ? w[(unsigned int)(k - 1) * stride] : 0;
            w[(unsigned int)k * stride] = ((f + (BINDLESS_REAL)(d - k)) * below + ((BINDLESS_REAL)(k + 1) - f) * above) * share;
            above = below;
        }
    }
}

/* Turns weights of the degree below into derivatives. */
BINDLESS_INLINE void BINDLESS_OF(bindless_differ)(int degree, BINDLESS_REAL *w, unsigned int stride)
{
    BINDLESS_REAL above = 0;
    for (int k = degree; k >= 0; k--) {
        const BINDLESS_REAL below = k > 0 ? w[(unsigned int)(k - 1) * stride] : 0;
        w[(unsigned int)k * stride] = below - above;
        above = below;
    }
}

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
    } else if (bindless_is_other_spline(interpolation)) {
        BINDLESS_OF(bindless_spline_weights)(f, (int)bindless_taps(interpolation) - 1, w, stride);
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
    } else if (bindless_is_other_spline(interpolation)) {
        const int degree = (int)bindless_taps(interpolation) - 1;
        BINDLESS_OF(bindless_spline_weights)(f, degree - 1, d, stride);
        BINDLESS_OF(bindless_differ)(degree, d, stride);
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
    } else if (bindless_is_other_spline(interpolation)) {
        const int degree = (int)bindless_taps(interpolation) - 1;
        BINDLESS_OF(bindless_spline_weights)(f, degree - 2, c, stride);
        BINDLESS_OF(bindless_differ)(degree - 1, c, stride);
        BINDLESS_OF(bindless_differ)(degree, c, stride);
    } else {
        const BINDLESS_REAL a = BINDLESS_OF(bindless_convolution_slope)(interpolation);
        c[0] = a * (2 * f - 4 * g);
        c[stride] = 6 * (a + 2) * f - 2 * (a + 3);
        c[2 * stride] = 6 * (a + 2) * g - 2 * (a + 3);
        c[3 * stride] = a * (2 * g - 4 * f);
    }
}

#endif
