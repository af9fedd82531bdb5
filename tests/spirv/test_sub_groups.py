"""Sub-groups: 64 work-items of one work-group that exchange values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

EXTENSIONS = """
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
"""
X = np.random.default_rng(20).integers(-1000, 1000, 300).astype(np.int32)


def _groups(values: Any, size: int) -> list[Any]:
    """What each sub-group holds."""
    return [group[at : at + 64] for group in values.reshape(-1, size) for at in range(0, size, 64)]


@pytest.mark.parametrize("size", [300, 100, 50])
def test_sums_and_scans(run: Any, size: int) -> None:
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
    for number, lanes in enumerate(_groups(X, size)):
        scan = np.cumsum(lanes)
        count = len(lanes)
        position = count * 1000 + np.arange(count) + 100000 * (number % -(-size // 64))
        votes = int((lanes > 990).any()) + 2 * int((lanes > -990).all())
        columns = [
            scan[-1], scan, scan - lanes, lanes.max(), lanes.min(), votes, lanes[3], position,
        ]  # fmt: skip
        rows.append(np.stack([np.broadcast_to(column, count) for column in columns], 1))
    np.testing.assert_array_equal(out, np.concatenate(rows))


def test_only_those_that_came(run: Any) -> None:
    """Work-items that took the other branch have no part."""
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
    wanted = [np.where(n > 0, n[n > 0].sum(), n[n <= 0].min()).astype(np.float32) for n in _groups(X, 100)]
    np.testing.assert_array_equal(out, np.concatenate(wanted))
