/* Filters of fetched texels: functions for one REAL, float or double, each time that the file is included. */
#define REAL_NAME__(NAME, TYPE) NAME##_##TYPE
#define REAL_NAME_(NAME, TYPE) REAL_NAME__(NAME, TYPE)
#define REAL_NAME(NAME) REAL_NAME_(NAME, REAL)
#define REAL4__(TYPE) TYPE##4
#define REAL4_(TYPE) REAL4__(TYPE)
#define REAL4 REAL4_(REAL)
#define AS_REAL4_(VALUE, TYPE) __builtin_convertvector(VALUE, TYPE)
#define AS_REAL4(VALUE) AS_REAL4_(VALUE, REAL4)

/* The texels of a filter along one axis: indices, weights, and whether each is a texel of the image or the border's. */
struct REAL_NAME(taps) {
    int at[BINDLESS_MOST_TAPS];
    REAL weight[BINDLESS_MOST_TAPS];
    bool inside[BINDLESS_MOST_TAPS];
};

/* Sums of weighted texels, and of the weights that count. */
struct REAL_NAME(sums) {
    REAL4 value, weight;
};

/* Adds one channel; only a filter that ignores texels sums weights. */
#define ADD_CHANNEL(SUM, WEIGHT, VALUE, TOTAL, CHANNEL)                                                                \
    do {                                                                                                               \
        (SUM).value.CHANNEL = MULTIPLY_ADD(WEIGHT, (VALUE).CHANNEL, (SUM).value.CHANNEL);                              \
        if (ignore) (SUM).weight.CHANNEL = MULTIPLY_ADD(WEIGHT, (TOTAL).CHANNEL, (SUM).weight.CHANNEL);                \
    } while (0)

INLINED struct REAL_NAME(sums) REAL_NAME(added)(struct REAL_NAME(sums) sum, REAL weight, REAL4 value, REAL4 total,
                                                      uint channels, bool ignore)
{
    ADD_CHANNEL(sum, weight, value, total, x);
    if (channels > 1) ADD_CHANNEL(sum, weight, value, total, y);
    if (channels > 2) ADD_CHANNEL(sum, weight, value, total, z);
    if (channels > 3) ADD_CHANNEL(sum, weight, value, total, w);
    return sum;
}

#define SPLINES 0
#include "filter_sum.h"
#undef SPLINES
#if CLASS_F /* coefficients are floats */
#define SPLINES 1
#include "filter_sum.h"
#undef SPLINES
#endif
