"""Kernels that require sub-groups of 8, 16, 32 or 64: each operation against numpy, sub-group by sub-group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl

ITEMS = 600
X = np.random.default_rng(36).integers(-1000, 1000, ITEMS).astype(np.int32)
LANES = pytest.mark.parametrize("lanes", [8, 16, 32, 64])
GROUPS = pytest.mark.parametrize("group", [600, 150, 60, 5])  # the last sub-group has fewer lanes
HEAD = """#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__attribute__((intel_reqd_sub_group_size(%d)))
kernel void test"""
Column = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def _sizes(device: bl.Device) -> None:
    if set(device.get_info("sub_group_sizes")) != {8, 16, 32, 64}:
        pytest.skip("the sub-groups of this device have other sizes")


def parts(group: int, lanes: int) -> list[slice]:
    """Return the items of each sub-group."""
    return [
        slice(start + at, min(start + at + lanes, start + group))
        for start in range(0, ITEMS, group)
        for at in range(0, group, lanes)
    ]


def compare(out: Any, group: int, lanes: int, columns: list[Column], values: Any = X) -> None:
    """Compare each column of the results with what a function of a sub-group's values gives."""
    for part in parts(group, lanes):
        wanted = [np.broadcast_to(column(values[part]), part.stop - part.start) for column in columns]
        np.testing.assert_array_equal(out[part], np.stack(wanted, 1))


def exclusive(fold: Any, start: Any, x: Any) -> Any:
    return fold.accumulate(np.concatenate([[np.array(start, x.dtype)], x[:-1]]), dtype=x.dtype)


@LANES
@GROUPS
def test_numbers_of_lanes(run: Any, lanes: int, group: int) -> None:
    text = (
        HEAD % lanes
        + """(global int *out, global uint4 *masks)
    {
        const size_t i = get_global_id(0);
        out[6 * i] = get_sub_group_size(); out[6 * i + 1] = get_max_sub_group_size();
        out[6 * i + 2] = get_num_sub_groups(); out[6 * i + 3] = get_enqueued_num_sub_groups();
        out[6 * i + 4] = get_sub_group_id(); out[6 * i + 5] = get_sub_group_local_id();
        masks[5 * i] = get_sub_group_eq_mask(); masks[5 * i + 1] = get_sub_group_ge_mask();
        masks[5 * i + 2] = get_sub_group_gt_mask(); masks[5 * i + 3] = get_sub_group_le_mask();
        masks[5 * i + 4] = get_sub_group_lt_mask();
    }"""
    )
    out, masks = run(
        text, "test", ITEMS, np.zeros((ITEMS, 6), np.int32), np.zeros((ITEMS, 5, 4), np.uint32), local=group
    )
    whole, count = min(lanes, group), -(-group // lanes)
    for number, part in enumerate(parts(group, lanes)):
        lane = range(part.stop - part.start)
        rows = [[len(lane), whole, count, count, number % count, n] for n in lane]
        np.testing.assert_array_equal(out[part], rows)
        for n in lane:
            bits = [1 << n, (1 << whole) - (1 << n), (1 << whole) - (2 << n), (2 << n) - 1, (1 << n) - 1]
            found = masks[part][n]
            assert [int(word[0]) | int(word[1]) << 32 for word in found] == bits and not found[:, 2:].any()


@LANES
@GROUPS
def test_reductions_and_scans(run: Any, lanes: int, group: int) -> None:
    text = (
        HEAD % lanes
        + """(global const int *in, global int *out)
    {
        const size_t i = get_global_id(0); const int x = in[i];
        out[12 * i] = sub_group_reduce_add(x); out[12 * i + 1] = sub_group_reduce_min(x);
        out[12 * i + 2] = sub_group_reduce_max(x); out[12 * i + 3] = sub_group_scan_inclusive_add(x);
        out[12 * i + 4] = sub_group_scan_exclusive_add(x); out[12 * i + 5] = sub_group_scan_inclusive_max(x);
        out[12 * i + 6] = sub_group_scan_exclusive_min(x); out[12 * i + 7] = sub_group_non_uniform_reduce_mul(x);
        out[12 * i + 8] = sub_group_non_uniform_scan_inclusive_xor(x);
        out[12 * i + 9] = sub_group_non_uniform_scan_exclusive_or(x);
        out[12 * i + 10] = sub_group_non_uniform_reduce_logical_xor(x > 0);
        out[12 * i + 11] = sub_group_non_uniform_reduce_max((uint)x);
    }"""
    )
    out = run(text, "test", ITEMS, X, np.zeros((ITEMS, 12), np.int32), local=group)[-1]
    ends = np.iinfo(np.int32)
    columns: list[Column] = [
        np.sum, np.min, np.max, np.cumsum, lambda x: np.cumsum(x) - x, np.maximum.accumulate,
        lambda x: exclusive(np.minimum, ends.max, x), lambda x: np.multiply.reduce(x, dtype=np.int32),
        np.bitwise_xor.accumulate, lambda x: exclusive(np.bitwise_or, 0, x), lambda x: (x > 0).sum() % 2,
        lambda x: x.astype(np.uint32).max().astype(np.int32),
    ]  # fmt: skip
    compare(out, group, lanes, columns)


@LANES
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("char", np.int8), ("ushort", np.uint16), ("long", np.int64), ("half", np.float16), ("double", np.float64)],
)
def test_other_types(run: Any, lanes: int, name: str, dtype: Any) -> None:
    text = (
        HEAD % lanes
        + f"""(global const {name} *in, global {name} *out)
    {{
        const size_t i = get_global_id(0);
        out[4 * i] = sub_group_reduce_max(in[i]); out[4 * i + 1] = sub_group_non_uniform_scan_inclusive_add(in[i]);
        out[4 * i + 2] = sub_group_shuffle(in[i], get_sub_group_size() - 1 - get_sub_group_local_id());
        out[4 * i + 3] = sub_group_broadcast(in[i], 2);
    }}"""
    )
    x = (np.abs(X) % 3).astype(dtype)
    out = run(text, "test", ITEMS, x, np.zeros((ITEMS, 4), dtype), local=150)[-1]
    columns: list[Column] = [np.max, lambda x: np.cumsum(x, dtype=dtype), lambda x: x[::-1], lambda x: x[2]]
    compare(out, 150, lanes, columns, x)


