/* Exact filters at positions whose texels all exist, for one REAL. Included by resample_part.c for each.
 *
 * Runs of positions are filtered step by step, each a loop over many of them: rows of texels are copied from the image,
 * decoded, and summed over y and z while the texels of an item are still next to each other; then over x. */

/* Texels of a row of the filter, of as many items as fit LANES. An item has taps x channels lanes. */
struct NAME(run) {
    _Alignas(64) REAL weight[3][BINDLESS_MOST_TAPS][LANES]; /* of y and z, repeated for the lanes of an item; of x, one for each item */
    _Alignas(64) unsigned char copied[BINDLESS_MOST_TAPS][LANES * 4];
    _Alignas(64) REAL texel[BINDLESS_MOST_TAPS][LANES];
    _Alignas(64) REAL column[LANES];
    _Alignas(64) int64_t offset[LANES];
};

/* Weights of count items in the arrays of weights, of which taps are used. */
INLINE void NAME(weigh_items)(const double *restrict at, const int32_t *restrict low, uint32_t count,
                              const blr_interpolation_t interpolation, REAL weights[BINDLESS_MOST_TAPS][LANES])
{
    const double shift = (double)bindless_tap_shift(bindless_taps(interpolation));
    for (int32_t i = 0; i < (int32_t)count; i++)
        NAME(bindless_weights)((REAL)(at[i] + shift - (double)low[i]), interpolation, &weights[0][i], LANES);
}

/* The same for each filter of so many taps, as a constant. */
INLINE void NAME(weigh)(const double *restrict at, const int32_t *restrict low, uint32_t count,
                        const blr_interpolation_t interpolation, const uint32_t taps, REAL weights[BINDLESS_MOST_TAPS][LANES])
{
    switch (taps) {
    case 2: NAME(weigh_items)(at, low, count, BLR_INTERPOLATION_LINEAR, weights); break;
    case 3: NAME(weigh_items)(at, low, count, BLR_INTERPOLATION_QUADRATIC, weights); break;
    case 5: NAME(weigh_items)(at, low, count, BLR_INTERPOLATION_QUARTIC, weights); break;
    case 6: NAME(weigh_items)(at, low, count, BLR_INTERPOLATION_QUINTIC, weights); break;
    default:
        if (interpolation == BLR_INTERPOLATION_CUBIC)
            NAME(weigh_items)(at, low, count, BLR_INTERPOLATION_CUBIC, weights);
        else
            NAME(weigh_items)(at, low, count, interpolation == BLR_INTERPOLATION_CATMULL_ROM ? interpolation
                                                                                             : BLR_INTERPOLATION_BICUBIC,
                              weights);
    }
}

INLINE void NAME(repeat_weights)(const REAL *restrict weights, uint32_t count, const uint32_t lanes, REAL *restrict repeated)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < lanes; k++)
            repeated[i * lanes + k] = weights[i];
}

static void NAME(repeat)(const REAL *restrict weights, uint32_t count, uint32_t lanes, REAL *restrict repeated)
{
    switch (lanes) {
    case 1: NAME(repeat_weights)(weights, count, 1, repeated); break;
    case 2: NAME(repeat_weights)(weights, count, 2, repeated); break;
    case 4: NAME(repeat_weights)(weights, count, 4, repeated); break;
    case 8: NAME(repeat_weights)(weights, count, 8, repeated); break;
    case 16: NAME(repeat_weights)(weights, count, 16, repeated); break;
    default: NAME(repeat_weights)(weights, count, lanes, repeated);
    }
}

/* Offsets of the first texels of the filter, and weights. */
static void NAME(begin_run)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                            const uint32_t taps, uint32_t lanes, struct NAME(run) *run)
{
    const blr_interpolation_t interpolation = resample->picture.interpolation;
    const bool ties_to_even = resample->picture.ties_to_even != 0;
    const double shift = (double)bindless_tap_shift(taps);
    const int32_t before = (int32_t)bindless_taps_before(taps);
    int32_t low[LANES];
    REAL weights[BINDLESS_MOST_TAPS][LANES];
    for (uint32_t d = 0; d < resample->dimensions; d++) {
        const double *restrict from = at[d] + item;
        const int32_t step = (int32_t)resample->step[d];
        if (taps == 1)
            for (int32_t i = 0; i < (int32_t)count; i++)
                low[i] = nearest_texel(from[i], ties_to_even);
        else
            for (int32_t i = 0; i < (int32_t)count; i++)
                low[i] = (int32_t)(from[i] + shift);
        if (d == 0)
            for (int32_t i = 0; i < (int32_t)count; i++)
                run->offset[i] = (int64_t)(low[i] - before) * step;
        else
            for (int32_t i = 0; i < (int32_t)count; i++)
                run->offset[i] += (int64_t)(low[i] - before) * step;
        if (taps == 1)
            continue;
        REAL(*into)[LANES] = d == 0 ? run->weight[0] : weights;
        NAME(weigh)(from, low, count, interpolation, taps, into);
        for (uint32_t k = 0; d > 0 && k < taps; k++)
            NAME(repeat)(weights[k], count, lanes, run->weight[d][k]);
    }
}

