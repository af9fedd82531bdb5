"""Pageable host memory as kernel arguments without a copy: numpy and DLPack arrays on the reference device."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import reference
from tests.support.compile_kernels import compiled_text
from tests.support.dlpack_peer import Producer
from tests.support.error_checks import raises

SOURCE = """
kernel void add(global int *out, global const int *in, int value)
{
    const size_t i = get_global_id(0);
    out[i] = in[i] + value;
}
kernel void step(global int *out, long distance, int value) { out[(long)get_global_id(0) * distance] += value; }
kernel void peek(ulong where, global int *out)
{
    const size_t i = get_global_id(0);
    out[i] = ((global const int *)where)[i];
}
kernel void follow(global const ulong *pair)
{
    const size_t i = get_global_id(0);
    ((global int *)pair[0])[i] = -((global const int *)pair[1])[i];
}
"""


@pytest.fixture(autouse=True)
def _only_the_reference(device):
    if device.backend != "reference":
        pytest.skip("other devices copy ordinary host memory, or reach all of it")


@pytest.fixture
def kernels(queue):
    return bl.load_kernel_bundle(compiled_text(SOURCE, "spirv"), queue).get_kernel


def native_objects():
    count = reference.ffi.new("uint64_t *")
    assert reference.lib.blrGetObjectCount(count) == 0
    return int(count[0])


@pytest.mark.parametrize("take", [bl.as_usm_array, bl.from_dlpack])
def test_read_and_written_in_place(queue, kernels, take):
    source, result = np.arange(1000, dtype="i4"), np.zeros(1000, "i4")
    into, out_of = take(result, queue), take(source, queue)
    queue.parallel_for(1000, kernels("add"), into, out_of, 7).wait_and_throw()
    assert result.tolist() == list(range(7, 1007))
    source *= 2  # the same memory, after the launch too
    queue.parallel_for(1000, kernels("add"), into, out_of, 1).wait_and_throw()
    assert result.tolist() == list(range(1, 2001, 2))


def test_reading_alone_is_not_writing(queue, kernels):
    values = np.arange(10, dtype="i4")
    values.flags.writeable = False
    lent, own = bl.as_usm_array(values, queue), bl.usm_empty(10, "i4", queue).copy_from(5)
    queue.parallel_for(10, kernels("add"), own, lent, 1).wait_and_throw()
    assert own.numpy().tolist() == list(range(1, 11))
    words = rf"kernel 'add', item_id \(0\): writes 4 bytes at {lent.address:#x}, which is .*only to be read"
    with raises(bl.KernelError, match=words):
        queue.parallel_for(10, kernels("add"), lent, own, 1).wait_and_throw()
    assert values.tolist() == list(range(10))


def test_a_view_is_all_that_is_lent(queue, kernels):
    values = np.zeros((20, 10), "i4")
    view = bl.as_usm_array(values[5:10], queue)
    assert view.address == values[5:].ctypes.data
    queue.parallel_for(50, kernels("step"), view, 1, 3).wait_and_throw()
    assert (values[5:10] == 3).all() and values.sum() == 150
    with raises(bl.KernelError, names=("item_id (50)", "reads 4 bytes", hex(values[10:].ctypes.data))):
        queue.parallel_for(51, kernels("step"), view, 1, 3).wait_and_throw()
    assert not values[:5].any() and not values[10:].any()


def test_views_with_strides(queue, kernels):
    values = np.zeros(30, "i4")
    view = bl.as_usm_array(values[25:4:-4], queue)  # 25, 21, 17, 13, 9, 5
    queue.parallel_for(6, kernels("step"), view.pointer + (view.address - view.pointer.address), -4, 1).wait_and_throw()
    assert np.flatnonzero(values).tolist() == [5, 9, 13, 17, 21, 25]


def test_views_that_overlap(queue, kernels):
    values = np.zeros(100, "i4")
    low, high, same = (bl.as_usm_array(part, queue) for part in (values[:60], values[40:], values[40:]))
    for view in (low, high, same):
        queue.parallel_for(60, kernels("step"), view, 1, 1)
    queue.wait_and_throw()
    assert values.tolist() == [1] * 40 + [3] * 20 + [2] * 40
    low.close()
    high.close()
    queue.parallel_for(60, kernels("step"), same, 1, 1).wait_and_throw()
    assert values.tolist() == [1] * 40 + [4] * 20 + [3] * 40


def test_what_is_not_imported_is_not_reached(queue, kernels):
    values = np.arange(8, dtype="i4")
    out = bl.usm_empty(8, "i4", queue)
    where = np.uint64(values.ctypes.data)
    fault = f"reads 4 bytes at {values.ctypes.data:#x}"
    with raises(bl.KernelError, names=fault):
        queue.parallel_for(8, kernels("peek"), where, out).wait_and_throw()
    array = bl.as_usm_array(values, queue)
    queue.parallel_for(8, kernels("peek"), where, out).wait_and_throw()
    assert out.numpy().tolist() == list(range(8))
    array.close()
    with raises(bl.KernelError, names=fault):
        queue.parallel_for(8, kernels("peek"), where, out).wait_and_throw()
    other = bl.Context(queue.device)
    elsewhere = bl.as_usm_array(values, bl.Queue(queue.device, other))
    with raises(bl.KernelError, names=fault):
        queue.parallel_for(8, kernels("peek"), where, out).wait_and_throw()
    array = bl.as_usm_array(values[::-1], queue)
    queue.parallel_for(8, kernels("peek"), where, out).wait_and_throw()
    assert not elsewhere.closed and not array.closed


def test_addresses_in_imported_memory(queue, kernels):
    source, result = np.arange(100, dtype="i4"), np.zeros(100, "i4")
    pair = np.array([result.ctypes.data, source.ctypes.data], "u8")
    to_read = result[:]
    to_read.flags.writeable = False
    kept = [bl.as_usm_array(values, queue) for values in (to_read, source)]
    with raises(bl.KernelError, match="only to be read"):
        queue.parallel_for(100, kernels("follow"), bl.as_usm_array(pair, queue)).wait_and_throw()
    kept.append(bl.as_usm_array(result, queue))
    queue.parallel_for(100, kernels("follow"), bl.as_usm_array(pair, queue)).wait_and_throw()
    assert result.tolist() == (-source).tolist()
    assert all(not array.closed for array in kept)


def test_what_such_memory_says_of_itself(queue):
    values = np.zeros(10, "i4")
    array = bl.as_usm_array(values, queue)
    assert array.kind == "host" and bl.get_pointer_type(array, queue) == "host"
    assert bl.get_pointer_type(array.address, queue) == "unknown"  # not allocated by malloc_host
    with raises(bl.InvalidError, names="malloc_"):
        bl.free(array)
    assert bl.as_usm_array(np.zeros((0, 4), "i4"), queue).shape == (0, 4)
    assert not bl.as_usm_array(np.asarray(bl.usm_empty(4, "i4", queue, kind="host")), queue).read_only


def test_arrays_dropped_with_work_on_its_way(queue, kernels):
    opened = threading.Event()
    source, result = np.arange(1000, dtype="i4"), np.zeros(1000, "i4")
    producer, kept = Producer(np.full(1000, 5, "i4")), weakref.ref(source)
    gate = queue.submit(lambda handler: handler.host_task(opened.wait))
    into = bl.as_usm_array(result, queue)
    event = queue.parallel_for(1000, kernels("add"), into, bl.as_usm_array(source, queue), 2, depends_on=gate)
    event = queue.parallel_for(1000, kernels("add"), into, bl.from_dlpack(producer, queue), 2, depends_on=event)
    del source, into
    gc.collect()
    assert kept() is not None and producer.deleted == 0
    opened.set()
    event.wait_and_throw()
    assert result.tolist() == [7] * 1000
    queue.wait_and_throw()
    gc.collect()
    assert kept() is None and producer.deleted == 1


def test_closing_waits_for_the_work(queue, kernels):
    source, result = np.arange(300_000, dtype="i4"), np.zeros(300_000, "i4")
    into, out_of = bl.as_usm_array(result, queue), bl.as_usm_array(source, queue)
    queue.parallel_for(len(source), kernels("add"), into, out_of, 2)
    into.close()
    assert (result == source + 2).all()
    with raises(bl.InvalidError):
        queue.parallel_for(1, kernels("add"), into, out_of, 2)


class Cyclic(np.ndarray):
    pass


def test_nothing_is_left_behind(queue, kernels):
    queue.wait_and_throw()
    gc.collect()
    before = native_objects()
    values = np.zeros(64, "i4").view(Cyclic)
    values.array = bl.as_usm_array(values, queue)
    kept = weakref.ref(values)
    producer = Producer(np.zeros(64, "i4"))
    arrays = [bl.from_dlpack(producer, queue)]
    arrays.append(arrays)
    assert native_objects() == before + 2
    del values, arrays
    gc.collect()
    assert kept() is None and producer.deleted == 1
    assert native_objects() == before


def test_many_threads(queue, kernels):
    source = np.arange(500, dtype="i4")
    failures = []

    def work(number):
        try:
            for round in range(20):
                result = np.zeros(500, "i4")
                first = (number * 7 + round) % 100
                into, out_of = bl.as_usm_array(result, queue), bl.as_usm_array(source[first:], queue)
                queue.parallel_for(500 - first, kernels("add"), into, out_of, number).wait_and_throw()
                assert result[: 500 - first].tolist() == (source[first:] + number).tolist()
                assert not result[500 - first :].any()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


ENDINGS = {
    "arrays in globals": "queue.wait_and_throw()",
    "work on its way": "",
    "work on its way, arrays dropped": "del into, out_of, values, producer",
    "a consumer of the array": "again = np.from_dlpack(into); del into, out_of, values",
    "a cycle": "out_of = [out_of]; out_of.append(out_of); del out_of",
    "released before the arrays": "import atexit; atexit._run_exitfuncs(); assert producer.deleted == 1; del into",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_the_interpreter_ends_quietly(ending, tmp_path):
    module = tmp_path / "kernels.spv"
    module.write_bytes(compiled_text(SOURCE, "spirv"))
    program = f"""
import sys
import numpy as np
import bindless as bl
from tests.support.dlpack_peer import Producer
queue = bl.Queue("reference:*:*")
values, producer = np.zeros(1 << 18, "i4"), Producer(np.ones(1 << 18, "i4"))
into, out_of = bl.as_usm_array(values, queue), bl.from_dlpack(producer, queue)
kernel = bl.load_kernel_bundle({str(module)!r}, queue).get_kernel("add")
for value in range(3):
    queue.parallel_for(1 << 18, kernel, into, out_of, value)
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program + ending],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
