/* Taps along one axis of n texels: indices, weights and derivatives of weights, for one REAL. Included by
 * gradients_part.c for each. Positions count from the centre of the first texel. */

struct NAME(axis) {
    _Alignas(64) REAL weight[4][BLOCK], slope[4][BLOCK], curve[4][BLOCK]; /* the filter, its two derivatives by position */
    _Alignas(64) REAL chain[BLOCK];       /* derivative of the position by the sample's position in level 0 */
    _Alignas(64) int32_t index[4][BLOCK]; /* -1 outside */
};

/* ---------------------------------------------------------------- positions */

/* Limits positions to those at and between the outermost texels' centres; others do not move. */
INLINE void NAME(clip)(REAL last, REAL *restrict at, REAL *restrict chain)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL above = at[i] > 0 ? at[i] : 0;
        chain[i] = above > 0 && above < last ? chain[i] : 0;
        at[i] = above < last ? above : last;
    }
}

/* Mirrors positions at low and low + span. */
INLINE void NAME(reflect)(REAL low, REAL span, REAL *restrict at, REAL *restrict chain)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL from = at[i] - low, far = from < 0 ? -from : from;
        const REAL turns = FLOOR(far / span), rest = far - turns * span;
        const REAL half = turns * (REAL)0.5;
        const int odd = half != FLOOR(half);
        chain[i] = odd != (from < 0) ? -chain[i] : chain[i];
        at[i] = (odd ? span - rest : rest) + low;
    }
}

/* Positions near the image that have the same value. */
static void NAME(fold)(blr_boundary_t boundary, int32_t n, REAL *restrict at, REAL *restrict chain)
{
    const REAL size = (REAL)n, last = size - 1;
    switch (boundary) {
    case BLR_BOUNDARY_EDGE: break;
    case BLR_BOUNDARY_REPEAT:
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL rest = at[i] - size * FLOOR(at[i] / size);
            at[i] = rest >= 0 && rest < size ? rest : 0; /* rounded up to the size, or not a number */
        }
        return;
    case BLR_BOUNDARY_MIRRORED_REPEAT: NAME(reflect)((REAL)-0.5, size, at, chain); break;
    case BLR_BOUNDARY_MIRROR:
        if (n > 1)
            NAME(reflect)(0, last, at, chain);
        break;
    default: /* BORDER: all positions that are further away have the fill value */
        for (uint32_t i = 0; i < BLOCK; i++) {
            const REAL above = at[i] > -4 ? at[i] : -4;
            at[i] = above < size + 4 ? above : size + 4;
        }
        return;
    }
    NAME(clip)(last, at, chain);
}

/* ---------------------------------------------------------------- texels */

/* The texel that has the value at an index, or -1 for the fill value. */
INLINE int32_t NAME(texel_at)(int64_t index, int64_t n, blr_boundary_t boundary)
{
    if (index >= 0 && index < n)
        return (int32_t)index;
    if (boundary == BLR_BOUNDARY_BORDER)
        return -1;
    if (boundary == BLR_BOUNDARY_EDGE)
        return index < 0 ? 0 : (int32_t)(n - 1);
    if (n == 1)
        return 0;
    const int64_t period = boundary == BLR_BOUNDARY_REPEAT            ? n
                           : boundary == BLR_BOUNDARY_MIRRORED_REPEAT ? 2 * n
                                                                      : 2 * n - 2;
    const int64_t rest = index % period, within = rest < 0 ? rest + period : rest;
    const int64_t mirrored = boundary == BLR_BOUNDARY_MIRRORED_REPEAT ? 2 * n - 1 - within : 2 * n - 2 - within;
    return (int32_t)(within < n ? within : mirrored);
}

static void NAME(find_one)(bool ties_to_even, int32_t n, const REAL *restrict at, struct NAME(axis) *restrict axis)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL low = FLOOR(at[i]), rest = at[i] - low, half = low * (REAL)0.5;
        const int up = rest > (REAL)0.5 || (rest == (REAL)0.5 && (!ties_to_even || half != FLOOR(half)));
        const int32_t index = (int32_t)low + up;
        axis->index[0][i] = index >= 0 && index < n ? index : -1;
        axis->weight[0][i] = 1;
        axis->slope[0][i] = axis->curve[0][i] = 0;
    }
}

