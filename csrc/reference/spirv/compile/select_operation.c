/* Selection of the elementwise operation of an instruction, by the types of its operands. */
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/operations.h"

#include <string.h>

static noreturn void wrong_types(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_refuse(module->build, word, "the types of its operands or of its result do not fit it");
}

static const struct blr_spirv_lanes *find(const struct blr_spirv_lanes *table, unsigned count, unsigned opcode)
{
    for (unsigned i = 0; i < count; i++)
        if (table[i].opcode == opcode)
            return &table[i];
    return NULL;
}

static bool is_integer(enum blr_spirv_type_kind kind) { return kind == BLR_TYPE_INT; }

static enum blr_affine_form affine_form(unsigned opcode)
{
    switch (opcode) {
    case BLR_OP_IAdd: return BLR_AFFINE_ADD;
    case BLR_OP_ISub: return BLR_AFFINE_SUBTRACT;
    case BLR_OP_IMul: return BLR_AFFINE_MULTIPLY;
    case BLR_OP_SNegate: return BLR_AFFINE_NEGATE;
    case BLR_OP_ShiftLeftLogical: return BLR_AFFINE_SHIFT_LEFT;
    case BLR_OP_BitwiseAnd:
    case BLR_OP_LogicalAnd: return BLR_AFFINE_BOTH;
    case BLR_OP_BitwiseOr:
    case BLR_OP_LogicalOr: return BLR_AFFINE_EITHER;
    case BLR_OP_BitwiseXor:
    case BLR_OP_LogicalNotEqual: return BLR_AFFINE_DIFFER;
    case BLR_OP_LogicalNot: return BLR_AFFINE_NOT;
    case BLR_OP_UDiv:
    case BLR_OP_SDiv:
    case BLR_OP_UMod:
    case BLR_OP_SRem:
    case BLR_OP_SMod:
    case BLR_OP_ShiftRightLogical:
    case BLR_OP_ShiftRightArithmetic:
    case BLR_OP_Not: return BLR_AFFINE_UNIFORM;
    case BLR_OP_LogicalEqual:
    case BLR_OP_IEqual:
    case BLR_OP_PtrEqual: return BLR_AFFINE_EQUAL;
    case BLR_OP_INotEqual:
    case BLR_OP_PtrNotEqual: return BLR_AFFINE_UNEQUAL;
    case BLR_OP_UGreaterThan: return BLR_AFFINE_ABOVE;
    case BLR_OP_UGreaterThanEqual: return BLR_AFFINE_ABOVE_OR_EQUAL;
    case BLR_OP_ULessThan: return BLR_AFFINE_BELOW;
    case BLR_OP_ULessThanEqual: return BLR_AFFINE_BELOW_OR_EQUAL;
    case BLR_OP_SGreaterThan: return BLR_AFFINE_GREATER;
    case BLR_OP_SGreaterThanEqual: return BLR_AFFINE_GREATER_OR_EQUAL;
    case BLR_OP_SLessThan: return BLR_AFFINE_LESS;
    case BLR_OP_SLessThanEqual: return BLR_AFFINE_LESS_OR_EQUAL;
    case BLR_OP_Select: return BLR_AFFINE_SELECT;
    case BLR_OP_UConvert:
    case BLR_OP_ConvertPtrToU:
    case BLR_OP_ConvertUToPtr: return BLR_AFFINE_CONVERT_UNSIGNED;
    case BLR_OP_SConvert: return BLR_AFFINE_CONVERT_SIGNED;
    default: return BLR_AFFINE_NONE;
    }
}

static void from_table(struct blr_spirv_module *module, uint32_t word, const struct blr_spirv_lanes *row,
                       const struct blr_spirv_type *result, const struct blr_spirv_type *const *operands,
                       uint32_t count, struct blr_spirv_op *op)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(module, result);
    const struct blr_spirv_type *first = count > 0 ? blr_spirv_scalar(module, operands[0]) : NULL;
    uint32_t components = blr_spirv_components(result);
    if (count != row->operands)
        blr_spirv_refuse(module->build, word, "%u operands: it takes %u", count, row->operands);
    bool comparison = row->form == BLR_FORM_COMPARE_INTEGER || row->form == BLR_FORM_COMPARE_FLOAT;
    for (uint32_t i = 0; i < count; i++) {
        const struct blr_spirv_type *operand = blr_spirv_scalar(module, operands[i]);
        if (blr_spirv_components(operands[i]) != components || operand->kind != first->kind ||
            operand->scalar_size != first->scalar_size)
            wrong_types(module, word);
    }
    bool fits;
    switch ((enum blr_spirv_form)row->form) {
    case BLR_FORM_INTEGER:
    case BLR_FORM_SHIFT: fits = is_integer(scalar->kind); break;
    case BLR_FORM_FLOAT: fits = scalar->kind == BLR_TYPE_FLOAT; break;
    case BLR_FORM_LOGICAL: fits = scalar->kind == BLR_TYPE_BOOL; break;
    case BLR_FORM_COMPARE_INTEGER: fits = is_integer(first->kind) || first->kind == BLR_TYPE_POINTER; break;
    case BLR_FORM_COMPARE_FLOAT: fits = first->kind == BLR_TYPE_FLOAT; break;
    default: fits = false; break;
    }
    if (comparison ? scalar->kind != BLR_TYPE_BOOL
                   : scalar->kind != first->kind || scalar->scalar_size != first->scalar_size)
        fits = false;
    op->run = fits ? row->run[blr_size_index(first->scalar_size)] : NULL;
    if (op->run == NULL)
        wrong_types(module, word);
}

