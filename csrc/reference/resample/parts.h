/* Exact filters of parts of rows, for one REAL. Included by resample_part.c for each. */

/* Positions that need tests, next to each other. */
struct NAME(others) {
    double at[3][BLOCK];
    uint32_t item[BLOCK];
    uint32_t count;
};

INLINE void NAME(add_other)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item,
                            struct NAME(others) *others)
{
    for (uint32_t d = 0; d < resample->dimensions; d++)
        others->at[d][others->count] = at[d][item];
    others->item[others->count++] = item;
}

/* Sorts a group of positions by kind: those inside stay, others are collected, those without a value get the fill value.
 * Returns whether any position is inside; then all positions left are. */
static bool NAME(sort_group)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                             int32_t *kinds, struct NAME(others) *others)
{
    int32_t outside[GROUP], valueless[GROUP];
    uint32_t some = GROUP;
    if (are_beyond(resample, at, item)) {
        for (uint32_t i = 0; i < GROUP; i++)
            kinds[i] = BEYOND;
        return false;
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        outside[i] = !resample->has_inside;
        valueless[i] = 0;
    }
    for (uint32_t d = 0; d < resample->dimensions; d++) {
        const double *restrict from = at[d] + item;
        const double *interior = resample->interior[d], *range = resample->value_range[d];
        const double first = interior[0], last = interior[1], range_first = range[0], range_last = range[1];
        for (uint32_t i = 0; i < GROUP; i++) {
            outside[i] |= !(from[i] >= first) | !(from[i] <= last);
            valueless[i] |= !(from[i] >= range_first) | !(from[i] <= range_last);
        }
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        kinds[i] = !outside[i] ? INSIDE : valueless[i] ? BEYOND : OTHER;
        some = outside[i] ? some : i;
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        if (kinds[i] == INSIDE)
            continue;
        if (kinds[i] == OTHER && item + i < count)
            NAME(add_other)(resample, at, item + i, others);
        for (uint32_t d = 0; some < GROUP && d < resample->dimensions; d++)
            at[d][item + i] = at[d][item + some];
    }
    return some < GROUP;
}

/* Values of the collected positions. */
static void NAME(filter_others)(const struct blr_resample *resample, struct NAME(others) *others, VALUES *values)
{
    REAL samples[BLR_MAX_CHANNELS][GROUP];
    const uint32_t channels = resample->picture.value_channels;
    complete_group(others->count, resample->dimensions, (double *const[3]){others->at[0], others->at[1], others->at[2]});
    for (uint32_t first = 0; first < others->count; first += GROUP) {
        const double *const at[3] = {others->at[0] + first, others->at[1] + first, others->at[2] + first};
        NAME(filter_anywhere)(resample, at, samples);
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t i = 0; i < GROUP && first + i < others->count; i++)
                values->value[others->item[first + i] * channels + c] = samples[c][i];
    }
}

/* Collects items with texels that are not numbers, and which are to have no weight. */
INLINE void NAME(collect_unknown)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t count,
                                  const int32_t *kinds, const VALUES *values, struct NAME(others) *others)
{
    const uint32_t channels = resample->picture.value_channels;
    for (uint32_t i = 0; i < count; i++) {
        bool unknown = false;
        for (const REAL *value = values->value + i * channels, *end = value + channels; value < end; value++)
            unknown |= *value != *value;
        if (unknown && kinds[i] == INSIDE)
            NAME(add_other)(resample, at, i, others);
    }
}

static void NAME(fill_beyond)(const int32_t *restrict kinds, uint32_t count, uint32_t channels, REAL fill,
                              REAL *restrict values)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; kinds[i] == BEYOND && c < channels; c++)
            values[i * channels + c] = fill;
}

INLINE void NAME(filter_run)(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count,
                             const uint32_t taps, VALUES *values)
{
    const uint32_t channels = resample->texture->desc.num_channels;
    if (taps == 2 && channels == 1)
        NAME(filter_linear)(resample, at, item, count, values->value);
#if SPLINES
    else if (taps == 4 && resample->kind == BLR_TEXEL_F32 && channels == 1 && resample->dimensions == 3)
        filter_cubes(resample, at, item, count, values->value);
#endif
    else if (NAME(has_texels)(resample, taps))
        NAME(filter_texels)(resample, at, item, count, taps, values->value);
    else
        NAME(filter_inside)(resample, at, item, count, taps, values);
}

INLINE void NAME(filter_groups)(const struct blr_resample *resample, uint32_t count, double at[3][BLOCK], const uint32_t taps,
                                VALUES *values)
{
    int32_t kinds[BLOCK];
    struct NAME(others) others;
    uint32_t begin = 0;                   /* of a run of groups with positions inside */
    bool has_kinds = false;
    others.count = 0;
    const bool all_inside = is_all_inside(resample, at, count);
    memset(kinds, 0, sizeof kinds); /* INSIDE */
    for (uint32_t item = 0; item < count && !all_inside; item += GROUP) {
        bool runs = are_inside(resample, at, item);
        has_kinds |= !runs;
        if (!runs)
            runs = NAME(sort_group)(resample, at, item, count, kinds + item, &others);
        if (runs)
            continue;
        if (item > begin)
            NAME(filter_run)(resample, at, begin, item - begin, taps, values);
        begin = item + GROUP;
    }
    if (begin < count)
        NAME(filter_run)(resample, at, begin, (count - begin + GROUP - 1) / GROUP * GROUP, taps, values);
    if (resample->picture.ignore_nan)
        NAME(collect_unknown)(resample, at, count, kinds, values, &others);
    if (has_kinds)
        NAME(fill_beyond)(kinds, count, resample->picture.value_channels, NAME(fill_of)(resample), values->value);
    if (others.count > 0)
        NAME(filter_others)(resample, &others, values);
}

/* Values at count positions, stored row by row; rows are pitch items apart. */
static void NAME(filter_part)(const struct blr_resample *resample, const struct blr_resample_part *part, uint32_t pitch,
                              double at[3][BLOCK])
{
    VALUES values;
    const uint32_t count = (part->rows - 1) * pitch + part->count;
    switch (bindless_taps(resample->picture.interpolation)) {
    case 1: NAME(filter_groups)(resample, count, at, 1, &values); break;
    case 2: NAME(filter_groups)(resample, count, at, 2, &values); break;
#if SPLINES
    case 3: NAME(filter_groups)(resample, count, at, 3, &values); break;
    case 5: NAME(filter_groups)(resample, count, at, 5, &values); break;
    case 6: NAME(filter_groups)(resample, count, at, 6, &values); break;
#endif
    default: NAME(filter_groups)(resample, count, at, 4, &values); break;
    }
    struct blr_resample_part row = *part;
    for (uint32_t r = 0; r < part->rows; r++, row.row++)
        NAME(store)(resample, &row, &values, r * pitch, true);
}
