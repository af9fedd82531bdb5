/* Rows of means of areas. Compiled for each instruction set; results are bit-identical. */
#include "image/area_mean.h"

#include "image/double_lanes.h"
#include "image/halve_bytes.h"
#include "image/halve_floats.h"
#include "spirv/half.h"

#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* Elements that a read or write of four channels may exceed a row by. */
#define SPARE 16u

static uint64_t align(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static uint64_t source_values(const struct blr_area *area) { return (uint64_t)area->axis[0].length * area->source_channels; }

/* Channels of a pixel in rows of sums: doubles of three channels are computed as four. */
static uint32_t lanes_of(const struct blr_area *area)
{
    return area->sums == BLR_AREA_SUM_REAL && area->source_channels == 3 ? 4 : area->source_channels;
}

static uint64_t mean_values(const struct blr_area *area) { return (uint64_t)area->axis[0].size * lanes_of(area); }

static uint64_t source_bytes(const struct blr_area *area) { return align((source_values(area) + SPARE) * sizeof(uint64_t)); }

static uint64_t mean_bytes(const struct blr_area *area) { return align((mean_values(area) + SPARE) * sizeof(uint64_t)); }

size_t blr_area_scratch(const struct blr_area *area) { return (size_t)(source_bytes(area) + 2 * mean_bytes(area)); }

static uint32_t parts_of(const struct blr_area_axis *axis, const struct blr_area_cover *cover, uint32_t k)
{
    return k == 0 ? cover->head : k + 1 == cover->count ? cover->tail : axis->whole;
}

static double share_of(const struct blr_area_axis *axis, const struct blr_area_cover *cover, uint32_t k)
{
    return k == 0 ? cover->head_share : k + 1 == cover->count ? cover->tail_share : axis->whole_share;
}

static const unsigned char *source_row(const struct blr_area *area, uint64_t y, uint64_t z)
{
    return area->source + z * area->source_slice_pitch + y * area->source_row_pitch;
}

/* ---------------------------------------------------------------- sums of columns: integers */

/* Adds one to three weighted rows, at once, to sums of columns, or starts them. */
#define ADD_ROWS(NAME, SUM, CODE)                                                                              \
    INLINE void NAME##_some(SUM *restrict sums, const CODE *const *rows, const SUM *weights, int count,        \
                            bool start, uint64_t values, CODE flip, CODE lowest)                               \
    {                                                                                                          \
        const CODE *a = rows[0], *b = rows[count > 1 ? 1 : 0], *c = rows[count > 2 ? 2 : 0];                   \
        const SUM u = weights[0], v = weights[1], w = weights[2];                                              \
        for (uint64_t i = 0; i < values; i++) {                                                                \
            const CODE d = (CODE)(a[i] ^ flip);                                                                \
            SUM sum = (SUM)(u * (SUM)(d > lowest ? d : lowest));                                               \
            if (count > 1) {                                                                                   \
                const CODE e = (CODE)(b[i] ^ flip);                                                            \
                sum = (SUM)(sum + v * (SUM)(e > lowest ? e : lowest));                                         \
            }                                                                                                  \
            if (count > 2) {                                                                                   \
                const CODE f = (CODE)(c[i] ^ flip);                                                            \
                sum = (SUM)(sum + w * (SUM)(f > lowest ? f : lowest));                                         \
            }                                                                                                  \
            sums[i] = (SUM)((start ? 0 : sums[i]) + sum);                                                      \
        }                                                                                                      \
    }                                                                                                          \
    static void NAME(SUM *restrict sums, const unsigned char *const *rows, const uint64_t *parts, int count,   \
                     bool start, uint64_t values, uint32_t flip, uint32_t lowest)                              \
    {                                                                                                          \
        const CODE *const codes[3] = {(const CODE *)(const void *)rows[0], (const CODE *)(const void *)rows[1], \
                                      (const CODE *)(const void *)rows[2]};                                    \
        const SUM w[3] = {(SUM)parts[0], (SUM)parts[1], (SUM)parts[2]};                                        \
        if (count == 1)                                                                                        \
            NAME##_some(sums, codes, w, 1, start, values, (CODE)flip, (CODE)lowest);                           \
        else if (count == 2)                                                                                   \
            NAME##_some(sums, codes, w, 2, start, values, (CODE)flip, (CODE)lowest);                           \
        else                                                                                                   \
            NAME##_some(sums, codes, w, 3, start, values, (CODE)flip, (CODE)lowest);                           \
    }

