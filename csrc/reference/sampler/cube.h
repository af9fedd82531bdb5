/* Geometry of cubemaps: projection of directions, and adjacency of faces. */
#ifndef BINDLESS_REFERENCE_SAMPLER_CUBE_H
#define BINDLESS_REFERENCE_SAMPLER_CUBE_H

#include <stdint.h>

/* Intersection of a direction with the cube: s to the right and t downwards on the face, from -1 to 1. */
struct blr_cube_point {
    uint32_t face;
    float s;
    float t;
};

/* Projects a direction of any length. A zero direction, or one with NaNs, still has a face. */
struct blr_cube_point blr_cube_project(const float direction[3]);

/* Replaces a texel one step outside its face along one axis by the texel of the adjacent face. */
void blr_cube_neighbour(uint32_t width, uint32_t *face, int64_t *i, int64_t *j);

#endif
