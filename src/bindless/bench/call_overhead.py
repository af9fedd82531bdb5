"""Rows of ``bindless bench`` for call overhead: creation, launches, import, first sample."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import kernels
from ..bindless_images import ImageMem, create_image, destroy_image_handle
from ..bindless_images.image_mem import alloc_image_mem, free_image_mem
from ..image.image import Image
from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.image_descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.command_graph import CommandGraph
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty
from .driver_launches import native_launches
from .measure import Bench, Peer, Work
from .peer_libraries import available
from .short_calls import measure_short_calls
from .subprocesses import run_python

__all__ = ["measure_calls", "measure_import"]

_DESC = ImageDescriptor(256, 256, num_channels=4, channel_type="fp32")
_SAMPLER = BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
_CALLS = 200
_TYPES = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_float)
_FOUR = "void four(unsigned long long *out, unsigned long long a, unsigned b, float c)"

# Targets of creation on GPUs: seconds, and ratios to the peers.
_GOAL_ALLOCATION = 3e-6
_GOAL_HANDLE = 2.5e-6
_GOAL_IMAGE = 10e-6
_GOAL_IMPORT = 30e-3
_GOAL_FIRST_SAMPLE = 5e-3
_GOAL_CREATION = 1 / 1.3
_GOAL_LAUNCH = {"bindless_empty": 1 / 1.15, "bindless_four_arguments": 1 / 1.2}

_IMPORT = """
import time, numpy
start = time.perf_counter()
import bindless
took = time.perf_counter() - start
from bindless.drivers import cuda, level_zero, opencl, reference
drivers = {"cuda": cuda, "level_zero": level_zero, "opencl": opencl, "reference": reference}
print(took, *(name for name, driver in drivers.items() if driver.lib.bindless_is_open()))
"""
_FIRST_SAMPLE = """
import time, numpy, bindless
image = bindless.Image(numpy.zeros((64, 64), numpy.float32), queue=bindless.Queue("reference"))
points = numpy.full((16, 2), 3.5, numpy.float32)
start = time.perf_counter()
image.sample(points)
print(time.perf_counter() - start)
"""


def measure_calls(bench: Bench) -> None:
    """Measure creation and destruction, launches of kernels that do nothing, and other short calls."""
    _measure_creation(bench)
    _measure_launches(bench)
    measure_short_calls(bench)


def _measure_creation(bench: Bench) -> None:
    queue = bench.queue
    on_gpu = queue.device.has(Aspect.gpu)
    creation = _GOAL_CREATION if on_gpu else None
    bare = _bare_cuda if queue.device.backend is Backend.cuda else _bare_reference
    with ImageMem(_DESC, queue) as memory:
        handle = memory.get_handle()
        calls = bare(memory) if queue.device.backend in (Backend.cuda, Backend.reference) else {}
        peers = {
            name: {"two bare calls": Peer(work, goal=creation if name == "memory" else None)}
            for name, work in calls.items()
        }
        bench.measure(
            "allocate and free image memory",
            lambda: free_image_mem(alloc_image_mem(_DESC, queue), "standard", queue),
            peers.get("memory"),
            calls=_CALLS,
            goal_seconds=_GOAL_ALLOCATION if on_gpu else 0.0,
        )
        bench.measure(
            "create and destroy a sampled image",
            lambda: destroy_image_handle(create_image(handle, _DESC, queue, sampler=_SAMPLER), queue),
            peers.get("sampled"),
            calls=_CALLS,
            goal_seconds=_GOAL_HANDLE if on_gpu else 0.0,
        )
        bench.measure(
            "create and destroy an unsampled image",
            lambda: destroy_image_handle(create_image(handle, _DESC, queue), queue),
            peers.get("unsampled"),
            calls=_CALLS,
            goal_seconds=_GOAL_HANDLE if on_gpu else 0.0,
        )
    small = np.zeros((16, 16, 4), np.float32)
    bench.measure(
        "with Image(16 x 16)",
        lambda: Image(small, queue=queue).close(),
        calls=20,
        goal_seconds=_GOAL_IMAGE if on_gpu else 0.0,
    )


def _bare_cuda(memory: ImageMem) -> dict[str, Work]:
    """Return the driver's calls through the bindings, with all descriptors prepared beforehand."""
    from ..drivers import cuda as driver

    lib, ffi = driver.lib, driver.ffi
    current, device = ffi.new("CUcontext *"), ffi.new("CUdevice *")
    driver.check(lib.cuDeviceGet(device, memory.get_device().index), "cuDeviceGet")
    driver.check(lib.cuDevicePrimaryCtxRetain(current, device[0]), "cuDevicePrimaryCtxRetain")
    context, array = current[0], memory.get_handle().raw_handle
    description = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", (256, 256, 0, lib.CU_AD_FORMAT_FLOAT, 4, 2))
    texture = ffi.new("CUDA_TEXTURE_DESC *")

    def texture_and_end() -> None:
        lib.bindless_image_destroy(context, lib.bindless_texture_create_of_array(context, array, False, texture), True)

    return {
        "memory": lambda: lib.bindless_array_destroy(
            context, lib.bindless_array_create(context, description, 0), False
        ),
        "sampled": texture_and_end,
        "unsampled": lambda: lib.bindless_image_destroy(context, lib.bindless_surface_create(context, array), False),
    }