ADD_ROWS(add_8_to_16, uint16_t, uint8_t)
ADD_ROWS(add_8_to_32, uint32_t, uint8_t)
ADD_ROWS(add_16_to_32, uint32_t, uint16_t)
ADD_ROWS(add_8_to_64, uint64_t, uint8_t)
ADD_ROWS(add_16_to_64, uint64_t, uint16_t)

/* Sums of columns: of all rows that a row of means covers. */
static void sum_columns(const struct blr_area *area, uint64_t row, uint64_t slice, void *sums)
{
    const struct blr_area_axis *y = &area->axis[1], *z = &area->axis[2];
    const struct blr_area_cover *rows = &y->cover[row], *slices = &z->cover[slice];
    const uint64_t values = source_values(area);
    const unsigned char *some[3] = {NULL, NULL, NULL};
    uint64_t parts[3] = {0, 0, 0};
    int count = 0;
    bool start = true;
    for (uint32_t k = 0; k < slices->count; k++)
        for (uint32_t j = 0; j < rows->count; j++) {
            some[count] = source_row(area, rows->first + j, slices->first + k);
            parts[count++] = (uint64_t)parts_of(y, rows, j) * parts_of(z, slices, k);
            if (count < 3 && !(k + 1 == slices->count && j + 1 == rows->count))
                continue;
            if (area->sums == BLR_AREA_SUM16)
                add_8_to_16(sums, some, parts, count, start, values, area->flip, area->lowest);
            else if (area->sums == BLR_AREA_SUM32 && area->format->size == 1)
                add_8_to_32(sums, some, parts, count, start, values, area->flip, area->lowest);
            else if (area->sums == BLR_AREA_SUM32)
                add_16_to_32(sums, some, parts, count, start, values, area->flip, area->lowest);
            else if (area->format->size == 1)
                add_8_to_64(sums, some, parts, count, start, values, area->flip, area->lowest);
            else
                add_16_to_64(sums, some, parts, count, start, values, area->flip, area->lowest);
            start = false;
            count = 0;
        }
}

/* ---------------------------------------------------------------- sums of areas: integers */

/* Sums of the columns of each mean. Pixels of three channels are read and written as four: the fourth is overwritten by
 * the next pixel. */
#define SUM_AREAS(NAME, COLUMN, SUM)                                                                           \
    INLINE void NAME##_of(const struct blr_area_axis *axis, const COLUMN *restrict columns, SUM *restrict sums, \
                          const unsigned channels)                                                             \
    {                                                                                                          \
        const unsigned lanes = channels == 3 ? 4 : channels;                                                   \
        for (uint64_t i = 0; i < axis->size; i++) {                                                            \
            const struct blr_area_cover *cover = &axis->cover[i];                                              \
            const COLUMN *at = columns + (uint64_t)cover->first * channels;                                    \
            SUM sum[4];                                                                                        \
            for (unsigned c = 0; c < lanes; c++)                                                               \
                sum[c] = (SUM)cover->head * (SUM)at[c];                                                        \
            for (uint32_t k = 1; k + 1 < cover->count; k++) {                                                  \
                at += channels;                                                                                \
                for (unsigned c = 0; c < lanes; c++)                                                           \
                    sum[c] += (SUM)axis->whole * (SUM)at[c];                                                   \
            }                                                                                                  \
            if (cover->count > 1) {                                                                            \
                at += channels;                                                                                \
                for (unsigned c = 0; c < lanes; c++)                                                           \
                    sum[c] += (SUM)cover->tail * (SUM)at[c];                                                   \
            }                                                                                                  \
            for (unsigned c = 0; c < lanes; c++)                                                               \
                sums[i * channels + c] = sum[c];                                                               \
        }                                                                                                      \
    }                                                                                                          \
    /* One channel, and a whole number of columns a mean. */                                                   \
    INLINE void NAME##_whole(const COLUMN *restrict columns, SUM *restrict sums, uint64_t size, const unsigned total) \
    {                                                                                                          \
        for (uint64_t i = 0; i < size; i++) {                                                                  \
            SUM sum = 0;                                                                                       \
            for (unsigned k = 0; k < total; k++)                                                               \
                sum += (SUM)columns[i * total + k];                                                            \
            sums[i] = sum;                                                                                     \
        }                                                                                                      \
    }                                                                                                          \
    static void NAME(const struct blr_area_axis *axis, const COLUMN *columns, SUM *sums, unsigned channels)    \
    {                                                                                                          \
        if (channels == 1 && axis->whole == 1 && axis->total == 2)                                             \
            NAME##_whole(columns, sums, axis->size, 2);                                                        \
        else if (channels == 1 && axis->whole == 1 && axis->total == 3)                                        \
            NAME##_whole(columns, sums, axis->size, 3);                                                        \
        else if (channels == 1 && axis->whole == 1 && axis->total == 4)                                        \
            NAME##_whole(columns, sums, axis->size, 4);                                                        \
        else if (channels == 1)                                                                                \
            NAME##_of(axis, columns, sums, 1);                                                                 \
        else if (channels == 2)                                                                                \
            NAME##_of(axis, columns, sums, 2);                                                                 \
        else if (channels == 3)                                                                                \
            NAME##_of(axis, columns, sums, 3);                                                                 \
        else                                                                                                   \
            NAME##_of(axis, columns, sums, 4);                                                                 \
    }

