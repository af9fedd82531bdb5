/* Execution of operations that are not elementwise: copies, vector indexing, bit casts, selection, dot products,
 * addresses. */
#include "spirv/execute/operations.h"

#include "spirv/execute/geometric.h"
#include "spirv/half.h"
#include "spirv/execute/lane_operations.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void blr_spirv_run_copy(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    /* A multiple of 64 bytes: inlined instead of a memcpy call. */
    const uint64_t *from = blr_register(batch, op->in[0]);
    uint64_t *restrict to = (uint64_t *)result;
    const size_t pieces = (size_t)op->count * op->element / 64;
    for (size_t k = 0; k < pieces; k++, from += 8, to += 8)
        for (size_t i = 0; i < 8; i++)
            to[i] = from[i];
}

static uint64_t number_at(const struct blr_spirv_batch *batch, uint32_t place, uint32_t size, uint32_t lane)
{
    uint64_t number = 0;
    memcpy(&number, batch->registers + place + (size_t)lane * size, size);
    return number;
}

static void extract(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result, uint64_t bits)
{
    uint32_t components = *(const uint32_t *)op->info, size = (uint32_t)op->literal;
    const unsigned char *vector = blr_register(batch, op->in[0]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        uint64_t number = number_at(batch, op->in[1], size, lane) & bits;
        if (number >= components)
            number = 0;
        memcpy(result + (size_t)lane * op->element, vector + (number * BLR_LANES + lane) * op->element, op->element);
    }
}

void blr_spirv_run_extract(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    extract(batch, op, result, UINT64_MAX);
}

void blr_spirv_run_extract_wrapped(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    uint64_t bits = 1;
    while (bits + 1 < *(const uint32_t *)op->info)
        bits = bits << 1 | 1;
    extract(batch, op, result, bits);
}

void blr_spirv_run_insert(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    uint32_t components = op->count / BLR_LANES, size = (uint32_t)op->literal;
    const unsigned char *scalar = blr_register(batch, op->in[2]);
    memcpy(result, blr_register(batch, op->in[0]), (size_t)op->count * op->element);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        uint64_t number = number_at(batch, op->in[1], size, lane);
        if (number < components)
            memcpy(result + (number * BLR_LANES + lane) * op->element, scalar + (size_t)lane * op->element, op->element);
    }
}

void blr_spirv_run_bitcast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const unsigned char *source = blr_register(batch, op->in[0]);
    size_t from = (size_t)op->literal, to = op->element, bytes = op->count / BLR_LANES * to;
    size_t piece = from < to ? from : to;
    for (size_t offset = 0; offset < bytes; offset += piece)
        for (uint32_t lane = 0; lane < BLR_LANES; lane++)
            memcpy(result + (offset / to * BLR_LANES + lane) * to + offset % to,
                   source + (offset / from * BLR_LANES + lane) * from + offset % from, piece);
}

#define SELECT(name, T)                                                                                                \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const uint8_t *condition = batch->registers + op->in[0];                                                       \
        const T *x = (const T *)(batch->registers + op->in[1]);                                                        \
        const T *y = (const T *)(batch->registers + op->in[2]);                                                        \
        BLR_FOR_ELEMENTS(op, i) r[i] = condition[i] ? x[i] : y[i];                                                     \
    }
SELECT(select_8, uint8_t)
SELECT(select_16, uint16_t)
SELECT(select_32, uint32_t)
SELECT(select_64, uint64_t)

blr_spirv_run_t blr_spirv_select(uint32_t size)
{
    static const blr_spirv_run_t table[4] = {select_8, select_16, select_32, select_64};
    return table[blr_size_index(size)];
}

void blr_spirv_run_choose(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint8_t *condition = blr_register(batch, op->in[0]);
    const unsigned char *yes = blr_register(batch, op->in[1]), *no = blr_register(batch, op->in[2]);
    for (uint32_t i = 0; i < op->count; i++) {
        size_t at = (size_t)i * op->element;
        memcpy(result + at, (condition[i % BLR_LANES] ? yes : no) + at, op->element);
    }
}

#define SCALE(name, T, LOAD, STORE)                                                                                    \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        BLR_FOR_ELEMENTS(op, i) r[i] = STORE(LOAD(x[i]) * LOAD(y[i % BLR_LANES]));                                     \
    }
