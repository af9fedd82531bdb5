"""Sub-groups: 64 work-items of one work-group that exchange values, 32 on NVIDIA GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl

EXTENSIONS = """
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
"""
X = np.random.default_rng(20).integers(-1000, 1000, 300).astype(np.int32)


@pytest.fixture
def width(device: bl.Device) -> int:
    """Return the number of work-items of a sub-group, unless the work-group ends earlier."""
    return 32 if device.backend is bl.Backend.cuda else 64


@pytest.fixture
def _wide(width: int) -> None:
    """Skip kernels that are written for sub-groups of 64 where the size differs."""
    if width != 64:
        pytest.skip("this kernel is written for sub-groups of 64")


def _groups(values: Any, size: int, width: int) -> list[Any]:
    """Return the values of each sub-group."""
    return [group[at : at + width] for group in values.reshape(-1, size) for at in range(0, size, width)]


@pytest.mark.parametrize("size", [300, 100, 50])
def test_sums_and_scans(run: Any, size: int, width: int) -> None:
    text = (
        EXTENSIONS
        + """kernel void test(global const int *in, global int *out)
    {
        const size_t i = get_global_id(0);
        out[8 * i] = sub_group_reduce_add(in[i]);
        out[8 * i + 1] = sub_group_scan_inclusive_add(in[i]);
        out[8 * i + 2] = sub_group_scan_exclusive_add(in[i]);
        out[8 * i + 3] = sub_group_reduce_max(in[i]);
        out[8 * i + 4] = sub_group_reduce_min(in[i]);
        out[8 * i + 5] = sub_group_any(in[i] > 990) + 2 * sub_group_all(in[i] > -990);
        out[8 * i + 6] = sub_group_broadcast(in[i], 3);
        out[8 * i + 7] = (int)(get_sub_group_size() * 1000 + get_sub_group_local_id() + 100000 * get_sub_group_id());
    }"""
    )
    out = run(text, "test", 300, X, np.zeros((300, 8), np.int32), local=size)[-1]
    rows = []
    for number, lanes in enumerate(_groups(X, size, width)):
        scan = np.cumsum(lanes)
        count = len(lanes)
        position = count * 1000 + np.arange(count) + 100000 * (number % -(-size // width))
        votes = int((lanes > 990).any()) + 2 * int((lanes > -990).all())
        columns = [
            scan[-1], scan, scan - lanes, lanes.max(), lanes.min(), votes, lanes[3], position,
        ]  # fmt: skip
        rows.append(np.stack([np.broadcast_to(column, count) for column in columns], 1))
    np.testing.assert_array_equal(out, np.concatenate(rows))


def test_only_those_that_came(run: Any, device: bl.Device) -> None:
    """Work-items on the other branch do not participate."""
    if device.backend is bl.Backend.cuda:
        pytest.skip("OpenCL C leaves it undefined: on NVIDIA GPUs such functions wait for the whole sub-group")
    text = (
        EXTENSIONS
        + """kernel void test(global const int *in, global float *out)
    {
        const size_t i = get_global_id(0);
        if (in[i] > 0) out[i] = sub_group_reduce_add((float)in[i]);
        else out[i] = sub_group_reduce_min((float)in[i]);
    }"""
    )
    out = run(text, "test", 300, X, np.zeros(300, np.float32), local=100)[-1]
    wanted = [np.where(n > 0, n[n > 0].sum(), n[n <= 0].min()).astype(np.float32) for n in _groups(X, 100, 64)]
    np.testing.assert_array_equal(out, np.concatenate(wanted))


def _parts(size: int, width: int) -> list[slice]:
    """Return the positions of the sub-groups among 300 work-items, for work-groups of a size."""
    return [slice(g + at, min(g + at + width, g + size)) for g in range(0, 300, size) for at in range(0, size, width)]


def test_votes_and_ballots(run: Any, width: int) -> None:
    text = """kernel void test(global const int *in, global int *out, global uint4 *ballots)
    {
        const int i = get_global_id(0), x = in[i];
        const uint4 ballot = sub_group_ballot(x > 0);
        ballots[6 * i] = ballot;
        ballots[6 * i + 1] = get_sub_group_eq_mask(); ballots[6 * i + 2] = get_sub_group_ge_mask();
        ballots[6 * i + 3] = get_sub_group_gt_mask(); ballots[6 * i + 4] = get_sub_group_le_mask();
        ballots[6 * i + 5] = get_sub_group_lt_mask();
        out[12 * i] = sub_group_elect();
        out[12 * i + 1] = sub_group_non_uniform_all(x > -990); out[12 * i + 2] = sub_group_non_uniform_any(x > 990);
        out[12 * i + 3] = sub_group_non_uniform_all_equal(x >> 31);
        out[12 * i + 4] = sub_group_inverse_ballot(ballot);
        out[12 * i + 5] = sub_group_ballot_bit_extract(ballot, 35);
        out[12 * i + 6] = sub_group_ballot_bit_count(ballot);
        out[12 * i + 7] = sub_group_ballot_inclusive_scan(ballot);
        out[12 * i + 8] = sub_group_ballot_exclusive_scan(ballot);
        out[12 * i + 9] = sub_group_ballot_find_lsb(ballot); out[12 * i + 10] = sub_group_ballot_find_msb(ballot);
        out[12 * i + 11] = sub_group_non_uniform_all_equal(get_sub_group_id());
    }"""
    out, ballots = run(
        text, "test", 300, X, np.zeros((300, 12), np.int32), np.zeros((300, 6, 4), np.uint32), local=100
    )[1:]
    for part in _parts(100, width):
        x = X[part]
        lanes, count = np.arange(len(x)), len(x)
        bits = np.uint64(sum(1 << int(i) for i in lanes[x > 0]))
        one = np.uint64(1) << lanes.astype(np.uint64)
        all_lanes = np.uint64(2**width - 1)
        # Masks have as many lanes as the largest sub-group of a work-group of 100.
        masks = [
            np.full(count, bits),
            one,
            ~(one - np.uint64(1)) & all_lanes,
            ~(one - np.uint64(1)) & ~one & all_lanes,
            one | (one - np.uint64(1)),
        ]
        words = ballots[part].astype(np.uint64)
        found = words[..., 0] | words[..., 1] << np.uint64(32)
        np.testing.assert_array_equal(found, np.stack([*masks, one - np.uint64(1)], 1))
        assert not words[..., 2:].any()
        above = np.cumsum(x > 0)
        set_lanes = lanes[x > 0]
        columns: list[Any] = [
            lanes == 0, (x > -990).all(), (x > 990).any(), len(set(x >> 31)) == 1, x > 0,
            bool(bits >> np.uint64(35) & np.uint64(1)),
            above[-1], above, above - (x > 0), set_lanes[0], set_lanes[-1], 1,
        ]  # fmt: skip
        np.testing.assert_array_equal(out[part], np.stack([np.broadcast_to(c, count) for c in columns], 1).astype(int))


@pytest.mark.usefixtures("_wide")
def test_values_of_other_lanes(run: Any) -> None:
    text = """kernel void test(global const int *in, global int *out, global double *wide)
    {
        const int i = get_global_id(0), x = in[i], lane = get_sub_group_local_id();
        out[8 * i] = sub_group_shuffle(x, (lane * 7) % 50); out[8 * i + 1] = sub_group_shuffle_xor(x, 1);
        out[8 * i + 2] = lane >= 3 ? sub_group_shuffle_up(x, 3) : 0;
        out[8 * i + 3] = lane < 40 ? x : 0;
        if (lane < 44) out[8 * i + 3] = sub_group_shuffle_down(x, 4);
        out[8 * i + 4] = sub_group_non_uniform_broadcast(x, 9);
        if (lane > 4) out[8 * i + 5] = sub_group_broadcast_first(x);
        out[8 * i + 6] = sub_group_rotate(x, 5); out[8 * i + 7] = sub_group_clustered_rotate(x, 3, 8);
        wide[i] = sub_group_shuffle((double)x / 3, 49 - lane % 50);
    }"""
    x = X[:192]
    out, wide = run(
        text,
        "test",
        192,
        x,
        np.zeros((192, 8), np.int32),
        np.zeros(192),
        local=64,
        extensions="SPV_KHR_subgroup_rotate",
    )[1:]
    lane = np.arange(64)
    for n in range(3):
        mine, found = x[64 * n :][:64], out[64 * n :][:64]
        np.testing.assert_array_equal(found[:, 0], mine[lane * 7 % 50])
        np.testing.assert_array_equal(found[:, 1], mine[lane ^ 1])
        np.testing.assert_array_equal(found[6:, 2], mine[3:-3])  # participating lanes
        np.testing.assert_array_equal(found[:40, 3], mine[4:44])
        np.testing.assert_array_equal(found[:, 4], np.full(64, mine[9]))
        np.testing.assert_array_equal(found[5:, 5], np.full(59, mine[5]))
        np.testing.assert_array_equal(found[:, 6], np.roll(mine, -5))
        np.testing.assert_array_equal(found[:, 7], np.roll(mine.reshape(-1, 8), -3, 1).ravel())
        np.testing.assert_array_equal(wide[64 * n :][:64], (mine.astype(float) / 3)[49 - lane % 50])


@pytest.mark.usefixtures("_wide")
def test_rotation_of_a_small_group(run: Any) -> None:
    text = """kernel void test(global const int *in, global int *out)
    { const size_t i = get_global_id(0); out[i] = sub_group_rotate(in[i], 45); }"""
    out = run(text, "test", 300, X, np.zeros(300, np.int32), local=50, extensions="SPV_KHR_subgroup_rotate")[-1]
    np.testing.assert_array_equal(out, np.roll(X.reshape(-1, 50), -45, 1).ravel())


@pytest.mark.parametrize("size", [2, 8, 64])
@pytest.mark.usefixtures("_wide")
def test_clusters(run: Any, size: int) -> None:
    text = f"""kernel void test(global const int *in, global int *out, global float *f)
    {{
        const size_t i = get_global_id(0); const int x = in[i];
        out[8 * i] = sub_group_clustered_reduce_add(x, {size});
        out[8 * i + 1] = sub_group_clustered_reduce_min(x, {size});
        out[8 * i + 2] = sub_group_clustered_reduce_xor(x, {size});
        out[8 * i + 3] = sub_group_clustered_reduce_mul(x, {size});
        out[8 * i + 4] = sub_group_clustered_reduce_logical_and(x > -900, {size});
        out[8 * i + 5] = sub_group_clustered_reduce_logical_xor(x > 0, {size});
        out[8 * i + 6] = sub_group_clustered_reduce_max((uint)x, {size}); out[8 * i + 7] = 0;
        if (x & 1) out[8 * i + 7] = sub_group_clustered_reduce_add(x, {size});
        f[i] = sub_group_clustered_reduce_add((float)x, {size});
    }}"""
    x = X[:256]
    out, f = run(text, "test", 256, x, np.zeros((256, 8), np.int32), np.zeros(256, np.float32), local=128)[1:]
    rows = x.reshape(-1, size)
    odd = (rows & 1) == 1
    wanted = [
        rows.sum(1), rows.min(1), np.bitwise_xor.reduce(rows, axis=1), np.multiply.reduce(rows, axis=1, dtype=np.int32),
        (rows > -900).all(1), np.logical_xor.reduce(rows > 0, axis=1), rows.astype(np.uint32).max(1).astype(np.int32),
    ]  # fmt: skip
    for column, values in enumerate(wanted):
        np.testing.assert_array_equal(out[:, column], np.repeat(values, size))
    sums = np.where(odd, np.where(odd, rows, 0).sum(1, keepdims=True), 0)
    np.testing.assert_array_equal(out[:, 7], sums.ravel())
    np.testing.assert_array_equal(f, np.repeat(rows.sum(1), size).astype(np.float32))


@pytest.mark.parametrize(
    ("name", "dtype"), [("char", np.int8), ("ushort", np.uint16), ("long", np.int64), ("half", np.float16)]
)
@pytest.mark.usefixtures("_wide")
def test_other_types_and_scans(run: Any, name: str, dtype: Any) -> None:
    text = f"""
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void test(global const {name} *in, global {name} *out)
    {{
        const size_t i = get_global_id(0);
        out[5 * i] = sub_group_non_uniform_reduce_mul(in[i]);
        out[5 * i + 1] = sub_group_non_uniform_scan_inclusive_add(in[i]);
        out[5 * i + 2] = sub_group_non_uniform_scan_exclusive_max(in[i]); out[5 * i + 3] = sub_group_reduce_min(in[i]);
        out[5 * i + 4] = sub_group_shuffle(in[i], 2);
    }}"""
    x = np.where(X[:128] > 900, 2, 1).astype(dtype)
    x[3], x[70] = 0, 3
    out = run(text, "test", 128, x, np.zeros((128, 5), dtype), local=64)[-1]
    for n in range(2):
        mine = x[64 * n :][:64]
        least = -np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min
        before = np.maximum.accumulate(np.concatenate([[np.array(least, dtype)], mine[:-1]]))
        wanted = [np.multiply.reduce(mine, dtype=dtype), np.cumsum(mine, dtype=dtype), before, mine.min(), mine[2]]
        np.testing.assert_array_equal(out[64 * n :][:64], np.stack([np.broadcast_to(w, 64) for w in wanted], 1))


@pytest.mark.usefixtures("_wide")
def test_shuffles_and_blocks_of_intel(run: Any) -> None:
    text = """
    int __attribute__((overloadable)) intel_sub_group_shuffle(int, uint);
    int __attribute__((overloadable)) intel_sub_group_shuffle_xor(int, uint);
    int __attribute__((overloadable)) intel_sub_group_shuffle_up(int, int, uint);
    int __attribute__((overloadable)) intel_sub_group_shuffle_down(int, int, uint);
    uint __attribute__((overloadable)) intel_sub_group_block_read(const global uint *);
    uint4 __attribute__((overloadable)) intel_sub_group_block_read4(const global uint *);
    void __attribute__((overloadable)) intel_sub_group_block_write2(global uint *, uint2);
    kernel void test(global const int *in, global int *out, global uint *blocks)
    {
        const size_t i = get_global_id(0), first = i / 64 * 64;
        const int x = in[i];
        out[4 * i] = intel_sub_group_shuffle(x, 3); out[4 * i + 1] = intel_sub_group_shuffle_xor(x, 5);
        out[4 * i + 2] = intel_sub_group_shuffle_up(x, -x, 7); out[4 * i + 3] = intel_sub_group_shuffle_down(x, -x, 60);
        const uint4 four = intel_sub_group_block_read4((const global uint *)in);
        const uint one = intel_sub_group_block_read((const global uint *)in + 1);
        intel_sub_group_block_write2(blocks + first * 2, (uint2)(four.x + four.w, one));
    }"""
    x = X[:256]
    out, blocks = run(
        text,
        "test",
        256,
        x,
        np.zeros((256, 4), np.int32),
        np.zeros(512, np.uint32),
        local=128,
        extensions="SPV_INTEL_subgroups",
    )[1:]
    lane = np.arange(64)
    bits = x.astype(np.uint32)
    for n in range(4):
        mine, found = x[64 * n :][:64], out[64 * n :][:64]
        up, down = np.concatenate([mine, -mine])[64 + lane - 7], np.concatenate([mine, -mine])[lane + 60]
        np.testing.assert_array_equal(found, np.stack([np.full(64, mine[3]), mine[lane ^ 5], up, down], 1))
        wanted = np.concatenate([bits[:64] + bits[192:256], bits[1:65]])
        np.testing.assert_array_equal(blocks[128 * n :][:128], wanted)
