/* OpReadClockKHR: nanoseconds of the driver's clock, the same for all lanes. */
#include "platform/threads.h"
#include "spirv/compile/builder.h"

static void run_clock(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)batch;
    const uint64_t now = blr_clock_now();
    uint32_t *r = (uint32_t *)result; /* a number of 64 bits, or two of 32 */
    for (uint32_t i = 0; i < op->count; i++)
        if (op->element == 8)
            ((uint64_t *)result)[i] = now;
        else
            r[i] = (uint32_t)(i < BLR_LANES ? now : now >> 32);
}

bool blr_spirv_decode_clock(struct blr_spirv_builder *b, uint32_t word)
{
    if (blr_spirv_opcode_at(b->build, word) != BLR_OP_ReadClockKHR)
        return false;
    blr_spirv_require_words(b->module, word, 4);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word), *scalar = blr_spirv_scalar(b->module, type);
    if (scalar->kind != BLR_TYPE_INT || scalar->scalar_size * blr_spirv_components(type) != 8 || scalar->scalar_size < 4)
        blr_spirv_refuse(b->build, word, "its result is no number of 64 bits, nor two of 32");
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = run_clock;
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, blr_spirv_components(type));
    return true;
}
