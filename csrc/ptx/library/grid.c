/*
 * The barrier of a grid, as device libraries declare it.
 *
 * A block arrives by adding to a word of the grid's workspace: 1, but the first block as much as makes the sum of all 2^31.
 * All have arrived when the highest bit differs from what a block found; the other bits are 0 again.
 */
#include "library/grid.h"

#include <string.h>

static const char functions[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".weak .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    ".reg .b32 %r<2>; .reg .b64 %rd<1>;\n"
    "mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1; mov.b64 %rd0, {%r0, %r1};\n"
    "st.param.b64 [result], %rd0; ret;\n}\n"
    ".weak .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n{\n"
    ".reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<1>;\n"
    "ld.param.u64 %rd0, [handle];\n"
    "barrier.sync 0;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"
    "or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r2;\n"
    "setp.ne.u32 %p0, %r0, 0; @%p0 bra TOGETHER;\n"
    "mov.u32 %r3, %nctaid.x; mov.u32 %r4, %nctaid.y; mov.u32 %r5, %nctaid.z;\n"
    "mul.lo.u32 %r3, %r3, %r4; mul.lo.u32 %r3, %r3, %r5; sub.u32 %r3, 0x80000001, %r3;\n"
    "mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;\n"
    "or.b32 %r6, %r6, %r7; or.b32 %r6, %r6, %r8;\n"
    "setp.eq.u32 %p1, %r6, 0; selp.b32 %r9, %r3, 1, %p1;\n"
    "atom.add.release.gpu.u32 %r10, [%rd0+4], %r9;\n"
    "AGAIN:\n"
    "ld.acquire.gpu.u32 %r11, [%rd0+4]; xor.b32 %r11, %r11, %r10;\n"
    "setp.ge.s32 %p2, %r11, 0; @%p2 bra AGAIN;\n"
    "TOGETHER:\n"
    "barrier.sync 0;\n"
    "st.param.b32 [result], 0; ret;\n}\n";

void ptx_add_grid(struct ptx_module *module)
{
    struct ptx_build *build = module->build;
    if (!ptx_lacks(module, "cudaCGGetIntrinsicHandle", "cudaCGSynchronize"))
        return;
    build->text = build->text_count++;
    ptx_parse(module, functions, strlen(functions));
}
