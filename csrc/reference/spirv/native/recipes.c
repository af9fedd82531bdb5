/* Recipes: the operations of the executor's tables, each with its expression in C. */
#include "spirv/native/recipes.h"

#include "spirv/execute/image.h"
#include "spirv/execute/isa_operations.h"
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/opencl_std.h"
#include "spirv/execute/operations.h"

struct row {
    uint16_t opcode;
    enum blr_recipe_kind kind;
    char type;
    bool complement;
    const char *text;
};

/* The shift counts are modulo BITS, a constant that the text defines for each operation. */
static const struct row rows[] = {
    {BLR_OP_SNegate, BLR_RECIPE_VALUE, 'u', false, "0 - a"},
    {BLR_OP_IAdd, BLR_RECIPE_VALUE, 'u', false, "a + b"},
    {BLR_OP_ISub, BLR_RECIPE_VALUE, 'u', false, "a - b"},
    {BLR_OP_IMul, BLR_RECIPE_VALUE, 'u', false, "a * b"},
    {BLR_OP_UDiv, BLR_RECIPE_DIVIDE, 'u', false, "udiv"},
    {BLR_OP_SDiv, BLR_RECIPE_DIVIDE, 's', false, "sdiv"},
    {BLR_OP_UMod, BLR_RECIPE_DIVIDE, 'u', false, "urem"},
    {BLR_OP_SRem, BLR_RECIPE_DIVIDE, 's', false, "srem"},
    {BLR_OP_SMod, BLR_RECIPE_DIVIDE, 's', false, "smod"},
    {BLR_OP_ShiftRightLogical, BLR_RECIPE_VALUE, 'u', false, "a >> (b & BITS)"},
    {BLR_OP_ShiftRightArithmetic, BLR_RECIPE_VALUE, 's', false, "a >> (b & BITS)"},
    {BLR_OP_ShiftLeftLogical, BLR_RECIPE_VALUE, 'u', false, "a << (b & BITS)"},
    {BLR_OP_BitwiseOr, BLR_RECIPE_VALUE, 'u', false, "a | b"},
    {BLR_OP_BitwiseXor, BLR_RECIPE_VALUE, 'u', false, "a ^ b"},
    {BLR_OP_BitwiseAnd, BLR_RECIPE_VALUE, 'u', false, "a & b"},
    {BLR_OP_Not, BLR_RECIPE_VALUE, 'u', false, "~a"},
    {BLR_OP_LogicalEqual, BLR_RECIPE_TEST, 'u', false, "a == b"},
    {BLR_OP_LogicalNotEqual, BLR_RECIPE_VALUE, 'u', false, "a ^ b"},
    {BLR_OP_LogicalOr, BLR_RECIPE_VALUE, 'u', false, "a | b"},
    {BLR_OP_LogicalAnd, BLR_RECIPE_VALUE, 'u', false, "a & b"},
    {BLR_OP_LogicalNot, BLR_RECIPE_TEST, 'u', false, "a == 0"},
    {BLR_OP_IEqual, BLR_RECIPE_TEST, 'u', false, "a == b"},
    {BLR_OP_INotEqual, BLR_RECIPE_TEST, 'u', false, "a != b"},
    {BLR_OP_UGreaterThan, BLR_RECIPE_TEST, 'u', false, "a > b"},
    {BLR_OP_UGreaterThanEqual, BLR_RECIPE_TEST, 'u', false, "a >= b"},
    {BLR_OP_ULessThan, BLR_RECIPE_TEST, 'u', false, "a < b"},
    {BLR_OP_ULessThanEqual, BLR_RECIPE_TEST, 'u', false, "a <= b"},
    {BLR_OP_SGreaterThan, BLR_RECIPE_TEST, 's', false, "a > b"},
    {BLR_OP_SGreaterThanEqual, BLR_RECIPE_TEST, 's', false, "a >= b"},
    {BLR_OP_SLessThan, BLR_RECIPE_TEST, 's', false, "a < b"},
    {BLR_OP_SLessThanEqual, BLR_RECIPE_TEST, 's', false, "a <= b"},
    {BLR_OP_FAdd, BLR_RECIPE_VALUE, 'f', false, "a + b"},
    {BLR_OP_FSub, BLR_RECIPE_VALUE, 'f', false, "a - b"},
    {BLR_OP_FMul, BLR_RECIPE_VALUE, 'f', false, "a * b"},
    {BLR_OP_FDiv, BLR_RECIPE_VALUE, 'f', false, "a / b"},
    {BLR_OP_FOrdEqual, BLR_RECIPE_TEST, 'f', false, "a == b"},
    {BLR_OP_FUnordEqual, BLR_RECIPE_TEST, 'f', true, "(a < b) | (a > b)"},
    {BLR_OP_FOrdNotEqual, BLR_RECIPE_TEST, 'f', false, "(a < b) | (a > b)"},
    {BLR_OP_FUnordNotEqual, BLR_RECIPE_TEST, 'f', false, "a != b"},
    {BLR_OP_FOrdLessThan, BLR_RECIPE_TEST, 'f', false, "a < b"},
    {BLR_OP_FUnordLessThan, BLR_RECIPE_TEST, 'f', true, "a >= b"},
    {BLR_OP_FOrdGreaterThan, BLR_RECIPE_TEST, 'f', false, "a > b"},
    {BLR_OP_FUnordGreaterThan, BLR_RECIPE_TEST, 'f', true, "a <= b"},
    {BLR_OP_FOrdLessThanEqual, BLR_RECIPE_TEST, 'f', false, "a <= b"},
    {BLR_OP_FUnordLessThanEqual, BLR_RECIPE_TEST, 'f', true, "a > b"},
    {BLR_OP_FOrdGreaterThanEqual, BLR_RECIPE_TEST, 'f', false, "a >= b"},
    {BLR_OP_FUnordGreaterThanEqual, BLR_RECIPE_TEST, 'f', true, "a < b"},
    {BLR_OP_IsNan, BLR_RECIPE_TEST, 'f', false, "a != a"},
};

