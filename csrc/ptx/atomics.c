/* atom and red: read, compute, write. */
#include "emit.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t of_unsigned, of_signed;
} plain[] = {{"add", OP_AtomicIAdd, OP_AtomicIAdd}, {"and", OP_AtomicAnd, OP_AtomicAnd}, {"or", OP_AtomicOr, OP_AtomicOr},
             {"xor", OP_AtomicXor, OP_AtomicXor}, {"exch", OP_AtomicExchange, OP_AtomicExchange},
             {"min", OP_AtomicUMin, OP_AtomicSMin}, {"max", OP_AtomicUMax, OP_AtomicSMax}};

/* Scope and semantics: the whole device, relaxed; the executor orders all atomics, whatever a module says. */
static struct ptx_value simple(struct ptx_emitter *e, uint32_t opcode, enum ptx_kind kind, uint32_t pointer, struct ptx_value value)
{
    const uint32_t operands[4] = {pointer, ptx_bits_value(e, PTX_I32, 1).id, ptx_bits_value(e, PTX_I32, 0).id, value.id};
    if (ptx_bits_of(kind) == 64)
        ptx_need(e->words, CAN_INT64_ATOMICS);
    return ptx_emit(e, opcode, kind, operands, 4);
}

static struct ptx_value exchange_if(struct ptx_emitter *e, enum ptx_kind kind, uint32_t pointer, struct ptx_value expected, struct ptx_value value)
{
    const uint32_t scope = ptx_bits_value(e, PTX_I32, 1).id, none = ptx_bits_value(e, PTX_I32, 0).id;
    const uint32_t operands[6] = {pointer, scope, none, none, value.id, expected.id};
    if (ptx_bits_of(kind) == 64)
        ptx_need(e->words, CAN_INT64_ATOMICS);
    return ptx_emit(e, OP_AtomicCompareExchange, kind, operands, 6);
}

/* ---------------------------------------------------------------- operations without an instruction */

static struct ptx_value of_floats(struct ptx_emitter *e, enum ptx_type type, struct ptx_value old, struct ptx_value value)
{
    const bool bfloat = type == PTX_BF16;
    const enum ptx_kind kind = ptx_kind_of(type);
    const struct ptx_value a = bfloat ? ptx_from_bfloat(e, old) : ptx_cast(e, old, kind), b = bfloat ? ptx_from_bfloat(e, value) : ptx_cast(e, value, kind);
    struct ptx_value result;
    if (ptx_has(e->instruction, "add"))
        result = ptx_op2(e, OP_FAdd, a.kind, a, b);
    else if (ptx_has(e->instruction, "min") || ptx_has(e->instruction, "max"))
        result = ptx_larger(e, a, b, ptx_has(e->instruction, "max"), false);
    else
        ptx_refuse(e, "its operation on floats");
    return bfloat ? ptx_to_bfloat(e, result, ROUND_EVEN) : ptx_cast(e, result, old.kind);
}

static struct ptx_value changed(struct ptx_emitter *e, enum ptx_type type, struct ptx_value old, struct ptx_value value)
{
    const struct ptx_value zero = ptx_bits_value(e, old.kind, 0), one = ptx_bits_value(e, old.kind, 1);
    if (ptx_has(e->instruction, "inc"))
        return ptx_select(e, ptx_op2(e, OP_UGreaterThanEqual, PTX_BOOL, old, value), zero, ptx_op2(e, OP_IAdd, old.kind, old, one));
    if (ptx_has(e->instruction, "dec")) {
        const struct ptx_value wraps = ptx_op2(e, OP_LogicalOr, PTX_BOOL, ptx_op2(e, OP_IEqual, PTX_BOOL, old, zero), ptx_op2(e, OP_UGreaterThan, PTX_BOOL, old, value));
        return ptx_select(e, wraps, value, ptx_op2(e, OP_ISub, old.kind, old, one));
    }
    if (ptx_class(type) != '2')
        return of_floats(e, type, old, value);
    struct ptx_value halves[2];
    for (uint32_t k = 0; k < 2; k++)
        halves[k] = of_floats(e, type == PTX_F16X2 ? PTX_F16 : PTX_BF16, ptx_half_of(e, old, k), ptx_half_of(e, value, k));
    return ptx_pair_of(e, halves[0], halves[1]);
}

