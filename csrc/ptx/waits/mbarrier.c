/* Barriers in shared memory, and copies that need not wait: these are done when their instruction is. */
#include "waits/imports.h"

#include <string.h>

#define PENDING_BITS 0xfffffu /* of a state: see csrc/reference/spirv/waits/waits.c */

static struct ptx_value wide(struct ptx_emitter *e, uint64_t value) { return ptx_bits_value(e, PTX_I64, value); }

static const struct ptx_operand *operand_at(struct ptx_emitter *e, uint32_t number)
{
    if (number >= e->instruction->operand_count)
        ptx_refuse(e, "operands are missing");
    return &e->instruction->operands[number];
}

/* A step of the barrier that the operand [ ] names. */
static struct ptx_value step(struct ptx_emitter *e, enum ptx_mbarrier_step what, uint32_t place, struct ptx_value input)
{
    const struct ptx_value inputs[3] = {ptx_address(e, operand_at(e, place), ptx_space_of(e)), input, ptx_bits_value(e, PTX_I32, what)};
    return ptx_call_import(e, PTX_IMPORT_MBARRIER, inputs);
}

/* A count of 32 bits, 1 where it is left out. */
static struct ptx_value count_at(struct ptx_emitter *e, uint32_t number)
{
    return number < e->instruction->operand_count ? ptx_resize(e, ptx_operand(e, number, PTX_U32), PTX_I64, false) : wide(e, 1);
}

/* Asks whether a phase is complete; a thread that has to try again lets others go on. */
static void test(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const bool parity = ptx_has(i, "parity");
    const struct ptx_value state = parity ? count_at(e, 2) : ptx_operand(e, 2, PTX_B64);
    const struct ptx_value result = step(e, parity ? MBARRIER_TEST_PARITY : MBARRIER_TEST, 1, state);
    const struct ptx_value is_complete = ptx_op2(e, OP_INotEqual, PTX_BOOL, result, wide(e, 0));
    const uint32_t waits = ptx_new_id(e->words), behind = ptx_new_id(e->words);
    ptx_choose(e, is_complete, behind, waits);
    ptx_label(e, waits);
    ptx_call_import(e, PTX_IMPORT_YIELD, NULL);
    ptx_jump(e, behind);
    ptx_label(e, behind);
    ptx_write(e, &i->operands[0], is_complete, false);
}

static void emit_mbarrier(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct ptx_operand *first = operand_at(e, 0);
    if (ptx_has(i, "init")) {
        step(e, MBARRIER_INIT, 0, count_at(e, 1));
    } else if (ptx_has(i, "inval")) {
        step(e, MBARRIER_INVALIDATE, 0, wide(e, 0));
    } else if (ptx_has(i, "pending_count")) {
        ptx_write(e, first, ptx_op2(e, OP_BitwiseAnd, PTX_I64, ptx_operand(e, 1, PTX_B64), wide(e, PENDING_BITS)), false);
    } else if (ptx_has(i, "test_wait") || ptx_has(i, "try_wait")) {
        test(e);
    } else if (ptx_has(i, "arrive") && ptx_has(i, "expect_tx")) {
        step(e, MBARRIER_EXPECT_BYTES, 1, count_at(e, 2));
        ptx_write(e, first, step(e, MBARRIER_ARRIVE, 1, wide(e, 1)), false);
    } else if (ptx_has(i, "expect_tx") || ptx_has(i, "complete_tx")) {
        step(e, ptx_has(i, "expect_tx") ? MBARRIER_EXPECT_BYTES : MBARRIER_COMPLETE_BYTES, 0, count_at(e, 1));
    } else if (ptx_has(i, "arrive_drop")) {
        ptx_write(e, first, step(e, MBARRIER_DROP, 1, count_at(e, 2)), false);
    } else {
        ptx_write(e, first, step(e, ptx_has(i, "noComplete") ? MBARRIER_ARRIVE_EARLY : MBARRIER_ARRIVE, 1, count_at(e, 2)), false);
    }
}

/* ---------------------------------------------------------------- copies */

static struct ptx_value load(struct ptx_emitter *e, struct ptx_value from, uint32_t vector, uint32_t bytes)
{
    const uint32_t operands[3] = {ptx_as_pointer(e, from, vector), 2, bytes};
    return (struct ptx_value){ptx_emit_typed(e, OP_Load, vector, operands, 3), PTX_I8};
}

static void store(struct ptx_emitter *e, struct ptx_value to, uint32_t vector, struct ptx_value value, uint32_t bytes)
{
    const uint32_t operands[4] = {ptx_as_pointer(e, to, vector), value.id, 2, bytes};
    ptx_emit_plain(e, OP_Store, operands, 4);
}