def _bare_reference(memory: ImageMem) -> dict[str, Work]:
    from ..drivers import reference as driver

    lib, ffi = driver.lib, driver.ffi
    device, own = ffi.new("blr_device_t *"), ffi.new("blr_context_t *")
    driver.check(lib.blrDeviceGet(0, device), "blrDeviceGet")
    driver.check(lib.blrContextCreate(device[0], own), "blrContextCreate")
    context = own[0]
    desc = ffi.new("blr_image_desc_t *", (256, 256, 0, 4, 11, 0, 1, 1))
    sampler = ffi.new("blr_sampler_desc_t *", ([1, 1, 1], 0, 1, 0, 0, 0.0, 0.0, 0.0))
    image, handle, backing = ffi.new("blr_image_t *"), ffi.new("blr_image_handle_t *"), ffi.new("blr_image_t *")
    driver.check(lib.blrImageCreate(context, desc, backing), "blrImageCreate")

    def memory_and_end() -> None:
        driver.check(lib.blrImageCreate(context, desc, image), "blrImageCreate")
        lib.blrImageDestroy(image[0])

    def sampled_and_end() -> None:
        driver.check(lib.blrSampledImageCreate(context, backing[0], desc, sampler, handle), "blrSampledImageCreate")
        lib.blrImageHandleDestroy(context, handle[0])

    def unsampled_and_end() -> None:
        driver.check(lib.blrUnsampledImageCreate(context, backing[0], desc, handle), "blrUnsampledImageCreate")
        lib.blrImageHandleDestroy(context, handle[0])

    return {"memory": memory_and_end, "sampled": sampled_and_end, "unsampled": unsampled_and_end}


