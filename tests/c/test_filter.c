/* Properties of include/bindless/filter, for float and double: what all interpolations and boundaries have in common. */
#include "check.h"

#include <bindless/filter/taps.h>

#include <float.h>
#include <math.h>

#define INTERPOLATIONS (BINDLESS_LAST_INTERPOLATION + 1)
#define WITH_TAPS (BINDLESS_BICUBIC + 1) /* those of which taps.h finds the texels */
#define BOUNDARIES (BINDLESS_LAST_BOUNDARY + 1)
#define STEPS 256

static const int SIZES[] = {1, 2, 3, 7, 64};
#define FOR_SIZES(n) for (size_t s_ = 0, n; s_ < sizeof SIZES / sizeof *SIZES && (n = (size_t)SIZES[s_], true); s_++)

static void check_near(double expected, double actual, double tolerance, const char *what, int line)
{
    if (fabs(expected - actual) <= tolerance)
        return;
    fprintf(stderr, "%s:%d: %s is %.17g, expected %.17g\n", __FILE__, line, what, actual, expected);
    exit(1);
}

#define NEAR(expected, actual, tolerance) check_near((expected), (actual), (tolerance), #actual, __LINE__)

/* ---------------------------------------------------------------- weights */

/* Weights add up to 1, the weights of 1 - f are those of f in the other order, and derivatives are differences. */
#define TEST_WEIGHTS(REAL, TOLERANCE, STEP)                                                                              \
    static void test_weights_##REAL(unsigned int interpolation)                                                          \
    {                                                                                                                    \
        const unsigned int taps = bindless_taps(interpolation);                                                          \
        for (int i = 0; i <= STEPS; i++) {                                                                               \
            const REAL f = (REAL)i / STEPS;                                                                              \
            REAL w[6] = {0}, mirrored[6] = {0}, d[6] = {0}, c[6] = {0}, above[6] = {0}, below[6] = {0};                  \
            REAL slope_above[6] = {0}, slope_below[6] = {0}, apart[12] = {0}, sum = 0, slopes = 0, curves = 0;           \
            bindless_weights_##REAL(f, interpolation, w, 1);                                                             \
            bindless_weights_##REAL(f, interpolation, apart, 2);                                                         \
            bindless_weights_##REAL(1 - f, interpolation, mirrored, 1);                                                  \
            bindless_slopes_##REAL(f, interpolation, d, 1);                                                              \
            bindless_curves_##REAL(f, interpolation, c, 1);                                                              \
            bindless_weights_##REAL(f + (REAL)STEP, interpolation, above, 1);                                            \
            bindless_weights_##REAL(f - (REAL)STEP, interpolation, below, 1);                                            \
            bindless_slopes_##REAL(f + (REAL)STEP, interpolation, slope_above, 1);                                       \
            bindless_slopes_##REAL(f - (REAL)STEP, interpolation, slope_below, 1);                                       \
            for (unsigned int k = 0; k < taps; k++) {                                                                    \
                sum += w[k], slopes += d[k], curves += c[k];                                                             \
                CHECK(apart[2 * k] == w[k]);                                                                             \
                NEAR((double)mirrored[taps - 1 - k], (double)w[k], TOLERANCE);                                           \
                NEAR((double)(above[k] - below[k]) / (2 * STEP), (double)d[k], 4 * STEP);                                \
                NEAR((double)(slope_above[k] - slope_below[k]) / (2 * STEP), (double)c[k], 4 * STEP);                    \
            }                                                                                                            \
            NEAR(1, (double)sum, TOLERANCE);                                                                             \
            NEAR(0, (double)slopes, 8 * TOLERANCE);                                                                      \
            NEAR(0, (double)curves, 8 * TOLERANCE);                                                                      \
        }                                                                                                                \
    }
TEST_WEIGHTS(float, 4e-7, 0x1p-10)
TEST_WEIGHTS(double, 1e-15, 0x1p-17)

/* Between two texels the filter goes on as it ended: the weights of f = 1 are those of f = 0, one texel further. */
static void test_continuity(unsigned int interpolation)
{
    const unsigned int taps = bindless_taps(interpolation);
    double first[6] = {0}, last[6] = {0};
    bindless_weights_double(0, interpolation, first, 1);
    bindless_weights_double(1, interpolation, last, 1);
    for (unsigned int k = 1; k < taps; k++)
        NEAR(first[k - 1], last[k], 1e-15);
    if (interpolation != BINDLESS_NEAREST)
        NEAR(0, last[0], 1e-15);
    if (interpolation == BINDLESS_LINEAR || taps == 4)
        NEAR(interpolation == BINDLESS_CUBIC ? 2.0 / 3 : 1, first[taps == 4], 1e-15);
}

