/* The recursive filter of B-splines for one of their poles: forwards c[i] = s[i] + pole * c[i - 1], then backwards
 * b[i] = pole * b[i + 1] + gain * c[i]. The gain is (1 - pole)^2.
 *
 * A sample CHUNK positions away has no part in a float: the pole of cubic B-splines to the 16th is 7e-10, the largest one of
 * quintic ones 1e-6. A chunk is therefore filtered from the samples of the chunk before it and of the one after it, at the ends
 * of a line by the line's boundary. Steps over a chunk are written out, so that compilers keep it in registers. */
#ifndef BINDLESS_KERNELS_INCLUDE_SPLINE_H
#define BINDLESS_KERNELS_INCLUDE_SPLINE_H

#include "bindless/filter/boundary.h"

#define CHUNK 16u

#define EACH(STEP)                                                                                                     \
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)                                                    \
    STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
#define EACH_BACKWARDS(STEP)                                                                                           \
    STEP(15) STEP(14) STEP(13) STEP(12) STEP(11) STEP(10) STEP(9) STEP(8)                                              \
    STEP(7) STEP(6) STEP(5) STEP(4) STEP(3) STEP(2) STEP(1) STEP(0)

/* Continuation of a line: mirrored at the centres of its outermost samples, mirrored at their edges, or periodic. */
enum boundary { MIRROR, MIRRORED_REPEAT, REPEAT };

/* Position in a line of n samples of the sample at any position. */
static inline uint continued(int position, uint n, uint boundary)
{
    const uint continuation = boundary == MIRROR            ? BINDLESS_MIRROR
                              : boundary == MIRRORED_REPEAT ? BINDLESS_MIRRORED_REPEAT
                                                            : BINDLESS_REPEAT;
    return (uint)bindless_texel_at(position, (int)n, continuation);
}

#endif
