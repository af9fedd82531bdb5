"""Functions of ``bindless.device`` in kernels: work-items, groups, atomics, local memory; compiled and interpreted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from tests.support.error_checks import raises

Upload = Callable[[Any], bl.UsmArray]
ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")


@bl.kernel
def places(out):
    y, x = device.item_id(0), device.item_id(1)
    out[y, x, 0] = device.item_range(0) * 100 + device.item_range(1)
    out[y, x, 1] = device.local_id(0) * 100 + device.local_id(1)
    out[y, x, 2] = device.local_range(0) * 100 + device.local_range(1)
    out[y, x, 3] = device.group_id(0) * 100 + device.group_id(1)
    out[y, x, 4] = device.group_range(0) * 100 + device.group_range(1)


def check(kernel: Any, space: Any, queue: bl.Queue, *arguments: np.ndarray) -> None:
    """Run a kernel on the device and in Python, and compare each array."""
    arrays = [bl.usm_empty(one.shape, one.dtype, queue).copy_from(one) for one in arguments]
    queue.parallel_for(space, kernel, *arrays).wait_and_throw()
    interpreted = [one.copy() for one in arguments]
    kernel.run_in_python(space, *interpreted)
    for array, mine in zip(arrays, interpreted):
        np.testing.assert_array_equal(array.numpy(queue), mine)
    for argument, mine in zip(arguments, interpreted):
        argument[...] = mine


def test_places_of_work_items(queue: bl.Queue) -> None:
    out = np.zeros((8, 12, 5), np.int64)
    check(places, bl.NdRange((8, 12), (2, 4)), queue, out)
    y, x = np.indices((8, 12))
    wanted = (np.full((8, 12), 812), y % 2 * 100 + x % 4, np.full((8, 12), 204), y // 2 * 100 + x // 4)
    for number, values in enumerate((*wanted, np.full((8, 12), 403))):
        np.testing.assert_array_equal(out[..., number], values)


@bl.kernel
def mirrored(values, out):
    kept = device.local_array(64, np.float32)
    kept[device.local_id(0)] = values[device.item_id(0)]
    device.barrier()
    out[device.item_id(0)] = kept[63 - device.local_id(0)]


def test_local_memory_and_barriers(queue: bl.Queue) -> None:
    values, out = np.random.default_rng(1).random(256, np.float32), np.zeros(256, np.float32)
    check(mirrored, bl.NdRange(256, 64), queue, values, out)
    np.testing.assert_array_equal(out, values.reshape(4, 64)[:, ::-1].ravel())


def test_work_items_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads that were started end: they would wait for the others for ever."""
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if len(started) == 5:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    with raises(bl.SyclRuntimeError):
        mirrored.run_in_python(bl.NdRange(64, 64), np.zeros(64, np.float32), np.zeros(64, np.float32))
    assert len(started) == 5 and not any(thread.is_alive() for thread in started)


@bl.kernel
def transposed(values, out):
    tile = device.local_array((8, 4), np.int16)
    row, column = device.local_id(0), device.local_id(1)
    tile[row, column] = values[device.item_id(0), device.item_id(1)]
    device.barrier()
    for _ in range(2):  # two barriers of one work-item
        value = tile[row, column]
        device.barrier()
        tile[row, column] = value + 1
        device.barrier()
    out[device.item_id(1), device.item_id(0)] = tile[row, column]


def test_local_arrays_of_two_dimensions(queue: bl.Queue) -> None:
    values, out = np.arange(16 * 8, dtype=np.int16).reshape(16, 8), np.zeros((8, 16), np.int16)
    check(transposed, bl.NdRange((16, 8), (8, 4)), queue, values, out)
    np.testing.assert_array_equal(out, values.T + 2)


@bl.kernel
def grouped(values, out):
    i = device.item_id(0)
    value = values[i]
    out[i, 0] = device.work_group_reduce(value)
    out[i, 1] = device.work_group_scan(value, "max")
    out[i, 2] = device.work_group_scan(value, "add", True)
    out[i, 3] = device.work_group_broadcast(value, 5)
    out[i, 4] = device.work_group_reduce(value, "min")
    out[i, 5] = device.sub_group_shuffle_xor(value, 1)
    out[i, 6] = device.work_group_any(value > 90)
    out[i, 7] = device.work_group_all(value > 3)


