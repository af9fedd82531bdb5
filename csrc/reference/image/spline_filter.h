/*
 * Coefficients of interpolating B-splines: the inverse of the filter of their weights along each axis, that of the cubic ones
 * being (1, 4, 1) / 6.
 *
 * The inverse is a recursion forwards and one backwards for each pole. Before its first sample a line continues as its
 * boundary says; a sample that is the pole's reach away has no part in a float.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_SPLINE_FILTER_H
#define BINDLESS_REFERENCE_IMAGE_SPLINE_FILTER_H

#include "runtime/result.h"
#include "spirv/execute/isa_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLR_SPLINE_LANES 16u /* pieces of rows that are filtered together */
#define BLR_SPLINE_POLES 2u

struct blr_spline_pole {
    float pole, gain; /* gain: (1 - p) (1 - 1 / p) */
    uint32_t reach;   /* the pole's power is 4e-12 */
};

struct blr_spline {
    const float *source;
    float *target;
    uint64_t extent[3], size[3]; /* samples of source and target along x, y, z */
    uint64_t margin[3];          /* before and after the source: size is extent + 2 * margin */
    uint64_t count;              /* arrays, one after another */
    uint32_t channels, dimensions;
    blr_spline_boundary_t boundary[3];
    bool fills_margin;           /* with fill, else with the outermost samples */
    float fill;
    struct blr_spline_pole poles[BLR_SPLINE_POLES];
    uint32_t num_poles, reach; /* reach: of all poles together */

    /* derived by blr_spline_filter */
    uint64_t piece, pieces;      /* of a row: all of it, or parts with samples of their neighbours */
    uint64_t panel;              /* floats of neighbouring columns that are filtered together */
};

/* Fills the target, by all threads of the pool. The caller has checked the description, and fills everything but derived
 * members. OUT_OF_MEMORY without scratch memory. */
blr_result_t blr_spline_filter(struct blr_spline *spline);

/* Bytes of scratch memory of the functions below. */
size_t blr_spline_scratch(const struct blr_spline *spline);

/* Filters pieces [begin, end) of rows from the source to the target, numbered through all rows of the target. */
void blr_spline_rows(const struct blr_spline *spline, uint64_t begin, uint64_t end, void *scratch);

/* Filters columns of the target in place along y (axis 1) or z (axis 2): panels [begin, end), numbered through all
 * slices or arrays. */
void blr_spline_columns(const struct blr_spline *spline, unsigned axis, uint64_t begin, uint64_t end, void *scratch);

/* Panels of a slice (axis 1) or of an array (axis 2). */
uint64_t blr_spline_panels(const struct blr_spline *spline, unsigned axis);

#endif