def _measure_launches(bench: Bench) -> None:
    """Measure series of launches with one wait at the end."""
    queue = bench.queue
    source = kernels.source("launch", queue._backend.traits.build_target)
    bundle = load_kernel_bundle(source, queue)
    with usm_empty((1,), np.uint64, queue) as out:
        numbers: tuple[Any, ...] = (np.uint64(1), np.uint32(2), np.float32(3))
        for name, label, values in (
            ("bindless_empty", "no", ()),
            ("bindless_four_arguments", "four", (out.pointer, *numbers)),
        ):
            kernel = bundle.get_kernel(name)

            launch = _launches(queue, kernel, values)

            plain = (np.uint64(out.pointer.address), *numbers) if values else ()
            native = native_launches(queue, source, name, plain, _CALLS)
            goal = _GOAL_LAUNCH[name] if queue.device.backend is Backend.reference else None
            peers = {peer: Peer(work, goal=goal) for peer, work in native.items()}
            if queue.device.backend is Backend.cuda:
                peers = _launch_peers(source, name, plain)
            bench.measure(f"{_CALLS} launches with {label} arguments, and a wait", launch, peers)
            bound = kernel.bind(queue, 1, *values)

            def launch_bound(bound: Callable[[], object] = bound) -> None:
                for _ in range(_CALLS):
                    bound()
                queue.wait()

            bench.measure(f"{_CALLS} bound launches with {label} arguments, and a wait", launch_bound, peers)
            with CommandGraph(queue) as graph:
                for _ in range(_CALLS):
                    graph.parallel_for(1, kernel, *values)

                def launch_graph(graph: CommandGraph = graph) -> None:
                    graph()
                    queue.wait()

                below = {peer: replace(of, goal=1.0) for peer, of in peers.items()}  # single launches
                bench.measure(f"a graph of {_CALLS} launches with {label} arguments, and a wait", launch_graph, below)


def _launches(queue: Queue, kernel: Kernel, values: tuple[Any, ...]) -> Work:
    """Launch as user code does: unpacking arguments from a tuple would add to the time of a launch."""
    if not values:

        def launch() -> None:
            for _ in range(_CALLS):
                queue.parallel_for(1, kernel)
            queue.wait()

        return launch

    def launch_four(a: Any = values[0], b: Any = values[1], c: Any = values[2], d: Any = values[3]) -> None:
        for _ in range(_CALLS):
            queue.parallel_for(1, kernel, a, b, c, d)
        queue.wait()

    return launch_four


