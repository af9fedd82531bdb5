"""Objects of Level Zero and of the package made of each other, on the package's own driver behind the real loader.

Whose an object is, is seen in the driver: it counts what is alive, and refuses what is not.
"""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless.backends.level_zero import context as _context
from tests.interop.raw_level_zero import Raw, ffi, lib
from tests.support.compile_kernels import assembled, compiled_text
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]

SCALE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"
OTHER = "kernel void other(global float *data) { data[get_global_id(0)] = 1; }"
# A module that calls what it does not have.
UNLINKED = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Linkage
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "count"
               OpDecorate %twice LinkageAttributes "twice" Import
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
    %pointer = OpTypePointer CrossWorkgroup %uint
   %function = OpTypeFunction %uint %uint
       %type = OpTypeFunction %void %pointer
      %twice = OpFunction %uint None %function
      %given = OpFunctionParameter %uint
               OpFunctionEnd
       %main = OpFunction %void None %type
        %out = OpFunctionParameter %pointer
      %label = OpLabel
        %old = OpLoad %uint %out Aligned 4
        %new = OpFunctionCall %uint %twice %old
               OpStore %out %new Aligned 4
               OpReturn
               OpFunctionEnd
"""
BOTH = pytest.mark.parametrize("ownership", ["transfer", "keep"])
FORMS = pytest.mark.parametrize("immediate", [False, True], ids=["queue", "immediate_list"])


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> Iterator[None]:
    """Objects of before are not looked at in every collection."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def raw(device: bl.Device) -> Iterator[Raw]:
    """What a program makes is all destroyed at the end of a test, once each."""
    gc.collect()
    made = Raw(device)
    before = made.objects
    yield made
    assert made.objects == before
    made.destroy(made.context)


@pytest.fixture
def kept(raw: Raw) -> Iterator[bl.Context]:
    """The native context as one of the package; it stays the program's."""
    context = bl.make_context("level_zero", raw.context, raw.facade, ownership="keep")
    yield context
    raw.open_gates()
    context.close()
    context._resource.close()  # at once, also where a failed test still holds it


def code(text: str) -> bytes:
    return compiled_text(text, "spirv")


def filled(queue: bl.Queue, value: int) -> list[int]:
    array = bl.usm_empty(4, "int32", queue, kind="shared")
    queue.fill(array, value).wait()
    return list(array.numpy())


def fill_all(buffer: bl.Buffer, value: int, handler: bl.Handler) -> None:
    handler.fill(buffer.get_access(handler, "write"), value)


def command_on(queue: bl.Queue, buffer: bl.Buffer, after: bl.Event, value: int) -> bl.Event:
    """Fills a buffer once an event allows it."""

    def group(handler: bl.Handler) -> None:
        handler.depends_on(after)
        handler.fill(buffer.get_access(handler, "write"), value)

    return queue.submit(group)


# ---------------------------------------------------------------------- platforms, devices, selection


def test_a_platform_is_one_of_the_listed(device: bl.Device) -> None:
    native = bl.get_native(device.platform, "level_zero")
    assert native.type == "ze_driver_handle_t"
    assert bl.make_platform("level_zero", native) == device.platform
    assert bl.make_platform(bl.Backend.level_zero, ffi.cast("ze_driver_handle_t", native)) in bl.get_platforms()
    with raises(bl.InvalidError, match="level_zero"):
        bl.make_platform("level_zero", 0x1000)