@LANES
@GROUPS
def test_votes_and_ballots(run: Any, lanes: int, group: int) -> None:
    text = (
        HEAD % lanes
        + """(global const int *in, global int *out, global uint4 *ballots)
    {
        const int i = get_global_id(0), x = in[i];
        const uint4 ballot = ballots[i] = sub_group_ballot(x > 0), all = (uint4)(~0u);
        out[14 * i] = sub_group_elect(); out[14 * i + 1] = sub_group_all(x > -800);
        out[14 * i + 2] = sub_group_any(x > 800); out[14 * i + 3] = sub_group_non_uniform_all_equal(x / 900);
        out[14 * i + 4] = sub_group_inverse_ballot(ballot); out[14 * i + 5] = sub_group_ballot_bit_extract(ballot, 3);
        out[14 * i + 6] = sub_group_ballot_bit_count(ballot); out[14 * i + 7] = sub_group_ballot_inclusive_scan(ballot);
        out[14 * i + 8] = sub_group_ballot_exclusive_scan(ballot); out[14 * i + 9] = sub_group_ballot_find_lsb(ballot);
        out[14 * i + 10] = sub_group_ballot_find_msb(ballot); out[14 * i + 11] = sub_group_ballot_bit_count(all);
        out[14 * i + 12] = sub_group_ballot_find_msb(all); out[14 * i + 13] = sub_group_ballot_inclusive_scan(all);
    }"""
    )
    out, ballots = run(
        text, "test", ITEMS, X, np.zeros((ITEMS, 14), np.int32), np.zeros((ITEMS, 4), np.uint32), local=group
    )[1:]
    columns: list[Column] = [
        lambda x: np.arange(len(x)) == 0, lambda x: (x > -800).all(), lambda x: (x > 800).any(),
        lambda x: len(set(np.fix(x / 900))) == 1, lambda x: x > 0, lambda x: x[3] > 0, lambda x: (x > 0).sum(),
        lambda x: np.cumsum(x > 0), lambda x: np.cumsum(x > 0) - (x > 0),
        lambda x: np.flatnonzero(x > 0)[0] if (x > 0).any() else -1,
        lambda x: np.flatnonzero(x > 0)[-1] if (x > 0).any() else -1,
        lambda x: lanes, lambda x: lanes - 1, lambda x: np.arange(len(x)) + 1,
    ]  # fmt: skip
    compare(out, group, lanes, columns)
    for part in parts(group, lanes):
        bits = sum(1 << int(n) for n in np.flatnonzero(X[part] > 0))
        wanted = [bits & 0xFFFFFFFF, bits >> 32, 0, 0]
        np.testing.assert_array_equal(ballots[part], np.broadcast_to(wanted, (part.stop - part.start, 4)))


