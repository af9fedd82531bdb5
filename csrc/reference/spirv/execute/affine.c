/* Operations on affine values: base and stride where operands are affine, else the operation on lanes. */
#include "spirv/execute/affine.h"

#include <string.h>

/* ---------------------------------------------------------------- registers */

#define WRITE(T)                                                                                                       \
    for (size_t i = 0; i < BLR_LANES; i++)                                                                             \
        ((T *)(void *)lanes)[i] = (T)((T)base + (T)i * (T)stride)

void blr_affine_write(unsigned char *lanes, uint8_t size, uint64_t base, uint64_t stride)
{
    switch (size) {
    case 1: WRITE(uint8_t); break;
    case 2: WRITE(uint16_t); break;
    case 4: WRITE(uint32_t); break;
    default: WRITE(uint64_t); break;
    }
}

static inline const struct blr_affine *operand(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t k)
{
    return blr_affine_at(batch, op->in[k]);
}

/* Whether lanes outside of the mask may still read the result that an earlier mask wrote. */
static inline bool keeps(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op)
{
    return op->keeps && !batch->whole;
}

/* Runs the operation on lanes. */
static void run_lanes(struct blr_spirv_batch *batch, const struct blr_spirv_op *op)
{
    struct blr_affine *value = blr_affine_at(batch, op->result);
    blr_affine_expand_operands(batch, op);
    if (keeps(batch, op)) {
        blr_affine_expand(batch, op->result);
        op->plain(batch, op, batch->scratch);
        blr_spirv_blend(batch, op, batch->scratch);
    } else {
        op->plain(batch, op, batch->registers + op->result);
    }
    value->is_affine = false;
}

/* Sets the result. */
static inline void settle(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint64_t base, uint64_t stride)
{
    struct blr_affine *value = blr_affine_at(batch, op->result);
    const struct blr_affine before = *value;
    if (!keeps(batch, op)) {
        blr_affine_set(batch, op->result, op->element, base, stride, false);
        return;
    }
    const uint64_t bits = UINT64_MAX >> (64 - 8 * op->element);
    if (before.is_affine && before.base == (base & bits) && before.stride == (stride & bits))
        return;
    blr_affine_expand(batch, op->result);
    blr_affine_write(batch->scratch, op->element, base, stride);
    blr_spirv_blend(batch, op, batch->scratch);
    value->is_affine = false;
}

/* ---------------------------------------------------------------- numbers of the active lanes */

static inline int64_t extended(uint64_t bits, uint8_t size)
{
    const unsigned unused = 64 - 8u * size;
    return (int64_t)(bits << unused) >> unused;
}

/* The numbers of the first and the last active lane; all between lie on the line between them. Unsigned numbers of 64
 * bits are moved down by 2^63. */
struct ends {
    int64_t first, last;
};

/* False if a number wraps between the two. */
static inline bool ends_of(const struct blr_spirv_batch *batch, const struct blr_affine *value, bool is_signed, struct ends *ends)
{
    const uint64_t start = value->base + batch->low * value->stride;
    int64_t distance;
    if (__builtin_mul_overflow(extended(value->stride, value->size), (int64_t)(batch->high - batch->low), &distance))
        return false;
    if (value->size == 8) {
        ends->first = (int64_t)(is_signed ? start : start ^ (uint64_t)1 << 63);
        return !__builtin_add_overflow(ends->first, distance, &ends->last);
    }
    const unsigned unused = 64 - 8u * value->size;
    ends->first = is_signed ? extended(start, value->size) : (int64_t)(start << unused >> unused);
    ends->last = ends->first + distance;
    return ends->last == (is_signed ? extended((uint64_t)ends->last, value->size)
                                    : (int64_t)((uint64_t)ends->last << unused >> unused));
}

/* ---------------------------------------------------------------- arithmetic */

#define RUN(name) static void run_##name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)

