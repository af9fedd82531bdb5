"""Commands that C code submits: their waits, and the conditions under which Python submits them instead."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.contract.prepared_image_call import ARRAYS
from bindless.backends.opencl import image_functions
from bindless.backends.opencl.event import Event, address_of
from bindless.drivers import opencl as driver
from bindless.model.copy_region import CopyRegion, HostMemory, ImageMemory
from bindless.model.image_call import ImageCall
from tests.backends.opencl.failing_library import run

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi

ADD = b"kernel void add(global int *data, int value, int place) { data[place] += value; }"
COPY = b"""
kernel void copy(read_only image2d_t image, global uint4 *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = read_imageui(image, (int2)(x, y));
}"""
DESC = bl.ImageDescriptor(8, 4, num_channels=4, channel_type="unsigned_int8")


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def queue(request: pytest.FixtureRequest, cl: bl.Device) -> Iterator[bl.Queue]:
    with bl.Context(cl) as context, bl.Queue(cl, context, in_order=request.param) as made:
        yield made


def repeat(work: Callable[[], bl.Event]) -> bl.Event:
    for _ in range(4):
        event = work()
        event.wait()
    return event


class Gate:
    """An event that the test completes."""

    def __init__(self, context: bl.Context) -> None:
        self._native = lib.clCreateUserEvent(ffi.cast("cl_context", int(bl.get_native(context))), ffi.NULL)
        self.event = bl.make_event("opencl", address_of(self._native), context)

    def open(self) -> None:
        lib.clSetUserEventStatus(self._native, 0)
        lib.clReleaseEvent(self._native)


def pixels(seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 256, DESC.shape, "u1")


def image_of(queue: bl.Queue, values: Any) -> bl.ImageMem:
    image = bl.ImageMem(DESC, queue)
    queue.ext_oneapi_copy(values, image).wait()
    return image


def python_calls(monkeypatch: pytest.MonkeyPatch, queue: bl.Queue) -> list[str]:
    """Names of the back end's methods that Python calls from now on."""
    called: list[str] = []
    backend = queue._backend

    def counted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            called.append(name)
            return method(*arguments)

        return call

    for name in ("launch", "copy_image", "image_call"):
        monkeypatch.setattr(backend, name, counted(name, getattr(backend, name)), raising=False)
    return called


# ---------------------------------------------------------------------- waits


@pytest.mark.parametrize("count", [1, 3, 8, 9])
def test_copies_wait_for_events(queue: bl.Queue, count: int) -> None:
    """Eight events go to the driver at once; more are submitted by Python."""
    source, target = pixels(1), np.zeros(DESC.shape, "u1")
    with bl.ImageMem(DESC, queue) as image:
        repeat(lambda: queue.ext_oneapi_copy(source, image))
        gates = [Gate(queue.context) for _ in range(count)]
        source[:] = pixels(2)
        late = queue.ext_oneapi_copy(source, image, depends_on=[gate.event for gate in gates])
        assert late.status is not bl.EventStatus.complete
        assert late.get_wait_list() == tuple(gate.event for gate in gates)
        for gate in gates:
            gate.open()
        queue.ext_oneapi_copy(image, target, depends_on=late).wait()
        assert np.array_equal(target, source)


def test_launches_wait_for_a_chain_of_copies_and_launches(queue: bl.Queue) -> None:
    data, host = bl.usm_empty(4, "i4", queue), np.zeros(4, "i4")
    queue.memset(data, 0).wait()
    kernel = bl.load_kernel_bundle(ADD, queue).get_kernel("add")
    repeat(lambda: queue.parallel_for(1, kernel, data, 1, 0))
    gate = Gate(queue.context)
    event = gate.event
    for number in range(100):
        event = queue.parallel_for(1, kernel, data, number, 1, depends_on=event)
    assert event.status is not bl.EventStatus.complete
    last = queue.memcpy(host, data, 16, depends_on=event)
    gate.open()
    last.wait()
    assert host.tolist() == [4, sum(range(100)), 0, 0]


