"""Rows of ``bindless bench`` about volumes: rotations, displacement fields, cubic splines, exact weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..image.array_library import AnyArray
from ..image.image import Image
from ..image.spline_filter import spline_coefficients
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.errors import Error
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty
from .measure import ALONE, CONSTRUCTION, TRANSFERS, Bench, Peer
from .volume_peers import cupy_peers, numba_peers, prefilter_peers, scipy_peers, torch_peers

__all__ = ["measure_volumes", "rotation"]


_WHOLE = f"{CONSTRUCTION}, {TRANSFERS}"
_PREFILTER = f"{ALONE}, prefilter"

_LARGE, _SIDE = 512, 256  # voxels of a side: rotations and cubic filters on GPUs; all others

# Targets: least ratios to peers, and seconds from array to array.
_GOAL_CUPY, _GOAL_TORCH, _GOAL_FIELD, _GOAL_CUBIC_GPU = 2.0, 15.0, 6.0, 4.0
_GOAL_SCIPY, _GOAL_NUMBA = 15.0, 2.0
_GOAL_CT = 0.15
_GOAL_PREFILTER = 50.0  # percent of the bandwidth
_GOAL_EXACT, _GOAL_REPRODUCIBLE = 0.4, 0.2


def rotation(side: int) -> Array:
    """(3, 4), in pixels in (x, y, z) order: 20 degrees about the x axis and 10 about the z axis, around the middle."""
    a, b = np.deg2rad(20), np.deg2rad(10)
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_z = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    turn = about_x @ about_z
    middle = np.full(3, side / 2)
    return np.column_stack([turn, middle - turn @ middle])


def smooth_field(side: int) -> Array:
    """(side, side, side, 3) float32: displacements of up to 4 voxels."""
    phase = np.arange(side, dtype=np.float32) * np.float32(2 * np.pi / side)
    field = np.empty((side, side, side, 3), np.float32)
    field[..., 0] = 4 * np.sin(2 * phase)[:, None, None]
    field[..., 1] = 4 * np.cos(3 * phase)[None, :, None]
    field[..., 2] = 4 * np.sin(phase)[None, None, :]
    return field


def measure_volumes(bench: Bench) -> None:
    """Measure volumes: on GPUs with all arrays there, on processors from numpy to numpy."""
    on_gpu = bench.queue.device.has(Aspect.gpu)
    scale = min(bench.samples / 1e6, 1.0) ** (1 / 3)
    large, side = (max(int(size * scale), 8) for size in (_LARGE, _SIDE))
    rng = np.random.default_rng(22)
    sections: tuple[Callable[[], None], ...] = (
        lambda: _measure_affine(bench, rng.random((side,) * 3, np.float32), on_gpu),
        lambda: _measure_field(bench, rng.random((side,) * 3, np.float32), on_gpu),
        lambda: _measure_cubic(bench, rng.random((side,) * 3, np.float32), on_gpu),
        lambda: _measure_tomography(bench, rng.integers(-1000, 3000, (side,) * 3).astype(np.int16)),
        lambda: _measure_reproducible(bench, rng.random((side,) * 3, np.float32)),
    )
    if on_gpu:
        volume = rng.random((large,) * 3, np.float32)
        sections = (
            lambda: _measure_affine(bench, volume, on_gpu),
            lambda: _measure_field(bench, rng.random((side,) * 3, np.float32), on_gpu),
            lambda: _measure_cubic(bench, volume, on_gpu),
            *sections[3:],
        )
    for measure in sections:
        try:
            measure()
        except Error as error:
            bench.notes.append(str(error))


def _warps(bench: Bench, image: Image, matrix: Array, field: Array | None = None) -> Callable[[], None]:
    """A warp of the image's size, with all arrays where the device works, that waits."""
    queue, shape = bench.queue, image.shape
    if not queue.device.has(Aspect.gpu):
        result = np.empty(shape, image.dtype)

        def warp() -> None:
            image.warp(matrix, shape, displacement=field, out=result)

        return warp
    there = None if field is None else usm_empty(field.shape, field.dtype, queue).copy_from(field)
    out = usm_empty(shape, image.dtype, queue)

    def run() -> None:
        image.warp(matrix, shape, displacement=there, out=out)
        queue.wait()

    return run


def _measure_affine(bench: Bench, volume: Array, on_gpu: bool) -> None:
    side = len(volume)
    matrix = rotation(side)
    with (
        Image(volume, dimensions=3, queue=bench.queue) as image,
        Image(volume, dimensions=3, precision="exact", queue=bench.queue) as exact,
    ):
        if on_gpu:
            peers = cupy_peers(volume, matrix, order=1, goal=_GOAL_CUPY)
        else:
            peers = scipy_peers(volume, matrix, None, order=1, goal=_GOAL_SCIPY)
            peers |= numba_peers(volume, matrix, goal=_GOAL_NUMBA)
        peers |= torch_peers(volume, matrix, None, on_gpu=on_gpu, goal=_GOAL_TORCH if on_gpu else None)
        amount: dict[str, Any] = {"amount": volume.size, "unit": "pixels", "includes": ALONE}
        hardware = _warps(bench, image, matrix)
        bench.measure(f"{side}^3 float32 rotation", hardware, peers, **amount)
        same = {'precision="hardware"': Peer(hardware, goal=_GOAL_EXACT)}
        bench.measure(f"{side}^3 float32 rotation, exact", _warps(bench, exact, matrix), same, **amount)


