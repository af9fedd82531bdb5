"""Discovery, failures after submission, references, and several backends in one program."""

from __future__ import annotations

import contextlib
import gc
import os
import queue as queues
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import opencl
from bindless.backends.opencl import memory, polling
from bindless.backends.opencl.context import Context
from bindless.backends.opencl.event import Event, address_of
from bindless.backends.opencl.queue import Queue
from bindless.drivers import opencl as driver
from bindless.model.enums import UsmKind
from tests.support.error_checks import raises

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi

DOUBLE = b"kernel void twice(global int *data) { data[get_global_id(0)] *= 2; }"
ADVANCE = b"kernel void advance(global int *a, int b) { size_t i = get_global_id(0); a[i] = a[i] * 2 + b; }"


# ---------------------------------------------------------------------- discovery


def test_types_and_the_default(cl: bl.Device) -> None:
    flags = int.from_bytes(driver.get_info("clGetDeviceInfo", cl._record.native.handle, lib.CL_DEVICE_TYPE), "little")
    assert bool(flags & lib.CL_DEVICE_TYPE_GPU) == cl.is_gpu()
    if cl.type == "cpu":
        assert bl.Device().backend != "opencl" or bl.Device().type != "cpu"
        assert bl.Device("cpu").backend == "reference"
    assert cl in bl.get_devices("opencl:*:*")


def test_aspects_are_what_the_driver_says(cl: bl.Device) -> None:
    native = cl._record.native
    for aspect, extension in (("fp16", "cl_khr_fp16"), ("fp64", "cl_khr_fp64")):
        assert cl.has(aspect) == (extension in native.extensions)
    for absent in ("mipmap", "cubemap", "unique_addressing_per_dim"):
        assert not cl.has(f"ext_oneapi_{absent}")
    if cl.has("ext_oneapi_external_memory_import"):
        assert "cl_khr_external_memory" in native.extensions
    for kind in ("host", "shared"):
        asked = f"CL_DEVICE_{'HOST' if kind == 'host' else 'SINGLE_DEVICE_SHARED'}_MEM_CAPABILITIES_INTEL"
        fine = native.svm & lib.CL_DEVICE_SVM_FINE_GRAIN_BUFFER
        there = native.number(getattr(lib, asked)) & 1 if native.has_usm else fine
        assert cl.has(f"usm_{kind}_allocations") == bool(there)


def test_parts_of_a_device(cl: bl.Device) -> None:
    if "partition_equally" not in cl.get_info("partition_properties") or cl.get_info("max_compute_units") < 2:
        pytest.skip("the driver does not divide this device")
    parts = cl.create_sub_devices("partition_equally", 1)
    assert len(parts) >= 2 and all(part.parent == cl for part in parts)
    assert parts == cl.create_sub_devices("partition_equally", 1)
    with bl.Context(list(parts[:2])) as context:
        bundle = bl.load_kernel_bundle(DOUBLE, context)
        for part in parts[:2]:
            with bl.Queue(part, context) as queue:
                data = bl.usm_empty(8, "i4", queue).copy_from(np.arange(8, dtype="i4"))
                queue.parallel_for(8, bundle.get_kernel("twice", part), data).wait()
                assert data.numpy().tolist() == list(range(0, 16, 2))
        bundle.close()


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    chosen = ("BINDLESS_LIBOPENCL", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")
    kept = {key: value for key, value in os.environ.items() if key not in chosen}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**kept, **environment},
    )


LISTED = """
    import bindless as bl
    try:
        print([device.platform.name for device in bl.get_devices("opencl:*:*")])
    except bl.Error as error:
        print(type(error).__name__, error)
    print(len(bl.get_devices("reference:*:*")))
"""

NAMED = """
    import bindless as bl
    for call in (lambda: bl.Queue("opencl:*"), lambda: bl.make_context("opencl", 4096)):
        try:
            call()
        except bl.Error as error:
            print(type(error).__name__, error)
"""


def test_no_library_at_the_path(tmp_path: Path) -> None:
    done = run(LISTED, BINDLESS_LIBOPENCL=str(tmp_path / "none.so"))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1"), done.stderr
    doctor = run("from bindless.cli import main; main(['doctor'])", BINDLESS_LIBOPENCL=str(tmp_path / "none.so"))
    assert "none.so" in doctor.stdout and "BINDLESS_LIBOPENCL" in doctor.stdout