/* ---------------------------------------------------------------- texels */

static int64_t expected_texel(int64_t index, int64_t n, unsigned int boundary)
{
    if (index >= 0 && index < n)
        return index;
    switch (boundary) {
    case BINDLESS_BORDER: return BINDLESS_OUTSIDE;
    case BINDLESS_EDGE: return index < 0 ? 0 : n - 1;
    case BINDLESS_EXTENT:
        return index < -3 || index > n + 2 ? BINDLESS_OUTSIDE : expected_texel(index, n, BINDLESS_MIRRORED_REPEAT);
    case BINDLESS_REPEAT: return expected_texel(index < 0 ? index + n : index - n, n, boundary);
    case BINDLESS_MIRRORED_REPEAT: return expected_texel(index < 0 ? -1 - index : 2 * n - 1 - index, n, boundary);
    default: return n == 1 ? 0 : expected_texel(index < 0 ? -index : 2 * n - 2 - index, n, boundary);
    }
}

static void test_texels(unsigned int boundary)
{
    static const int64_t huge[] = {INT32_MAX, INT32_MIN, (int64_t)1 << 52, -((int64_t)1 << 52), INT64_MAX, INT64_MIN};
    FOR_SIZES(n) {
        for (int64_t index = -300; index <= 300; index++)
            CHECK_EQUAL(expected_texel(index, (int64_t)n, boundary), bindless_texel_at(index, (int64_t)n, boundary));
        for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
            const int64_t texel = bindless_texel_at(huge[i], (int64_t)n, boundary);
            CHECK(texel >= BINDLESS_OUTSIDE && texel < (int64_t)n);
        }
    }
    const int64_t last = INT32_MAX; /* of the largest image */
    CHECK_EQUAL(last - 1, bindless_texel_at(last - 1, last, boundary));
    if (bindless_is_periodic(boundary))
        CHECK_EQUAL(boundary == BINDLESS_REPEAT ? 0 : boundary == BINDLESS_MIRRORED_REPEAT ? last - 1 : last - 2,
                    bindless_texel_at(last, last, boundary));
}

/* ---------------------------------------------------------------- positions */

static double period_of(int64_t n, unsigned int boundary)
{
    return boundary == BINDLESS_WRAP ? (double)n - 1 : (double)bindless_period((bindless_distance)n, boundary);
}

/* Folded positions are inside, come again after a period, and are those of a texel's index. */
static void test_folding(unsigned int boundary)
{
    FOR_SIZES(n) {
        const int64_t size = (int64_t)n;
        const double last = (double)n - 1, low = boundary == BINDLESS_REPEAT || boundary == BINDLESS_MIRRORED_REPEAT ? -0.5 : 0;
        for (int i = -4 * 300; i <= 4 * 300; i++) {
            const double at = i / 4.0, folded = bindless_fold_double(at, size, boundary);
            NEAR(folded, (double)bindless_fold_float((float)at, size, boundary), 1e-4);
            if (!bindless_is_periodic(boundary) || (at >= 0 && at <= last)) {
                CHECK(folded == at);
                continue;
            }
            CHECK(folded >= low && (boundary == BINDLESS_REPEAT ? folded < (double)n : folded <= last - low));
            const double period = period_of(size, boundary), again = at < 0 ? at - period : at + period;
            if (period > 0)
                NEAR(folded, bindless_fold_double(again, size, boundary), 1e-12);
            if (at == floor(at) && boundary != BINDLESS_WRAP)
                CHECK_EQUAL(bindless_texel_at((int64_t)at, size, boundary), (int64_t)floor(folded + 0.5) % size);
        }
    }
}

static void test_extent(unsigned int boundary)
{
    FOR_SIZES(n) {
        const double reach = boundary == BINDLESS_EXTENT ? 0.5 : 0, last = (double)n - 1;
        const bool has_extent = boundary == BINDLESS_EXTENT || boundary == BINDLESS_CONSTANT;
        CHECK(!bindless_is_beyond_double(-reach, (int64_t)n, boundary));
        CHECK(!bindless_is_beyond_double(last + reach, (int64_t)n, boundary));
        CHECK(bindless_is_beyond_double(nextafter(-reach, -1), (int64_t)n, boundary) == has_extent);
        CHECK(bindless_is_beyond_double(nextafter(last + reach, 1e9), (int64_t)n, boundary) == has_extent);
        CHECK(bindless_is_beyond_float(NAN, (int64_t)n, boundary) == has_extent);
    }
}

/* ---------------------------------------------------------------- taps */

