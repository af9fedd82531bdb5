"""Volumes resampled by other libraries, where they are installed: scipy, numba, CuPy and torch.

Maps are matrices (3, 4) from the output to the input, in pixels in (x, y, z) order with centres at one half, and fields
of displacements (depth, height, width, 3), as ``Image.warp`` takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..model.arrays import Array
from .measure import Peer
from .peer_libraries import available, torch_theta

__all__ = ["cupy_peers", "numba_peers", "prefilter_peers", "scipy_peers", "scipy_terms", "torch_peers"]


_SHARE = 8  # scipy's linear filter, one thread, makes the eighth part of the slices


def scipy_terms(matrix: Array) -> tuple[Array, Array]:
    """Matrix and offset of ``affine_transform``, in (z, y, x) order with centres at integers."""
    linear = matrix[:, :3]
    offset = linear @ np.full(3, 0.5) + matrix[:, 3] - 0.5
    return linear[::-1, ::-1], offset[::-1]


def scipy_peers(
    volume: Array, matrix: Array, field: Array | None, *, order: int, goal: float | None = None
) -> dict[str, Peer]:
    """scipy from array to array: ``affine_transform``, or with a field ``map_coordinates`` and its coordinates."""
    ndimage = available("scipy.ndimage")
    if ndimage is None:
        return {}
    linear, offset = scipy_terms(matrix)
    depth = volume.shape[0] if order > 1 else max(volume.shape[0] // _SHARE, 1)
    shape = (depth, *volume.shape[1:])
    share = depth / volume.shape[0]
    options: dict[str, Any] = {"order": order, "mode": "nearest"}
    if field is None:
        work = lambda: ndimage.affine_transform(volume, linear, offset, shape, **options)  # noqa: E731
        return {"scipy affine_transform": Peer(work, share, goal)}
    part = field[:depth]

    def deform() -> object:
        index = np.indices(shape, np.float32).reshape(3, -1)
        places = (linear.astype(np.float32) @ index).reshape(3, *shape) + offset.astype(np.float32).reshape(3, 1, 1, 1)
        places += np.moveaxis(part, -1, 0)[::-1]
        return ndimage.map_coordinates(volume, places, **options)

    return {"scipy map_coordinates": Peer(deform, share, goal)}


def numba_peers(volume: Array, matrix: Array, *, goal: float | None = None) -> dict[str, Peer]:
    """The affine map as a loop by hand, compiled for all processors; it clamps at the edges."""
    numba = available("numba")
    if numba is None:
        return {}
    linear, offset = scipy_terms(matrix)
    linear, offset = np.ascontiguousarray(linear), np.ascontiguousarray(offset)
    result = np.empty(volume.shape, np.float32)
    transform = numba.njit(parallel=True, fastmath=True)(_affine_loop(numba.prange))

    def run() -> Array:
        transform(volume, linear, offset, result)
        return result

    return {"numba, prange": Peer(run, goal=goal)}


def _affine_loop(prange: Callable[[int], Iterable[int]]) -> Callable[[Array, Array, Array, Array], None]:
    def affine(volume: Array, matrix: Array, offset: Array, out: Array) -> None:
        depth, height, width = volume.shape
        for k in prange(out.shape[0]):
            for j in range(out.shape[1]):
                z0 = matrix[0, 0] * k + matrix[0, 1] * j + offset[0]
                y0 = matrix[1, 0] * k + matrix[1, 1] * j + offset[1]
                x0 = matrix[2, 0] * k + matrix[2, 1] * j + offset[2]
                for i in range(out.shape[2]):
                    z = min(max(z0 + matrix[0, 2] * i, 0.0), depth - 1.0)
                    y = min(max(y0 + matrix[1, 2] * i, 0.0), height - 1.0)
                    x = min(max(x0 + matrix[2, 2] * i, 0.0), width - 1.0)
                    a, b, c = min(int(z), depth - 2), min(int(y), height - 2), min(int(x), width - 2)
                    r, s, t = np.float32(z - a), np.float32(y - b), np.float32(x - c)
                    near = (volume[a, b, c] * (1 - t) + volume[a, b, c + 1] * t) * (1 - s) + (
                        volume[a, b + 1, c] * (1 - t) + volume[a, b + 1, c + 1] * t
                    ) * s
                    far = (volume[a + 1, b, c] * (1 - t) + volume[a + 1, b, c + 1] * t) * (1 - s) + (
                        volume[a + 1, b + 1, c] * (1 - t) + volume[a + 1, b + 1, c + 1] * t
                    ) * s
                    out[k, j, i] = near * (1 - r) + far * r

    return affine


def cupy_peers(volume: Array, matrix: Array, *, order: int, goal: float | None = None) -> dict[str, Peer]:
    """CuPy's ``affine_transform`` of a volume on the GPU, with texture memory too where the filter is linear."""
    cupy, ndimage = available("cupy"), available("cupyx.scipy.ndimage")
    if cupy is None or ndimage is None:
        return {}
    linear, offset = scipy_terms(matrix)
    full = np.eye(4)
    full[:3, :3], full[:3, 3] = linear, offset
    there, turned = cupy.asarray(volume), cupy.asarray(full)
    result = cupy.empty(volume.shape, cupy.float32)

    def transform(matrix: Any, **options: Any) -> Callable[[], None]:
        def run() -> None:
            ndimage.affine_transform(there, matrix, output=result, order=order, mode="nearest", **options)
            cupy.cuda.Device().synchronize()

        return run

    peers = {"CuPy affine_transform": Peer(transform(turned), goal=goal)}
    if order == 1:
        peers["CuPy affine_transform, textures"] = Peer(
            transform(turned.astype(cupy.float32), texture_memory=True), goal=goal
        )
    return peers


def prefilter_peers(volume: Array, *, on_gpu: bool) -> dict[str, Peer]:
    """Coefficients of cubic B-splines, mirrored at the centres of the outermost pixels."""
    ndimage = available("cupyx.scipy.ndimage" if on_gpu else "scipy.ndimage")
    cupy = available("cupy") if on_gpu else None
    if ndimage is None or (on_gpu and cupy is None):
        return {}
    there = volume if cupy is None else cupy.asarray(volume)

    def run() -> object:
        result = ndimage.spline_filter(there, 3, output=np.float32)
        if cupy is not None:
            cupy.cuda.Device().synchronize()
        return result

    return {"CuPy spline_filter" if on_gpu else "scipy spline_filter": Peer(run)}


def torch_peers(
    volume: Array, matrix: Array, field: Array | None, *, on_gpu: bool, goal: float | None = None
) -> dict[str, Peer]:
    """torch's ``affine_grid`` and ``grid_sample`` of a volume that lies where torch works."""
    torch = available("torch")
    if torch is None or (on_gpu and not torch.cuda.is_available()):
        return {}
    place = "cuda" if on_gpu else "cpu"
    size = np.array(volume.shape[::-1], np.float64)
    turn = torch.from_numpy(torch_theta(matrix, volume.shape)).to(place)
    there = torch.from_numpy(volume.astype(np.float32))[None, None].to(place)
    moves = None
    if field is not None:
        moves = torch.from_numpy((field / size * 2).astype(np.float32))[None].to(place)

    def run() -> object:
        grid = torch.nn.functional.affine_grid(turn, there.shape, align_corners=False)
        if moves is not None:
            grid = grid + moves
        values = torch.nn.functional.grid_sample(there, grid, padding_mode="border", align_corners=False)
        if on_gpu:
            torch.cuda.synchronize()
        return values[0, 0]

    return {"torch affine_grid, grid_sample": Peer(run, goal=goal)}
