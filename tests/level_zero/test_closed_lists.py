"""``CommandGraph`` on Level Zero: a command list that is closed once and executed by every run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import level_zero as driver
from tests.support.compile_kernels import compiled_text, load
from tests.support.error_checks import raises

pytestmark = pytest.mark.on_level_zero

lib, ffi = driver.lib, driver.ffi

# Writes at the address in memory: a fault unless the address is within an allocation.
_PLACED = "kernel void placed(global const ulong *where, global int *out) { out[where[0]] += 1; }"


@pytest.fixture(params=["immediate", "regular", "one by one"])
def made(request: pytest.FixtureRequest, device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make queues of one kind; immediate lists of older drivers cannot execute other lists and receive commands one by
    one."""
    with bl.Context(device) as context:
        if request.param == "one by one":
            native = context._native.driver
            known = native.function
            hidden = "zeCommandListImmediateAppendCommandListsExp"
            monkeypatch.setattr(native, "function", lambda name: None if name == hidden else known(name))
        regular = request.param == "regular"

        def make(in_order: bool = True, **options: Any) -> bl.Queue:
            return bl.Queue(device, context, in_order=in_order, no_immediate_command_list=regular, **options)

        yield make


def test_runs_follow_each_other_and_other_commands(made: Any) -> None:
    """Each run reads the results of earlier commands, and later commands read the run's."""
    with made() as queue:
        kernels = load(queue, "simple")
        increment = kernels.get_kernel("increment")
        array, found = bl.usm_empty((64,), np.int32, queue), np.zeros(64, np.int32)
        with bl.CommandGraph(queue) as graph:
            for _ in range(7):
                graph.parallel_for(64, increment, array)
            queue.fill(array, 100)
            for _ in range(3):
                graph()
                queue.parallel_for(64, increment, array)
            queue.memcpy(found, array).wait()
            assert set(found) == {124}


