"""Objects exchanged with PyOpenCL in both directions.

Its wheel bundles its own loader. Both loaders find the same drivers and see the same objects.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import opencl
from bindless.backends.opencl import deferred_free
from tests.support.opencl_devices import parametrize_devices, require_device, settled

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.pyopencl,
    pytest.mark.filterwarnings("ignore:Non-empty compiler output"),  # of a successful build
]

SCALE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_devices(metafunc)


@pytest.fixture(scope="module")
def pyopencl() -> Iterator[Any]:
    """PyOpenCL; its loader receives the path of a driver that ours found by a path."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of its import and of compilers
        patch.setenv("PYOPENCL_NO_CACHE", "1")
        if "OCL_ICD_VENDORS" not in os.environ and "libOpenCL" not in os.environ.get("BINDLESS_LIBOPENCL", "libOpenCL"):
            patch.setenv("OCL_ICD_VENDORS", os.environ["BINDLESS_LIBOPENCL"])
        import pyopencl

        pyopencl.get_platforms()
        yield pyopencl


@pytest.fixture
def theirs(cl: bl.Device | None, pyopencl: Any) -> Any:
    """PyOpenCL's device of the same driver."""
    device = require_device(cl)
    platforms = {platform.int_ptr for platform in pyopencl.get_platforms()}
    assert int(bl.get_native(device.platform)) in platforms, "the two loaders find different drivers"
    return pyopencl.Device.from_int_ptr(bl.get_native(device))


def counts(objects: list[Any]) -> list[int]:
    gc.collect()
    return [opencl.get_reference_count(found) for found in objects]


def test_their_objects_become_ours(cl: bl.Device, pyopencl: Any, theirs: Any) -> None:
    assert bl.make_platform("opencl", theirs.platform) == cl.platform
    assert bl.make_device("opencl", theirs.int_ptr) == bl.make_device("opencl", theirs) == cl
    native = pyopencl.Context([theirs])
    start = np.arange(16, dtype=np.float32)
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    memory = pyopencl.Buffer(native, flags, hostbuf=start)
    program = pyopencl.Program(native, SCALE).build(options=["-cl-kernel-arg-info"])
    kernel = pyopencl.Kernel(program, "scale")
    command_queue = pyopencl.CommandQueue(native)
    before = counts([memory, kernel])
    held = [cl.platform.name == "rusticl", 0]  # a kernel retains its argument, contrary to OpenCL

    context = bl.make_context("opencl", native)
    queue = bl.make_queue("opencl", command_queue.int_ptr, context)
    buffer = bl.make_buffer("opencl", memory, context, "float32")
    scale = bl.make_kernel("opencl", kernel, context)
    bundle = bl.make_kernel_bundle("opencl", program, context)
    assert counts([memory, kernel]) == [count + 1 for count in before]
    for found in (scale, bundle.get_kernel("scale")):
        access = buffer.get_access(None, "read_write")

        def group(handler: bl.Handler, found: bl.Kernel = found, access: bl.Accessor = access) -> None:
            handler.require(access)
            handler.parallel_for(16, found, access, np.float32(3))

        queue.submit(group).wait()
    kernel.set_args(memory, np.float32(2))
    queue.parallel_for(16, scale).wait()
    event = bl.make_event("opencl", pyopencl.enqueue_marker(command_queue), context)
    event.wait()
    buffer.close()
    out = np.empty_like(start)
    pyopencl.enqueue_copy(command_queue, out, memory)  # on their queue, after our queue was done with the buffer
    assert np.array_equal(out, start * 18)
    bundle.close()
    queue.close()
    del scale, found, bundle, queue, buffer, access, event, group
    context.close()
    del context
    after = [sum(pair) for pair in zip(before, held)]
    assert settled(lambda: counts([memory, kernel]), after) == after


