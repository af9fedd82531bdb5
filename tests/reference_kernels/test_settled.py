"""Constant folding in the driver: operations on constants, and the branches that depend on them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled, compiled_text

# The same function of build-time constants and of arguments.
TEXT = """
int __spirv_SpecConstant(int, int) __attribute__((overloadable));
float __spirv_SpecConstant(int, float) __attribute__((overloadable));
static int4 chosen(int how, float scale, int x)
{
    int4 sum = (int4)(how, x, 0, 1);
    switch (how & 7) {
    case 0: sum.y += 3; break;
    case 1: sum = sum.wzyx; /* falls through */
    case 5: sum.x = (int)(x * scale); break;
    case 6: for (int k = 0; k < (how >> 3); ++k) sum += k * x; break;
    default: sum.z = how < 0 ? -x : convert_int_rte(scale); break;
    }
    const long wide = (long)how * 0x100000001L;
    const int4 other = how > 3 ? sum : (int4)(x, 7, (int)(wide >> 33), how % 5 + (how ^ 0x55));
    return scale > 1.5f ? other.yxwz : other;
}
kernel void settled(global const int *in, global int4 *out)
{
    const size_t i = get_global_id(0);
    const float scale = __spirv_SpecConstant(2, 1.0f);
    out[i] = chosen(__spirv_SpecConstant(1, 0), scale, in[i]);
}
kernel void open(global const int *in, global int4 *out, int how, float scale)
{
    const size_t i = get_global_id(0);
    out[i] = chosen(how, scale, in[i]);
}
"""
HOW = (0, 1, 2, 5, 6, 30, 46, -1, -(2**31), 2**31 - 1)
SCALES = (0.25, 1.0, 2.5, -3.75)


def test_what_is_known_gives_what_arguments_give(queue: bl.Queue) -> None:
    if queue.device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("PTX has no specialization constants")
    x = np.arange(-100, 100, dtype=np.int32)
    source = compiled_text(TEXT, "spirv", "settled,open")
    data, out = bl.usm_empty(x.shape, x.dtype, queue), bl.usm_empty((200, 4), np.int32, queue)
    data.copy_from(x)
    general = bl.load_kernel_bundle(source, queue).get_kernel("open")
    different = set()
    for how, scale in itertools.product(HOW, SCALES):
        special = bl.load_kernel_bundle(source, queue, specialization={1: np.int32(how), 2: np.float32(scale)})
        queue.parallel_for(200, special.get_kernel("settled"), data, out).wait_and_throw()
        found = out.numpy(queue)
        queue.parallel_for(200, general, data, out, np.int32(how), np.float32(scale)).wait_and_throw()
        np.testing.assert_array_equal(found, out.numpy(queue), err_msg=f"{how}, {scale}")
        different.add(found.tobytes())
    assert len(different) > 20


# A condition and a switch on constants; phis of unreachable blocks, one of them an endless loop.
BLOCKS = """
               OpCapability Addresses
               OpCapability Kernel
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "blocks"
       %void = OpTypeVoid
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
    %pointer = OpTypePointer CrossWorkgroup %uint
       %type = OpTypeFunction %void %pointer
       %zero = OpConstant %uint 0
        %two = OpConstant %uint 2
      %seven = OpConstant %uint 7
       %main = OpFunction %void None %type
        %out = OpFunctionParameter %pointer
      %start = OpLabel
        %yes = OpULessThan %bool %two %seven
               OpBranchConditional %yes %left %right
       %left = OpLabel
        %sum = OpIAdd %uint %two %seven
               OpBranch %meet
      %right = OpLabel
      %twice = OpIMul %uint %seven %seven
               OpBranch %meet
       %meet = OpLabel
      %taken = OpPhi %uint %sum %left %twice %right
               OpSwitch %two %other 1 %one 2 %end 3 %end
        %one = OpLabel
               OpBranch %one
      %other = OpLabel
               OpBranch %end
        %end = OpLabel
     %number = OpPhi %uint %zero %other %taken %meet
               OpStore %out %number Aligned 4
               OpReturn
               OpFunctionEnd
"""


def test_blocks_that_nothing_reaches(queue: bl.Queue) -> None:
    if queue.device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("the module is SPIR-V")
    kernel = bl.load_kernel_bundle(assembled(BLOCKS), queue).get_kernel("blocks")
    out = bl.usm_empty((1,), np.int32, queue)
    queue.parallel_for(1, kernel, out).wait_and_throw()
    assert out.numpy(queue)[0] == 9
