"""Conversion between native objects of the reference driver and the package's objects, as for Level Zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import reference as driver
from tests.support.compile_kernels import compiled
from tests.support.error_checks import raises
from tests.support.reference_object_count import objects

BOTH = pytest.mark.parametrize("ownership", ["transfer", "keep"])


def new(kind: str, call: str, *arguments: Any) -> Any:
    """The object that a driver call returns in its last parameter."""
    slot = driver.ffi.new(f"{kind} *")
    driver.check(getattr(driver.lib, call)(*arguments, slot), call)
    return slot[0]


@pytest.fixture
def reference() -> bl.Device:
    return bl.Device("reference:*:*")


@pytest.fixture
def native(reference: bl.Device) -> Iterator[Any]:
    """A context of the driver; at the end every object made in it is destroyed exactly once."""
    handle = driver.ffi.cast("blr_device_t", bl.get_native(reference))
    context = new("blr_context_t", "blrContextCreate", handle)
    before = objects()
    yield context
    assert objects() == before
    driver.check(driver.lib.blrContextDestroy(context), "blrContextDestroy")


@pytest.fixture
def gate(native: Any) -> Any:
    """A user event, which the test signals."""
    return new("blr_event_t", "blrEventCreateUser", native)


@pytest.fixture
def context(native: Any, gate: Any, reference: bl.Device) -> Iterator[bl.Context]:
    made = bl.make_context("reference", native, reference, ownership="keep")
    yield made
    driver.lib.blrEventSignalUser(gate, 0)  # a failed test may leave it unsignalled
    driver.lib.blrEventRelease(gate)
    made.close()
    made._resource.close()


@BOTH
def test_a_context(reference: bl.Device, ownership: str) -> None:
    handle = driver.ffi.cast("blr_device_t", bl.get_native(reference))
    assert bl.make_device("reference", handle) == reference
    before = objects()
    native = new("blr_context_t", "blrContextCreate", handle)
    made = bl.make_context("reference", native, reference, ownership=ownership)
    assert bl.get_native(made) == int(driver.ffi.cast("uintptr_t", native))
    assert bl.get_native(made).type == "blr_context_t"
    with bl.Queue(reference, made) as queue:
        array = bl.usm_empty(4, "int32", queue)
        queue.fill(array, 3).wait()
        assert list(array.numpy()) == [3] * 4
    with raises(bl.InvalidError):
        bl.make_context("reference", native, reference)
    del made, queue, array
    assert objects() == before + (ownership == "keep")
    if ownership == "keep":
        driver.check(driver.lib.blrContextDestroy(native), "blrContextDestroy")


@BOTH
def test_a_queue_and_an_event(native: Any, gate: Any, context: bl.Context, ownership: str) -> None:
    made = new("blr_queue_t", "blrQueueCreate", native, 0)
    queue = bl.make_queue("reference", made, context, ownership=ownership)
    event = bl.make_event("reference", gate, context, ownership="keep")
    array = bl.usm_empty(4, "int32", queue)
    command = queue.fill(array, 9, depends_on=event)
    assert command.status is not bl.EventStatus.complete
    driver.check(driver.lib.blrEventSignalUser(gate, 0), "blrEventSignalUser")
    command.wait()
    event.wait()
    assert list(array.numpy()) == [9] * 4
    array.close()
    queue.close()
    del event, command
    if ownership == "keep":
        driver.check(driver.lib.blrQueueDestroy(made), "blrQueueDestroy")
    else:
        assert driver.lib.blrQueueQuery(made) == driver.lib.BLR_RESULT_INVALID_HANDLE
        del queue
        bl.make_event("reference", gate, context)  # destroyed at once with its only reference
        assert driver.lib.blrEventRelease(gate) == driver.lib.BLR_RESULT_INVALID_HANDLE


def test_an_event_that_fails(gate: Any, context: bl.Context) -> None:
    event = bl.make_event("reference", gate, context, ownership="keep")
    queue = bl.Queue(context=context)
    array = bl.usm_empty(4, "int32", queue)
    command = queue.fill(array, 9, depends_on=event)
    driver.check(driver.lib.blrEventSignalUser(gate, driver.lib.BLR_RESULT_INVALID_ARGUMENT), "blrEventSignalUser")
    with pytest.raises(bl.Error):
        event.wait()
    with pytest.raises(bl.Error):
        event.wait_and_throw()
    with pytest.raises(bl.Error):
        command.wait()
    assert event.status is bl.EventStatus.complete
    array.close()
    queue.close()


@BOTH
def test_a_bundle_and_a_kernel(native: Any, context: bl.Context, ownership: str) -> None:
    code = compiled("simple", "spirv")
    ffi = driver.ffi
    module = new("blr_module_t", "blrModuleCreate", native, code, len(code), 0, ffi.NULL)
    made = new("blr_kernel_t", "blrKernelCreate", module, b"axpy")
    bundle = bl.make_kernel_bundle("reference", module, context, ownership=ownership)
    kernel = bl.make_kernel("reference", made, bundle, ownership=ownership)
    assert bl.get_native(bundle) == (int(ffi.cast("uintptr_t", module)),)
    assert (bl.get_native(kernel), kernel.name) == (int(ffi.cast("uintptr_t", made)), "axpy")
    with bl.Queue(context=context) as queue:
        x, y = (bl.usm_empty(8, "float32", queue) for _ in range(2))
        x.copy_from(np.arange(8, dtype="float32"))
        y.copy_from(np.ones(8, "float32"))
        queue.parallel_for(8, kernel, np.float32(2), x, y).wait()
        assert np.array_equal(y.numpy(), 2 * np.arange(8) + 1)
        x.close()
        y.close()
    bundle.close()
    if ownership == "keep":
        driver.check(driver.lib.blrKernelDestroy(made), "blrKernelDestroy")
        driver.check(driver.lib.blrModuleDestroy(module), "blrModuleDestroy")


@BOTH
def test_a_buffer(native: Any, context: bl.Context, ownership: str) -> None:
    memory = new("void *", "blrMemoryAllocate", native, 1, 64, 0)
    buffer = bl.make_buffer("reference", memory, context, "int32", (4, 4), ownership=ownership)
    with bl.Queue(context=context) as queue:
        queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 4))
        with buffer.get_host_access("read") as host:
            assert np.array_equal(host, np.full((4, 4), 4))
    buffer.close()
    host = None
    if ownership == "keep":
        driver.check(driver.lib.blrMemoryFree(native, memory), "blrMemoryFree")


def _refusals(native: Any, context: bl.Context) -> list[Callable[[], object]]:
    address = int(driver.ffi.cast("uintptr_t", native))
    return [
        lambda: bl.make_queue("reference", address, context),
        lambda: bl.make_event("reference", address, context),
        lambda: bl.make_event("reference", address, context, ownership="keep"),
        lambda: bl.make_kernel_bundle("reference", address, context),
        lambda: bl.make_buffer("reference", address, context, "int8"),
        lambda: bl.make_device("reference", address),
        lambda: bl.make_context("reference", bl.get_native(context.devices[0]), context.devices[0]),
    ]


def test_handles_of_other_objects_are_refused(native: Any, context: bl.Context) -> None:
    for number, call in enumerate(_refusals(native, context)):
        with pytest.raises(bl.InvalidError):
            pytest.fail(f"call {number} gave {call()!r}")
    with raises(bl.FeatureNotSupportedError):
        bl.get_native(context.platform)
    with raises(bl.FeatureNotSupportedError, names="make_platform"):
        bl.make_platform("reference", native)
