/* One or two levels of a mipmap from the level above: every pixel is the mean of the pixels that it covers.
 *
 * An axis of length n has max(n / 2, 1) pixels in the next level. The means are those of area.cl: integers of 8 and 16
 * bits are summed as such, and rounded once; other pixels are weighted in double precision, along x, then y, then z, and
 * rounded once (halves: to single precision first). The second level comes from the stored pixels of the first.
 *
 * Images are unsampled; width, height and depth are those of the source. `second` is 0 for one level. The kernel reads
 * only the image's part of the format. */
#include "area.h"
#include "items.h"
#include "texel.h"

struct extent {
    uint x, y, z;
};

struct reduction {
    ulong source, first; /* images */
    struct extent length; /* of the source */
    uint format;
    uint flip, lowest;    /* see unsigned_codes */
};

#if DIMENSIONS == 1
#define PIXEL(X, Y, Z) (int)(X)
#elif DIMENSIONS == 2
#define PIXEL(X, Y, Z) (int2)((int)(X), (int)(Y))
#else
#define PIXEL(X, Y, Z) (int3)((int)(X), (int)(Y), (int)(Z))
#endif

static inline uint halved(uint length) { return length > 1 ? length / 2 : 1; }

static inline struct extent halved_extent(struct extent length)
{
    return (struct extent){halved(length.x), halved(length.y), halved(length.z)};
}

/* Pairs of an even length; of an odd length 2 t + 1 each mean has 2 + 1 / t pixels. */
static inline uint whole_of(uint length) { return length % 2 == 0 || length == 1 ? 1 : length / 2; }
static inline uint total_of(uint length) { return length == 1 ? 1 : length % 2 == 0 ? 2 : length; }

static inline struct cover halving_cover(uint i, uint length) { return cover_of(i, whole_of(length), total_of(length)); }

static inline bool has_codes(uint format) { return channel_type(format) != FP16 && channel_size(format) < 4; }

/* Pixels of 32-bit integers, floats and halves. */
static inline double value_of(uint bits, uint type)
{
    switch (type) {
    case SIGNED_INT32: return (double)(int)bits;
    case UNSIGNED_INT32: return (double)bits;
    case FP16: return (double)half_bits_to_float(bits);
    default: return (double)__builtin_astype(bits, float);
    }
}

static inline uint bits_of(double mean, uint type)
{
    const float value = (float)(mean + 0.0); /* never -0 */
    switch (type) {
    case SIGNED_INT32: return (uint)(int)__builtin_rint(mean);
    case UNSIGNED_INT32: return (uint)__builtin_rint(mean);
    case FP16: return float_to_half_bits(value);
    default: return __builtin_astype(value, uint);
    }
}

static inline double4 values_of_texel(uint4 bits, uint type)
{
    return (double4)(value_of(bits.x, type), value_of(bits.y, type), value_of(bits.z, type), value_of(bits.w, type));
}

/* The mean at a pixel of the level below one of `length` pixels, whose pixels READ gives; as stored bits. */
#define MEAN_OF_CODES(NAME, READ)                                                                                      \
    static inline uint4 NAME(struct reduction of, struct extent at, struct extent length)                              \
    {                                                                                                                  \
        const struct cover x = halving_cover(at.x, length.x), y = halving_cover(at.y, length.y);                       \
        const struct cover z = halving_cover(at.z, length.z);                                                          \
        ulong4 sum = 0;                                                                                                \
        for (uint k = z.first; k <= z.last; ++k)                                                                       \
            for (uint j = y.first; j <= y.last; ++j)                                                                   \
                for (uint i = x.first; i <= x.last; ++i) {                                                             \
                    const uint4 codes = unsigned_codes(READ(of, i, j, k), of.flip, of.lowest);                         \
                    sum += (ulong)parts_of(x, i) * parts_of(y, j) * parts_of(z, k) *                                   \
                           (ulong4)(codes.x, codes.y, codes.z, codes.w);                                               \
                }                                                                                                      \
        const ulong divisor = (ulong)total_of(length.x) * total_of(length.y) * total_of(length.z);                     \
        return nearest_quotients(sum, divisor) ^ of.flip;                                                              \
    }

