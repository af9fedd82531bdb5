"""Rows of ``bindless bench`` for single short calls: the median of each, compared with the driver and PyTorch.

A call is timed alone. Calls without a wait are timed in series that end with an untimed wait, so that the device's
queue never fills up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from .. import kernels
from ..bindless_images import ImageMem, create_image, destroy_image_handle, sample_image
from ..interop import make_queue
from ..model.arrays import Array
from ..model.enums import Backend
from ..model.image_call import ImageCall
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle
from ..model.sampler import BindlessImageSampler
from ..sycl.device.context import Context
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty
from .copies import driver_copies
from .measure import Bench, Work
from .medians import compare
from .peer_libraries import available

__all__ = ["measure_short_calls"]

_COUNT = 1000
_SIDE = 256
_SAMPLER = BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")

# Targets on NVIDIA GPUs, in seconds.
_WANTED_SUBMISSION, _WANTED_CALL = 3e-6, 12e-6
_WANTED_TENSORS, _WANTED_TENSORS_AND_WAIT = 6e-6, 17e-6
_WANTED_HOST = 35e-6
_WANTED_VOLUME = 130e-6


@contextmanager
def _image(queue: Queue, *sizes: int, num_channels: int = 1) -> Iterator[SampledImageHandle]:
    desc = ImageDescriptor(*sizes, num_channels=num_channels, channel_type="fp32")
    with ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(np.ones(desc.shape, np.float32), memory).wait()
        handle = create_image(memory, desc, queue, sampler=_SAMPLER)
        try:
            yield handle
        finally:
            destroy_image_handle(handle, queue)


def measure_short_calls(bench: Bench) -> None:
    """Measure device functions over few coordinates, tensors and numpy arrays, a short copy, and launches in contexts
    of several devices.
    """
    points = np.random.default_rng(1).random((_COUNT, 2), np.float32) * np.float32(_SIDE)
    with _image(bench.queue, _SIDE, _SIDE, num_channels=4) as handle:
        _measure_usm(bench, handle, points)
        _measure_host(bench, handle, points)
        _measure_tensors(bench, handle, points)
    _measure_volume(bench)
    _measure_copy(bench)
    _measure_devices(bench)


# ---------------------------------------------------------------------- arrays in USM and on the host


def _measure_usm(bench: Bench, handle: SampledImageHandle, points: Array) -> None:
    queue = bench.queue
    with usm_empty(points.shape, "f4", queue) as coords, usm_empty((_COUNT, 4), "f4", queue) as out:
        queue.memcpy(coords, points).wait()
        call = ImageCall(
            "sample",
            handle.raw_handle,
            True,
            handle.descriptor,  # type: ignore[arg-type]
            _COUNT,
            coords.address,
            out.address,
            np.dtype("f4"),
            4,
        )
        driver, driver_and_wait = _driver_calls(queue, call)
        compare(
            bench,
            "sample_image of 1,000 coordinates in USM",
            {"": lambda: sample_image(queue, handle, coords, out=out), **driver},
            wanted=_WANTED_SUBMISSION,
            end=queue.wait,
        )
        compare(
            bench,
            "sample_image of 1,000 coordinates in USM, and a wait",
            {"": lambda: sample_image(queue, handle, coords, out=out).wait(), **driver_and_wait},
            wanted=_WANTED_CALL,
        )


def _driver_calls(queue: Queue, call: ImageCall) -> tuple[dict[str, Work], dict[str, Work]]:
    """The prepared call through the bindings, and with a wait; empty where the back end prepares none."""
    command = queue._backend.prepare_image_call(queue._native, call)
    if command is None:
        return {}, {}
    from ..drivers import reference as bindings  # only for casts

    ffi = bindings.ffi
    lane = command.lanes[0]
    submit = ffi.cast("int (*)(void const *)", command.submit)
    description = ffi.cast("void const *", command.descriptions[0])
    poll, asked = ffi.cast("int (*)(void const *, int)", lane.wait_for), ffi.cast("void const *", lane.driver_stream)
    made = ffi.cast("uint64_t *", lane.last_event)
    let_go = ffi.cast("int (*)(uint64_t)", lane.let_go)

    def run() -> None:
        submit(description)
        if made:
            let_go(made[0])

    def run_and_wait(kept: object = command) -> None:
        run()
        if not poll:  # the driver has no query of a stream
            queue._backend.wait_event(queue._backend.barrier(queue._native))
        while poll and poll(asked, 1 << 20):
            pass

    return {"the driver's call": run}, {"the driver's call and wait": run_and_wait}


def _measure_host(bench: Bench, handle: SampledImageHandle, points: Array) -> None:
    queue = bench.queue
    works: dict[str, Work] = {"": lambda: sample_image(queue, handle, points)}
    torch = _torch(bench)
    if torch is not None:
        image, grid = _torch_image(torch, (_SIDE, _SIDE), 4), _grid(points, (_SIDE, _SIDE))

        def with_transfers() -> None:
            _grid_sample(torch, image, torch.from_numpy(grid).to("cuda")).cpu().numpy()

        works["torch grid_sample, with transfers"] = with_transfers
    compare(bench, "sample_image of 1,000 coordinates, numpy to numpy", works, wanted=_WANTED_HOST)


# ---------------------------------------------------------------------- tensors


def _torch(bench: Bench) -> ModuleType | None:
    """PyTorch, if it computes on the device."""
    torch = available("torch") if bench.queue.device.backend is Backend.cuda else None
    return torch if torch is not None and torch.cuda.is_available() else None


def _torch_image(torch: ModuleType, sizes: tuple[int, ...], num_channels: int) -> Any:
    return torch.ones((1, num_channels, *sizes[::-1]), device="cuda")


def _grid(points: Array, sizes: tuple[int, ...]) -> Array:
    """The coordinates of grid_sample, as a batch of one picture of one row."""
    grid: Array = points / np.array(sizes, np.float32) * np.float32(2) - np.float32(1)
    return grid.reshape(1, *(1,) * (len(sizes) - 1), -1, len(sizes))


def _grid_sample(torch: ModuleType, image: Any, grid: Any) -> Any:
    return torch.nn.functional.grid_sample(image, grid, mode="bilinear", padding_mode="border", align_corners=False)


def _measure_tensors(bench: Bench, handle: SampledImageHandle, points: Array) -> None:
    torch = _torch(bench)
    if torch is None:
        return
    coords, out = torch.from_numpy(points).to("cuda"), torch.empty((_COUNT, 4), device="cuda")
    image, grid = _torch_image(torch, (_SIDE, _SIDE), 4), torch.from_numpy(_grid(points, (_SIDE, _SIDE))).to("cuda")
    synchronize: Work = torch.cuda.synchronize
    stream = torch.cuda.current_stream()
    with make_queue("cuda", stream, bench.queue.context, bench.queue.device, ownership="keep") as theirs:
        for label, queue in (("on torch's stream", theirs), ("on a queue of its own", bench.queue)):
            name = f"sample_image of 1,000 coordinates in tensors, {label}"
            _compare_tensors(
                bench,
                name,
                lambda queue=queue: sample_image(queue, handle, coords, out=out),  # type: ignore[misc]
                lambda: _grid_sample(torch, image, grid),
                synchronize,
            )


def _compare_tensors(bench: Bench, name: str, ours: Work, theirs: Work, synchronize: Work) -> None:
    def both(work: Work) -> Work:
        def run() -> None:
            work()
            synchronize()

        return run

    works = {"": ours, "torch grid_sample": theirs}
    compare(bench, name, works, wanted=_WANTED_TENSORS, end=synchronize)
    waiting = {peer: both(work) for peer, work in works.items()}
    compare(bench, f"{name}, and synchronize", waiting, wanted=_WANTED_TENSORS_AND_WAIT)


def _measure_volume(bench: Bench) -> None:
    """Affine samples of a volume: a rotation by a small angle."""
    torch = _torch(bench)
    if torch is None:
        return
    sizes = (_SIDE,) * 3
    turn, shift = np.float32(0.05), np.float32(_SIDE / 2)
    axis = torch.arange(_SIDE, device="cuda") + 0.5 - _SIDE / 2
    z, y, x = torch.meshgrid(axis, axis, axis, indexing="ij")
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    turned = torch.stack((cos * x - sin * y, sin * x + cos * y, z), -1)
    coords = (turned + float(shift)).reshape(-1, 3).contiguous()
    grid = (turned / float(shift))[None].contiguous()
    out, image = torch.empty((_SIDE**3, 1), device="cuda"), _torch_image(torch, sizes, 1)
    stream = torch.cuda.current_stream()
    synchronize: Work = torch.cuda.synchronize
    with (
        make_queue("cuda", stream, bench.queue.context, bench.queue.device, ownership="keep") as queue,
        _image(bench.queue, *sizes) as handle,
    ):

        def ours() -> None:
            sample_image(queue, handle, coords, out=out)
            synchronize()

        def theirs() -> None:
            _grid_sample(torch, image, grid)
            synchronize()

        works: dict[str, Work] = {"": ours, "torch grid_sample": theirs}
        compare(bench, "256³ affine samples of a volume, tensors", works, wanted=_WANTED_VOLUME, series=10)


# ---------------------------------------------------------------------- copies, several devices


def _measure_copy(bench: Bench) -> None:
    """Copies of 64 KiB with a wait."""
    queue = bench.queue
    pixels = np.full((64, 64, 4), 0.5, np.float32)
    back = np.zeros_like(pixels)
    desc = ImageDescriptor.from_array(pixels)
    with ImageMem(desc, queue) as memory, driver_copies(bench) as driver:
        for name, source, target in (("numpy to image", pixels, memory), ("image to numpy", memory, back)):
            works: dict[str, Work] = {
                "": lambda source=source, target=target: queue.ext_oneapi_copy(source, target).wait()  # type: ignore[misc]
            }
            if driver is not None:
                works["the driver's own copy"] = driver.work(source, target, 64 * 16, 64)
            compare(bench, f"ext_oneapi_copy of 64 KiB, {name}, and a wait", works)


def _measure_devices(bench: Bench) -> None:
    """A launch with an image handle in a context of all devices, compared with a context of one."""
    device = bench.queue.device
    devices = device.platform.get_devices()
    traits = device._backend.traits
    language = traits.function_language
    if len(devices) < 2 or language is None or traits.images_are_arguments:
        return
    source = kernels.source("launch", language)
    works: dict[str, Work] = {}
    waits: list[Callable[[], object]] = []
    with Context(devices) as several, Context(device) as one:
        for name, context in (("", several), ("a context of one device", one)):
            works[name] = _launch_with_handle(Queue(device, context), source, waits)
        compare(
            bench,
            f"parallel_for with an image handle, in a context of {len(devices)} devices",
            works,
            end=lambda: [wait() for wait in waits],
        )


def _launch_with_handle(queue: Queue, source: bytes, waits: list[Callable[[], object]]) -> Work:
    kernel = load_kernel_bundle(source, queue).get_kernel("bindless_four_arguments")
    desc = ImageDescriptor(16, 16, num_channels=4, channel_type="fp32")
    memory, out = ImageMem(desc, queue), usm_empty((1,), np.uint64, queue)
    handle = create_image(memory, desc, queue, sampler=_SAMPLER)
    a, b = np.uint32(2), np.float32(3)
    waits.append(queue.wait)

    def launch(kept: object = memory) -> None:
        queue.parallel_for(1, kernel, out.pointer, handle, a, b)

    return launch