SUM_AREAS(sum_areas_16, uint16_t, uint32_t)
SUM_AREAS(sum_areas_32, uint32_t, uint32_t)
SUM_AREAS(sum_areas_64, uint64_t, uint64_t)

/* ---------------------------------------------------------------- quotients of integers, to nearest even */

/* A number below 2^23 as the last bits of a float of 2^23 more: the addition rounds it. */
INLINE uint32_t nearest_of_float(float value)
{
    const float sum = value + 0x1p23f;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits & 0x7fffffu;
}

/* The same of a number from -2^31 to 2^32. */
INLINE uint32_t nearest_of_double(double value)
{
    const double sum = value + 0x1.8p52;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (uint32_t)bits;
}

INLINE uint32_t nearest_quotient(uint64_t sum, uint64_t divisor)
{
    const uint64_t quotient = sum / divisor, double_rest = 2 * (sum % divisor);
    return (uint32_t)(quotient + (double_rest > divisor || (double_rest == divisor && (quotient & 1) != 0)));
}

/* For powers of two from 2: below one half, half an even quotient is rounded down. */
INLINE uint32_t nearest_shifted(uint32_t sum, uint32_t shift)
{
    return (sum + (1u << (shift - 1)) - 1 + (sum >> shift & 1u)) >> shift;
}

static void divide_16(const struct blr_area *area, const uint32_t *restrict sums, uint8_t *restrict codes, uint64_t values)
{
    const uint32_t divisor = (uint32_t)area->divisor;
    const uint8_t flip = (uint8_t)area->flip;
    if (divisor > 1 && (divisor & (divisor - 1)) == 0) {
        uint32_t shift = 1;
        while (divisor >> shift != 1)
            shift++;
        for (uint64_t i = 0; i < values; i++)
            codes[i] = (uint8_t)nearest_shifted(sums[i], shift) ^ flip;
        return;
    }
    for (uint64_t i = 0; i < values; i++)
        codes[i] = (uint8_t)nearest_of_float((float)(int32_t)sums[i] / (float)divisor) ^ flip;
}

#define DIVIDE(NAME, SUM, CODE, QUOTIENT)                                                                      \
    static void NAME(const struct blr_area *area, const SUM *restrict sums, CODE *restrict codes, uint64_t values) \
    {                                                                                                          \
        for (uint64_t i = 0; i < values; i++)                                                                  \
            codes[i] = (CODE)((CODE)QUOTIENT ^ (CODE)area->flip);                                              \
    }

DIVIDE(divide_32_to_8, uint32_t, uint8_t, nearest_of_double((double)sums[i] / (double)area->divisor))
DIVIDE(divide_32_to_16, uint32_t, uint16_t, nearest_of_double((double)sums[i] / (double)area->divisor))
DIVIDE(divide_64_to_8, uint64_t, uint8_t, nearest_quotient(sums[i], area->divisor))
DIVIDE(divide_64_to_16, uint64_t, uint16_t, nearest_quotient(sums[i], area->divisor))

/* Means of codes as floats. Sums are of flipped codes, each flip too high. */
static void divide_to_floats(const struct blr_area *area, const void *sums, float *restrict means, uint64_t values)
{
    const double divisor = (double)area->divisor, excess = (double)area->flip;
    for (uint64_t i = 0; i < values; i++) {
        const double sum = area->sums == BLR_AREA_SUM64 ? (double)((const uint64_t *)sums)[i]
                                                        : (double)((const uint32_t *)sums)[i];
        means[i] = (float)((sum - excess * divisor) / divisor);
    }
}

