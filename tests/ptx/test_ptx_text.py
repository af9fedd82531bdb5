"""Texts that are refused, and the validity of what the others become."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from bindless import kernels
from tests.ptx.compiler import Compiler, PtxError
from tests.ptx.conftest import PROGRAMS
from tests.support.needs import spirv_tool

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [p];
INSTRUCTION
ret;
}
"""
LINE = KERNEL[: KERNEL.index("INSTRUCTION")].count("\n") + 1

WRONG = """
add.foo.s32 %r1, %r1, %r2
add.s32.sat %r1, %r1, %r2
add.sat.u32 %r1, %r1, %r2
add.rn.s32 %r1, %r1, %r2
add.cc.f32 %f1, %f1, %f2
add.ftz.f64 %fd1, %fd1, %fd2
add.f32.f32 %f1, %f1, %f2
add.rna.f32 %f1, %f1, %f2
add.rm.f16 %h1, %h1, %h2
add.f32x2 %rd1, %rd1, %rd1
add.s32 %r1, %r1, %r2, %r3
add.s32 %r1, %r1
sub.approx.f32 %f1, %f1, %f2
mul.s32 %r1, %r1, %r2
mul.wide.u64 %rd1, %rd1, %rd1
mul.lo.hi.s32 %r1, %r1, %r2
mad.s32 %r1, %r1, %r2, %r3
mad.lo.sat.s32 %r1, %r1, %r2, %r3
fma.f32 %f1, %f1, %f2, %f3
fma.rn.oob.f16 %h1, %h1, %h2, %h3
fma.rn.sat.relu.f16 %h1, %h1, %h2, %h3
div.f32 %f1, %f1, %f2
div.full.f64 %fd1, %fd1, %fd2
div.rn.sat.f32 %f1, %f1, %f2
rem.f32 %f1, %f1, %f2
sqrt.f32 %f1, %f1
sqrt.approx.f64 %fd1, %fd1
sin.f32 %f1, %f1
sin.approx.f64 %fd1, %fd1
ex2.approx.bf16 %h1, %h1
tanh.approx.ftz.f32 %f1, %f1
min.nan.f32 %f1, %f1, %f2
min.xorsign.f32 %f1, %f1, %f2
max.relu.u32 %r1, %r1, %r2
abs.u32 %r1, %r1
neg.rn.f32 %f1, %f1
and.u32 %r1, %r1, %r2
shl.s32 %r1, %r1, 1
shf.l.b32 %r1, %r1, %r2, %r3
shf.wrap.l.b32 %r1, %r1, %r2, %r3
popc.u32 %r1, %r1
bfe.b32 %r1, %r1, 1, 2
lop3.or.b32 %r1|%p1, %r1, %r2, %r3, 1, %p2
prmt.b32.f5e %r1, %r1, %r2, %r3
vadd4.u32.u32.u32.sat.add %r1, %r1, %r2, %r3
mov.f16 %h1, %h2
cvta.to.shared::cluster.u64 %rd1, %rd1
setp.lt.ftz.f64 %p1, %fd1, %fd2
setp.ltu.s32 %p1, %r1, %r2
setp.lt.nand.s32 %p1, %r1, %r2, %p2
selp.pred %p1, %p1, %p2, %p3
set.lt.f64.f64 %fd1, %fd1, %fd2
slct.s32.u32 %r1, %r1, %r2, %r3
cvt.s32.f32 %r1, %f1
cvt.rn.s32.f32 %r1, %f1
cvt.rni.f64.f32 %fd1, %f1
cvt.f32.s32 %f1, %r1
cvt.f32.f64 %f1, %fd1
cvt.rn.satfinite.f16x2.f32 %r1, %f1, %f2
cvt.rn.tf32.f32 %r1, %f1
cvt.rn.e4m3x2.f32 %h1, %f1, %f2
cvt.rz.satfinite.e5m2x2.f32 %h1, %f1, %f2
cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1, %r2
cvt.pack.sat.s16.s32 %r1, %r2, %r3
ld.globl.u32 %r1, [%rd1]
ld.global.volatile.u32 %r1, [%rd1]
ld.acquire.u32 %r1, [%rd1]
ld.relaxed.cluster.u32 %r1, [%rd1]
ld.global.v3.u32 {%r1,%r2,%r3}, [%rd1]
ld.shared::cluster.u32 %r1, [%rd1]
st.global.nc.u32 [%rd1], %r1
st.acquire.gpu.u32 [%rd1], %r1
st.const.u32 [%rd1], %r1
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3]
prefetch.tensormap [%rd1]
cp.async.ca.shared.global.L2::32B [%r1], [%rd1], 4
cp.async.bulk.prefetch.L2.global [%rd1], 64
cp.async.mbarrier.arrive.shared.u64 [%r1]
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 64
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]
mbarrier.test_wait.shared.b64 %p1, [%rd1]
mbarrier.init.shared.u64 [%rd1], 1
atom.add.s64 %rd1, [%rd1], %rd2
atom.foo.global.add.u32 %r1, [%rd1], %r2
atom.global.add.f16 %h1, [%rd1], %h2
atom.cluster.add.u32 %r1, [%rd1], %r2
atom.global.cas.u32 %r1, [%rd1], %r2, %r3
atom.seq_cst.gpu.add.u32 %r1, [%rd1], %r2
red.exch.b32 [%rd1], %r1
red.async.relaxed.cluster.global.add.u32 [%rd1], %r1
shfl.bfly.sync.b32 %r1, %r1, 1, 31, -1
shfl.sync.xor.b32 %r1, %r1, 1, 31, -1
vote.sync.none.pred %p1, %p2, -1
match.sync.any.b32 %r1, %r1, -1
redux.sync.add.f32 %f1, %f1, -1
redux.sync.xor.u32 %r1, %r1, -1
bar.sync 0, 64, 1
bar.arrive 0
bar.sync.aligned 0
bar.red.xor.pred %p1, 0, %p2
barrier.cluster.arrive
membar.cluster
fence.proxy.tensormap::generic.release.gpu
tex.2d.v2.f32.f32 {%f1,%f2}, [%rd1, {%f1,%f2}]
tex.acube.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2,%f3,%f4}]
tex.level.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2}], %r3
tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2}]
tld4.x.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}]
txq.samples.b32 %r1, [%rd1]
suq.height.u32 %r1, [%rd1]
suld.b.2d.b32.clamp %r1, [%rd1, {%r1,%r2}]
sust.p.2d.b32.zero [%rd1, {%r1,%r2}], %r3
sured.b.add.2d.u32.trap [%rd1, {%r1,%r2}], %r3
bra.foo L; L:
ret.foo
exit.uni
call.foo k
nanosleep.b32 10
trap.sync
mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r1},{%r1},{%r1},{%r1}
wgmma.fence.sync.aligned
tcgen05.fence
mov.u32 %r1, %tid.w
mov.u32 %r1, %laneid.x
mov.u32 %r1, %tid.xx
"""


