/* What lies outside of an image along one axis of n texels: for each boundary, the only place that has its rules. Positions
 * count from the centre of the first texel.
 *
 * Two families of functions compute in different steps, each as the library whose results it has. `fold` is scipy's: every
 * boundary, positions near the image. `fold_with_slope` is PyTorch's: reflections of any distance, and derivatives. */
#ifndef BINDLESS_REAL
#ifndef BINDLESS_FILTER_BOUNDARY_H
#define BINDLESS_FILTER_BOUNDARY_H

#include "bindless/filter/real.h"

/* In the order of blr_boundary_t and of Boundary in Python, which describe them. */
enum bindless_boundary {
    BINDLESS_BORDER,
    BINDLESS_CONSTANT,
    BINDLESS_EDGE,
    BINDLESS_REPEAT,
    BINDLESS_MIRRORED_REPEAT,
    BINDLESS_MIRROR,
    BINDLESS_WRAP,
    BINDLESS_EXTENT
};
#define BINDLESS_LAST_BOUNDARY BINDLESS_EXTENT
#define BINDLESS_OUTSIDE (-1)             /* index of a texel that has the fill value */
#define BINDLESS_BEYOND (-6)              /* folded position beyond the extent, from which four texels are OUTSIDE */

/* DO(BOUNDARY) for a boundary, as a constant. */
#define BINDLESS_FOR_BOUNDARY(BOUNDARY, DO)                                                                              \
    switch (BOUNDARY) {                                                                                                  \
    case BINDLESS_BORDER: DO(BINDLESS_BORDER); break;                                                                    \
    case BINDLESS_CONSTANT: DO(BINDLESS_CONSTANT); break;                                                                \
    case BINDLESS_EDGE: DO(BINDLESS_EDGE); break;                                                                        \
    case BINDLESS_REPEAT: DO(BINDLESS_REPEAT); break;                                                                    \
    case BINDLESS_MIRRORED_REPEAT: DO(BINDLESS_MIRRORED_REPEAT); break;                                                  \
    case BINDLESS_MIRROR: DO(BINDLESS_MIRROR); break;                                                                    \
    case BINDLESS_EXTENT: DO(BINDLESS_EXTENT); break;                                                                    \
    default: DO(BINDLESS_WRAP);                                                                                          \
    }

/* Whether values continue periodically, and positions outside have places inside. */
BINDLESS_INLINE bool bindless_is_periodic(unsigned int boundary)
{
    return boundary >= BINDLESS_REPEAT && boundary <= BINDLESS_WRAP;
}

/* Whether texels outside have the fill value, of positions that were folded. */
BINDLESS_INLINE bool bindless_has_border(unsigned int boundary)
{
    return boundary == BINDLESS_BORDER || boundary == BINDLESS_EXTENT;
}

/* Whether values change with positions outside of the outermost texels' centres. */
BINDLESS_INLINE bool bindless_moves_outside(unsigned int boundary)
{
    return boundary == BINDLESS_BORDER || boundary == BINDLESS_REPEAT;
}

/* Whether values have derivatives by positions. */
BINDLESS_INLINE bool bindless_has_slopes(unsigned int boundary)
{
    return boundary != BINDLESS_CONSTANT && boundary != BINDLESS_WRAP;
}

/* Whether positions farther than bindless_extent from the outermost texels' centres have the fill value as a whole. */
BINDLESS_INLINE bool bindless_has_extent(unsigned int boundary)
{
    return boundary == BINDLESS_CONSTANT || boundary == BINDLESS_EXTENT;
}
BINDLESS_INLINE float bindless_extent(unsigned int boundary) { return boundary == BINDLESS_CONSTANT ? 0.0f : 0.5f; }

/* Whether texels outside are mirrored at the outer edges of the outermost ones: within the extent, linear filters read the edge. */
BINDLESS_INLINE bool bindless_mirrors_edges(unsigned int boundary)
{
    return boundary == BINDLESS_MIRRORED_REPEAT || boundary == BINDLESS_EXTENT;
}

