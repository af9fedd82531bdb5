/* Taps of a filter along one axis of n texels: the indices of its texels, and the fraction of which weights.h computes weights
 * and derivatives. Index k is stored `stride` numbers after index k - 1; it is BINDLESS_OUTSIDE where the texel has the fill
 * value. Positions count from the centre of the first texel. */
#ifndef BINDLESS_REAL
#ifndef BINDLESS_FILTER_TAPS_H
#define BINDLESS_FILTER_TAPS_H

#include "bindless/filter/boundary.h"
#include "bindless/filter/weights.h"

/* The second texel of bindless_find_two where the first one is the last of the axis. */
BINDLESS_INLINE int bindless_texel_after(int n, unsigned int boundary)
{
    return bindless_has_border(boundary) ? BINDLESS_OUTSIDE : boundary == BINDLESS_REPEAT ? 0 : n - 1;
}

#define BINDLESS_REAL float
#include "bindless/filter/taps.h"
#undef BINDLESS_REAL
#if BINDLESS_HAS_DOUBLE
#define BINDLESS_REAL double
#include "bindless/filter/taps.h"
#undef BINDLESS_REAL
#endif

#endif
#else

/* The texel nearest to a position from bindless_fold_with_slope; of two, the even or the upper one. */
BINDLESS_INLINE void BINDLESS_OF(bindless_find_nearest)(BINDLESS_REAL at, int n, unsigned int boundary, bool ties_to_even,
                                                        int *index)
{
    const BINDLESS_REAL middle = (BINDLESS_REAL)0.5, low = BINDLESS_FLOOR(at), rest = at - low, half_low = low * middle;
    const int up = rest > middle || (rest == middle && (!ties_to_even || half_low != BINDLESS_FLOOR(half_low)));
    const int nearest = (int)low + up;
    *index = nearest >= 0 && nearest < n ? nearest : boundary == BINDLESS_REPEAT ? 0 : BINDLESS_OUTSIDE; /* up to the size */
}

/* The two texels around a position from bindless_fold_with_slope; `after` is bindless_texel_after. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_find_two)(BINDLESS_REAL at, int n, int after, int *index,
                                                             unsigned int stride)
{
    const BINDLESS_REAL low = BINDLESS_FLOOR(at);
    const int first = (int)low;
    index[0] = first >= 0 && first < n ? first : BINDLESS_OUTSIDE;
    index[stride] = first + 1 >= 0 && first + 1 < n ? first + 1 : after;
    return at - low;
}

/* The four texels around a position from bindless_bound_with_slope. */
BINDLESS_INLINE BINDLESS_REAL BINDLESS_OF(bindless_find_four)(BINDLESS_REAL at, int n, unsigned int boundary, int *index,
                                                              unsigned int stride)
{
    const BINDLESS_REAL low = BINDLESS_FLOOR(at);
    const bindless_index first = (bindless_index)low - 1;
    index[0] = (int)bindless_tap_at(first, n, boundary, 4);
    index[stride] = (int)bindless_tap_at(first + 1, n, boundary, 4);
    index[2 * stride] = (int)bindless_tap_at(first + 2, n, boundary, 4);
    index[3 * stride] = (int)bindless_tap_at(first + 3, n, boundary, 4);
    return at - low;
}

#endif