/* Copies the first bytes, as many as a number says, and zeros behind them. */
static void copy_part(struct ptx_emitter *e, struct ptx_value to, struct ptx_value from, uint32_t bytes, struct ptx_value size)
{
    const uint32_t byte = ptx_scalar(e->words, PTX_I8);
    for (uint32_t k = 0; k < bytes; k++) {
        const struct ptx_value offset = wide(e, k), target = ptx_op2(e, OP_IAdd, PTX_I64, to, offset);
        const uint32_t takes = ptx_new_id(e->words), behind = ptx_new_id(e->words);
        store(e, target, byte, ptx_bits_value(e, PTX_I8, 0), 1);
        ptx_choose(e, ptx_op2(e, OP_UGreaterThan, PTX_BOOL, size, offset), takes, behind);
        ptx_label(e, takes);
        store(e, target, byte, load(e, ptx_op2(e, OP_IAdd, PTX_I64, from, offset), byte, 1), 1);
        ptx_jump(e, behind);
        ptx_label(e, behind);
    }
}

/* The number of bytes that a fourth operand leaves of a copy: a size, or a predicate to ignore the source. */
static struct ptx_value size_of(struct ptx_emitter *e, uint64_t bytes)
{
    const struct ptx_operand *operand = operand_at(e, 3);
    if (operand->kind == PTX_OPERAND_REGISTER && ptx_variable_kind(e, operand->number) == PTX_BOOL)
        return ptx_select(e, ptx_read(e, operand, PTX_PRED), wide(e, 0), wide(e, bytes));
    return ptx_resize(e, ptx_read(e, operand, PTX_U32), PTX_I64, false);
}

/* A copy of any number of bytes: to shared memory, with a barrier that counts them, or from it. */
static void copy_bulk(struct ptx_emitter *e)
{
    const bool counts = ptx_has(e->instruction, "mbarrier::complete_tx::bytes");
    const struct ptx_value to = ptx_address(e, operand_at(e, 0), counts ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL);
    const struct ptx_value from = ptx_address(e, operand_at(e, 1), counts ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED);
    const struct ptx_value size = ptx_resize(e, ptx_operand(e, 2, PTX_U32), PTX_I64, false);
    const uint32_t byte = ptx_scalar(e->words, PTX_I8);
    const uint32_t operands[3] = {ptx_as_pointer(e, to, byte), ptx_as_pointer(e, from, byte), size.id};
    ptx_emit_plain(e, OP_CopyMemorySized, operands, 3);
    if (counts) {
        const struct ptx_value inputs[3] = {ptx_address(e, operand_at(e, 3), PTX_SPACE_SHARED), size, ptx_bits_value(e, PTX_I32, MBARRIER_COMPLETE_BYTES)};
        ptx_call_import(e, PTX_IMPORT_MBARRIER, inputs);
    }
}

static void emit_cp(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    if (ptx_has(i, "commit_group") || ptx_has(i, "wait_group") || ptx_has(i, "wait_all"))
        return;
    if (ptx_has(i, "mbarrier")) { /* without .noinc, the arrival is one more that the phase waits for */
        if (ptx_has(i, "noinc"))
            step(e, MBARRIER_ARRIVE, 0, wide(e, 1));
        return;
    }
    if (ptx_has(i, "bulk")) {
        copy_bulk(e);
        return;
    }
    const uint64_t bytes = ptx_immediate(e, 2);
    if (bytes != 4 && bytes != 8 && bytes != 16)
        ptx_refuse(e, "a copy of 4, 8 or 16 bytes is supported");
    const struct ptx_value to = ptx_address(e, operand_at(e, 0), PTX_SPACE_SHARED), from = ptx_address(e, operand_at(e, 1), PTX_SPACE_GLOBAL);
    const bool is_part = i->operand_count > 3 && !ptx_has(i, "L2::cache_hint") && (i->operands[3].kind != PTX_OPERAND_INTEGER || i->operands[3].bits < bytes);
    const uint32_t vector = ptx_vector(e->words, PTX_I32, (uint32_t)bytes / 4);
    if (!is_part) {
        store(e, to, vector, load(e, from, vector, (uint32_t)bytes), (uint32_t)bytes);
        return;
    }
    const struct ptx_value size = size_of(e, bytes);
    const uint32_t whole = ptx_new_id(e->words), part = ptx_new_id(e->words), behind = ptx_new_id(e->words);
    ptx_choose(e, ptx_op2(e, OP_ULessThan, PTX_BOOL, size, wide(e, bytes)), part, whole);
    ptx_label(e, part);
    copy_part(e, to, from, (uint32_t)bytes, size);
    ptx_jump(e, behind);
    ptx_label(e, whole);
    store(e, to, vector, load(e, from, vector, (uint32_t)bytes), (uint32_t)bytes);
    ptx_jump(e, behind);
    ptx_label(e, behind);
}

const struct ptx_handler ptx_mbarrier_handlers[] = {{"mbarrier", emit_mbarrier}, {"cp", emit_cp}, {NULL, NULL}};
