/*
 * Sums of a volume along rays, and their transpose, for blrProjectVolume.
 *
 * A view looks along one axis of the volume; rays cross its planes of texels. Along the other two axes, called across
 * and up, the place of a ray is linear in the number of the plane. A block of rays computes taps and weights of a
 * plane in vectors; the projection and its transpose use the same ones.
 */
#ifndef BINDLESS_REFERENCE_PROJECTIONS_PROJECTIONS_H
#define BINDLESS_REFERENCE_PROJECTIONS_PROJECTIONS_H

#include "bindless/reference_projections.h"
#include "spirv/execute/isa_names.h"

#include <stdbool.h>

#define BLR_RAY_BLOCK 16u

enum blr_axial { ACROSS, UP, ALONG };

/* A view, with its vectors in the order across, up, along; the centre of the first texel is at 0. */
struct blr_axial_view {
    double source[3], first[3], column[3], row[3];
    double spacing[3];
    uint32_t size[3];
    int64_t strides[3];
    bool is_parallel;
    const double (*curve)[2];             /* cosine of each column's angle, and sine / angle of a column; NULL: flat */
    double foot_row;                      /* of a curved detector */
};

/* Rays of a row of the detector, and planes [begin, end) of the volume. */
struct blr_ray_row {
    uint32_t row, columns;
    uint32_t begin, end;
};

/* Column, row and distance of a texel's place on a detector, each linear in x, y, z and 1; column and row are divided by
 * the distance. */
struct blr_detector_map {
    double column[4], row[4], distance[4];
    uint32_t columns, rows;
    uint32_t power;
    bool is_parallel;                     /* the distance is 1 */
    float angle;                          /* between columns of a curved detector, 0 of a flat one; counted from the foot */
    float foot[2];
};

/* The functions of a set of instructions. */
struct blr_projection_set {
    void (*project)(const struct blr_axial_view *view, const struct blr_ray_row *rays, const float *volume, float *values);
    void (*spread)(const struct blr_axial_view *view, const struct blr_ray_row *rays, const float *values, float *volume);
    /* Adds a view's values to a row of `count` texels at (0, y, z). */
    void (*back_project)(const struct blr_detector_map *map, uint32_t y, uint32_t z, const float *values, uint32_t count,
                         float *texels);
};

extern const struct blr_projection_set blr_projection_set;

#endif
