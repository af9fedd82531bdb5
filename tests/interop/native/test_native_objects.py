"""Native objects as objects of the package and back: each kind, of each driver, under each ownership."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.interop.native.native_rig import ITEMS, Rig
from tests.support.error_checks import raises

NUMBERS = np.arange(ITEMS, dtype=np.float32)


def fill(queue: bl.Queue, value: int, **options: Any) -> tuple[bl.UsmArray, bl.Event]:
    array = bl.usm_empty(4, "int32", queue, kind="device")
    return array, queue.fill(array, value, **options)


def distant_queue() -> bl.Queue:
    """A queue of the reference driver in a context of its own, which ends with it."""
    device = bl.Device("reference:*:*")
    return bl.Queue(device, bl.Context(device))


def works(queue: bl.Queue, value: int = 5) -> None:
    array, event = fill(queue, value)
    event.wait()
    assert list(array.numpy()) == [value] * 4
    array.close()


def runs(rig: Rig, queue: bl.Queue, kernel: bl.Kernel) -> None:
    """Whether the kernel ``scale`` runs, and multiplies."""
    array = bl.usm_empty(8, "float32", queue)
    array.copy_from(np.arange(8, dtype=np.float32))
    queue.parallel_for(8, kernel, array, np.float32(1.5)).wait()
    assert np.array_equal(array.numpy(), np.arange(8) * np.float32(1.5))
    array.close()
    queue.wait()  # lets go of its events: those of rusticl hold what their commands used


def use_context(rig: Rig, context: bl.Context, native: Any) -> None:
    assert context.devices == (rig.device,)
    with bl.Queue(rig.device, context) as queue:
        works(queue)


def use_queue(rig: Rig, queue: bl.Queue, native: Any) -> None:
    """Commands in order, without events between them; those of the program on its own queue among them."""
    assert queue.device == rig.device and queue.context == rig.context
    array = bl.usm_empty(2000, "int32", queue)
    event = None
    for value in range(20):
        event = queue.fill(array, value, depends_on=() if queue.is_in_order or event is None else event)
    assert event is not None
    if rig.copy(native, array.address + 4000, array.address, 4000):
        queue.memcpy(array[:1000], array[1000:])
    event.wait()
    queue.wait()
    assert np.array_equal(array.numpy()[:1000], np.full(1000, 19))
    if rig.backend == "opencl":
        assert event.get_profiling_info("command_end") >= event.get_profiling_info("command_start") > 0
    array.close()
    with rig.load() as bundle:
        runs(rig, queue, bundle.get_kernel("scale"))


def use_event(rig: Rig, event: bl.Event, native: Any) -> None:
    """Commands of its queue, of another context, of another driver, and a host task wait for it."""
    ran: list[int] = []
    queue, other = bl.Queue(rig.device, rig.context), bl.Queue(rig.device, bl.Context(rig.device))
    far = distant_queue()
    arrays, commands = zip(*[fill(queue, 6, depends_on=event), fill(other, 7, depends_on=[event])])
    buffer = bl.Buffer(4, "int32")

    def distant(handler: bl.Handler) -> None:
        handler.depends_on(event)
        handler.fill(buffer.get_access(handler, "write"), 8)

    def host_task(handler: bl.Handler) -> None:
        handler.depends_on(event)
        handler.host_task(lambda: ran.append(1))

    commands = (*commands, far.submit(distant), queue.submit(host_task))
    if rig.gates:
        assert event.status is bl.EventStatus.submitted and not ran
        assert all(command.status is not bl.EventStatus.complete for command in commands)
    rig.open(native)
    event.wait()
    event.wait_and_throw()
    assert event.status is bl.EventStatus.complete
    for command in commands:
        command.wait()
    with buffer.get_host_access("read") as host:
        values = [list(array.numpy()) for array in arrays] + [list(host), ran]
    assert values == [[6] * 4, [7] * 4, [8] * 4, [1]]
    if rig.backend in ("level_zero", "cuda"):
        with raises(bl.ProfilingError):
            event.get_profiling_info("command_end")
    for item in (*arrays, buffer, queue, other, far):
        item.close()


def use_bundle(rig: Rig, bundle: bl.KernelBundle, native: Any) -> None:
    assert (bundle.state, bundle.devices, bundle.context) == ("executable", (rig.device,), rig.context)
    assert bundle.specialization_constants == {} and not bundle.contains_specialization_constants
    if not rig.lists_kernels:
        return
    kernel = bundle.get_kernel("scale")
    assert "scale" in bundle.kernel_names and bl.get_native(kernel).type == rig.kinds["kernel"]
    with raises(bl.InvalidError, names="third"):
        bundle.get_kernel("third")
    with bl.Queue(rig.device, rig.context) as queue:
        runs(rig, queue, kernel)
    bundle.close()  # closed twice, it ends once
    with raises(bl.InvalidError):
        bl.get_native(kernel)


def use_kernel(rig: Rig, kernel: bl.Kernel, native: Any) -> None:
    assert (kernel.name, kernel.bundle, kernel.context) == ("scale", rig.bundle, rig.context)
    with bl.Queue(rig.device, rig.context) as queue:
        runs(rig, queue, kernel)


def use_buffer(rig: Rig, buffer: bl.Buffer, native: Any) -> None:
    """In place on its device, by the host, and by another driver."""
    assert (buffer.shape, buffer.dtype) == ((ITEMS,), np.dtype("float32"))
    places: list[int] = []

    def look(handler: bl.Handler) -> None:
        accessor = buffer.get_access(handler, "read_write")
        handler.host_task(lambda interop: places.append(interop.get_native_mem(accessor)))

    with bl.Queue(rig.device, rig.context) as queue, distant_queue() as far:
        queue.submit(look).wait()
        with buffer.get_host_access("read") as host:
            assert np.array_equal(host, NUMBERS)
        far.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", range=32, offset=32), 7)).wait()
        with buffer.get_host_access("write", range=2, offset=1) as host:
            host[:] = 9
        queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", range=1), 4)).wait()
        queue.submit(look).wait()
        with rig.load() as bundle:
            scale = bundle.get_kernel("scale")
            for factor in (0.5, 2.0):
                queue.submit(
                    lambda handler, factor=factor, scale=scale: handler.parallel_for(
                        ITEMS, scale, buffer.get_access(handler, "read_write"), np.float32(factor)
                    )
                ).wait()
                with buffer.get_host_access("read", range=1) as host:
                    assert host[0] == 4 * min(factor, 1)
            del scale
    assert places == [rig.number(native)] * 2
    with buffer.get_host_access("read") as host:
        assert np.array_equal(host, np.r_[4, 9, 9, NUMBERS[3:32], np.full(32, 7)])


USES: dict[str, Callable[..., None]] = {
    "context": use_context,
    "queue": use_queue,
    "event": use_event,
    "bundle": use_bundle,
    "kernel": use_kernel,
    "buffer": use_buffer,
}


def test_an_object_of_a_native_one(rig: Rig, kind: str, ownership: str | None) -> None:
    native = rig.new(kind)
    name = kind.partition(".")[0]
    with rig.owner(native, ownership):
        references = rig.references(native)
        made = rig.adopt(kind, native, ownership)
        assert rig.references(native) == references + (rig.retains and ownership != "transfer")
        if name != "buffer" or rig.backend == "opencl":
            handle = rig.handle(made)
            assert (handle, handle.type) == (rig.number(native), rig.kinds[kind])
            del handle
        else:
            with raises(bl.FeatureNotSupportedError, names="get_native_mem"):
                bl.get_native(made)
        if name == "queue":
            assert made.is_in_order is (kind != "queue.out_of_order")
        USES[name](rig, made, native)
        if hasattr(made, "close"):
            made.close()
            with raises(bl.InvalidError):
                bl.get_native(made)
        if name == "buffer" and rig.stays(ownership):
            assert np.array_equal(rig.read(native), np.r_[4, 9, 9, NUMBERS[3:32], np.full(32, 7)])
        del made
        rig.bundle = None


@pytest.mark.kinds("queue", "event", "buffer", "bundle")
@pytest.mark.rigs("level_zero", "cuda", "reference")
def test_an_object_is_transferred_once(rig: Rig, kind: str, ownership: str) -> None:
    """A stream or an event of CUDA that stays the program's is one queue's or event's, too."""
    if ownership == "keep" and (rig.backend, kind) not in (("cuda", "queue"), ("cuda", "event")):
        ownership = "transfer"
    native = rig.new(kind)
    with rig.owner(native, ownership):
        made = rig.adopt(kind, native, ownership)
        for again in (None, "transfer"):
            with raises(bl.InvalidError):
                rig.adopt(kind, native, again)
        del made
        rig.bundle = None