/* Exchanges until no other thread came between. */
static struct ptx_value repeat(struct ptx_emitter *e, enum ptx_type type, enum ptx_kind kind, uint32_t pointer, struct ptx_value value)
{
    const uint32_t first[3] = {pointer, ptx_bits_value(e, PTX_I32, 1).id, ptx_bits_value(e, PTX_I32, 0).id};
    const struct ptx_value start = ptx_emit(e, OP_AtomicLoad, kind, first, 3);
    const uint32_t before = e->blocks[e->block].last_label, loop = ptx_new_id(e->words), behind = ptx_new_id(e->words);
    ptx_jump(e, loop);
    ptx_label(e, loop);
    const uint32_t place = e->out->count; /* of the phi, whose last operands are not known yet */
    const uint32_t unknown[4] = {start.id, before, 0, loop};
    const struct ptx_value old = ptx_emit(e, OP_Phi, kind, unknown, 4);
    const struct ptx_value present = exchange_if(e, kind, pointer, old, changed(e, type, old, value));
    e->out->words[place + 5] = present.id;
    ptx_choose(e, ptx_op2(e, OP_IEqual, PTX_BOOL, present, old), behind, loop);
    ptx_label(e, behind);
    return present;
}

/* ---------------------------------------------------------------- instructions */

static struct ptx_value change(struct ptx_emitter *e, enum ptx_type type, struct ptx_value address, struct ptx_value value, const struct ptx_value *expected)
{
    const bool adds_floats = ptx_has(e->instruction, "add") && (type == PTX_F32 || type == PTX_F64);
    const enum ptx_kind kind = adds_floats ? ptx_kind_of(type) : ptx_integer(ptx_bits(type));
    const uint32_t pointer = ptx_as_pointer(e, address, ptx_scalar(e->words, kind));
    if (adds_floats) {
        ptx_need(e->words, type == PTX_F32 ? CAN_ADD_FLOAT32 : CAN_ADD_FLOAT64);
        ptx_need_extension(e->words, "SPV_EXT_shader_atomic_float_add");
        return simple(e, OP_AtomicFAddEXT, kind, pointer, value);
    }
    value = ptx_cast(e, value, kind);
    if (expected != NULL)
        return exchange_if(e, kind, pointer, ptx_cast(e, *expected, kind), value);
    const bool is_whole = strchr("bus", ptx_class(type)) != NULL;
    for (unsigned k = 0; k < sizeof plain / sizeof *plain; k++)
        if (ptx_has(e->instruction, plain[k].name) && (is_whole || plain[k].of_signed == OP_AtomicExchange))
            return simple(e, ptx_class(type) == 's' ? plain[k].of_signed : plain[k].of_unsigned, kind, pointer, value);
    if (is_whole && !ptx_has(e->instruction, "inc") && !ptx_has(e->instruction, "dec"))
        ptx_refuse(e, "its operation");
    return repeat(e, type, kind, pointer, value);
}

static void atomic(struct ptx_emitter *e, bool returns)
{
    const struct ptx_instruction *i = e->instruction;
    const enum ptx_type type = ptx_type_at(e, 0);
    const uint32_t at = returns ? 1 : 0, count = ptx_has(i, "v2") ? 2 : ptx_has(i, "v4") ? 4 : ptx_has(i, "v8") ? 8 : 1;
    const bool compares = ptx_has(i, "cas");
    if (ptx_bits(type) > 64 || ptx_bits(type) < 16 || ptx_has(i, "async") || i->operand_count < at + 2u + compares)
        ptx_refuse(e, "it is not supported");
    const struct ptx_value address = ptx_address(e, &i->operands[at], ptx_space_of(e));
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_operand *from = &i->operands[at + 1], *to = &i->operands[0];
        struct ptx_value place = address;
        if (count > 1) {
            if (from->kind != PTX_OPERAND_VECTOR || from->count != count || (returns && (to->kind != PTX_OPERAND_VECTOR || to->count != count)))
                ptx_refuse(e, "a vector of another size");
            from = &from->items[k];
            to = returns ? &to->items[k] : to;
            place = ptx_op2(e, OP_IAdd, PTX_I64, address, ptx_bits_value(e, PTX_I64, (uint64_t)k * ptx_bits(type) / 8));
        }
        struct ptx_value value = ptx_read(e, from, type), expected = value;
        if (compares)
            value = ptx_operand(e, at + 2, type);
        const struct ptx_value old = change(e, type, place, value, compares ? &expected : NULL);
        if (returns)
            ptx_write(e, to, old, false);
    }
}

static void emit_atom(struct ptx_emitter *e) { atomic(e, true); }
static void emit_red(struct ptx_emitter *e) { atomic(e, false); }

const struct ptx_handler ptx_atomic_handlers[] = {{"atom", emit_atom}, {"red", emit_red}, {NULL, NULL}};
