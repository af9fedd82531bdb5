/* Exact filters of pictures whose axes are the image's, at positions whose texels all exist or repeat the outermost ones,
 * for one REAL. Included by resample_part.c for each.
 *
 * They do what inside.h and filter.h do. The elements of a row have the same weights along y and z: the texels of the
 * image's rows are summed once, each for all elements that read it, and the weights along x serve all rows. An element of
 * a strip is one channel of a column. */

#define STRIP 1024u                       /* most elements of a strip */
#define SPAN (STRIP + 64u)                /* elements that a strip reads, and room to read vectors */
#define VECTOR 16u
#define STREAM_FROM ((uint64_t)16 << 20) /* bytes of a picture that leaves the caches before it is read */

struct NAME(strip) {
    _Alignas(64) REAL weight[4][STRIP];   /* along x, for each element */
    _Alignas(64) REAL sum[SPAN];          /* of the texels along y and z */
    _Alignas(64) REAL value[STRIP];
    _Alignas(64) int32_t place[STRIP];    /* of an element's first texel among the sums */
    int32_t base[STRIP / VECTOR];         /* least place of a vector of elements */
    bool is_dense;                        /* places of a vector are less than VECTOR apart */
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

/* Finds out where vectors of elements read. */
static void NAME(find_bases)(struct NAME(strip) *strip)
{
    int32_t distance = 0;
    for (uint32_t e = 0; e < strip->elements; e += VECTOR) {
        const int32_t *restrict place = strip->place + e;
        const int32_t count = strip->elements - e < VECTOR ? (int32_t)(strip->elements - e) : (int32_t)VECTOR;
        int32_t least = place[0], largest = place[0];
        for (int32_t i = 0; i < count; i++) {
            least = place[i] < least ? place[i] : least;
            largest = place[i] > largest ? place[i] : largest;
        }
        strip->base[e / VECTOR] = least;
        distance = largest - least > distance ? largest - least : distance;
    }
    strip->is_dense = distance < (int32_t)VECTOR;
}

/* First texels and weights of at most BLOCK positions along an axis. */
INLINE void NAME(weigh_line)(const struct blr_resample *resample, const double *restrict at, uint32_t count,
                             const uint32_t taps, int32_t *restrict first, REAL weights[4][LANES])
{
    int32_t low[LANES];
    const bool ties_to_even = resample->picture.ties_to_even != 0;
    for (int32_t i = 0; i < (int32_t)count; i++)
        low[i] = taps == 1 ? nearest_texel(at[i], ties_to_even) : (int32_t)floor(at[i]);
    if (taps == 2)
        NAME(weigh)(at, low, count, BLR_INTERPOLATION_LINEAR, weights);
    else if (taps == 4)
        NAME(weigh)(at, low, count, resample->picture.interpolation, weights);
    for (int32_t i = 0; i < (int32_t)count; i++)
        first[i] = low[i] - (taps == 4);
}

/* Finds the texels of the columns from begin on, and their weights. */
static void NAME(place_strip)(const struct blr_resample *resample, const uint64_t begin[3], uint32_t columns,
                              const uint32_t taps, struct NAME(strip) *strip)
{
    const uint32_t channels = resample->texture->desc.num_channels;
    double at[3][BLOCK];
    int32_t low[STRIP], least = INT32_MAX, last = INT32_MIN;
    REAL weights[4][LANES];
    struct blr_resample_part part = {.row = begin[1], .slice = begin[2], .rows = 1};
    strip->columns = columns;
    strip->elements = columns * channels;
    for (uint32_t done = 0; done < columns; done += part.count) {
        part.column = begin[0] + done;
        part.count = columns - done < BLOCK ? columns - done : BLOCK;
        place(resample, &part, resample->picture.centre, (double *const[3]){at[0], at[1], at[2]});
        NAME(weigh_line)(resample, at[0], part.count, taps, low + done, weights);
        for (uint32_t k = 0; taps > 1 && k < taps; k++)
            NAME(repeat)(weights[k], part.count, channels, strip->weight[k] + done * channels);
    }
    for (int32_t i = 0; i < (int32_t)columns; i++) {
        least = low[i] < least ? low[i] : least;
        last = low[i] > last ? low[i] : last;
    }
    strip->first = least;
    strip->span = (uint32_t)(last - least) + taps;
    switch (channels) {
    case 1: NAME(place_elements)(low, columns, least, 1, strip->place); break;
    case 2: NAME(place_elements)(low, columns, least, 2, strip->place); break;
    case 3: NAME(place_elements)(low, columns, least, 3, strip->place); break;
    default: NAME(place_elements)(low, columns, least, 4, strip->place); break;
    }
    NAME(find_bases)(strip);
}

/* The texel along an axis, of which those before the first and after the last one are repeated. */
static int64_t NAME(texel_of)(const struct blr_resample *resample, uint32_t d, int64_t texel)
{
    return resample->is_window ? texel : bindless_texel_at(texel, resample->extent[d], BINDLESS_EDGE);
}

/* Sums over y, then over z, of count elements from the rows' addresses on. */
INLINE void NAME(sum_elements)(const struct blr_resample *resample, const unsigned char *const rows[4][4], int64_t offset,
                               uint32_t count, REAL weight[3][4], const uint32_t taps, REAL *restrict sum)
{
    const uint32_t planes = resample->dimensions > 2 ? taps : 1;
    REAL texel[4][LANES];
    for (uint32_t kz = 0; kz < planes; kz++) {
        const REAL *texels[4];
        for (uint32_t ky = 0; ky < taps; ky++)
            texels[ky] = NAME(decoded)(resample, rows[kz][ky] + offset, count, texel[ky]);
        if (taps == 1) {
            memcpy(sum, texels[0], count * sizeof *sum);
            return;
        }
        const REAL y_0 = weight[1][0], y_1 = weight[1][1], y_2 = taps == 4 ? weight[1][2] : (REAL)0,
                   y_3 = taps == 4 ? weight[1][3] : (REAL)0, z = planes == 1 ? (REAL)1 : weight[2][kz];
        const bool alone = planes == 1, is_first = kz == 0;
        for (int32_t i = 0; i < (int32_t)count; i++) {
            REAL value = y_0 * texels[0][i];
            value += y_1 * texels[1][i];
            if (taps == 4) {
                value += y_2 * texels[2][i];
                value += y_3 * texels[3][i];
            }
            if (alone)
                sum[i] = value;
            else if (is_first)
                sum[i] = z * value;
            else
                sum[i] += z * value;
        }
    }
}

/* The sums of the texels that a row of the strip reads. */
static void NAME(sum_rows)(const struct blr_resample *resample, const struct blr_resample_part *row, const uint32_t taps,
                           struct NAME(strip) *strip)
{
    const uint32_t channels = resample->texture->desc.num_channels, most = LANES / channels;
    const int64_t first = NAME(texel_of)(resample, 0, strip->first),
                  end = NAME(texel_of)(resample, 0, strip->first + strip->span - 1) + 1;
    REAL weight[3][4];
    int64_t offset[3][4] = {{0}, {0}, {0}};
    const unsigned char *rows[4][4];
    double at[3][1];
    place(resample, row, resample->picture.centre, (double *const[3]){at[0], at[1], at[2]});
    for (uint32_t d = 1; d < resample->dimensions; d++) {
        const bool ties_to_even = resample->picture.ties_to_even != 0;
        const int32_t low = taps == 1 ? nearest_texel(at[d][0], ties_to_even) : (int32_t)floor(at[d][0]);
        NAME(bindless_weights)((REAL)(at[d][0] - (double)low), resample->picture.interpolation, weight[d], 1);
        for (uint32_t k = 0; k < taps; k++)
            offset[d][k] = NAME(texel_of)(resample, d, (int64_t)low - (taps == 4) + k) * resample->step[d];
    }
    for (uint32_t k = 0; k < taps * taps; k++)
        rows[k / taps][k % taps] = resample->origin_texel + offset[2][k / taps] + offset[1][k % taps];
    REAL *sum = strip->sum + (first - strip->first) * channels;
    for (uint32_t done = 0, now, all = (uint32_t)(end - first); done < all; done += now) {
        now = all - done < most ? all - done : most;
        NAME(sum_elements)(resample, rows, (first + done) * resample->step[0], now * channels, weight, taps,
                           sum + done * channels);
    }
    for (int64_t before = first - strip->first; before > 0; before--)
        memcpy(strip->sum + (before - 1) * channels, sum, channels * sizeof *sum);
    for (int64_t after = end - strip->first; after < strip->span; after++)
        memcpy(strip->sum + after * channels, strip->sum + (after - 1) * channels, channels * sizeof *sum);
}

#if ALIGNED_VECTORS
/* Values of dense elements: texels are permuted in registers. */
INLINE void sum_dense(const struct strip_float *strip, const int32_t channels, const uint32_t taps, float *values)
{
    for (uint32_t i = 0; i < strip->elements; i += VECTOR) {
        const uint32_t rest = strip->elements - i;
        const __mmask16 elements = rest < VECTOR ? (__mmask16)((1u << rest) - 1) : (__mmask16)0xffff;
        const float *texels = strip->sum + strip->base[i / VECTOR];
        const __m512i base = _mm512_set1_epi32(strip->base[i / VECTOR]);
        const __m512i index = _mm512_sub_epi32(_mm512_load_si512(strip->place + i), base);
        __m512 sum = _mm512_permutexvar_ps(index, _mm512_loadu_ps(texels));
        if (taps > 1)
            sum = _mm512_mul_ps(_mm512_load_ps(strip->weight[0] + i), sum);
        for (uint32_t k = 1; k < taps; k++) {
            const __m512 texel = _mm512_permutexvar_ps(index, _mm512_loadu_ps(texels + (int32_t)k * channels));
            sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_load_ps(strip->weight[k] + i), texel));
        }
        _mm512_mask_storeu_ps(values + i, elements, sum);
    }
}
#endif