def test_group_functions(queue: bl.Queue) -> None:
    values = np.random.default_rng(2).integers(0, 100, 256).astype(np.int32)
    out = np.zeros((256, 8), np.int32)
    check(grouped, bl.NdRange(256, 64), queue, values, out)
    rows = values.reshape(4, 64)
    wanted = (
        np.repeat(rows.sum(1), 64), np.maximum.accumulate(rows, 1).ravel(), (np.cumsum(rows, 1) - rows).ravel(),
        np.repeat(rows[:, 5], 64), np.repeat(rows.min(1), 64), values[np.arange(256) ^ 1],
        np.repeat((rows > 90).any(1), 64), np.repeat((rows > 3).all(1), 64),
    )  # fmt: skip
    np.testing.assert_array_equal(out, np.stack(wanted, 1))


@bl.kernel
def sub_grouped(values, out):
    i = device.item_id(0)
    lane, size = device.sub_group_local_id(), device.sub_group_size()
    out[i, 0] = lane
    out[i, 1] = size
    out[i, 2] = device.sub_group_reduce(values[i], "max")
    out[i, 3] = device.sub_group_scan(values[i])
    out[i, 4] = device.sub_group_broadcast(values[i], 0)
    out[i, 5] = device.sub_group_shuffle(values[i], size - 1 - lane)
    out[i, 6] = device.sub_group_any(values[i] > 97)


def test_sub_group_functions(queue: bl.Queue, upload: Upload) -> None:
    """Sub-groups have the size that the device chooses."""
    values = np.random.default_rng(3).integers(0, 100, 256).astype(np.int32)
    out = upload(np.zeros((256, 7), np.int32))
    queue.parallel_for(bl.NdRange(256, 64), sub_grouped, upload(values), out).wait_and_throw()
    found = out.numpy(queue)
    size = int(found[0, 1])
    assert size > 0 and 64 % size == 0 and (found[:, 1] == size).all()
    rows = values.reshape(-1, size)
    wanted = (
        np.arange(256) % size, np.full(256, size), np.repeat(rows.max(1), size), np.cumsum(rows, 1).ravel(),
        np.repeat(rows[:, 0], size), rows[:, ::-1].ravel(), np.repeat((rows > 97).any(1), size),
    )  # fmt: skip
    np.testing.assert_array_equal(found, np.stack(wanted, 1))


@bl.kernel
def counted(values, counts, table, real):
    i = device.item_id(0)
    value = values[i]
    device.atomic_add(counts, value, 1)
    device.atomic_sub(table, (0, value), 2)
    device.atomic_min(table, (1, value), i)
    device.atomic_max(table, (2, value), i, "relaxed", "device")
    device.atomic_or(table, (3, 0), 1 << value)
    device.atomic_and(table, (3, 1), ~(1 << value))
    device.atomic_xor(table, (3, 2), 1 << value)
    device.atomic_add(real, 0, 0.5)
    device.atomic_max(real, 1, value)
    device.atomic_min(real, 2, value)
    if device.atomic_compare_exchange(table, (3, 3), -1, i) == -1:
        device.atomic_exchange(real, 3, 7)


def test_atomic_operations(queue: bl.Queue, upload: Upload) -> None:
    values = np.random.default_rng(4).integers(0, 16, 1000).astype(np.int32)
    start = np.zeros((4, 16), np.int32)
    start[1], start[3, 1], start[3, 3] = 10000, -1, -1
    counts, table, real = upload(np.zeros(16, np.uint32)), upload(start), upload(np.array([0, 0, 99, 0], np.float32))
    queue.parallel_for(1000, counted, upload(values), counts, table, real).wait_and_throw()
    found, held = np.bincount(values, minlength=16), table.numpy(queue)
    np.testing.assert_array_equal(counts.numpy(queue), found)
    np.testing.assert_array_equal(held[0], -2 * found)
    np.testing.assert_array_equal(held[1], [np.flatnonzero(values == k)[0] for k in range(16)])
    np.testing.assert_array_equal(held[2], [np.flatnonzero(values == k)[-1] for k in range(16)])
    assert held[3, 0] == 0xFFFF and held[3, 1] == ~0xFFFF and 0 <= held[3, 3] < 1000
    assert held[3, 2] == sum((count & 1) << k for k, count in enumerate(found.tolist()))
    np.testing.assert_array_equal(real.numpy(queue), [500, 15, 0, 7])


