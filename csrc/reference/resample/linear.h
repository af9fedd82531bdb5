/* Linear filters of one channel at positions whose texels all exist, for one REAL. Included by resample_part.c for each.
 * They do what inside.h does, in two loops without intermediate sums. */

struct NAME(pairs) {
    _Alignas(64) REAL texel[4][LANES];
    _Alignas(64) unsigned char copied[4][LANES * 4];
    _Alignas(64) int64_t offset[LANES / 2];
    _Alignas(64) REAL follows[3][LANES / 2]; /* weights of the following texels */
};

INLINE void NAME(place_pairs)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                              const uint32_t dimensions, struct NAME(pairs) *pairs)
{
    const double *restrict x = at[0] + item, *restrict y = at[1] + item, *restrict z = at[2] + item;
    const int32_t step_x = (int32_t)resample->step[0], step_y = (int32_t)resample->step[1],
                  step_z = (int32_t)resample->step[2];
    int64_t *restrict offset = pairs->offset;
    REAL *restrict follows_x = pairs->follows[0], *restrict follows_y = pairs->follows[1],
                   *restrict follows_z = pairs->follows[2];
    for (int32_t i = 0; i < (int32_t)count; i++) {
        const int32_t low_x = (int32_t)x[i];
        int64_t from = (int64_t)low_x * step_x;
        follows_x[i] = (REAL)(x[i] - (double)low_x);
        if (dimensions > 1) {
            const int32_t low_y = (int32_t)y[i];
            from += (int64_t)low_y * step_y;
            follows_y[i] = (REAL)(y[i] - (double)low_y);
        }
        if (dimensions > 2) {
            const int32_t low_z = (int32_t)z[i];
            from += (int64_t)low_z * step_z;
            follows_z[i] = (REAL)(z[i] - (double)low_z);
        }
        offset[i] = from;
    }
}

INLINE REAL NAME(mix)(REAL a, REAL b, REAL follows) { return (1 - follows) * a + follows * b; }

INLINE void NAME(mix_pairs)(const struct NAME(pairs) *pairs, const REAL *const rows[4], uint32_t count,
                            const uint32_t dimensions, REAL *restrict values)
{
    const REAL *restrict row_0 = rows[0], *restrict row_1 = rows[1], *restrict row_2 = rows[2], *restrict row_3 = rows[3];
    const REAL *restrict x = pairs->follows[0], *restrict y = pairs->follows[1], *restrict z = pairs->follows[2];
    for (int32_t i = 0; i < (int32_t)count; i++) {
        REAL left = row_0[2 * i], right = row_0[2 * i + 1];
        if (dimensions > 1) {
            left = NAME(mix)(left, row_1[2 * i], y[i]);
            right = NAME(mix)(right, row_1[2 * i + 1], y[i]);
        }
        if (dimensions > 2) {
            left = NAME(mix)(left, NAME(mix)(row_2[2 * i], row_3[2 * i], y[i]), z[i]);
            right = NAME(mix)(right, NAME(mix)(row_2[2 * i + 1], row_3[2 * i + 1], y[i]), z[i]);
        }
        values[i] = NAME(mix)(left, right, x[i]);
    }
}

INLINE void NAME(filter_pairs)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                               const uint32_t dimensions, REAL *values)
{
    struct NAME(pairs) pairs;
    const uint32_t rows = 1u << (dimensions - 1), bytes = 2 * resample->texture->pixel_size;
    const unsigned char *first[4] = {NULL};
    const REAL *texels[4] = {NULL};
    for (uint32_t k = 0; k < rows; k++)
        first[k] = resample->origin_texel + (k & 1) * resample->step[1] + (k >> 1) * resample->step[2];
    for (uint32_t done = 0, now; done < count; done += now) {
        now = count - done < LANES / 2 ? count - done : LANES / 2;
        NAME(place_pairs)(resample, at, item + done, now, dimensions, &pairs);
        prefetch_texels((uintptr_t)first[rows - 1] + (uintptr_t)resample->prefetch_offset, pairs.offset, now);
        copy_rows(first, pairs.offset, now, rows, bytes, pairs.copied);
        for (uint32_t k = 0; k < rows; k++)
            texels[k] = NAME(decoded)(resample, pairs.copied[k], 2 * now, pairs.texel[k]);
        NAME(mix_pairs)(&pairs, texels, now, dimensions, values + item + done);
    }
}

static void NAME(filter_linear)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                                REAL *values)
{
    if (resample->dimensions == 1)
        NAME(filter_pairs)(resample, at, item, count, 1, values);
    else if (resample->dimensions == 2)
        NAME(filter_pairs)(resample, at, item, count, 2, values);
    else
        NAME(filter_pairs)(resample, at, item, count, 3, values);
}
