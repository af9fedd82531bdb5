/* Gradients: the hardware's measurement of a footprint, in ten-bit significands with exponents. Every truncation
 * affects results, so each step is written out. */
#include "sampler/sampler.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* sign * significand * 2^exponent; the significand has ten bits, or is 0. */
struct component {
    int64_t significand;
    int exponent;
    int sign;
};

/* Exponents stay far within the range of double. */
static double magnitude(struct component a)
{
    uint64_t bits = (uint64_t)(1023 + a.exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return (double)a.significand * power;
}

/* Number of bits of an integer below 2^53. */
static int bit_count(int64_t value)
{
    double number = (double)value;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return value ? (int)(bits >> 52) - 1022 : 0;
}

/* floor(value * 2^shift) for value >= 0. */
static int64_t shift_by(int64_t value, int shift)
{
    if (shift >= 0)
        return value ? value << (shift < 40 ? shift : 40) : 0;
    return value >> (shift > -62 ? -shift : 62);
}

/* A ten by ten bit multiplier that drops the columns of partial products below 2^6 and adds half of their average
 * carry. */
static int64_t multiply(int64_t a, int64_t b)
{
    int64_t sum = 448;
    for (int bit = 0; bit < 10; bit++)
        if (b >> bit & 1)
            sum += (a << bit) >> 6 << 6;
    return sum;
}

static struct component product(struct component a, struct component b)
{
    struct component r = {multiply(a.significand, b.significand), a.exponent + b.exponent, a.sign * b.sign};
    int drop = r.significand >= INT64_C(1) << 19 ? 10 : 9;
    r.significand >>= drop;
    r.exponent += drop;
    return r;
}

/* Drops low bits until at most ten are left (inputs have at most twelve). */
static struct component trim(struct component a)
{
    for (int pass = 0; pass < 2 && a.significand >= 1024; pass++) {
        a.significand >>= 1;
        a.exponent++;
    }
    return a;
}

/* Scales to exactly ten bits; 0 stays 0. */
static struct component normalize(struct component a)
{
    int bits = bit_count(a.significand);
    if (bits) {
        a.significand = bits <= 10 ? a.significand << (10 - bits) : a.significand >> (bits - 10);
        a.exponent += bits - 10;
    }
    return a;
}

/* Gradients that count as infinite exceed this bound, also in sums; all other gradients are below it. */
#define BEYOND_MEASURE 0x1p160
#define INFINITE_EXPONENT 200

/* Upper bound of 256 log2 of an area. */
#define LARGEST_LOG (32 * 256 - 1)

/* One component of a gradient, in texels. */
static struct component from_float(float gradient, uint32_t extent)
{
    struct component r = {0, -200, 0};
    float size = isnan(gradient) ? 0.0f : fabsf(gradient);
    int log_extent = bit_count((int64_t)extent - 1);
    if (size < 0x1p-126f) {
        r.exponent += log_extent - 9;
        return r;
    }
    if (size >= 0x1p97f) {                /* infinite for every extent */
        r.significand = 512;
        r.exponent = INFINITE_EXPONENT;
        r.sign = gradient < 0.0f ? -1 : 1;
        return r;
    }
    uint32_t bits;
    memcpy(&bits, &size, sizeof bits);
    r.significand = (bits & 0x7fffffu) >> 14 | 512u;
    r.exponent = (int)(bits >> 23) - 127 - 9;
    r.sign = gradient < 0.0f ? -1 : 1;
    if (extent == UINT64_C(1) << log_extent) {
        r.exponent += log_extent;
        return r;
    }
    struct component n = {log_extent <= 10 ? (int64_t)extent << (10 - log_extent) : (int64_t)extent >> (log_extent - 10),
                          log_extent - 10, 1};
    return product(r, n);
}

/* Sum or difference: one guard bit, to which each operand is truncated. */
static struct component sum(struct component a, struct component b, int sign)
{
    struct component r = {0, (a.exponent > b.exponent ? a.exponent : b.exponent) - 1, 0};
    int64_t value = shift_by(a.significand, a.exponent - r.exponent) * a.sign +
                    shift_by(b.significand, b.exponent - r.exponent) * b.sign * sign;
    double exact = magnitude(a) * a.sign + magnitude(b) * b.sign * sign;
    r.significand = value < 0 ? -value : value;
    r = trim(r);
    r.sign = exact > 0.0 ? 1 : exact < 0.0 ? -1 : 0;
    return r;
}

static struct component scale_by(struct component a, int numerator, int rounding, int shift, int exponent)
{
    struct component r = {(numerator * a.significand + rounding) >> shift, a.exponent + exponent, a.sign};
    return r;
}

static struct component accumulate(struct component a, struct component b)
{
    a.significand += shift_by(b.significand, b.exponent - a.exponent);
    return trim(a);
}

static void sort_pair(struct component *larger, struct component *smaller)
{
    if (magnitude(*smaller) > magnitude(*larger)) {
        struct component swap = *larger;
        *larger = *smaller;
        *smaller = swap;
    }
}

/* max + 11/32 mid + 1/4 min, the last two added first; 11/16 of that for a diagonal (the sum or difference of the
 * two gradients). */
static struct component length(const struct component *vector, uint32_t count, bool diagonal)
{
    struct component v[3];
    for (uint32_t k = 0; k < count; k++)
        v[k] = diagonal ? normalize(vector[k]) : vector[k];
    sort_pair(&v[0], &v[1]);
    if (count == 3) {
        sort_pair(&v[1], &v[2]);
        sort_pair(&v[0], &v[1]);
    }
    struct component longest, rest;
    if (diagonal) {
        longest = trim(scale_by(v[0], 11, 4, 3, -1));
        rest = scale_by(v[1], 121, 32, 6, -3);
    } else {
        longest = trim(v[0]);
        rest = scale_by(v[1], 11, 4, 3, -2);
    }
    if (count == 3)
        rest = accumulate(trim(rest), diagonal ? scale_by(v[2], 11, 4, 3, -3) : scale_by(v[2], 1, 0, 0, -2));
    return accumulate(longest, rest);
}

static int32_t log2_256(struct component a)
{
    if (a.significand == 0)
        return -1000000;
    a = normalize(a);
    return (a.exponent + 9) * 256 + blr_log2_table[(a.significand >> 1) & 255];
}

struct gradients {
    struct component x[3], y[3], sum[3], difference[3];
    struct component size[4];             /* lengths of x, y, sum, difference */
};

static void measure_gradients(const float *gradient_x, const float *gradient_y, const uint32_t *extent,
                              uint32_t dimensions, struct gradients *g)
{
    uint32_t count = dimensions < 2 ? 2 : dimensions;
    for (uint32_t k = 0; k < count; k++) {
        struct component none = {0, -300, 0};
        g->x[k] = k < dimensions ? from_float(gradient_x[k], extent[k]) : none;
        g->y[k] = k < dimensions ? from_float(gradient_y[k], extent[k]) : none;
        g->sum[k] = sum(g->x[k], g->y[k], 1);
        g->difference[k] = sum(g->x[k], g->y[k], -1);
    }
    g->size[0] = length(g->x, count, false);
    g->size[1] = length(g->y, count, false);
    g->size[2] = length(g->sum, count, true);
    g->size[3] = length(g->difference, count, true);
}

static int32_t largest_log2(const struct gradients *g)
{
    int32_t largest = log2_256(g->size[0]);
    for (int k = 1; k < 4; k++) {
        int32_t candidate = log2_256(g->size[k]);
        largest = candidate > largest ? candidate : largest;
    }
    return largest;
}

static int32_t measured_lod(const float *gradient_x, const float *gradient_y, const uint32_t *extent, uint32_t dimensions)
{
    struct gradients g;
    measure_gradients(gradient_x, gradient_y, extent, dimensions, &g);
    return largest_log2(&g);
}

/* a - b, truncated one bit below the larger operand's last one; NaNs count as 0. The result has at most 26 bits, of
 * which only the first ten matter: bits beyond a float's precision are truncated too. */
static float difference(float a, float b)
{
    a = isnan(a) ? 0.0f : a;
    b = isnan(b) ? 0.0f : b;
    float larger = fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b);
    if (!(larger >= 0x1p-60f && larger <= FLT_MAX))
        return a - b;
    int exponent;
    frexpf(larger, &exponent);
    double steps = trunc(ldexp(a, 25 - exponent)) - trunc(ldexp(b, 25 - exponent));
    double whole = fabs(steps) < 0x1p24 ? steps : 4.0 * trunc(steps / 4.0);
    return (float)ldexp(whole, exponent - 25);
}