@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "out of order"])
def test_runs_of_several_threads(made: Any, in_order: bool) -> None:
    """Runs of one graph are serialized, whichever thread starts them: no addition is lost."""
    with made(in_order) as queue:
        kernels = load(queue, "simple")
        array = bl.usm_empty((256,), np.int32, queue)
        queue.fill(array, 0).wait()
        with bl.CommandGraph(queue) as graph:
            graph.parallel_for(256, kernels.get_kernel("increment"), array)
            graph.finalize()
            threads = [threading.Thread(target=lambda: [graph() for _ in range(20)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            queue.wait()
            assert set(array.numpy(queue)) == {80}


def test_a_run_after_a_fault(made: Any) -> None:
    """A kernel's fault fails only its run; the next run works."""
    with made() as queue:
        bundle = bl.load_kernel_bundle(compiled_text(_PLACED, "spirv"), queue)
        where, out = bl.usm_empty((1,), np.uint64, queue), bl.usm_empty((4,), np.int32, queue)
        queue.fill(out, 0)
        with bl.CommandGraph(queue) as graph:
            graph.parallel_for(1, bundle.get_kernel("placed"), where, out)
            for place, fails in ((0, False), (1 << 40, True), (2, False), (1 << 40, True), (2, False)):
                queue.fill(where, np.uint64(place)).wait()
                event = graph()
                if fails:
                    with raises(bl.KernelError, names="'placed'"):
                        event.wait_and_throw()
                else:
                    event.wait_and_throw()
            assert list(out.numpy(queue)) == [1, 0, 2, 0]


def test_the_kernel_is_destroyed_while_the_graph_lives(made: Any) -> None:
    """A run after that is refused, and pending runs are not disturbed."""
    with made() as queue:
        bundle = load(queue, "simple")
        array = bl.usm_empty((64,), np.int32, queue)
        queue.fill(array, 0)
        with bl.CommandGraph(queue) as graph:
            graph.parallel_for(64, bundle.get_kernel("increment"), array)
            event = graph()
            bundle.close()
            with pytest.raises(bl.InvalidError):
                graph()
            event.wait_and_throw()
            assert set(array.numpy(queue)) == {1}


@pytest.mark.parametrize("made", ["immediate", "regular"], indirect=True)
def test_what_is_refused_is_recorded_anew(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused command leaves neither a partial graph nor any state of the recorder."""
    with made() as queue:
        array = bl.usm_empty((64,), np.int32, queue)
        refusals = [bl.SyclRuntimeError("refused on purpose")]
        with bl.CommandGraph(queue) as graph:
            graph.fill(array, 3)
            graph.fill(array, 4)
            command = graph._commands[1]

            def refused(waits: Any) -> Any:
                if refusals:
                    raise refusals.pop()
                return command(waits)

            graph._commands[1] = refused
            with raises(bl.SyclRuntimeError, names="on purpose"):
                graph()
            graph().wait()
            assert set(array.numpy(queue)) == {4}


def test_a_profiling_queue_and_waits(made: Any) -> None:
    """Timestamps of a run, and a run that depends on another queue's command."""
    with made(False, enable_profiling=True) as queue, made() as other:
        array = bl.usm_empty((1 << 16,), np.int32, queue)
        with bl.CommandGraph(queue) as graph:
            graph.memcpy(array[: 1 << 15], array[1 << 15 :])
            graph.fill(array[1 << 15 :], 9)
            for value in range(4):
                event = graph(depends_on=other.fill(array, value))
                event.wait()
                found = array.numpy(queue)
                assert set(found[: 1 << 15]) == {value} and set(found[1 << 15 :]) == {9}
                times = [event.get_profiling_info(f"command_{name}") for name in ("submit", "start", "end")]
                assert times == sorted(times)


def test_a_copy_of_a_closed_list_is_made_behind_loaders_that_do_not_know_it(queue: bl.Queue) -> None:
    """Loaders before 1.9 lack zeCommandListCreateCloneExp; the package looks the driver's own function up by name."""
    native = queue.device._record.native
    context, array = queue.context._native.handle, bl.usm_empty(16, np.uint8, queue, kind="host")
    clone = native.driver.require("zeCommandListCreateCloneExp", "1.9")
    lists = [ffi.new("ze_command_list_handle_t *") for _ in range(2)]
    desc = driver.make_struct("ze_command_list_desc_t", flags=lib.ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE)
    driver.check(lib.zeCommandListCreate(context, native.handle, desc, lists[0]), "zeCommandListCreate")
    pattern, where = ffi.new("uint8_t *", 7), ffi.cast("void *", array.address)
    filled = lib.zeCommandListAppendMemoryFill(lists[0][0], where, pattern, 1, 16, ffi.NULL, 0, ffi.NULL)
    driver.check(filled, "zeCommandListAppendMemoryFill")
    driver.check(lib.zeCommandListClose(lists[0][0]), "zeCommandListClose")
    driver.check(clone(lists[0][0], lists[1]), "zeCommandListCreateCloneExp")
    driver.check(lib.zeCommandListDestroy(lists[0][0]), "zeCommandListDestroy")
    own = ffi.new("ze_command_queue_handle_t *")
    driver.check(
        lib.zeCommandQueueCreate(context, native.handle, driver.make_struct("ze_command_queue_desc_t"), own),
        "zeCommandQueueCreate",
    )
    driver.check(
        lib.zeCommandQueueExecuteCommandLists(own[0], 1, lists[1], ffi.NULL), "zeCommandQueueExecuteCommandLists"
    )
    driver.check(lib.zeCommandQueueSynchronize(own[0], 2**64 - 1), "zeCommandQueueSynchronize")
    assert np.asarray(array).tolist() == [7] * 16
    driver.check(lib.zeCommandListDestroy(lists[1][0]), "zeCommandListDestroy")
    driver.check(lib.zeCommandQueueDestroy(own[0]), "zeCommandQueueDestroy")