static void NAME(find_two)(blr_boundary_t boundary, int32_t n, const REAL *restrict at, struct NAME(axis) *restrict axis)
{
    const int32_t after = boundary == BLR_BOUNDARY_BORDER ? -1 : boundary == BLR_BOUNDARY_REPEAT ? 0 : n - 1;
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL low = FLOOR(at[i]), rest = at[i] - low;
        const int32_t index = (int32_t)low;
        axis->index[0][i] = index >= 0 && index < n ? index : -1;
        axis->index[1][i] = index + 1 >= 0 && index + 1 < n ? index + 1 : after;
        axis->weight[0][i] = 1 - rest;
        axis->weight[1][i] = rest;
        axis->slope[0][i] = -1;
        axis->slope[1][i] = 1;
        axis->curve[0][i] = axis->curve[1][i] = 0;
    }
}

/* Filters of four texels: B-splines, or convolutions with the parameter a. */
static void NAME(weigh_four)(blr_interpolation_t interpolation, const REAL *restrict rest, struct NAME(axis) *restrict axis)
{
    const REAL a = interpolation == BLR_INTERPOLATION_CATMULL_ROM ? (REAL)-0.5 : (REAL)-0.75;
    const REAL sixth = (REAL)1 / 6, two_thirds = (REAL)2 / 3, half = (REAL)0.5;
    REAL(*w)[BLOCK] = axis->weight, (*d)[BLOCK] = axis->slope, (*c)[BLOCK] = axis->curve;
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL f = rest[i], g = 1 - f;
        if (interpolation == BLR_INTERPOLATION_CUBIC) {
            w[0][i] = g * g * g * sixth, w[3][i] = f * f * f * sixth;
            w[1][i] = two_thirds - f * f * (1 - half * f), w[2][i] = two_thirds - g * g * (1 - half * g);
            d[0][i] = -half * g * g, d[3][i] = half * f * f;
            d[1][i] = f * ((REAL)1.5 * f - 2), d[2][i] = -g * ((REAL)1.5 * g - 2);
            c[0][i] = g, c[3][i] = f;
            c[1][i] = 3 * f - 2, c[2][i] = 3 * g - 2;
        } else {
            w[0][i] = a * f * g * g, w[3][i] = a * g * f * f;
            w[1][i] = ((a + 2) * f - (a + 3)) * f * f + 1, w[2][i] = ((a + 2) * g - (a + 3)) * g * g + 1;
            d[0][i] = a * g * (g - 2 * f), d[3][i] = -a * f * (f - 2 * g);
            d[1][i] = (3 * (a + 2) * f - 2 * (a + 3)) * f, d[2][i] = -(3 * (a + 2) * g - 2 * (a + 3)) * g;
            c[0][i] = a * (2 * f - 4 * g), c[3][i] = a * (2 * g - 4 * f);
            c[1][i] = 6 * (a + 2) * f - 2 * (a + 3), c[2][i] = 6 * (a + 2) * g - 2 * (a + 3);
        }
    }
}

static void NAME(find_four)(blr_interpolation_t interpolation, blr_boundary_t boundary, int32_t n, const REAL *restrict at,
                            struct NAME(axis) *restrict axis)
{
    const REAL most = 1 << 30;
    REAL rest[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL above = at[i] > -most ? at[i] : -most, within = above < most ? above : most, low = FLOOR(within);
        rest[i] = within - low;
        for (int32_t k = 0; k < 4; k++)
            axis->index[k][i] = NAME(texel_at)((int64_t)low + k - 1, n, boundary);
    }
    NAME(weigh_four)(interpolation, rest, axis);
}

/* Taps at positions, which are folded; chain has the derivatives of the positions. */
INLINE void NAME(find_taps)(const blr_gradients_t *call, uint32_t d, int32_t n, REAL *at, struct NAME(axis) *axis,
                            const uint32_t taps)
{
    const blr_boundary_t boundary = call->boundary[d];
    if (taps == 4) {
        NAME(find_four)(call->interpolation, boundary, n, at, axis);
        return;
    }
    NAME(fold)(boundary, n, at, axis->chain);
    if (taps == 2) {
        NAME(find_two)(boundary, n, at, axis);
        return;
    }
    NAME(find_one)(call->ties_to_even != 0, n, at, axis);
    if (boundary == BLR_BOUNDARY_REPEAT) /* rounded up to the size */
        for (uint32_t i = 0; i < BLOCK; i++)
            axis->index[0][i] = axis->index[0][i] < 0 ? 0 : axis->index[0][i];
}