#define MEAN_OF_REALS(NAME, READ)                                                                                      \
    static inline uint4 NAME(struct reduction of, struct extent at, struct extent length)                              \
    {                                                                                                                  \
        const struct cover x = halving_cover(at.x, length.x), y = halving_cover(at.y, length.y);                       \
        const struct cover z = halving_cover(at.z, length.z);                                                          \
        const struct shares along_x = shares_of(x, total_of(length.x)), along_y = shares_of(y, total_of(length.y));    \
        const struct shares along_z = shares_of(z, total_of(length.z));                                                \
        const uint type = channel_type(of.format);                                                                     \
        double4 mean = 0;                                                                                              \
        for (uint k = z.first; k <= z.last; ++k) {                                                                     \
            double4 of_slice = 0;                                                                                      \
            for (uint j = y.first; j <= y.last; ++j) {                                                                 \
                double4 of_row = 0;                                                                                    \
                for (uint i = x.first; i <= x.last; ++i)                                                               \
                    of_row += share_of(x, along_x, i) * values_of_texel(READ(of, i, j, k), type);                      \
                of_slice += share_of(y, along_y, j) * of_row;                                                          \
            }                                                                                                          \
            mean += share_of(z, along_z, k) * of_slice;                                                                \
        }                                                                                                              \
        return (uint4)(bits_of(mean.x, type), bits_of(mean.y, type), bits_of(mean.z, type), bits_of(mean.w, type));    \
    }

/* A pixel of the first level, which several work-items may compute and store. */
#define FIRST_LEVEL(NAME, MEAN)                                                                                        \
    static inline uint4 NAME(struct reduction of, uint x, uint y, uint z)                                              \
    {                                                                                                                  \
        const uint4 bits = MEAN(of, (struct extent){x, y, z}, of.length);                                              \
        write_texel(of.first, 0, PIXEL(x, y, z), bits, of.format);                                                     \
        return bits;                                                                                                   \
    }

static inline uint4 stored_bits(struct reduction of, uint x, uint y, uint z)
{
    return unpack(read_texel(of.source, 0, PIXEL(x, y, z), of.format), channel_size(of.format));
}

MEAN_OF_CODES(mean_of_codes, stored_bits)
FIRST_LEVEL(first_codes, mean_of_codes)
MEAN_OF_CODES(second_codes, first_codes)

MEAN_OF_REALS(mean_of_reals, stored_bits)
FIRST_LEVEL(first_reals, mean_of_reals)
MEAN_OF_REALS(second_reals, first_reals)

#define MAKE_LEVELS(FIRST, SECOND)                                                                                     \
    for (ulong n = bindless_global_id(0); n < count; n += bindless_global_size(0)) {                                   \
        const uint line = (uint)(n / size.x), slice = line / size.y;                                                   \
        const struct extent at = {(uint)(n - (ulong)line * size.x), line - slice * size.y, slice};                     \
        if (second != 0)                                                                                               \
            write_texel(second, 0, PIXEL(at.x, at.y, at.z), SECOND(of, at, above), format);                            \
        else                                                                                                           \
            FIRST(of, at.x, at.y, at.z);                                                                               \
    }

kernel void KERNEL(downsample)(ulong source, ulong first, ulong second, uint width, uint height, uint depth, uint format)
{
    const uint type = channel_type(format);
    const bool is_signed = type <= SNORM_INT16 || type == SIGNED_INT8 || type == SIGNED_INT16;
    const struct reduction of = {
        .source = source,
        .first = first,
        .length = {width, DIMENSIONS > 1 ? height : 1, DIMENSIONS > 2 ? depth : 1},
        .format = format,
        .flip = is_signed ? 1u << (8 * channel_size(format) - 1) : 0,
        .lowest = type <= SNORM_INT16 ? 1 : 0,
    };
    const struct extent above = halved_extent(of.length), size = second != 0 ? halved_extent(above) : above;
    const ulong count = (ulong)size.x * size.y * size.z;
    if (has_codes(format)) {
        MAKE_LEVELS(first_codes, second_codes)
    } else {
        MAKE_LEVELS(first_reals, second_reals)
    }
}
