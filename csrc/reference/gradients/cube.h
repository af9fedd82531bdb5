/* Directions on the faces of a cubemap, and texels across its edges, for one REAL. Included by gradients_part.c for each.
 *
 * A direction has a largest component, which selects the face, and two others, s and t; u = s / |largest| and
 * v = t / |largest| are from -1 to 1 on the face. At a corner of the cube three texels meet: the fourth tap counts as their
 * mean. */

struct NAME(cube) {
    int32_t face[BLOCK];
    REAL inverse[BLOCK], half_size;       /* 1 / |largest component|; half of the texels along an edge of level 0 */
    REAL at[2][BLOCK];                    /* u and v */
    REAL cot[3][BLOCK];                   /* cotangents of s, t and the largest component */
    REAL first[2][BLOCK];                 /* BACKWARD's gradients of positions, for BACKWARD_BACKWARD */
    int32_t corner[BLOCK];                /* the tap without a texel, or -1 */
    int32_t column[4][BLOCK], row[4][BLOCK], side[4][BLOCK]; /* texels of taps, and their faces */
};

/* Axes of s, t and the largest component of a face, and their signs. */
static const struct {
    int axis[3];
    int sign[3];
} NAME(faces)[6] = {{{2, 1, 0}, {-1, -1, 1}}, {{2, 1, 0}, {1, -1, -1}}, {{0, 2, 1}, {1, 1, 1}},
                    {{0, 2, 1}, {1, -1, -1}}, {{0, 1, 2}, {1, -1, 1}},  {{0, 1, 2}, {-1, -1, -1}}};

/* ---------------------------------------------------------------- directions */

/* Replaces directions and their cotangents by positions on faces and theirs. */
static void NAME(begin_cube)(REAL position[3][BLOCK], REAL cot_position[3][BLOCK], REAL size, struct NAME(cube) *cube)
{
    cube->half_size = size * (REAL)0.5;
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL at[3] = {position[0][i], position[1][i], position[2][i]};
        const REAL cot[3] = {cot_position[0][i], cot_position[1][i], cot_position[2][i]};
        const REAL x = FABS(at[0]), y = FABS(at[1]), z = FABS(at[2]);
        const int axis = z > x && z > y ? 2 : y > x ? 1 : 0;
        const int32_t face = 2 * axis + (at[axis] < 0);
        const int *of = NAME(faces)[face].axis, *sign = NAME(faces)[face].sign;
        const REAL largest = (REAL)sign[2] * at[of[2]], inverse = 1 / largest;
        const bool valid = inverse > 0 && inverse <= MOST;
        cube->face[i] = face;
        cube->inverse[i] = valid ? inverse : 0;
        for (int d = 0; d < 3; d++)
            cube->cot[d][i] = (REAL)sign[d] * cot[of[d]];
        for (int d = 0; d < 2; d++) {
            const REAL u = (REAL)sign[d] * at[of[d]] * cube->inverse[i];
            const REAL within = u >= -1 && u <= 1 ? u : 0;
            cube->at[d][i] = within;
            position[d][i] = (within + 1) * cube->half_size - (REAL)0.5;
            cot_position[d][i] = (cube->cot[d][i] - within * cube->cot[2][i]) * cube->inverse[i] * cube->half_size;
            cube->first[d][i] = 0;
        }
        position[2][i] = cot_position[2][i] = 0;
    }
}

/* Replaces gradients of positions on faces by those of directions. */
static void NAME(finish_cube)(const struct NAME(cube) *cube, REAL grad_position[3][BLOCK])
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        const int *of = NAME(faces)[cube->face[i]].axis, *sign = NAME(faces)[cube->face[i]].sign;
        const REAL inverse = cube->inverse[i], cot = cube->cot[2][i];
        REAL grad[3] = {0, 0, 0};
        for (int d = 0; d < 2; d++) {
            const REAL g = grad_position[d][i] * cube->half_size * inverse, u = cube->at[d][i];
            const REAL again = cube->first[d][i] * cube->half_size * inverse * inverse; /* of the map's second derivative */
            grad[d] = g - again * cot;
            grad[2] += -g * u + again * (2 * u * cot - cube->cot[d][i]);
        }
        for (int d = 0; d < 3; d++)
            grad_position[of[d]][i] = (REAL)sign[d] * grad[d];
    }
}

/* ---------------------------------------------------------------- texels */