static void divide(const struct blr_area *area, const void *sums, void *means, uint64_t values)
{
    if (area->unrounded)
        divide_to_floats(area, sums, means, values);
    else if (area->sums == BLR_AREA_SUM16)
        divide_16(area, sums, means, values);
    else if (area->sums == BLR_AREA_SUM32 && area->format->size == 1)
        divide_32_to_8(area, sums, means, values);
    else if (area->sums == BLR_AREA_SUM32)
        divide_32_to_16(area, sums, means, values);
    else if (area->format->size == 1)
        divide_64_to_8(area, sums, means, values);
    else
        divide_64_to_16(area, sums, means, values);
}

/* ---------------------------------------------------------------- doubles */

/* Weighted means along x of a row, times a weight, added to sums or starting them. LANES of doubles hold a pixel. */
#define MEANS_ALONG_X(NAME, VALUE, LANES, LOAD, SPREAD, CHANNELS)                                              \
    INLINE void NAME(const struct blr_area_axis *axis, const VALUE *row, double weight, bool start, double *sums, \
                     uint64_t begin, uint64_t end)                                                             \
    {                                                                                                          \
        const LANES whole = SPREAD(axis->whole_share), scale = SPREAD(weight);                                 \
        for (uint64_t i = begin; i < end; i++) {                                                               \
            const struct blr_area_cover *cover = &axis->cover[i];                                              \
            const VALUE *at = row + (uint64_t)cover->first * (CHANNELS);                                       \
            LANES value;                                                                                       \
            LOAD(&value, at);                                                                                  \
            LANES sum = SPREAD(cover->head_share) * value;                                                     \
            for (uint32_t k = 2; k < cover->count; k++) {                                                      \
                at += (CHANNELS);                                                                              \
                LOAD(&value, at);                                                                              \
                sum += whole * value;                                                                          \
            }                                                                                                  \
            if (cover->count > 1) {                                                                            \
                LOAD(&value, at + (CHANNELS));                                                                 \
                sum += SPREAD(cover->tail_share) * value;                                                      \
            }                                                                                                  \
            LANES *to = (LANES *)(void *)(sums + i * sizeof(LANES) / sizeof(double));                          \
            *to = start ? scale * sum : *to + scale * sum;                                                     \
        }                                                                                                      \
    }

#define SPREAD_ONE(value) (value)

MEANS_ALONG_X(floats_of_1, float, double, blr_one_float, SPREAD_ONE, 1)
MEANS_ALONG_X(doubles_of_1, double, double, blr_one_double, SPREAD_ONE, 1)
MEANS_ALONG_X(floats_of_2, float, blr_double_2, blr_two_floats, blr_spread_2, 2)
MEANS_ALONG_X(doubles_of_2, double, blr_double_2, blr_two_doubles, blr_spread_2, 2)
MEANS_ALONG_X(floats_of_3, float, blr_double_4, blr_four_floats, blr_spread_4, 3)
MEANS_ALONG_X(last_floats_of_3, float, blr_double_4, blr_three_floats, blr_spread_4, 3)
MEANS_ALONG_X(doubles_of_3, double, blr_double_4, blr_four_doubles, blr_spread_4, 3)
MEANS_ALONG_X(floats_of_4, float, blr_double_4, blr_four_floats, blr_spread_4, 4)
MEANS_ALONG_X(doubles_of_4, double, blr_double_4, blr_four_doubles, blr_spread_4, 4)

static void means_of_floats(const struct blr_area_axis *axis, const float *row, double weight, bool start, double *sums,
                            unsigned channels)
{
    const uint64_t size = axis->size;
    switch (channels) {
    case 1: floats_of_1(axis, row, weight, start, sums, 0, size); return;
    case 2: floats_of_2(axis, row, weight, start, sums, 0, size); return;
    case 3: /* memory may end with the last pixel */
        floats_of_3(axis, row, weight, start, sums, 0, size - 1);
        last_floats_of_3(axis, row, weight, start, sums, size - 1, size);
        return;
    default: floats_of_4(axis, row, weight, start, sums, 0, size);
    }
}