int32_t blr_gradient_lod(const float *coordinates, const float *gradient_x, const float *gradient_y,
                         const uint32_t *extent, uint32_t dimensions)
{
    if (dimensions < 3)
        return measured_lod(gradient_x, gradient_y, extent, dimensions);
    /* In three dimensions the hardware subtracts displaced coordinates, and the differences of coordinates this
     * large vanish: the level is the last. */
    float change[2][3];
    for (uint32_t d = 0; d < 3; d++) {
        if (fabsf(coordinates[d]) >= 0x1p97f)
            return INT32_MAX;
        change[0][d] = difference(coordinates[d] + gradient_x[d], coordinates[d]);
        change[1][d] = difference(coordinates[d] + gradient_y[d], coordinates[d]);
    }
    return measured_lod(change[0], change[1], extent, 3);
}

/* The direction of a vector, in 1/64, from four-bit significands. */
static void direction(struct component x, struct component y, int32_t out[2])
{
    bool swap = magnitude(y) > magnitude(x);
    struct component longer = swap ? y : x, shorter = swap ? x : y;
    int apart = longer.exponent - shorter.exponent;
    int32_t along = 64, across = 0;
    if (x.significand && y.significand && apart < 6) {
        double m = (double)(longer.significand >> 6) + 0.5;
        double k = (double)((shorter.significand >> 6) >> (apart > 0 ? apart : 0)) + 0.5;
        double norm = sqrt(m * m + k * k);
        along = (int32_t)floor(64.0 * m / norm + 0.5);
        across = (int32_t)floor(64.0 * k / norm + 0.5);
    }
    out[0] = (swap ? across : along) * x.sign;
    out[1] = (swap ? along : across) * y.sign;
}

