/*
 * Operations among the work-items of a sub-group, which are the lanes of a batch: up to 64 neighbours of one work-group.
 * Those that take part are the lanes that came to the instruction together.
 */
#include "spirv_builder.h"
#include "spirv_half.h"
#include "spirv_lanes.h"
#include "spirv_run.h"

#include <math.h>
#include <string.h>

#define SUB_GROUP 3u

enum { REDUCE = 0, INCLUSIVE = 1, EXCLUSIVE = 2 };

static uint32_t first_lane(const struct blr_spirv_batch *batch)
{
    uint32_t lane = 0;
    while ((batch->mask >> lane & 1) == 0)
        lane++;
    return lane;
}

/* ---------------------------------------------------------------- questions */

static void run_elect(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)op;
    memset(result, 0, BLR_LANES);
    result[first_lane(batch)] = 1;
}

static uint64_t lanes_that_hold(const struct blr_spirv_batch *batch, const uint8_t *condition)
{
    uint64_t lanes = 0;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        lanes |= (uint64_t)(condition[i] != 0) << i;
    return lanes & batch->mask;
}

static void run_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    memset(result, lanes_that_hold(batch, blr_register(batch, op->in[0])) == batch->mask, BLR_LANES);
}

static void run_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    memset(result, lanes_that_hold(batch, blr_register(batch, op->in[0])) != 0, BLR_LANES);
}

static void run_ballot(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    uint64_t lanes = lanes_that_hold(batch, blr_register(batch, op->in[0]));
    uint32_t *r = (uint32_t *)result;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        r[i] = (uint32_t)lanes;
        r[BLR_LANES + i] = (uint32_t)(lanes >> 32);
        r[2 * BLR_LANES + i] = r[3 * BLR_LANES + i] = 0;
    }
}

/* literal: bytes of an element; info: how many of them a value has. */
static void run_all_equal(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const unsigned char *values = blr_register(batch, op->in[0]);
    uint32_t first = first_lane(batch), size = (uint32_t)op->literal;
    bool equal = true;
    for (uint32_t c = 0; c < *(const uint32_t *)op->info; c++)
        for (uint32_t i = 0; i < BLR_LANES; i++)
            if ((batch->mask >> i & 1) != 0)
                equal = equal && memcmp(values + (c * BLR_LANES + i) * size, values + (c * BLR_LANES + first) * size,
                                        size) == 0;
    memset(result, equal, BLR_LANES);
}

/* ---------------------------------------------------------------- values of other lanes */

enum { FROM_NUMBER, FROM_FIRST, FROM_XOR, FROM_BELOW, FROM_ABOVE };

/* literal: which lane; in[1]: a number of 32 bits. A lane that does not exist stands for the lane's own. */
static void run_shuffle(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const unsigned char *values = blr_register(batch, op->in[0]);
    const uint32_t *numbers = blr_register(batch, op->in[1]);
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t lane = i % BLR_LANES, source;
        switch (op->literal) {
        case FROM_FIRST: source = first_lane(batch); break;
        case FROM_XOR: source = lane ^ numbers[lane]; break;
        case FROM_BELOW: source = numbers[lane] <= lane ? lane - numbers[lane] : lane; break;
        case FROM_ABOVE: source = numbers[lane] < BLR_LANES - lane ? lane + numbers[lane] : lane; break;
        default: source = numbers[lane]; break;
        }
        if (source >= BLR_LANES)
            source = lane;
        memcpy(result + (size_t)i * op->element, values + (size_t)(i - lane + source) * op->element, op->element);
    }
}

/* ---------------------------------------------------------------- sums and the like */

#define FOLD(name, T, W, GET, PUT, start, expression)                                                                  \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        for (uint32_t c = 0; c < op->count; c += BLR_LANES) {                                                          \
            const T *x = (const T *)blr_register(batch, op->in[0]) + c;                                                \
            T *r = (T *)result + c;                                                                                    \
            W a = (W)(start);                                                                                          \
            for (uint32_t i = 0; i < BLR_LANES; i++) {                                                                 \
                if ((batch->mask >> i & 1) == 0)                                                                       \
                    continue;                                                                                          \
                if (op->literal == EXCLUSIVE)                                                                          \
                    r[i] = PUT(a);                                                                                     \
                const W b = GET(x[i]);                                                                                 \
                a = (W)(expression);                                                                                   \
                if (op->literal == INCLUSIVE)                                                                          \
                    r[i] = PUT(a);                                                                                     \
            }                                                                                                          \
            for (uint32_t i = 0; op->literal == REDUCE && i < BLR_LANES; i++)                                          \
                r[i] = PUT(a);                                                                                         \
        }                                                                                                              \
    }
