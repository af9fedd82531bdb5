/*
 * Projections of volumes: integrals along rays from a source, or in parallel, to the pixels of a detector.
 *
 * A ray has one sample on each plane of texels across the axis along which its view mainly looks, linear in the plane,
 * zero outside, and the sum is multiplied by the ray's length between two planes. The adjoint adds up the transpose of
 * exactly these sums. All sums are float, in an order that does not depend on the number of threads.
 *
 * Of a detector that is curved around the source, bindless/filter/curve.h says where its pixels are.
 */
#ifndef BINDLESS_REFERENCE_PROJECTIONS_H
#define BINDLESS_REFERENCE_PROJECTIONS_H

#include "bindless/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source and a detector, in texels: the centre of the first texel is at (0.5, 0.5, 0.5). */
typedef struct blr_view_t {
    double source[3];                     /* or the direction of parallel rays */
    double first[3];                      /* centre of the first pixel */
    double column[3];                     /* step to the next pixel of a row */
    double row[3];                        /* step to the next row */
} blr_view_t;

typedef struct blr_projections_t {
    uint32_t size[3];                     /* texels of the volume along x, y, z */
    uint32_t is_parallel;                 /* 1: sources are directions */
    double spacing[3];                    /* lengths of a texel along x, y, z */
    uint32_t columns, rows;               /* pixels of a detector */
    double column_angle;                  /* between the columns of a detector that is curved around the source; 0: it is flat */
    double foot[2];                       /* of a curved one: column and row where the detector of the views touches it */
    uint64_t num_views;
    const blr_view_t *views;
    float *volume;                        /* x first, packed; the adjoint is added to it */
    float *values;                        /* column first, then rows, views; packed; written by the projection */
} blr_projections_t;

/* Computes values of the volume, and returns when they are complete. Views that look along no axis, or rays across the
 * axis of their view, give zeros. INVALID_ARGUMENT for NULL or sizes of 0. */
BLR_API blr_result_t blrProjectVolume(const blr_projections_t *projections);

/* Adds the transpose of the projection, applied to values, to the volume. */
BLR_API blr_result_t blrProjectVolumeAdjoint(const blr_projections_t *projections);

/* Adds to each texel, for each view, the value at the place where the ray through the texel's centre meets the detector,
 * linear between pixels, zero outside, divided by the power of the distance: of the texel's distance from the source,
 * beside the detector's, along the detector's normal, or of a curved detector along the ray. Parallel rays ignore the power. */
BLR_API blr_result_t blrBackProjectVolume(const blr_projections_t *projections, uint32_t power);

/* Writes the rays of each view as numbers that kernels of other devices compute with: 32 floats a view, and two of each
 * column of a curved detector behind them, which bindless/filter/view_table.h describes. The volume and the values may be
 * NULL. */
BLR_API blr_result_t blrDescribeViews(const blr_projections_t *projections, float *table);

#ifdef __cplusplus
}
#endif

#endif
