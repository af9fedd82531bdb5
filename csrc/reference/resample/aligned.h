/* Exact filters of pictures whose axes are the image's, at positions whose texels all exist or repeat the outermost ones,
 * for one REAL. Included by resample_part.c for each.
 *
 * They do what inside.h and filter.h do. The elements of a row have the same weights along y and z: the texels of the
 * image's rows are summed once, each for all elements that read it, and the weights along x serve all rows. An element of
 * a strip is one channel of a column. */

#define STRIP 1024u                       /* most elements of a strip, and of those that it reads but for the last ones */
#define SPAN (STRIP + 64u)                /* elements that a strip reads, and room to read vectors */
#define STREAM_FROM ((uint64_t)16 << 20) /* bytes of a picture that leaves the caches before it is read */

typedef REAL NAME(texel) __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

struct NAME(strip) {
    _Alignas(64) REAL weight[BINDLESS_MOST_TAPS][STRIP]; /* along x, for each element or column */
    _Alignas(64) REAL sum[SPAN];          /* of the texels along y and z */
    _Alignas(64) REAL value[STRIP + 4];
    _Alignas(64) REAL texel[BINDLESS_MOST_TAPS][SPAN]; /* of rows, as numbers */
    const unsigned char *row[BINDLESS_MOST_TAPS]; /* their first texels */
    _Alignas(64) int32_t place[STRIP];    /* of an element's first texel among the sums */
    _Alignas(64) int32_t order[STRIP * WORDS]; /* of dense vectors */
    int32_t base[STRIP / 4];              /* least place of a vector of elements */
    bool is_dense;                        /* vectors of elements are picked from vectors of sums */
    bool has_columns;                     /* else columns of three or four channels, whose elements share a weight */
    uint32_t columns, elements;
    int64_t first;                        /* texel of the first sum */
    uint32_t span;                        /* sums, in texels */
};

/* Places of elements, from the first texels of their columns. */
INLINE void NAME(place_elements)(const int32_t *restrict low, uint32_t columns, int32_t first, const uint32_t channels,
                                 int32_t *restrict places)
{
    for (int32_t i = 0; i < (int32_t)columns; i++)
        for (uint32_t c = 0; c < channels; c++)
            places[i * (int32_t)channels + (int32_t)c] = (low[i] - first) * (int32_t)channels + (int32_t)c;
}

/* Finds out where vectors of elements read, and whether they are dense. */
static void NAME(find_bases)(struct NAME(strip) *strip)
{
    strip->is_dense = VECTOR > 0;
#if PICK_BYTES
    for (uint32_t e = 0; e < strip->elements && strip->is_dense; e += VECTOR) {
        const int32_t *place = strip->place + e;
        const uint32_t count = strip->elements - e < VECTOR ? strip->elements - e : VECTOR;
        int32_t least = place[0], largest = place[0];
        for (uint32_t i = 0; i < count; i++) {
            least = place[i] < least ? place[i] : least;
            largest = place[i] > largest ? place[i] : largest;
        }
        strip->base[e / VECTOR] = least;
        strip->is_dense = largest - least < (int32_t)VECTOR;
        for (uint32_t i = 0; i < VECTOR; i++)
            NAME(set_order)(i < count ? place[i] - least : 0, strip->order + (e + i) * WORDS);
    }
#endif
}