@pytest.mark.parametrize("text", WRONG.strip().splitlines())
def test_what_is_not_translated_is_an_error(compiler: Compiler, text: str) -> None:
    """At its line, with the instruction's name: never a kernel that ignores a modifier."""
    with pytest.raises(PtxError) as caught:
        compiler.compile(KERNEL.replace("INSTRUCTION", text + ";"))
    name = "tid" if "tid." in text else "laneid" if "laneid" in text else text.split()[0]
    assert f"line {LINE}: " in str(caught.value)
    assert name in str(caught.value)


OLD = {
    "Invalid capability operand: 6528": "SPV_INTEL_bindless_images; needs SPIRV-Tools 2024 or newer",
    "must be a constant for WorkgroupSize": "built-in variables of kernels; needs SPIRV-Tools 2024 or newer",
}


def test_modules_are_valid(compiler: Compiler, tmp_path: Path) -> None:
    """By spirv-val."""
    texts = {path.stem: path.read_bytes() for path in PROGRAMS.glob("*.ptx")}
    texts |= {name: kernels.source(name, "ptx") for name in kernels.modules("ptx")}
    validator, file, old = spirv_tool("spirv-val"), tmp_path / "module.spv", set()
    for name, text in texts.items():
        compiled = compiler.compile(text)
        file.write_bytes(ctypes.string_at(compiled.words, compiled.word_count * 4))
        command = [validator, "--target-env", "spv1.3", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        reasons = [what for message, what in OLD.items() if message in done.stderr]
        old.update(reasons)
        assert reasons or done.returncode == 0, f"{name}: {done.stderr}"
    if old:
        pytest.skip(f"all but some modules are valid; this spirv-val is older than {sorted(old)}")