#define TEST_TAPS(REAL)                                                                                                  \
    /* Indices of all taps of a position; returns the fraction, and the slope of the position. */                        \
    static REAL find_##REAL(REAL at, int n, unsigned int boundary, unsigned int taps, bool even, int index[4], REAL *slope) \
    {                                                                                                                    \
        REAL rest = 0;                                                                                                   \
        *slope = 1;                                                                                                      \
        for (int k = 0; k < 4; k++)                                                                                      \
            index[k] = -77;                                                                                              \
        if (taps == 4) {                                                                                                 \
            at = bindless_bound_with_slope_##REAL(at, n, boundary, slope);                                               \
            return bindless_find_four_##REAL(at, n, boundary, index, 1);                                                 \
        }                                                                                                                \
        at = bindless_fold_with_slope_##REAL(at, n, boundary, slope);                                                    \
        if (taps == 2)                                                                                                   \
            rest = bindless_find_two_##REAL(at, n, bindless_texel_after(n, boundary), index, 1);                         \
        else                                                                                                             \
            bindless_find_nearest_##REAL(at, n, boundary, even, index);                                                  \
        return rest;                                                                                                     \
    }                                                                                                                    \
    static void test_ranges_##REAL(unsigned int boundary)                                                                \
    {                                                                                                                    \
        const REAL places[] = {0, (REAL)-0.0, (REAL)-0.5, (REAL)0.5, (REAL)-1e-30, (REAL)1e9, (REAL)-1e9, (REAL)3e9,     \
                               (REAL)-3e9, (REAL)1e30, (REAL)-1e30, (REAL)INFINITY, (REAL)-INFINITY, (REAL)NAN};         \
        FOR_SIZES(n)                                                                                                     \
            for (size_t i = 0; i < sizeof places / sizeof *places; i++)                                                  \
                for (unsigned int taps = 1; taps <= 4; taps *= 2)                                                        \
                    for (int even = 0; even < 2; even++) {                                                               \
                        int index[4];                                                                                    \
                        REAL slope, rest = find_##REAL(places[i], (int)n, boundary, taps, even != 0, index, &slope);     \
                        for (unsigned int k = 0; k < taps; k++)                                                          \
                            CHECK(index[k] >= BINDLESS_OUTSIDE && index[k] < (int)n);                                    \
                        CHECK((rest >= 0 && rest <= 1) && (slope == 0 || fabs((double)slope) == 1));                     \
                        for (unsigned int k = 0; k < taps && !bindless_has_border(boundary); k++)                        \
                            CHECK(index[k] >= 0);                                                                        \
                    }                                                                                                    \
    }
TEST_TAPS(float)
TEST_TAPS(double)

/* The sample of a line of texels at a position, and its derivative by it. */
static double sample(const double *texels, double fill, int n, double at, unsigned int interpolation, unsigned int boundary,
                     double *derivative)
{
    const unsigned int taps = bindless_taps(interpolation);
    int index[4];
    double slope, w[4], d[4], value = 0;
    const double rest = find_double(at, n, boundary, taps, false, index, &slope);
    bindless_weights_double(rest, interpolation, w, 1);
    bindless_slopes_double(rest, interpolation, d, 1);
    *derivative = 0;
    for (unsigned int k = 0; k < taps; k++) {
        const double texel = index[k] == BINDLESS_OUTSIDE ? fill : texels[index[k]];
        value += w[k] * texel;
        *derivative += slope * d[k] * texel;
    }
    return value;
}

/* The weight of a texel at a distance, as the filters are defined. */
static double weight_at(double distance, unsigned int interpolation)
{
    const double x = fabs(distance), a = interpolation == BINDLESS_CATMULL_ROM ? -0.5 : -0.75;
    switch (interpolation) {
    case BINDLESS_NEAREST: return x < 0.5 ? 1 : 0;
    case BINDLESS_LINEAR: return x < 1 ? 1 - x : 0;
    case BINDLESS_CUBIC: return x < 1 ? 2.0 / 3 - x * x + x * x * x / 2 : x < 2 ? pow(2 - x, 3) / 6 : 0;
    default:
        return x < 1 ? (a + 2) * pow(x, 3) - (a + 3) * x * x + 1 : x < 2 ? a * (pow(x, 3) - 5 * x * x + 8 * x - 4) : 0;
    }
}

/* The sum over the texels of a line that goes on for ever. */
static double sample_by_definition(const double *texels, double fill, int64_t n, double at, unsigned int interpolation,
                                   unsigned int boundary)
{
    double value = 0;
    for (int64_t k = (int64_t)floor(at) - 2; k <= (int64_t)floor(at) + 3; k++) {
        const int64_t texel = expected_texel(k, n, boundary);
        value += weight_at(at - (double)k, interpolation) * (texel == BINDLESS_OUTSIDE ? fill : texels[texel]);
    }
    return value;
}

