/* Detectors that are curved around the source: the pixels of a row have equal angles between them.
 *
 * A view describes the flat detector that touches it; the column and the row of that place are the foot of the view. With c and
 * r from there, and the angle a from a column to the next one, a ray is, from the source, the vector
 *
 *     cos(a c) to_foot + sin(a c) / a column + r row.
 *
 * A texel that is seen at x, y of the flat detector, in columns and rows from the foot, is at these of the curved one:
 *
 *     c = arctan(a x) / a,  r = y cos(a c) = y / sqrt(1 + (a x)^2),
 *
 * and its distance from the source, beside that of the pixel, is that along the normal of the flat detector over cos(a c). */
#ifndef BINDLESS_FILTER_CURVE_H
#define BINDLESS_FILTER_CURVE_H

#include "bindless/filter/real.h"

/* The angle of a tangent, to 2e-7. */
BINDLESS_INLINE float bindless_arc_tangent(float tangent)
{
    const float size = tangent < 0.0f ? -tangent : tangent;
    const bool is_steep = size > 1.0f;
    const float t = is_steep ? 1.0f / size : size, s = t * t;
    float series = 0.00290340668f;
    series = series * s - 0.01628243f;
    series = series * s + 0.0430384387f;
    series = series * s - 0.0753359844f;
    series = series * s + 0.106546416f;
    series = series * s - 0.142071247f;
    series = series * s + 0.19993053f;
    series = series * s - 0.333330939f;
    const float least = t + t * s * series, angle = is_steep ? 1.57079632679f - least : least;
    return tangent < 0.0f ? -angle : angle;
}

#endif
