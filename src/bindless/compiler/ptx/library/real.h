/* Mathematical functions of one type: REAL is float or double, DOUBLE 0 or 1. Included once for each, double first.
 *
 * A `pair` is a sum high + low whose second term is below the last place of the first. Reductions and logarithms are
 * pairs, so that one rounding is left at the end of a function. Polynomials are Taylor's, as long as the type needs.
 */
#if DOUBLE
#define BITS ulong
#define SIGNED long
#define FRACTION 52
#define TOP 1023
#define TAYLOR(longer, shorter) (longer)
#define SPLIT(of_double, of_float) of_double
#define EPSILON 0x1p-53
#define EXP_MOST 709.782712893384
#define EXP_LEAST -745.2
#else
#define BITS uint
#define SIGNED int
#define FRACTION 23
#define TOP 127
#define TAYLOR(longer, shorter) (shorter)
#define SPLIT(of_double, of_float) of_float##f
#define EPSILON 0x1p-24f
#define EXP_MOST 88.7228394f
#define EXP_LEAST -104.0f
#endif
#define FMA(a, b, c) __builtin_elementwise_fma((REAL)(a), (REAL)(b), (REAL)(c))
#define INFINITE ((REAL)INFINITY)
#define NOT_A_NUMBER ((REAL)NAN)
#define C(value) ((REAL)(value))
#define NAME3(a, b) a##_##b
#define NAME2(a, b) NAME3(a, b)
#define PAIR NAME2(pair, REAL)

typedef struct { REAL high, low; } PAIR;

INLINE BITS bits_of(REAL x) { return __builtin_astype(x, BITS); }
INLINE REAL with_bits(BITS x, REAL like) { return __builtin_astype(x, REAL); }
INLINE REAL magnitude(REAL x) { return __builtin_elementwise_abs(x); }
INLINE REAL root(REAL x) { return __builtin_elementwise_sqrt(x); }
INLINE REAL with_sign(REAL x, REAL sign) { return __builtin_elementwise_copysign(x, sign); }
INLINE bool negative(REAL x) { return (SIGNED)bits_of(x) < 0; }
INLINE bool infinite(REAL x) { return magnitude(x) == INFINITE; }
INLINE bool finite(REAL x) { return magnitude(x) < INFINITE; }
INLINE REAL rounded(REAL x) { return __builtin_elementwise_rint(x); }
INLINE REAL whole(REAL x) { return __builtin_elementwise_trunc(x); }

/* ------------------------------------------------------------------ pairs */

INLINE PAIR sum_of(REAL a, REAL b)
{
    const REAL s = a + b, t = s - a;
    return (PAIR){s, (a - (s - t)) + (b - t)};
}
INLINE PAIR quick_sum(REAL a, REAL b) /* where a is the larger one, or 0 */
{
    const REAL s = a + b;
    return (PAIR){s, b - (s - a)};
}
INLINE PAIR product_of(REAL a, REAL b)
{
    const REAL p = a * b;
    return (PAIR){p, FMA(a, b, -p)};
}
INLINE PAIR add(PAIR a, PAIR b)
{
    const PAIR s = sum_of(a.high, b.high);
    return quick_sum(s.high, s.low + (a.low + b.low));
}
INLINE PAIR multiply(PAIR a, PAIR b)
{
    const PAIR p = product_of(a.high, b.high);
    return quick_sum(p.high, p.low + FMA(a.high, b.low, a.low * b.high));
}
INLINE PAIR quotient_of(PAIR a, PAIR b)
{
    const REAL q = a.high / b.high;
    const REAL rest = FMA(-q, b.high, a.high) + (a.low - q * b.low);
    return quick_sum(q, rest / b.high);
}

/* ------------------------------------------------------------------ exponents */

/* The exponent of the leading bit of a finite number that is not 0, and the number with exponent 0. */
INLINE int exponent_of(REAL x, REAL *fraction)
{
    BITS bits = bits_of(x) & ~((BITS)1 << (sizeof(REAL) * 8 - 1));
    int exponent = (int)(bits >> FRACTION) - TOP;
    if (exponent == -TOP) {
        const int shift = (int)__builtin_clzg(bits, 0) - ((int)sizeof(REAL) * 8 - 1 - FRACTION);
        bits <<= shift;
        exponent = 1 - TOP - shift;
    }
    const BITS sign = bits_of(x) & ((BITS)1 << (sizeof(REAL) * 8 - 1));
    *fraction = with_bits((bits & (((BITS)1 << FRACTION) - 1)) | (BITS)TOP << FRACTION | sign, x);
    return exponent;
}
/* A power of two, of an exponent between 1 - TOP and TOP. */
INLINE REAL power_of_2(int exponent, REAL like) { return with_bits((BITS)(exponent + TOP) << FRACTION, like); }