def test_old_values_are_all_different(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def numbered(counter, out):
        out[device.item_id(0)] = device.atomic_add(counter, 0, 1)

    for dtype in (np.int32, np.uint64):
        counter, out = upload(np.zeros(1, dtype)), upload(np.zeros(5000, dtype))
        queue.parallel_for(5000, numbered, counter, out).wait_and_throw()
        np.testing.assert_array_equal(np.sort(out.numpy(queue)), np.arange(5000))


@pytest.mark.parametrize("order", ORDERS)
def test_orders(order: str, queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def ordered(values):
        device.atomic_add(values, 0, 1, order, "device")
        device.atomic_compare_exchange(values, 1, 0, 5, order, "work_group")

    values = upload(np.zeros(2, np.int32))
    queue.parallel_for(64, ordered, values).wait_and_throw()
    np.testing.assert_array_equal(values.numpy(queue), [64, 5])


def test_atomics_in_local_memory(queue: bl.Queue) -> None:
    @bl.kernel
    def histogram(values, out):
        counts = device.local_array(8, np.int32)
        i = device.local_id(0)
        if i < 8:
            counts[i] = 0
        device.barrier()
        device.atomic_add(counts, values[device.item_id(0)], 1)
        device.barrier()
        if i < 8:
            out[device.group_id(0), i] = counts[i]

    values = np.random.default_rng(5).integers(0, 8, 256).astype(np.int32)
    out = np.zeros((4, 8), np.int32)
    check(histogram, bl.NdRange(256, 64), queue, values, out)
    np.testing.assert_array_equal(out, [np.bincount(row, minlength=8) for row in values.reshape(4, 64)])


@bl.kernel
def geometry(vectors, out):
    i = device.item_id(0)
    a = device.float3(vectors[i, 0], vectors[i, 1], vectors[i, 2])
    b = device.float3(vectors[i, 3], vectors[i, 4], vectors[i, 5])
    c = device.cross(a, b)
    out[i, 0] = device.dot(a, b)
    out[i, 1] = device.length(a)
    n = device.normalize(a) * 2 - b.zyx / 2
    out[i, 2], out[i, 3], out[i, 4] = c
    out[i, 5], out[i, 6], out[i, 7] = n.x, n.y, n.z
    d = device.float4(a.xy, 5, b.z)
    out[i, 8] = d.w + d.r + (d + d)[1] + device.float2(3).y


def test_vectors(queue: bl.Queue) -> None:
    vectors, out = np.random.default_rng(6).random((64, 6), np.float32), np.zeros((64, 9), np.float32)
    arrays = [bl.usm_empty(one.shape, one.dtype, queue).copy_from(one) for one in (vectors, out)]
    queue.parallel_for(64, geometry, *arrays).wait_and_throw()
    geometry.run_in_python(64, vectors, out)
    a, b = vectors[:, :3].astype(np.float64), vectors[:, 3:].astype(np.float64)
    size = np.linalg.norm(a, axis=1)
    sides = a[:, 0] + 2 * a[:, 1] + b[:, 2] + 3
    wanted = [
        (a * b).sum(1)[:, None],
        size[:, None],
        np.cross(a, b),
        2 * a / size[:, None] - b[:, ::-1] / 2,
        sides[:, None],
    ]
    for found in (arrays[1].numpy(queue), out):
        np.testing.assert_allclose(found, np.concatenate(wanted, 1), rtol=2e-6, atol=1e-6)


def test_text_from_kernels(queue: bl.Queue, upload: Upload, capfd: pytest.CaptureFixture[str]) -> None:
    @bl.kernel
    def speaking(values):
        i = device.item_id(0)
        if i == 3:
            device.printf("item %d of %u is %g, %x %5.2f%%\n", i, 8, values[i], 255, 12.345)

    values = np.arange(8, dtype=np.float32) / 4
    queue.parallel_for(8, speaking, upload(values)).wait_and_throw()
    speaking.run_in_python(8, values)
    line = "item 3 of 8 is 0.75, ff 12.35%"
    assert capfd.readouterr().out.splitlines() in ([line] * 2, [line.replace("12.35", "12.34")] * 2, [line] * 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda out: device.item_id(2),
        lambda out: device.local_array((0,), np.float32),
        lambda out: device.atomic_add(out, (0, 0), 1),
        lambda out: device.atomic_or(out, 0, 1),
        lambda out: device.atomic_add(out, 0, 1, "never"),
        lambda out: device.work_group_reduce(1, "mul"),
        lambda out: device.printf("%d\n", 1.5),
        lambda out: device.float3(1, 2),
        lambda out: device.sample_image(out, 1),
    ],
)
def test_wrong_calls_are_refused(call: Any, queue: bl.Queue, upload: Upload) -> None:
    helper = bl.device_function(call)

    @bl.kernel
    def wrong(out):
        helper(out)

    with pytest.raises(bl.BuildError):
        queue.parallel_for(4, wrong, upload(np.zeros(4, np.float32)))


def waits(out):
    device.barrier()
    out[device.item_id(0)] = 1


def shares(out):
    part = device.local_array(4, np.int32)
    part[0] = 1
    out[device.item_id(0)] = part[0]


def reduces(out):
    out[device.item_id(0)] = device.work_group_reduce(1)


@bl.device_function
def of_neighbours(value):
    return device.sub_group_reduce(value)


def calls(out):
    out[device.item_id(0)] = of_neighbours(1)


@pytest.mark.parametrize("function", [waits, shares, reduces, calls], ids=lambda one: one.__name__)
def test_functions_of_groups_need_work_groups(
    queue: bl.Queue, upload: Callable[[Any], bl.UsmArray], function: Callable[[Any], None]
) -> None:
    """SYCL, basic kernels: barriers, local memory and other functionality of groups are of ``nd_range`` kernels."""
    kernel, values = bl.kernel(function), upload(np.zeros(4, np.int32))
    with pytest.raises(bl.NdRangeError) as caught:
        queue.parallel_for(4, kernel, values)
    assert caught.value.code is bl.Errc.nd_range
    for launch in (
        lambda: queue.single_task(kernel, values),
        lambda: kernel.bind(queue, 4, values),
        lambda: queue.submit(lambda group: group.parallel_for(4, kernel, values)),
        lambda: queue.parallel_for(4, kernel.specialise(queue, bl.NdRange(4, 4), values)),
        lambda: kernel.run_in_python(4, np.zeros(4, np.int32)),
        lambda: kernel.run_in_python((2, 2), np.zeros(4, np.int32)),
    ):
        with pytest.raises(bl.NdRangeError):
            launch()
    assert not values.numpy(queue).any()
    queue.parallel_for(bl.NdRange(4, 4), kernel, values).wait_and_throw()
    assert values.numpy(queue).all()
    with pytest.raises(bl.NdRangeError):  # a launch that was prepared over an NdRange
        queue.parallel_for(4, kernel, values)


@pytest.mark.parametrize("scope", ["work_group", "device", "system"])
def test_scopes_wider_than_local_memory(queue: bl.Queue, upload: Callable[[Any], bl.UsmArray], scope: str) -> None:
    """A scope that is wider than the work-items that reach the memory is as good as theirs."""

    @bl.kernel
    def counted(values, out):
        local, i = device.local_array(1, np.int32), device.local_id(0)
        if i == 0:
            local[0] = 0
        device.barrier()
        device.atomic_add(local, 0, values[device.item_id(0)], scope=scope)
        device.barrier()
        if i == 0:
            out[device.group_id(0)] = local[0]

    values = np.arange(128, dtype=np.int32)
    out = upload(np.zeros(2, np.int32))
    queue.parallel_for(bl.NdRange(128, 64), counted, upload(values), out).wait_and_throw()
    assert out.numpy(queue).tolist() == values.reshape(2, 64).sum(1).tolist()


def test_interpreted_local_accessors_need_work_groups() -> None:
    @bl.kernel
    def run(scratch, out):
        scratch[0] = 1
        out[device.item_id(0)] = scratch[0]

    with pytest.raises(bl.KernelArgumentError):
        run.run_in_python(4, bl.LocalAccessor(4, np.int32), np.zeros(4, np.int32))


def test_device_functions_need_a_kernel() -> None:
    with pytest.raises(RuntimeError):
        device.item_id(0)


def test_some_work_items_that_wait_for_ever() -> None:
    @bl.kernel
    def stuck(out):
        if device.local_id(0) == 0:
            device.barrier()
        out[device.item_id(0)] = 1

    with pytest.raises(bl.InvalidError):
        stuck.run_in_python(bl.NdRange(4, 4), np.zeros(4))


def test_exceptions_of_an_interpreted_kernel_arrive() -> None:
    @bl.kernel
    def outside(out):
        device.barrier()
        out[device.item_id(0) + 2] = 1

    with pytest.raises(IndexError):
        outside.run_in_python(bl.NdRange(4, 4), np.zeros(4))
