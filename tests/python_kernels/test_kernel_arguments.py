"""Arguments of kernels in Python: arrays of any layout, structures, tuples, numbers, accessors, local memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device

Upload = Callable[[Any], bl.UsmArray]

COUNT = 100


@bl.kernel
def double(a, out):
    i = device.item_id(0)
    out[i] = a[i] * 2


def test_strided_views_of_three_dimensions(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        z, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        out[z, y, x] = a[z, y, x] * 2 + a.shape[0] + a[-1, 0, 0]

    whole = np.random.default_rng(1).random((6, 8, 10), np.float32)
    part = whole[::2, 1:, ::3]
    out = upload(np.zeros(part.shape, np.float32))
    queue.parallel_for(part.shape, run, upload(whole)[::2, 1:, ::3], out).wait()
    np.testing.assert_allclose(out.numpy(queue), part * 2 + 3 + part[-1, 0, 0], rtol=1e-6)


def test_each_type_of_element_is_a_kernel_of_its_own(queue: bl.Queue, upload: Upload) -> None:
    for dtype in (np.int8, np.uint16, np.int32, np.uint64, np.float32):
        a = np.arange(50).astype(dtype)
        out = upload(np.zeros(50, dtype))
        queue.parallel_for(50, double, upload(a), out).wait()
        np.testing.assert_array_equal(out.numpy(queue), a * 2)


def test_structures_by_field_and_by_value(queue: bl.Queue, upload: Upload) -> None:
    body = np.dtype([("place", np.float32, (3,)), ("mass", np.float32), ("number", np.int32)])

    @bl.kernel
    def run(bodies, one, out):
        i = device.item_id(0)
        out[i] = bodies[i].place[0] * bodies[i].place[2] + bodies[i]["mass"] * one.mass + one.number
        bodies[i].number = i * 2

    rng = np.random.default_rng(2)
    bodies, one = np.zeros(COUNT, body), np.zeros(1, body)
    bodies["place"], bodies["mass"] = rng.random((COUNT, 3)), rng.random(COUNT)
    one["mass"], one["number"] = 3, 4
    expected = bodies["place"][:, 0] * bodies["place"][:, 2] + bodies["mass"] * 3 + 4
    for given in (one[0], one.reshape(())):  # a scalar, and an array without dimensions
        memory, out = upload(bodies), upload(np.zeros(COUNT, np.float32))
        queue.parallel_for(COUNT, run, memory, given, out).wait()
        np.testing.assert_allclose(out.numpy(queue), expected, rtol=1e-6)
        assert memory.numpy(queue)["number"].tolist() == list(range(0, 2 * COUNT, 2))
        interpreted, mine = np.zeros(COUNT, np.float32), bodies.copy()
        run.run_in_python(COUNT, mine, given, interpreted)
        np.testing.assert_allclose(interpreted, expected, rtol=1e-6)
        assert mine["number"].tolist() == list(range(0, 2 * COUNT, 2))


def test_tuples_of_mixed_numbers(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(pair, weights, out):
        i = device.item_id(0)
        total = 0.0
        for weight in weights:
            total += weight
        factor, (_, offset) = pair
        out[i] = factor * i + offset + total + len(weights)

    out = upload(np.zeros(COUNT, np.float32))
    queue.parallel_for(COUNT, run, (2, (1.5, np.float32(0.25))), (1.0, 2.0, 3.0), out).wait()
    np.testing.assert_array_equal(out.numpy(queue), np.float32(2 * np.arange(COUNT) + 0.25 + 6 + 3))


def test_numbers_of_every_type(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, b, c, d, e, out):
        i = device.item_id(0)
        if d:
            out[i] = a + b + c + e

    out = upload(np.zeros(4, np.float32))
    queue.parallel_for(4, run, np.int8(-3), np.uint16(60000), 1.5, True, np.float16(0.5), out).wait()
    assert out.numpy(queue).tolist() == [59999.0] * 4
    queue.parallel_for(4, run, np.uint64(1), np.uint64(2), np.uint64(3), np.bool_(True), 2**63, out).wait()
    np.testing.assert_allclose(out.numpy(queue), 2.0**63, rtol=1e-6)


def test_rows_of_arrays_and_boolean_arrays(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, marked, out):
        i = device.item_id(0)
        total = 0
        for value in a[i]:
            total += value
        out[i] = not marked[i] or total > 10

    rng = np.random.default_rng(3)
    a, marked = rng.integers(0, 5, (COUNT, 6), np.int32), rng.random(COUNT) > 0.5
    out = upload(np.zeros(COUNT, np.bool_))
    queue.parallel_for(COUNT, run, upload(a), upload(marked), out).wait()
    np.testing.assert_array_equal(out.numpy(queue), ~marked | (a.sum(1) > 10))


def test_accessors_in_command_groups(queue: bl.Queue) -> None:
    values = np.arange(COUNT, dtype=np.float32)
    source, target = bl.Buffer(values.copy()), bl.Buffer(np.zeros(COUNT, np.float32))

    def group(handler: bl.Handler) -> None:
        a = source.get_access(handler, "read")
        out = target.get_access(handler, "write")
        handler.parallel_for(COUNT, double, a, out)

    queue.submit(group)
    np.testing.assert_array_equal(target.get_host_access("read").array, values * 2)


@pytest.mark.parametrize(
    "shape, extent, offset",
    [((12,), (4,), (4,)), ((4, 6), (2, 6), (1, 0)), ((4, 6), (2, 3), (1, 2)), ((3, 4, 5), (2, 2, 3), (1, 1, 2))],
)
def test_ranged_accessors_are_the_elements_of_their_range(
    queue: bl.Queue, shape: tuple[int, ...], extent: tuple[int, ...], offset: tuple[int, ...]
) -> None:
    """Element 0 is the same one in a kernel, a host task and a host accessor; elements outside stay as they are."""

    @bl.kernel
    def one(a):
        a[device.item_id(0)] += a.shape[0]

    @bl.kernel
    def two(a):
        a[device.item_id(0), device.item_id(1)] += a.shape[0]

    @bl.kernel
    def three(a):
        a[device.item_id(0), device.item_id(1), device.item_id(2)] += a.shape[0]

    values = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    inside = tuple(slice(begin, begin + size) for begin, size in zip(offset, extent))
    part: dict[str, Any] = {"range": extent, "offset": offset}
    expected = values.copy()
    expected[inside] += extent[0]
    with bl.Buffer(values) as buffer:
        queue.submit(
            lambda group: group.parallel_for(
                extent, (one, two, three)[len(shape) - 1], buffer.get_access(group, "read_write", **part)
            )
        )
        with buffer.get_host_access("read", **part) as seen:
            np.testing.assert_array_equal(seen, expected[inside])

        def last(group: bl.Handler) -> None:
            access = buffer.get_access(group, "write", target="host_task", **part)
            group.host_task(lambda: access.__setitem__((0,) * len(shape), -1))

        queue.submit(last)
    expected[offset] = -1
    np.testing.assert_array_equal(values, expected)


def test_local_memory_as_an_argument(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(scratch, out):
        i = device.item_id(0)
        scratch[i % 4, 1] = i
        out[i] = scratch[i % 4, 1] + scratch.shape[0]

    out = upload(np.zeros(16, np.int32))
    queue.parallel_for(bl.NdRange(16, 4), run, bl.LocalAccessor((4, 2), np.int32), out).wait()
    assert out.numpy(queue).tolist() == list(range(4, 20))


def test_graphs_and_bound_launches(queue: bl.Queue, upload: Upload) -> None:
    a, out = upload(np.arange(COUNT, dtype=np.float32)), upload(np.zeros(COUNT, np.float32))
    launch = double.bind(queue, COUNT, a, out)
    launch().wait()
    assert out.numpy(queue)[3] == 6
    launch[0] = upload(np.full(COUNT, 5, np.float32))
    launch().wait()
    assert out.numpy(queue)[3] == 10 and len(launch) == 2 and launch[1] is out
    with pytest.raises(bl.InvalidError):
        launch[0] = upload(np.zeros(COUNT, np.int32))
    launch[0] = a
    launch().wait()
    other = upload(np.zeros(COUNT, np.float32))
    graph = bl.CommandGraph(queue)
    graph.parallel_for(COUNT, double, out, other)
    graph().wait()
    assert other.numpy(queue)[3] == 12


class Foreign:
    """An array of another library, which describes itself like PyTorch's; on CUDA by CUDA's interface."""

    def __init__(self, array: bl.UsmArray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        on_cuda = hasattr(array, "__cuda_array_interface__")
        name = "__cuda_array_interface__" if on_cuda else "__sycl_usm_array_interface__"
        setattr(self, name, getattr(array, name))

    def is_contiguous(self) -> bool:
        return self.array.is_contiguous


def test_arrays_of_other_libraries(queue: bl.Queue, upload: Upload) -> None:
    whole = upload(np.arange(2 * COUNT, dtype=np.float32))
    for view in (whole[:COUNT], whole[::2], whole[COUNT:]):
        out = upload(np.zeros(COUNT, np.float32))
        queue.parallel_for(COUNT, double, Foreign(view), out).wait()
        np.testing.assert_array_equal(out.numpy(queue), view.numpy(queue) * 2)


def test_unfit_arguments_are_named(queue: bl.Queue, upload: Upload) -> None:
    out = upload(np.zeros(4, np.float32))
    for given in ((np.zeros(4, np.float32), out), ("text", out), (out,), (out, out, out), ([1, 2], out)):
        with pytest.raises(bl.InvalidError) as caught:
            queue.parallel_for(4, double, *given)
        assert caught.value.code is bl.Errc.invalid
    with pytest.raises(bl.InvalidError, match="'a'"):
        queue.parallel_for(4, double, upload(np.zeros((1, 1, 1, 1))), out)
    with pytest.raises(bl.InvalidError):
        double(out, out)
