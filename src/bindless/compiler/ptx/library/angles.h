/* Functions of angles and hyperbolic ones, on the pairs of real.h, after which it is included for each type. */

/* ------------------------------------------------------------------ angles */

INLINE REAL sine_of(PAIR x) /* of a magnitude of pi / 4 at most */
{
    const REAL z = x.high * x.high;
    REAL s = TAYLOR(-1.0 / 121645100408832000.0, 1.0 / 362880.0);
#if DOUBLE
    s = FMA(s, z, 1.0 / 355687428096000.0);
    s = FMA(s, z, -1.0 / 1307674368000.0);
    s = FMA(s, z, 1.0 / 6227020800.0);
    s = FMA(s, z, -1.0 / 39916800.0);
    s = FMA(s, z, 1.0 / 362880.0);
#endif
    s = FMA(s, z, -1.0 / 5040.0);
    s = FMA(s, z, 1.0 / 120.0);
    s = FMA(s, z, -1.0 / 6.0);
    return x.high + FMA(s * z, x.high, FMA(-0.5 * z, x.low, x.low));
}
INLINE REAL cosine_of(PAIR x)
{
    const REAL z = x.high * x.high;
    REAL s = TAYLOR(-1.0 / 6402373705728000.0, -1.0 / 3628800.0);
#if DOUBLE
    s = FMA(s, z, 1.0 / 20922789888000.0);
    s = FMA(s, z, -1.0 / 87178291200.0);
    s = FMA(s, z, 1.0 / 479001600.0);
    s = FMA(s, z, -1.0 / 3628800.0);
#endif
    s = FMA(s, z, 1.0 / 40320.0);
    s = FMA(s, z, -1.0 / 720.0);
    s = FMA(s, z, 1.0 / 24.0);
    const PAIR first = quick_sum(C(1), C(-0.5) * z);
    return first.high + (first.low + FMA(s * z, z, -x.high * x.low));
}
#if DOUBLE
/* 2 / pi, from the bit below the point. */
constant ulong two_by_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
INLINE ulong bits_from(int begin) /* 64 bits of it; bits before the first are 0 */
{
    const int word = begin >> 6, shift = begin & 63;
    const ulong high = word >= 0 ? two_by_pi[word] : 0, low = word >= -1 ? two_by_pi[word + 1] : 0;
    return shift ? high << shift | low >> (64 - shift) : high;
}
/* x modulo pi / 2, by all the bits of 2 / pi that matter: those whose product with x is a multiple of 4 do not. */
INLINE PAIR far_reduced(double x, uint *quadrant)
{
    double m;
    const int exponent = exponent_of(magnitude(x), &m) - 52;
    const ulong mantissa = (bits_of(m) & 0xfffffffffffff) | 1ul << 52;
    const int begin = exponent - 2;
    const ulong a = bits_from(begin), b = bits_from(begin + 64), c = bits_from(begin + 128);
    /* the low 192 bits of the product: 2 of the quadrant, 190 behind the point */
    const ulong p2 = mantissa * c, carry = bl_mul_hi(mantissa, c), p1 = mantissa * b + carry;
    const ulong p0 = mantissa * a + bl_mul_hi(mantissa, b) + (p1 < carry);
    uint q = (uint)(p0 >> 62);
    ulong high = p0 << 2 | p1 >> 62, low = p1 << 2 | p2 >> 62;
    const bool up = high >> 63;
    if (up) { q += 1; high = ~high; low = ~low; }
    const int zeros = (int)__builtin_clzg(high, 64);
    if (zeros > 0 && zeros < 64) { high = high << zeros | low >> (64 - zeros); low <<= zeros; }
    const double scale = power_of_2(-64 - zeros, x);
    const double first = (double)(high & ~0x7fful) * scale;
    const double second = ((double)(high & 0x7ff) + (double)low * 0x1p-64) * scale;
    PAIR r = multiply((PAIR){first, second}, (PAIR){0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54});
    if (up != (x < 0)) r = (PAIR){-r.high, -r.low};
    *quadrant = x < 0 ? -q : q;
    return r;
}
#endif
INLINE PAIR reduced(REAL x, uint *quadrant)
{
#if DOUBLE
    if (magnitude(x) > 0x1p30) return far_reduced(x, quadrant);
    const double k = rounded(x * 0x1.45f306dc9c883p-1);
    const double t = FMA(-k, 0x1.921fb54442d18p+0, x);
    const PAIR p = product_of(k, 0x1.1a62633145c07p-54);
    const PAIR s = sum_of(t, -p.high);
    *quadrant = (uint)(int)k;
    return quick_sum(s.high, s.low - p.low - k * -0x1.f1976b7ed8fbcp-110);
#else
    if (magnitude(x) > 0x1p13f) {
        const pair_double r = reduced((double)x, quadrant);
        const float high = (float)r.high;
        return (PAIR){high, (float)(r.high - high + r.low)};
    }
    const float k = rounded(x * 0x1.45f306p-1f);
    const float t = FMA(-k, 0x1.921fb6p+0f, x);
    const PAIR p = product_of(k, -0x1.777a5cp-25f);
    const PAIR s = sum_of(t, -p.high);
    *quadrant = (uint)(int)k;
    return quick_sum(s.high, s.low - p.low - k * -0x1.ee59dap-50f);
#endif
}
INLINE REAL bl_sincos(REAL x, REAL *cosine)
{
    if (!finite(x)) return *cosine = NOT_A_NUMBER;
    uint q;
    const PAIR r = reduced(x, &q);
    const REAL s = sine_of(r), c = cosine_of(r);
    *cosine = q & 1 ? (q & 2 ? s : -s) : (q & 2 ? -c : c);
    return x == 0 ? x : q & 1 ? (q & 2 ? -c : c) : (q & 2 ? -s : s);
}
INLINE REAL bl_sin(REAL x) { REAL c; return bl_sincos(x, &c); }
INLINE REAL bl_cos(REAL x) { REAL c; bl_sincos(x, &c); return c; }
INLINE REAL bl_tan(REAL x) { REAL c, s = bl_sincos(x, &c); return x == 0 ? x : s / c; }

