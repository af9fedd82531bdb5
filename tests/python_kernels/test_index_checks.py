"""Indices of arrays in kernels in Python: negative ones on every device, checks of each axis on the reference device.

Each kernel that faults would otherwise access another element of the same allocation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device

Upload = Callable[[Any], bl.UsmArray]
TABLE = np.array([[1, 2], [3, 4]], np.float32)


def past_a_column(out):
    out[device.item_id(0), device.item_id(1) + 3] = 1


def before_a_row(out):
    out[device.item_id(0) - 5, device.item_id(1)] = 1


def reads_past_a_column(out):
    out[0, 0] = out[1, device.item_id(1) + 2]


def an_unsigned_one(out):
    out[3, np.uint64(device.item_id(1)) - np.uint64(1)] = 1


def behind_a_slice(out):
    row = out[device.item_id(0), 1:3]
    row[device.item_id(1)] = 1


def a_slice_of_a_row_that_is_not_there(out):
    row = out[device.item_id(0) + 1]
    row[0] = 1


def behind_an_ellipsis(out):
    column = out[..., device.item_id(1) + 1]
    column[0] = 1


def atomically(out):
    device.atomic_add(out, (device.item_id(0), device.item_id(1) + 1), 1.0)


def of_local_memory(out):
    local = device.local_array((2, 4), np.float32)
    local[0, device.item_id(1) + 1] = 1
    out[0, 0] = local[0, 0]


def of_a_table(out):
    out[0, 0] = TABLE[0, device.item_id(1)]


FAULTS = [
    (past_a_column, "row 0, column 1", "index 4 of axis 1", "(4, 4)"),
    (before_a_row, "row 0, column 0", "index -5 of axis 0", "(4, 4)"),
    (reads_past_a_column, "row 0, column 2", "index 4 of axis 1", "(4, 4)"),
    (an_unsigned_one, "row 0, column 0", "index 9223372036854775807 of axis 1", "(4, 4)"),
    (behind_a_slice, "row 0, column 2", "index 2 of axis 0", "(2,)"),
    (a_slice_of_a_row_that_is_not_there, "row 3, column 0", "index 4 of axis 0", "(4, 4)"),
    (behind_an_ellipsis, "row 0, column 3", "index 4 of axis 1", "(4, 4)"),
    (atomically, "row 0, column 3", "index 4 of axis 1", "(4, 4)"),
    (of_local_memory, "row 0, column 3", "index 4 of axis 1", "(2, 4)"),
    (of_a_table, "row 0, column 2", "index 2 of axis 1", "(2, 2)"),
]  # fmt: skip


@pytest.fixture
def reference(queue: bl.Queue) -> bl.Queue:
    """The queue, where the device checks indices."""
    if queue.backend is not bl.Backend.reference:
        pytest.skip("other devices do not check indices")
    return queue


@pytest.mark.parametrize(
    ("function", "item", "index", "shape"), FAULTS, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_fault_names_item_axis_and_shape(
    reference: bl.Queue, upload: Upload, function: Any, item: str, index: str, shape: str
) -> None:
    whole = upload(np.zeros((12, 4), np.float32))
    out = whole[4:8]
    with pytest.raises(bl.KernelError) as caught:
        reference.parallel_for(bl.NdRange((4, 4), (4, 4)), bl.kernel(function), out).wait()
    text = str(caught.value)
    assert f"item_id ({item})" in text
    assert index in text
    assert f"shape {shape}" in text
    line = function.__code__.co_firstlineno
    assert any(f"test_index_checks.py, line {line + 1 + k})" in text for k in range(3))


def test_nothing_is_written_outside(reference: bl.Queue, upload: Upload) -> None:
    whole = upload(np.zeros((3, 2, 4), np.float32))
    with pytest.raises(bl.KernelError):
        reference.parallel_for((2, 4), bl.kernel(past_a_column), whole[1]).wait()
    found = whole.numpy()
    assert not found[[0, 2]].any()
    assert not found[1, :, :3].any()


def along_a_line(out):
    out[device.item_id(0)] = 1


def along_a_plane(out):
    out[2 * device.item_id(0) + device.item_id(1)] = 1


def along_a_volume(out):
    out[3 * device.item_id(0) + 2 * device.item_id(1) + device.item_id(2)] = 1


@pytest.mark.parametrize(
    ("function", "space", "item"),
    [
        (along_a_line, (5,), "4"),
        (along_a_plane, (3, 2), "row 2, column 0"),
        (along_a_volume, (2, 1, 2), "plane 1, row 0, column 1"),
    ],
)
def test_items_are_named_in_the_order_of_item_id(
    reference: bl.Queue, upload: Upload, function: Any, space: tuple[int, ...], item: str
) -> None:
    with pytest.raises(bl.KernelError) as caught:
        reference.parallel_for(space, bl.kernel(function), upload(np.zeros(4, np.float32))).wait()
    assert f"item_id ({item})" in str(caught.value)


def test_negative_indices_count_from_the_end(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(values, out):
        i = device.item_id(0)
        out[-1 - i] = values[i - 3, -4 + i] + values[np.int8(-1), np.int32(i) - 4]
        device.atomic_add(out, -1 - i, values[-3, ..., -1])

    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = upload(np.zeros(3, np.float32))
    queue.parallel_for(3, run, upload(values), out).wait()
    expected = np.zeros(3, np.float32)
    for i in range(3):
        expected[-1 - i] = values[i - 3, -4 + i] + values[-1, i - 4] + values[-3, -1]
    np.testing.assert_array_equal(out.numpy(), expected)


def test_branches_guard_an_index(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(values, out):
        i = device.item_id(0)
        if 0 < i < len(values) - 1:
            out[i] = values[i - 1] + values[i + 1]
        elif i < len(out):
            out[i] = -1

    values = np.arange(70, dtype=np.float32)
    out = upload(np.zeros(70, np.float32))
    queue.parallel_for(200, run, upload(values), out).wait()
    expected = np.full(70, -1, np.float32)
    expected[1:-1] = values[:-2] + values[2:]
    np.testing.assert_array_equal(out.numpy(), expected)


def test_exceptions_of_the_interpreter_name_the_item() -> None:
    with pytest.raises(IndexError) as caught:
        bl.kernel(past_a_column).run_in_python((4, 4), np.zeros((4, 4), np.float32))
    notes = getattr(caught.value, "__notes__", ["item_id (row 0, column 1)"])  # since Python 3.11
    assert "item_id (row 0, column 1)" in notes[0]