/* An operation that has no affine form. */
RUN(none)
{
    blr_affine_expand_operands(batch, op);
    op->plain(batch, op, result);
}

RUN(copy)
{
    const struct blr_affine *x = operand(batch, op, 0);
    (void)result;
    if (x->is_affine)
        settle(batch, op, x->base, x->stride);
    else
        run_lanes(batch, op);
}

RUN(negate)
{
    const struct blr_affine *x = operand(batch, op, 0);
    (void)result;
    if (x->is_affine)
        settle(batch, op, 0 - x->base, 0 - x->stride);
    else
        run_lanes(batch, op);
}

RUN(offset)
{
    const struct blr_affine *x = operand(batch, op, 0);
    (void)result;
    if (x->is_affine)
        settle(batch, op, x->base + op->literal, x->stride);
    else
        run_lanes(batch, op);
}

/* Binary operations: the condition under which the result is affine, its base and its stride. */
#define BINARY(name, condition, new_base, new_stride)                                                                  \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        const struct blr_affine *x = operand(batch, op, 0), *y = operand(batch, op, 1);                                \
        (void)result;                                                                                                  \
        if (x->is_affine && y->is_affine && (condition))                                                               \
            settle(batch, op, new_base, new_stride);                                                                   \
        else                                                                                                           \
            run_lanes(batch, op);                                                                                      \
    }

BINARY(add, true, x->base + y->base, x->stride + y->stride)
BINARY(subtract, true, x->base - y->base, x->stride - y->stride)
BINARY(multiply, x->stride == 0 || y->stride == 0, x->base *y->base, x->stride *y->base + y->stride * x->base)
BINARY(shift_left, y->stride == 0 && y->base < 8u * op->element, x->base << y->base, x->stride << y->base)
BINARY(both, (x->stride | y->stride) == 0, x->base &y->base, 0)
BINARY(either, (x->stride | y->stride) == 0, x->base | y->base, 0)
BINARY(differ, (x->stride | y->stride) == 0, x->base ^ y->base, 0)

RUN(logical_not)
{
    const struct blr_affine *x = operand(batch, op, 0);
    (void)result;
    if (x->is_affine)
        settle(batch, op, x->base ^ 1, 0);
    else
        run_lanes(batch, op);
}

/* Conversions of integers: a narrower result drops bits, a wider one is affine where no active lane wraps. */
static inline void convert(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, bool is_signed)
{
    const struct blr_affine *x = operand(batch, op, 0);
    struct ends ends;
    if (x->is_affine && op->element <= x->size) {
        settle(batch, op, x->base, x->stride);
    } else if (x->is_affine && ends_of(batch, x, is_signed, &ends)) {
        const uint64_t stride = (uint64_t)extended(x->stride, x->size);
        settle(batch, op, (uint64_t)ends.first - batch->low * stride, stride);
    } else {
        run_lanes(batch, op);
    }
}

RUN(convert_unsigned)
{
    (void)result;
    convert(batch, op, false);
}

RUN(convert_signed)
{
    (void)result;
    convert(batch, op, true);
}

/* Other operations are affine for uniform operands: lanes, all the same. */
RUN(uniform)
{
    bool is_uniform = !keeps(batch, op);
    for (uint32_t k = 0; k < 2; k++)
        if ((op->expand >> k & 1) != 0)
            is_uniform = is_uniform && operand(batch, op, k)->is_affine && operand(batch, op, k)->stride == 0;
    run_lanes(batch, op);
    if (!is_uniform)
        return;
    uint64_t base = 0;
    memcpy(&base, result, op->element);
    blr_affine_set(batch, op->result, op->element, base, 0, true);
}

/* ---------------------------------------------------------------- comparisons */