/* The weights of B-splines are the integrals, over a texel, of those of the degree below. */
static void test_degrees(void)
{
    static const unsigned int splines[] = {BINDLESS_LINEAR, BINDLESS_QUADRATIC, BINDLESS_CUBIC, BINDLESS_QUARTIC,
                                           BINDLESS_QUINTIC};
    for (size_t i = 1; i < sizeof splines / sizeof *splines; i++)
        for (int step = 0; step <= 8; step++) {
            const double f = step / 8.0;
            double w[6] = {0}, sum[6] = {0}, part[6] = {0};
            const unsigned int taps = bindless_taps(splines[i]);
            CHECK_EQUAL(i + 2, taps);
            bindless_weights_double(f, splines[i], w, 1);
            for (int m = 0; m < 1000; m++) { /* from 0 to f of the weights of this texel, from f to 1 of those before */
                bindless_weights_double((m + 0.5) / 1000 * f, splines[i - 1], part, 1);
                for (unsigned int k = 1; k < taps; k++)
                    sum[k] += part[k - 1] * f / 1000;
                bindless_weights_double(f + (m + 0.5) / 1000 * (1 - f), splines[i - 1], part, 1);
                for (unsigned int k = 0; k + 1 < taps; k++)
                    sum[k] += part[k] * (1 - f) / 1000;
            }
            for (unsigned int k = 0; k < taps; k++)
                NEAR(sum[k], w[k], 1e-6);
        }
}

static void test_ties(void)
{
    int index[4];
    double slope;
    for (int i = 0; i < 6; i++) {
        find_double(i + 0.5, 7, BINDLESS_EDGE, 1, false, index, &slope);
        CHECK_EQUAL(i + 1, index[0]);
        find_double(i + 0.5, 7, BINDLESS_EDGE, 1, true, index, &slope);
        CHECK_EQUAL(i + i % 2, index[0]);
    }
}

/* Samples are those of the definition and derivatives are differences; values are fill beyond an extent, and those of mirrored
 * texels within it: mirrored at outer centres for four taps, at outer edges for fewer. */
static void test_samples(unsigned int interpolation, unsigned int boundary)
{
    const unsigned int within = bindless_taps(interpolation) == 4 ? BINDLESS_MIRROR : BINDLESS_MIRRORED_REPEAT;
    double texels[64], derivative, ignored;
    for (int i = 0; i < 64; i++)
        texels[i] = sin(3.7 * i) + 0.01 * i;
    FOR_SIZES(n)
        for (int i = -40; i < 8 * (int)n + 40; i++) {
            const double at = i / 8.0 + 1.0 / 16, step = 0x1p-20;
            const double value = sample(texels, 0.5, (int)n, at, interpolation, boundary, &derivative);
            const double above = sample(texels, 0.5, (int)n, at + step, interpolation, boundary, &ignored);
            const double below = sample(texels, 0.5, (int)n, at - step, interpolation, boundary, &ignored);
            NEAR((above - below) / (2 * step), derivative, 1e-5);
            if (boundary == BINDLESS_EXTENT && (at < -0.5 || at > (double)n - 0.5)) {
                NEAR(0.5, value, 1e-15);
                CHECK(derivative == 0);
            } else if (boundary == BINDLESS_EXTENT) {
                NEAR(sample(texels, 0.5, (int)n, at, interpolation, within, &ignored), value, 0);
                NEAR(ignored, derivative, 0);
            }
            if (boundary != BINDLESS_EXTENT)
                NEAR(sample_by_definition(texels, 0.5, (int64_t)n, at, interpolation, boundary), value, 1e-12);
            if (!bindless_is_periodic(boundary))
                continue;
            const double period = period_of((int64_t)n, boundary);
            if (period > 0)
                NEAR(value, sample(texels, 0.5, (int)n, at + period, interpolation, boundary, &ignored), 1e-12);
        }
}

int main(void)
{
    for (unsigned int interpolation = 0; interpolation < INTERPOLATIONS; interpolation++) {
        test_weights_float(interpolation);
        test_weights_double(interpolation);
        test_continuity(interpolation);
    }
    test_degrees();
    test_ties();
    for (unsigned int boundary = 0; boundary < BOUNDARIES; boundary++) {
        test_texels(boundary);
        test_folding(boundary);
        test_extent(boundary);
        if (!bindless_has_slopes(boundary))
            continue;
        test_ranges_float(boundary);
        test_ranges_double(boundary);
        for (unsigned int interpolation = 0; interpolation < WITH_TAPS; interpolation++)
            test_samples(interpolation, boundary);
    }
    return 0;
}
