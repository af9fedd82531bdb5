/* Means of areas along one axis: pixel i of an axis covers [i, i + 1) * total / whole of the pixels of the source, where
 * total / whole is the ratio of the sizes in lowest terms. Parts of pixels count in units of which a whole pixel has
 * `whole` and a mean has `total`. */
#ifndef BINDLESS_KERNELS_INCLUDE_AREA_H
#define BINDLESS_KERNELS_INCLUDE_AREA_H

#include "bindless/device.h"

struct cover {
    uint first, last;       /* source pixels */
    uint head, whole, tail; /* parts of the first pixel, of those between, and of the last one */
};

/* The source has less than 2^16 pixels along the axis. */
static inline struct cover cover_of(uint i, uint whole, uint total)
{
    const uint begin = i * total, end = begin + total;
    const uint first = begin / whole, last = (end - 1) / whole;
    return (struct cover){first, last, first == last ? total : (first + 1) * whole - begin, whole, end - last * whole};
}

static inline uint parts_of(struct cover cover, uint pixel)
{
    return pixel == cover.first ? cover.head : pixel == cover.last ? cover.tail : cover.whole;
}

/* Shares of a mean: parts / total. */
struct shares {
    double head, whole, tail;
};

static inline struct shares shares_of(struct cover cover, uint total)
{
    return (struct shares){(double)cover.head / (double)total, (double)cover.whole / (double)total,
                           (double)cover.tail / (double)total};
}

static inline double share_of(struct cover cover, struct shares shares, uint pixel)
{
    return pixel == cover.first ? shares.head : pixel == cover.last ? shares.tail : shares.whole;
}

/* sum / divisor, rounded to nearest, ties to even. */
static inline uint nearest_quotient(ulong sum, ulong divisor)
{
    if ((sum | divisor) >> 32 == 0) { /* a division of 32 bits is much shorter */
        const uint of = (uint)sum, by = (uint)divisor, part = of / by, rest = of - part * by;
        return part + (rest > by - rest || (rest == by - rest && (part & 1) != 0) ? 1 : 0);
    }
    const ulong quotient = sum / divisor, double_rest = 2 * (sum - quotient * divisor);
    return (uint)(quotient + (double_rest > divisor || (double_rest == divisor && (quotient & 1) != 0) ? 1 : 0));
}

static inline uint4 nearest_quotients(ulong4 sums, ulong divisor)
{
    return (uint4)(nearest_quotient(sums.x, divisor), nearest_quotient(sums.y, divisor),
                   nearest_quotient(sums.z, divisor), nearest_quotient(sums.w, divisor));
}

/* Unsigned codes: signed ones without their bias. `lowest` is 1 for normalized signed codes, of which the two lowest mean
 * -1, else 0. */
static inline uint4 unsigned_codes(uint4 codes, uint flip, uint lowest)
{
    codes ^= flip;
    return (uint4)(codes.x > lowest ? codes.x : lowest, codes.y > lowest ? codes.y : lowest,
                   codes.z > lowest ? codes.z : lowest, codes.w > lowest ? codes.w : lowest);
}

#endif
