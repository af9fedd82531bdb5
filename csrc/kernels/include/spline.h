/* The recursive filter of cubic B-splines: forwards c[i] = s[i] + POLE * c[i - 1], then backwards
 * b[i] = POLE * b[i + 1] + GAIN * c[i].
 *
 * A sample CHUNK positions away has no part in a float, because POLE^16 is 7e-10. A chunk is therefore filtered from the
 * samples of the chunk before it and of the one after it, at the ends of a line by the line's boundary. Steps over a
 * chunk are written out, so that compilers keep it in registers. */
#ifndef BINDLESS_KERNELS_INCLUDE_SPLINE_H
#define BINDLESS_KERNELS_INCLUDE_SPLINE_H

#include "bindless/filter/boundary.h"

#define POLE (-0.26794919243112270647f)
#define GAIN 1.6076951545867363f /* -6 * POLE */
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