def _measure_field(bench: Bench, volume: Array, on_gpu: bool) -> None:
    side = len(volume)
    matrix, field = rotation(side), smooth_field(side)
    with Image(volume, dimensions=3, queue=bench.queue) as image:
        peers = torch_peers(volume, matrix, field, on_gpu=on_gpu, goal=_GOAL_FIELD if on_gpu else None)
        if not on_gpu:
            peers |= scipy_peers(volume, matrix, field, order=1)
        name = f"{side}^3 float32, matrix and displacement"
        work = _warps(bench, image, matrix, field)
        bench.measure(name, work, peers, amount=volume.size, unit="pixels", includes=ALONE)


def _measure_cubic(bench: Bench, volume: Array, on_gpu: bool) -> None:
    """Both parts: coefficients of pixels that are there, and the map."""
    side = len(volume)
    matrix = rotation(side)
    _measure_prefilter(bench, volume, on_gpu)
    for precision in ("hardware", "exact"):
        with Image(volume, dimensions=3, filtering="cubic", precision=precision, queue=bench.queue) as image:
            warp = _warps(bench, image, matrix)

            def both(image: Image = image, warp: Callable[[], None] = warp) -> None:
                assert image._coefficients is not None
                image._coefficients.renew()
                warp()

            if on_gpu:
                peers = cupy_peers(volume, matrix, order=3, goal=_GOAL_CUBIC_GPU)
            else:
                peers = scipy_peers(volume, matrix, None, order=3, goal=_GOAL_SCIPY)
            name = f"{side}^3 float32 cubic rotation, {precision}"
            bench.measure(name, both, peers, amount=volume.size, unit="pixels", includes=_PREFILTER)
            warp_alone = f"{name}, coefficients kept"
            bench.measure(warp_alone, warp, amount=volume.size, unit="pixels", includes=ALONE)


def _measure_prefilter(bench: Bench, volume: Array, on_gpu: bool) -> None:
    """Coefficients of pixels that are there: each axis reads and writes all of them."""
    queue = bench.queue
    pixels: AnyArray = volume[..., None]
    if on_gpu:
        pixels = usm_empty(pixels.shape, pixels.dtype, queue).copy_from(pixels)
    out: AnyArray = usm_empty(pixels.shape, pixels.dtype, queue) if on_gpu else np.empty(pixels.shape, np.float32)

    def prefilter() -> None:
        spline_coefficients(queue, pixels, 3, out=out)
        queue.wait()

    bench.measure(
        f"{len(volume)}^3 float32 prefilter",
        prefilter,
        prefilter_peers(volume, on_gpu=on_gpu),
        amount=volume.size,
        unit="pixels",
        bound="three copies",
        bound_seconds=bench.traffic(6 * volume.nbytes),
        goal_percent=_GOAL_PREFILTER if on_gpu else 0.0,
        includes=ALONE,
    )


def _measure_tomography(bench: Bench, volume: Array) -> None:
    """Hounsfield units from numpy to numpy."""
    side = len(volume)
    matrix, field = rotation(side), smooth_field(side)
    result = np.empty_like(volume)
    for name, moves in (("affine", None), ("deformation", field)):

        def whole(moves: Array | None = moves) -> None:
            with Image(volume, dimensions=3, queue=bench.queue) as image:
                image.warp(matrix, volume.shape, displacement=moves, out=result)

        peers = scipy_peers(volume, matrix, moves, order=1)
        bench.measure(f"Image({side}^3 int16) and {name}", whole, peers, includes=_WHOLE, goal_seconds=_GOAL_CT)


def _measure_reproducible(bench: Bench, volume: Array) -> None:
    """The recorded arithmetic of a texture unit on devices that have another, and on the reference device."""
    if bench.queue.device.backend is Backend.reference:
        return
    side = len(volume)
    matrix = rotation(side)
    with (
        Queue("reference", in_order=True) as reference,
        Image(volume, dimensions=3, precision="reproducible", queue=bench.queue) as image,
        Image(volume, dimensions=3, queue=reference) as there,
    ):
        result = np.empty_like(volume)
        peer = Peer(lambda: there.warp(matrix, volume.shape, out=result), goal=_GOAL_REPRODUCIBLE)
        work = _warps(bench, image, matrix)
        name = f"{side}^3 float32 rotation, reproducible"
        bench.measure(name, work, {"reference driver": peer}, amount=volume.size, unit="pixels", includes=ALONE)
