/* One level of a mipmap from the level before, and its transpose for gradients. PASS selects the kernel.
 *
 *     MEANS      texels of the next level: means of the areas that they cover
 *     GRADIENTS  gradients of texels, from their own and those of the next level
 *
 * Arrays are contiguous: [images][z][y][x][channels]. An axis of one texel stays, others have half the texels, rounded down:
 * a texel of the next level covers 2 texels of an axis of even length, and 2 + 1/t of one of length 2 t + 1. A row of numbers
 * is along the first dimension of the launch, y along the second, z and images along the third. Bits 0 to 2 of the mode:
 * the arrays of numbers are halves, in the order of the arguments. */
#include "reals.h"

#define MEANS 0
#define GRADIENTS 1

INLINED uint half_of(uint size) { return size == 1 ? 1 : size / 2; }

/* Neighbouring texels of one axis and their weights, of which the first `count` are used. */
struct taps {
    uint first, count;
    float weight[3];
};

#if PASS == MEANS

/* The texels that a texel of the next level covers. */
INLINED struct taps taps_of(uint i, uint size)
{
    if (size == 1) return (struct taps){0, 1, {1.0f, 0.0f, 0.0f}};
    if (size % 2 == 0) return (struct taps){2 * i, 2, {0.5f, 0.5f, 0.0f}};
    const uint half_size = size / 2;
    const float part = 1.0f / (float)size;
    return (struct taps){2 * i, 3, {(float)(half_size - i) * part, (float)half_size * part, (float)(i + 1) * part}};
}

#else

/* The texels of the next level that cover a texel. */
INLINED struct taps taps_of(uint i, uint size)
{
    const uint half_size = size / 2, to = i / 2;
    const float part = 1.0f / (float)size;
    if (size == 1) return (struct taps){0, 1, {1.0f, 0.0f, 0.0f}};
    if (size % 2 == 0) return (struct taps){to, 1, {0.5f, 0.0f, 0.0f}};
    if (i % 2 == 1) return (struct taps){to, 1, {(float)half_size * part, 0.0f, 0.0f}};
    if (to == 0) return (struct taps){0, 1, {(float)half_size * part, 0.0f, 0.0f}};
    return (struct taps){to - 1, to < half_size ? 2 : 1, {(float)to * part, (float)(half_size - to) * part, 0.0f}};
}

#endif

/* The weighted sum of the texels around one, in an array of these sizes. */
INLINED float sum_of(global const void *array, bool is_half, ulong image, const uint *sizes, const struct taps *taps,
                     uint channel, uint channels)
{
    enum { MOST = PASS == MEANS ? 3 : 2 };
    float sum = 0.0f;
    UNROLLED for (uint z = 0; z < MOST; z++)
        UNROLLED for (uint y = 0; y < MOST; y++)
            UNROLLED for (uint x = 0; x < MOST; x++) {
                if (x >= taps[0].count || y >= taps[1].count || z >= taps[2].count) continue;
                const ulong row = (image * sizes[2] + taps[2].first + z) * sizes[1] + taps[1].first + y;
                const ulong place = (row * sizes[0] + taps[0].first + x) * channels + channel;
                sum += taps[0].weight[x] * taps[1].weight[y] * taps[2].weight[z] * real_at(array, place, is_half);
            }
    return sum;
}

/* A loop over the numbers of an array of these sizes, with their texels and channels. */
#define FOR_NUMBERS(SIZES)                                                                                             \
    for (ulong slice = bindless_global_id(2); slice < images * SIZES[2]; slice += bindless_global_size(2))             \
        for (uint y = (uint)bindless_global_id(1); y < SIZES[1]; y += (uint)bindless_global_size(1))                   \
            for (uint number = (uint)bindless_global_id(0); number < SIZES[0] * channels;                              \
                 number += (uint)bindless_global_size(0))

#if PASS == MEANS

kernel void bindless_pyramid_means(global const void *texels, global void *means, uint size_x, uint size_y, uint size_z,
                                   uint channels, ulong images, uint mode)
{
    const uint sizes[3] = {size_x, size_y, size_z}, halves[3] = {half_of(size_x), half_of(size_y), half_of(size_z)};
    FOR_NUMBERS(halves) {
        const uint x = number / channels, z = (uint)(slice % halves[2]);
        const struct taps taps[3] = {taps_of(x, size_x), taps_of(y, size_y), taps_of(z, size_z)};
        const float mean = sum_of(texels, (mode & 1) != 0, slice / halves[2], sizes, taps, number % channels, channels);
        put_real(means, (slice * halves[1] + y) * ((ulong)halves[0] * channels) + number, mean, (mode & 2) != 0);
    }
}

#else

/* `own` may be null: zeros. */
kernel void bindless_pyramid_gradients(global const void *own, global const void *next, global void *gradients, uint size_x,
                                       uint size_y, uint size_z, uint channels, ulong images, uint mode)
{
    const uint sizes[3] = {size_x, size_y, size_z}, from[3] = {half_of(size_x), half_of(size_y), half_of(size_z)};
    FOR_NUMBERS(sizes) {
        const uint x = number / channels, z = (uint)(slice % size_z);
        const struct taps taps[3] = {taps_of(x, size_x), taps_of(y, size_y), taps_of(z, size_z)};
        const ulong place = (slice * size_y + y) * ((ulong)size_x * channels) + number;
        float sum = sum_of(next, (mode & 2) != 0, slice / size_z, from, taps, number % channels, channels);
        if (own) sum += real_at(own, place, (mode & 1) != 0);
        put_real(gradients, place, sum, (mode & 4) != 0);
    }
}

#endif
