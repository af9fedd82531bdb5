"""Rows of ``bindless bench`` for everyday calls, in small and large sizes: pictures, samples, updates, volumes and
kernels, with arrays of numpy and with arrays on the device.

A call on the device's arrays has two rows: its submission, and the call with a synchronisation by the library that
owns the arrays. "After" a peer means that each call follows one of that library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .. import ndimage as own_ndimage
from ..image.image import Image
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.errors import Error
from ..sycl.usm import usm_empty
from .measure import Bench, Work
from .medians import compare, nothing, turns
from .peer_libraries import available, torch_theta
from .texture_rate import measure_texture_rate
from .volume_peers import scipy_terms
from .volume_rows import rotation, smooth_field

__all__ = ["measure_everyday"]

Works = Mapping[str, Work]

_SIDES = (64, 512, 2048)  # of pictures
_VOLUMES = {True: (64, 128, 256, 512), False: (64, 128)}  # sides
_FEW, _MANY = 1000, 4_000_000  # coordinates
_ELEMENTS = 1 << 24  # of a kernel's arrays
_LONG = 1 << 24  # items from which a series has few calls

# Targets on NVIDIA GPUs, in seconds: of calls whose kernels take a few microseconds, and whose bytes do.
_GOAL_SUBMISSION, _GOAL_CALL, _GOAL_HOST = 8e-6, 20e-6, {64: 35e-6, 512: 150e-6}
_SHORT = 1 << 18  # pixels of a picture, above which its kernel or its bytes take the time
# Targets of the time of CuPy and torch on NVIDIA GPUs divided by ours.
_GOAL_OF_VOLUMES = {256: 1.5, 512: 2.0}
_GOAL_OF_ORDER_3 = {512: 3.0}
_GOAL_OF_COORDINATES, _GOAL_OF_SAXPY = 1.5, 0.95
_GOAL_OF_SAMPLES = 1.2  # on processors


def measure_everyday(bench: Bench) -> None:
    """Measure what users call most often; sizes shrink with ``--megasamples``."""
    on_gpu = bench.queue.device.has(Aspect.gpu)
    scale = min(bench.samples / 1e6, 1.0)
    sections: tuple[Callable[[], None], ...] = (
        *(partial(_measure_pictures, bench, max(int(side * scale**0.5), 8)) for side in _SIDES),
        partial(_measure_samples, bench),
        *(partial(_measure_volumes, bench, max(int(side * scale ** (1 / 3)), 8)) for side in _VOLUMES[on_gpu]),
        partial(_measure_coordinates, bench, max(int(_MANY * scale), _FEW)),
        partial(_measure_kernel, bench, max(int(_ELEMENTS * scale), _FEW)),
        partial(measure_texture_rate, bench),
    )
    for measure in sections:
        try:
            measure()
        except Error as error:
            bench.notes.append(str(error))


class _Tensors:
    """Arrays of torch, where the device of the bench computes: on the GPU, or in the process."""

    def __init__(self, bench: Bench) -> None:
        torch = available("torch")
        on_gpu = bench.queue.device.has(Aspect.gpu)
        usable = bench.queue.device.backend is Backend.cuda if on_gpu else True
        self.torch: Any = torch if torch is not None and usable and (not on_gpu or torch.cuda.is_available()) else None
        self.place = "cuda" if on_gpu else "cpu"
        self.synchronize: Work = self.torch.cuda.synchronize if on_gpu and self.torch is not None else nothing

    def of(self, array: Array) -> Any:
        return self.torch.from_numpy(array).to(self.place)

    def empty(self, *shape: int) -> Any:
        return self.torch.empty(shape, device=self.place)

    def sample(self, planes: Any, grid: Any) -> Any:
        return self.torch.nn.functional.grid_sample(planes, grid, padding_mode="border", align_corners=False)

    def warp(self, array: Array, matrix: Array) -> Callable[[], Any]:
        """``affine_grid`` and ``grid_sample`` of a picture or a volume."""
        turn, planes = self.of(torch_theta(matrix, array.shape)), self.of(array)[None, None]
        affine_grid = self.torch.nn.functional.affine_grid
        return lambda: self.sample(planes, affine_grid(turn, planes.shape, align_corners=False))


def _compare_on_device(
    bench: Bench,
    name: str,
    works: Works,
    synchronize: Work,
    series: int,
    *,
    submission: float = 0.0,
    call: float = 0.0,
    ratio: float = 0.0,
) -> None:
    """Add the rows of a call on the device's arrays: submitted, synchronised, and after each peer.

    On processors a call and its wait are one row.

    Parameters
    ----------
    submission, call : float, default 0.0
        Targets on NVIDIA GPUs, in seconds.
    ratio : float, default 0.0
        Target of a peer's time divided by ours, both synchronised.
    """
    on_gpu = bench.queue.device.has(Aspect.gpu)

    def waiting(work: Work) -> Work:
        def run() -> None:
            work()
            synchronize()

        return run

    both = {peer: waiting(work) for peer, work in works.items()}
    whole = f"{name}, synchronised" if on_gpu else name
    if on_gpu:
        compare(bench, f"{name}, submitted", works, goal=submission, end=synchronize, series=series)
    compare(bench, whole, both, goal=call, goal_ratio=ratio, series=series)
    for peer, work in both.items():
        if peer:
            bench.add(f"{whole}, after {peer}", turns(bench, both[""], work, series))


def _series(items: int, *, on_gpu: bool) -> int:
    """Calls of a series: fewer of long ones."""
    return 5 if items >= (_LONG if on_gpu else _LONG >> 6) else 50


# ---------------------------------------------------------------------- pictures


def _measure_pictures(bench: Bench, side: int) -> None:
    """Measure warps, resizes and updates of one picture of float32."""
    queue, tensors = bench.queue, _Tensors(bench)
    pixels = np.random.default_rng(31).random((side, side), np.float32)
    matrix = np.array([[0.9, -0.2, 0.12 * side], [0.2, 0.9, -0.03 * side]])
    series, shape = _series(side * side, on_gpu=queue.device.has(Aspect.gpu)), (side, side)
    with Image(pixels, queue=queue) as image:
        out = np.empty_like(pixels)
        host: dict[str, dict[str, Work]] = {
            f"Image({side}²).warp, numpy out": {"": lambda: image.warp(matrix, shape)},
            f"Image({side}²).warp, out= of numpy": {"": lambda: image.warp(matrix, shape, out=out)},
            f"Image({side}²).update, numpy": {"": lambda: image.update(pixels)},
        }
        if tensors.torch is not None:
            warp: Callable[[], Any] = tensors.warp(pixels, matrix)
            host[f"Image({side}²).warp, numpy out"]["torch"] = lambda: warp()[0, 0].cpu().numpy()
        cv2 = available("cv2") if not queue.device.has(Aspect.gpu) else None
        if cv2 is not None:
            flags, border = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, cv2.BORDER_REPLICATE
            host[f"Image({side}²).warp, out= of numpy"]["OpenCV"] = lambda: cv2.warpAffine(
                pixels, matrix, shape, dst=out, flags=flags, borderMode=border
            )
        for name, works in host.items():
            goal = _GOAL_HOST.get(side, 0.0) if name.endswith("numpy out") else 0.0
            compare(bench, name, works, goal=goal, end=queue.wait, series=series)
        if tensors.torch is None:
            return
        picture, source, target = tensors.empty(side, side), tensors.of(pixels), tensors.empty(side, side)
        half = (max(side * 2 // 3, 1),) * 2
        smaller = tensors.empty(*half)
        field = tensors.of(np.full((side, side, 2), 1.5, np.float32))
        places = tensors.of(np.random.default_rng(32).random((side, side, 2), np.float32) * np.float32(side))
        grid: Any = places[None] * (2 / side) - 1
        planes = source[None, None]
        device: dict[str, Works] = {
            "warp(out=tensor)": {
                "": lambda: image.warp(matrix, shape, out=picture),
                "torch": tensors.warp(pixels, matrix),
            },
            "warp(displacement=tensor, out=tensor)": {
                "": lambda: image.warp(matrix, shape, displacement=field, out=picture)
            },
            "remap(tensor, out=tensor)": {
                "": lambda: image.remap(places, out=picture),
                "torch": lambda: tensors.sample(planes, grid),
            },
            "resize(out=tensor)": {"": lambda: image.resize(half, out=smaller)},
            "update(tensor)": {"": lambda: image.update(source), "torch": lambda: target.copy_(source)},
        }
        call = _GOAL_CALL if side * side <= _SHORT else 0.0
        for name, each in device.items():
            title, submission = f"Image({side}²).{name}", _GOAL_SUBMISSION
            _compare_on_device(bench, title, each, tensors.synchronize, series, submission=submission, call=call)


def _measure_samples(bench: Bench) -> None:
    """Measure 1,000 samples of a picture."""
    queue, tensors, side = bench.queue, _Tensors(bench), _SIDES[1]
    rng = np.random.default_rng(33)
    pixels = rng.random((side, side, 4), np.float32)
    points = rng.random((_FEW, 2), np.float32) * np.float32(side)
    with Image(pixels, queue=queue) as image:
        host: dict[str, Work] = {"": lambda: image.sample(points)}
        if tensors.torch is not None:
            planes = tensors.of(np.moveaxis(pixels, -1, 0)[None].copy())
            grid = points[None, None] * np.float32(2 / side) - np.float32(1)
            host["torch"] = lambda: tensors.sample(planes, tensors.of(grid)).cpu().numpy()
        ratio = 0.0 if queue.device.has(Aspect.gpu) else _GOAL_OF_SAMPLES
        compare(bench, "Image.sample of 1,000 coordinates, numpy", host, goal_ratio=ratio)
        if tensors.torch is None:
            return
        coords, ready = tensors.of(points), tensors.of(grid)
        works: Works = {"": lambda: image.sample(coords), "torch": lambda: tensors.sample(planes, ready)}
        title = "Image.sample of 1,000 coordinates, tensors"
        _compare_on_device(bench, title, works, tensors.synchronize, 50, submission=_GOAL_SUBMISSION, ratio=ratio)


# ---------------------------------------------------------------------- volumes


def _cupy(bench: Bench) -> Any:
    return available("cupy") if bench.queue.device.backend is Backend.cuda else None


def _measure_volumes(bench: Bench, side: int) -> None:
    """Measure a volume of float32: ``Image.warp`` with arrays on the device, and functions of ``ndimage``."""
    queue, tensors, on_gpu = bench.queue, _Tensors(bench), bench.queue.device.has(Aspect.gpu)
    volume, matrix, shape = np.random.default_rng(34).random((side,) * 3, np.float32), rotation(side), (side,) * 3
    series = _series(side**3, on_gpu=on_gpu)
    if tensors.torch is not None:
        out, field = tensors.empty(*shape), tensors.of(smooth_field(side))
        with Image(volume, dimensions=3, queue=queue) as image:
            warp: Works = {
                "": lambda: image.warp(matrix, shape, out=out),
                "torch": tensors.warp(volume, matrix),
            }
            deform: Works = {"": lambda: image.warp(matrix, shape, displacement=field, out=out)}
            for name, each in (("out=tensor", warp), ("displacement=tensor, out=tensor", deform)):
                title, wait, submission = f"Image({side}³).warp({name})", tensors.synchronize, _GOAL_SUBMISSION
                _compare_on_device(bench, title, each, wait, series, submission=submission)
    linear, offset = scipy_terms(matrix)
    cupy = _cupy(bench)
    peer = available("cupyx.scipy.ndimage" if cupy is not None else "scipy.ndimage")
    if on_gpu and cupy is None:
        bench.notes.append(f"ndimage, {side}³: CuPy is not installed")
        return
    there = volume if cupy is None else cupy.asarray(volume)
    result = np.empty_like(volume) if cupy is None else cupy.empty_like(there)
    theirs = linear if cupy is None else cupy.asarray(np.ascontiguousarray(linear))
    synchronize: Work = nothing if cupy is None else cupy.cuda.Device().synchronize
    calls: tuple[tuple[str, Callable[[Any, Any], Any]], ...] = (
        ("affine_transform, order 1", lambda lib, m: lib.affine_transform(there, m, offset, output=result, order=1)),
        ("affine_transform, order 3", lambda lib, m: lib.affine_transform(there, m, offset, output=result, order=3)),
        ("zoom, order 1", lambda lib, m: lib.zoom(there, 0.5, order=1)),
        ("rotate, order 1", lambda lib, m: lib.rotate(there, 20.0, reshape=False, output=result, order=1)),
        ("shift, order 1", lambda lib, m: lib.shift(there, 1.25, output=result, order=1)),
    )
    for name, call in calls:
        works: dict[str, Work] = {"": partial(call, own_ndimage, linear)}
        if peer is not None:
            works["scipy" if cupy is None else "CuPy"] = partial(call, peer, theirs)
        goal = 0.0
        if on_gpu:
            goal = (_GOAL_OF_ORDER_3 if name.endswith("3") else _GOAL_OF_VOLUMES).get(side, 1.0)
        _compare_on_device(bench, f"ndimage.{name}, {side}³", works, synchronize, series, ratio=goal)


def _measure_coordinates(bench: Bench, count: int) -> None:
    """Measure ``map_coordinates`` of a volume at many coordinates."""
    cupy, side = _cupy(bench), 128
    if bench.queue.device.has(Aspect.gpu) and cupy is None:
        return
    rng = np.random.default_rng(35)
    volume, points = rng.random((side,) * 3, np.float32), rng.random((3, count), np.float32) * np.float32(side - 1)
    peer = available("cupyx.scipy.ndimage" if cupy is not None else "scipy.ndimage")
    if cupy is not None:
        volume, points = cupy.asarray(volume), cupy.asarray(points)
    works: dict[str, Work] = {"": lambda: own_ndimage.map_coordinates(volume, points, order=1)}
    if peer is not None:
        works["scipy" if cupy is None else "CuPy"] = lambda: peer.map_coordinates(volume, points, order=1)
    synchronize: Work = nothing if cupy is None else cupy.cuda.Device().synchronize
    series, ratio = _series(count, on_gpu=cupy is not None), 0.0 if cupy is None else _GOAL_OF_COORDINATES
    _compare_on_device(bench, f"ndimage.map_coordinates of {count} points", works, synchronize, series, ratio=ratio)


# ---------------------------------------------------------------------- kernels


def _measure_kernel(bench: Bench, count: int) -> None:
    """Measure ``y += a * x`` as a kernel in Python: on tensors, or on processors in USM."""
    from .saxpy_kernel import saxpy

    queue, tensors, on_gpu = bench.queue, _Tensors(bench), bench.queue.device.has(Aspect.gpu)
    if tensors.torch is None:
        return
    ones, zeros = np.ones(count, np.float32), np.zeros(count, np.float32)
    there, total = tensors.of(ones), tensors.of(zeros)
    x, y = (tensors.of(array) if on_gpu else usm_empty(count, np.float32, queue) for array in (ones, zeros))
    if not on_gpu:
        queue.memcpy(x, ones).wait()
        queue.memcpy(y, zeros).wait()
    works: dict[str, Work] = {
        "": lambda: queue.parallel_for(count, saxpy, 2.0, x, y),
        "torch": lambda: total.add_(there, alpha=2.0),
    }
    try:
        works[""]()
    except Error as error:
        bench.notes.append(f"saxpy in Python: {error}")
        return
    end = tensors.synchronize if on_gpu else queue.wait
    title, series, ratio = f"saxpy in Python, {count} elements", _series(count, on_gpu=on_gpu), 0.0
    if on_gpu:
        ratio = _GOAL_OF_SAXPY
    _compare_on_device(bench, title, works, end, series, ratio=ratio)