/* Texels of a period, and of its first part, which the rest mirrors. */
BINDLESS_INLINE bindless_distance bindless_period(bindless_distance n, unsigned int boundary)
{
    return boundary == BINDLESS_REPEAT ? n : bindless_mirrors_edges(boundary) ? 2 * n : 2 * n - 2;
}

/* The texel that has the value at an index, or BINDLESS_OUTSIDE. */
BINDLESS_INLINE bindless_index bindless_texel_at(bindless_index index, bindless_index n, unsigned int boundary)
{
    if (boundary == BINDLESS_EDGE) {
        const bindless_index from_first = index < 0 ? 0 : index;
        return from_first < n - 1 ? from_first : n - 1;
    }
    if (index >= 0 && index < n)
        return index;
    if (boundary == BINDLESS_BORDER || (boundary == BINDLESS_EXTENT && (index < BINDLESS_BEYOND + 3 || index - 3 >= n)))
        return BINDLESS_OUTSIDE;
    if (n == 1)
        return 0;
    const bindless_distance period = bindless_period((bindless_distance)n, boundary);
    const bindless_distance distance = index < 0 ? 0 - (bindless_distance)index : (bindless_distance)index;
    const bindless_distance rest = distance < period ? distance : distance % period; /* divisions are slow */
    const bindless_distance at = index < 0 && rest != 0 ? period - rest : rest;
    return (bindless_index)(at < (bindless_distance)n          ? at
                            : bindless_mirrors_edges(boundary) ? 2 * (bindless_distance)n - 1 - at
                                                               : 2 * (bindless_distance)n - 2 - at);
}

/* The same for a texel of a filter with so many along an axis. B-splines within the extent continue mirrored at the centres of
 * the outermost texels, which positions lie at most half a texel beyond, as ITK's do. */
BINDLESS_INLINE bindless_index bindless_tap_at(bindless_index index, bindless_index n, unsigned int boundary, unsigned int taps)
{
    const bool is_near = index >= BINDLESS_BEYOND + 3 && index - 3 < n;
    return bindless_texel_at(index, n, taps > 2 && boundary == BINDLESS_EXTENT && is_near ? BINDLESS_MIRROR : boundary);
}

#define BINDLESS_REAL float
#include "bindless/filter/boundary.h"
#undef BINDLESS_REAL
#if BINDLESS_HAS_DOUBLE
#define BINDLESS_REAL double
#include "bindless/filter/boundary.h"
#undef BINDLESS_REAL
#endif

#endif
#else

/* Whether the value at a position is the fill value as a whole. Also at not-a-number, of a boundary that has an extent. */
BINDLESS_INLINE bool BINDLESS_OF(bindless_is_beyond)(BINDLESS_REAL at, bindless_index n, unsigned int boundary)
{
    const BINDLESS_REAL extent = (BINDLESS_REAL)bindless_extent(boundary);
    return bindless_has_extent(boundary) && !(at >= -extent && at <= (BINDLESS_REAL)(n - 1) + extent);
}

/* ---------------------------------------------------------------- scipy's steps */

BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_remainder)(BINDLESS_REAL at, BINDLESS_REAL period)
{
    return at - period * BINDLESS_FLOOR(at / period);
}