static struct component diagonal_component(struct component a, int sign)
{
    struct component r = normalize(trim(scale_by(normalize(a), 11, 4, 3, -1)));
    r.sign = a.sign * sign;
    return r;
}

void blr_gradient_measure(const float gradient_x[2], const float gradient_y[2], const uint32_t extent[2],
                          struct blr_gradient_measure *measure)
{
    struct gradients g;
    measure_gradients(gradient_x, gradient_y, extent, 2, &g);
    double size[4];
    for (int k = 0; k < 4; k++)
        size[k] = magnitude(g.size[k]) < BEYOND_MEASURE ? magnitude(g.size[k]) : BEYOND_MEASURE;

    struct component zero = {0, -600, 0};
    struct component p = g.x[0].significand && g.y[1].significand ? product(g.x[0], g.y[1]) : zero;
    struct component q = g.x[1].significand && g.y[0].significand ? product(g.x[1], g.y[0]) : zero;
    struct component area = {0, (p.exponent > q.exponent ? p.exponent : q.exponent) - 1, 1};
    area.significand = shift_by(p.significand, p.exponent - area.exponent) * p.sign -
                       shift_by(q.significand, q.exponent - area.exponent) * q.sign;
    if (area.significand < 0)
        area.significand = -area.significand;

    measure->major = largest_log2(&g);
    int32_t log_area = log2_256(area);
    measure->ratio = 2 * measure->major - (log_area < LARGEST_LOG ? log_area : LARGEST_LOG);

    /* The longest vector is chosen; of equals, x before the sum, y before the difference, and the first two before
     * these. */
    bool second = (size[1] > size[3] ? size[1] : size[3]) > (size[0] > size[2] ? size[0] : size[2]);
    bool diagonal = second ? size[3] > size[1] : size[2] > size[0];
    if (!diagonal) {
        direction(second ? g.y[0] : g.x[0], second ? g.y[1] : g.x[1], measure->direction);
    } else {
        int sign = second && size[1] >= size[0] ? -1 : 1;
        const struct component *v = second ? g.difference : g.sum;
        direction(diagonal_component(v[0], sign), diagonal_component(v[1], sign), measure->direction);
    }
}
