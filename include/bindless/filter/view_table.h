/* Views of a volume for kernels: what blrDescribeViews writes for each view, BINDLESS_VIEW_NUMBERS floats in vectors of four.
 *
 * A view looks along one axis of the volume, across planes of texels; in these it has the axes across and up. The centre of
 * the first texel is at 0, and pixels count from the foot: the middle of a flat detector, or that of curve.h. A ray to the
 * pixel (column, row) is at
 *
 *     (ACROSS + plane ACROSS_STEP) / DEPTH and (UP + plane UP_STEP) / DEPTH,
 *
 * each of them x + column y + row z of its vector, where planes count from number floor((planes - 1) / 2). All of DEPTH is 0
 * where no ray counts. The fourth number of DEPTH is the axis: 0 for x, with y across and z up; 1 for y, x, z; 2 for z, x, y;
 * those of the next three are lengths of a texel across, up and along.
 *
 * COLUMN, ROW and DISTANCE are linear in x, y, z and 1, of a place beside the middle of the volume. Divided by the distance,
 * they are the place where its ray meets the flat detector.
 *
 * Behind the views are two floats of each column of a curved detector, cos(a c) and sin(a c) / a of curve.h. The vectors of
 * rays are there x cos(a c) + y sin(a c) / a + z row. */
#ifndef BINDLESS_FILTER_VIEW_TABLE_H
#define BINDLESS_FILTER_VIEW_TABLE_H

enum bindless_view_vector {
    BINDLESS_VIEW_DEPTH,
    BINDLESS_VIEW_ACROSS,
    BINDLESS_VIEW_ACROSS_STEP,
    BINDLESS_VIEW_UP,
    BINDLESS_VIEW_UP_STEP,
    BINDLESS_VIEW_COLUMN,
    BINDLESS_VIEW_ROW,
    BINDLESS_VIEW_DISTANCE,
    BINDLESS_VIEW_VECTORS
};
#define BINDLESS_VIEW_NUMBERS (4 * BINDLESS_VIEW_VECTORS)

#endif
