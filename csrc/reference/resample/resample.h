/*
 * Resampling: a picture of up to three dimensions, at positions from a matrix, an array of vectors, or both.
 *
 * Positions are computed in double precision, every step rounded. A texture unit's samples come from blr_texture_run. Exact
 * values are sums over texels: along y, then along z, then along x, from the first texel to the last, every product and
 * sum rounded to single precision; to double precision for integers of 32 bits, and for others on request. Results are
 * bit-identical everywhere.
 */
#ifndef BINDLESS_REFERENCE_RESAMPLE_RESAMPLE_H
#define BINDLESS_REFERENCE_RESAMPLE_RESAMPLE_H

#include "spirv/execute/isa_names.h"
#include "texture/texture.h"

/* Elements of a row that are computed at a time, and elements that exact filters treat alike. */
#define BLR_RESAMPLE_BLOCK 256u
#define BLR_RESAMPLE_GROUP 16u

/* Texels as the exact filters read them. */
enum blr_texel_kind {
    BLR_TEXEL_S8,
    BLR_TEXEL_U8,
    BLR_TEXEL_S16,
    BLR_TEXEL_U16,
    BLR_TEXEL_F16,
    BLR_TEXEL_F32,
    BLR_TEXEL_SNORM8,                     /* codes, of which the lowest counts as the one above */
    BLR_TEXEL_SNORM16,
    BLR_TEXEL_PACKED,                     /* bit fields: floats, or integers of at most 10 bits */
    BLR_TEXEL_S32,                        /* the following ones are always filtered in double precision */
    BLR_TEXEL_U32
};

struct blr_resample {
    blr_resampling_t picture;             /* checked */
    const struct blr_texture *texture;

    /* derived by blr_resample_run */
    uint32_t dimensions;
    bool projective;
    bool straight;                        /* no vectors and no division: positions along a row go one way */
    bool is_aligned;                      /* all axes are the image's, and texels in a row of elements are few apart */
    enum blr_texel_kind kind;
    bool has_doubles;                     /* filters have double precision */
    bool has_exact_floats;                /* aligned pictures: single precision gives the same values, without rounding */
    bool is_window;
    int64_t extent[3];                    /* of the image, or the larger one of a window; 1 for axes that it lacks */
    int64_t origin[3], window_size[3];    /* texels of the window: the first, and their number */
    int64_t step[3];                      /* bytes from texel to texel along each axis */
    int64_t prefetch_offset;              /* bytes to the texels of the next slice or row, about, or 0 */
    bool has_inside;                      /* positions inside are filtered together */
    const unsigned char *texels;          /* the first texel of the layer */
    const unsigned char *origin_texel;    /* texel (0, 0, 0) of a window's image, were it in memory; else the first */
    /* Positions of exact filters, from the centre of the first texel. */
    double interior[3][2];                /* first and last one at which all texels of the filter exist */
    double value_range[3][2];             /* first and last one whose value is not the fill value as a whole */
};

/* A part of one row of the picture, or of several. */
struct blr_resample_part {
    uint64_t column, row, slice;
    uint32_t count;                       /* columns, up to BLR_RESAMPLE_BLOCK */
    uint32_t rows;                        /* 1, or as many as BLR_RESAMPLE_BLOCK holds, where rows are whole groups */
};

/* Values of a part, in the picture's order: the channels of an item are next to each other. */
struct blr_resample_floats {
    _Alignas(64) float value[BLR_MAX_CHANNELS * BLR_RESAMPLE_BLOCK];
};

struct blr_resample_doubles {
    _Alignas(64) double value[BLR_MAX_CHANNELS * BLR_RESAMPLE_BLOCK];
};

/* The functions of a set of instructions. */
struct blr_resample_set {
    /* Positions of one row along each axis of the image, from an origin. */
    void (*place)(const struct blr_resample *resample, const struct blr_resample_part *part, double origin,
                  double *const at[3]);
    /* Coordinates of the handle, next to each other for each element of one row. */
    void (*coordinates)(const struct blr_resample *resample, const struct blr_resample_part *part, float *coordinates);
    /* Exact values of a part, of one row or several, stored in the picture. */
    void (*filter)(const struct blr_resample *resample, const struct blr_resample_part *part);
    /* Exact values of an aligned picture's elements from begin to end along each axis, all inside. */
    void (*filter_box)(const struct blr_resample *resample, const uint64_t begin[3], const uint64_t end[3]);
    /* Conversion of values of one row, from item first on, to the picture's type. Those of a normalized image are codes or
     * fractions of the largest. */
    void (*store_floats)(const struct blr_resample *resample, const struct blr_resample_part *part,
                         const struct blr_resample_floats *values, uint32_t first, bool codes);
    void (*store_doubles)(const struct blr_resample *resample, const struct blr_resample_part *part,
                          const struct blr_resample_doubles *values, uint32_t first, bool codes);
    /* Up to BLR_RESAMPLE_BLOCK positions of two axes through a lens (filter/lens.h), and a matrix behind it, by rows of four. */
    void (*follow_lens)(const double *numbers, const double *matrix, uint32_t count, double *restrict x, double *restrict y);
};

extern const struct blr_resample_set blr_resample_set;

/* Computes the picture, by all threads of the pool. The caller sets picture and texture. */
void blr_resample_run(struct blr_resample *resample);

/* One row by the texture unit: resample_unit.c. */
void blr_resample_sample(const struct blr_resample *resample, const struct blr_resample_set *set,
                         const struct blr_resample_part *part);

/* Address of an element of the picture. */
static inline void *blr_resample_values(const struct blr_resample *resample, const struct blr_resample_part *part)
{
    const blr_resampling_t *picture = &resample->picture;
    const uint64_t item = (part->slice * picture->size[1] + part->row) * picture->size[0] + part->column;
    return (unsigned char *)picture->values + item * picture->value_channels * blr_element_size(picture->value_type);
}

#endif