static void select_types(struct blr_spirv_module *module, uint32_t word, const struct blr_spirv_type *result,
                         const struct blr_spirv_type *const *operands, uint32_t count, struct blr_spirv_op *op)
{
    if (count != 3 || blr_spirv_scalar(module, operands[0])->kind != BLR_TYPE_BOOL ||
        blr_spirv_components(operands[0]) != blr_spirv_components(result) ||
        !blr_spirv_same(module, operands[1], result) || !blr_spirv_same(module, operands[2], result))
        wrong_types(module, word);
    op->run = blr_spirv_select(blr_spirv_scalar(module, result)->scalar_size);
}

/* Source and target type of a conversion; false for other instructions. */
static bool converts(unsigned opcode, enum blr_spirv_type_kind *from, enum blr_spirv_type_kind *to)
{
    switch (opcode) {
    case BLR_OP_ConvertFToU:
    case BLR_OP_ConvertFToS: *from = BLR_TYPE_FLOAT, *to = BLR_TYPE_INT; return true;
    case BLR_OP_ConvertUToF:
    case BLR_OP_ConvertSToF: *from = BLR_TYPE_INT, *to = BLR_TYPE_FLOAT; return true;
    case BLR_OP_UConvert:
    case BLR_OP_SConvert:
    case BLR_OP_SatConvertSToU:
    case BLR_OP_SatConvertUToS: *from = BLR_TYPE_INT, *to = BLR_TYPE_INT; return true;
    case BLR_OP_FConvert:
    case BLR_OP_QuantizeToF16: *from = BLR_TYPE_FLOAT, *to = BLR_TYPE_FLOAT; return true;
    case BLR_OP_ConvertPtrToU: *from = BLR_TYPE_POINTER, *to = BLR_TYPE_INT; return true;
    case BLR_OP_ConvertUToPtr: *from = BLR_TYPE_INT, *to = BLR_TYPE_POINTER; return true;
    default: return false;
    }
}

bool blr_spirv_elementwise(struct blr_spirv_module *module, uint32_t word, unsigned opcode,
                           const struct blr_spirv_type *result, const struct blr_spirv_type *const *operands,
                           uint32_t count, struct blr_spirv_op *op)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(module, result);
    const struct blr_spirv_lanes *row = find(blr_spirv_integer_lanes, blr_spirv_integer_lane_count, opcode);
    enum blr_spirv_type_kind from, to;
    if (row == NULL)
        row = find(blr_spirv_float_lanes, blr_spirv_float_lane_count, opcode);
    if (row != NULL) {
        from_table(module, word, row, result, operands, count, op);
    } else if (opcode == BLR_OP_Select && count == 3 && result->kind != BLR_TYPE_STRUCT && result->kind != BLR_TYPE_SAMPLED_IMAGE &&
               result->kind != BLR_TYPE_ARRAY && blr_spirv_components(operands[0]) == blr_spirv_components(result)) {
        select_types(module, word, result, operands, count, op);
    } else if (converts(opcode, &from, &to)) {
        if (count != 1 || blr_spirv_components(operands[0]) != blr_spirv_components(result) ||
            blr_spirv_scalar(module, operands[0])->kind != from || scalar->kind != to)
            wrong_types(module, word);
        op->run = blr_spirv_conversion(opcode, blr_spirv_scalar(module, operands[0])->scalar_size, scalar->scalar_size);
        if (op->run == NULL)
            wrong_types(module, word);
    } else {
        return false;
    }
    uint8_t rounding = module->ids[module->build->words[word + 2]].rounding;
    if (rounding != 0 && !blr_spirv_round(opcode, blr_spirv_scalar(module, operands[0])->scalar_size, scalar->scalar_size,
                                          rounding - 1u, op) && rounding != 1)
        blr_spirv_unsupported(module->build, word, "rounding modes of other operations than conversions");
    op->count = blr_spirv_components(result) * BLR_LANES;
    op->element = scalar->scalar_size;
    op->form = (uint8_t)affine_form(opcode);
    op->word = word;
    return true;
}
