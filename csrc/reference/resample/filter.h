/* Exact filters of texels, for one REAL. Included by resample_part.c for each. */

/* ---------------------------------------------------------------- any position */

/* Texels of a group along one axis. */
struct NAME(axis) {
    _Alignas(64) REAL weight[BINDLESS_MOST_TAPS][GROUP];
    int64_t offset[BINDLESS_MOST_TAPS][GROUP]; /* bytes from the first texel of the axis; 0 outside */
    bool outside[BINDLESS_MOST_TAPS][GROUP];
};

INLINE void NAME(find_texels_of)(const struct blr_resample *resample, uint32_t d, const double *at, const uint32_t boundary,
                                 struct NAME(axis) *axis)
{
    const blr_interpolation_t interpolation = resample->picture.interpolation;
    const int64_t n = resample->extent[d];
    const uint32_t taps = bindless_taps(interpolation);
    for (uint32_t i = 0; i < GROUP; i++) {
        const double folded = blr_fold(at[i], n, boundary);
        const double from = folded + (double)bindless_tap_shift(taps);
        const double low = taps == 1 ? (double)nearest_texel(folded, resample->picture.ties_to_even != 0) : floor(from);
        const int64_t first = (int64_t)low - bindless_taps_before(taps);
        NAME(bindless_weights)((REAL)(from - low), interpolation, &axis->weight[0][i], GROUP);
        for (uint32_t k = 0; k < taps; k++) {
            const int64_t texel = bindless_tap_at(first + k, n, boundary, taps);
            axis->outside[k][i] = texel < 0;
            axis->offset[k][i] = texel < 0 ? 0 : held_texel(resample, d, texel) * resample->step[d];
        }
    }
}

static void NAME(find_texels)(const struct blr_resample *resample, uint32_t d, const double *at, struct NAME(axis) *axis)
{
#define FIND(BOUNDARY) NAME(find_texels_of)(resample, d, at, BOUNDARY, axis)
    BINDLESS_FOR_BOUNDARY(resample->picture.boundary[d], FIND)
#undef FIND
}

/* An axis that the image lacks. */
static void NAME(lack_axis)(struct NAME(axis) *axis)
{
    for (uint32_t i = 0; i < GROUP; i++) {
        axis->weight[0][i] = 1;
        axis->offset[0][i] = 0;
        axis->outside[0][i] = false;
    }
}

struct NAME(sums) {
    _Alignas(64) REAL value[GROUP], weight[GROUP];
};

/* The sum of weighted texels of one channel; with skip, texels that are not numbers have no weight, and the sum of the
 * other weights is computed. */
INLINE void NAME(sum_texels)(const struct blr_resample *resample, const struct NAME(axis) axes[3], const uint32_t taps[3],
                             uint32_t channel, const bool skip, struct NAME(sums) *sums)
{
    const NAME(gather_t) gather = NAME(gathers)[resample->kind];
    const REAL fill = NAME(fill_of)(resample);
    _Alignas(64) REAL texels[GROUP];
    int64_t offset[GROUP];
    memset(sums, 0, sizeof *sums);
    for (uint32_t kx = 0; kx < taps[0]; kx++) {
        struct NAME(sums) column = {{0}, {0}};
        for (uint32_t kz = 0; kz < taps[2]; kz++) {
            struct NAME(sums) row = {{0}, {0}};
            for (uint32_t ky = 0; ky < taps[1]; ky++) {
                for (uint32_t i = 0; i < GROUP; i++)
                    offset[i] = axes[0].offset[kx][i] + axes[1].offset[ky][i] + axes[2].offset[kz][i];
                gather(resample, resample->texels, offset, channel, texels);
                for (uint32_t i = 0; i < GROUP; i++) {
                    const bool outside = axes[0].outside[kx][i] | axes[1].outside[ky][i] | axes[2].outside[kz][i];
                    const REAL texel = outside ? fill : texels[i];
                    const bool counts = !skip || texel == texel;
                    const REAL weight = axes[1].weight[ky][i], value = weight * (counts ? texel : (REAL)0);
                    row.value[i] = ky == 0 ? value : row.value[i] + value;
                    row.weight[i] += skip && counts ? weight : (REAL)0;
                }
            }
            for (uint32_t i = 0; i < GROUP; i++) {
                const REAL weight = axes[2].weight[kz][i], value = weight * row.value[i];
                column.value[i] = kz == 0 ? value : column.value[i] + value;
                column.weight[i] += weight * row.weight[i];
            }
        }
        for (uint32_t i = 0; i < GROUP; i++) {
            const REAL weight = axes[0].weight[kx][i], value = weight * column.value[i];
            sums->value[i] = kx == 0 ? value : sums->value[i] + value;
            sums->weight[i] += weight * column.weight[i];
        }
    }
}

/* Values at the first GROUP positions of each axis. */
static void NAME(filter_anywhere)(const struct blr_resample *resample, const double *const at[3],
                                  REAL values[BLR_MAX_CHANNELS][GROUP])
{
    struct NAME(axis) axes[3];
    struct NAME(sums) sums, valid;
    uint32_t taps[3] = {1, 1, 1};
    for (uint32_t d = 0; d < 3; d++) {
        if (d >= resample->dimensions) {
            NAME(lack_axis)(&axes[d]);
            continue;
        }
        taps[d] = bindless_taps(resample->picture.interpolation);
        NAME(find_texels)(resample, d, at[d], &axes[d]);
    }
    for (uint32_t c = 0; c < resample->picture.value_channels; c++) {
        NAME(sum_texels)(resample, axes, taps, c, false, &sums);
        if (resample->picture.ignore_nan) {
            NAME(sum_texels)(resample, axes, taps, c, true, &valid);
            for (uint32_t i = 0; i < GROUP; i++)
                if (sums.value[i] != sums.value[i])
                    sums.value[i] = valid.weight[i] != 0 ? valid.value[i] / valid.weight[i] : (REAL)NAN;
        }
        memcpy(values[c], sums.value, sizeof sums.value);
    }
}
