/* Positions and exact values of a part of a picture's row. Compiled for each instruction set; results are bit-identical. */
#include "resample/resample.h"

#include "bindless/filter/field.h"
#include "bindless/filter/weights.h"
#include "image/packed_format.h"
#include "memory/streaming_store.h"
#include "resample/boundary.h"
#include "spirv/half.h"

#include <math.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 4")
#else
#define UNROLLED
#endif

#define BLOCK BLR_RESAMPLE_BLOCK
#define GROUP BLR_RESAMPLE_GROUP
#define LANES 256u

/* Any address may be prefetched. */
static inline void prefetch(uintptr_t address)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch((const void *)address);
#else
    (void)address;
#endif
}

/* ---------------------------------------------------------------- positions */

/* a x + rest along a row. */
static void place_line(double a, double rest, double first, uint32_t count, double *restrict at)
{
    for (int32_t i = 0; i < (int32_t)count; i++)
        at[i] = a * (first + (double)i) + rest;
}

/* The same from an origin. */
static void place_line_from(double a, double rest, double first, double origin, uint32_t count, double *restrict at)
{
    for (int32_t i = 0; i < (int32_t)count; i++)
        at[i] = a * (first + (double)i) + rest - origin;
}

#define ADD_VECTORS(COORDINATE, STEP)                                                                                    \
    {                                                                                                                    \
        const COORDINATE *restrict coordinates = (const COORDINATE *)picture->coordinates + first;                       \
        for (int32_t i = 0; i < (int32_t)count; i++)                                                                     \
            at[i] += (double)coordinates[i * (STEP)];                                                                    \
    }
/* Adds a component of vectors, and prefetches those of the part below. */
static void add_vectors(const struct blr_resample *resample, const struct blr_resample_part *part, uint32_t axis,
                        double *restrict at)
{
    const blr_resampling_t *picture = &resample->picture;
    const uint64_t item = (part->slice * picture->size[1] + part->row) * picture->size[0] + part->column;
    const uint32_t count = part->count;
    const int64_t step = picture->coordinate_strides[0];
    const int64_t first = (int64_t)item * step + axis * picture->coordinate_strides[1];
    const uintptr_t size = picture->coordinate_type == BLR_COORDINATE_F64 ? 8 : 4;
    const uintptr_t below = (uintptr_t)picture->coordinates +
                            ((uintptr_t)first + (uintptr_t)(part->rows * picture->size[0]) * (uintptr_t)step) * size;
    for (uintptr_t i = 0; i < count; i += 64 / size)
        prefetch(below + i * (uintptr_t)step * size);
    if (picture->coordinate_type == BLR_COORDINATE_F64)
        ADD_VECTORS(double, step)
    else if (step == 1)
        ADD_VECTORS(float, 1)
    else
        ADD_VECTORS(float, step)
}
#undef ADD_VECTORS

#include "resample/lens.h"
#include "resample/fields.h"

static void follow_fields(const struct blr_resample *resample, const struct blr_resample_part *part, double *const at[3])
{
    const double *fields = resample->picture.coordinates, *m = resample->picture.matrix;
    const double step[3] = {m[0], resample->dimensions > 1 ? m[4] : 0.0, resample->dimensions > 2 ? m[8] : 0.0};
    const bool straight = !resample->projective;
    double p[3] = {0.0, 0.0, 0.0};
    for (uint32_t d = 0; d < resample->dimensions; d++)
        p[d] = at[d][0];
    if (resample->dimensions == 1)
        follow_fields_of(fields, p, step, straight, part->count, 1, at);
    else if (resample->dimensions == 2)
        follow_fields_of(fields, p, step, straight, part->count, 2, at);
    else
        follow_fields_of(fields, p, step, straight, part->count, 3, at);
}

static void move_line(double origin, uint32_t count, double *restrict at)
{
    for (int32_t i = 0; i < (int32_t)count; i++)
        at[i] -= origin;
}