/* Both lines are compared at their ends: an order that holds at both, or at neither, is that of all lanes. */
#define COMPARE(name, is_signed, relation)                                                                             \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        const struct blr_affine *x = operand(batch, op, 0), *y = operand(batch, op, 1);                                \
        struct ends a, b;                                                                                              \
        (void)result;                                                                                                  \
        if (x->is_affine && y->is_affine && ends_of(batch, x, is_signed, &a) && ends_of(batch, y, is_signed, &b) &&    \
            (a.first relation b.first) == (a.last relation b.last))                                                    \
            settle(batch, op, a.first relation b.first, 0);                                                            \
        else                                                                                                           \
            run_lanes(batch, op);                                                                                      \
    }

COMPARE(above, false, >)
COMPARE(above_or_equal, false, >=)
COMPARE(below, false, <)
COMPARE(below_or_equal, false, <=)
COMPARE(greater, true, >)
COMPARE(greater_or_equal, true, >=)
COMPARE(less, true, <)
COMPARE(less_or_equal, true, <=)

static inline void compare_equal(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, bool equal)
{
    const struct blr_affine *x = operand(batch, op, 0), *y = operand(batch, op, 1);
    struct ends a, b;
    if (x->is_affine && y->is_affine && ends_of(batch, x, true, &a) && ends_of(batch, y, true, &b)) {
        const bool same = a.first == b.first && a.last == b.last;
        if (same || (a.first < b.first && a.last < b.last) || (a.first > b.first && a.last > b.last)) {
            settle(batch, op, same == equal, 0);
            return;
        }
    }
    run_lanes(batch, op);
}

RUN(equal)
{
    (void)result;
    compare_equal(batch, op, true);
}

RUN(unequal)
{
    (void)result;
    compare_equal(batch, op, false);
}

RUN(select)
{
    const struct blr_affine *condition = operand(batch, op, 0);
    const struct blr_affine *choice = operand(batch, op, condition->base != 0 ? 1 : 2);
    (void)result;
    if (condition->is_affine && choice->is_affine)
        settle(batch, op, choice->base, choice->stride);
    else
        run_lanes(batch, op);
}

/* ---------------------------------------------------------------- addresses */

RUN(index)
{
    const struct blr_affine *x = operand(batch, op, 0), *y = operand(batch, op, 1);
    struct ends ends;
    (void)result;
    if (x->is_affine && y->is_affine && y->size == 8) {
        settle(batch, op, x->base + y->base * op->literal, x->stride + y->stride * op->literal);
    } else if (x->is_affine && y->is_affine && ends_of(batch, y, true, &ends)) {
        const uint64_t stride = (uint64_t)extended(y->stride, y->size);
        settle(batch, op, x->base + ((uint64_t)ends.first - batch->low * stride) * op->literal, x->stride + stride * op->literal);
    } else {
        run_lanes(batch, op);
    }
}

RUN(array_index)
{
    const struct blr_affine *x = operand(batch, op, 0), *length = operand(batch, op, 1 + (op->literal & 0xff));
    struct ends ends;
    (void)result;
    if (x->is_affine && length->is_affine && length->stride == 0 && (int64_t)length->base >= 0 &&
        ends_of(batch, x, true, &ends)) {
        const int64_t size = (int64_t)length->base;
        const int64_t low = ends.first < ends.last ? ends.first : ends.last;
        const int64_t high = ends.first < ends.last ? ends.last : ends.first;
        if (low >= 0 && high < size) {
            settle(batch, op, x->base, x->stride);
            return;
        }
        if (low >= -size && high < 0) {
            settle(batch, op, x->base + length->base, x->stride);
            return;
        }
    }
    run_lanes(batch, op);
}

/* ---------------------------------------------------------------- loads and stores */

/* Whether the active lanes may access size bytes at each of their addresses. */
static bool reachable(struct blr_spirv_batch *batch, const struct blr_affine *address, uint64_t size, bool write)
{
    struct ends ends;
    if (!ends_of(batch, address, false, &ends))
        return false;
    const uint64_t top = (uint64_t)1 << 63;
    const uint64_t low = (uint64_t)(ends.first < ends.last ? ends.first : ends.last) ^ top;
    const uint64_t high = (uint64_t)(ends.first < ends.last ? ends.last : ends.first) ^ top;
    return high <= UINT64_MAX - size && blr_spirv_reachable(batch, low, high - low + size, write);
}