@LANES
@GROUPS
def test_exchanges(run: Any, lanes: int, group: int) -> None:
    text = (
        HEAD % lanes
        + """(global const int *in, global int *out)
    {
        const int i = get_global_id(0), x = in[i], lane = get_sub_group_local_id(), size = get_sub_group_size();
        out[8 * i] = sub_group_shuffle(x, (lane * 7 + 3) % size);
        out[8 * i + 1] = sub_group_shuffle_xor(x, 1); out[8 * i + 2] = sub_group_shuffle_up(x, 3);
        out[8 * i + 3] = sub_group_shuffle_down(x, 2); out[8 * i + 4] = sub_group_broadcast(x, 3);
        out[8 * i + 5] = sub_group_broadcast_first(x); out[8 * i + 6] = sub_group_non_uniform_broadcast(x, 1);
        out[8 * i + 7] = sub_group_rotate(x, 2 * size + 1);
    }"""
    )
    out = run(
        text, "test", ITEMS, X, np.zeros((ITEMS, 8), np.int32), local=group, extensions="SPV_KHR_subgroup_rotate"
    )[-1]
    whole = min(lanes, group)
    for part in parts(group, lanes):
        x, lane = X[part], np.arange(part.stop - part.start)
        found, count = out[part], len(lane)
        np.testing.assert_array_equal(found[:, 0], x[(lane * 7 + 3) % count])
        pair = (lane ^ 1) < count  # the other lanes ask for one that does not exist
        np.testing.assert_array_equal(found[pair, 1], x[lane[pair] ^ 1])
        np.testing.assert_array_equal(found[3:, 2], x[:-3])
        np.testing.assert_array_equal(found[:-2, 3], x[2:])
        wanted = np.broadcast_to([x[3], x[0], x[1]], (count, 3))
        np.testing.assert_array_equal(found[:, 4:7], wanted)
        if count == whole:
            np.testing.assert_array_equal(found[:, 7], np.roll(x, -(2 * count + 1)))


@LANES
def test_work_items_of_a_branch(run: Any, lanes: int) -> None:
    """Each side of a branch, and each round of a loop, has the lanes that take it, in every sub-group for itself."""
    text = (
        HEAD % lanes
        + """(global const int *in, global int *out)
    {
        const int i = get_global_id(0), x = in[i];
        if (x & 1) out[3 * i] = sub_group_non_uniform_reduce_add(x);
        else out[3 * i] = sub_group_broadcast_first(x);
        int sum = 0;
        for (int k = 0; k < (x & 3); k++) sum += sub_group_ballot_bit_count(sub_group_ballot(1)) + sub_group_elect();
        out[3 * i + 1] = sum;
        out[3 * i + 2] = sub_group_non_uniform_scan_inclusive_add(x);
    }"""
    )
    out = run(text, "test", ITEMS, X, np.zeros((ITEMS, 3), np.int32), local=150)[-1]

    def loop(x: Any) -> Any:
        turns, total = x & 3, np.zeros(len(x), int)
        for k in range(3):
            here = turns > k
            total[here] += here.sum() + (np.flatnonzero(here) == np.flatnonzero(here).min(initial=99))
        return total

    columns: list[Column] = [
        lambda x: np.where(x & 1, x[x & 1 == 1].sum(), x[x & 1 == 0][0] if (x & 1 == 0).any() else 0),
        loop,
        np.cumsum,
    ]
    compare(out, 150, lanes, columns)


