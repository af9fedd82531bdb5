/* Exchanges and votes of a warp, which is a sub-group of 32 work-items. */
#include "emit.h"

#include <string.h>

#define SUB_GROUP 3u

static struct ptx_value number(struct ptx_emitter *e, uint32_t value) { return ptx_bits_value(e, PTX_I32, value); }

static struct ptx_value both(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b) { return ptx_op2(e, OP_BitwiseAnd, PTX_I32, a, b); }
static struct ptx_value either(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b) { return ptx_op2(e, OP_BitwiseOr, PTX_I32, a, b); }

static struct ptx_value ballot(struct ptx_emitter *e, struct ptx_value condition)
{
    const uint32_t operands[2] = {number(e, SUB_GROUP).id, condition.id}, vector = ptx_vector(e->words, PTX_I32, 4);
    ptx_need(e->words, CAN_BALLOT);
    const uint32_t part[2] = {ptx_emit_typed(e, OP_GroupNonUniformBallot, vector, operands, 2), 0};
    return ptx_emit(e, OP_CompositeExtract, PTX_I32, part, 2);
}

static struct ptx_value shuffle(struct ptx_emitter *e, struct ptx_value value, struct ptx_value lane)
{
    const uint32_t operands[3] = {number(e, SUB_GROUP).id, value.id, lane.id};
    ptx_need(e->words, CAN_SHUFFLE);
    return ptx_emit(e, OP_GroupNonUniformShuffle, value.kind, operands, 3);
}

/* The lanes that a mask names, of those that execute the instruction together. */
static struct ptx_value members(struct ptx_emitter *e, uint32_t operand)
{
    const struct ptx_value all = ballot(e, ptx_bits_value(e, PTX_BOOL, 1));
    return operand < e->instruction->operand_count ? both(e, all, ptx_operand(e, operand, PTX_B32)) : all;
}

/* ---------------------------------------------------------------- shuffles */

static void emit_shfl(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct ptx_operand *to = &i->operands[0];
    const struct ptx_value value = ptx_operand(e, 1, PTX_B32), b = both(e, ptx_operand(e, 2, PTX_B32), number(e, 31));
    const struct ptx_value c = ptx_operand(e, 3, PTX_B32), lane = ptx_special(e, "%laneid", 3);
    const struct ptx_value clamp = both(e, c, number(e, 31));
    const struct ptx_value segments = both(e, ptx_op2(e, OP_ShiftRightLogical, PTX_I32, c, number(e, 8)), number(e, 31));
    const struct ptx_value inside = ptx_op1(e, OP_Not, PTX_I32, segments), least = both(e, lane, segments);
    const struct ptx_value most = either(e, least, both(e, clamp, inside));
    struct ptx_value source, valid;
    if (ptx_has(i, "up")) {
        source = ptx_op2(e, OP_ISub, PTX_I32, lane, b);
        valid = ptx_op2(e, OP_SGreaterThanEqual, PTX_BOOL, source, most);
    } else {
        source = ptx_has(i, "down")   ? ptx_op2(e, OP_IAdd, PTX_I32, lane, b)
                 : ptx_has(i, "bfly") ? ptx_op2(e, OP_BitwiseXor, PTX_I32, lane, b)
                                      : either(e, least, both(e, b, inside));
        valid = ptx_op2(e, OP_SLessThanEqual, PTX_BOOL, source, most);
    }
    const struct ptx_value result = shuffle(e, value, ptx_select(e, valid, source, lane));
    if (to->kind == PTX_OPERAND_PAIR) {
        ptx_write(e, &to->items[0], result, false);
        ptx_write(e, &to->items[1], valid, false);
    } else {
        ptx_write(e, to, result, false);
    }
}

/* ---------------------------------------------------------------- votes */

static void emit_vote(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct ptx_value condition = ptx_operand(e, 1, PTX_PRED), group = members(e, 2);
    const struct ptx_value yes = both(e, ballot(e, condition), group), none = number(e, 0);
    struct ptx_value result;
    if (ptx_has(i, "ballot"))
        result = yes;
    else if (ptx_has(i, "any"))
        result = ptx_op2(e, OP_INotEqual, PTX_BOOL, yes, none);
    else
        result = ptx_op2(e, OP_IEqual, PTX_BOOL, yes, group);
    if (ptx_has(i, "uni"))
        result = ptx_op2(e, OP_LogicalOr, PTX_BOOL, result, ptx_op2(e, OP_IEqual, PTX_BOOL, yes, none));
    ptx_write(e, &i->operands[0], result, false);
}

