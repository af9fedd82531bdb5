/* Means of the areas that the pixels of a smaller image cover, from packed pixels to packed pixels.
 *
 * Codes of 8 and 16 bits are summed as integers, and the mean is rounded once, to nearest even. With REALS pixels are
 * halves or floats: they are weighted by their shares in double precision, along x, then y, then z, and the mean is
 * rounded to single precision, and for halves again. Sums, instead of means, are the result of a step of a reduction that
 * takes one axis at a time, and the source of the next step. */
#include "area.h"
#include "blob.h"
#include "half.h"

/* Types of elements: those of the format word (format.h), and sums, of 64 bits. */
enum element { S8, U8, S16, U16, S32, U32, F16, F32, SUM };

#ifdef REALS
typedef double4 sums;
typedef double sum;
#else
typedef ulong4 sums;
typedef ulong sum;
#endif

static inline uint size_of(uint type) { return type < S16 ? 1 : type < S32 || type == F16 ? 2 : 4; }

static inline sums load_sums(global const sum *at, uint channels)
{
    return (sums)(at[0], channels > 1 ? at[1] : 0, channels > 2 ? at[2] : 0, channels > 3 ? at[3] : 0);
}

static inline void store_sums(global sum *at, uint channels, sums value)
{
    at[0] = value.x;
    if (channels > 1) at[1] = value.y;
    if (channels > 2) at[2] = value.z;
    if (channels > 3) at[3] = value.w;
}

#ifdef REALS

static inline sums load_pixel(global const void *source, struct values pixels, ulong i, uint type, uint lowest)
{
    (void)lowest;
    if (type == SUM) return load_sums((global const sum *)source + i * pixels.channels, pixels.channels);
    const uint4 bits = load_item(pixels, i);
    if (type == F32)
        return (sums)(__builtin_astype(bits.x, float), __builtin_astype(bits.y, float), __builtin_astype(bits.z, float),
                      __builtin_astype(bits.w, float));
    return (sums)(half_bits_to_float(bits.x), half_bits_to_float(bits.y), half_bits_to_float(bits.z),
                  half_bits_to_float(bits.w));
}

static inline uint rounded(sum mean, uint type)
{
    const float value = (float)(mean + 0.0); /* never -0 */
    return type == F32 ? __builtin_astype(value, uint) : float_to_half_bits(value);
}

static inline uint4 means_of(sums total, uint type, ulong divisor)
{
    (void)divisor;
    return (uint4)(rounded(total.x, type), rounded(total.y, type), rounded(total.z, type), rounded(total.w, type));
}

static inline sums sum_of_row(global const void *source, struct values pixels, ulong row, uint type, uint lowest,
                              struct cover x, uint total_x)
{
    const struct shares shares = shares_of(x, total_x);
    sums sum = 0;
    for (uint i = x.first; i <= x.last; ++i)
        sum += share_of(x, shares, i) * load_pixel(source, pixels, row + i, type, lowest);
    return sum;
}

#define WEIGHTS(COVER, TOTAL) const struct shares COVER##_shares = shares_of(COVER, TOTAL)
#define WEIGHT(COVER, PIXEL) share_of(COVER, COVER##_shares, PIXEL)

#else

static inline uint flip_of(uint type) { return type == S8 ? 0x80 : type == S16 ? 0x8000 : 0; }

/* Of codes, products and their sum have 32 bits, because the row has less than 2^16 pixels. */
static inline sums sum_of_row(global const void *source, struct values pixels, ulong row, uint type, uint lowest,
                              struct cover x, uint total_x)
{
    (void)total_x;
    if (type == SUM) {
        sums sum = 0;
        for (uint i = x.first; i <= x.last; ++i)
            sum += (ulong)parts_of(x, i) *
                   load_sums((global const ulong *)source + (row + i) * pixels.channels, pixels.channels);
        return sum;
    }
    uint4 sum = 0;
    for (uint i = x.first; i <= x.last; ++i)
        sum += parts_of(x, i) * unsigned_codes(load_item(pixels, row + i), flip_of(type), lowest);
    return (sums)(sum.x, sum.y, sum.z, sum.w);
}

static inline uint4 means_of(sums total, uint type, ulong divisor)
{
    return nearest_quotients(total, divisor) ^ flip_of(type);
}

#define WEIGHTS(COVER, TOTAL)
#define WEIGHT(COVER, PIXEL) (sum) parts_of(COVER, PIXEL)

#endif

/* size: pixels of the means; length: pixels of the source. divisor: sum of all weights of a mean. */
kernel void NAME(global const void *source, uint from, uint channels, uint length_x, uint length_y, global void *means,
                 uint to, uint result_channels, uint size_x, uint size_y, uint size_z, uint whole_x, uint total_x, uint whole_y,
                 uint total_y, uint whole_z, uint total_z, uint lowest, ulong divisor)
{
    const ulong count = (ulong)size_x * size_y * size_z;
    /* Only the number of channels of sums is used. */
    const struct values pixels = values_of((global void *)source, from == SUM ? 1 : size_of(from), channels, false);
    const struct values results = values_of(means, to == SUM ? 1 : size_of(to), result_channels, false);
    for (ulong n = bindless_global_id(0); n < count; n += bindless_global_size(0)) {
        const uint line = (uint)(n / size_x);
        const struct cover x = cover_of((uint)(n - (ulong)line * size_x), whole_x, total_x);
        const struct cover y = cover_of(line % size_y, whole_y, total_y);
        const struct cover z = cover_of(line / size_y, whole_z, total_z);
        WEIGHTS(y, total_y);
        WEIGHTS(z, total_z);
        sums total = 0;
        for (uint k = z.first; k <= z.last; ++k) {
            sums of_slice = 0;
            for (uint j = y.first; j <= y.last; ++j) {
                const ulong row = ((ulong)k * length_y + j) * length_x;
                of_slice += WEIGHT(y, j) * sum_of_row(source, pixels, row, from, lowest, x, total_x);
            }
            total += WEIGHT(z, k) * of_slice;
        }
        if (to == SUM)
            store_sums((global sum *)means + n * result_channels, result_channels, total);
        else
            store_item(results, n, means_of(total, to, divisor), false);
    }
}