/* The sine and cosine of pi x. */
INLINE REAL of_half_turns(REAL x, REAL *cosine)
{
    if (!finite(x)) return *cosine = NOT_A_NUMBER;
    const REAL turned = x - 2 * whole(x * C(0.5)); /* exact, above -2 and below 2 */
    const REAL k = rounded(2 * turned);
    const PAIR r = multiply((PAIR){FMA(k, -0.5, turned), 0},
                            (PAIR){SPLIT(0x1.921fb54442d18p+1, 0x1.921fb6p+1), SPLIT(0x1.1a62633145c07p-53, -0x1.777a5cp-24)});
    const uint q = (uint)(int)k;
    const REAL s = sine_of(r), c = cosine_of(r);
    *cosine = q & 1 ? (q & 2 ? s : C(0) - s) : (q & 2 ? -c : c);
    const REAL sine = q & 1 ? (q & 2 ? -c : c) : (q & 2 ? -s : s);
    return sine == 0 ? with_sign(sine, x) : sine;
}
INLINE REAL bl_sinpi(REAL x) { REAL c; return of_half_turns(x, &c); }
INLINE REAL bl_cospi(REAL x) { REAL c; of_half_turns(x, &c); return c == 0 ? C(0) : c; }
INLINE REAL bl_tanpi(REAL x) { REAL c, s = of_half_turns(x, &c); return s / (c == 0 ? C(0) : c); }