static void dot_16(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    uint16_t *restrict r = (uint16_t *)result;
    const uint16_t *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        float sum = blr_lane_from_half(x[lane]) * blr_lane_from_half(y[lane]);
        for (uint32_t c = 1; c < op->literal; c++)
            sum += blr_lane_from_half(x[c * BLR_LANES + lane]) * blr_lane_from_half(y[c * BLR_LANES + lane]);
        r[lane] = blr_lane_to_half(sum);
    }
}
#define PLAIN(value) (value)
SCALE(scale_16, uint16_t, blr_lane_from_half, blr_lane_to_half)
SCALE(scale_32, float, PLAIN, PLAIN)
SCALE(scale_64, double, PLAIN, PLAIN)

blr_spirv_run_t blr_spirv_scale(uint32_t size) { return size == 2 ? scale_16 : size == 4 ? scale_32 : scale_64; }
blr_spirv_run_t blr_spirv_dot(uint32_t size)
{
    return size == 2 ? dot_16 : size == 4 ? blr_spirv_dot_float : blr_spirv_dot_double;
}

void blr_spirv_run_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint8_t *x = blr_register(batch, op->in[0]);
    memset(result, 0, BLR_LANES);
    for (uint32_t i = 0; i < op->literal * BLR_LANES; i++)
        result[i % BLR_LANES] |= x[i];
}

void blr_spirv_run_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint8_t *x = blr_register(batch, op->in[0]);
    memset(result, 1, BLR_LANES);
    for (uint32_t i = 0; i < op->literal * BLR_LANES; i++)
        result[i % BLR_LANES] &= x[i];
}

void blr_spirv_run_offset(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    uint64_t *restrict r = (uint64_t *)result;
    const uint64_t *x = blr_register(batch, op->in[0]);
    for (uint32_t i = 0; i < BLR_LANES; i++)
        r[i] = x[i] + op->literal;
}

#define INDEX(name, T)                                                                                                 \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        uint64_t *restrict r = (uint64_t *)result;                                                                     \
        const uint64_t *x = blr_register(batch, op->in[0]);                                                            \
        const T *y = blr_register(batch, op->in[1]);                                                                   \
        for (uint32_t i = 0; i < BLR_LANES; i++)                                                                       \
            r[i] = x[i] + (uint64_t)(int64_t)y[i] * op->literal;                                                       \
    }
INDEX(index_8, int8_t)
INDEX(index_16, int16_t)
INDEX(index_32, int32_t)
INDEX(index_64, int64_t)

blr_spirv_run_t blr_spirv_index(uint32_t size)
{
    static const blr_spirv_run_t table[4] = {index_8, index_16, index_32, index_64};
    return table[blr_size_index(size)];
}

static void outside(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint64_t lanes)
{
    const uint32_t lane = (uint32_t)__builtin_ctzll(lanes), axis = op->literal & 0xff, dimensions = op->literal >> 8 & 0xff;
    const int64_t *indices = blr_register(batch, op->in[0]);
    char shape[80];
    size_t used = 0;
    for (uint32_t d = 0; d < dimensions && used < sizeof shape; d++) {
        const int64_t *sizes = blr_register(batch, op->in[1 + d]);
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%" PRId64, d > 0 ? ", " : "", sizes[lane]);
    }
    blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                    "index %" PRId64 " of axis %u is outside of the array of shape (%s%s)", indices[lane], axis, shape,
                    dimensions == 1 ? "," : "");
}

#define ARRAY_INDEX(name, size)                                                                                        \
    void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)                     \
    {                                                                                                                  \
        uint64_t *restrict r = (uint64_t *)result;                                                                     \
        const uint64_t *x = blr_register(batch, op->in[0]), *sizes = blr_register(batch, op->in[1 + (op->literal & 0xff)]); \
        uint64_t beyond = 0, lanes = 0;                                                                                \
        for (uint32_t i = 0; i < BLR_LANES; i++) {                                                                     \
            const uint64_t index = x[i] + (size & (0 - (x[i] >> 63)));                                                 \
            beyond |= index | (size - 1 - index); /* the sign bit: one of the two is negative */                       \
            r[i] = index;                                                                                              \
        }                                                                                                              \
        if (beyond >> 63 == 0)                                                                                         \
            return;                                                                                                    \
        for (uint32_t i = 0; i < BLR_LANES; i++)                                                                       \
            lanes |= (uint64_t)(r[i] >= size) << i;                                                                    \
        if ((lanes &= batch->mask) != 0)                                                                               \
            outside(batch, op, lanes);                                                                                 \
    }
ARRAY_INDEX(blr_spirv_run_array_index, sizes[i])
ARRAY_INDEX(blr_spirv_run_argument_index, sizes[0])

void blr_spirv_run_difference(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const int64_t *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        int64_t elements = (int64_t)((uint64_t)x[i] - (uint64_t)y[i]) / (int64_t)op->literal;
        memcpy(result + (size_t)i * op->element, &elements, op->element);
    }
}
