/* Functions of one type without series: rounding, remainders, steps. As in real.h, included once for each type. */

INLINE REAL bl_fabs(REAL x) { return magnitude(x); }
INLINE REAL bl_ceil(REAL x) { return __builtin_elementwise_ceil(x); }
INLINE REAL bl_floor(REAL x) { return __builtin_elementwise_floor(x); }
INLINE REAL bl_trunc(REAL x) { return whole(x); }
INLINE REAL bl_rint(REAL x) { return rounded(x); }
INLINE REAL bl_round(REAL x)
{
    const REAL t = whole(x);
    return with_sign(magnitude(x - t) >= C(0.5) ? t + with_sign(C(1), x) : t, x);
}
INLINE REAL bl_copysign(REAL x, REAL y) { return with_sign(x, y); }
INLINE REAL bl_fma(REAL x, REAL y, REAL z) { return FMA(x, y, z); }
INLINE REAL bl_mad(REAL x, REAL y, REAL z) { return FMA(x, y, z); }
INLINE REAL bl_fmax(REAL x, REAL y) { return y != y ? x : x != x || x < y ? y : x; }
INLINE REAL bl_fmin(REAL x, REAL y) { return y != y ? x : x != x || y < x ? y : x; }
INLINE REAL bl_max(REAL x, REAL y) { return bl_fmax(x, y); }
INLINE REAL bl_min(REAL x, REAL y) { return bl_fmin(x, y); }
INLINE REAL bl_clamp(REAL x, REAL low, REAL high) { return bl_fmin(bl_fmax(x, low), high); }
INLINE REAL bl_maxmag(REAL x, REAL y)
{
    return magnitude(x) > magnitude(y) ? x : magnitude(y) > magnitude(x) ? y : bl_fmax(x, y);
}
INLINE REAL bl_minmag(REAL x, REAL y)
{
    return magnitude(x) < magnitude(y) ? x : magnitude(y) < magnitude(x) ? y : bl_fmin(x, y);
}
INLINE REAL bl_fdim(REAL x, REAL y) { return x != x || y != y ? NOT_A_NUMBER : x > y ? x - y : C(0); }
INLINE REAL bl_degrees(REAL x) { return x * C(57.295779513082320876798154814105); }
INLINE REAL bl_radians(REAL x) { return x * C(0.017453292519943295769236907684886); }
INLINE REAL bl_mix(REAL x, REAL y, REAL a) { return FMA(y - x, a, x); }
INLINE REAL bl_step(REAL edge, REAL x) { return x < edge ? C(0) : C(1); }
INLINE REAL bl_smoothstep(REAL low, REAL high, REAL x)
{
    const REAL t = bl_clamp((x - low) / (high - low), C(0), C(1));
    return t * t * FMA(t, -2.0, 3.0);
}
INLINE REAL bl_sign(REAL x) { return x > 0 ? C(1) : x < 0 ? C(-1) : x == 0 ? x : C(0); }
INLINE REAL bl_nan(BITS code) { return with_bits(code | bits_of(NOT_A_NUMBER), C(0)); }
INLINE REAL bl_nan(SIGNED code) { return bl_nan((BITS)code); }
INLINE REAL bl_nextafter(REAL x, REAL y)
{
    if (x != x || y != y) return NOT_A_NUMBER;
    if (x == y) return y;
    if (x == 0) return with_sign(with_bits((BITS)1, x), y);
    return with_bits(bits_of(x) + ((x < y) == (x > 0) ? (BITS)1 : (BITS)-1), x);
}
INLINE REAL bl_modf(REAL x, REAL *part)
{
    *part = whole(x);
    return with_sign(infinite(x) ? C(0) : x - *part, x);
}
INLINE REAL bl_fract(REAL x, REAL *part)
{
    *part = __builtin_elementwise_floor(x);
    if (infinite(x)) return with_sign(C(0), x);
    const REAL r = x - *part, most = 1 - EPSILON;
    return x != x ? x : r > most ? most : r;
}

/* The remainder of magnitudes that are finite and not 0, by long division; the low bits of the quotient too. */
INLINE REAL remainder_of(REAL x, REAL y, uint *quotient, bool nearest)
{
    REAL m, n;
    const int e = exponent_of(x, &m), f = exponent_of(y, &n);
    *quotient = 0;
    if (e < f - 1) return x;
    const ulong divisor = (ulong)(bits_of(n) & (((BITS)1 << FRACTION) - 1)) | 1ul << FRACTION;
    ulong rest = (ulong)(bits_of(m) & (((BITS)1 << FRACTION) - 1)) | 1ul << FRACTION;
    uint q = 0;
    int left = e - f;
    if (left >= 0) {
        q = rest >= divisor;
        rest = rest >= divisor ? rest - divisor : rest;
        for (; left > 0;) {
            const int by = left < 63 - FRACTION ? left : 63 - FRACTION - 1;
            rest <<= by;
            const ulong times = rest / divisor;
            q = (by < 32 ? q << by : 0) + (uint)times;
            rest -= times * divisor;
            left -= by;
        }
        if (nearest && (2 * rest > divisor || (2 * rest == divisor && (q & 1)))) {
            *quotient = q + 1;
            return -bl_ldexp((REAL)(divisor - rest), f - FRACTION);
        }
        *quotient = q;
        return bl_ldexp((REAL)rest, f - FRACTION);
    }
    /* x is at least a quarter of y and below it */
    if (nearest && 2 * x > y) { *quotient = 1; return x - y; }
    return x;
}
INLINE REAL bl_fmod(REAL x, REAL y)
{
    if (x != x || y != y || infinite(x) || y == 0) return NOT_A_NUMBER;
    if (x == 0 || infinite(y)) return x;
    uint q;
    return with_sign(remainder_of(magnitude(x), magnitude(y), &q, false), x);
}
INLINE REAL bl_remquo(REAL x, REAL y, int *quotient)
{
    *quotient = 0;
    if (x != x || y != y || infinite(x) || y == 0) return NOT_A_NUMBER;
    if (x == 0 || infinite(y)) return x;
    uint q;
    const REAL r = remainder_of(magnitude(x), magnitude(y), &q, true);
    *quotient = negative(x) != negative(y) ? -(int)(q & 0x7f) : (int)(q & 0x7f);
    return r == 0 ? with_sign(r, x) : negative(x) ? -r : r;
}
INLINE REAL bl_remainder(REAL x, REAL y) { int q; return bl_remquo(x, y, &q); }
INLINE int bl_signbit(REAL x) { return negative(x); }

/* Of lower accuracy where a device has it; here the functions themselves. */
#define SAME(name)                                                                                                     \
    INLINE REAL bl_half_##name(REAL x) { return bl_##name(x); }                                                        \
    INLINE REAL bl_native_##name(REAL x) { return bl_##name(x); }
#if !DOUBLE
SAME(cos) SAME(exp) SAME(exp2) SAME(exp10) SAME(log) SAME(log2) SAME(log10) SAME(rsqrt) SAME(sin) SAME(sqrt) SAME(tan)
INLINE REAL bl_half_powr(REAL x, REAL y) { return bl_powr(x, y); }
INLINE REAL bl_native_powr(REAL x, REAL y) { return bl_powr(x, y); }
INLINE REAL bl_half_divide(REAL x, REAL y) { return x / y; }
INLINE REAL bl_native_divide(REAL x, REAL y) { return x / y; }
INLINE REAL bl_half_recip(REAL x) { return 1 / x; }
INLINE REAL bl_native_recip(REAL x) { return 1 / x; }
#endif
#undef SAME
