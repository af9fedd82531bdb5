/* Loads and stores. */
#include "emit.h"

#include <string.h>

#define RELAXED 0u
#define DEVICE 1u

static uint32_t vector_of(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    return ptx_has(i, "v2") ? 2 : ptx_has(i, "v4") ? 4 : ptx_has(i, "v8") ? 8 : 1;
}

/* Whether other threads may change the memory meanwhile. */
static bool is_shared_with_others(struct ptx_emitter *e)
{
    static const char *const words[] = {"relaxed", "acquire", "release", "volatile", "mmio"};
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (ptx_has(e->instruction, words[k]))
            return true;
    return false;
}

static enum ptx_type element_of(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    if (ptx_bits(type) > 64 || ptx_bits(type) < 8)
        ptx_refuse(e, "its type");
    return type;
}

static const struct ptx_operand *operand_at(struct ptx_emitter *e, uint32_t number)
{
    if (number >= e->instruction->operand_count)
        ptx_refuse(e, "operands are missing");
    return &e->instruction->operands[number];
}

/* ---------------------------------------------------------------- loads */

static void load_parameter(struct ptx_emitter *e, const struct ptx_operand *address, enum ptx_type type, uint32_t count)
{
    const enum ptx_kind kind = ptx_kind_of(type);
    struct ptx_operand own = *address, item = address->items[0];
    own.items = &item;
    own.count = 1;
    for (uint32_t k = 0; k < count; k++, item.bits += ptx_bits(type) / 8) {
        struct ptx_value value;
        if (!ptx_read_parameter_value(e, &own, kind, &value))
            ptx_refuse(e, "a parameter");
        ptx_write(e, ptx_element(e, &e->instruction->operands[0], k, count), value, ptx_class(type) == 's');
    }
}

static void emit_ld(struct ptx_emitter *e)
{
    const enum ptx_type type = element_of(e);
    const enum ptx_kind kind = ptx_kind_of(type);
    const uint32_t count = vector_of(e), bytes = ptx_bits(type) / 8;
    const struct ptx_operand *to = operand_at(e, 0), *from = operand_at(e, 1);
    struct ptx_value value;
    if (ptx_has(e->instruction, "bulk"))
        ptx_refuse(e, "it is not supported");
    if (from->kind == PTX_OPERAND_ADDRESS && from->count > 0 && from->items[0].kind == PTX_OPERAND_SYMBOL &&
        ptx_read_parameter_value(e, from, kind, &value)) {
        load_parameter(e, from, type, count);
        return;
    }
    const struct ptx_value address = ptx_address(e, from, ptx_space_of(e));
    if (is_shared_with_others(e) && bytes >= 4) {
        const enum ptx_kind whole = ptx_integer(bytes * 8);
        for (uint32_t k = 0; k < count; k++) {
            const struct ptx_value place = ptx_op2(e, OP_IAdd, PTX_I64, address, ptx_bits_value(e, PTX_I64, (uint64_t)k * bytes));
            const uint32_t operands[3] = {ptx_as_pointer(e, place, ptx_scalar(e->words, whole)), ptx_bits_value(e, PTX_I32, DEVICE).id,
                                          ptx_bits_value(e, PTX_I32, RELAXED).id};
            value = ptx_emit(e, OP_AtomicLoad, whole, operands, 3);
            ptx_write(e, ptx_element(e, to, k, count), value, ptx_class(type) == 's');
        }
        return;
    }
    const uint32_t vector = ptx_vector(e->words, kind, count);
    const uint32_t operands[3] = {ptx_as_pointer(e, address, vector), 2, count * bytes > 16 ? 16 : count * bytes};
    const uint32_t all = ptx_emit_typed(e, OP_Load, vector, operands, 3);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t part[2] = {all, k};
        value = count == 1 ? (struct ptx_value){all, kind} : ptx_emit(e, OP_CompositeExtract, kind, part, 2);
        ptx_write(e, ptx_element(e, to, k, count), value, ptx_class(type) == 's');
    }
}

/* ---------------------------------------------------------------- stores */

static void emit_st(struct ptx_emitter *e)
{
    const enum ptx_type type = element_of(e);
    const enum ptx_kind kind = ptx_kind_of(type);
    const uint32_t count = vector_of(e), bytes = ptx_bits(type) / 8;
    const struct ptx_operand *to = operand_at(e, 0), *from = operand_at(e, 1);
    if (ptx_has(e->instruction, "async") || ptx_has(e->instruction, "bulk"))
        ptx_refuse(e, "it is not supported");
    struct ptx_value parts[8] = {{0}};
    for (uint32_t k = 0; k < count; k++)
        parts[k] = ptx_read(e, ptx_element(e, from, k, count), type);
    if (count == 1 && ptx_write_parameter_value(e, to, parts[0]))
        return;
    const struct ptx_value address = ptx_address(e, to, ptx_space_of(e));
    if (is_shared_with_others(e) && bytes >= 4) {
        const enum ptx_kind whole = ptx_integer(bytes * 8);
        for (uint32_t k = 0; k < count; k++) {
            const struct ptx_value place = ptx_op2(e, OP_IAdd, PTX_I64, address, ptx_bits_value(e, PTX_I64, (uint64_t)k * bytes));
            const uint32_t operands[4] = {ptx_as_pointer(e, place, ptx_scalar(e->words, whole)), ptx_bits_value(e, PTX_I32, DEVICE).id,
                                          ptx_bits_value(e, PTX_I32, RELAXED).id, ptx_cast(e, parts[k], whole).id};
            ptx_emit_plain(e, OP_AtomicStore, operands, 4);
        }
        return;
    }
    const uint32_t vector = ptx_vector(e->words, kind, count);
    uint32_t ids[8], all = parts[0].id;
    for (uint32_t k = 0; k < count; k++)
        ids[k] = parts[k].id;
    if (count > 1)
        all = ptx_emit_typed(e, OP_CompositeConstruct, vector, ids, count);
    const uint32_t operands[4] = {ptx_as_pointer(e, address, vector), all, 2, count * bytes > 16 ? 16 : count * bytes};
    ptx_emit_plain(e, OP_Store, operands, 4);
}

static void emit_nothing(struct ptx_emitter *e) { (void)e; }

const struct ptx_handler ptx_memory_handlers[] = {
    {"ld", emit_ld}, {"ldu", emit_ld}, {"st", emit_st}, {"prefetch", emit_nothing}, {"prefetchu", emit_nothing},
    {"discard", emit_nothing}, {"applypriority", emit_nothing}, {NULL, NULL}};
