/* Weights of the texels around a position, of which `f`, from 0 to 1, follows the second: functions for one REAL, float
 * or double, each time that the file is included. Their names end with it. */
#include "mode.h"

#define REAL_NAME__(NAME, TYPE) NAME##_##TYPE
#define REAL_NAME_(NAME, TYPE) REAL_NAME__(NAME, TYPE)
#define REAL_NAME(NAME) REAL_NAME_(NAME, REAL)
#define REAL4__(TYPE) TYPE##4
#define REAL4_(TYPE) REAL4__(TYPE)
#define REAL4 REAL4_(REAL)
#define AS_REAL4_(VALUE, TYPE) __builtin_convertvector(VALUE, TYPE)
#define AS_REAL4(VALUE) AS_REAL4_(VALUE, REAL4)

/* The cubic B-spline. */
static inline REAL4 REAL_NAME(spline_weights)(REAL f)
{
    const REAL g = 1 - f, half_ = (REAL)0.5, sixth = (REAL)1 / 6, two_thirds = (REAL)2 / 3;
    return (REAL4)(g * g * g * sixth, two_thirds - f * f * (1 - half_ * f), two_thirds - g * g * (1 - half_ * g),
                   f * f * f * sixth);
}

/* The cubic convolution whose slope one texel away is a. */
static inline REAL4 REAL_NAME(convolution_weights)(REAL f, REAL a)
{
    const REAL g = 1 - f;
    return (REAL4)(a * f * g * g, ((a + 2) * f - (a + 3)) * f * f + 1, ((a + 2) * g - (a + 3)) * g * g + 1, a * g * f * f);
}

static inline REAL4 REAL_NAME(cubic_weights)(REAL f, uint interpolation)
{
    if (interpolation == CUBIC) return REAL_NAME(spline_weights)(f);
    return REAL_NAME(convolution_weights)(f, interpolation == CATMULL_ROM ? (REAL)-0.5 : (REAL)-0.75);
}