/* Sums over x. */
INLINE void NAME(sum_strip)(const struct NAME(strip) *strip, const int32_t channels, const uint32_t taps,
                            REAL *restrict values)
{
#if ALIGNED_VECTORS
    if (strip->is_dense) {
        sum_dense(strip, channels, taps, values);
        return;
    }
#endif
    const int32_t *restrict place = strip->place;
    const REAL *restrict texels = strip->sum;
    for (int32_t i = 0; i < (int32_t)strip->elements; i++) {
        REAL sum = taps == 1 ? texels[place[i]] : strip->weight[0][i] * texels[place[i]];
        for (int32_t k = 1; k < (int32_t)taps; k++)
            sum += strip->weight[k][i] * texels[place[i] + k * channels];
        values[i] = sum;
    }
}

INLINE void NAME(fill_strips)(const struct blr_resample *resample, const uint64_t begin[3], const uint64_t end[3],
                              const uint32_t taps)
{
    const uint32_t channels = resample->texture->desc.num_channels, most = STRIP / channels;
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
                NAME(sum_strip)(&strip, (int32_t)channels, taps, direct && !streams ? (REAL *)(void *)to : strip.value);
                if (streams)
                    blr_stream_bytes(to, (const unsigned char *)strip.value, strip.elements * sizeof(float));
                for (uint32_t i = 0; !direct && i < strip.elements; i += BLOCK)
                    NAME(store_elements)(resample, strip.value + i, strip.elements - i < BLOCK ? strip.elements - i : BLOCK,
                                         true, 1, to + i * blr_element_size(resample->picture.value_type));
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
    default: NAME(fill_strips)(resample, begin, end, 4); break;
    }
}

#undef STRIP
#undef SPAN
#undef VECTOR
#undef STREAM_FROM