/* Finds the texels of the columns from begin on, and their weights. */
static void NAME(place_strip)(const struct blr_resample *resample, const uint64_t begin[3], uint32_t columns,
                              const uint32_t taps, struct NAME(strip) *strip)
{
    const uint32_t channels = resample->texture->desc.num_channels;
    const bool ties_to_even = resample->picture.ties_to_even != 0;
    double x[STRIP];
    int32_t low[STRIP], least = INT32_MAX, last = INT32_MIN;
    struct blr_resample_part part = {.row = begin[1], .slice = begin[2], .rows = 1};
    strip->columns = columns;
    strip->elements = columns * channels;
    for (uint32_t done = 0; done < columns; done += part.count) {
        part.column = begin[0] + done;
        part.count = columns - done < BLOCK ? columns - done : BLOCK;
        double rows[2][BLOCK];
        place(resample, &part, resample->picture.centre, (double *const[3]){x + done, rows[0], rows[1]});
    }
    for (int32_t i = 0; i < (int32_t)columns; i++) {
        low[i] = taps == 1 ? nearest_texel(x[i], ties_to_even) : (int32_t)floor(x[i] + (double)bindless_tap_shift(taps));
        least = low[i] < least ? low[i] : least;
        last = low[i] > last ? low[i] : last;
    }
    strip->first = least - (int32_t)bindless_taps_before(taps);
    strip->span = (uint32_t)(last - least) + taps;
    memset(strip->row, 0, sizeof strip->row);
    switch (channels) {
    case 1: NAME(place_elements)(low, columns, least, 1, strip->place); break;
    case 2: NAME(place_elements)(low, columns, least, 2, strip->place); break;
    case 3: NAME(place_elements)(low, columns, least, 3, strip->place); break;
    default: NAME(place_elements)(low, columns, least, 4, strip->place); break;
    }
    NAME(find_bases)(strip);
    strip->has_columns = !strip->is_dense && channels > 2;
    for (uint32_t done = 0, now; taps > 1 && done < columns; done += now) {
        REAL weights[BINDLESS_MOST_TAPS][LANES];
        now = columns - done < LANES ? columns - done : LANES;
        NAME(weigh)(x + done, low + done, now, resample->picture.interpolation, taps, weights);
        const uint32_t each = strip->has_columns ? 1 : channels;
        for (uint32_t k = 0; k < taps; k++)
            NAME(repeat)(weights[k], now, each, strip->weight[k] + done * each);
    }
}

/* The texel along an axis, of which those before the first and after the last one are repeated. */
static int64_t NAME(texel_of)(const struct blr_resample *resample, uint32_t d, int64_t texel)
{
    return resample->is_window ? texel : bindless_texel_at(texel, resample->extent[d], BINDLESS_EDGE);
}

/* Sums over y of count elements; sums over z begin with them, and go on with those of further planes. */
INLINE void NAME(sum_plane)(const REAL *const texels[BINDLESS_MOST_TAPS], const REAL weight[BINDLESS_MOST_TAPS],
                            const REAL z, uint32_t count, const uint32_t taps, const bool is_plane, const bool begins,
                            REAL *restrict sum)
{
    for (int32_t i = 0; i < (int32_t)count; i++) {
        REAL value = weight[0] * texels[0][i];
        if (taps > 1)
            value += weight[1] * texels[1][i];
        if (taps > 2)
            value += weight[2] * texels[2][i];
        if (taps > 3)
            value += weight[3] * texels[3][i];
        if (taps > 4)
            value += weight[4] * texels[4][i];
        if (taps > 5)
            value += weight[5] * texels[5][i];
        sum[i] = is_plane ? value : begins ? z * value : sum[i] + z * value;
    }
}