static void emit_activemask(struct ptx_emitter *e)
{
    if (e->instruction->operand_count != 1)
        ptx_refuse(e, "one operand is needed");
    ptx_write(e, &e->instruction->operands[0], ballot(e, ptx_bits_value(e, PTX_BOOL, 1)), false);
}

/* The first lane of a mask. */
static struct ptx_value first_of(struct ptx_emitter *e, struct ptx_value mask)
{
    const struct ptx_value lowest = both(e, mask, ptx_op1(e, OP_SNegate, PTX_I32, mask));
    return ptx_op2(e, OP_ISub, PTX_I32, number(e, 31), ptx_math1(e, MATH_CLZ, lowest));
}

static void emit_elect(struct ptx_emitter *e)
{
    const struct ptx_operand *to = &e->instruction->operands[0];
    const struct ptx_value first = first_of(e, members(e, 1)), is_own = ptx_op2(e, OP_IEqual, PTX_BOOL, first, ptx_special(e, "%laneid", 3));
    if (to->kind != PTX_OPERAND_PAIR)
        ptx_refuse(e, "two results are needed");
    ptx_write(e, &to->items[0], first, false);
    ptx_write(e, &to->items[1], is_own, false);
}

/* The lanes whose value is one's own, by asking each. */
static struct ptx_value equal_lanes(struct ptx_emitter *e, struct ptx_value value)
{
    struct ptx_value result = number(e, 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const struct ptx_value same = ptx_op2(e, OP_IEqual, PTX_BOOL, shuffle(e, value, number(e, lane)), value);
        result = either(e, result, ptx_select(e, same, number(e, 1u << lane), number(e, 0)));
    }
    return result;
}

static void emit_match(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct ptx_value value = ptx_operand(e, 1, ptx_type_at(e, 0)), group = members(e, 2);
    const struct ptx_operand *to = &i->operands[0];
    const struct ptx_value same = both(e, equal_lanes(e, value), group);
    if (ptx_has(i, "any")) {
        ptx_write(e, to, same, false);
        return;
    }
    const struct ptx_value all = ptx_op2(e, OP_IEqual, PTX_BOOL, same, group);
    const bool two = to->kind == PTX_OPERAND_PAIR;
    ptx_write(e, two ? &to->items[0] : to, ptx_select(e, all, group, number(e, 0)), false);
    if (two)
        ptx_write(e, &to->items[1], all, false);
}

/* ---------------------------------------------------------------- reductions */

static void emit_redux(struct ptx_emitter *e)
{
    static const struct {
        const char *name;
        uint32_t of_unsigned, of_signed;
    } rows[] = {{"add", OP_IAdd, OP_IAdd}, {"and", OP_BitwiseAnd, OP_BitwiseAnd}, {"or", OP_BitwiseOr, OP_BitwiseOr},
                {"xor", OP_BitwiseXor, OP_BitwiseXor}, {"min", MATH_UMIN, MATH_SMIN}, {"max", MATH_UMAX, MATH_SMAX}};
    const struct ptx_instruction *i = e->instruction;
    const enum ptx_type type = ptx_type_at(e, 0);
    uint32_t row = 0;
    while (row < 6 && !ptx_has(i, rows[row].name))
        row++;
    if (row == 6 || ptx_bits(type) != 32 || ptx_class(type) == 'f')
        ptx_refuse(e, "its operation");
    const struct ptx_value value = ptx_operand(e, 1, type), group = members(e, 2);
    struct ptx_value result = shuffle(e, value, first_of(e, group)), rest = both(e, group, ptx_op2(e, OP_ISub, PTX_I32, group, number(e, 1)));
    for (uint32_t lane = 1; lane < 32; lane++) { /* the first lane of the mask is in the result */
        const struct ptx_value other = shuffle(e, value, number(e, lane));
        const uint32_t opcode = ptx_class(type) == 's' ? rows[row].of_signed : rows[row].of_unsigned;
        const struct ptx_value more = row < 4 ? ptx_op2(e, opcode, PTX_I32, result, other) : ptx_math2(e, opcode, result, other);
        const struct ptx_value takes = ptx_op2(e, OP_INotEqual, PTX_BOOL, both(e, rest, number(e, 1u << lane)), number(e, 0));
        result = ptx_select(e, takes, more, result);
    }
    ptx_result(e, result);
}

const struct ptx_handler ptx_warp_handlers[] = {
    {"shfl", emit_shfl}, {"vote", emit_vote}, {"activemask", emit_activemask}, {"elect", emit_elect}, {"match", emit_match},
    {"redux", emit_redux}, {NULL, NULL}};