INLINE REAL bl_ldexp(REAL x, int n)
{
    if (x == 0 || !finite(x)) return x;
    REAL fraction;
    const int own = exponent_of(x, &fraction);
    n = n > 4 * TOP ? 4 * TOP : n < -4 * TOP ? -4 * TOP : n;
    const int exponent = own + n;
    if (exponent > TOP) return with_sign(INFINITE, x);
    if (exponent >= 1 - TOP) return fraction * power_of_2(exponent, x);
    if (exponent < -TOP - FRACTION - 1) return with_sign(C(0), x);
    return fraction * power_of_2(exponent + FRACTION + 2, x) * power_of_2(-FRACTION - 2, x);
}
INLINE REAL bl_frexp(REAL x, int *exponent)
{
    *exponent = 0;
    if (x == 0 || !finite(x)) return x;
    REAL fraction;
    *exponent = exponent_of(x, &fraction) + 1;
    return fraction * C(0.5);
}
INLINE int bl_ilogb(REAL x)
{
    REAL fraction;
    return x == 0 || x != x ? FP_ILOGB0 : infinite(x) ? INT_MAX : exponent_of(x, &fraction);
}
INLINE REAL bl_logb(REAL x)
{
    REAL fraction;
    return x == 0 ? -INFINITE : !finite(x) ? x * x : (REAL)exponent_of(x, &fraction);
}

/* ------------------------------------------------------------------ exponentials */

/* (exp(x) - 1) / x for a magnitude of 0.35 at most. */
INLINE REAL exponential_rest(REAL x)
{
    REAL s = TAYLOR(1.0 / 87178291200.0, 1.0 / 40320.0);
#if DOUBLE
    s = FMA(s, x, 1.0 / 6227020800.0);
    s = FMA(s, x, 1.0 / 479001600.0);
    s = FMA(s, x, 1.0 / 39916800.0);
    s = FMA(s, x, 1.0 / 3628800.0);
    s = FMA(s, x, 1.0 / 362880.0);
    s = FMA(s, x, 1.0 / 40320.0);
#endif
    s = FMA(s, x, 1.0 / 5040.0);
    s = FMA(s, x, 1.0 / 720.0);
    s = FMA(s, x, 1.0 / 120.0);
    s = FMA(s, x, 1.0 / 24.0);
    s = FMA(s, x, 1.0 / 6.0);
    s = FMA(s, x, 0.5);
    return FMA(s, x, 1.0);
}
/* exp(high + low) */
INLINE REAL exponential(REAL high, REAL low)
{
    if (high != high) return high;
    if (high > EXP_MOST + 1) return INFINITE;
    if (high < EXP_LEAST) return 0;
    const REAL k = rounded(high * SPLIT(0x1.71547652b82fep+0, 0x1.715476p+0));
    const REAL t = FMA(-k, SPLIT(0x1.62e42fefa4p-1, 0x1.62e8p-1), high);
    const REAL r = FMA(-k, SPLIT(-0x1.8432a1b0e2634p-43, -0x1.e8082ep-16), t) + low;
    return bl_ldexp(FMA(r, exponential_rest(r), 1.0), (int)k);
}
INLINE REAL bl_exp(REAL x) { return exponential(x, C(0)); }
INLINE REAL bl_exp2(REAL x)
{
    if (x != x) return x;
    if (x > TOP + 1) return INFINITE;
    if (x < -TOP - FRACTION - 2) return 0;
    const REAL k = rounded(x), r = (x - k) * SPLIT(0x1.62e42fefa39efp-1, 0x1.62e430p-1);
    return bl_ldexp(FMA(r, exponential_rest(r), 1.0), (int)k);
}
INLINE REAL bl_exp10(REAL x)
{
    if (x != x) return x;
    if (x > C(TAYLOR(309, 39))) return INFINITE;
    if (x < C(TAYLOR(-324, -46))) return 0;
    const REAL k = rounded(x * C(3.32192809488736234787));
    const REAL t = FMA(-k, SPLIT(0x1.34413509f8p-2, 0x1.344p-2), x);
    const REAL u = FMA(-k, SPLIT(-0x1.80433b83b532ap-44, 0x1.3509f8p-18), t);
    const REAL r = FMA(u, SPLIT(0x1.26bb1bbb55516p+1, 0x1.26bb1cp+1), u * SPLIT(-0x1.f48ad494ea3e9p-53, -0x1.12aabap-25));
    return bl_ldexp(FMA(r, exponential_rest(r), 1.0), (int)k);
}
INLINE REAL bl_expm1(REAL x)
{
    if (x != x || x == 0) return x;
    if (magnitude(x) < C(0.34)) return FMA(x * x, TAYLOR(0, 0), x * exponential_rest(x));
    if (x > C(TOP / 2)) return exponential(x, C(0));
    if (x < C(-60)) return -1;
    const REAL k = rounded(x * SPLIT(0x1.71547652b82fep+0, 0x1.715476p+0));
    const REAL t = FMA(-k, SPLIT(0x1.62e42fefa4p-1, 0x1.62e8p-1), x);
    const REAL r = FMA(-k, SPLIT(-0x1.8432a1b0e2634p-43, -0x1.e8082ep-16), t);
    const REAL scale = power_of_2((int)k, x);
    return FMA(scale, r * exponential_rest(r), scale - 1);
}

