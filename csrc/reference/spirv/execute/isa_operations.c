/* List of the operations compiled for one instruction set; this file is compiled once for each. */
#include "spirv/execute/isa_operations.h"

#include "spirv/execute/affine.h"
#include "spirv/execute/opencl_std.h"
#include "spirv/execute/geometric.h"
#include "spirv/execute/image.h"
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/operations.h"

#include <string.h>

#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)

static const unsigned conversions[] = {BLR_OP_UConvert,    BLR_OP_SConvert,    BLR_OP_SatConvertSToU, BLR_OP_SatConvertUToS,
                                       BLR_OP_ConvertFToU, BLR_OP_ConvertFToS, BLR_OP_ConvertUToF,    BLR_OP_ConvertSToF,
                                       BLR_OP_FConvert,    BLR_OP_QuantizeToF16};
static const unsigned pairs[] = {BLR_OP_IAddCarry, BLR_OP_ISubBorrow, BLR_OP_UMulExtended, BLR_OP_SMulExtended};
static const blr_spirv_run_t others[] = {
    blr_spirv_run_copy,       blr_spirv_run_extract,    blr_spirv_run_extract_wrapped, blr_spirv_run_insert,
    blr_spirv_run_bitcast,    blr_spirv_run_choose,     blr_spirv_run_any,             blr_spirv_run_all,
    blr_spirv_run_offset,     blr_spirv_run_difference, blr_spirv_run_load,            blr_spirv_run_store,
    blr_spirv_run_array_index, blr_spirv_run_argument_index,
    blr_spirv_run_move_memory, blr_spirv_run_explicit_cast, blr_spirv_run_semantics, blr_spirv_run_image,
    blr_spirv_run_image_query};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static uint32_t add_row(blr_spirv_run_t *runs, uint32_t count, const blr_spirv_run_t row[4])
{
    memcpy(runs + count, row, 4 * sizeof *row);
    return count + 4;
}

static uint32_t list(blr_spirv_run_t *runs)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < blr_spirv_integer_lane_count; i++)
        count = add_row(runs, count, blr_spirv_integer_lanes[i].run);
    for (unsigned i = 0; i < blr_spirv_float_lane_count; i++)
        count = add_row(runs, count, blr_spirv_float_lanes[i].run);
    for (unsigned i = 0; i < blr_spirv_integer_function_count; i++)
        count = add_row(runs, count, blr_spirv_integer_functions[i].run);
    for (unsigned i = 0; i < blr_spirv_float_function_count; i++)
        count = add_row(runs, count, blr_spirv_float_functions[i].run);
    for (uint32_t size = 1; size <= 8; size *= 2) {
        for (unsigned i = 0; i < LENGTH(conversions); i++)
            for (uint32_t to = 1; to <= 8; to *= 2)
                runs[count++] = blr_spirv_conversion(conversions[i], size, to);
        for (unsigned i = 0; i < 2 * LENGTH(pairs); i++)
            runs[count++] = blr_spirv_half(pairs[i / 2], i % 2, size);
        for (unsigned i = 0; i <= BLR_MIXED_UPSAMPLE; i++)
            runs[count++] = blr_spirv_mixed((enum blr_spirv_mixed)i, size);
        runs[count++] = blr_spirv_scale(size);
        runs[count++] = blr_spirv_dot(size);
        runs[count++] = blr_spirv_index(size);
        runs[count++] = blr_spirv_select(size);
    }
    for (unsigned i = 0; i < LENGTH(others); i++)
        runs[count++] = others[i];
    return count;
}

const struct blr_spirv_set blr_spirv_set_of_this = {
#ifdef BLR_SET
    .name = TEXT_OF(BLR_SET),
#else
    .name = "plain",
#endif
    .run_batch = blr_spirv_run_batch,
    .affine = blr_affine_operations,
    .list = list};