/* atan(y / x) for 0 <= y <= x, not both 0. */
INLINE PAIR octant(REAL y, REAL x)
{
    const REAL ratio = y / x;
    const int step = (int)(ratio * 4 + C(0.5));
    const REAL c = (REAL)step * C(0.25);
    /* (y - c x) / (x + c y), the angle beyond atan(c) */
    const PAIR over = sum_of(FMA(-c, x, y), C(0)), under = sum_of(x, c * y);
    const PAIR t = step == 0 ? quotient_of((PAIR){y, 0}, (PAIR){x, 0}) : quotient_of(over, under);
    const REAL z = t.high * t.high;
    REAL s = TAYLOR(-1.0 / 19, -1.0 / 7);
#if DOUBLE
    s = FMA(s, z, 1.0 / 17);
    s = FMA(s, z, -1.0 / 15);
    s = FMA(s, z, 1.0 / 13);
    s = FMA(s, z, -1.0 / 11);
    s = FMA(s, z, 1.0 / 9);
    s = FMA(s, z, -1.0 / 7);
#endif
    s = FMA(s, z, 1.0 / 5);
    s = FMA(s, z, -1.0 / 3);
    const PAIR rest = quick_sum(t.high, FMA(s * z, t.high, t.low));
    switch (step) {
    case 0: return rest;
    case 1: return add((PAIR){SPLIT(0x1.f5b75f92c80ddp-3, 0x1.f5b76p-3), SPLIT(0x1.8ab6e3cf7afbdp-57, -0x1.b4dfc8p-29)}, rest);
    case 2: return add((PAIR){SPLIT(0x1.dac670561bb4fp-2, 0x1.dac67p-2), SPLIT(0x1.a2b7f222f65e2p-56, 0x1.586ed4p-28)}, rest);
    case 3: return add((PAIR){SPLIT(0x1.4978fa3269ee1p-1, 0x1.4978fap-1), SPLIT(0x1.2419a87f2a458p-56, 0x1.934f7p-28)}, rest);
    default: return add((PAIR){SPLIT(0x1.921fb54442d18p-1, 0x1.921fb6p-1), SPLIT(0x1.1a62633145c07p-55, -0x1.777a5cp-26)}, rest);
    }
}
/* The angle of (x, y), as a pair. */
INLINE PAIR angle(REAL y, REAL x)
{
    const PAIR half_turn = {SPLIT(0x1.921fb54442d18p+1, 0x1.921fb6p+1), SPLIT(0x1.1a62633145c07p-53, -0x1.777a5cp-24)};
    REAL a = magnitude(x), b = magnitude(y);
    PAIR r;
    if (a == INFINITE && b == INFINITE) a = b = 1;
    if (a == 0 && b == 0) {
        r = (PAIR){0, 0};
    } else if (a == INFINITE || b == 0) {
        r = (PAIR){0, 0};
    } else if (b == INFINITE || a == 0) {
        r = (PAIR){half_turn.high * C(0.5), half_turn.low * C(0.5)};
    } else {
        /* both near 1, so that quotients neither overflow nor lose their last bits */
        REAL m, n;
        const int e = exponent_of(a > b ? a : b, &m), f = exponent_of(a > b ? b : a, &n);
        if (e - f > FRACTION + 4 && b > a) {
            r = (PAIR){half_turn.high * C(0.5), half_turn.low * C(0.5) - bl_ldexp(n / m, f - e)};
        } else if (e - f > FRACTION + 4) {
            r = (PAIR){negative(x) ? C(0) : b / a, 0};
        } else {
            n = bl_ldexp(n, f - e);
            r = octant(n, m);
            if (b > a) r = add((PAIR){half_turn.high * C(0.5), half_turn.low * C(0.5)}, (PAIR){-r.high, -r.low});
        }
    }
    if (negative(x)) r = add(half_turn, (PAIR){-r.high, -r.low});
    return negative(y) ? (PAIR){-r.high, -r.low} : r;
}
INLINE REAL by_pi(PAIR a)
{
    const PAIR factor = {SPLIT(0x1.45f306dc9c883p-2, 0x1.45f306p-2), SPLIT(-0x1.6b01ec5417056p-56, 0x1.b9391p-27)};
    return a.high == 0 ? a.high : multiply(a, factor).high;
}
INLINE PAIR arc_sine(REAL x) { return angle(x, root((1 - x) * (1 + x))); }
INLINE PAIR arc_cosine(REAL x) { return angle(root((1 - x) * (1 + x)), x); }
INLINE REAL bl_atan2(REAL y, REAL x) { return x != x || y != y ? NOT_A_NUMBER : angle(y, x).high; }
INLINE REAL bl_atan2pi(REAL y, REAL x) { return x != x || y != y ? NOT_A_NUMBER : by_pi(angle(y, x)); }
INLINE REAL bl_atan(REAL x) { return x != x ? x : angle(x, C(1)).high; }
INLINE REAL bl_atanpi(REAL x) { return x != x ? x : by_pi(angle(x, C(1))); }
INLINE REAL bl_asin(REAL x) { return magnitude(x) <= 1 ? arc_sine(x).high : NOT_A_NUMBER; }
INLINE REAL bl_asinpi(REAL x) { return magnitude(x) <= 1 ? by_pi(arc_sine(x)) : NOT_A_NUMBER; }
INLINE REAL bl_acos(REAL x) { return magnitude(x) <= 1 ? arc_cosine(x).high : NOT_A_NUMBER; }
INLINE REAL bl_acospi(REAL x) { return magnitude(x) <= 1 ? by_pi(arc_cosine(x)) : NOT_A_NUMBER; }

