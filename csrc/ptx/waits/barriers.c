/* Barriers of a block and of parts of it, and of a warp; fences; sleep. */
#include "emit.h"

#include "waits/imports.h"

#include <string.h>

#define SUB_GROUP 3u
#define WORK_GROUP 2u

static struct ptx_value number(struct ptx_emitter *e, uint32_t value) { return ptx_bits_value(e, PTX_I32, value); }

static bool is_of_block(const struct ptx_instruction *i)
{
    return (strcmp(i->name, "bar") == 0 || strcmp(i->name, "barrier") == 0) && !ptx_has(i, "warp");
}

/* Whether a barrier is that of all of the block: number 0 without a count. */
static bool is_plain(const struct ptx_instruction *i)
{
    const uint32_t at = ptx_has(i, "red");
    return !ptx_has(i, "arrive") && i->operand_count == 1 + 2 * at && i->operands[at].kind == PTX_OPERAND_INTEGER && i->operands[at].bits == 0;
}

bool ptx_has_numbered_barriers(const struct ptx_module *module)
{
    for (uint32_t n = 0; n < module->function_count; n++)
        for (uint32_t k = 0; k < module->functions[n]->instruction_count; k++) {
            const struct ptx_instruction *i = &module->functions[n]->instructions[k];
            if (i->name[0] != '\0' && is_of_block(i) && !is_plain(i))
                return true;
        }
    return false;
}

static void control(struct ptx_emitter *e, uint32_t scope)
{
    const uint32_t operands[3] = {number(e, scope).id, number(e, scope).id, number(e, 0x308).id};
    ptx_emit_plain(e, OP_ControlBarrier, operands, 3);
}

static void emit_bar(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const bool folds = ptx_has(i, "red"), arrives = ptx_has(i, "arrive");
    const uint32_t at = folds ? 1 : 0, counted = at + 2 + folds;
    if (ptx_has(i, "warp")) {
        control(e, SUB_GROUP);
        return;
    }
    if (ptx_has(i, "cluster"))
        ptx_refuse(e, "it is not supported");
    if (!folds && !e->program->numbers_barriers) {
        control(e, WORK_GROUP);
        return;
    }
    struct ptx_value inputs[3] = {ptx_operand(e, at, PTX_U32), i->operand_count == counted ? ptx_operand(e, at + 1, PTX_U32) : number(e, 0)};
    if (arrives) {
        ptx_call_import(e, PTX_IMPORT_BARRIER_ARRIVE, inputs);
        return;
    }
    const bool all = folds && ptx_has(i, "and");
    const struct ptx_value condition = folds ? ptx_operand(e, i->operand_count - 1, PTX_PRED) : ptx_bits_value(e, PTX_BOOL, 0);
    inputs[2] = all ? ptx_op1(e, OP_LogicalNot, PTX_BOOL, condition) : condition;
    const struct ptx_value count = ptx_call_import(e, PTX_IMPORT_BARRIER_WAIT, inputs);
    if (folds)
        ptx_write(e, &i->operands[0], ptx_has(i, "popc") ? count : ptx_op2(e, all ? OP_IEqual : OP_INotEqual, PTX_BOOL, count, number(e, 0)), false);
}

static void emit_fence(struct ptx_emitter *e)
{
    const uint32_t operands[2] = {number(e, 1).id, number(e, 0x308).id};
    ptx_emit_plain(e, OP_MemoryBarrier, operands, 2);
}

static void emit_nanosleep(struct ptx_emitter *e) { ptx_call_import(e, PTX_IMPORT_YIELD, NULL); }

const struct ptx_handler ptx_barrier_handlers[] = {{"bar", emit_bar}, {"barrier", emit_bar}, {"membar", emit_fence}, {"fence", emit_fence},
                                                   {"nanosleep", emit_nanosleep}, {NULL, NULL}};
