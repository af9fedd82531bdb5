/* The error function and the gamma function in double precision; those of float are these, rounded. */

/* erfc(x) exp(x x) (1 + 2 x) in (x - 3.75) / (x + 3.75): coefficients of Chebyshev's polynomials. */
constant double of_complement[] = {
    0x1.2d75d0246cee8p+0, -0x1.2cd0564f8c1b7p-8, -0x1.59159e8868995p-4, 0x1.e50c3e7c7dccep-5, -0x1.b4c68f4569326p-6,
    0x1.295e991a7d82dp-7, -0x1.3c4c54f8d419dp-9, 0x1.014ed1572209ap-11, -0x1.221e6f70130b5p-14, 0x1.15c3f597f0492p-18,
    0x1.9f8f03ca86fc1p-21, -0x1.d601c320c8f9cp-23, 0x1.71e1efca86cf9p-27, 0x1.36bf2885524c9p-28, -0x1.aa4d7b1cdf20ap-31,
    -0x1.15df59ca6082bp-34, 0x1.f8af0a9aa6d31p-36, 0x1.b61b723941781p-43, -0x1.0fc16c00b50f2p-40, 0x1.24f6a772cbc36p-45,
    0x1.2d8b49ab5f72bp-45, -0x1.0cb63a80de2c5p-49, -0x1.6884628ace07bp-50, 0x1.561b105822264p-54,
    0x1.d3744857e293ap-55, -0x1.4a219c71ba8fap-59, -0x1.42cb7ae501325p-59};
#define COUNT (int)(sizeof(of_complement) / sizeof(double))

INLINE double small_error(double x) /* erf of a magnitude of 1 at most */
{
    const double z = x * x;
    double term = x, sum = 0;
    for (int k = 1; k < 22; ++k) {
        term *= -z / k;
        sum += term / (2 * k + 1);
    }
    return (x + sum) * 1.12837916709551257390;
}
INLINE double large_complement(double x) /* erfc of x > 0 */
{
    if (x > 28) return 0;
    const double t = (x - 3.75) / (x + 3.75);
    double a = 0, b = 0;
    for (int k = COUNT - 1; k > 0; --k) {
        const double c = __builtin_elementwise_fma(2 * t, a, of_complement[k] - b);
        b = a;
        a = c;
    }
    const double scaled = __builtin_elementwise_fma(t, a, of_complement[0] - b) / (1 + 2 * x);
    const pair_double square = product_of(x, x);
    const double half_of_it = exponential(square.high * -0.5, square.low * -0.5);
    return half_of_it * scaled * half_of_it;
}
INLINE double bl_erf(double x)
{
    if (x != x || x == 0) return x;
    const double a = magnitude(x);
    return a < 1 ? small_error(x) : with_sign(1 - large_complement(a), x);
}
INLINE double bl_erfc(double x)
{
    if (x != x) return x;
    return x < -1 ? 2 - large_complement(-x) : x < 0.75 ? 1 - small_error(x) : large_complement(x);
}

/* log(gamma(x)) of x from 10 on, by Stirling's series. */
INLINE pair_double stirling(double x)
{
    const double r = 1 / x, z = r * r;
    double s = -3617.0 / 122400;
    s = s * z + 1.0 / 156;
    s = s * z - 691.0 / 360360;
    s = s * z + 1.0 / 1188;
    s = s * z - 1.0 / 1680;
    s = s * z + 1.0 / 1260;
    s = s * z - 1.0 / 360;
    s = s * z + 1.0 / 12;
    const pair_double l = multiply(logarithm(x), (pair_double){x - 0.5, 0});
    const pair_double half_log_two_pi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
    return add(add(l, (pair_double){-x, 0}), add(half_log_two_pi, (pair_double){s * r, 0}));
}
/* gamma(x) of x > 0, which overflows beyond 171.7, as exp(e) / p. */
INLINE pair_double positive_gamma(double x, pair_double *product)
{
    *product = (pair_double){1, 0};
    double z = x;
    pair_double shifted = {x, 0};
    while (z < 10) {
        *product = multiply(*product, shifted);
        shifted = add(shifted, (pair_double){1, 0});
        z = shifted.high;
    }
    pair_double e = stirling(z);
    /* z is not all of the shifted argument: the derivative of the logarithm makes up for the rest */
    e.low += shifted.low * (logarithm(z).high - 0.5 / z);
    return e;
}
INLINE double bl_tgamma(double x)
{
    if (x != x || x == INFINITY) return x;
    if (x == 0) return with_sign((double)INFINITY, x);
    if (x == -INFINITY || (x < 0 && is_whole(x))) return NAN;
    const double a = magnitude(x);
    pair_double p;
    if (a < 0x1p-60) return 1 / x;
    if (x > 0) {
        if (x > 172) return INFINITY;
        const pair_double e = positive_gamma(x, &p);
        const double half_of_it = exponential(e.high * 0.5, e.low * 0.5);
        return half_of_it / p.high * half_of_it;
    }
    if (a > 190) return is_odd(__builtin_elementwise_floor(x)) ? -0.0 : 0.0;
    /* gamma(x) gamma(-x) = -pi / (x sin(pi x)) */
    const pair_double e = positive_gamma(a, &p);
    const double half_of_it = exponential(e.high * -0.5, e.low * -0.5);
    const double turned = 3.14159265358979323846 / (a * -bl_sinpi(a));
    return half_of_it * (turned * p.high) * half_of_it;
}
INLINE double bl_lgamma_r(double x, int *sign)
{
    *sign = 1;
    if (x != x) return x;
    const double a = magnitude(x);
    if (a == INFINITY) return INFINITY;
    if (x == 0) { *sign = negative(x) ? -1 : 1; return INFINITY; }
    if (x < 0 && is_whole(x)) { *sign = 0; return INFINITY; }
    if (a < 0x1p-60) { *sign = x < 0 ? -1 : 1; return -bl_log(a); }
    if (a < 20) {
        const double g = bl_tgamma(x);
        *sign = g < 0 ? -1 : 1;
        return bl_log(magnitude(g));
    }
    const pair_double e = stirling(a);
    if (x > 0) return e.high;
    const double s = bl_sinpi(a);
    *sign = s > 0 ? -1 : 1;
    return bl_log(3.14159265358979323846 / (a * magnitude(s))) - e.high;
}
INLINE double bl_lgamma(double x) { int s; return bl_lgamma_r(x, &s); }

INLINE float bl_erf(float x) { return (float)bl_erf((double)x); }
INLINE float bl_erfc(float x) { return (float)bl_erfc((double)x); }
INLINE float bl_tgamma(float x) { return (float)bl_tgamma((double)x); }
INLINE float bl_lgamma_r(float x, int *sign) { return (float)bl_lgamma_r((double)x, sign); }
INLINE float bl_lgamma(float x) { return (float)bl_lgamma((double)x); }