def test_an_event_of_another_context_is_awaited_by_the_host(cl: bl.Device, queue: bl.Queue) -> None:
    data = bl.usm_empty(4, "i4", queue)
    queue.memset(data, 0).wait()
    kernel = bl.load_kernel_bundle(ADD, queue).get_kernel("add")
    repeat(lambda: queue.parallel_for(1, kernel, data, 1, 0))
    with bl.Context(cl) as context, bl.Queue(cl, context) as other:
        gate, there = Gate(context), bl.usm_empty(4, "i4", other)
        early = other.memset(there, 0, depends_on=gate.event)
        late = queue.parallel_for(1, kernel, data, 10, 0, depends_on=early)
        assert late.status is not bl.EventStatus.complete
        gate.open()
        late.wait()
        assert early.status is bl.EventStatus.complete
        assert data.numpy()[0] == 14
        there.close()


# ---------------------------------------------------------------------- driver objects among the arguments


def test_images_are_found_again_without_python(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several images take turns; memory that comes and goes, and a destroyed image, change nothing for the others."""
    kernel = bl.load_kernel_bundle(COPY, queue).get_kernel("copy")
    images = [image_of(queue, pixels(seed)) for seed in range(4)]
    handles = [bl.create_image(image, DESC, queue) for image in images]
    out = bl.usm_empty((4, 8, 4), "u4", queue)
    called = python_calls(monkeypatch, queue)
    for number in range(60):
        seed = number % 4
        queue.parallel_for((4, 8), kernel, handles[seed], out).wait()
        assert np.array_equal(out.numpy(), pixels(seed))
        if number == 20:
            assert "launch" in called
            called.clear()
        if number == 30:
            assert "launch" not in called
            bl.destroy_image_handle(handles[3], queue)
            handles[3] = bl.create_image(images[3], DESC, queue)
            called.clear()
        if number == 50:
            assert called.count("launch") <= 4  # each image once more


def test_a_destroyed_image_is_refused(queue: bl.Queue) -> None:
    kernel = bl.load_kernel_bundle(COPY, queue).get_kernel("copy")
    image = bl.ImageMem(DESC, queue)
    handle, out = bl.create_image(image, DESC, queue), bl.usm_empty((4, 8, 4), "u4", queue)
    repeat(lambda: queue.parallel_for((4, 8), kernel, handle, out))
    bl.destroy_image_handle(handle, queue)
    with pytest.raises(bl.InvalidError):
        queue.parallel_for((4, 8), kernel, handle, out)


def test_the_list_of_shared_memory_is_that_of_each_launch(means: str, cl: bl.Device) -> None:
    """Memory is allocated and freed between launches, each of which lists what there is."""
    with bl.Context(cl) as context, bl.Queue(cl, context, in_order=True) as queue:
        kernel = bl.load_kernel_bundle(ADD, queue).get_kernel("add")
        data = bl.usm_empty(4, "i4", queue)
        queue.memset(data, 0).wait()
        state = context._native.state
        before = int(state.count)
        for number in range(40):
            other = bl.usm_empty(1000 + number, "i4", queue)
            queue.parallel_for(1, kernel, data, number, 0)
            assert int(state.count) == before + (means.endswith("svm"))
            queue.wait()
            other.close()
            queue.parallel_for(1, kernel, data, number, 1)
        queue.wait()
        host = np.zeros(4, "i4")
        queue.memcpy(host, data, 16).wait()
        assert host.tolist() == [sum(range(40))] * 2 + [0, 0]
        data.close()


# ---------------------------------------------------------------------- copies


def test_images_of_other_programs_take_no_other_s_place(queue: bl.Queue) -> None:
    """Their raw handles are no addresses: copies of own images are not repeated with them."""
    context = ffi.cast("cl_context", int(bl.get_native(queue.context)))
    source = pixels(1)
    with bl.ImageMem(DESC, queue) as own:
        repeat(lambda: queue.ext_oneapi_copy(source, own))
        native_desc, form = (
            ffi.new("cl_image_desc *"),
            ffi.new("cl_image_format *", (lib.CL_RGBA, lib.CL_UNSIGNED_INT8)),
        )
        native_desc.image_type, native_desc.image_width, native_desc.image_height = lib.CL_MEM_OBJECT_IMAGE2D, 8, 4
        native = lib.clCreateImage(context, lib.CL_MEM_READ_WRITE, form, native_desc, ffi.NULL, ffi.NULL)
        raw, desc = queue._backend.adopt_image(
            queue.context._native, queue.device._record.native, bl.NativeHandle(address_of(native), "cl_mem"), False
        )

        def region(handle: int) -> CopyRegion:
            host = HostMemory(source.ctypes.data, DESC.extent, 4, source.nbytes)
            return CopyRegion(host, ImageMemory(handle, DESC), DESC.extent)

        fixed = queue._backend.prepare_copy(queue._native, region(raw))
        assert fixed is not None and fixed.places[1] == ()
        mine = queue._backend.prepare_copy(queue._native, region(own._resource.number))
        assert mine is not None
        (place,) = mine.places[1]
        ctypes.c_uint64.from_address(place).value = raw
        submit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        assert submit(mine.command.submit)(mine.command.descriptions[0]) == lib.BINDLESS_IN_PYTHON
        queue._backend.free_image(queue.context._native, raw, desc)
        lib.clReleaseMemObject(native)


# ---------------------------------------------------------------------- device functions


def test_prepared_device_functions(queue: bl.Queue) -> None:
    """The same call with other arrays, by C alone, has numpy's result."""
    source = pixels(3)
    image = image_of(queue, source)
    handle = bl.create_image(image, DESC, queue)
    places = np.random.default_rng(4).integers(0, 4, (50, 2)).astype("i4")
    coords = [bl.usm_empty((50, 2), "i4", queue).copy_from(places if number else 0 * places) for number in range(2)]
    values = [bl.usm_empty((50, 4), "u1", queue) for _ in range(2)]
    call = ImageCall(
        "fetch", handle.raw_handle, False, DESC, 50, coords[0].pointer.address, values[0].pointer.address,
        np.dtype("u1"), 4,
    )  # fmt: skip
    native = queue._native
    command = image_functions.prepare_image_call(native, call)
    assert command is not None
    assert [place is None for place in command.places] == [name not in ("coords", "values") for name in ARRAYS]
    submit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(command.submit)
    assert submit(command.descriptions[0]) == 0
    Event(ctypes.c_uint64.from_address(native.last_event).value, native).wait()
    assert (values[0].numpy() == source[0, 0]).all()
    for name, array in (("coords", coords[1]), ("values", values[1])):
        place = command.places[ARRAYS.index(name)]
        assert place is not None
        ctypes.c_uint64.from_address(place).value = array.pointer.address
    assert submit(command.descriptions[0]) == 0
    Event(ctypes.c_uint64.from_address(native.last_event).value, native).wait()
    assert np.array_equal(values[1].numpy(), source[places[:, 1], places[:, 0]])
    bl.destroy_image_handle(handle, queue)
    assert submit(command.descriptions[0]) == lib.BINDLESS_IN_PYTHON  # which refuses it


# ---------------------------------------------------------------------- failures


@pytest.mark.parametrize("command", ["launch", "copy", "fetch"])
def test_a_failure_at_each_driver_call(cl: bl.Device, failing: Any, command: str) -> None:
    """Each driver call of a command fails once, at first submissions and at repeated ones: the error is raised at
    submission, nothing was submitted, and the same call then succeeds."""
    found = run(
        failing,
        f"""
        import numpy as np
        import bindless as bl
        device = bl.get_devices("opencl:*:*")[{bl.get_devices("opencl:*:*").index(cl)}]
        queue = bl.Queue(device, in_order=True)
        kernel = bl.load_kernel_bundle({ADD!r}, queue).get_kernel("add")
        data, expected = bl.usm_empty(4, "i4", queue), 0
        queue.memset(data, 0).wait()
        desc = bl.ImageDescriptor(4, 4, num_channels=4, channel_type="fp32")
        image = bl.ImageMem(desc, queue)
        handle = bl.create_image(image, desc, queue)
        coords = bl.usm_empty((9, 2), "i4", queue).copy_from(np.full((9, 2), 3, "i4"))
        values, pixels = bl.usm_empty((9, 4), "f4", queue), np.zeros((4, 4, 4), "f4")
        back = np.zeros_like(pixels)
        queue.ext_oneapi_copy(pixels, image).wait()

        def submit(number):
            if {command!r} == "launch":
                return queue.parallel_for(1, kernel, data, number, 0)
            if {command!r} == "copy":
                pixels[:] = number
                return queue.ext_oneapi_copy(pixels, image)
            return bl.fetch_image(queue, handle, coords, out=values)

        failures = 0
        for round in range(3):
            call = 0
            while True:
                call += 1
                library.fail_call(call, -5)  # CL_OUT_OF_RESOURCES
                try:
                    submit(100).wait()
                    expected += 100
                except bl.Error as error:
                    assert error.native_name == "CL_OUT_OF_RESOURCES", error
                    failures += 1
                done = library.calls_until_failure() > 0
                library.fail_call(0, 0)
                submit(call).wait()
                expected += call
                if done:
                    break
                other = bl.usm_empty(100, "i4", queue)  # kernels list and set their memory again
                other.close()
        queue.wait()
        if {command!r} == "launch":
            assert data.numpy()[0] == expected
        elif {command!r} == "copy":
            queue.ext_oneapi_copy(image, back).wait()
            assert (back == call).all()
        else:
            assert (values.numpy() == pixels[3, 3]).all()
        print(failures >= 3)
        """,
    )
    assert found == ["True"]


def test_events_end_with_their_last_reference(queue: bl.Queue) -> None:
    """The queue keeps none of a completed command, and an event keeps its own."""
    data = bl.usm_empty(4, "i4", queue)
    kernel = bl.load_kernel_bundle(ADD, queue).get_kernel("add")
    repeat(lambda: queue.parallel_for(1, kernel, data, 1, 0))
    event = queue.parallel_for(1, kernel, data, 1, 0)
    handle = ffi.cast("cl_event", int(bl.get_native(event)[0]))
    lib.clRetainEvent(handle)
    queue.wait()
    slot = ffi.new("cl_uint *")

    def references() -> int:
        assert lib.clGetEventInfo(handle, lib.CL_EVENT_REFERENCE_COUNT, 4, slot, ffi.NULL) == 0
        return int(slot[0])

    held = references()
    del event
    repeat(lambda: queue.parallel_for(1, kernel, data, 1, 0))  # the queue's own record of it goes
    gc.collect()
    assert held > 1 and references() == 1
    lib.clReleaseEvent(handle)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no fork")
def test_the_child_of_a_fork_releases_no_events(cl: bl.Device, failing: Any) -> None:
    """Neither those of commands by Python, nor those of repeated commands."""
    found = run(
        failing,
        f"""
        import gc, os
        import bindless as bl
        device = bl.get_devices("opencl:*:*")[{bl.get_devices("opencl:*:*").index(cl)}]
        queue = bl.Queue(device, in_order=True)
        kernel = bl.load_kernel_bundle({ADD!r}, queue).get_kernel("add")
        data = bl.usm_empty(4, "i4", queue)
        events = [queue.memset(data, 0) for _ in range(5)]
        events += [queue.parallel_for(1, kernel, data, 1, 0) for _ in range(20)]
        queue.wait()
        before = library.event_releases()
        child = os.fork()
        if child == 0:
            del events
            gc.collect()
            os.write(1, b"%d in the child\\n" % (library.event_releases() - before))
            os._exit(0)
        os.waitpid(child, 0)
        del events
        gc.collect()
        print(library.event_releases() - before >= 24)  # the queue still has the last one
        """,
    )
    assert found == ["0 in the child", "True"]