/* ------------------------------------------------------------------ logarithms */

/* log(x) of a finite x above 0. */
INLINE PAIR logarithm(REAL x)
{
    REAL m;
    int exponent = exponent_of(x, &m);
    if (m > C(1.41421356)) { m *= C(0.5); exponent += 1; }
    /* 2 artanh(s), s = (m - 1) / (m + 1) */
    const REAL f = m - 1;
    const PAIR s = quotient_of((PAIR){f, 0}, sum_of(C(2), f));
    const PAIR s2 = multiply(s, s);
    const REAL z = s2.high;
    REAL p = TAYLOR(2.0 / 25, 2.0 / 11);
#if DOUBLE
    p = FMA(p, z, 2.0 / 23);
    p = FMA(p, z, 2.0 / 21);
    p = FMA(p, z, 2.0 / 19);
    p = FMA(p, z, 2.0 / 17);
    p = FMA(p, z, 2.0 / 15);
    p = FMA(p, z, 2.0 / 13);
    p = FMA(p, z, 2.0 / 11);
#endif
    p = FMA(p, z, 2.0 / 9);
    p = FMA(p, z, 2.0 / 7);
    p = FMA(p, z, 2.0 / 5);
    const PAIR third = {C(2.0 / 3), SPLIT(0x1.5555555555555p-55, -0x1.555556p-26)};
    const PAIR inner = add(third, (PAIR){p * z, 0});
    const PAIR cubic = multiply(multiply(s2, s), inner);
    const PAIR series = add((PAIR){2 * s.high, 2 * s.low}, cubic);
    const REAL e = (REAL)exponent;
    const PAIR whole_part = {e * SPLIT(0x1.62e42fefa4p-1, 0x1.62e8p-1), e * SPLIT(-0x1.8432a1b0e2634p-43, -0x1.e8082ep-16)};
    return exponent == 0 ? series : add(quick_sum(whole_part.high, whole_part.low), series);
}
INLINE REAL bl_log(REAL x)
{
    if (x == 0) return -INFINITE;
    if (!(x > 0)) return NOT_A_NUMBER;
    if (x == INFINITE) return x;
    return logarithm(x).high;
}
INLINE REAL bl_log2(REAL x)
{
    if (x == 0) return -INFINITE;
    if (!(x > 0)) return NOT_A_NUMBER;
    if (x == INFINITE) return x;
    REAL m;
    int exponent = exponent_of(x, &m);
    if (m > C(1.41421356)) { m *= C(0.5); exponent += 1; }
    const PAIR factor = {SPLIT(0x1.71547652b82fep+0, 0x1.715476p+0), SPLIT(0x1.777d0ffda0d24p-56, 0x1.4ae0cp-26)};
    return add((PAIR){(REAL)exponent, 0}, multiply(logarithm(m), factor)).high;
}
INLINE REAL bl_log10(REAL x)
{
    if (x == 0) return -INFINITE;
    if (!(x > 0)) return NOT_A_NUMBER;
    if (x == INFINITE) return x;
    const PAIR factor = {SPLIT(0x1.bcb7b1526e50ep-2, 0x1.bcb7b2p-2), SPLIT(0x1.95355baaafad3p-57, -0x1.5b235ep-27)};
    return multiply(logarithm(x), factor).high;
}
INLINE REAL bl_log1p(REAL x)
{
    if (x == -1) return -INFINITE;
    if (!(x > -1)) return NOT_A_NUMBER;
    if (x == INFINITE || magnitude(x) < EPSILON / 4) return x;
    const PAIR u = sum_of(C(1), x);
    return add(logarithm(u.high), (PAIR){u.low / u.high, 0}).high;
}