/* Taps along one axis of a face; the index may be one texel outside. */
static void NAME(find_cube_taps)(uint32_t taps, int32_t n, const REAL *restrict at, struct NAME(axis) *restrict axis)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        const REAL low = FLOOR(taps == 1 ? at[i] + (REAL)0.5 : at[i]), rest = at[i] - low;
        const int32_t index = (int32_t)low;
        axis->index[0][i] = taps == 1 && index >= n ? n - 1 : index;
        axis->index[1][i] = index + 1;
        axis->weight[0][i] = taps == 1 ? 1 : 1 - rest;
        axis->weight[1][i] = rest;
        axis->slope[0][i] = taps == 1 ? 0 : -1;
        axis->slope[1][i] = 1;
        axis->curve[0][i] = axis->curve[1][i] = 0;
    }
}

/* The texel (x, y) of a face of n texels, of which one coordinate may be a texel outside. */
static void NAME(find_neighbour)(int32_t n, int32_t *x, int32_t *y, int32_t *face)
{
    const int32_t at[2] = {*x, *y};
    /* Twice the distance from the centre of the cube, of the texel's centre; the faces are at n. */
    int32_t point[3], from[3] = {2 * at[0] + 1 - n, 2 * at[1] + 1 - n, n};
    for (int d = 0; d < 2; d++)
        if (at[d] < 0 || at[d] >= n) {
            from[d] = at[d] < 0 ? -n : n;
            from[2] = n - 1;
        }
    for (int d = 0; d < 3; d++)
        point[NAME(faces)[*face].axis[d]] = NAME(faces)[*face].sign[d] * from[d];
    for (int d = 0; d < 3; d++)
        if (point[d] == n || point[d] == -n)
            *face = 2 * d + (point[d] < 0);
    const int *of = NAME(faces)[*face].axis, *sign = NAME(faces)[*face].sign;
    *x = (sign[0] * point[of[0]] + n - 1) / 2;
    *y = (sign[1] * point[of[1]] + n - 1) / 2;
}

/* Texels of all taps, of taps along each axis. */
static void NAME(find_cube_texels)(uint32_t taps, int32_t n, const struct NAME(axis) *axis, struct NAME(cube) *cube)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        cube->corner[i] = -1;
        for (uint32_t k = 0; k < taps * taps; k++) {
            int32_t x = axis[0].index[k % taps][i], y = axis[1].index[k / taps][i], face = cube->face[i];
            const bool beyond_x = x < 0 || x >= n, beyond_y = y < 0 || y >= n;
            if (beyond_x && beyond_y) {
                cube->corner[i] = (int32_t)k;
                x = y = 0;
            } else if (beyond_x || beyond_y) {
                NAME(find_neighbour)(n, &x, &y, &face);
            }
            cube->column[k][i] = x, cube->row[k][i] = y, cube->side[k][i] = face;
        }
    }
}

static void NAME(combine_cube_offsets)(uint32_t all, const struct NAME(cube) *cube, const int64_t strides[5],
                                       OFFSET offset[64][BLOCK])
{
    for (uint32_t k = 0; k < all; k++)
        for (uint32_t i = 0; i < BLOCK; i++)
            offset[k][i] = (OFFSET)(cube->column[k][i] * strides[1] + cube->row[k][i] * strides[2] + cube->side[k][i] * strides[3]);
}

/* Divides the weight of the tap without a texel among the three others. */
static void NAME(spread_corners)(const struct NAME(cube) *cube, REAL weight[64][BLOCK])
{
    for (uint32_t i = 0; i < BLOCK; i++)
        if (cube->corner[i] >= 0) {
            const int32_t corner = cube->corner[i];
            const REAL part = weight[corner][i] / 3;
            for (int32_t k = 0; k < 4; k++)
                weight[k][i] = k == corner ? 0 : weight[k][i] + part;
        }
}

/* Gives the tap without a texel the mean of the others' sums. */
static void NAME(complete_corners)(const struct NAME(cube) *cube, REAL dot[64][BLOCK])
{
    for (uint32_t i = 0; i < BLOCK; i++)
        if (cube->corner[i] >= 0) {
            const int32_t corner = cube->corner[i];
            REAL sum = 0;
            for (int32_t k = 0; k < 4; k++)
                sum += k == corner ? 0 : dot[k][i];
            dot[corner][i] = sum / 3;
        }
}