static void place(const struct blr_resample *resample, const struct blr_resample_part *part, double origin,
                  double *const at[3])
{
    const blr_resampling_t *picture = &resample->picture;
    const double x = (double)(picture->first[0] + part->column) + picture->centre,
                 y = (double)(picture->first[1] + part->row) + picture->centre,
                 z = (double)(picture->first[2] + part->slice) + picture->centre;
    const bool has_fields = picture->coordinates != NULL && picture->coordinate_type == BLR_COORDINATE_FIELDS;
    const bool has_vectors = picture->coordinates != NULL && !has_fields;
    double depth[BLOCK];
    if (resample->projective) {
        const double *m = picture->matrix + 12;
        place_line(m[0], m[1] * y + (m[2] * z + m[3]), x, part->count, depth);
    }
    for (uint32_t d = 0; d < resample->dimensions; d++) {
        const double *m = picture->matrix + 4 * d, rest = m[1] * y + (m[2] * z + m[3]);
        if (resample->straight) {
            place_line_from(m[0], rest, x, origin, part->count, at[d]);
            continue;
        }
        place_line(m[0], rest, x, part->count, at[d]);
        if (resample->projective)
            for (int32_t i = 0; i < (int32_t)part->count; i++)
                at[d][i] /= depth[i];
        if (has_vectors)
            add_vectors(resample, part, d, at[d]);
        if (origin != 0.0 && !has_fields)
            move_line(origin, part->count, at[d]);
    }
    if (has_fields)
        follow_fields(resample, part, at);
    for (uint32_t d = 0; d < resample->dimensions && has_fields && origin != 0.0; d++)
        move_line(origin, part->count, at[d]);
}

/* Positions in units of the handle's coordinates. */
INLINE void interleave(const struct blr_resample *resample, double at[3][BLOCK], uint32_t count, const uint32_t dimensions,
                       float *restrict coordinates)
{
    const float *scale = resample->picture.scale, *bias = resample->picture.bias;
    const float scale_x = scale[0], scale_y = scale[1], scale_z = scale[2];
    const float bias_x = bias[0], bias_y = bias[1], bias_z = bias[2];
    const double *restrict x = at[0], *restrict y = at[1], *restrict z = at[2];
    for (int32_t i = 0; i < (int32_t)count; i++) {
        float *item = coordinates + (int32_t)dimensions * i;
        item[0] = (float)x[i] / scale_x + bias_x;
        if (dimensions > 1)
            item[1] = (float)y[i] / scale_y + bias_y;
        if (dimensions > 2)
            item[2] = (float)z[i] / scale_z + bias_z;
    }
}

static void coordinates(const struct blr_resample *resample, const struct blr_resample_part *part, float *coordinates)
{
    double at[3][BLOCK];
    place(resample, part, resample->picture.centre - 0.5, (double *const[3]){at[0], at[1], at[2]});
    if (resample->dimensions == 1)
        interleave(resample, at, part->count, 1, coordinates);
    else if (resample->dimensions == 2)
        interleave(resample, at, part->count, 2, coordinates);
    else
        interleave(resample, at, part->count, 3, coordinates);
}

/* Repeats the last position to the end of its group. */
static void complete_group(uint32_t count, uint32_t dimensions, double *const at[3])
{
    for (uint32_t d = 0; d < dimensions; d++)
        for (uint32_t i = count; i % GROUP != 0; i++)
            at[d][i] = at[d][count - 1];
}

/* The texel nearest to a position, above or at it; of two, the upper or the even one. */
INLINE int32_t nearest_texel(double at, bool ties_to_even)
{
    const double from_edge = at + 0.5;
    const int32_t low = (int32_t)floor(from_edge);
    return low - (ties_to_even && (low & 1) != 0 && (double)low == from_edge);
}

/* What a position needs: texels of the image alone, the fill value, or tests. */
enum { INSIDE, BEYOND, OTHER };

/* Whether whole groups of positions are in a range. */
INLINE bool are_within(const double *restrict from, const uint32_t count, double first, double last)
{
    int64_t all = -1;
    for (uint32_t i = 0; i < count; i++)
        all &= -(int64_t)((from[i] >= first) & (from[i] <= last));
    return all != 0;
}

/* Whether a group of positions is inside. Of positions that go one way, the first and the last one decide. */
static bool are_inside(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item)
{
    bool inside = resample->has_inside;
    for (uint32_t d = 0; d < resample->dimensions; d++) {
        const double *from = at[d] + item, first = resample->interior[d][0], last = resample->interior[d][1];
        if (resample->straight)
            inside &= from[0] >= first && from[0] <= last && from[GROUP - 1] >= first && from[GROUP - 1] <= last;
        else
            inside &= are_within(from, GROUP, first, last);
    }
    return inside;
}

/* Whether all positions of a part are inside, where that is found faster than for each group. */
static bool is_all_inside(const struct blr_resample *resample, double at[3][BLOCK], uint32_t count)
{
    bool inside = resample->has_inside && !resample->straight;
    for (uint32_t d = 0; d < resample->dimensions && inside; d++)
        inside = are_within(at[d], (count + GROUP - 1) / GROUP * GROUP, resample->interior[d][0], resample->interior[d][1]);
    return inside;
}