/* Of a row in scratch memory, with SPARE elements behind it. */
static void means_of_doubles(const struct blr_area_axis *axis, const double *row, double weight, bool start, double *sums,
                             unsigned channels)
{
    const uint64_t size = axis->size;
    switch (channels) {
    case 1: doubles_of_1(axis, row, weight, start, sums, 0, size); return;
    case 2: doubles_of_2(axis, row, weight, start, sums, 0, size); return;
    case 3: doubles_of_3(axis, row, weight, start, sums, 0, size); return;
    default: doubles_of_4(axis, row, weight, start, sums, 0, size);
    }
}

/* Adds the means along x of one source row to sums. */
static void add_row(const struct blr_area *area, const unsigned char *row, double weight, bool start, double *sums,
                    void *converted)
{
    const struct blr_area_axis *x = &area->axis[0];
    const uint64_t values = source_values(area);
    switch (area->format->storage) {
    case BLR_ELEMENT_F32:
        means_of_floats(x, (const float *)(const void *)row, weight, start, sums, area->source_channels);
        return;
    case BLR_ELEMENT_F16: {
        const uint16_t *halves = (const uint16_t *)(const void *)row;
        float *floats = converted;
        for (uint64_t i = 0; i < values; i++)
            floats[i] = blr_lane_from_half(halves[i]);
        means_of_floats(x, floats, weight, start, sums, area->source_channels);
        return;
    }
    case BLR_ELEMENT_S32:
        for (uint64_t i = 0; i < values; i++)
            ((double *)converted)[i] = ((const int32_t *)(const void *)row)[i];
        break;
    default:
        for (uint64_t i = 0; i < values; i++)
            ((double *)converted)[i] = ((const uint32_t *)(const void *)row)[i];
    }
    means_of_doubles(x, converted, weight, start, sums, area->source_channels);
}

static void round_doubles(const struct blr_area *area, const double *restrict sums, void *means, uint64_t values)
{
    const blr_element_type_t type = area->unrounded ? BLR_ELEMENT_F32 : area->format->storage;
    float *floats = means;
    uint16_t *halves = means;
    uint32_t *words = means;
    if (type == BLR_ELEMENT_F32)
        for (uint64_t i = 0; i < values; i++)
            floats[i] = (float)(sums[i] + 0.0); /* never -0 */
    else if (type == BLR_ELEMENT_F16)
        for (uint64_t i = 0; i < values; i++)
            halves[i] = blr_lane_to_half((float)(sums[i] + 0.0));
    else
        for (uint64_t i = 0; i < values; i++)
            words[i] = nearest_of_double(sums[i]);
}

/* Means along y of the rows of a slice, and then of slices along z. */
static void mean_of_reals(const struct blr_area *area, uint64_t row, uint64_t slice, double *sums, double *of_slice,
                          void *converted)
{
    const struct blr_area_axis *y = &area->axis[1], *z = &area->axis[2];
    const struct blr_area_cover *rows = &y->cover[row], *slices = &z->cover[slice];
    const uint64_t values = mean_values(area);
    for (uint32_t k = 0; k < slices->count; k++) {
        double *target = slices->count == 1 ? sums : of_slice;
        for (uint32_t j = 0; j < rows->count; j++)
            add_row(area, source_row(area, rows->first + j, slices->first + k), share_of(y, rows, j), j == 0, target,
                    converted);
        if (slices->count == 1)
            return;
        const double weight = share_of(z, slices, k);
        for (uint64_t i = 0; i < values; i++)
            sums[i] = k == 0 ? weight * of_slice[i] : sums[i] + weight * of_slice[i];
    }
}

/* ---------------------------------------------------------------- floats of few rows */

#define FEW_ROWS 8u
#define AHEAD 2048u /* bytes: processors do not fetch early enough from several rows that are read in steps of pixels */

/* The source rows of a row of means, and their shares of it. */
struct few_rows {
    const float *row[FEW_ROWS];
    double share[FEW_ROWS];
    uint32_t count;
};

