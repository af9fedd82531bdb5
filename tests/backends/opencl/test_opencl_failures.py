"""Drivers without a device and lost devices, by ``failing_driver.c``; and calls that devices refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import queue as _queue
from bindless.drivers import opencl as driver
from tests.backends.opencl.failing_library import run
from tests.support.error_checks import raises
from tests.support.opencl_devices import settled

pytestmark = pytest.mark.opencl

lib = driver.lib


def test_a_platform_without_a_device(cl: bl.Device, failing: Path) -> None:
    found = run(
        failing,
        """
        library.have_no_device()
        import bindless as bl
        from bindless.cli import main
        found = [len(platform.get_devices()) for platform in bl.get_platforms() if platform.backend == "opencl"]
        print(len(found) > 0, sum(found))
        print(len(bl.get_devices("opencl:*:*")), len(bl.get_devices("reference:*:*")))
        try:
            bl.Queue("opencl:*:*")
        except bl.InvalidError as error:
            print(error)
        main(["doctor"])
        """,
    )
    assert found[:2] == ["True 0", "0 1"]
    assert found[2].startswith("no device fits selector 'opencl:*:*'")
    assert f"{cl.platform.name} of opencl has no device" in found[2]
    assert any(cl.platform.name in line and "no device" in line for line in found[3:]), found


def test_a_device_that_is_lost_in_mid_queue(cl: bl.Device, failing: Path) -> None:
    """Every later call raises the error, each failure once; all objects can be closed, and other devices keep
    working."""
    found = run(
        failing,
        """
        import numpy as np, bindless as bl
        from bindless.drivers import opencl
        lib, ffi = opencl.lib, opencl.ffi
        device = bl.get_devices("opencl:*:*")[INDEX]
        context = bl.Context(device)
        asynchronous = []
        queue = bl.Queue(device, context)
        other = bl.Queue(device, context, async_handler=lambda errors: asynchronous.extend(errors))
        source = b"kernel void twice(global int *data) { data[get_global_id(0)] *= 2; }"
        twice = bl.load_kernel_bundle(source, device, context).get_kernel("twice")
        data = bl.usm_empty(8, "i4", queue).copy_from(np.ones(8, "i4"))
        desc = bl.ImageDescriptor(4, 4, num_channels=4, channel_type="fp32")
        image = bl.ImageMem(desc, queue)
        queue.parallel_for(8, twice, data).wait()
        native = lib.clCreateUserEvent(ffi.cast("cl_context", int(bl.get_native(context))), ffi.NULL)
        gate = bl.make_event("opencl", int(ffi.cast("uintptr_t", native)), context)
        natives = [bl.get_native(work) for work in (queue, other)]
        held = [work.parallel_for(8, twice, data, depends_on=[gate]) for work in (queue, queue, other)]
        print(sum(event.status == "complete" for event in held))
        library.lose(-2)  # CL_DEVICE_NOT_AVAILABLE

        def told(call):
            try:
                call()
            except bl.Error as error:
                errors = error if isinstance(error, bl.ExceptionList) else [error]
                print(*sorted({f"{type(error).__name__} {error.native_name} {error.code}" for error in errors}))
            else:
                print("nothing")

        told(held[0].wait)
        told(queue.wait)  # the second one
        told(lambda: queue.parallel_for(8, twice, data))
        told(lambda: queue.ext_oneapi_copy(np.zeros(desc.shape, "f4"), image).wait())
        told(lambda: bl.ImageMem(desc, queue))
        told(lambda: bl.Queue(device, context))
        told(lambda: bl.load_kernel_bundle(source + b" ", device, context))
        told(other.wait_and_throw)
        print(len(asynchronous), {type(error).__name__ for error in asynchronous})
        with bl.Queue("reference") as reference:
            print(bl.usm_empty(3, "i4", reference).copy_from(np.arange(3, dtype="i4")).numpy().tolist())
        for thing in (queue, other, image):
            told(thing.close)
        library.lose(0)
        lib.clSetUserEventStatus(native, 0)
        for work in natives:  # the commands run after all, on memory that is still there
            lib.clFinish(ffi.cast("cl_command_queue", int(work)))
        del held, data
        """.replace("INDEX", str(bl.get_devices("opencl:*:*").index(cl))),
    )
    lost = "DeviceLostError CL_DEVICE_NOT_AVAILABLE kernel"
    unallocated = "MemoryAllocationError CL_DEVICE_NOT_AVAILABLE memory_allocation"  # for every cause  # R15
    asynchronous = ["nothing", "1 {'DeviceLostError'}"]
    assert found == ["0", *[lost] * 4, unallocated, *[lost] * 2, *asynchronous, "[0, 1, 2]", *["nothing"] * 3]


# ---------------------------------------------------------------------- refusals by a working device

KERNELS = b"""
kernel void twice(global int *data) { data[get_global_id(0)] *= 2; }
kernel void shared(global int *data, local int *scratch) { scratch[0] = 1; data[0] = scratch[0]; }
"""


def _references(context: bl.Context) -> int:
    found = driver.get_info("clGetContextInfo", context._native.handle, lib.CL_CONTEXT_REFERENCE_COUNT)
    return int.from_bytes(found, "little")


def test_images_that_are_refused_leave_nothing_behind(cl: bl.Device) -> None:
    with bl.Context(cl) as context, bl.Queue(cl, context) as queue:
        before = _references(context)
        widest = cl.get_info("image2d_max_width")
        most = cl.get_info("image_max_array_size")
        for error, match, desc in (
            (
                bl.FeatureNotSupportedError,
                r"no images of 3 channels of fp32: use (1 or (2 or )?)?4 of them",
                {"width": 4, "num_channels": 3},
            ),
            (bl.MemoryAllocationError, f"width={widest + 1}.*{widest}", {"width": widest + 1, "height": 2}),
            (bl.MemoryAllocationError, f"{most}", {"width": 4, "type": "array", "array_size": most + 1}),
            (
                bl.FeatureNotSupportedError,
                "_cubemap",
                {"width": 4, "height": 4, "type": "cubemap", "array_size": 6},
            ),
            (bl.FeatureNotSupportedError, "_mipmap", {"width": 4, "type": "mipmap", "num_levels": 2}),
        ):
            with raises(error, match=match):
                bl.ImageMem(bl.ImageDescriptor(**desc), queue)
        desc = bl.ImageDescriptor(4, 4)
        with bl.ImageMem(desc, queue) as image:
            sampler = bl.BindlessImageSampler(("repeat", "clamp_to_edge", "repeat"), "normalized")
            with raises(bl.FeatureNotSupportedError, names="ext_oneapi_unique_addressing_per_dim"):
                bl.create_image(image, desc, queue, sampler=sampler)
        assert settled(lambda: _references(context), before) == before


def test_launches_that_are_refused_leave_nothing_behind(cl: bl.Device) -> None:
    with bl.Context(cl) as context, bl.Queue(cl, context) as queue:
        bundle = bl.load_kernel_bundle(KERNELS, queue)
        twice, shared = bundle.get_kernel("twice"), bundle.get_kernel("shared")
        data = bl.usm_empty(8, "i4", queue).copy_from(np.arange(8, dtype="i4"), queue)
        queue.wait()  # also releases its events, which rusticl counts
        before = _references(context)
        local = cl.get_info("local_mem_size")
        group = cl.get_info("max_work_group_size")
        for error, match, call in (
            (bl.InvalidError, None, lambda: queue.parallel_for(8, twice)),
            (bl.InvalidError, "argument 0", lambda: queue.parallel_for(8, twice, np.int32(1))),
            (bl.InvalidError, "argument 1.*LocalAccessor", lambda: queue.parallel_for(8, shared, data, 4)),
            (
                bl.InvalidError,
                f"{local + 4}.*{local}",
                lambda: queue.parallel_for(bl.NdRange(8, 8), shared, data, bl.LocalAccessor(local + 4)),
            ),
            (bl.InvalidError, f"range.0.={2**70}", lambda: queue.parallel_for(2**70, twice, data)),
            (bl.NdRangeError, f"{2**80}", lambda: queue.parallel_for((2**40, 2**40), twice, data)),
            (bl.NdRangeError, "divide", lambda: queue.parallel_for(bl.NdRange(8, 3), twice, data)),
            (
                bl.NdRangeError,
                None,
                lambda: queue.parallel_for(bl.NdRange(group * 2, group * 2), twice, data),
            ),
        ):
            with raises(error, match=match):
                call()
        with bl.Context(cl) as another, bl.Queue(cl, another) as elsewhere, pytest.raises(bl.InvalidError):
            elsewhere.parallel_for(8, twice, data)
        queue.parallel_for(8, twice, data).wait()  # no argument of the refused launch is left set
        assert data.numpy(queue).tolist() == list(range(0, 16, 2))
        queue.wait()
        assert settled(lambda: _references(context), before) == before


class _Interrupted:
    """The driver's functions; counts the calls of clFinish."""

    def __init__(self) -> None:
        self.finished = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(driver.lib, name)
        if name != "clFinish":
            return found

        def call(queue: Any) -> Any:
            self.finished += 1
            return found(queue)

        return call


@pytest.mark.parametrize("what", ["fill", "kernel"])
def test_an_interrupt_once_the_driver_has_a_command(cl: bl.Device, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """The interrupted call loses the command's event, so it waits for the command before it raises: memory may be freed
    then. Python submits the commands of a queue whose events have times."""
    source = b"kernel void put(global int *out) { out[get_global_id(0)] = 7; }"
    with (
        bl.Context(cl) as context,
        bl.Queue(cl, context, enable_profiling=True) as cl_queue,
        bl.load_kernel_bundle(source, cl_queue) as bundle,
    ):
        kernel, array = bundle.get_kernel("put"), bl.usm_empty(1 << 16, "int32", cl_queue)
        cl_queue.fill(array, np.int32(1)).wait()
        interrupted = _Interrupted()
        monkeypatch.setattr(_queue, "lib", interrupted)

        def note(queue: Any, event: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(_queue.Queue, "note", note)
            with pytest.raises(KeyboardInterrupt):
                if what == "fill":
                    cl_queue.fill(array, np.int32(7))
                else:
                    cl_queue.parallel_for(1 << 16, kernel, array)
        assert interrupted.finished == 1
        assert (array.numpy(cl_queue) == 7).all()