@LANES
@pytest.mark.parametrize("cluster", [2, 4, 8, 64])
def test_clusters(run: Any, lanes: int, cluster: int) -> None:
    text = (
        HEAD % lanes
        + f"""(global const int *in, global int *out)
    {{
        const size_t i = get_global_id(0); const int x = in[i];
        out[3 * i] = sub_group_clustered_reduce_add(x, {cluster});
        out[3 * i + 1] = sub_group_clustered_reduce_max(x, {cluster});
        out[3 * i + 2] = sub_group_clustered_rotate(x, 3, {cluster});
    }}"""
    )
    items = 512
    out = run(
        text, "test", items, X[:items], np.zeros((items, 3), np.int32), local=128, extensions="SPV_KHR_subgroup_rotate"
    )[-1]
    size = min(cluster, lanes)
    rows = X[:items].reshape(-1, size)
    np.testing.assert_array_equal(out[:, 0], np.repeat(rows.sum(1), size))
    np.testing.assert_array_equal(out[:, 1], np.repeat(rows.max(1), size))
    np.testing.assert_array_equal(out[:, 2], np.roll(rows, -3, 1).ravel())


@LANES
def test_shuffles_and_blocks_of_intel(run: Any, lanes: int) -> None:
    text = (
        """int __attribute__((overloadable)) intel_sub_group_shuffle(int, uint);
    int __attribute__((overloadable)) intel_sub_group_shuffle_up(int, int, uint);
    int __attribute__((overloadable)) intel_sub_group_shuffle_down(int, int, uint);
    uint4 __attribute__((overloadable)) intel_sub_group_block_read4(const global uint *);
    void __attribute__((overloadable)) intel_sub_group_block_write2(global uint *, uint2);
    """
        + HEAD % lanes
        + """(global const int *in, global int *out, global uint *blocks)
    {
        const size_t i = get_global_id(0), size = get_sub_group_size();
        const int x = in[i];
        out[3 * i] = intel_sub_group_shuffle(x, 5);
        out[3 * i + 1] = intel_sub_group_shuffle_up(x, -x, 3);
        out[3 * i + 2] = intel_sub_group_shuffle_down(x, -x, 6);
        const uint4 four = intel_sub_group_block_read4((const global uint *)in);
        intel_sub_group_block_write2(blocks + i / size * size * 2, (uint2)(four.x, four.w));
    }"""
    )
    items = 512
    x = X[:items]
    out, blocks = run(
        text,
        "test",
        items,
        x,
        np.zeros((items, 3), np.int32),
        np.zeros(2 * items, np.uint32),
        local=128,
        extensions="SPV_INTEL_subgroups",
    )[1:]
    lane = np.arange(lanes)
    for first in range(0, items, lanes):
        mine = x[first : first + lanes]
        both = np.concatenate([mine, -mine])
        wanted = np.stack([np.full(lanes, mine[5]), both[lanes + lane - 3], both[lane + 6]], 1)
        np.testing.assert_array_equal(out[first : first + lanes], wanted)
        part = blocks[2 * first : 2 * (first + lanes)].astype(np.int32)
        np.testing.assert_array_equal(part, np.concatenate([x[:lanes], x[3 * lanes : 4 * lanes]]))


@LANES
def test_information(queue: bl.Queue, lanes: int) -> None:
    text = HEAD % lanes + "(global int *out) { out[get_global_id(0)] = get_sub_group_id(); }"
    kernel = bl.load_kernel_bundle(bl.build(text, targets="spirv"), queue).get_kernel("test")
    ask = bl.info.kernel_device_specific
    assert kernel.get_info(ask.compile_sub_group_size) == kernel.get_info(ask.max_sub_group_size) == lanes
    limit = kernel.get_info(ask.work_group_size)
    assert kernel.get_info(ask.max_num_sub_groups) == limit // lanes


def test_other_sizes_are_refused(queue: bl.Queue) -> None:
    module = bl.build(HEAD % 12 + "(global int *out) { out[get_global_id(0)] = get_sub_group_id(); }", targets="spirv")
    with pytest.raises(bl.BuildError):
        bl.load_kernel_bundle(module, queue)