/* The same for instructions of OpenCL.std. */
static const struct row functions[] = {
    {12, BLR_RECIPE_VALUE, 'f', false, "CEIL(a)"}, {25, BLR_RECIPE_VALUE, 'f', false, "FLOOR(a)"},
    {156, BLR_RECIPE_LESSER, 's', false, "a > b"}, {157, BLR_RECIPE_LESSER, 'u', false, "a > b"},
    {158, BLR_RECIPE_LESSER, 's', false, "a < b"}, {159, BLR_RECIPE_LESSER, 'u', false, "a < b"},
};

static const uint16_t conversions[] = {BLR_OP_UConvert,    BLR_OP_SConvert,    BLR_OP_ConvertUToF,    BLR_OP_ConvertSToF,
                                       BLR_OP_ConvertFToU, BLR_OP_ConvertFToS, BLR_OP_SatConvertSToU, BLR_OP_SatConvertUToS,
                                       BLR_OP_FConvert,    BLR_OP_QuantizeToF16};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static bool is_same(blr_spirv_run_t run, blr_spirv_run_t plain) { return plain != NULL && run == blr_spirv_in_best_set(plain); }

static void set_row(struct blr_recipe *recipe, const struct row *row)
{
    recipe->kind = row->kind;
    recipe->type = recipe->to = row->type;
    recipe->complement = row->complement;
    recipe->text = row->text;
}

/* An entry of the tables: elements of the given size. */
static bool find_lanes(blr_spirv_run_t run, const struct blr_spirv_lanes *lanes, unsigned count, struct blr_recipe *recipe)
{
    for (unsigned i = 0; i < count; i++)
        for (uint32_t s = 0; s < 4; s++) {
            if (!is_same(run, lanes[i].run[s]))
                continue;
            *recipe = (struct blr_recipe){.kind = BLR_RECIPE_CALL, .operands = lanes[i].operands, .size = 1u << s};
            for (unsigned k = 0; k < LENGTH(rows); k++)
                if (rows[k].opcode == lanes[i].opcode && (rows[k].type != 'f' || s >= 2)) {
                    set_row(recipe, &rows[k]);
                    recipe->opcode = rows[k].opcode;
                }
            return true;
        }
    return false;
}

static bool find_functions(blr_spirv_run_t run, const struct blr_spirv_extended *entries, unsigned count,
                           struct blr_recipe *recipe)
{
    for (unsigned i = 0; i < count; i++)
        for (uint32_t s = 0; s < 4; s++)
            if (is_same(run, entries[i].run[s])) {
                *recipe = (struct blr_recipe){.kind = BLR_RECIPE_CALL, .operands = entries[i].operands, .size = 1u << s};
                for (unsigned k = 0; k < LENGTH(functions); k++)
                    if (functions[k].opcode == entries[i].number && (functions[k].type != 'f' || s >= 2))
                        set_row(recipe, &functions[k]);
                return true;
            }
    return false;
}

