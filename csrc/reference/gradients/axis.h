/* Taps along one axis of n texels: indices, weights and derivatives of weights of a block of samples, for one REAL. Included by
 * gradients_part.c for each. */

struct NAME(axis) {
    _Alignas(64) REAL weight[4][BLOCK], slope[4][BLOCK], curve[4][BLOCK]; /* the filter, its two derivatives by position */
    _Alignas(64) REAL chain[BLOCK];       /* derivative of the position by the sample's position in level 0 */
    _Alignas(64) int32_t index[4][BLOCK]; /* -1 outside */
};

/* Positions near the image that have the same value. */
static void NAME(fold)(blr_boundary_t boundary, int32_t n, REAL *restrict at, REAL *restrict chain)
{
#define FOLD(BOUNDARY)                                                                                                   \
    for (uint32_t i = 0; i < BLOCK; i++)                                                                                 \
    at[i] = BINDLESS_JOIN(bindless_fold_with_slope, REAL)(at[i], n, BOUNDARY, &chain[i])
    BINDLESS_FOR_BOUNDARY(boundary, FOLD)
#undef FOLD
}

INLINE void NAME(weigh_axis)(const blr_interpolation_t interpolation, const REAL *restrict rest,
                             struct NAME(axis) *restrict axis)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        BINDLESS_JOIN(bindless_weights, REAL)(rest[i], interpolation, &axis->weight[0][i], BLOCK);
        BINDLESS_JOIN(bindless_slopes, REAL)(rest[i], interpolation, &axis->slope[0][i], BLOCK);
        BINDLESS_JOIN(bindless_curves, REAL)(rest[i], interpolation, &axis->curve[0][i], BLOCK);
    }
}

static void NAME(find_one)(bool ties_to_even, blr_boundary_t boundary, int32_t n, const REAL *restrict at,
                           struct NAME(axis) *restrict axis)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        BINDLESS_JOIN(bindless_find_nearest, REAL)(at[i], n, boundary, ties_to_even, &axis->index[0][i]);
    NAME(weigh_axis)(BLR_INTERPOLATION_NEAREST, at, axis);
}

static void NAME(find_two)(blr_boundary_t boundary, int32_t n, const REAL *restrict at, struct NAME(axis) *restrict axis)
{
    const int32_t after = bindless_texel_after(n, boundary);
    REAL rest[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        rest[i] = BINDLESS_JOIN(bindless_find_two, REAL)(at[i], n, after, &axis->index[0][i], BLOCK);
    NAME(weigh_axis)(BLR_INTERPOLATION_LINEAR, rest, axis);
}

static void NAME(find_four)(blr_interpolation_t interpolation, blr_boundary_t boundary, int32_t n, const REAL *restrict at,
                            struct NAME(axis) *restrict axis)
{
    REAL rest[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL bounded = BINDLESS_JOIN(bindless_bound_with_slope, REAL)(at[i], n, boundary, &axis->chain[i]);
        rest[i] = BINDLESS_JOIN(bindless_find_four, REAL)(bounded, n, boundary, &axis->index[0][i], BLOCK);
    }
    if (interpolation == BLR_INTERPOLATION_CUBIC)
        NAME(weigh_axis)(BLR_INTERPOLATION_CUBIC, rest, axis);
    else
        NAME(weigh_axis)(interpolation == BLR_INTERPOLATION_CATMULL_ROM ? interpolation : BLR_INTERPOLATION_BICUBIC, rest, axis);
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
    if (taps == 2)
        NAME(find_two)(boundary, n, at, axis);
    else
        NAME(find_one)(call->ties_to_even != 0, boundary, n, at, axis);
}
