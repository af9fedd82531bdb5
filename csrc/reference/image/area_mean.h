/*
 * Means of areas: every pixel of the destination is the mean of the part of the source that it covers.
 *
 * Pixel i of an axis of size n covers [i, i + 1) * length / n of the source. Codes of 8 and 16 bits are summed as
 * integers, and the mean is rounded once, to nearest even: it is exact. Other pixels are weighted by their share of the
 * mean, in double precision, along x, then y, then z, from the first to the last; the result is rounded once (halves:
 * to single precision and then to half).
 */
#ifndef BINDLESS_REFERENCE_IMAGE_AREA_MEAN_H
#define BINDLESS_REFERENCE_IMAGE_AREA_MEAN_H

#include "image/pixel_format.h"
#include "spirv/execute/isa_names.h"

#include <stddef.h>

/* The source pixels of a destination pixel along an axis. Parts count in units of which a pixel has axis.whole and a
 * mean has axis.total; shares are parts / total. */
struct blr_area_cover {
    uint32_t first, count;
    uint32_t head, tail; /* parts of the first and last pixel; those between are whole */
    double head_share, tail_share;
};

struct blr_area_axis {
    uint32_t length, size;
    uint32_t whole, total; /* size and length, divided by their greatest common divisor */
    double whole_share;
    const struct blr_area_cover *cover; /* one for each destination pixel */
};

/* Types of sums of codes: the narrowest that holds them. */
enum blr_area_sums {
    BLR_AREA_SUM16,   /* 16 bits for columns, 32 bits for means, whose quotients are exact enough in single precision */
    BLR_AREA_SUM32,
    BLR_AREA_SUM64,
    BLR_AREA_SUM_REAL /* doubles: pixels that are not codes of 8 or 16 bits */
};

struct blr_area {
    const unsigned char *source;
    unsigned char *destination;
    uint64_t source_row_pitch, source_slice_pitch, destination_row_pitch, destination_slice_pitch;
    uint32_t source_channels, channels; /* channels of the destination: the first ones of the source */
    const struct blr_format *format;
    bool unrounded;                     /* the destination has floats: means of stored codes */
    struct blr_area_axis axis[3];

    /* derived by blr_area_mean */
    enum blr_area_sums sums;
    uint32_t flip, lowest;              /* a code becomes unsigned by flip, and is at least lowest then */
    uint64_t divisor;                   /* product of the totals */
};

/* Computes all means, by all threads of the pool. The caller has checked the description, and fills everything but
 * covers and derived members. OUT_OF_MEMORY without room for the tables. */
blr_result_t blr_area_mean(struct blr_area *area);

typedef void (*blr_area_rows_t)(const struct blr_area *area, uint64_t begin, uint64_t end, void *scratch);

/* Whether means are those of two by two pixels in every channel, of types that have code for them, which needs neither
 * covers nor scratch memory. */
static inline bool blr_area_halves(const struct blr_area *area)
{
    return area->divisor == 4 && area->axis[0].total == 2 && area->axis[1].total == 2 &&
           area->channels == area->source_channels && !area->unrounded &&
           (area->format->storage == BLR_ELEMENT_F32 || (area->sums == BLR_AREA_SUM16 && area->flip == 0));
}

/* Fills the derived members for callers of blr_area_best_rows; false where the means need more than blr_area_halves. */
bool blr_area_prepare_halving(struct blr_area *area);

/* blr_area_rows for the processor's best instructions. */
blr_area_rows_t blr_area_best_rows(void);

/* Computes rows [begin, end) of the destination, numbered through all slices, with scratch memory of
 * blr_area_scratch bytes, aligned to 64. */
void blr_area_rows(const struct blr_area *area, uint64_t begin, uint64_t end, void *scratch);
size_t blr_area_scratch(const struct blr_area *area);

#endif