/* Whether no position of a group has a value because all are outside on one side. False where that takes more tests. */
static bool are_beyond(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item)
{
    bool beyond = false;
    for (uint32_t d = 0; resample->straight && d < resample->dimensions; d++) {
        const double first = at[d][item], last = at[d][item + GROUP - 1], *range = resample->value_range[d];
        beyond |= (first < range[0] && last < range[0]) || (first > range[1] && last > range[1]);
    }
    return beyond;
}

/* ---------------------------------------------------------------- texels */

/* The place of a texel of the larger image along an axis of a window; in an image that is no window, its index. */
INLINE int64_t held_texel(const struct blr_resample *resample, uint32_t d, int64_t texel)
{
    const int64_t from_origin = texel - resample->origin[d];
    const int64_t place = from_origin < 0 ? from_origin + resample->extent[d] : from_origin;
    return place < resample->window_size[d] ? place : resample->window_size[d] - 1;
}

typedef void (*gather_t_float)(const struct blr_resample *resample, const unsigned char *first, const int64_t offset[GROUP],
                               uint32_t channel, float texels[GROUP]);
typedef void (*gather_t_double)(const struct blr_resample *resample, const unsigned char *first, const int64_t offset[GROUP],
                                uint32_t channel, double texels[GROUP]);

/* Reads one channel of the texels at offsets from the first one. */
#define GATHER(NAME, REAL, ELEMENT, DECODED)                                                                             \
    static void NAME(const struct blr_resample *resample, const unsigned char *first, const int64_t offset[GROUP],       \
                     uint32_t channel, REAL texels[GROUP])                                                               \
    {                                                                                                                    \
        (void)resample;                                                                                                  \
        first += channel * sizeof(ELEMENT);                                                                              \
        for (uint32_t i = 0; i < GROUP; i++) {                                                                           \
            const ELEMENT code = *(const ELEMENT *)(const void *)(first + offset[i]);                                    \
            texels[i] = (REAL)(DECODED);                                                                                 \
        }                                                                                                                \
    }
