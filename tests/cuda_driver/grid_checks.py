"""Launches whose blocks wait for each other, and special registers that tell about the launch."""

from __future__ import annotations

import numpy as np

from .driver_rig import Array, Failure, Rig

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

# a[i] = 3 a[i + 1] + a[i - 1] + t, of arrays that take turns: every block needs what its neighbours wrote before.
SWEEP = """
.visible .entry NAME(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 turns)
{
.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [turns];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
mov.u32 %r9, 0;
TURN:
add.u32 %r3, %r2, 1; rem.u32 %r3, %r3, %r0;
mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd0; ld.global.u32 %r5, [%rd2];
add.u32 %r3, %r2, %r0; sub.u32 %r3, %r3, 1; rem.u32 %r3, %r3, %r0;
mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd0; ld.global.u32 %r6, [%rd2];
mad.lo.u32 %r5, %r5, 3, %r6; add.u32 %r5, %r5, %r9;
mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r5;
BARRIER
mov.u64 %rd2, %rd0; mov.u64 %rd0, %rd1; mov.u64 %rd1, %rd2;
add.u32 %r9, %r9, 1; setp.lt.u32 %p0, %r9, %r1; @%p0 bra TURN;
ret;
}
"""
# A library's function, and the text of one in C++: the workspace that %envreg1 and %envreg2 name has a word whose
# highest bit changes when all have arrived.
CALL = """
{ .param .b32 scope; .param .b64 handle; st.param.b32 [scope], 1;
  call (handle), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %rd3, [handle]; }
{ .param .b64 handle; .param .b32 flags; .param .b32 code; st.param.b64 [handle], %rd3; st.param.b32 [flags], 0;
  call (code), cudaCGSynchronize, (handle, flags); }
"""
OWN = """
mov.u32 %r10, %envreg2; mov.u32 %r11, %envreg1; mov.b64 %rd3, {%r10, %r11};
bar.sync 0;
setp.ne.u32 %p1, %r4, 0; @%p1 bra BEHIND;
mov.u32 %r13, %nctaid.x; sub.u32 %r13, 0x80000001, %r13; mov.u32 %r14, %ctaid.x;
setp.eq.u32 %p1, %r14, 0; selp.u32 %r13, %r13, 1, %p1;
membar.gl; atom.global.add.u32 %r12, [%rd3+4], %r13;
SPIN: ld.volatile.global.u32 %r13, [%rd3+4]; xor.b32 %r13, %r13, %r12; setp.ge.s32 %p1, %r13, 0; @%p1 bra SPIN;
BEHIND: bar.sync 0;
"""
LIBRARY = """
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 code) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
"""
TEXT = HEAD + LIBRARY + SWEEP.replace("NAME", "called").replace("BARRIER", CALL)
TEXT += SWEEP.replace("NAME", "own").replace("BARRIER", OWN)

SIZES = """
.func (.param .b32 r) all_of_it() { .reg .b32 %r<2>; mov.u32 %r0, %total_smem_size; st.param.b32 [r], %r0; ret; }
.visible .entry sizes(.param .u64 o)
{
.reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .align 4 .b8 own[200];
ld.param.u64 %rd0, [o]; mov.u32 %r0, own; st.shared.u32 [%r0], 1;
mov.u32 %r1, %dynamic_smem_size; st.global.u32 [%rd0], %r1;
{ .param .b32 r; call (r), all_of_it, (); ld.param.b32 %r2, [r]; } st.global.u32 [%rd0+4], %r2;
ret;
}
"""


def sweep(values: Array, turns: int) -> Array:
    for turn in range(turns):
        values = np.roll(values, -1) * np.uint32(3) + np.roll(values, 1) + np.uint32(turn)
    return values


def check_blocks_that_wait_for_each_other(rig: Rig) -> None:
    module = rig.module(TEXT.encode())
    for name, grid, block, turns in (
        ("called", 1, 32, 3),
        ("called", 40, 96, 6),
        ("own", 64, 33, 4),
        ("called", 132, 512, 3),
    ):
        a = np.random.default_rng(grid).integers(0, 2**32, grid * block, np.uint32)
        one, two = rig.upload(a), rig.upload(np.zeros_like(a))
        words = np.uint32(a.size), np.uint32(turns)
        rig.launch(
            rig.function(module, name.encode()), grid, block, np.uint64(one), np.uint64(two), *words, cooperative=True
        )
        assert np.array_equal(rig.download(two if turns % 2 else one, a), sweep(a, turns)), (name, grid, block)


def check_a_grid_larger_than_the_device_is_refused(rig: Rig) -> None:
    function = rig.function(rig.module(TEXT.encode()), b"called")
    per_processor = int(rig.get("int *", "cuOccupancyMaxActiveBlocksPerMultiprocessor", function, 1024, 0))
    count = rig.get("int *", "cuDeviceGetAttribute", 16, 0)
    assert rig.get("int *", "cuDeviceGetAttribute", 95, 0) == 1
    memory = np.uint64(rig.upload(np.zeros(4, np.uint32)))
    try:
        words = memory, memory, np.uint32(1), np.uint32(1)
        rig.launch(function, per_processor * count + 1, 1024, *words, cooperative=True)
    except Failure as failure:
        assert failure.code == 720
    else:
        raise AssertionError("a grid that is too large runs")


def check_the_end_of_one_block_ends_the_others_by_a_fault(rig: Rig) -> None:
    text = OWN.replace("bar.sync 0;\n", "bar.sync 0; setp.eq.u32 %p2, %r2, 70; @%p2 trap;\n", 1)
    function = rig.function(rig.module((HEAD + SWEEP.replace("NAME", "k").replace("BARRIER", text)).encode()), b"k")
    memory = np.uint64(rig.upload(np.zeros(128, np.uint32)))
    rig.launch(function, 4, 32, memory, memory, np.uint32(128), np.uint32(2), cooperative=True)
    rig.refuses(700, "cuCtxSynchronize")


def check_a_kernel_knows_its_shared_memory(rig: Rig) -> None:
    function = rig.function(rig.module((HEAD + SIZES).encode()), b"sizes")
    assert rig.get("int *", "cuFuncGetAttribute", 1, function) == 200
    for dynamic, total in ((0, 256), (56, 256), (57, 384), (4000, 4224)):
        memory = rig.upload(np.zeros(2, np.uint32))
        rig.launch(function, 3, 40, np.uint64(memory), shared=dynamic)
        assert rig.download(memory, np.zeros(2, np.uint32)).tolist() == [dynamic, total]