/* ------------------------------------------------------------------ hyperbolic functions */

INLINE REAL half_exponential(REAL x) /* exp(x) / 2, which may be finite where exp(x) is not */
{
    const PAIR e = sum_of(x, -SPLIT(0x1.62e42fefa39efp-1, 0x1.62e43p-1));
    return exponential(e.high, e.low - SPLIT(0x1.abc9e3b39803fp-56, -0x1.05c61p-29));
}
INLINE REAL bl_sinh(REAL x)
{
    const REAL a = magnitude(x);
    if (x == 0 || x != x) return x;
    if (a > C(22)) return with_sign(half_exponential(a), x);
    const REAL t = bl_expm1(a);
    return with_sign(C(0.5) * (t + t / (t + 1)), x);
}
INLINE REAL bl_cosh(REAL x)
{
    const REAL a = magnitude(x);
    if (a > C(22)) return half_exponential(a);
    const REAL e = bl_exp(a);
    return FMA(0.5, e, C(0.5) / e);
}
INLINE REAL bl_tanh(REAL x)
{
    const REAL a = magnitude(x);
    if (x == 0 || x != x) return x;
    if (a > C(22)) return with_sign(C(1), x);
    const REAL t = bl_expm1(2 * a);
    return with_sign(a > C(0.5) ? 1 - 2 / (t + 2) : t / (t + 2), x);
}
INLINE REAL bl_asinh(REAL x)
{
    const REAL a = magnitude(x);
    if (x == 0 || !finite(x)) return x;
    if (a > C(TAYLOR(0x1p30, 0x1p14)))
        return with_sign(add(logarithm(a), (PAIR){SPLIT(0x1.62e42fefa39efp-1, 0x1.62e43p-1), 0}).high, x);
    return with_sign(bl_log1p(a + a * a / (1 + root(FMA(a, a, 1.0)))), x);
}
INLINE REAL bl_acosh(REAL x)
{
    if (!(x >= 1)) return NOT_A_NUMBER;
    if (x == INFINITE) return x;
    if (x > C(TAYLOR(0x1p30, 0x1p14))) return add(logarithm(x), (PAIR){SPLIT(0x1.62e42fefa39efp-1, 0x1.62e43p-1), 0}).high;
    const REAL t = x - 1;
    return bl_log1p(t + root(FMA(t, t, 2 * t)));
}
INLINE REAL bl_atanh(REAL x)
{
    const REAL a = magnitude(x);
    if (x == 0 || !(a <= 1)) return x == 0 ? x : NOT_A_NUMBER;
    return with_sign(a == 1 ? INFINITE : C(0.5) * bl_log1p(2 * a / (1 - a)), x);
}