/* Copied texels as numbers. */
static const REAL *NAME(decoded)(const struct blr_resample *resample, const unsigned char *copied, uint32_t lanes,
                                 REAL *restrict texels)
{
#define DECODE(ELEMENT, DECODED)                                                                                         \
    {                                                                                                                    \
        const ELEMENT *codes = (const ELEMENT *)(const void *)copied;                                                    \
        for (int32_t i = 0; i < (int32_t)lanes; i++) {                                                                   \
            const ELEMENT code = codes[i];                                                                               \
            texels[i] = (REAL)(DECODED);                                                                                 \
        }                                                                                                                \
        return texels;                                                                                                   \
    }
    if (resample->kind == BLR_TEXEL_F32 && sizeof(REAL) == sizeof(float))
        return (const REAL *)(const void *)copied;
    switch (resample->kind) {
    case BLR_TEXEL_S8: DECODE(int8_t, code)
    case BLR_TEXEL_U8: DECODE(uint8_t, code)
    case BLR_TEXEL_S16: DECODE(int16_t, code)
    case BLR_TEXEL_U16: DECODE(uint16_t, code)
    case BLR_TEXEL_F16: DECODE(uint16_t, blr_lane_from_half(code))
    case BLR_TEXEL_SNORM8: DECODE(int8_t, code < -127 ? -127 : code)
    case BLR_TEXEL_SNORM16: DECODE(int16_t, code < -32767 ? -32767 : code)
    case BLR_TEXEL_S32: DECODE(int32_t, code)
    case BLR_TEXEL_U32: DECODE(uint32_t, code)
    case BLR_TEXEL_F32: DECODE(float, code)
    case BLR_TEXEL_PACKED: break;
    }
#undef DECODE
    const uint32_t channels = resample->texture->desc.num_channels;
    for (uint32_t i = 0; i < lanes / channels; i++)
        for (uint32_t c = 0; c < channels; c++)
            texels[i * channels + c] = (REAL)packed_texel(resample, copied + i * resample->texture->pixel_size, c);
    return texels;
}

/* Sums over y, then over z. */
static const REAL *NAME(sum_columns)(const struct blr_resample *resample, uint32_t count, const uint32_t taps, uint32_t lanes,
                                     struct NAME(run) *run)
{
    const uint32_t rows = resample->dimensions > 1 ? taps : 1, planes = resample->dimensions > 2 ? taps : 1;
    const uint32_t bytes = taps * resample->texture->pixel_size, all = count * lanes;
    const REAL *texels[BINDLESS_MOST_TAPS] = {NULL};
    for (uint32_t kz = 0; kz < planes; kz++) {
        const unsigned char *first[BINDLESS_MOST_TAPS] = {NULL};
        for (uint32_t ky = 0; ky < rows; ky++)
            first[ky] = resample->origin_texel + kz * resample->step[2] + ky * resample->step[1];
        if (kz == planes - 1)
            prefetch_texels((uintptr_t)first[rows - 1] + (uintptr_t)resample->prefetch_offset, run->offset, count);
        copy_rows(first, run->offset, count, rows, bytes, run->copied);
        for (uint32_t ky = 0; ky < rows; ky++)
            texels[ky] = NAME(decoded)(resample, run->copied[ky], all, run->texel[ky]);
        if (rows == 1)
            return texels[0];
        const bool is_first = kz == 0, alone = planes == 1;
        const REAL *restrict weight = run->weight[2][kz];
        REAL *restrict column = run->column;
        for (int32_t i = 0; i < (int32_t)all; i++) {
            REAL row = run->weight[1][0][i] * texels[0][i];
            for (uint32_t ky = 1; ky < taps; ky++)
                row += run->weight[1][ky][i] * texels[ky][i];
            if (alone)
                column[i] = row;
            else if (is_first)
                column[i] = weight[i] * row;
            else
                column[i] += weight[i] * row;
        }
    }
    return run->column;
}

INLINE void NAME(sum_lanes)(const REAL *restrict columns, REAL weight[BINDLESS_MOST_TAPS][LANES], uint32_t count, const uint32_t taps,
                            const uint32_t channels, uint32_t channel, const uint32_t stride, REAL *restrict values)
{
    const uint32_t lanes = taps * channels;
    for (uint32_t i = 0; i < count; i++) {
        const REAL *item = columns + i * lanes + channel;
        REAL sum = taps == 1 ? item[0] : weight[0][i] * item[0];
        for (uint32_t k = 1; k < taps; k++)
            sum += weight[k][i] * item[k * channels];
        values[i * stride] = sum;
    }
}

/* Values of count items from item on. */
INLINE void NAME(filter_inside)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                                const uint32_t taps, VALUES *values)
{
    struct NAME(run) run;
    const uint32_t channels = resample->texture->desc.num_channels, lanes = taps * channels,
                   stride = resample->picture.value_channels;
    for (uint32_t done = 0, now; done < count; done += now) {
        now = count - done < LANES / lanes ? count - done : LANES / lanes;
        NAME(begin_run)(resample, at, item + done, now, taps, lanes, &run);
        const REAL *columns = NAME(sum_columns)(resample, now, taps, lanes, &run);
        if (taps == 1 && stride == channels) {
            memcpy(values->value + (item + done) * stride, columns, now * stride * sizeof *columns);
            continue;
        }
        for (uint32_t c = 0; c < resample->picture.value_channels; c++) {
            REAL *out = values->value + (item + done) * stride + c;
            switch (channels) {
            case 1: NAME(sum_lanes)(columns, run.weight[0], now, taps, 1, c, 1, out); break;
            case 2: NAME(sum_lanes)(columns, run.weight[0], now, taps, 2, c, stride, out); break;
            case 3: NAME(sum_lanes)(columns, run.weight[0], now, taps, 3, c, stride, out); break;
            default: NAME(sum_lanes)(columns, run.weight[0], now, taps, 4, c, stride, out);
            }
        }
    }
}