def test_our_objects_become_theirs(cl: bl.Device, pyopencl: Any, theirs: Any) -> None:
    context = bl.Context(cl)
    queue = bl.Queue(cl, context, in_order=True)
    bundle = bl.load_kernel_bundle(SCALE.encode(), queue)
    buffer = bl.Buffer(np.arange(8, dtype=np.float32))
    scale = bundle.get_kernel("scale")
    access = buffer.get_access(None, "read_write")

    def group(handler: bl.Handler, scale: bl.Kernel = scale, access: bl.Accessor = access) -> None:
        handler.require(access)
        handler.parallel_for(8, scale, access, np.float32(2))

    event = queue.submit(group)
    waited = pyopencl.Event.from_int_ptr(bl.get_native(event)[0])
    native = pyopencl.Context.from_int_ptr(bl.get_native(context))
    assert native.devices == [theirs]
    command_queue = pyopencl.CommandQueue.from_int_ptr(bl.get_native(queue))
    assert command_queue.context == native and command_queue.device == theirs
    waited.wait()
    (handle,) = bl.get_native(buffer)
    memory = pyopencl.Buffer.from_int_ptr(handle)
    before = opencl.get_reference_count(handle)
    out = np.empty(8, np.float32)
    pyopencl.enqueue_copy(command_queue, out, memory)
    assert np.array_equal(out, np.arange(8, dtype=np.float32) * 2)
    program = pyopencl.Program.from_int_ptr(bl.get_native(bundle)[0])
    kernel = pyopencl.Kernel.from_int_ptr(bl.get_native(scale))
    assert kernel.function_name == "scale" and kernel.context == native
    if cl.platform.name.startswith("NVIDIA"):  # takes no buffer where ours was an address (opencl/test_driver_faults)
        kernel = pyopencl.Kernel(program, "scale")
    kernel.set_args(memory, np.float32(5))
    pyopencl.enqueue_nd_range_kernel(command_queue, kernel, (8,), None).wait()
    assert [found.function_name for found in program.all_kernels()] == ["scale"]
    # Release our references; theirs keep the objects alive.
    del handle, event
    buffer.close()
    bundle.close()
    queue.close()
    context.close()
    del scale, bundle, buffer, queue, context, access, group
    gc.collect()
    pyopencl.enqueue_copy(command_queue, out, memory)
    assert np.array_equal(out, np.arange(8, dtype=np.float32) * 10)
    count = functools.partial(opencl.get_reference_count, memory)
    assert settled(lambda count=count: count() <= before, True)
    # Memory that they view is freed after their last reference, at the next check.
    del memory, kernel, count
    gc.collect()
    with bl.Queue(cl) as other:
        bl.usm_empty(1, "int32", other).close()
    assert not deferred_free._waiting


def test_their_images_and_events_that_come_late(cl: bl.Device, pyopencl: Any, theirs: Any) -> None:
    native = pyopencl.Context([theirs])
    pixels = np.arange(4 * 5 * 4, dtype=np.float32).reshape(4, 5, 4)
    image = pyopencl.image_from_array(native, pixels, 4)
    gate = pyopencl.UserEvent(native)
    context = bl.make_context("opencl", native)
    queue = bl.Queue(cl, context)
    available = bl.make_event("opencl", [gate], context)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    sampled = bl.make_sampled_image("opencl", image, context, sampler, available_event=available)
    bundle = bl.load_kernel_bundle(
        b"""kernel void between(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler,
                             global float4 *out)
{
    float2 at = (float2)(get_global_id(0) + 1, get_global_id(1) + 0.5f);
    out[get_global_id(0) + get_global_size(0) * get_global_id(1)] =
        read_imagef(image__bindless_image, image__bindless_sampler, at);
}""",
        queue,
    )
    out = bl.usm_empty((4, 4, 4), "float32", queue)
    event = queue.submit(
        lambda handler: handler.parallel_for((4, 4), bundle.get_kernel("between"), sampled.get_access(handler), out)
    )
    assert event.status is not bl.EventStatus.complete
    gate.set_status(pyopencl.command_execution_status.COMPLETE)
    event.wait()
    assert np.allclose(out.numpy(), (pixels[:, :-1] + pixels[:, 1:]) / 2, rtol=0, atol=1e-5)
    sampled.close()
    bundle.close()
    out.close()
    queue.close()
    context.close()


def test_the_page_about_native_objects_is_true(cl: bl.Device, pyopencl: Any, theirs: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "interop.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (snippet,) = [text for text in snippets if "pyopencl" in text]
    names: dict[str, Any] = {}
    exec(compile(snippet, "docs/guide/interop.md", "exec"), names)
    assert np.array_equal(names["result"], np.arange(1000, dtype=np.float32) * 2)
    names["queue"].close()
    names["context"].close()
