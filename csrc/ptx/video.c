/* Operations on the bytes or halves of words: vadd4, vabsdiff2 and others, without selected or masked lanes. */
#include "emit.h"

#include <string.h>

static struct ptx_value lane_of(struct ptx_emitter *e, struct ptx_value word, uint32_t k, uint32_t bits, bool by_sign)
{
    const struct ptx_value top = ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, word, ptx_bits_value(e, PTX_I32, 32 - (k + 1) * bits));
    return ptx_op2(e, by_sign ? OP_ShiftRightArithmetic : OP_ShiftRightLogical, PTX_I32, top, ptx_bits_value(e, PTX_I32, 32 - bits));
}

static struct ptx_value compute(struct ptx_emitter *e, const char *name, struct ptx_value a, struct ptx_value b)
{
    if (strncmp(name, "vadd", 4) == 0)
        return ptx_op2(e, OP_IAdd, PTX_I32, a, b);
    if (strncmp(name, "vsub", 4) == 0)
        return ptx_op2(e, OP_ISub, PTX_I32, a, b);
    if (strncmp(name, "vabs", 4) == 0)
        return ptx_math1(e, MATH_SABS, ptx_op2(e, OP_ISub, PTX_I32, a, b));
    if (strncmp(name, "vavrg", 5) == 0) {
        const struct ptx_value one = ptx_bits_value(e, PTX_I32, 1), sum = ptx_op2(e, OP_IAdd, PTX_I32, ptx_op2(e, OP_IAdd, PTX_I32, a, b), one);
        return ptx_op2(e, OP_ShiftRightArithmetic, PTX_I32, sum, one);
    }
    return ptx_math2(e, strncmp(name, "vmin", 4) == 0 ? MATH_SMIN : MATH_SMAX, a, b);
}

static void emit_video(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const uint32_t count = i->name[strlen(i->name) - 1] == '4' ? 4 : 2, bits = 32 / count;
    const enum ptx_type to = ptx_type_at(e, 0), one = ptx_type_at(e, 1), two = ptx_type_at(e, 2);
    const bool by_sign = ptx_class(to) == 's', adds = ptx_has(i, "add");
    const struct ptx_value a = ptx_operand(e, 1, PTX_B32), b = ptx_operand(e, 2, PTX_B32);
    struct ptx_value sum = adds ? ptx_operand(e, 3, PTX_B32) : ptx_bits_value(e, PTX_I32, 0);
    const uint32_t most = (by_sign ? 0x7fffffffu : 0xffffffffu) >> (32 - bits), least = by_sign ? ~most : 0;
    for (uint32_t k = 0; k < count; k++) {
        struct ptx_value lane = compute(e, i->name, lane_of(e, a, k, bits, ptx_class(one) == 's'), lane_of(e, b, k, bits, ptx_class(two) == 's'));
        if (ptx_has(i, "sat"))
            lane = ptx_math2(e, MATH_SMIN, ptx_math2(e, MATH_SMAX, lane, ptx_bits_value(e, PTX_I32, least)), ptx_bits_value(e, PTX_I32, most));
        if (adds) {
            sum = ptx_op2(e, OP_IAdd, PTX_I32, sum, lane);
            continue;
        }
        lane = ptx_op2(e, OP_BitwiseAnd, PTX_I32, lane, ptx_bits_value(e, PTX_I32, 0xffffffffu >> (32 - bits)));
        sum = ptx_op2(e, OP_BitwiseOr, PTX_I32, sum, ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, lane, ptx_bits_value(e, PTX_I32, k * bits)));
    }
    ptx_write(e, &i->operands[0], sum, false);
}

const struct ptx_handler ptx_video_handlers[] = {
    {"vadd2", emit_video}, {"vadd4", emit_video}, {"vsub2", emit_video}, {"vsub4", emit_video}, {"vabsdiff2", emit_video},
    {"vabsdiff4", emit_video}, {"vmin2", emit_video}, {"vmin4", emit_video}, {"vmax2", emit_video}, {"vmax4", emit_video},
    {"vavrg2", emit_video}, {"vavrg4", emit_video}, {NULL, NULL}};
