/* Checks of calls of the CUDA driver, and a kernel: adds a number to each element. */
#ifndef BINDLESS_TESTS_C_CUDA_FIXTURE_H
#define BINDLESS_TESTS_C_CUDA_FIXTURE_H

#include "cuda_driver/core/exports.h"

#include "check.h"

#define SUCCEEDS(call) CHECK_EQUAL(CUDA_SUCCESS, call)
#define GIVES(result, call) CHECK_EQUAL(result, call)

static const char *const add_ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                   ".visible .entry add(.param .u64 p, .param .u32 v)\n"
                                   "{ .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
                                   "ld.param.u64 %rd0, [p]; ld.param.u32 %r0, [v]; mov.u32 %r1, %tid.x;\n"
                                   "mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd0, %rd1;\n"
                                   "ld.global.u32 %r2, [%rd2]; add.s32 %r3, %r2, %r0; st.global.u32 [%rd2], %r3; ret; }\n";

#endif
