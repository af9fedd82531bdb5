"""Threads that wait for others: barriers of a part of a block, in shared memory, locks, and lanes of one warp."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.ptx.conftest import Load

Array = npt.NDArray[Any]
GENERATOR = np.random.default_rng(11)
T = np.arange(128)
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

TARGETS = pytest.mark.parametrize("program", ["barriers80", "barriers90"])


def _sum_of_tiles(a: Array, size: int) -> Array:
    """The sum over tiles, read backwards, times their number from 1 on."""
    tiles = a.reshape(-1, size)[:, ::-1]
    return np.asarray((tiles * (1 + np.arange(len(tiles)))[:, None]).sum(0))


@TARGETS
@pytest.mark.parametrize("kernel", ["ring", "phases"])
@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_producers_and_consumers(load: Load, program: str, kernel: str, rounds: int) -> None:
    """Two warps fill two slots in turn, two others read them: barriers with numbers, and ``cuda::barrier``."""
    a = GENERATOR.integers(-50, 50, 64 * rounds).astype(np.int32)
    values = load(program).launch(kernel, 1, 128, a, np.zeros(64, np.int32), np.int32(rounds))[1]
    np.testing.assert_array_equal(values, _sum_of_tiles(a, 64))


@TARGETS
def test_parts_of_a_block_reduce(load: Load, program: str) -> None:
    a = GENERATOR.integers(-50, 50, 256).astype(np.int32)
    values = load(program).launch("pairs", 1, 256, a, np.zeros(256, np.int32))[1]
    parts = a.reshape(4, 64)
    wanted = (parts > 0).sum(1) + (parts > 48).any(1) * 100 + (parts > -48).all(1) * 1000
    np.testing.assert_array_equal(values, np.repeat(wanted, 64))


@TARGETS
def test_a_barrier_is_at_several_places(load: Load, program: str) -> None:
    a = GENERATOR.integers(-50, 50, 128).astype(np.int32)
    values = load(program).launch("places", 1, 128, a, np.zeros(128, np.int32))[1]
    wanted = np.where(T < 32, a[::-1], np.where(T < 96, np.roll(a, -1) * 2, np.roll(a, 96) * 3))
    np.testing.assert_array_equal(values, wanted)


@TARGETS
def test_locks(load: Load, program: str) -> None:
    """One in shared memory that lanes of a warp take from each other, one of all blocks."""
    word, out = load(program).launch("lock", 3, 96, np.zeros(2, np.int32), np.zeros(288, np.int32))
    assert word.tolist() == [0, 288]
    lanes = np.arange(96)
    warps = np.repeat((lanes + 1).reshape(3, 32).sum(1), 32)
    np.testing.assert_array_equal(out, np.tile(lanes.sum() * 100000 + warps, 3))


@TARGETS
def test_lanes_of_a_warp_wait_for_each_other(load: Load, program: str) -> None:
    values = load(program).launch("order", 2, 128, np.zeros(128, np.int32))[0]
    np.testing.assert_array_equal(values, T // 32 + 5 + (T + 1) % 32)


@TARGETS
@pytest.mark.parametrize("rounds", [2, 7])
def test_threads_leave_a_barrier(load: Load, program: str, rounds: int) -> None:
    values = load(program).launch("drops", 1, 96, np.zeros(rounds, np.int32), np.int32(rounds))[0]
    arrivals = np.where(np.arange(rounds) < rounds // 2, 96, 32)
    np.testing.assert_array_equal(values, np.cumsum(arrivals))


@TARGETS
@pytest.mark.parametrize("tiles", [1, 5])
def test_pipelines(load: Load, program: str, tiles: int) -> None:
    a = GENERATOR.integers(-50, 50, 128 * tiles).astype(np.int32)
    values = load(program).launch("copies", 1, 128, a, np.zeros(128, np.int32), np.int32(tiles))[1]
    np.testing.assert_array_equal(values, _sum_of_tiles(a, 128))


@TARGETS
def test_groups(load: Load, program: str) -> None:
    """``cooperative_groups``: tiles, coalesced threads, and a partition by labels."""
    a = GENERATOR.integers(-50, 50, 128).astype(np.int32)
    values = load(program).launch("groups", 1, 128, a, np.zeros((128, 4), np.int32))[1]
    warps = a.reshape(4, 32)
    odd = warps & 1 == 1
    ranks = np.where(odd, odd.sum(1)[:, None] * 100 + np.cumsum(odd, 1) - 1, 0)
    same = (warps[:, :, None] & 3 == warps[:, None, :] & 3).sum(2)
    np.testing.assert_array_equal(values[:, 0], np.repeat(a.reshape(16, 8).sum(1), 8))
    np.testing.assert_array_equal(values[:, 1], np.repeat(warps.max(1), 32))
    np.testing.assert_array_equal(values[:, 2], ranks.reshape(-1))
    np.testing.assert_array_equal(values[:, 3], same.reshape(-1))


@TARGETS
def test_copies_of_a_block(load: Load, program: str) -> None:
    """``memcpy_async`` with a barrier, for which one lane of each warp waits, and that of cooperative groups."""
    a = GENERATOR.integers(-50, 50, 256).astype(np.int32)
    values = load(program).launch("single", 1, 128, a, np.zeros(256, np.int32))[1]
    np.testing.assert_array_equal(values[:128], a[127 - T] + a[T // 32 * 32 + 5])
    np.testing.assert_array_equal(values[128:], np.where(T < 100, a[128:], 0))


def _kernel(body: str, shared: int = 64) -> str:
    registers = ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;"
    start = "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;"
    memory = f".shared .align 16 .b8 s[{shared}];"
    return f"{HEAD}.visible .entry k(.param .u64 out)\n{{\n{registers}\n{memory}\n{start}\n{body}\nret;\n}}\n"


PHASES = """
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [s], 3;
bar.sync 0;
@!%p1 bra OTHERS;
mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd3, [s], 2;
mbarrier.pending_count.b64 %r2, %rd3;
st.global.u32 [%rd1], %r2;
mbarrier.test_wait.shared.b64 %p2, [s], %rd3; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1+4], %r3;
mbarrier.arrive.shared.b64 %rd4, [s];
mbarrier.pending_count.b64 %r2, %rd4; st.global.u32 [%rd1+8], %r2;
mbarrier.test_wait.shared.b64 %p2, [s], %rd4; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1+12], %r3;
mbarrier.test_wait.parity.shared.b64 %p2, [s], 0; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1+16], %r3;
mbarrier.test_wait.parity.shared.b64 %p2, [s], 1; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1+20], %r3;
mbarrier.arrive_drop.shared.b64 %rd5, [s];
mbarrier.arrive.expect_tx.shared::cta.b64 %rd6, [s], 16;
mbarrier.arrive.shared::cta.b64 _, [s];
mbarrier.try_wait.shared::cta.b64 %p2, [s], %rd6, 100; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1+24], %r3;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [s], 16;
mbarrier.test_wait.shared.b64 %p2, [s], %rd6; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1+28], %r3;
mbarrier.arrive.shared.b64 %rd7, [s], 1; mbarrier.pending_count.b64 %r2, %rd7; st.global.u32 [%rd1+32], %r2;
mbarrier.inval.shared.b64 [s];
OTHERS:
"""


def test_phases_of_a_barrier(load: Load) -> None:
    values = load(_kernel(PHASES)).launch("k", 1, 32, np.zeros(9, np.uint32))[0]
    assert values.tolist() == [3, 0, 1, 1, 1, 0, 0, 1, 2]


COPIES = """
add.u32 %r2, %r1, 1; shl.b32 %r3, %r1, 4; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;
cvt.u64.u32 %rd3, %r3; add.u64 %rd4, %rd1, %rd3;
setp.ne.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2;
st.shared.v4.u32 [%r4], {7, 7, 7, 7};
@%p1 cp.async.cg.shared.global [%r4], [%rd4], 16, %r5;
cp.async.commit_group; cp.async.wait_group 0;
ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];
st.global.v4.u32 [%rd4], {%r10, %r11, %r12, %r13};
"""


def test_copies_are_guarded_and_filled(load: Load) -> None:
    """With zeros behind the size of the source; a guard leaves the memory as it is."""
    a = np.arange(100, 116, dtype=np.uint32)
    body = COPIES.replace("@%p1", "mul.lo.u32 %r5, %r1, 6; @%p1", 1)
    values = load(_kernel(body, 64)).launch("k", 1, 4, a)[0]
    wanted = a.view(np.uint8).reshape(4, 16).copy()
    for row, size in enumerate((0, 6, 12, 18)):
        wanted[row, min(size, 16) :] = 0
    wanted[1] = np.full(4, 7, np.uint32).view(np.uint8)
    np.testing.assert_array_equal(values.view(np.uint8).reshape(4, 16), wanted)
    ignores = load(_kernel(COPIES.replace("16, %r5", "16, %p2"), 64)).launch("k", 1, 4, a)[0].reshape(4, 4)
    np.testing.assert_array_equal(ignores, [a[:4], [7] * 4, [0] * 4, a[12:]])


BULK = """
setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 64;
@%p1 bra OTHERS;
mbarrier.init.shared.b64 [s+64], 1;
fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd3, [s+64], %r2;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], %r2, [s+64];
OTHERS:
bar.sync 0;
AGAIN:
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [s+64], 0; @!%p2 bra AGAIN;
@%p1 bra REST;
add.u64 %rd4, %rd1, 64;
cp.async.bulk.global.shared::cta.bulk_group [%rd4], [s], 64;
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
REST:
"""


def test_bulk_copies(load: Load) -> None:
    a = np.arange(32, dtype=np.uint32)
    assert load(_kernel(BULK, 80)).launch("k", 1, 40, a)[0].tolist() == [*range(16), *range(16)]


@pytest.mark.parametrize(
    "body",
    [
        "bar.sync 1, 96;",
        "bar.sync 16, 32;",
        "bar.sync 1, 33;",
        "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 2, 64; @!%p1 bar.sync 3, 64;",
        "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0; @!%p1 bar.sync 1, 32; @!%p1 bar.sync 1, 64;",
        "mbarrier.arrive.shared.b64 %rd3, [s];",
        "mbarrier.init.shared.b64 [s+4], 1;",
        "mbarrier.init.shared.b64 [s], 0;",
        "mbarrier.init.b64 [%rd1], 1;",
        "mbarrier.init.shared.b64 [s], 32; mbarrier.arrive.shared.b64 %rd3, [s], 33;",
    ],
)
def test_deadlocks_and_wrong_barriers_are_faults(load: Load, body: str) -> None:
    """At once, not by the time limit."""
    with pytest.raises(bl.Error) as caught:
        load(_kernel(body)).launch("k", 1, 64, np.zeros(64, np.uint32))
    assert "seconds" not in str(caught.value)