/* The position inside that has the value of one outside, where values continue periodically; others stay. `wrap` has two
 * texels for one position: from the left it is the last one, from the right the first. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_fold)(BINDLESS_REAL at, bindless_index n, unsigned int boundary)
{
    const BINDLESS_REAL size = (BINDLESS_REAL)n, last = size - 1, middle = (BINDLESS_REAL)0.5;
    if ((at >= 0 && at <= last) || !bindless_is_periodic(boundary))
        return at;
    if (boundary == BINDLESS_REPEAT)
        return BINDLESS_OF(bindless_remainder)(at, size);
    if (boundary == BINDLESS_MIRRORED_REPEAT) {
        const BINDLESS_REAL from_edge = BINDLESS_OF(bindless_remainder)(at + middle, 2 * size) - size;
        return size - middle - (from_edge < 0 ? -from_edge : from_edge);
    }
    if (n == 1)
        return 0;
    if (boundary == BINDLESS_MIRROR) {
        const BINDLESS_REAL from_last = BINDLESS_OF(bindless_remainder)(at, 2 * last) - last;
        return last - (from_last < 0 ? -from_last : from_last);
    }
    return at < 0 ? last - BINDLESS_OF(bindless_remainder)(-at, last) : BINDLESS_OF(bindless_remainder)(at, last);
}

/* ---------------------------------------------------------------- PyTorch's steps */

/* Limits a position to those at and between the outermost texels' centres; others do not move. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_clip)(BINDLESS_REAL at, BINDLESS_REAL last, BINDLESS_REAL *slope)
{
    const BINDLESS_REAL above = at > 0 ? at : 0;
    *slope = at > 0 && at < last ? *slope : 0;
    return above < last ? above : last;
}

/* Mirrors a position at low and low + span. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_reflect)(BINDLESS_REAL at, BINDLESS_REAL low, BINDLESS_REAL span,
                                                            BINDLESS_REAL *slope)
{
    const BINDLESS_REAL from = at - low, far = from < 0 ? -from : from;
    const BINDLESS_REAL turns = BINDLESS_FLOOR(far / span), rest = far - turns * span;
    const BINDLESS_REAL half_turns = turns * (BINDLESS_REAL)0.5;
    const int odd = half_turns != BINDLESS_FLOOR(half_turns);
    *slope = odd != (from < 0) ? -*slope : *slope;
    return (odd ? span - rest : rest) + low;
}

/* A position near the image that has the same value; its slope, the derivative by something, is changed likewise. Of a boundary
 * that has slopes. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_fold_with_slope)(BINDLESS_REAL at, bindless_index n, unsigned int boundary,
                                                                    BINDLESS_REAL *slope)
{
    const BINDLESS_REAL size = (BINDLESS_REAL)n, last = size - 1;
    if (boundary == BINDLESS_EXTENT) {
        const bool beyond = BINDLESS_OF(bindless_is_beyond)(at, n, boundary);
        const BINDLESS_REAL inside = BINDLESS_OF(bindless_clip)(at, last, slope);
        return beyond ? BINDLESS_BEYOND : inside;
    }
    if (boundary == BINDLESS_REPEAT) {
        const BINDLESS_REAL rest = BINDLESS_OF(bindless_remainder)(at, size);
        return rest >= 0 && rest < size ? rest : 0; /* rounded up to the size, or not a number */
    }
    if (boundary == BINDLESS_BORDER) {    /* all positions that are further away have the fill value */
        const BINDLESS_REAL above = at > -4 ? at : -4;
        return above < size + 4 ? above : size + 4;
    }
    if (boundary == BINDLESS_MIRRORED_REPEAT)
        at = BINDLESS_OF(bindless_reflect)(at, (BINDLESS_REAL)-0.5, size, slope);
    if (boundary == BINDLESS_MIRROR && n > 1)
        at = BINDLESS_OF(bindless_reflect)(at, 0, last, slope);
    return BINDLESS_OF(bindless_clip)(at, last, slope);
}

/* A position whose index is an int, of a boundary that has slopes; its slope, the derivative by something, is changed likewise.
 * Texels outside are found by their indices. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_bound_with_slope)(BINDLESS_REAL at, bindless_index n, unsigned int boundary,
                                                                     BINDLESS_REAL *slope)
{
    const BINDLESS_REAL most = (BINDLESS_REAL)(1 << 30), above = at > -most ? at : -most;
    if (!bindless_has_extent(boundary) || !BINDLESS_OF(bindless_is_beyond)(at, n, boundary))
        return above < most ? above : most;
    *slope = 0;
    return BINDLESS_BEYOND;
}

#endif