/* The same means as of all those steps, each pixel at once: its sums stay in registers. */
#define MEANS_AT_ONCE(NAME, LANES, LOAD, SPREAD, STORE, CHANNELS)                                              \
    INLINE void NAME##_of(const struct blr_area_axis *axis, const struct few_rows *rows, float *means, uint64_t begin, \
                          uint64_t end, const uint32_t count)                                                  \
    {                                                                                                          \
        const LANES whole = SPREAD(axis->whole_share);                                                         \
        for (uint64_t i = begin; i < end; i++) {                                                               \
            const struct blr_area_cover *cover = &axis->cover[i];                                              \
            const LANES head = SPREAD(cover->head_share), tail = SPREAD(cover->tail_share);                    \
            const uint64_t first = (uint64_t)cover->first * (CHANNELS);                                        \
            LANES mean = SPREAD(0.0);                                                                          \
            for (uint32_t j = 0; j < count; j++) {                                                             \
                const float *at = rows->row[j] + first;                                                        \
                __builtin_prefetch((const char *)at + AHEAD);                                                  \
                LANES value;                                                                                   \
                LOAD(&value, at);                                                                              \
                LANES sum = head * value;                                                                      \
                for (uint32_t k = 2; k < cover->count; k++) {                                                  \
                    at += (CHANNELS);                                                                          \
                    LOAD(&value, at);                                                                          \
                    sum += whole * value;                                                                      \
                }                                                                                              \
                if (cover->count > 1) {                                                                        \
                    LOAD(&value, at + (CHANNELS));                                                             \
                    sum += tail * value;                                                                       \
                }                                                                                              \
                mean = j == 0 ? SPREAD(rows->share[0]) * sum : mean + SPREAD(rows->share[j]) * sum;            \
            }                                                                                                  \
            mean += SPREAD(0.0); /* never -0 */                                                                \
            STORE(means + i * (CHANNELS), &mean);                                                              \
        }                                                                                                      \
    }                                                                                                          \
    static void NAME(const struct blr_area_axis *axis, const struct few_rows *rows, float *means, uint64_t begin, \
                     uint64_t end)                                                                             \
    {                                                                                                          \
        switch (rows->count) {                                                                                 \
        case 2: NAME##_of(axis, rows, means, begin, end, 2); return;                                           \
        case 3: NAME##_of(axis, rows, means, begin, end, 3); return;                                           \
        default: NAME##_of(axis, rows, means, begin, end, rows->count);                                        \
        }                                                                                                      \
    }

MEANS_AT_ONCE(means_of_1, double, blr_one_float, SPREAD_ONE, blr_store_one, 1)
MEANS_AT_ONCE(means_of_2, blr_double_2, blr_two_floats, blr_spread_2, blr_store_two, 2)
MEANS_AT_ONCE(means_of_3, blr_double_4, blr_four_floats, blr_spread_4, blr_store_four, 3)
MEANS_AT_ONCE(last_means_of_3, blr_double_4, blr_three_floats, blr_spread_4, blr_store_three, 3)
MEANS_AT_ONCE(means_of_4, blr_double_4, blr_four_floats, blr_spread_4, blr_store_four, 4)

/* Of one channel, of as many columns as rows: several means at a time. */
INLINE void whole_means_of(const struct few_rows *rows, double share, float *restrict means, uint64_t size,
                           const uint32_t total)
{
    for (uint64_t i = 0; i < size; i++) {
        double mean = 0.0;
        for (uint32_t j = 0; j < total; j++) {
            const float *at = rows->row[j] + i * total;
            double sum = share * (double)at[0];
            for (uint32_t k = 1; k < total; k++)
                sum += share * (double)at[k];
            mean = j == 0 ? share * sum : mean + share * sum;
        }
        means[i] = (float)(mean + 0.0);
    }
}

static bool whole_means(const struct blr_area *area, const struct few_rows *rows, float *means)
{
    const struct blr_area_axis *x = &area->axis[0], *y = &area->axis[1];
    if (area->channels != 1 || x->whole != 1 || y->whole != 1 || x->total != y->total || x->total != rows->count)
        return false;
    switch (x->total) {
    case 3: whole_means_of(rows, x->whole_share, means, x->size, 3); return true;
    case 4: whole_means_of(rows, x->whole_share, means, x->size, 4); return true;
    default: return false;
    }
}