def test_a_device_is_one_of_the_listed(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [found for found in bl.get_devices() if found.backend is bl.Backend.level_zero]
    for number in range(4):
        if "partition_by_affinity_domain" in devices[number].get_info("partition_properties"):
            devices += devices[number].create_sub_devices("partition_by_affinity_domain", "next_partitionable")
        if number + 1 == len(devices):
            break
    natives = [bl.get_native(found) for found in devices]
    assert len(set(natives)) == len(devices)
    for found, native in zip(devices, natives):
        made = bl.make_device("level_zero", native)
        assert (made, made.parent, made.uuid) == (found, found.parent, found.uuid)
    with raises(bl.InvalidError):
        bl.make_device("level_zero", 0x1000)
    with raises(bl.InvalidError, match="ze_driver_handle_t.*ze_device_handle_t"):
        bl.make_device("level_zero", bl.get_native(device.platform))
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    with raises(bl.InvalidError, match="ONEAPI_DEVICE_SELECTOR='reference:\\*' lets"):
        bl.make_device("level_zero", natives[0])


def test_the_backend_is_chosen_by_environment_and_program(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bl.Backend.level_zero in {found.backend for found in bl.get_devices("level_zero:*:*")}
    assert bl.Device("level_zero:*:0").platform.backend is bl.Backend.level_zero
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "level_zero:*")
    assert {found.backend for found in bl.get_devices()} == {bl.Backend.level_zero}
    assert bl.Device().backend is bl.Backend.level_zero
    monkeypatch.delenv("ONEAPI_DEVICE_SELECTOR")
    monkeypatch.setenv("SYCL_DEVICE_FILTER", "level_zero")
    with pytest.warns(DeprecationWarning, match="ONEAPI_DEVICE_SELECTOR"):
        assert {found.backend for found in bl.get_devices()} == {bl.Backend.level_zero}


# ---------------------------------------------------------------------- contexts


@BOTH
def test_a_context_of_a_native_one(raw: Raw, ownership: str) -> None:
    without = raw.objects
    native = raw.new_context()
    with_it = raw.objects
    context = bl.make_context("level_zero", native, [raw.facade], ownership=ownership)
    assert bl.get_native(context) == int(ffi.cast("uintptr_t", native))
    assert context.devices == (raw.facade,)
    with bl.Queue(raw.facade, context) as queue:
        assert filled(queue, 5) == [5] * 4
    context.close()
    assert raw.is_alive(native)  # what is left of it is dropped here
    del context, queue
    gc.collect()
    assert raw.is_alive(native) is (ownership == "keep")
    assert raw.objects == (without if ownership == "transfer" else with_it)
    if ownership == "keep":
        raw.destroy(native)


def test_a_context_that_is_refused_stays_the_callers(raw: Raw) -> None:
    reference = bl.Device("reference:*:*")
    with raises(bl.InvalidError, match="devices="):
        bl.make_context("level_zero", raw.context)
    with raises(bl.BackendMismatchError, match="reference.*level_zero"):
        bl.make_context("level_zero", raw.context, [raw.facade, reference])
    with raises(bl.InvalidError, match="Device"):
        bl.make_context("level_zero", raw.context, ["gpu"])
    with raises(bl.InvalidError, match="ownership='take'"):
        bl.make_context("level_zero", raw.context, raw.facade, ownership="take")
    with raises(bl.InvalidError, match="ze_device_handle_t.*ze_context_handle_t"):
        bl.make_context("level_zero", raw.device, raw.facade)
    with raises(bl.InvalidError):
        bl.make_context("level_zero", int(ffi.cast("uintptr_t", raw.device)), raw.facade)
    assert raw.is_alive(raw.context)


def test_a_context_is_transferred_once(raw: Raw) -> None:
    native = raw.new_context()
    first = bl.make_context("level_zero", native, raw.facade)
    with raises(bl.InvalidError):
        bl.make_context("level_zero", native, raw.facade)
    second = bl.make_context("level_zero", native, raw.facade, ownership="keep")
    assert bl.get_native(first) == bl.get_native(second)
    own = bl.Context(raw.facade)
    with raises(bl.InvalidError, match="get_native"):
        bl.make_context("level_zero", bl.get_native(own), raw.facade)
    del own, second, first


# ---------------------------------------------------------------------- queues


@FORMS
@BOTH
def test_a_queue_of_a_native_one(raw: Raw, kept: bl.Context, immediate: bool, ownership: str) -> None:
    native = raw.queue(immediate)
    queue = bl.make_queue("level_zero", native, kept, raw.facade, ownership=ownership)
    handle = bl.get_native(queue, "level_zero")
    assert handle == int(ffi.cast("uintptr_t", native))
    assert handle.type == ("ze_command_list_handle_t" if immediate else "ze_command_queue_handle_t")
    assert queue.is_in_order and queue.device == raw.facade and queue.context is kept
    array = bl.usm_empty(1000, "int32", queue, kind="shared")
    for value in range(20):  # each after the one before, without an event between them
        queue.fill(array, value)
    # Work of the program on its own queue is in order with the package's.
    more = bl.usm_empty(1000, "int32", queue, kind="shared")
    to, source = ffi.cast("void *", more.pointer), ffi.cast("void *", array.pointer)
    raw.run(native, lambda own: lib.zeCommandListAppendBarrier(own, ffi.NULL, 0, ffi.NULL))
    raw.run(native, lambda own: lib.zeCommandListAppendMemoryCopy(own, to, source, 4000, ffi.NULL, 0, ffi.NULL))
    assert np.array_equal(more.numpy(), np.full(1000, 19))
    bundle = bl.load_kernel_bundle(code(SCALE), queue)
    floats = bl.usm_empty(8, "float32", queue, kind="shared")
    queue.fill(floats, np.float32(3))
    queue.parallel_for(8, bundle.get_kernel("scale"), floats, np.float32(2)).wait()
    assert list(floats.numpy()) == [6] * 8
    bundle.close()
    for memory in (array, more, floats):
        memory.close()
    queue.close()
    assert raw.is_alive(native) is (ownership == "keep")
    with raises(bl.InvalidError):
        bl.get_native(queue)
    if ownership == "keep":
        raw.destroy(native)


def test_what_get_native_gives_of_a_queue(device: bl.Device) -> None:
    for options, kind in (
        ({}, "ze_command_list_handle_t"),
        ({"immediate_command_list": True}, "ze_command_list_handle_t"),
        ({"no_immediate_command_list": True}, "ze_command_queue_handle_t"),
    ):
        with bl.Queue(device, in_order=True, **options) as queue:
            native = bl.get_native(queue)
            assert native.type == kind
            again = bl.make_queue("level_zero", native, queue.context, ownership="keep")
            assert filled(again, 3) == [3] * 4
            again.close()
            assert filled(queue, 4) == [4] * 4
            with raises(bl.InvalidError):
                bl.make_queue("level_zero", native, queue.context)


def test_a_queue_without_device_takes_the_contexts_first(raw: Raw, kept: bl.Context) -> None:
    for immediate in (False, True):
        native = raw.queue(immediate)
        with bl.make_queue("level_zero", native, kept) as queue:
            assert queue.device == kept.devices[0]
            assert filled(queue, 1) == [1] * 4


def test_a_queue_dropped_amid_its_work_ends_after_it(raw: Raw, kept: bl.Context) -> None:
    pool = raw.pool()
    gate = raw.event(pool)
    native = raw.queue(True)
    array = bl.usm_empty(100, "int32", raw.facade, kept, kind="shared")
    array.copy_from(np.zeros(100, "int32"))
    queue = bl.make_queue("level_zero", native, kept)
    opened = bl.make_event("level_zero", gate, kept, ownership="keep")
    event = queue.fill(array, 7, depends_on=opened)
    del queue
    assert event.status is not bl.EventStatus.complete and raw.is_alive(native)
    assert lib.zeEventHostSignal(gate) == 0
    event.wait()
    assert list(array.numpy()) == [7] * 100
    del event, opened
    array.close()
    raw.destroy(gate, pool)


def test_queues_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    immediate, regular, command_queue = raw.queue(True), raw.regular_list(), raw.queue(False)
    number = int(ffi.cast("uintptr_t", command_queue))
    other = bl.Context(device)
    reference = bl.Device("reference:*:*")
    for error, match, arguments in (
        (bl.InvalidError, "ze_context_handle_t", (immediate, other)),
        (bl.InvalidError, None, (regular, kept)),
        (bl.InvalidError, "Context", (command_queue, raw.context)),
        (bl.InvalidError, "Device", (command_queue, kept, "gpu")),
        (bl.BackendMismatchError, None, (command_queue, bl.Context(reference))),
        (bl.BackendMismatchError, None, (command_queue, kept, reference)),
        (bl.InvalidError, None, (0, kept)),
        (bl.InvalidError, None, (ffi.NULL, kept)),
        (bl.InvalidError, None, (2**64, kept)),
        (bl.InvalidError, None, (-number, kept)),
        (bl.InvalidError, None, (True, kept)),
        (bl.InvalidError, None, ("queue", kept)),
        (bl.InvalidError, None, (None, kept)),
        (bl.InvalidError, "ze_context_handle_t.*ze_command_queue_handle_t", (raw.context, kept)),
        # A plain number is taken for a command queue, which the driver knows not to be one.
        (bl.InvalidError, "INVALID", (int(ffi.cast("uintptr_t", immediate)), kept)),
    ):
        with raises(error, match=match):
            bl.make_queue("level_zero", *arguments)
    with raises(bl.InvalidError, match="backend='metal'"):
        bl.make_queue("metal", command_queue, kept)
    closed = bl.make_context("level_zero", raw.context, device, ownership="keep")
    closed.close()
    with raises(bl.InvalidError):
        bl.make_queue("level_zero", command_queue, closed)
    queue = bl.make_queue("level_zero", number, kept)
    with raises(bl.InvalidError):
        bl.make_queue("level_zero", command_queue, kept)
    typed = bl.NativeHandle(int(ffi.cast("uintptr_t", immediate)), "ze_command_list_handle_t")
    with bl.make_queue("level_zero", typed, kept, ownership="keep") as again:
        assert filled(again, 2) == [2] * 4
    queue.close()
    assert raw.is_alive(immediate) and not raw.is_alive(command_queue)
    raw.destroy(immediate, regular)


@FORMS
def test_a_kept_queue_that_its_owner_destroyed_fails_and_does_no_harm(
    raw: Raw, kept: bl.Context, immediate: bool
) -> None:
    native = raw.queue(immediate)
    queue = bl.make_queue("level_zero", native, kept, ownership="keep")
    array = bl.usm_empty(10, "int32", queue, kind="shared")
    raw.destroy(native)
    with pytest.raises(bl.Error, match="INVALID"):
        queue.fill(array, 1)
    queue.close()
    array.close()


# ---------------------------------------------------------------------- events


@BOTH
def test_an_event_of_a_native_one(raw: Raw, kept: bl.Context, ownership: str) -> None:
    pool = raw.pool()
    native = raw.event(pool)
    event = bl.make_event("level_zero", native, kept, ownership=ownership)
    assert bl.get_native(event) == int(ffi.cast("uintptr_t", native))
    assert event.status is bl.EventStatus.submitted
    queue, other = bl.Queue(raw.facade, kept), bl.Queue(raw.facade, bl.Context(raw.facade))
    array, far = (bl.usm_empty(4, "int32", where, kind="shared") for where in (queue, other))
    commands = [queue.fill(array, 6, depends_on=event), other.fill(far, 7, depends_on=[event])]
    done: list[int] = []

    def host_task(handler: bl.Handler) -> None:
        handler.depends_on(event)
        handler.host_task(lambda: done.append(1))

    task = queue.submit(host_task)
    assert all(command.status is not bl.EventStatus.complete for command in (*commands, task)) and not done
    assert lib.zeEventHostSignal(native) == 0
    event.wait()
    event.wait_and_throw()
    assert event.status is bl.EventStatus.complete
    for command in (*commands, task):
        command.wait()
    assert (list(array.numpy()), list(far.numpy()), done) == ([6] * 4, [7] * 4, [1])
    with raises(bl.ProfilingError):
        event.get_profiling_info("command_end")
    for item in (array, far, queue, other):
        item.close()
    commands.clear()
    event = command = task = None
    gc.collect()
    assert raw.is_alive(native) is (ownership == "keep")
    if ownership == "keep":
        raw.destroy(native)
    raw.destroy(pool)


def test_a_transferred_event_lives_until_what_waits_for_it(raw: Raw, kept: bl.Context) -> None:
    pool = raw.pool()
    native = raw.event(pool)
    queue = bl.Queue(raw.facade, kept, in_order=True)
    array = bl.usm_empty(4, "int32", queue, kind="shared")
    command = queue.fill(array, 9, depends_on=bl.make_event("level_zero", native, kept))
    gc.collect()
    assert raw.is_alive(native) and command.status is not bl.EventStatus.complete
    assert lib.zeEventHostSignal(native) == 0
    command.wait()
    assert list(array.numpy()) == [9] * 4
    array.close()
    queue.close()
    assert not raw.is_alive(native)
    raw.destroy(pool)


def test_the_native_event_of_a_command(raw: Raw, kept: bl.Context) -> None:
    queue = bl.Queue(raw.facade, kept)
    array = bl.usm_empty(1000, "int32", queue, kind="shared")
    event = queue.fill(array, 3)
    native = bl.get_native(event, "level_zero")
    assert native.type == "ze_event_handle_t"
    assert lib.zeEventHostSynchronize(ffi.cast("ze_event_handle_t", native), 2**64 - 1) == 0
    assert list(array.numpy()) == [3] * 1000
    with raises(bl.InvalidError):
        bl.make_event("level_zero", native, kept)
    again = bl.make_event("level_zero", native, kept, ownership="keep")
    again.wait()
    with raises(bl.InvalidError):
        bl.get_native(bl.Event())
    task = queue.submit(lambda handler: handler.host_task(lambda: None))
    task.wait()
    with raises(bl.InvalidError):
        bl.get_native(task)
    del again, event
    array.close()
    queue.close()


def test_events_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    pool = raw.pool()
    native = raw.event(pool)
    with raises(bl.InvalidError, match="ze_context_handle_t"):
        bl.make_event("level_zero", native, bl.Context(device))
    with raises(bl.InvalidError, match="ze_event_pool_handle_t.*ze_event_handle_t"):
        bl.make_event("level_zero", pool, kept)
    with raises(bl.InvalidError):
        bl.make_event("level_zero", int(ffi.cast("uintptr_t", pool)), kept)
    first = bl.make_event("level_zero", native, kept)
    with raises(bl.InvalidError):
        bl.make_event("level_zero", native, kept)
    assert raw.is_alive(native)
    del first
    raw.destroy(pool)


# ---------------------------------------------------------------------- kernel bundles, kernels


@BOTH
def test_a_kernel_bundle_of_a_native_module(raw: Raw, kept: bl.Context, ownership: str) -> None:
    native = raw.module(code(SCALE))
    bundle = bl.make_kernel_bundle("level_zero", native, kept, ownership=ownership)
    assert bl.get_native(bundle) == (int(ffi.cast("uintptr_t", native)),)
    assert bl.get_native(bundle)[0].type == "ze_module_handle_t"
    assert bundle.state is bl.BundleState.executable
    assert (bundle.kernel_names, bundle.devices) == (("scale",), (raw.facade,))
    assert bundle.specialization_constants == {} and not bundle.contains_specialization_constants
    queue = bl.Queue(raw.facade, kept)
    data = bl.usm_empty(8, "float32", queue, kind="shared")
    data.copy_from(np.arange(8, dtype="float32"))
    kernel = bundle.get_kernel("scale")
    assert bl.get_native(kernel).type == "ze_kernel_handle_t"
    queue.parallel_for(8, kernel, data, np.float32(1.5))
    bundle.close()  # after the command
    assert np.array_equal(data.numpy(), np.arange(8) * np.float32(1.5))
    with raises(bl.InvalidError):
        bl.get_native(bundle)
    with raises(bl.InvalidError):
        bl.get_native(kernel)
    data.close()
    queue.close()
    del bundle, kernel
    assert raw.is_alive(native) is (ownership == "keep")
    if ownership == "keep":
        raw.destroy(native)


def test_modules_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    native, unlinked = raw.module(code(SCALE)), raw.module(assembled(UNLINKED))
    with raises(bl.BuildError, match="zeModuleDynamicLink"):
        bl.make_kernel_bundle("level_zero", unlinked, kept)
    with raises(bl.FeatureNotSupportedError, match="state='object'"):
        bl.make_kernel_bundle("level_zero", native, kept, "object")
    with pytest.raises(bl.Error, match="INVALID"):
        bl.make_kernel_bundle("level_zero", int(ffi.cast("uintptr_t", raw.context)), kept)
    bundle = bl.make_kernel_bundle("level_zero", native, kept)
    with raises(bl.InvalidError):
        bl.make_kernel_bundle("level_zero", native, kept)
    with raises(bl.InvalidError):
        bundle.get_specialization_constant(1)
    bundle.close()
    assert not raw.is_alive(native)
    own = bl.load_kernel_bundle(code(SCALE), device, kept)
    with raises(bl.InvalidError):
        bl.make_kernel_bundle("level_zero", bl.get_native(own)[0], kept)
    own.close()
    raw.destroy(unlinked)


@BOTH
def test_a_kernel_of_a_native_one(raw: Raw, kept: bl.Context, ownership: str) -> None:
    module = raw.module(code(SCALE))
    native = raw.kernel(module, "scale")
    bundle = bl.make_kernel_bundle("level_zero", module, kept, ownership=ownership)
    kernel = bl.make_kernel("level_zero", native, bundle, kept, ownership=ownership)
    assert bl.get_native(kernel) == int(ffi.cast("uintptr_t", native))
    assert (kernel.name, kernel.bundle) == ("scale", bundle)
    with raises(bl.InvalidError) if ownership == "transfer" else _nothing():
        again = bl.make_kernel("level_zero", native, bundle)
        assert ownership == "keep" and again.name == "scale"
        native = raw.kernel(module, "scale")  # that one is the package's now
    queue = bl.Queue(raw.facade, kept)
    data = bl.usm_empty(8, "float32", queue, kind="shared")
    data.copy_from(np.ones(8, "float32"))
    queue.parallel_for(8, kernel, data, np.float32(4)).wait()
    assert list(data.numpy()) == [4] * 8
    data.close()
    queue.close()
    bundle.close()
    assert raw.is_alive(native) is (ownership == "keep")
    if ownership == "keep":
        raw.destroy(native, module)


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_kernels_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    module, stranger = raw.module(code(SCALE)), raw.module(code(OTHER))
    native, other = raw.kernel(module, "scale"), raw.kernel(stranger, "other")
    bundle = bl.make_kernel_bundle("level_zero", module, kept, ownership="keep")
    with raises(bl.InvalidError, match="kernel 'other'"):
        bl.make_kernel("level_zero", other, bundle)
    with raises(bl.InvalidError, match="KernelBundle"):
        bl.make_kernel("level_zero", native, module)
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", native, bundle, bl.Context(device))
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", int(ffi.cast("uintptr_t", module)), bundle)
    unbuilt = bl.load_kernel_bundle(code(SCALE), device, kept, state="input")
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", native, unbuilt)
    with raises(bl.InvalidError):
        bl.get_native(unbuilt)
    reference = bl.Device("reference:*:*")
    foreign = bl.load_kernel_bundle(code(SCALE), reference, bl.Context(reference))
    with raises(bl.BackendMismatchError):
        bl.make_kernel("level_zero", native, foreign)
    bundle.close()
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", native, bundle)
    raw.destroy(native, other, module, stranger)


# ---------------------------------------------------------------------- buffers


@BOTH
@pytest.mark.parametrize("kind", ["device", "host", "shared"])
def test_a_buffer_over_native_memory(raw: Raw, kept: bl.Context, kind: str, ownership: str) -> None:
    memory = raw.memory(kind, 64 * 4)
    values = np.arange(64, dtype="int32")
    native = raw.queue(True)
    source = ffi.from_buffer(values)
    raw.run(native, lambda own: lib.zeCommandListAppendMemoryCopy(own, memory, source, 256, ffi.NULL, 0, ffi.NULL))
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", ownership=ownership)
    assert (buffer.shape, buffer.dtype) == ((64,), np.dtype("int32"))
    seen: list[int] = []
    queue, reference = bl.Queue(raw.facade, kept), bl.Queue("reference:*:*")

    def look(handler: bl.Handler) -> None:
        accessor = buffer.get_access(handler, "read_write")
        handler.host_task(lambda interop: seen.append(interop.get_native_mem(accessor)))

    queue.submit(look).wait()
    assert seen == [int(ffi.cast("uintptr_t", memory))]  # used in place
    with buffer.get_host_access("read") as host:
        assert np.array_equal(host, values)

    def set_half(handler: bl.Handler) -> None:
        handler.fill(buffer.get_access(handler, "write", range=32, offset=32), 7)

    reference.submit(set_half).wait()  # in another context, of another backend
    queue.submit(look).wait()
    back = np.zeros(64, "int32")
    target = ffi.from_buffer(back)
    raw.run(native, lambda own: lib.zeCommandListAppendMemoryCopy(own, target, memory, 256, ffi.NULL, 0, ffi.NULL))
    assert np.array_equal(back, np.r_[values[:32], np.full(32, 7)])
    for item in (buffer, queue, reference):
        item.close()
    buffer = item = host = None
    kept.close()
    gc.collect()
    assert raw.is_memory(memory) is (ownership == "keep")
    raw.destroy(native)
    if ownership == "keep":
        assert lib.zeMemFree(raw.context, memory) == 0


def test_a_kept_buffer_ends_after_the_commands_that_use_it(raw: Raw, kept: bl.Context) -> None:
    pool, memory = raw.pool(), raw.memory("shared", 400)
    gate = raw.event(pool)
    queue = bl.Queue(raw.facade, kept)
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", (10, 10), ownership="keep")
    opened = bl.make_event("level_zero", gate, kept, ownership="keep")
    command = command_on(queue, buffer, opened, 5)

    def open_gate() -> None:
        while not buffer.closed:  # the end has begun
            threading.Event().wait(0.001)
        lib.zeEventHostSignal(gate)

    opener = threading.Thread(target=open_gate)
    opener.start()
    buffer.close()
    assert command.status is bl.EventStatus.complete
    opener.join()
    assert raw.is_memory(memory)
    assert bytes(ffi.buffer(memory, 400)) == np.full(100, 5, "int32").tobytes()
    queue.close()
    del opened, command
    raw.destroy(gate, pool)
    assert lib.zeMemFree(raw.context, memory) == 0


def test_a_transferred_buffer_ends_at_once_and_its_memory_after_the_commands(raw: Raw, kept: bl.Context) -> None:
    pool, memory = raw.pool(), raw.memory("device", 400)
    gate = raw.event(pool)
    queue = bl.Queue(raw.facade, kept)
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", (10, 10))
    opened = bl.make_event("level_zero", gate, kept, ownership="keep")
    command = command_on(queue, buffer, opened, 5)
    buffer.close()
    del buffer
    gc.collect()
    assert command.status is not bl.EventStatus.complete and raw.is_memory(memory)
    assert lib.zeEventHostSignal(gate) == 0
    queue.wait()
    gc.collect()
    assert not raw.is_memory(memory)
    queue.close()
    del opened, command
    raw.destroy(gate, pool)


@BOTH
def test_a_buffer_that_is_only_dropped(raw: Raw, kept: bl.Context, ownership: str) -> None:
    memory = raw.memory("shared", 64)
    buffer = bl.make_buffer("level_zero", memory, kept, "float64", ownership=ownership)
    part = buffer.sub_buffer(0, 4)
    del buffer
    assert raw.is_memory(memory) and part.size == 4
    del part
    gc.collect()
    assert raw.is_memory(memory) is (ownership == "keep")
    if ownership == "keep":
        assert lib.zeMemFree(raw.context, memory) == 0


@BOTH
def test_a_buffer_waits_until_its_memory_is_available(raw: Raw, kept: bl.Context, ownership: str) -> None:
    pool, memory = raw.pool(), raw.memory("shared", 16)
    gate = raw.event(pool)
    event = bl.make_event("level_zero", gate, kept, ownership="keep")
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", available_event=event, ownership=ownership)
    queue = bl.Queue(raw.facade, kept)
    found = np.zeros(4, "int32")

    def read(handler: bl.Handler) -> None:
        handler.copy(buffer.get_access(handler, "read"), found)

    command = queue.submit(read)
    assert command.status is not bl.EventStatus.complete
    ffi.buffer(memory, 16)[:] = np.arange(4, dtype="int32").tobytes()
    assert lib.zeEventHostSignal(gate) == 0
    command.wait()
    assert list(found) == [0, 1, 2, 3]
    with buffer.get_host_access("read") as host:
        assert list(host) == [0, 1, 2, 3]
    buffer.close()
    queue.close()
    del event, command
    raw.destroy(gate, pool)
    if ownership == "keep":
        assert lib.zeMemFree(raw.context, memory) == 0


def test_memory_that_is_refused_stays_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    memory = raw.memory("shared", 64)
    address = int(ffi.cast("uintptr_t", memory))
    host = np.zeros(4)
    for error, match, arguments in (
        (bl.InvalidError, None, (host.ctypes.data, kept, "int8")),
        (bl.InvalidError, None, (address + 8, kept, "int8")),
        (bl.InvalidError, "68.*64", (memory, kept, "int32", 17)),
        (bl.InvalidError, None, (memory, kept, "S100")),
        (bl.InvalidError, None, (memory, kept, "int8", (1, 2, 3, 4))),
        (bl.InvalidError, "ze_context_handle_t; it takes a void", (raw.context, kept, "int8")),
        (bl.InvalidError, None, (0, kept, "int8")),
        (bl.BackendMismatchError, None, (memory, bl.Context("reference:*:*"), "int8")),
    ):
        with raises(error, match=match):
            bl.make_buffer("level_zero", *arguments)
    with raises(bl.InvalidError, match="Event"):
        bl.make_buffer("level_zero", memory, kept, "int8", available_event=raw.context)
    buffer = bl.make_buffer("level_zero", memory, kept, "int8")
    with raises(bl.InvalidError):
        bl.make_buffer("level_zero", memory, kept, "int8")
    with raises(bl.FeatureNotSupportedError, match="get_native_mem"):
        bl.get_native(buffer)
    buffer.close()
    own = bl.usm_empty(4, "int32", device, kept)
    with raises(bl.InvalidError):
        bl.make_buffer("level_zero", int(own.pointer), kept, "int8")
    own.close()


@BOTH
def test_memory_of_another_context_is_refused(raw: Raw, ownership: str) -> None:
    """At the call, and not when the buffer is to free it."""
    memory = raw.memory("device", 64)
    other = bl.make_context("level_zero", raw.new_context(), raw.facade)
    with pytest.raises(bl.InvalidError) as refused:
        bl.make_buffer("level_zero", memory, other, "int8", ownership=ownership)
    assert refused.value.code == bl.Errc.invalid
    assert raw.is_memory(memory)
    own = bl.usm_empty(64, "uint8", raw.facade, other)
    kept = bl.make_context("level_zero", raw.context, raw.facade, ownership="keep")
    with pytest.raises(bl.InvalidError):
        bl.make_buffer("level_zero", int(own.pointer), kept, "int8", ownership=ownership)
    own.close()
    bl.make_buffer("level_zero", memory, kept, "int8").close()
    gc.collect()
    assert not raw.is_memory(memory)


def test_the_default_context_borrows_memory_of_others(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what libraries of one process share; it could not free the memory."""
    memory = raw.memory("shared", 64)
    default = bl.Context(raw.facade)
    # Old loaders have no default contexts: there the package makes one of its own.
    monkeypatch.setattr(_context, "_default_of", lambda owner: default._native.handle)
    with pytest.raises(bl.InvalidError):
        bl.make_buffer("level_zero", memory, default, "int8", ownership="transfer")
    with (
        bl.make_buffer("level_zero", memory, default, "int8", ownership="keep") as buffer,
        bl.Queue(raw.facade, default) as queue,
    ):
        queue.submit(lambda handler: fill_all(buffer, 7, handler)).wait()
    assert bytes(ffi.buffer(memory, 64)) == bytes([7]) * 64
    assert lib.zeMemFree(raw.context, memory) == 0


def test_a_buffer_of_a_context_with_several_devices_is_refused(raw: Raw) -> None:
    devices = [found for found in bl.get_devices("level_zero:*:*") if found.platform == raw.facade.platform]
    context = bl.make_context("level_zero", raw.context, devices, ownership="keep")
    memory = raw.memory("shared", 64)
    if len(devices) > 1:
        with raises(bl.InvalidError):
            bl.make_buffer("level_zero", memory, context, "int8")
        alone = bl.make_context("level_zero", raw.context, devices[1], ownership="keep")
        with raises(bl.InvalidError):
            bl.make_buffer("level_zero", memory, alone, "int8")
        del alone
    else:
        bl.make_buffer("level_zero", memory, context, "int8", ownership="keep").close()
    assert lib.zeMemFree(raw.context, memory) == 0


# ---------------------------------------------------------------------- threads, the end


def test_threads_make_and_drop_objects_of_their_own(raw: Raw, kept: bl.Context) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(10):
                ownership = "transfer" if turn % 2 else "keep"
                native, memory = raw.queue(turn % 3 == 0), raw.memory("shared", 4 * 4)
                with bl.make_queue("level_zero", native, kept, ownership=ownership) as queue:
                    buffer = bl.make_buffer("level_zero", memory, kept, "int32", ownership=ownership)
                    queue.submit(partial(fill_all, buffer, number))
                    with buffer.get_host_access("read") as host:
                        assert list(host) == [number] * 4
                    buffer.close()
                buffer = queue = host = None
                if ownership == "keep":
                    raw.destroy(native)
                    assert lib.zeMemFree(raw.context, memory) == 0
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_of_several_threads_one_transfers_a_handle(raw: Raw, kept: bl.Context) -> None:
    native, threads = raw.queue(True), 4
    begin = threading.Barrier(threads)
    made: list[bl.Queue] = []
    refused: list[str] = []

    def transfer() -> None:
        begin.wait()
        try:
            made.append(bl.make_queue("level_zero", native, kept))
        except bl.InvalidError as error:
            refused.append(str(error))

    workers = [threading.Thread(target=transfer) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (len(made), len(refused)) == (1, threads - 1) and all("transferred once" in text for text in refused)
    made.pop().close()


def test_a_context_outlives_those_who_made_it(raw: Raw) -> None:
    native = raw.new_context()
    context = bl.make_context("level_zero", native, raw.facade)
    queue = bl.make_queue("level_zero", raw.queue(True, native), context)
    array = bl.usm_empty(4, "int32", queue, kind="shared")
    buffer = bl.make_buffer("level_zero", raw.memory("shared", 64, native), context, "int8")
    del context
    gc.collect()
    assert raw.is_alive(native)
    queue.fill(array, 1).wait()
    del queue, buffer
    gc.collect()
    assert raw.is_alive(native) and list(array.numpy()) == [1] * 4  # the last of it
    del array
    gc.collect()
    assert not raw.is_alive(native)


def test_the_page_about_native_objects_is_true(device: bl.Device) -> None:
    page = (Path(__file__).parents[2] / "docs" / "interop.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (snippet,) = [text for text in snippets if "level_zero" in text]
    names: dict[str, object] = {}
    exec(compile(snippet, "docs/interop.md", "exec"), names)
    assert np.array_equal(names["result"], np.full(1000, 1.5))
    for native in ("native_context", "native_queue"):
        assert not Raw(device).is_alive(names[native])


def test_other_kinds_are_refused(device: bl.Device) -> None:
    with bl.Queue(device) as queue:
        for wrong in (3, None, bl.usm_empty(1, "int8", queue), bl.Range(3)):
            with raises(bl.InvalidError):
                bl.get_native(wrong)
        with raises(bl.BackendMismatchError, match="level_zero.*cuda"):
            bl.get_native(queue, "cuda")
        with raises(bl.InvalidError, match="backend='metal'"):
            bl.get_native(queue, "metal")