static inline uint64_t number_at(const unsigned char *from, uint32_t size)
{
    uint64_t number = 0;
    switch (size) {
    case 1: return *from;
    case 2: memcpy(&number, from, 2); break;
    case 4: memcpy(&number, from, 4); break;
    default: memcpy(&number, from, 8); break;
    }
    return number;
}

#define AT(address) ((void *)(uintptr_t)(address))

#define GATHER(T)                                                                                                      \
    for (uint32_t i = low; i < low + count; i++)                                                                       \
        memcpy((T *)(void *)to + i, AT(from + i * stride), sizeof(T))

/* Whether lanes between the first active one and the last are not active: other threads may write where they would read. */
static inline bool has_gaps(const struct blr_spirv_batch *batch)
{
    return batch->mask >> batch->low != UINT64_MAX >> (BLR_LANES - 1 - (batch->high - batch->low));
}

/* One scalar of every active lane; from is the address of lane 0. */
static void gather(const struct blr_spirv_batch *batch, uint64_t from, uint64_t stride, uint32_t size, unsigned char *to)
{
    const uint32_t low = batch->low, count = batch->high - low + 1;
    if (has_gaps(batch)) {
        for (uint64_t lanes = batch->mask; lanes != 0; lanes &= lanes - 1) {
            const uint32_t i = (uint32_t)__builtin_ctzll(lanes);
            memcpy(to + i * size, AT(from + i * stride), size);
        }
    } else if (stride == size && count == BLR_LANES) {
        switch (size) {
        case 1: memcpy(to, AT(from), BLR_LANES); break;
        case 2: memcpy(to, AT(from), 2 * BLR_LANES); break;
        case 4: memcpy(to, AT(from), 4 * BLR_LANES); break;
        default: memcpy(to, AT(from), 8 * BLR_LANES); break;
        }
    } else if (stride == size) {
        memcpy(to + low * size, AT(from + low * size), count * size);
    } else {
        switch (size) {
        case 1: GATHER(uint8_t); break;
        case 2: GATHER(uint16_t); break;
        case 4: GATHER(uint32_t); break;
        default: GATHER(uint64_t); break;
        }
    }
}

static void load_lanes(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const struct blr_affine *address,
                       unsigned char *result)
{
    const uint32_t components = op->count / BLR_LANES;
    for (uint32_t c = 0; c < components; c++) {
        const uint64_t from = address->base + c * op->element;
        unsigned char *to = result + (size_t)c * BLR_LANES * op->element;
        if (address->stride == 0)
            blr_affine_write(to, op->element, number_at(AT(from), op->element), 0);
        else
            gather(batch, from, address->stride, op->element, to);
    }
    for (uint32_t i = 0; op->literal != 0 && i < op->count; i++)
        result[i] = result[i] != 0;
}

RUN(load)
{
    const struct blr_affine *address = operand(batch, op, 0);
    if (!address->is_affine || !reachable(batch, address, (uint64_t)op->count / BLR_LANES * op->element, false)) {
        if (op->is_affine)
            run_lanes(batch, op);
        else
            run_none(batch, op, result);
    } else if (!op->is_affine) {
        load_lanes(batch, op, address, result);
    } else if (address->stride == 0) {
        const uint64_t number = number_at(AT(address->base), op->element);
        settle(batch, op, op->literal != 0 ? number != 0 : number, 0);
    } else if (keeps(batch, op)) {
        blr_affine_expand(batch, op->result);
        load_lanes(batch, op, address, batch->scratch);
        blr_spirv_blend(batch, op, batch->scratch);
        blr_affine_at(batch, op->result)->is_affine = false;
    } else {
        load_lanes(batch, op, address, result);
        blr_affine_at(batch, op->result)->is_affine = false;
    }
}