/* The sums of the texels that a row of the strip reads. Rows of texels that the row before read are numbers already. */
INLINE void NAME(sum_rows)(const struct blr_resample *resample, const struct blr_resample_part *row, const uint32_t taps,
                           struct NAME(strip) *strip)
{
    const uint32_t channels = resample->texture->desc.num_channels, planes = resample->dimensions > 2 ? taps : 1;
    const int64_t first = NAME(texel_of)(resample, 0, strip->first),
                  end = NAME(texel_of)(resample, 0, strip->first + strip->span - 1) + 1;
    const uint32_t count = (uint32_t)(end - first) * channels;
    const bool are_numbers = resample->kind == BLR_TEXEL_F32 && sizeof(REAL) == sizeof(float);
    REAL weight[3][BINDLESS_MOST_TAPS];
    int64_t texel[3] = {0, 0, 0};         /* the first one along y and z */
    double at[3][1];
    place(resample, row, resample->picture.centre, (double *const[3]){at[0], at[1], at[2]});
    for (uint32_t d = 1; d < resample->dimensions; d++) {
        const bool ties_to_even = resample->picture.ties_to_even != 0;
        const double from = at[d][0] + (double)bindless_tap_shift(taps);
        const int32_t low = taps == 1 ? nearest_texel(at[d][0], ties_to_even) : (int32_t)floor(from);
        NAME(bindless_weights)((REAL)(from - (double)low), resample->picture.interpolation, weight[d], 1);
        texel[d] = (int64_t)low - bindless_taps_before(taps);
    }
    REAL *sum = strip->sum + (first - strip->first) * channels;
    for (uint32_t kz = 0; kz < planes; kz++) {
        const REAL *texels[BINDLESS_MOST_TAPS];
        const int64_t slice = resample->dimensions > 2 ? NAME(texel_of)(resample, 2, texel[2] + kz) * resample->step[2] : 0;
        for (uint32_t ky = 0; ky < taps; ky++) {
            const unsigned char *from = resample->origin_texel + first * resample->step[0] + slice +
                                        NAME(texel_of)(resample, 1, texel[1] + ky) * resample->step[1];
            const uint64_t slot = ((uint64_t)(texel[1] + ky) + ((uint64_t)taps << 32)) % taps;
            texels[ky] = are_numbers ? (const REAL *)(const void *)from : strip->texel[slot];
            if (!are_numbers && strip->row[slot] != from)
                NAME(decoded)(resample, from, count, strip->texel[slot]);
            strip->row[slot] = from;
        }
        if (taps == 1)
            memcpy(sum, texels[0], count * sizeof *sum);
        else if (planes == 1)
            NAME(sum_plane)(texels, weight[1], 1, count, taps, true, true, sum);
        else if (kz == 0)
            NAME(sum_plane)(texels, weight[1], weight[2][0], count, taps, false, true, sum);
        else
            NAME(sum_plane)(texels, weight[1], weight[2][kz], count, taps, false, false, sum);
    }
    for (int64_t before = first - strip->first; before > 0; before--)
        memcpy(strip->sum + (before - 1) * channels, sum, channels * sizeof *sum);
    for (int64_t after = end - strip->first; after < strip->span; after++)
        memcpy(strip->sum + after * channels, strip->sum + (after - 1) * channels, channels * sizeof *sum);
}

/* Sums over x of dense vectors. */
#if PICK_BYTES
INLINE void NAME(sum_vectors)(struct NAME(strip) *strip, const uint32_t channels, const uint32_t taps)
{
    for (uint32_t i = 0; i < strip->elements; i += VECTOR) {
        const REAL *texels = strip->sum + strip->base[i / VECTOR];
        const int32_t *order = strip->order + i * WORDS;
        NAME(vector) sum, texel;
        NAME(pick)(texels, order, &sum);
        if (taps > 1)
            sum = *(const NAME(vector) *)(strip->weight[0] + i) * sum;
        for (uint32_t k = 1; k < taps; k++) {
            NAME(pick)(texels + k * channels, order, &texel);
            sum += *(const NAME(vector) *)(strip->weight[k] + i) * texel;
        }
        *(NAME(vector) *)(strip->value + i) = sum;
    }
}
#endif

/* Sums over x of columns of three or four channels; a fourth one is overwritten by the next column. */
INLINE void NAME(sum_columns_of)(struct NAME(strip) *strip, const uint32_t channels, const uint32_t taps)
{
    for (uint32_t i = 0; i < strip->columns; i++) {
        const REAL *texels = strip->sum + strip->place[i * channels];
        NAME(texel) sum = *(const NAME(texel) *)texels;
        if (taps > 1)
            sum = strip->weight[0][i] * sum;
        for (uint32_t k = 1; k < taps; k++)
            sum += strip->weight[k][i] * *(const NAME(texel) *)(texels + k * channels);
        *(NAME(texel) *)(strip->value + i * channels) = sum;
    }
}

