/* Filters of two or four texels along each axis of pictures with three or four channels, and of four with one, at positions
 * whose texels all exist, for one REAL. Included by resample_part.c for each. They do what inside.h does, without copies: a
 * vector has the channels of a texel, or the four texels of a row. */

typedef REAL NAME(texel_t) __attribute__((vector_size(4 * sizeof(REAL))));

/* Four elements of the image, from one of them on. */
INLINE void NAME(read_texel)(const unsigned char *from, const enum blr_texel_kind kind, NAME(texel_t) *texel)
{
    codes_t codes;
    if (kind == BLR_TEXEL_F32) {
        float floats[4];
        memcpy(floats, from, sizeof floats);
        *texel = (NAME(texel_t)){floats[0], floats[1], floats[2], floats[3]};
        return;
    }
    read_codes(from, kind, &codes);
#if defined(__AVX2__)
    *texel = (NAME(texel_t))NUMBERS_OF_CODES((__m128i)codes);
#else
    *texel = (NAME(texel_t)){(REAL)codes[0], (REAL)codes[1], (REAL)codes[2], (REAL)codes[3]};
#endif
}

/* Sums over y, then over x, of count items. The last texel of three channels is read from the channel before it on: what
 * follows it may be no memory. An item is stored with what the next one overwrites. */
INLINE void NAME(sum_items)(const struct blr_resample *resample, const struct NAME(run) *run, uint32_t count,
                            const uint32_t taps, const uint32_t channels, const enum blr_texel_kind kind, REAL *values)
{
    const uint32_t size = resample->texture->pixel_size, stride = resample->picture.value_channels;
    const int64_t step = resample->step[1];
    for (uint32_t i = 0; i < count; i++, values += stride) {
        const unsigned char *first = resample->origin_texel + run->offset[i];
        NAME(texel_t) sum;
        UNROLLED for (uint32_t kx = 0; kx < taps; kx++) {
            const bool last = channels == 3 && kx == taps - 1;
            const unsigned char *texel = first + kx * size - (last ? size / 3 : 0);
            NAME(texel_t) column, row;
            UNROLLED for (uint32_t ky = 0; ky < taps; ky++) {
                NAME(read_texel)(texel + ky * step, kind, &row);
                row *= run->weight[1][ky][i];
                column = ky == 0 ? row : column + row;
            }
            if (last)
                column = (NAME(texel_t)){column[1], column[2], column[3], column[3]};
            column *= run->weight[0][kx][i];
            sum = kx == 0 ? column : sum + column;
        }
        memcpy(values, &sum, sizeof sum);
    }
}

/* The same of one channel, for four items at a time; their number is a multiple of it. */
INLINE void NAME(sum_rows_of_four)(const struct blr_resample *resample, const struct NAME(run) *run, uint32_t count,
                                   const enum blr_texel_kind kind, REAL *values)
{
    const int64_t step = resample->step[1];
    for (uint32_t i = 0; i < count; i += 4) {
        NAME(texel_t) column[4], row, sum;
        UNROLLED for (uint32_t k = 0; k < 4; k++) {
            const unsigned char *first = resample->origin_texel + run->offset[i + k];
            UNROLLED for (uint32_t ky = 0; ky < 4; ky++) {
                NAME(read_texel)(first + ky * step, kind, &row);
                row *= run->weight[1][ky][i + k];
                column[k] = ky == 0 ? row : column[k] + row;
            }
        }
        UNROLLED for (uint32_t kx = 0; kx < 4; kx++) {
            memcpy(&row, run->weight[0][kx] + i, sizeof row);
            row *= (NAME(texel_t)){column[0][kx], column[1][kx], column[2][kx], column[3][kx]};
            sum = kx == 0 ? row : sum + row;
        }
        memcpy(values + i, &sum, sizeof sum);
    }
}

INLINE void NAME(sum_kind)(const struct blr_resample *resample, const struct NAME(run) *run, uint32_t count,
                           const uint32_t taps, const enum blr_texel_kind kind, REAL *values)
{
    if (resample->texture->desc.num_channels == 1)
        NAME(sum_rows_of_four)(resample, run, count, kind, values);
    else if (resample->texture->desc.num_channels == 3)
        NAME(sum_items)(resample, run, count, taps, 3, kind, values);
    else
        NAME(sum_items)(resample, run, count, taps, 4, kind, values);
}

/* Whether vectors are read by so many taps. */
INLINE bool NAME(has_texels)(const struct blr_resample *resample, const uint32_t taps)
{
    const uint32_t channels = resample->texture->desc.num_channels;
    if (resample->dimensions != 2 || !(taps == 4 ? channels != 2 : taps == 2 && channels > 2))
        return false;
    return resample->kind == BLR_TEXEL_U8 || resample->kind == BLR_TEXEL_U16 || resample->kind == BLR_TEXEL_S16 ||
           (resample->kind == BLR_TEXEL_F32 && sizeof(REAL) == sizeof(float));
}

/* Values of count items from item on, of which there are taps along each axis. */
INLINE void NAME(filter_texels)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                                const uint32_t taps, REAL *values)
{
    struct NAME(run) run;
    const uintptr_t last = (uintptr_t)resample->origin_texel + (taps - 1) * (uintptr_t)resample->step[1];
    values += item * resample->picture.value_channels;
    for (uint32_t done = 0, now; done < count; done += now, values += now * resample->picture.value_channels) {
        now = count - done < LANES ? count - done : LANES;
        NAME(begin_run)(resample, at, item + done, now, taps, 1, &run);
        prefetch_texels(last + (uintptr_t)resample->prefetch_offset, run.offset, now);
        switch (resample->kind) {
        case BLR_TEXEL_U8: NAME(sum_kind)(resample, &run, now, taps, BLR_TEXEL_U8, values); break;
        case BLR_TEXEL_U16: NAME(sum_kind)(resample, &run, now, taps, BLR_TEXEL_U16, values); break;
        case BLR_TEXEL_S16: NAME(sum_kind)(resample, &run, now, taps, BLR_TEXEL_S16, values); break;
        default: NAME(sum_kind)(resample, &run, now, taps, BLR_TEXEL_F32, values);
        }
    }
}