@pytest.mark.parametrize("broken", ["", "/no/such/library.so\n", "no text \x01\x02", "libm.so.6\n"])
def test_no_driver_and_a_broken_one(tmp_path: Path, broken: str) -> None:
    """The loader exists; its list of drivers is empty or names an invalid one."""
    if not Path("/etc/OpenCL").exists():
        pytest.skip("needs a system with ocl-icd: apt install ocl-icd-libopencl1")
    if broken:
        (tmp_path / "broken.icd").write_text(broken)
    done = run(LISTED, OCL_ICD_VENDORS=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["[]", "1"], done.stdout
    asked = run(NAMED, OCL_ICD_VENDORS=str(tmp_path)).stdout.splitlines()
    assert asked[0].startswith("InvalidError") and "opencl is missing: CL_PLATFORM_NOT_FOUND_KHR" in asked[0], asked
    assert asked[1].startswith("PlatformError CL_PLATFORM_NOT_FOUND_KHR") and str(tmp_path) in asked[1], asked
    doctor = run("from bindless.cli import main; main(['doctor'])", OCL_ICD_VENDORS=str(tmp_path)).stdout
    assert f"OCL_ICD_VENDORS: {tmp_path}" in doctor and "opencl: library found" in doctor
    if not broken:
        assert "none is listed" in doctor
        return
    assert "fix: install the driver" in doctor
    if broken.startswith("/"):
        assert "broken.icd: /no/such/library.so: no such file" in doctor
    elif broken.startswith("lib"):
        assert "broken.icd: libm.so.6: no OpenCL driver" in doctor
    else:
        assert "broken.icd: 'no text \\x01\\x02': cannot be loaded" in doctor


# ---------------------------------------------------------------------- failures after submission


@pytest.fixture
def native(cl: bl.Device) -> Any:
    context = Context([cl._record.native])
    queue = Queue(context, cl._record.native, False, False)
    yield context, queue
    queue.close()
    for base in tuple(context.allocations):
        memory.free(context, base)
    context.close()


def user_event(context: Context) -> Any:
    """An event that is completed by the test."""
    slot = ffi.new("cl_int *")
    made = lib.clCreateUserEvent(context.handle, slot)
    driver.check(slot[0], "clCreateUserEvent")
    return made


def test_failures_reach_their_events_and_the_queue(native: Any) -> None:
    """Drivers differ in running commands after a failed dependency: Intel's driver runs them."""
    context, queue = native
    asked, unasked, other = (queue.note(user_event(context)) for _ in range(3))
    assert not queue.is_idle() and asked.status() == "submitted"
    lib.clSetUserEventStatus(asked.handle, lib.CL_OUT_OF_RESOURCES)
    with raises(bl.SyclRuntimeError, names="CL_OUT_OF_RESOURCES") as caught:
        asked.wait()
    assert (caught.value.native_code, caught.value.native_name) == (lib.CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES")
    lib.clSetUserEventStatus(other.handle, lib.CL_COMPLETE)
    lib.clSetUserEventStatus(unasked.handle, lib.CL_DEVICE_NOT_AVAILABLE)
    del unasked
    gc.collect()
    with raises(bl.DeviceLostError, names="CL_DEVICE_NOT_AVAILABLE"):
        queue.wait()
    queue.wait()  # each error is reported once
    first, second = (queue.note(user_event(context)) for _ in range(2))
    for event in (first, second):
        lib.clSetUserEventStatus(event.handle, lib.CL_OUT_OF_RESOURCES)
    with pytest.raises(bl.ExceptionList) as several:
        queue.wait()
    assert len(several.value) == 2


def test_a_wait_without_another_thread(native: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no more threads, the main thread waits by itself."""
    context, queue = native
    event = queue.note(user_event(context))
    monkeypatch.setattr(polling, "_idle", queues.SimpleQueue())
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            lib.clSetUserEventStatus(event.handle, lib.CL_COMPLETE)

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(polling.time, "sleep", pause)
    event.wait()
    assert len(pauses) == 3 and event.status() == "complete"


def test_gates_hold_commands_back(native: Any) -> None:
    context, queue = native
    address = memory.allocate(context, None, UsmKind.device, 64)
    memory.fill(queue, address, b"\0", 64).wait()
    first = Event(address_of(user_event(context)))
    later = memory.fill(queue, address, b"\7", 64, [first])
    barrier = queue.barrier()
    out = np.full(64, 9, "uint8")
    copied = memory.copy(queue, out.ctypes.data, address, 64)  # after the barrier
    assert not queue.is_idle() and (out == 9).all()
    assert {later.status(), barrier.status(), copied.status()} == {bl.EventStatus.submitted}
    lib.clSetUserEventStatus(first.handle, lib.CL_COMPLETE)
    copied.wait()
    assert (out == 7).all() and later.status() == barrier.status() == "complete"


# ---------------------------------------------------------------------- references


def references(handle: Any) -> int:
    return int.from_bytes(driver.get_info("clGetContextInfo", handle, lib.CL_CONTEXT_REFERENCE_COUNT), "little")


def test_everything_gives_its_references_back(cl: bl.Device) -> None:
    """Every object of a context holds a reference to it: at the end only the test's is left."""
    context = bl.Context(cl)
    handle = context._native.handle
    lib.clRetainContext(handle)
    with bl.Queue(cl, context) as queue:
        desc = bl.ImageDescriptor(8, 8, num_channels=4, channel_type="fp32")
        kept = bl.ImageMem(desc, queue)
        sampled = bl.create_image(kept, desc, queue, sampler=bl.BindlessImageSampler("repeat", "normalized", "linear"))
        queue.ext_oneapi_copy(np.ones(desc.shape, "f4"), kept).wait()
        bundle = bl.load_kernel_bundle(DOUBLE, queue)
        data = bl.usm_empty(8, "i4", queue).copy_from(np.arange(8, dtype="i4"))
        events = [queue.parallel_for(8, bundle.get_kernel("twice"), data) for _ in range(20)]
        queue.wait()
        with pytest.raises(bl.BuildError):
            bl.load_kernel_bundle(b"broken", queue)
        bl.destroy_image_handle(sampled, queue)
        bundle.close()
        kept.close()
        bl.free(data, queue)
    context.close()
    del events, data, kept, bundle, queue, sampled, context
    gc.collect()
    assert references(handle) == 1
    lib.clReleaseContext(handle)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_queue_that_is_idle_lets_go_of_its_events(cl: bl.Device, ordered: bool) -> None:
    """Intel's runtime keeps megabytes of kernel code with the event of each launch."""
    with bl.Context(cl) as context, bl.Queue(cl, context, in_order=ordered) as queue:
        data = bl.usm_empty(8, "i4", queue)
        handles = []
        for value in range(100):
            event = queue.fill(data, value)
            event.wait()
            handles += bl.get_native(event)
        del event
        gc.collect()
        held = sum(opencl.get_reference_count(handle) > 1 for handle in handles)
        assert held <= 20, held
        data.close()


# ---------------------------------------------------------------------- one program, several backends


def test_one_buffer_goes_round_the_backends(cl: bl.Device) -> None:
    """Three command groups on OpenCL, the reference, and CUDA if present, ordered by the buffer alone."""
    data = np.arange(64, dtype="i4")
    with bl.Queue(cl) as first, bl.Queue("reference:*:*") as second:
        others = bl.get_devices("cuda:*:*") if "cuda" in {device.backend for device in bl.get_devices()} else ()
        with bl.Buffer(data) as buffer, bl.Queue(others[0] if others else cl) as third:
            kernel = bl.load_kernel_bundle(DOUBLE, first).get_kernel("twice")

            def on_opencl(handler: bl.Handler) -> None:
                handler.parallel_for(64, kernel, buffer.get_access(handler))

            def on_reference(handler: bl.Handler) -> None:
                handler.fill(buffer.get_access(handler, "write", range=8, offset=8), 5)

            def on_third(handler: bl.Handler) -> None:
                handler.fill(buffer.get_access(handler, "write", range=4, offset=10), 6)

            for _ in range(3):
                first.submit(on_opencl)
                second.submit(on_reference)
                third.submit(on_third)
            expected = np.arange(64, dtype="i4")
            for _ in range(3):
                expected *= 2
                expected[8:16] = 5
                expected[10:14] = 6
            with buffer.get_host_access("read") as found:
                assert np.array_equal(np.asarray(found), expected)


def test_one_buffer_goes_round_the_platforms() -> None:
    """Alternate a kernel on every OpenCL device, of any driver, and a fill on the reference."""
    devices = bl.get_devices("opencl:*:*")
    with contextlib.ExitStack() as stack:
        queues = [stack.enter_context(bl.Queue(device)) for device in devices]
        last = stack.enter_context(bl.Queue("reference:*:*"))
        buffer = stack.enter_context(bl.Buffer(np.arange(64, dtype="i4")))
        kernels = [bl.load_kernel_bundle(ADVANCE, queue).get_kernel("advance") for queue in queues]
        expected = np.arange(64, dtype="i4")
        for turn in range(3):
            for number, (queue, kernel) in enumerate(zip(queues, kernels)):
                step = 10 * turn + number
                queue.submit(lambda h, k=kernel, s=step: h.parallel_for(64, k, buffer.get_access(h), s))
                expected = expected * 2 + step
            last.submit(lambda h: h.fill(buffer.get_access(h, "write", range=8, offset=8), 5))
            expected[8:16] = 5
        with buffer.get_host_access("read") as found:
            assert np.array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_arrays_of_as_many_channels_as_they_like(cl: bl.Device, channels: int, dtype: str) -> None:
    """The device's images have this many channels or more; the caller sees only the array's."""
    pixels = np.random.default_rng(channels).integers(0, 255, (9, 7, channels)).astype(dtype)
    with bl.Queue(cl) as queue, bl.Image(pixels, queue=queue) as image:
        assert image.num_channels == channels <= image.descriptor.num_channels
        assert np.array_equal(image.numpy(), pixels)
        fetched = image.fetch(np.int32([[2, 3], [6, 8]]))
        assert np.allclose(fetched, pixels[[3, 8], [2, 6]] / (255 if dtype == "u1" else 1), rtol=1e-6, atol=0)
        whole = image.warp(np.eye(3), (9, 7))
        assert whole.dtype == pixels.dtype and np.array_equal(whole, pixels)