static bool find_conversion(blr_spirv_run_t run, uint32_t to, struct blr_recipe *recipe)
{
    for (unsigned i = 0; i < LENGTH(conversions); i++)
        for (uint32_t from = 1; from <= 8; from *= 2) {
            if (!is_same(run, blr_spirv_conversion(conversions[i], from, to)))
                continue;
            const bool whole = (from > 2 && to > 2);
            *recipe = (struct blr_recipe){.kind = BLR_RECIPE_CALL, .operands = 1, .size = from, .opcode = conversions[i]};
            switch (conversions[i]) {
            case BLR_OP_UConvert: recipe->type = recipe->to = 'u', recipe->kind = BLR_RECIPE_CONVERT; break;
            case BLR_OP_SConvert: recipe->type = recipe->to = 's', recipe->kind = BLR_RECIPE_CONVERT; break;
            case BLR_OP_ConvertUToF: recipe->type = 'u', recipe->to = 'f'; break;
            case BLR_OP_ConvertSToF: recipe->type = 's', recipe->to = 'f'; break;
            case BLR_OP_ConvertFToU: recipe->type = 'f', recipe->to = 'u'; break;
            case BLR_OP_ConvertFToS: recipe->type = 'f', recipe->to = 's'; break;
            case BLR_OP_FConvert: recipe->type = recipe->to = 'f'; break;
            default: return true;
            }
            if (whole || (recipe->type != 'f' && to > 2))
                recipe->kind = recipe->type == 'f' && recipe->to != 'f' ? BLR_RECIPE_TRUNCATE : BLR_RECIPE_CONVERT;
            return true;
        }
    return false;
}

static void set_operand(struct blr_recipe *recipe, uint32_t k, uint32_t size, uint32_t components)
{
    recipe->image[k].size = (uint8_t)size;
    recipe->image[k].components = (uint8_t)components;
    recipe->operands = k + 1;
}

/* Operands as image.h names them. */
static bool find_image(blr_spirv_run_t run, const struct blr_spirv_op *op, struct blr_recipe *recipe)
{
    const bool asks = is_same(run, blr_spirv_run_image_query);
    if (!asks && !is_same(run, blr_spirv_run_image))
        return false;
    const struct blr_spirv_image_use *use = op->info;
    *recipe = (struct blr_recipe){.kind = BLR_RECIPE_IMAGE};
    set_operand(recipe, 0, 8, use->samples ? 2 : 1);
    if (asks) {
        if (use->query == BLR_QUERY_SIZE_LOD)
            set_operand(recipe, 1, 4, 1);
        return true;
    }
    set_operand(recipe, 1, 4, use->dimensions + use->arrayed);
    if (use->gathers || use->operation == BLR_OPERATION_SAMPLE_LOD)
        set_operand(recipe, 2, 4, 1);
    else if (use->operation == BLR_OPERATION_WRITE)
        set_operand(recipe, 2, use->size, use->components);
    else if (use->operation == BLR_OPERATION_SAMPLE_GRADIENT) {
        set_operand(recipe, 2, 4, use->dimensions);
        set_operand(recipe, 3, 4, use->dimensions);
    }
    return true;
}

static bool find_other(blr_spirv_run_t run, const struct blr_spirv_op *op, struct blr_recipe *recipe)
{
    if (is_same(run, blr_spirv_run_copy) || (is_same(run, blr_spirv_run_bitcast) && op->literal == op->element))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_COPY, .operands = 1, .size = op->element};
    else if (is_same(run, blr_spirv_select(op->element)))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_SELECT, .operands = 3, .size = op->element};
    else if (is_same(run, blr_spirv_run_choose))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_CHOOSE, .operands = 3, .size = op->element};
    else if (is_same(run, blr_spirv_run_offset))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_OFFSET, .operands = 1, .size = 8};
    else if (is_same(run, blr_spirv_run_array_index) || is_same(run, blr_spirv_run_argument_index))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_AXIS, .operands = 2, .size = 8};
    else if (is_same(run, blr_spirv_run_load))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_LOAD, .operands = 1, .size = 8};
    else if (is_same(run, blr_spirv_run_store))
        *recipe = (struct blr_recipe){.kind = BLR_RECIPE_STORE, .operands = 1, .size = 8};
    for (uint32_t size = 1; size <= 8 && recipe->kind == BLR_RECIPE_NONE; size *= 2)
        if (is_same(run, blr_spirv_index(size)))
            *recipe = (struct blr_recipe){.kind = BLR_RECIPE_INDEX, .operands = 2, .size = size};
    return recipe->kind != BLR_RECIPE_NONE;
}

struct blr_recipe blr_recipe_of(const struct blr_spirv_op *op)
{
    const blr_spirv_run_t run = op->plain != NULL ? op->plain : op->run;
    struct blr_recipe recipe = {.kind = BLR_RECIPE_NONE};
    if (find_other(run, op, &recipe) || find_image(run, op, &recipe) ||
        find_lanes(run, blr_spirv_integer_lanes, blr_spirv_integer_lane_count, &recipe) ||
        find_lanes(run, blr_spirv_float_lanes, blr_spirv_float_lane_count, &recipe) ||
        (op->element != 0 && find_conversion(run, op->element, &recipe)) ||
        find_functions(run, blr_spirv_float_functions, blr_spirv_float_function_count, &recipe) ||
        find_functions(run, blr_spirv_integer_functions, blr_spirv_integer_function_count, &recipe))
        return recipe;
    return recipe;
}