def _launch_peers(source: bytes, name: str, arguments: tuple[Any, ...]) -> dict[str, Peer]:
    """Return the same launches by the driver through the bindings, through other bindings, by CuPy and by cuda.core."""
    from ..drivers import cuda as driver

    lib, ffi, check = driver.lib, driver.ffi, driver.check
    module, function, stream = ffi.new("CUmodule *"), ffi.new("CUfunction *"), ffi.new("CUstream *")
    check(lib.cuModuleLoadData(module, ffi.from_buffer(source)), "cuModuleLoadData")
    check(lib.cuModuleGetFunction(function, module[0], name.encode()), "cuModuleGetFunction")
    check(lib.cuStreamCreate(stream, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
    kinds = ("uint64_t *", "uint64_t *", "uint32_t *", "float *")
    values = [ffi.new(kind, argument.item()) for kind, argument in zip(kinds, arguments)]
    packed = ffi.new("void *[]", [ffi.cast("void *", value) for value in values]) if values else ffi.NULL

    def bare(keepalive: object = values) -> None:  # memory that ``packed`` points to
        for _ in range(_CALLS):
            lib.cuLaunchKernel(function[0], 1, 1, 1, 1, 1, 1, 0, stream[0], packed, ffi.NULL)
        check(lib.cuStreamSynchronize(stream[0]), "cuStreamSynchronize")

    peers = {"cuLaunchKernel by the bindings": Peer(bare, goal=_GOAL_LAUNCH[name])}
    handle, queue = (int(ffi.cast("uintptr_t", native)) for native in (function[0], stream[0]))
    peers["ctypes cuLaunchKernel"] = Peer(_ctypes_launches(handle, queue, arguments), goal=1.0)
    bound = _bindings_launches(handle, queue, arguments)
    if bound is not None:
        peers["cuda.bindings cuLaunchKernel"] = Peer(bound, goal=1.0)
    for peer, make in (("CuPy RawKernel", _cupy_launches), ("cuda.core", _core_launches)):
        work = make(source, name, arguments)
        if work is not None:
            peers[peer] = Peer(work, goal=1.0)
    return peers


def _native_arguments(arguments: tuple[np.generic, ...]) -> list[Any]:
    return [kind(argument.item()) for kind, argument in zip(_TYPES, arguments)]


def _ctypes_launches(function: int, stream: int, arguments: tuple[Any, ...]) -> Work:
    """Launch through ctypes, with all possible conversions done beforehand."""
    from ..drivers import cuda as driver

    library = ctypes.CDLL(driver.path())
    launch_kernel, wait = library.cuLaunchKernel, library.cuStreamSynchronize
    pointer, number = ctypes.c_void_p, ctypes.c_uint
    launch_kernel.argtypes = [pointer, *[number] * 7, pointer, pointer, pointer]
    handle, queue, native = pointer(function), pointer(stream), _native_arguments(arguments)
    packed = (pointer * len(native))(*map(ctypes.addressof, native)) if native else None

    def launch(keepalive: object = native) -> None:
        for _ in range(_CALLS):
            launch_kernel(handle, 1, 1, 1, 1, 1, 1, 0, queue, packed, None)
        wait(queue)

    return launch


def _bindings_launches(function: int, stream: int, arguments: tuple[Any, ...]) -> Work | None:
    bindings = available("cuda.bindings.driver")
    if bindings is None:
        return None
    handle, queue = bindings.CUfunction(function), bindings.CUstream(stream)
    values = [argument.item() for argument in arguments]
    packed = (tuple(values), _TYPES[: len(values)]) if values else 0

    def launch() -> None:
        for _ in range(_CALLS):
            bindings.cuLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, queue, packed, 0)
        bindings.cuStreamSynchronize(queue)

    return launch


def _cupy_launches(source: bytes, name: str, arguments: tuple[Any, ...]) -> Work | None:
    cupy = available("cupy")
    if cupy is None:
        return None
    text = f'extern "C" __global__ {_FOUR} {{}}' if arguments else 'extern "C" __global__ void four() {}'
    kernel, stream = cupy.RawKernel(text, "four"), cupy.cuda.Stream(non_blocking=True)

    def launch() -> None:
        with stream:
            for _ in range(_CALLS):
                kernel((1,), (1,), arguments)
        stream.synchronize()

    return launch


def _core_launches(source: bytes, name: str, arguments: tuple[Any, ...]) -> Work | None:
    core = available("cuda.core")
    if core is None or not hasattr(core, "ObjectCode"):
        return None
    device = core.Device()
    device.set_current()
    kernel, stream = core.ObjectCode.from_ptx(source).get_kernel(name), device.create_stream()
    config = core.LaunchConfig(grid=1, block=1)
    if not arguments:

        def launch() -> None:
            for _ in range(_CALLS):
                core.launch(stream, config, kernel)
            stream.sync()

        return launch
    first, second, third, fourth = _native_arguments(arguments)

    def launch_four() -> None:
        for _ in range(_CALLS):
            core.launch(stream, config, kernel, first, second, third, fourth)
        stream.sync()

    return launch_four


def measure_import(bench: Bench) -> None:
    """Measure ``import bindless`` after numpy, and the first sample of an image on the reference, in fresh
    interpreters.
    """
    for name, code, goal in (
        ("import bindless, after numpy", _IMPORT, _GOAL_IMPORT),
        ("first sample of an Image on the reference", _FIRST_SAMPLE, _GOAL_FIRST_SAMPLE),
    ):
        said = [run_python(code) for _ in range(3)]
        failed = [text for text, done in said if not done]
        if failed:
            bench.notes.append(f"{name}: {failed[0]}")
            continue
        lines = [text.split() for text, _ in said]
        if code is _IMPORT:
            opened = lines[0][1:]
            name += f", {len(opened)} drivers loaded"
            if opened:
                bench.notes.append(f"{name}: it is to load none, and loads {', '.join(opened)}")
        bench.add(name, min(float(words[0]) for words in lines), goal_seconds=goal)
