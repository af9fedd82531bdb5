/*
 * malloc and free of kernels.
 *
 * The heap is a variable of the module. A block has 16 bytes before the memory that malloc returns: its class, and while it
 * is free the number of the next one of its class. Classes are four to each power of two. A list of free blocks is a word
 * that changes by compare-and-swap: the first block's number, in units of 16 bytes, and above it a count of changes, which
 * keeps a lane from taking a block that others have taken and freed in between. No lane waits for another one.
 */
#include "library/kernel_heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char variables[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".global .align 16 .b8 heap[%" PRIu64 "];\n"
    ".global .align 8 .u64 used = 16;\n"
    ".global .align 8 .b64 lists[256];\n"
    ".global .align 8 .u64 size = %" PRIu64 ";\n";

static const char functions[] =
    /* the size %rd2 and the class %rd5 of a block for %rd0 bytes */
    ".weak .func (.param .b64 result) malloc(.param .b64 bytes)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<24>;\n"
    "ld.param.u64 %rd0, [bytes];\n"
    "ld.global.u64 %rd1, [size];\n"
    "mov.u64 %rd20, 0;\n"
    "setp.eq.u64 %p0, %rd0, 0; @%p0 bra DONE;\n"
    "setp.gt.u64 %p0, %rd0, %rd1; @%p0 bra DONE;\n"
    "add.u64 %rd2, %rd0, 16; max.u64 %rd2, %rd2, 32;\n"
    "bfind.u64 %r0, %rd2; sub.u32 %r1, %r0, 2; max.u32 %r1, %r1, 4;\n"
    "mov.u64 %rd3, 1; shl.b64 %rd3, %rd3, %r1; sub.u64 %rd3, %rd3, 1;\n"
    "add.u64 %rd2, %rd2, %rd3; not.b64 %rd3, %rd3; and.b64 %rd2, %rd2, %rd3;\n"
    "bfind.u64 %r0, %rd2; sub.u32 %r1, %r0, 2; max.u32 %r1, %r1, 4;\n"
    "shr.u64 %rd4, %rd2, %r1; and.b64 %rd4, %rd4, 3;\n"
    "cvt.u64.u32 %rd5, %r0; shl.b64 %rd5, %rd5, 2; or.b64 %rd5, %rd5, %rd4;\n"
    "shl.b64 %rd6, %rd5, 3; mov.u64 %rd7, lists; add.u64 %rd6, %rd6, %rd7; mov.u64 %rd8, heap;\n"
    "TAKE:\n"
    "ld.volatile.global.u64 %rd9, [%rd6];\n"
    "and.b64 %rd10, %rd9, 0xffffffff; setp.eq.u64 %p1, %rd10, 0; @%p1 bra LONGER;\n"
    "shl.b64 %rd11, %rd10, 4; add.u64 %rd11, %rd11, %rd8;\n"
    "ld.volatile.global.u32 %r2, [%rd11+8]; cvt.u64.u32 %rd12, %r2;\n"
    "shr.u64 %rd13, %rd9, 32; add.u64 %rd13, %rd13, 1; shl.b64 %rd13, %rd13, 32; or.b64 %rd13, %rd13, %rd12;\n"
    "atom.acquire.gpu.global.cas.b64 %rd14, [%rd6], %rd9, %rd13;\n"
    "setp.ne.u64 %p2, %rd14, %rd9; @%p2 bra TAKE;\n"
    "bra GIVE;\n"
    "LONGER:\n"
    "ld.volatile.global.u64 %rd9, [used]; add.u64 %rd13, %rd9, %rd2;\n"
    "setp.gt.u64 %p1, %rd13, %rd1; @%p1 bra DONE;\n"
    "atom.global.cas.b64 %rd14, [used], %rd9, %rd13;\n"
    "setp.ne.u64 %p2, %rd14, %rd9; @%p2 bra LONGER;\n"
    "add.u64 %rd11, %rd8, %rd9;\n"
    "GIVE:\n"
    "st.global.u64 [%rd11], %rd5; add.u64 %rd20, %rd11, 16;\n"
    "DONE:\n"
    "st.param.b64 [result], %rd20; ret;\n}\n"
    ".weak .func free(.param .b64 pointer)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<24>;\n"
    "ld.param.u64 %rd0, [pointer];\n"
    "ld.global.u64 %rd1, [size]; mov.u64 %rd8, heap; add.u64 %rd2, %rd8, %rd1; add.u64 %rd3, %rd8, 32;\n"
    "setp.lt.u64 %p0, %rd0, %rd3; @%p0 bra DONE;\n" /* NULL, or of another module */
    "setp.ge.u64 %p0, %rd0, %rd2; @%p0 bra DONE;\n"
    "sub.u64 %rd11, %rd0, 16; ld.global.u64 %rd5, [%rd11];\n"
    "setp.gt.u64 %p0, %rd5, 255; @%p0 bra DONE;\n"
    "shl.b64 %rd6, %rd5, 3; mov.u64 %rd7, lists; add.u64 %rd6, %rd6, %rd7;\n"
    "sub.u64 %rd4, %rd11, %rd8; shr.u64 %rd4, %rd4, 4;\n"
    "PUT:\n"
    "ld.volatile.global.u64 %rd9, [%rd6]; cvt.u32.u64 %r0, %rd9; st.volatile.global.u32 [%rd11+8], %r0;\n"
    "shr.u64 %rd13, %rd9, 32; add.u64 %rd13, %rd13, 1; shl.b64 %rd13, %rd13, 32; or.b64 %rd13, %rd13, %rd4;\n"
    "atom.release.gpu.global.cas.b64 %rd14, [%rd6], %rd9, %rd13;\n"
    "setp.ne.u64 %p2, %rd14, %rd9; @%p2 bra PUT;\n"
    "DONE:\n"
    "ret;\n}\n";

void ptx_add_heap(struct ptx_module *module, uint64_t bytes)
{
    struct ptx_build *build = module->build;
    if (!ptx_lacks(module, "malloc", "free"))
        return;
    const size_t room = sizeof variables + sizeof functions + 64;
    char *text = ptx_allocate(build, room, 1);
    bytes = (bytes + 15) / 16 * 16;
    snprintf(text, room, variables, bytes, bytes);
    strcat(text, functions);
    build->text = build->text_count++;
    ptx_parse(module, text, strlen(text));
}
