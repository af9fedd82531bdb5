/* Functions of integers, for any of the eight types: S, U and W are the signed, the unsigned and the wider type. */

#define INTEGERS(S, U, W, UW)                                                                                          \
    INLINE U bl_abs(S x) { return x < 0 ? (U)0 - (U)x : (U)x; }                                                        \
    INLINE U bl_abs(U x) { return x; }                                                                                 \
    INLINE U bl_abs_diff(S x, S y) { return x > y ? (U)x - (U)y : (U)y - (U)x; }                                       \
    INLINE U bl_abs_diff(U x, U y) { return x > y ? x - y : y - x; }                                                   \
    INLINE S bl_add_sat(S x, S y) { return __builtin_elementwise_add_sat(x, y); }                                      \
    INLINE U bl_add_sat(U x, U y) { return __builtin_elementwise_add_sat(x, y); }                                      \
    INLINE S bl_sub_sat(S x, S y) { return __builtin_elementwise_sub_sat(x, y); }                                      \
    INLINE U bl_sub_sat(U x, U y) { return __builtin_elementwise_sub_sat(x, y); }                                      \
    INLINE S bl_hadd(S x, S y) { return (x >> 1) + (y >> 1) + (x & y & 1); }                                           \
    INLINE U bl_hadd(U x, U y) { return (x >> 1) + (y >> 1) + (x & y & 1); }                                           \
    INLINE S bl_rhadd(S x, S y) { return (x >> 1) + (y >> 1) + ((x | y) & 1); }                                        \
    INLINE U bl_rhadd(U x, U y) { return (x >> 1) + (y >> 1) + ((x | y) & 1); }                                        \
    INLINE U bl_rotate(U x, U n)                                                                                       \
    {                                                                                                                  \
        const uint by = (uint)(n & (sizeof(U) * 8 - 1));                                                               \
        return by ? (U)(x << by) | (U)(x >> (sizeof(U) * 8 - by)) : x;                                                 \
    }                                                                                                                  \
    INLINE S bl_rotate(S x, S n) { return (S)bl_rotate((U)x, (U)n); }                                                  \
    INLINE U bl_clz(U x) { return (U)__builtin_clzg(x, (int)sizeof(U) * 8); }                                          \
    INLINE S bl_clz(S x) { return (S)__builtin_clzg((U)x, (int)sizeof(U) * 8); }                                       \
    INLINE U bl_ctz(U x) { return (U)__builtin_ctzg(x, (int)sizeof(U) * 8); }                                          \
    INLINE S bl_ctz(S x) { return (S)__builtin_ctzg((U)x, (int)sizeof(U) * 8); }                                       \
    INLINE U bl_popcount(U x) { return (U)__builtin_popcountg(x); }                                                    \
    INLINE S bl_popcount(S x) { return (S)__builtin_popcountg((U)x); }                                                 \
    INLINE S bl_min(S x, S y) { return y < x ? y : x; }                                                                \
    INLINE U bl_min(U x, U y) { return y < x ? y : x; }                                                                \
    INLINE S bl_max(S x, S y) { return x < y ? y : x; }                                                                \
    INLINE U bl_max(U x, U y) { return x < y ? y : x; }                                                                \
    INLINE S bl_clamp(S x, S low, S high) { return bl_min(bl_max(x, low), high); }                                     \
    INLINE U bl_clamp(U x, U low, U high) { return bl_min(bl_max(x, low), high); }
#define NARROW(S, U, W, UW)                                                                                            \
    INLINE S bl_mul_hi(S x, S y) { return (S)(((W)x * (W)y) >> (sizeof(S) * 8)); }                                     \
    INLINE U bl_mul_hi(U x, U y) { return (U)(((UW)x * (UW)y) >> (sizeof(U) * 8)); }                                   \
    INLINE W bl_upsample(S high, U low) { return (W)((UW)(U)high << (sizeof(U) * 8) | low); }                          \
    INLINE UW bl_upsample(U high, U low) { return (UW)high << (sizeof(U) * 8) | low; }
#define PRODUCTS(S, U, LEAST, MOST, UMOST)                                                                             \
    INLINE S bl_mad_hi(S x, S y, S z) { return (S)((U)bl_mul_hi(x, y) + (U)z); }                                       \
    INLINE U bl_mad_hi(U x, U y, U z) { return bl_mul_hi(x, y) + z; }                                                  \
    INLINE S bl_mad_sat(S x, S y, S z)                                                                                 \
    {                                                                                                                  \
        const U low = (U)((U)x * (U)y), sum = low + (U)z;                                                              \
        const long above = (long)bl_mul_hi(x, y) + (z < 0 ? -1 : 0) + (sum < low);                                     \
        return above == ((S)sum < 0 ? -1 : 0) ? (S)sum : above < 0 ? LEAST : MOST;                                     \
    }                                                                                                                  \
    INLINE U bl_mad_sat(U x, U y, U z)                                                                                 \
    {                                                                                                                  \
        const U low = (U)(x * y), sum = low + z;                                                                       \
        return bl_mul_hi(x, y) != 0 || sum < low ? UMOST : sum;                                                        \
    }
INTEGERS(char, uchar, short, ushort)
INTEGERS(short, ushort, int, uint)
INTEGERS(int, uint, long, ulong)
INTEGERS(long, ulong, long, ulong)
NARROW(char, uchar, short, ushort)
NARROW(short, ushort, int, uint)
NARROW(int, uint, long, ulong)
INLINE ulong bl_mul_hi(ulong x, ulong y)
{
    const ulong a = x & UINT_MAX, b = x >> 32, c = y & UINT_MAX, d = y >> 32;
    const ulong first = b * c + (a * c >> 32), second = a * d + (first & UINT_MAX);
    return b * d + (first >> 32) + (second >> 32);
}
INLINE long bl_mul_hi(long x, long y)
{
    return (long)(bl_mul_hi((ulong)x, (ulong)y) - (x < 0 ? (ulong)y : 0) - (y < 0 ? (ulong)x : 0));
}
PRODUCTS(char, uchar, CHAR_MIN, CHAR_MAX, UCHAR_MAX)
PRODUCTS(short, ushort, SHRT_MIN, SHRT_MAX, USHRT_MAX)
PRODUCTS(int, uint, INT_MIN, INT_MAX, UINT_MAX)
PRODUCTS(long, ulong, LONG_MIN, LONG_MAX, ULONG_MAX)
INLINE int bl_mul24(int x, int y) { return (int)((uint)((x << 8) >> 8) * (uint)((y << 8) >> 8)); }
INLINE uint bl_mul24(uint x, uint y) { return (x & 0xffffff) * (y & 0xffffff); }
INLINE int bl_mad24(int x, int y, int z) { return (int)((uint)bl_mul24(x, y) + (uint)z); }
INLINE uint bl_mad24(uint x, uint y, uint z) { return bl_mul24(x, y) + z; }