#define SAME(value) (value)
#define UNSIGNED(name, start, expression)                                                                              \
    FOLD(name##_8, uint8_t, uint8_t, SAME, SAME, start, expression)                                                    \
    FOLD(name##_16, uint16_t, uint16_t, SAME, SAME, start, expression)                                                 \
    FOLD(name##_32, uint32_t, uint32_t, SAME, SAME, start, expression)                                                 \
    FOLD(name##_64, uint64_t, uint64_t, SAME, SAME, start, expression)
#define SIGNED(name, start, expression)                                                                                \
    FOLD(name##_8, int8_t, int8_t, SAME, SAME, start##8##_END, expression)                                             \
    FOLD(name##_16, int16_t, int16_t, SAME, SAME, start##16##_END, expression)                                         \
    FOLD(name##_32, int32_t, int32_t, SAME, SAME, start##32##_END, expression)                                         \
    FOLD(name##_64, int64_t, int64_t, SAME, SAME, start##64##_END, expression)
#define LOW_8_END INT8_MIN
#define LOW_16_END INT16_MIN
#define LOW_32_END INT32_MIN
#define LOW_64_END INT64_MIN
#define HIGH_8_END INT8_MAX
#define HIGH_16_END INT16_MAX
#define HIGH_32_END INT32_MAX
#define HIGH_64_END INT64_MAX
#define FLOATS(name, start, expression)                                                                                \
    FOLD(name##_16, uint16_t, float, blr_lane_from_half, blr_lane_to_half, start, expression)                          \
    FOLD(name##_32, float, float, SAME, SAME, start, expression)                                                       \
    FOLD(name##_64, double, double, SAME, SAME, start, expression)

UNSIGNED(sum, 0, a + b)
UNSIGNED(product, 1, (uint64_t)a *b)
UNSIGNED(both, UINT64_MAX, a &b)
UNSIGNED(either, 0, a | b)
UNSIGNED(differ, 0, a ^ b)
UNSIGNED(least, UINT64_MAX, a < b ? a : b)
UNSIGNED(most, 0, a > b ? a : b)
SIGNED(signed_least, HIGH_, a < b ? a : b)
SIGNED(signed_most, LOW_, a > b ? a : b)
FLOATS(float_sum, 0, a + b)
FLOATS(float_product, 1, a *b)
FLOATS(float_least, INFINITY, b < a ? b : a)
FLOATS(float_most, -INFINITY, b > a ? b : a)

#define ALL(name) {name##_8, name##_16, name##_32, name##_64}
#define WIDE(name) {NULL, name##_16, name##_32, name##_64}

static const struct {
    uint16_t opcode;
    bool floats;
    blr_spirv_run_t run[4];
} folds[] = {
    {BLR_OP_GroupIAdd, false, ALL(sum)},
    {BLR_OP_GroupFAdd, true, WIDE(float_sum)},
    {BLR_OP_GroupFMin, true, WIDE(float_least)},
    {BLR_OP_GroupUMin, false, ALL(least)},
    {BLR_OP_GroupSMin, false, ALL(signed_least)},
    {BLR_OP_GroupFMax, true, WIDE(float_most)},
    {BLR_OP_GroupUMax, false, ALL(most)},
    {BLR_OP_GroupSMax, false, ALL(signed_most)},
    {BLR_OP_GroupNonUniformIAdd, false, ALL(sum)},
    {BLR_OP_GroupNonUniformFAdd, true, WIDE(float_sum)},
    {BLR_OP_GroupNonUniformIMul, false, ALL(product)},
    {BLR_OP_GroupNonUniformFMul, true, WIDE(float_product)},
    {BLR_OP_GroupNonUniformSMin, false, ALL(signed_least)},
    {BLR_OP_GroupNonUniformUMin, false, ALL(least)},
    {BLR_OP_GroupNonUniformFMin, true, WIDE(float_least)},
    {BLR_OP_GroupNonUniformSMax, false, ALL(signed_most)},
    {BLR_OP_GroupNonUniformUMax, false, ALL(most)},
    {BLR_OP_GroupNonUniformFMax, true, WIDE(float_most)},
    {BLR_OP_GroupNonUniformBitwiseAnd, false, ALL(both)},
    {BLR_OP_GroupNonUniformBitwiseOr, false, ALL(either)},
    {BLR_OP_GroupNonUniformBitwiseXor, false, ALL(differ)},
};

/* ---------------------------------------------------------------- decoding */

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* An operation on in[0] and maybe in[1], whose result is of the instruction's type. */
static struct blr_spirv_step *emit(struct blr_spirv_builder *b, uint32_t word, blr_spirv_run_t run,
                                   struct blr_spirv_ref value, const struct blr_spirv_ref *other, uint64_t literal)
{
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, result.type);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = run;
    step->op.literal = literal;
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, blr_spirv_components(result.type));
    blr_spirv_step_input(step, 0, value);
    if (other != NULL)
        blr_spirv_step_input(step, 1, *other);
    return step;
}

static struct blr_spirv_ref operand(struct blr_spirv_builder *b, uint32_t word, uint32_t number)
{
    blr_spirv_require_words(b->module, word, 4 + number + 1);
    return blr_spirv_operand(b, word, word_at(b, word + 4 + number));
}

static bool is_number(struct blr_spirv_builder *b, const struct blr_spirv_type *type)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, type);
    return scalar->kind == BLR_TYPE_INT || scalar->kind == BLR_TYPE_FLOAT;
}

static void question(struct blr_spirv_builder *b, uint32_t word, blr_spirv_run_t run, bool ballot)
{
    struct blr_spirv_ref value = operand(b, word, 0);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word), *scalar = blr_spirv_scalar(b->module, type);
    bool fits = ballot ? scalar->kind == BLR_TYPE_INT && scalar->scalar_size == 4 && blr_spirv_components(type) == 4
                       : type->kind == BLR_TYPE_BOOL;
    if (value.type->kind != BLR_TYPE_BOOL || !fits)
        blr_spirv_refuse(b->build, word, "its operand is no boolean, or its result is of another type than it gives");
    emit(b, word, run, value, NULL, 0);
}

static void all_equal(struct blr_spirv_builder *b, uint32_t word)
{
    struct blr_spirv_ref value = operand(b, word, 0);
    if (!is_number(b, value.type) || blr_spirv_result_type(b, word)->kind != BLR_TYPE_BOOL)
        blr_spirv_refuse(b->build, word, "its operand is no number, or its result no boolean");
    uint32_t *components = blr_spirv_allocate(b->build, 1, sizeof *components);
    *components = blr_spirv_components(value.type);
    emit(b, word, run_all_equal, value, NULL, blr_spirv_scalar(b->module, value.type)->scalar_size)->op.info = components;
}

/* A number of 32 bits in every lane; one of 64 bits loses its high half. */
static struct blr_spirv_ref lane_number(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref number)
{
    if (number.type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "the number of a lane is no whole number, or a vector");
    if (number.type->scalar_size == 4)
        return number;
    struct blr_spirv_ref narrow = {.value = blr_spirv_new_value(b, 4) + 1, .type = number.type};
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_conversion(BLR_OP_UConvert, number.type->scalar_size, 4);
    blr_spirv_step_result(step, narrow, 0, 4, 1);
    blr_spirv_step_input(step, 0, number);
    return narrow;
}

static void exchange(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref value, struct blr_spirv_ref number,
                     uint64_t from)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (!blr_spirv_same(b->module, value.type, type) ||
        (!is_number(b, type) && blr_spirv_scalar(b->module, type)->kind != BLR_TYPE_BOOL))
        blr_spirv_refuse(b->build, word, "its operand is no number, or of another type than its result");
    if (from != FROM_FIRST)
        number = lane_number(b, word, number);
    emit(b, word, run_shuffle, value, &number, from);
}

static bool fold(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    unsigned row = 0;
    while (row < sizeof folds / sizeof *folds && folds[row].opcode != opcode)
        row++;
    if (row == sizeof folds / sizeof *folds)
        return false;
    struct blr_spirv_ref value = operand(b, word, 1);
    uint32_t how = word_at(b, word + 4);
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, value.type);
    if (how > EXCLUSIVE)
        blr_spirv_unsupported(b->build, word, "operations over parts of a sub-group");
    if (scalar->kind != (folds[row].floats ? BLR_TYPE_FLOAT : BLR_TYPE_INT) ||
        !blr_spirv_same(b->module, value.type, blr_spirv_result_type(b, word)))
        blr_spirv_refuse(b->build, word, "its operand is of a type that it does not take, or unlike its result");
    emit(b, word, folds[row].run[blr_size_index(scalar->scalar_size)], value, NULL, how);
    return true;
}

bool blr_spirv_decode_group(struct blr_spirv_builder *b, uint32_t word)
{
    unsigned opcode = blr_spirv_opcode_at(b->build, word);
    bool shuffles = opcode == BLR_OP_SubgroupShuffleINTEL || opcode == BLR_OP_SubgroupShuffleXorINTEL;
    bool group = (opcode >= BLR_OP_GroupAll && opcode <= BLR_OP_GroupSMax) ||
                 (opcode >= BLR_OP_GroupNonUniformElect && opcode <= BLR_OP_GroupNonUniformBitwiseXor);
    if (!group && !shuffles)
        return false;
    blr_spirv_require_words(b->module, word, 4);
    b->program->uses_local = b->program->uses_groups = true; /* lanes are of one group */
    if (shuffles) {
        struct blr_spirv_ref value = blr_spirv_operand(b, word, word_at(b, word + 3));
        exchange(b, word, value, operand(b, word, 0), opcode == BLR_OP_SubgroupShuffleINTEL ? FROM_NUMBER : FROM_XOR);
        return true;
    }
    if (blr_spirv_constant_number(b->module, word, word_at(b, word + 3)) != SUB_GROUP)
        blr_spirv_unsupported(b->build, word, "of the scopes, sub-groups alone");
    switch (opcode) {
    case BLR_OP_GroupNonUniformElect:
        if (blr_spirv_result_type(b, word)->kind != BLR_TYPE_BOOL)
            blr_spirv_refuse(b->build, word, "its result is no boolean");
        emit(b, word, run_elect, blr_spirv_number(b, 0, 1), NULL, 0);
        return true;
    case BLR_OP_GroupAll:
    case BLR_OP_GroupNonUniformAll: question(b, word, run_all, false); return true;
    case BLR_OP_GroupAny:
    case BLR_OP_GroupNonUniformAny: question(b, word, run_any, false); return true;
    case BLR_OP_GroupNonUniformBallot: question(b, word, run_ballot, true); return true;
    case BLR_OP_GroupNonUniformAllEqual: all_equal(b, word); return true;
    case BLR_OP_GroupBroadcast:
    case BLR_OP_GroupNonUniformBroadcast:
    case BLR_OP_GroupNonUniformShuffle:
        exchange(b, word, operand(b, word, 0), operand(b, word, 1), FROM_NUMBER);
        return true;
    case BLR_OP_GroupNonUniformBroadcastFirst:
        exchange(b, word, operand(b, word, 0), operand(b, word, 0), FROM_FIRST);
        return true;
    case BLR_OP_GroupNonUniformShuffleXor:
        exchange(b, word, operand(b, word, 0), operand(b, word, 1), FROM_XOR);
        return true;
    case BLR_OP_GroupNonUniformShuffleUp:
        exchange(b, word, operand(b, word, 0), operand(b, word, 1), FROM_BELOW);
        return true;
    case BLR_OP_GroupNonUniformShuffleDown:
        exchange(b, word, operand(b, word, 0), operand(b, word, 1), FROM_ABOVE);
        return true;
    default: return fold(b, word, opcode);
    }
}