#define GATHERS(REAL)                                                                                                    \
    GATHER(gather_s8_##REAL, REAL, int8_t, code)                                                                         \
    GATHER(gather_u8_##REAL, REAL, uint8_t, code)                                                                        \
    GATHER(gather_s16_##REAL, REAL, int16_t, code)                                                                       \
    GATHER(gather_u16_##REAL, REAL, uint16_t, code)                                                                      \
    GATHER(gather_snorm8_##REAL, REAL, int8_t, code < -127 ? -127 : code)                                                \
    GATHER(gather_snorm16_##REAL, REAL, int16_t, code < -32767 ? -32767 : code)
GATHERS(float)
GATHERS(double)
GATHER(gather_f16, float, uint16_t, blr_lane_from_half(code))
GATHER(gather_f32, float, float, code)
GATHER(gather_s32, double, int32_t, code)
GATHER(gather_u32, double, uint32_t, code)

static float packed_texel(const struct blr_resample *resample, const unsigned char *pixel, uint32_t channel)
{
    const struct blr_format *format = resample->texture->format;
    union {
        unsigned char bytes[BLR_MAX_PIXEL_SIZE];
        float real[BLR_MAX_CHANNELS];
        int32_t code[BLR_MAX_CHANNELS];
    } unpacked;
    blr_unpack_pixel(format->packing, resample->texture->desc.num_channels, pixel, unpacked.bytes);
    return format->class == BLR_CLASS_FLOAT ? unpacked.real[channel] : (float)unpacked.code[channel];
}

#define GATHER_PACKED(REAL)                                                                                              \
    static void gather_packed_##REAL(const struct blr_resample *resample, const unsigned char *first,                    \
                                     const int64_t offset[GROUP], uint32_t channel, REAL texels[GROUP])                  \
    {                                                                                                                    \
        for (uint32_t i = 0; i < GROUP; i++)                                                                             \
            texels[i] = (REAL)packed_texel(resample, first + offset[i], channel);                                        \
    }
GATHER_PACKED(float)
GATHER_PACKED(double)

static const gather_t_float gathers_float[] = {gather_s8_float, gather_u8_float,     gather_s16_float,     gather_u16_float,
                                               gather_f16,      gather_f32,          gather_snorm8_float,  gather_snorm16_float,
                                               gather_packed_float};
static const gather_t_double gathers_double[] = {
    [BLR_TEXEL_S8] = gather_s8_double,         [BLR_TEXEL_U8] = gather_u8_double,
    [BLR_TEXEL_S16] = gather_s16_double,       [BLR_TEXEL_U16] = gather_u16_double,
    [BLR_TEXEL_SNORM8] = gather_snorm8_double, [BLR_TEXEL_SNORM16] = gather_snorm16_double,
    [BLR_TEXEL_PACKED] = gather_packed_double, [BLR_TEXEL_S32] = gather_s32,
    [BLR_TEXEL_U32] = gather_u32};

typedef int32_t codes_t __attribute__((vector_size(16)));

/* Four integers of 8 or 16 bits that are next to each other. */
INLINE void read_codes(const unsigned char *from, const enum blr_texel_kind kind, codes_t *codes)
{
#if defined(__AVX2__)
    int64_t words = 0;
    memcpy(&words, from, kind == BLR_TEXEL_U8 ? 4 : 8);
    const __m128i packed = _mm_cvtsi64_si128(words);
    *codes = (codes_t)(kind == BLR_TEXEL_U8    ? _mm_cvtepu8_epi32(packed)
                       : kind == BLR_TEXEL_U16 ? _mm_cvtepu16_epi32(packed)
                                               : _mm_cvtepi16_epi32(packed));
#else
    uint16_t words[4] = {0};
    memcpy(words, from, kind == BLR_TEXEL_U8 ? 4 : sizeof words);
    if (kind == BLR_TEXEL_U8)
        *codes = (codes_t){from[0], from[1], from[2], from[3]};
    else if (kind == BLR_TEXEL_U16)
        *codes = (codes_t){words[0], words[1], words[2], words[3]};
    else
        *codes = (codes_t){(int16_t)words[0], (int16_t)words[1], (int16_t)words[2], (int16_t)words[3]};
#endif
}

/* Prefetches the last rows of filters, whose texels were not read before. */
static void prefetch_texels(uintptr_t first, const int64_t *offset, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 2)
        prefetch(first + (uintptr_t)offset[i]);
}

/* Copies one, two or four rows of a filter, of bytes each, for count items at offsets from the rows' first texels. */
INLINE void copy_rows_of(const unsigned char *const *first, const int64_t *restrict offset, uint32_t count,
                         const uint32_t rows, const uint32_t bytes, unsigned char (*copied)[LANES * 4])
{
    const unsigned char *const first_0 = first[0], *const first_1 = rows > 1 ? first[1] : NULL,
                               *const first_2 = rows > 2 ? first[2] : NULL, *const first_3 = rows > 2 ? first[3] : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t from = offset[i];
        memcpy(copied[0] + i * bytes, first_0 + from, bytes);
        if (rows > 1)
            memcpy(copied[1] + i * bytes, first_1 + from, bytes);
        if (rows > 2) {
            memcpy(copied[2] + i * bytes, first_2 + from, bytes);
            memcpy(copied[3] + i * bytes, first_3 + from, bytes);
        }
    }
}

INLINE void copy_bytes(const unsigned char *const *first, const int64_t *offset, uint32_t count, uint32_t rows,
                       const uint32_t bytes, unsigned char (*copied)[LANES * 4])
{
    if (rows == 1)
        copy_rows_of(first, offset, count, 1, bytes, copied);
    else if (rows == 2)
        copy_rows_of(first, offset, count, 2, bytes, copied);
    else if (rows == 4)
        copy_rows_of(first, offset, count, 4, bytes, copied);
    else
        for (uint32_t row = 0; row < rows; row++)
            copy_rows_of(first + row, offset, count, 1, bytes, copied + row);
}

static void copy_rows(const unsigned char *const *first, const int64_t *offset, uint32_t count, uint32_t rows,
                      uint32_t bytes, unsigned char (*copied)[LANES * 4])
{
    switch (bytes) {
    case 1: copy_bytes(first, offset, count, rows, 1, copied); break;
    case 2: copy_bytes(first, offset, count, rows, 2, copied); break;
    case 3: copy_bytes(first, offset, count, rows, 3, copied); break;
    case 4: copy_bytes(first, offset, count, rows, 4, copied); break;
    case 6: copy_bytes(first, offset, count, rows, 6, copied); break;
    case 8: copy_bytes(first, offset, count, rows, 8, copied); break;
    case 12: copy_bytes(first, offset, count, rows, 12, copied); break;
    case 16: copy_bytes(first, offset, count, rows, 16, copied); break;
    case 20: copy_bytes(first, offset, count, rows, 20, copied); break;
    case 24: copy_bytes(first, offset, count, rows, 24, copied); break;
    case 32: copy_bytes(first, offset, count, rows, 32, copied); break;
    case 48: copy_bytes(first, offset, count, rows, 48, copied); break;
    case 64: copy_bytes(first, offset, count, rows, 64, copied); break;
    default: copy_bytes(first, offset, count, rows, bytes, copied); break;
    }
}

/* The fill value, in units of codes for normalized images. */
static double fill_of(const struct blr_resample *resample)
{
    const int32_t largest = resample->texture->format->maximum;
    return resample->picture.fill * (largest != 0 ? largest : 1);
}

static float fill_of_float(const struct blr_resample *resample) { return (float)fill_of(resample); }
static double fill_of_double(const struct blr_resample *resample) { return fill_of(resample); }

/* ---------------------------------------------------------------- storage */

/* Range of the integers that a picture stores. */
struct limits {
    double lowest, highest;
};

static struct limits limits_of(blr_element_type_t type, const struct blr_format *format)
{
    const bool is_signed = type == BLR_ELEMENT_S8 || type == BLR_ELEMENT_S16 || type == BLR_ELEMENT_S32;
    const double count = (double)((uint64_t)1 << 8 * blr_element_size(type)), largest = format->maximum;
    struct limits limits = {is_signed ? -0.5 * count : 0.0, (is_signed ? 0.5 * count : count) - 1.0};
    if (largest != 0) {
        const double lowest = format->class == BLR_CLASS_SNORM ? -largest : 0.0;
        limits.lowest = limits.lowest < lowest ? lowest : limits.lowest;
        limits.highest = limits.highest > largest ? largest : limits.highest;
    }
    return limits;
}

/* Stores integers as elements of 1 or 2 bytes. */
static void put_codes(const int32_t *restrict codes, uint32_t count, uint32_t size, unsigned char *restrict to)
{
    uint16_t *words = (uint16_t *)(void *)to;
    if (size == 1)
        for (int32_t i = 0; i < (int32_t)count; i++)
            to[i] = (uint8_t)codes[i];
    else
        for (int32_t i = 0; i < (int32_t)count; i++)
            words[i] = (uint16_t)codes[i];
}

#define half_of_float blr_lane_to_half
#define half_of_double blr_lane_to_half_from_double

/* ---------------------------------------------------------------- filters */

#define REAL float
#define NAME(name) name##_float
#define VALUES struct blr_resample_floats
#define ROUNDER 0x1.8p23f
#define NUMBERS_OF_CODES _mm_cvtepi32_ps
#define SPLINES 1
#include "resample/store.h"
#include "resample/filter.h"
#include "resample/inside.h"
#include "resample/cubic.h"
#include "resample/linear.h"
#include "resample/texels.h"
#include "resample/parts.h"
#include "resample/pick.h"
#include "resample/aligned.h"
#undef SPLINES
#undef REAL
#undef NAME
#undef VALUES
#undef ROUNDER
#undef NUMBERS_OF_CODES
#define REAL double
#define NAME(name) name##_double
#define VALUES struct blr_resample_doubles
#define ROUNDER 0x1.8p52
#define NUMBERS_OF_CODES _mm256_cvtepi32_pd
#define SPLINES 0
#include "resample/store.h"
#include "resample/filter.h"
#include "resample/inside.h"
#include "resample/linear.h"
#include "resample/texels.h"
#include "resample/parts.h"
#include "resample/pick.h"
#include "resample/aligned.h"

static void filter(const struct blr_resample *resample, const struct blr_resample_part *part)
{
    _Alignas(64) double at[3][BLOCK];
    const uint32_t pitch = (part->count + GROUP - 1) / GROUP * GROUP;
    struct blr_resample_part row = *part;
    for (uint32_t r = 0; r < part->rows; r++, row.row++) {
        double *const into[3] = {at[0] + r * pitch, at[1] + r * pitch, at[2] + r * pitch};
        place(resample, &row, resample->picture.centre, into);
        complete_group(part->count, resample->dimensions, into);
    }
    if (resample->has_doubles)
        filter_part_double(resample, part, pitch, at);
    else
        filter_part_float(resample, part, pitch, at);
}

static void filter_box(const struct blr_resample *resample, const uint64_t begin[3], const uint64_t end[3])
{
    if (resample->has_doubles && !resample->has_exact_floats)
        fill_box_double(resample, begin, end);
    else
        fill_box_float(resample, begin, end);
}

const struct blr_resample_set blr_resample_set = {place,      coordinates, filter, filter_box,
                                                  store_float, store_double, follow_lens};
