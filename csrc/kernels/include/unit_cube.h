/* Geometry of cubemaps: projection of directions, and adjacency of faces, in the order +x -x +y -y +z -z. */
#ifndef BINDLESS_KERNELS_INCLUDE_UNIT_CUBE_H
#define BINDLESS_KERNELS_INCLUDE_UNIT_CUBE_H

#include "unit_axis.h"

/* Intersection of a direction with the cube: s to the right and t downwards on the face, from -1 to 1. */
struct face_point {
    int face;
    float s, t;
};

/* Places s and t, of a vector divided by its largest component. */
UNIT struct face_point face_of(float3 direction)
{
    float3 w = bindless_cube_direction(direction);
    if (w.x == 0.0f && w.y == 0.0f && w.z == 0.0f) w = (float3)(0.0f, 0.0f, 0.0f); /* without signs */
    const float x = __builtin_fabsf(w.x), y = __builtin_fabsf(w.y), z = __builtin_fabsf(w.z);
    const int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    const float major = axis == 2 ? w.z : axis == 1 ? w.y : w.x;
    switch (2 * axis + ((__builtin_astype(major, uint) & 0x80000000u) != 0 ? 1 : 0)) {
    case 0: return (struct face_point){0, -w.z, -w.y};
    case 1: return (struct face_point){1, w.z, -w.y};
    case 2: return (struct face_point){2, w.x, w.z};
    case 3: return (struct face_point){3, w.x, -w.z};
    case 4: return (struct face_point){4, w.x, -w.y};
    default: return (struct face_point){5, -w.x, -w.y};
    }
}

/* (s + 1) / 2, in 1/2^bits. */
UNIT uint face_fraction(float s, int bits)
{
    const float scale = power_of_two(bits - 1);
    return (uint)((int)scale + (int)__builtin_floorf(clean(s) * scale));
}

/* Replaces a texel one step outside its face along one axis by the texel of the adjacent face. Directions are integers:
 * a face has the edge length 2 width. */
UNIT int3 neighbour_of(int width, int3 at)
{
    const int s = 2 * at.x + 1 - width, t = 2 * at.y + 1 - width, face = at.z;
    int x, y, z;
    switch (face) {
    case 0: x = width; y = -t; z = -s; break;
    case 1: x = -width; y = -t; z = s; break;
    case 2: x = s; y = width; z = t; break;
    case 3: x = s; y = -width; z = -t; break;
    case 4: x = s; y = -t; z = width; break;
    default: x = -s; y = -t; z = -width; break;
    }
    const int old = face >> 1;
    const int axis = z > width || z < -width ? 2 : y > width || y < -width ? 1 : x > width || x < -width ? 0 : old;
    if (axis == old) return at;
    const int inner = width - 1;
    x = axis == 0 ? (x > 0 ? width : -width) : old == 0 ? (x > 0 ? inner : -inner) : x;
    y = axis == 1 ? (y > 0 ? width : -width) : old == 1 ? (y > 0 ? inner : -inner) : y;
    z = axis == 2 ? (z > 0 ? width : -width) : old == 2 ? (z > 0 ? inner : -inner) : z;
    int right, down;
    const int onto = 2 * axis + ((axis == 0 ? x : axis == 1 ? y : z) < 0 ? 1 : 0);
    switch (onto) {
    case 0: right = -z; down = -y; break;
    case 1: right = z; down = -y; break;
    case 2: right = x; down = z; break;
    case 3: right = x; down = -z; break;
    case 4: right = x; down = -y; break;
    default: right = -x; down = -y; break;
    }
    return (int3)((right + width - 1) / 2, (down + width - 1) / 2, onto);
}

#endif