/* ------------------------------------------------------------------ powers */

/* x to the power of y, for a finite x above 0. */
INLINE REAL power(REAL x, PAIR y)
{
    const PAIR logarithm_of_x = logarithm(x);
    const REAL about = y.high * logarithm_of_x.high;
    if (about > EXP_MOST + 1) return INFINITE;
    if (about < EXP_LEAST) return 0;
    const PAIR e = multiply(logarithm_of_x, y);
    return exponential(e.high, e.low);
}
INLINE bool is_whole(REAL y) { return y == whole(y); }
INLINE bool is_odd(REAL y)
{
    const REAL half_of_it = y * C(0.5);
    return is_whole(y) && half_of_it != whole(half_of_it) && finite(y);
}
INLINE REAL bl_pow(REAL x, REAL y)
{
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return NOT_A_NUMBER;
    const REAL a = magnitude(x);
    const bool odd = is_odd(y);
    if (infinite(y)) return a == 1 ? C(1) : (a > 1) == (y > 0) ? INFINITE : C(0);
    if (x == 0 || infinite(x)) {
        const REAL r = (x == 0) == (y > 0) ? C(0) : INFINITE;
        return odd ? with_sign(r, x) : r;
    }
    if (x < 0 && !is_whole(y)) return NOT_A_NUMBER;
    const REAL r = power(a, (PAIR){y, 0});
    return x < 0 && odd ? -r : r;
}
INLINE REAL bl_powr(REAL x, REAL y)
{
    if (x < 0 || x != x || y != y) return NOT_A_NUMBER;
    if (x == 0) return y == 0 ? NOT_A_NUMBER : y > 0 ? C(0) : INFINITE;
    if (x == INFINITE) return y == 0 ? NOT_A_NUMBER : y > 0 ? INFINITE : C(0);
    if (infinite(y)) return x == 1 ? NOT_A_NUMBER : (x > 1) == (y > 0) ? INFINITE : C(0);
    return y == 0 ? C(1) : power(x, (PAIR){y, 0});
}
INLINE REAL bl_pown(REAL x, int n)
{
    if (n == 0) return 1;
    if (x != x) return x;
    const bool odd = n & 1;
    if (x == 0 || infinite(x)) {
        const REAL r = (x == 0) == (n > 0) ? C(0) : INFINITE;
        return odd ? with_sign(r, x) : r;
    }
    const REAL high = (REAL)n;
    const REAL r = power(magnitude(x), (PAIR){high, (REAL)(int)((long)n - (long)high)});
    return x < 0 && odd ? -r : r;
}
INLINE REAL bl_rootn(REAL x, int n)
{
    if (n == 0 || x != x || (x < 0 && (n & 1) == 0)) return NOT_A_NUMBER;
    if (x == 0 || infinite(x)) {
        const REAL r = (x == 0) == (n > 0) ? C(0) : INFINITE;
        return n & 1 ? with_sign(r, x) : r;
    }
    const REAL of = (REAL)n, q = 1 / of;
    const REAL r = power(magnitude(x), (PAIR){q, FMA(-q, of, 1.0) / of});
    return x < 0 ? -r : r;
}
INLINE REAL bl_cbrt(REAL x)
{
    if (x == 0 || !finite(x)) return x;
    REAL m;
    int exponent = exponent_of(x, &m);
    int third = exponent / 3, rest = exponent - 3 * third;
    if (rest < 0) { rest += 3; third -= 1; }
    const REAL a = magnitude(m) * (REAL)(1 << rest);
    REAL r = exponential(logarithm(a).high * C(1.0 / 3), C(0));
    /* one step of Newton's with the exact rest */
    const PAIR square = product_of(r, r);
    r -= (FMA(square.high, r, -a) + square.low * r) / (3 * square.high);
    return with_sign(bl_ldexp(r, third), x);
}
INLINE REAL bl_hypot(REAL x, REAL y)
{
    if (infinite(x) || infinite(y)) return INFINITE;
    if (x != x || y != y) return NOT_A_NUMBER;
    const REAL a = magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y);
    const REAL b = magnitude(x) > magnitude(y) ? magnitude(y) : magnitude(x);
    if (a == 0) return 0;
    REAL m;
    const int exponent = exponent_of(a, &m);
    const REAL small = bl_ldexp(b, -exponent);
    return bl_ldexp(root(FMA(m, m, small * small)), exponent);
}
INLINE REAL bl_sqrt(REAL x) { return root(x); }
INLINE REAL bl_rsqrt(REAL x) { return 1 / root(x); }
