"""The same sampling by other libraries, each only where it is installed; numpy always is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from ..model.arrays import Array
from .measure import Peer, Work

__all__ = [
    "available",
    "numpy_linear",
    "remap_peers",
    "sampling_peers_2d",
    "sampling_peers_3d",
    "torch_theta",
    "warp_peers",
]


_FEW = 1 << 16  # number of samples for the slowest peers


@cache
def available(name: str) -> ModuleType | None:
    """Import a library; None if it is not installed or does not load."""
    if find_spec(name.partition(".")[0]) is None:
        return None
    try:
        return import_module(name)
    except ImportError:
        return None


def torch_theta(matrix: Array, shape: tuple[int, ...]) -> Array:
    """(1, d, d + 1) float32 of ``affine_grid``, whose coordinates are -1..1, of a matrix (d, d + 1) that maps pixels of
    a picture or volume of this shape to pixels of one of the same shape.
    """
    sides = np.array(shape[::-1], np.float64)
    to_pixels = np.diag([*sides / 2, 1.0])
    to_pixels[:-1, -1] = sides / 2
    full = np.vstack([matrix, [0] * len(sides) + [1]])
    theta: Array = (np.linalg.inv(to_pixels) @ full @ to_pixels)[None, :-1].astype(np.float32)
    return theta


def numpy_linear(pixels: Array, points: Array) -> Array:
    """Sample (height, width, channels) linearly to (N, channels), clamped at the edges, pixel centres at one half."""
    height, width = pixels.shape[:2]
    x, y = np.clip(points[:, 0] - 0.5, 0, width - 1), np.clip(points[:, 1] - 0.5, 0, height - 1)
    i, j = np.minimum(x.astype(np.int64), width - 2), np.minimum(y.astype(np.int64), height - 2)
    a, b = (x - i)[:, None], (y - j)[:, None]
    upper = pixels[j, i] * (1 - a) + pixels[j, i + 1] * a
    lower = pixels[j + 1, i] * (1 - a) + pixels[j + 1, i + 1] * a
    values: Array = upper * (1 - b) + lower * b
    return values


def sampling_peers_2d(
    pixels: Array, points: Array, *, on_gpu: bool, goal: float | None, times: int = 1
) -> dict[str, Peer]:
    """Return peers for linear samples of (height, width, channels) pixels, uint8 or float32, at (N, 2) coordinates.

    Parameters
    ----------
    on_gpu : bool
        Return only libraries that compute in GPU memory.
    goal : float | None
        Target ratio to the fastest peer.
    times : int, default 1
        Calls in a row, for libraries that compute in GPU memory.
    """
    if on_gpu:
        return _gpu_peers(pixels, points, goal, times)
    few = min(_FEW, len(points))
    share = few / len(points)
    real = pixels if pixels.dtype == np.float32 else pixels.astype(np.float32) / np.float32(255)
    peers = {"numpy": Peer(lambda: numpy_linear(real, points[:few]), share)}
    ndimage, torch = available("scipy.ndimage"), available("torch")
    if ndimage is not None and pixels.shape[2] == 1:
        rows = np.ascontiguousarray(points[:few, ::-1].T) - 0.5
        peers["scipy"] = Peer(lambda: ndimage.map_coordinates(real[..., 0], rows, order=1, mode="nearest"), share)
    peers |= remap_peers(pixels, points, goal=goal)
    if torch is not None:
        peers["torch grid_sample"] = Peer(_grid_sample(torch, "cpu", real, points))
    return peers


def remap_peers(pixels: Array, points: Array, *, goal: float | None = None) -> dict[str, Peer]:
    """Return OpenCV's ``remap`` on the processor, to floats and, for bytes, to bytes; in rows of 1024 coordinates."""
    cv2 = available("cv2")
    if cv2 is None or len(points) % 1024:
        return {}
    real = pixels if pixels.dtype == np.float32 else pixels.astype(np.float32) / np.float32(255)
    x, y = (np.ascontiguousarray(points[:, axis].reshape(-1, 1024) - np.float32(0.5)) for axis in (0, 1))

    def remap(source: Array) -> Work:
        return lambda: cv2.remap(source, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    peers = {"OpenCV remap": Peer(remap(real), goal=goal)}
    if pixels.dtype == np.uint8:
        peers["OpenCV remap, to bytes"] = Peer(remap(pixels))
    return peers


def _grid_sample(torch: ModuleType, place: str, pixels: Array, points: Array, times: int = 1) -> Work:
    size = np.array(pixels.shape[-2::-1], np.float32)
    image = torch.from_numpy(np.moveaxis(pixels, -1, 0)[None].copy()).to(place)
    grid = torch.from_numpy(points / size * 2 - 1).to(place)
    grid = grid.reshape(1, *(1,) * (len(size) - 1), -1, len(size))
    sample = torch.nn.functional.grid_sample

    def run() -> None:
        for _ in range(times):
            sample(image, grid, mode="bilinear", padding_mode="border", align_corners=False)
        if place != "cpu":
            torch.cuda.synchronize()

    return run


def _gpu_peers(pixels: Array, points: Array, goal: float | None, times: int) -> dict[str, Peer]:
    peers = {}
    torch, cupy, ndimage = available("torch"), available("cupy"), available("cupyx.scipy.ndimage")
    if pixels.dtype == np.float32 and torch is not None and torch.cuda.is_available():
        peers["torch grid_sample"] = Peer(_grid_sample(torch, "cuda", pixels, points, times), goal=goal)
    if cupy is not None and ndimage is not None and pixels.dtype == np.float32 and pixels.shape[-1] == 1:
        plane, rows = cupy.asarray(pixels[..., 0]), cupy.asarray(np.ascontiguousarray(points.T[::-1]))

        def run() -> None:
            for _ in range(times):
                ndimage.map_coordinates(plane, rows, order=1, mode="nearest")
            cupy.cuda.Device().synchronize()

        peers["CuPy map_coordinates"] = Peer(run, goal=goal)
    return peers


def sampling_peers_3d(
    volume: Array, points: Array, *, on_gpu: bool, goal: float | None, times: int = 1
) -> dict[str, Peer]:
    """Return peers for linear samples of a (depth, height, width) volume of float32 at (N, 3) coordinates."""
    if on_gpu:
        return _gpu_peers(volume[..., None], points, goal, times)
    few = min(_FEW, len(points))
    peers = {}
    ndimage, torch = available("scipy.ndimage"), available("torch")
    if ndimage is not None:
        rows = np.ascontiguousarray(points[:few, ::-1].T) - 0.5
        work = lambda: ndimage.map_coordinates(volume, rows, order=1, mode="nearest")  # noqa: E731
        peers["scipy"] = Peer(work, few / len(points))
    kernel = _trilinear(available("numba"))
    if kernel is not None:
        out = np.empty(len(points), np.float32)
        peers["numba, by hand"] = Peer(lambda: kernel(volume, points, out), goal=goal)
    if torch is not None:
        peers["torch grid_sample"] = Peer(_grid_sample(torch, "cpu", volume[..., None], points))
    return peers


def _trilinear(numba: ModuleType | None) -> Callable[..., None] | None:
    """Return a handwritten ``kernel(volume, points, out)`` on all processors."""
    if numba is None:
        return None

    def kernel(volume, points, out):  # type: ignore[no-untyped-def]
        depth, height, width = volume.shape
        for item in numba.prange(points.shape[0]):
            x = min(max(points[item, 0] - 0.5, 0.0), width - 1.0)
            y = min(max(points[item, 1] - 0.5, 0.0), height - 1.0)
            z = min(max(points[item, 2] - 0.5, 0.0), depth - 1.0)
            i, j, k = int(x), int(y), int(z)
            i1, j1, k1 = min(i + 1, width - 1), min(j + 1, height - 1), min(k + 1, depth - 1)
            a, b, c = x - i, y - j, z - k
            near = (1 - b) * ((1 - a) * volume[k, j, i] + a * volume[k, j, i1])
            near += b * ((1 - a) * volume[k, j1, i] + a * volume[k, j1, i1])
            far = (1 - b) * ((1 - a) * volume[k1, j, i] + a * volume[k1, j, i1])
            far += b * ((1 - a) * volume[k1, j1, i] + a * volume[k1, j1, i1])
            out[item] = (1 - c) * near + c * far

    compiled: Callable[..., None] = numba.njit(parallel=True, fastmath=True)(kernel)
    return compiled


def warp_peers(pixels: Array, matrix: Array, *, goal: float | None) -> dict[str, Peer]:
    """Return the same affine warp by OpenCV, on the processor; its pixel centres are at whole numbers."""
    cv2 = available("cv2")
    if cv2 is None:
        return {}
    height, width = pixels.shape[:2]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    work = lambda: cv2.warpAffine(pixels, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)  # noqa: E731
    return {"OpenCV warpAffine": Peer(work, goal=goal)}
