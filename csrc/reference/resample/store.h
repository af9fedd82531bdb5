/* Conversion of values to the picture's type, for one REAL. Included by resample_part.c for each. */

/* Codes of at most 16 bits: values times scale, rounded to the nearest one, of two the even one or the one away from zero.
 * Not-a-number is 0. */
INLINE void NAME(round_codes)(const REAL *restrict values, uint32_t count, REAL scale, REAL lowest, REAL highest,
                              const bool away_from_zero, int32_t *restrict codes)
{
    for (int32_t i = 0; i < (int32_t)count; i++) {
        const REAL number = values[i] == values[i] ? values[i] * scale : (REAL)0;
        const REAL above = number > lowest ? number : lowest;
        const REAL within = above < highest ? above : highest;
        const REAL even = (within + ROUNDER) - ROUNDER, rest = within - even;
        const REAL up = rest == (REAL)0.5 && within > 0 ? (REAL)1 : rest == (REAL)-0.5 && within < 0 ? (REAL)-1 : (REAL)0;
        codes[i] = (int32_t)(away_from_zero ? even + up : even);
    }
}

/* The same for 32 bits. */
INLINE void NAME(round_words)(const REAL *restrict values, uint32_t count, double scale, double lowest, double highest,
                              const bool away_from_zero, uint32_t *restrict words)
{
    for (uint32_t i = 0; i < count; i++) {
        const double number = values[i] == values[i] ? (double)values[i] * scale : 0.0;
        const double above = number > lowest ? number : lowest;
        const double within = above < highest ? above : highest;
        const double even = (within + 0x1.8p52) - 0x1.8p52, rest = within - even;
        const double up = rest == 0.5 && within > 0 ? 1.0 : rest == -0.5 && within < 0 ? -1.0 : 0.0;
        words[i] = (uint32_t)(int64_t)(away_from_zero ? even + up : even);
    }
}

/* Stores values as elements of the picture's type. */
static void NAME(store_elements)(const struct blr_resample *resample, const REAL *restrict values, uint32_t count, bool codes,
                                 unsigned char *restrict to)
{
    const blr_resampling_t *picture = &resample->picture;
    const struct blr_format *format = resample->texture->format;
    const blr_element_type_t type = picture->value_type;
    const bool away_from_zero = picture->rounding == BLR_ROUNDING_AWAY;
    const REAL largest = format->maximum != 0 ? (REAL)format->maximum : (REAL)1;
    if (type == BLR_ELEMENT_F32 || type == BLR_ELEMENT_F16) {
        const REAL unit = codes ? largest : (REAL)1;
        float *floats = (float *)(void *)to;
        uint16_t *halves = (uint16_t *)(void *)to;
        if (type == BLR_ELEMENT_F16)
            for (uint32_t i = 0; i < count; i++)
                halves[i] = NAME(half_of)(values[i] / unit);
        else if (unit == (REAL)1)
            for (uint32_t i = 0; i < count; i++)
                floats[i] = (float)values[i];
        else
            for (uint32_t i = 0; i < count; i++)
                floats[i] = (float)(values[i] / unit);
        return;
    }
    const struct limits limits = limits_of(type, format);
    const REAL scale = codes ? (REAL)1 : largest;
    if (type == BLR_ELEMENT_S32 || type == BLR_ELEMENT_U32) {
        NAME(round_words)(values, count, (double)scale, limits.lowest, limits.highest, away_from_zero,
                          (uint32_t *)(void *)to);
        return;
    }
    const uint32_t size = blr_element_size(type);
    int32_t rounded[BLOCK];
    for (uint32_t first = 0, now; first < count; first += now) {
        now = count - first < BLOCK ? count - first : BLOCK;
        if (away_from_zero)
            NAME(round_codes)(values + first, now, scale, (REAL)limits.lowest, (REAL)limits.highest, true, rounded);
        else
            NAME(round_codes)(values + first, now, scale, (REAL)limits.lowest, (REAL)limits.highest, false, rounded);
        put_codes(rounded, now, size, to + first * size);
    }
}

static void NAME(store)(const struct blr_resample *resample, const struct blr_resample_part *part, const VALUES *values,
                        uint32_t first, bool codes)
{
    const uint32_t channels = resample->picture.value_channels;
    NAME(store_elements)(resample, values->value + first * channels, part->count * channels, codes,
                         blr_resample_values(resample, part));
}