/* False where the means need more: other types, many rows, several slices, or not all channels. */
static bool means_at_once(const struct blr_area *area, uint64_t row, uint64_t slice, float *means)
{
    const struct blr_area_axis *x = &area->axis[0], *y = &area->axis[1];
    const struct blr_area_cover *cover = &y->cover[row], *slices = &area->axis[2].cover[slice];
    if (area->format->storage != BLR_ELEMENT_F32 || area->channels != area->source_channels || slices->count != 1 ||
        cover->count > FEW_ROWS)
        return false;
    struct few_rows rows = {.count = cover->count};
    for (uint32_t j = 0; j < cover->count; j++) {
        rows.row[j] = (const float *)(const void *)source_row(area, cover->first + j, slices->first);
        rows.share[j] = share_of(y, cover, j);
    }
    if (whole_means(area, &rows, means))
        return true;
    switch (area->channels) {
    case 1: means_of_1(x, &rows, means, 0, x->size); return true;
    case 2: means_of_2(x, &rows, means, 0, x->size); return true;
    case 3: /* memory may end with the last pixel */
        means_of_3(x, &rows, means, 0, x->size - 1);
        last_means_of_3(x, &rows, means, x->size - 1, x->size);
        return true;
    default: means_of_4(x, &rows, means, 0, x->size); return true;
    }
}

/* ---------------------------------------------------------------- rows */

/* Copies the first channels of pixels, in elements of 1, 2 or 4 bytes. */
#define TAKE_CHANNELS(NAME, ELEMENT)                                                                           \
    static void NAME(const void *pixels, uint32_t lanes, void *row, uint32_t channels, uint64_t size)          \
    {                                                                                                          \
        const ELEMENT *from = pixels;                                                                          \
        ELEMENT *to = row;                                                                                     \
        if (lanes == 4 && channels == 3) {                                                                     \
            for (uint64_t i = 0; i < size; i++) {                                                              \
                to[3 * i] = from[4 * i];                                                                       \
                to[3 * i + 1] = from[4 * i + 1];                                                               \
                to[3 * i + 2] = from[4 * i + 2];                                                               \
            }                                                                                                  \
            return;                                                                                            \
        }                                                                                                      \
        for (uint64_t i = 0; i < size; i++)                                                                    \
            for (uint32_t c = 0; c < channels; c++)                                                            \
                to[i * channels + c] = from[i * lanes + c];                                                    \
    }

TAKE_CHANNELS(take_bytes, uint8_t)
TAKE_CHANNELS(take_shorts, uint16_t)
TAKE_CHANNELS(take_words, uint32_t)

static void take_channels(const struct blr_area *area, const void *pixels, void *row)
{
    const uint32_t element = area->unrounded ? 4 : area->format->size;
    (element == 1 ? take_bytes : element == 2 ? take_shorts : take_words)(pixels, lanes_of(area), row, area->channels,
                                                                          area->axis[0].size);
}

void blr_area_rows(const struct blr_area *area, uint64_t begin, uint64_t end, void *scratch)
{
    unsigned char *columns = scratch; /* NULL for halves */
    const struct blr_area_axis *x = &area->axis[0];
    const uint64_t values = mean_values(area);
    const bool every_channel = area->channels == lanes_of(area);
    const bool halves = blr_area_halves(area);
    for (uint64_t number = begin; number < end; number++) {
        const uint64_t slice = number / area->axis[1].size, row = number % area->axis[1].size;
        unsigned char *target =
            area->destination + slice * area->destination_slice_pitch + row * area->destination_row_pitch;
        if (halves) {
            const void *above = source_row(area, 2 * row, slice), *below = source_row(area, 2 * row + 1, slice);
            if (area->sums == BLR_AREA_SUM16)
                blr_halve_bytes(above, below, target, x->size, area->channels);
            else
                blr_halve_floats(above, below, (float *)(void *)target, x->size, area->channels);
            continue;
        }
        if (means_at_once(area, row, slice, (float *)(void *)target))
            continue;
        unsigned char *sums = columns + source_bytes(area), *means = sums + mean_bytes(area);
        void *result = every_channel ? target : means;
        if (area->sums == BLR_AREA_SUM_REAL) {
            mean_of_reals(area, row, slice, (double *)(void *)sums, (double *)(void *)means, columns);
            round_doubles(area, (const double *)(const void *)sums, result, values);
        } else {
            sum_columns(area, row, slice, columns);
            if (area->sums == BLR_AREA_SUM16)
                sum_areas_16(x, (const uint16_t *)(const void *)columns, (uint32_t *)(void *)sums, area->source_channels);
            else if (area->sums == BLR_AREA_SUM32)
                sum_areas_32(x, (const uint32_t *)(const void *)columns, (uint32_t *)(void *)sums, area->source_channels);
            else
                sum_areas_64(x, (const uint64_t *)(const void *)columns, (uint64_t *)(void *)sums, area->source_channels);
            divide(area, sums, result, values);
        }
        if (!every_channel)
            take_channels(area, means, target);
    }
}