/* Sums over x. */
INLINE void NAME(sum_strip)(struct NAME(strip) *strip, const uint32_t channels, const uint32_t taps)
{
#if PICK_BYTES
    if (strip->is_dense) {
        NAME(sum_vectors)(strip, channels, taps);
        return;
    }
#endif
    if (strip->has_columns) {
        if (channels == 3)
            NAME(sum_columns_of)(strip, 3, taps);
        else
            NAME(sum_columns_of)(strip, 4, taps);
        return;
    }
    for (uint32_t i = 0; i < strip->elements; i++) {
        const REAL *texels = strip->sum + strip->place[i];
        REAL sum = taps == 1 ? texels[0] : strip->weight[0][i] * texels[0];
        for (uint32_t k = 1; k < taps; k++)
            sum += strip->weight[k][i] * texels[k * channels];
        strip->value[i] = sum;
    }
}

INLINE void NAME(fill_strips)(const struct blr_resample *resample, const uint64_t begin[3], const uint64_t end[3],
                              const uint32_t taps)
{
    const uint32_t channels = resample->texture->desc.num_channels;
    const double step = fabs(resample->picture.matrix[0]);
    const uint32_t most = step > 1.0 ? (uint32_t)(STRIP / channels / step) : STRIP / channels;
    const bool direct = sizeof(REAL) == sizeof(float) && resample->picture.value_type == BLR_ELEMENT_F32 &&
                        resample->texture->format->maximum == 0;
    const bool streams = direct && resample->picture.size[0] * resample->picture.size[1] * resample->picture.size[2] *
                                           channels * sizeof(float) >= STREAM_FROM;
    struct NAME(strip) strip;
    for (uint64_t column = begin[0]; column < end[0]; column += strip.columns) {
        const uint32_t columns = end[0] - column < most ? (uint32_t)(end[0] - column) : most;
        NAME(place_strip)(resample, (const uint64_t[3]){column, begin[1], begin[2]}, columns, taps, &strip);
        struct blr_resample_part row = {.column = column, .count = 1, .rows = 1};
        for (row.slice = begin[2]; row.slice < end[2]; row.slice++)
            for (row.row = begin[1]; row.row < end[1]; row.row++) {
                unsigned char *to = blr_resample_values(resample, &row);
                NAME(sum_rows)(resample, &row, taps, &strip);
                NAME(sum_strip)(&strip, channels, taps);
                if (streams)
                    blr_stream_bytes(to, (const unsigned char *)strip.value, strip.elements * sizeof(float));
                else if (direct)
                    memcpy(to, strip.value, strip.elements * sizeof(float));
                else
                    NAME(store_elements)(resample, strip.value, strip.elements, true, to);
            }
    }
    if (streams)
        blr_stream_end();
}

static void NAME(fill_box)(const struct blr_resample *resample, const uint64_t begin[3], const uint64_t end[3])
{
    switch (bindless_taps(resample->picture.interpolation)) {
    case 1: NAME(fill_strips)(resample, begin, end, 1); break;
    case 2: NAME(fill_strips)(resample, begin, end, 2); break;
#if SPLINES
    case 3: NAME(fill_strips)(resample, begin, end, 3); break;
    case 5: NAME(fill_strips)(resample, begin, end, 5); break;
    case 6: NAME(fill_strips)(resample, begin, end, 6); break;
#endif
    default: NAME(fill_strips)(resample, begin, end, 4); break;
    }
}

#undef STRIP
#undef SPAN
#undef STREAM_FROM
#undef VECTOR
#undef WORDS
#undef PICK_BYTES
