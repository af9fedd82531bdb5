"""Kernels for the tests and benchmarks of command groups, in the language of the queue's driver.

add    sum[i] += term[i], of int32
put    out[i] = value, of int32, for i < n
busy   takes some time, then out[0] += 1
"""

from __future__ import annotations

import functools

import bindless as bl
from tests.support.compile_kernels import compiled_text

__all__ = ["load"]

_OPENCL_C = """
kernel void add(global int *sum, global const int *term) { sum[get_global_id(0)] += term[get_global_id(0)]; }

kernel void put(global int *out, int value, uint n) { if (get_global_id(0) < n) out[get_global_id(0)] = value; }

kernel void busy(global int *out, uint n)
{
    volatile uint count = 0;
    while (count < n) count = count + 1;
    out[0] += 1;
}
"""

_PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 sum, .param .u64 term)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<6>;
    ld.param.u64 %d0, [sum];
    ld.param.u64 %d1, [term];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r0, %tid.x;
    mad.lo.u32 %r0, %r4, %r5, %r0;
    mul.wide.u32 %d2, %r0, 4;
    add.s64 %d3, %d0, %d2;
    add.s64 %d4, %d1, %d2;
    ld.global.u32 %r1, [%d3];
    ld.global.u32 %r2, [%d4];
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%d3], %r3;
    ret;
}
.visible .entry put(.param .u64 out, .param .u32 value, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [out];
    ld.param.u32 %r1, [value];
    ld.param.u32 %r2, [n];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r0, %tid.x;
    mad.lo.u32 %r0, %r4, %r5, %r0;
    setp.ge.u32 %p, %r0, %r2;
    @%p bra end;
    mul.wide.u32 %d1, %r0, 4;
    add.s64 %d2, %d0, %d1;
    st.global.u32 [%d2], %r1;
end:
    ret;
}
.visible .entry busy(.param .u64 out, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %d<6>;
    ld.param.u64 %d0, [out];
    ld.param.u32 %r0, [n];
    mul.wide.u32 %d1, %r0, 16;
    mov.u64 %d2, %clock64;
wait:
    mov.u64 %d3, %clock64;
    sub.s64 %d4, %d3, %d2;
    setp.lt.s64 %p, %d4, %d1;
    @%p bra wait;
    ld.global.u32 %r1, [%d0];
    add.s32 %r1, %r1, 1;
    st.global.u32 [%d0], %r1;
    ret;
}
"""


def load(queue: bl.Queue) -> bl.KernelBundle:
    """The kernels above for a queue's device; on CUDA they need no compiler."""
    if queue.backend == "cuda":
        return bl.load_kernel_bundle(_PTX, queue)
    if queue.backend == "opencl":
        return bl.load_kernel_bundle(_in_opencl_c(), queue)
    return bl.load_kernel_bundle(compiled_text(_OPENCL_C, "spirv"), queue)


@functools.cache
def _in_opencl_c() -> bl.KernelFile:
    return bl.build(_OPENCL_C, targets="opencl_c")