/* One scalar of every active lane; to is the address of lane 0. Of equal addresses the last lane's value remains. */
static void scatter(const struct blr_spirv_batch *batch, const unsigned char *from, uint64_t to, uint64_t stride, uint32_t size)
{
    const uint32_t low = batch->low, high = batch->high, count = high - low + 1;
    const bool gaps = has_gaps(batch);
    if (stride == 0) {
        memcpy(AT(to), from + high * size, size);
    } else if (stride == size && !gaps && count == BLR_LANES && size == 4) {
        memcpy(AT(to), from, 4 * BLR_LANES);
    } else if (stride == size && !gaps) {
        memcpy(AT(to + low * size), from + low * size, count * size);
    } else {
        for (uint64_t lanes = batch->mask; lanes != 0; lanes &= lanes - 1) {
            const uint32_t i = (uint32_t)__builtin_ctzll(lanes);
            memcpy(AT(to + i * stride), from + i * size, size);
        }
    }
}

RUN(store)
{
    const struct blr_affine *address = operand(batch, op, 0);
    const uint32_t size = (uint32_t)(op->literal & 0xff), components = (uint32_t)(op->literal >> 8 & 0xffffffff);
    if (!address->is_affine || !reachable(batch, address, (uint64_t)components * size, true)) {
        run_none(batch, op, result);
        return;
    }
    if ((op->expand >> 1 & 1) != 0)
        blr_affine_expand(batch, op->in[1]);
    const unsigned char *values = blr_register(batch, op->in[1]);
    for (uint32_t c = 0; c < components; c++)
        scatter(batch, values + (size_t)c * BLR_LANES * size, address->base + c * size, address->stride, size);
}

const blr_spirv_run_t blr_affine_operations[BLR_AFFINE_FORMS] = {
    [BLR_AFFINE_NONE] = run_none,
    [BLR_AFFINE_COPY] = run_copy,
    [BLR_AFFINE_ADD] = run_add,
    [BLR_AFFINE_SUBTRACT] = run_subtract,
    [BLR_AFFINE_MULTIPLY] = run_multiply,
    [BLR_AFFINE_SHIFT_LEFT] = run_shift_left,
    [BLR_AFFINE_NEGATE] = run_negate,
    [BLR_AFFINE_BOTH] = run_both,
    [BLR_AFFINE_EITHER] = run_either,
    [BLR_AFFINE_DIFFER] = run_differ,
    [BLR_AFFINE_NOT] = run_logical_not,
    [BLR_AFFINE_CONVERT_UNSIGNED] = run_convert_unsigned,
    [BLR_AFFINE_CONVERT_SIGNED] = run_convert_signed,
    [BLR_AFFINE_UNIFORM] = run_uniform,
    [BLR_AFFINE_EQUAL] = run_equal,
    [BLR_AFFINE_UNEQUAL] = run_unequal,
    [BLR_AFFINE_ABOVE] = run_above,
    [BLR_AFFINE_ABOVE_OR_EQUAL] = run_above_or_equal,
    [BLR_AFFINE_BELOW] = run_below,
    [BLR_AFFINE_BELOW_OR_EQUAL] = run_below_or_equal,
    [BLR_AFFINE_GREATER] = run_greater,
    [BLR_AFFINE_GREATER_OR_EQUAL] = run_greater_or_equal,
    [BLR_AFFINE_LESS] = run_less,
    [BLR_AFFINE_LESS_OR_EQUAL] = run_less_or_equal,
    [BLR_AFFINE_SELECT] = run_select,
    [BLR_AFFINE_OFFSET] = run_offset,
    [BLR_AFFINE_INDEX] = run_index,
    [BLR_AFFINE_ARRAY_INDEX] = run_array_index,
    [BLR_AFFINE_LOAD] = run_load,
    [BLR_AFFINE_STORE] = run_store,
};
