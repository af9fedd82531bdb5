"""Peers a user would call instead, from array to array: torch, CuPy, OpenCV and scipy, where they are installed.

Every work includes what the name of the row includes: uploads and downloads on GPUs, and conversions of the dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..model.arrays import Array
from .measure import Peer, Work
from .peer_libraries import available, torch_theta

__all__ = ["enlarge_peers", "level_peers", "sample_peers", "shrink_peers", "upload_peers", "volume_peers", "warp_peers"]


_TINY = 8  # pixels of the shorter side where chains of levels end


def _torch(on_gpu: bool) -> ModuleType | None:
    torch = available("torch")
    return torch if torch is not None and (not on_gpu or torch.cuda.is_available()) else None


def _cupy(on_gpu: bool) -> ModuleType | None:
    return available("cupy") if on_gpu else None


def _placed(torch: ModuleType, pixels: Array, on_gpu: bool) -> Any:
    """(1, channels, height, width) float32 of pixels (height, width, channels), where torch works."""
    tensor = torch.from_numpy(pixels).to("cuda" if on_gpu else "cpu")
    return tensor.permute(2, 0, 1)[None].to(torch.float32)


def _returned(torch: ModuleType, planes: Any, pixels: Array) -> Any:
    """A numpy array (height, width, channels) of the dtype of the pixels."""
    result = planes[0].permute(1, 2, 0)
    if pixels.dtype == np.uint8:
        result = (result + 0.5).to(torch.uint8)
    return result.contiguous().cpu().numpy()


def upload_peers(pixels: Array, *, on_gpu: bool) -> dict[str, Peer]:
    """Pixels to where a library works with them: torch's and CuPy's uploads; on processors a copy."""
    peers: dict[str, Peer] = {}
    torch, cupy = _torch(on_gpu), _cupy(on_gpu)
    if torch is not None and on_gpu:
        pinned = torch.from_numpy(pixels).pin_memory()

        def upload(source: Any) -> None:
            source.to("cuda", non_blocking=True)
            torch.cuda.synchronize()

        peers["torch upload"] = Peer(lambda: upload(torch.from_numpy(pixels)))
        peers["torch upload, pinned"] = Peer(lambda: upload(pinned))
    if cupy is not None:
        peers["CuPy upload"] = Peer(lambda: (cupy.asarray(pixels), cupy.cuda.Device().synchronize()))
    if not on_gpu:
        peers["numpy copy"] = Peer(lambda: pixels.copy())
    return peers


def warp_peers(pixels: Array, matrix: Array, *, on_gpu: bool, goal: float | None) -> dict[str, Peer]:
    """An affine map of pixels (height, width, channels) by (2, 3), output to input, centres at one half."""
    peers: dict[str, Peer] = {}
    height, width = pixels.shape[:2]
    corner = matrix[:, :2] @ (0.5, 0.5) + matrix[:, 2] - 0.5  # of the map between pixel centres at whole numbers
    whole = np.column_stack([matrix[:, :2], corner])
    torch, cupy, cv2 = _torch(on_gpu), _cupy(on_gpu), available("cv2")
    if torch is not None:
        theta = torch.from_numpy(torch_theta(matrix, (height, width)))

        def warp() -> object:
            planes = _placed(torch, pixels, on_gpu)
            grid = torch.nn.functional.affine_grid(theta.to(planes.device), planes.shape, align_corners=False)
            sample = torch.nn.functional.grid_sample
            return _returned(torch, sample(planes, grid, padding_mode="border", align_corners=False), pixels)

        peers["torch"] = Peer(warp, goal=goal)
    ndimage = available("cupyx.scipy.ndimage") if cupy is not None else None
    if cupy is not None and ndimage is not None:
        turned, shift = cupy.asarray(whole[::-1, 1::-1].copy()), whole[::-1, 2].tolist()

        def transform() -> object:
            source = cupy.asarray(pixels)
            planes = [
                ndimage.affine_transform(source[..., channel], turned, shift, order=1, mode="nearest")
                for channel in range(pixels.shape[2])
            ]
            return cupy.stack(planes, -1).get()

        peers["CuPy affine_transform"] = Peer(transform)
    if cv2 is not None:
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        peers["OpenCV warpAffine"] = Peer(
            lambda: cv2.warpAffine(pixels, whole, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE),
            goal=None if on_gpu else goal,
        )
    return peers


def _resize_peers(
    pixels: Array, size: tuple[int, int], *, on_gpu: bool, goal: float | None, area: bool
) -> dict[str, Peer]:
    peers: dict[str, Peer] = {}
    torch, cv2 = _torch(on_gpu), available("cv2")
    if torch is not None:
        options: dict[str, Any] = {"mode": "area"} if area else {"mode": "bilinear", "align_corners": False}

        def resize() -> object:
            planes = _placed(torch, pixels, on_gpu)
            return _returned(torch, torch.nn.functional.interpolate(planes, size=size[::-1], **options), pixels)

        peers["torch interpolate"] = Peer(resize, goal=goal if on_gpu else None)
    if cv2 is not None:
        flags = cv2.INTER_AREA if area else cv2.INTER_LINEAR
        work = lambda: cv2.resize(pixels, size, interpolation=flags)  # noqa: E731
        peers["OpenCV resize"] = Peer(work, goal=None if on_gpu else goal)
    return peers


def shrink_peers(pixels: Array, size: tuple[int, int], *, on_gpu: bool, goal: float | None = None) -> dict[str, Peer]:
    """Means of areas, to (width, height)."""
    return _resize_peers(pixels, size, on_gpu=on_gpu, goal=goal, area=True)


def enlarge_peers(pixels: Array, size: tuple[int, int], *, on_gpu: bool, goal: float | None = None) -> dict[str, Peer]:
    """Linear interpolation, to (width, height)."""
    return _resize_peers(pixels, size, on_gpu=on_gpu, goal=goal, area=False)


def level_peers(pixels: Array, *, on_gpu: bool, goal: float | None) -> dict[str, Peer]:
    """All levels of a mipmap: OpenCV's ``pyrDown`` and torch's ``avg_pool2d``, each from the level before."""
    peers: dict[str, Peer] = {}
    torch, cv2 = _torch(on_gpu), available("cv2")
    if torch is not None:

        def pool() -> None:
            planes = _placed(torch, pixels, on_gpu)
            while min(planes.shape[2:]) > _TINY:
                planes = torch.nn.functional.avg_pool2d(planes, 2)
            if on_gpu:
                torch.cuda.synchronize()

        peers["torch avg_pool2d"] = Peer(pool)
    if cv2 is not None:

        def pyramid() -> None:
            level = pixels
            while min(level.shape[:2]) > _TINY:
                level = cv2.pyrDown(level)

        peers["OpenCV pyrDown"] = Peer(pyramid, goal=None if on_gpu else goal)
    return peers


def sample_peers(pixels: Array, points: Array, *, on_gpu: bool, goal: float | None) -> dict[str, Peer]:
    """Linear samples at ready coordinates (N, 2 or 3), which lie where torch works; waits."""
    torch = _torch(on_gpu)
    if torch is None:
        return {}
    place = "cuda" if on_gpu else "cpu"
    planes = torch.from_numpy(np.moveaxis(pixels, -1, 0)[None].copy()).to(place)
    size = np.array(pixels.shape[-2::-1], np.float32)
    grid = torch.from_numpy(points / size * 2 - 1).to(place).reshape(1, *(1,) * (len(size) - 1), -1, len(size))

    def run() -> None:
        torch.nn.functional.grid_sample(planes, grid, padding_mode="border", align_corners=False)
        if on_gpu:
            torch.cuda.synchronize()

    return {"torch grid_sample": Peer(run, goal=goal)}


def volume_peers(volume: Array, matrix: Array, offset: Array, *, on_gpu: bool) -> dict[str, Peer]:
    """An affine map of a volume from array to array: scipy's, and CuPy's with texture memory."""
    ndimage = available("cupyx.scipy.ndimage" if on_gpu else "scipy.ndimage")
    cupy = _cupy(on_gpu)
    if ndimage is None:
        return {}
    if not on_gpu:
        return {
            "scipy affine_transform": Peer(
                lambda: ndimage.affine_transform(volume, matrix, offset, order=1, mode="nearest")
            )
        }
    if cupy is None:
        return {}
    homogeneous = np.eye(4)
    homogeneous[:3, :3], homogeneous[:3, 3] = matrix, offset

    def transform(textures: bool) -> Callable[[], object]:
        turned = cupy.asarray(homogeneous, np.float32 if textures else None)  # its textures take no float64
        options = {"texture_memory": True} if textures else {}
        return lambda: ndimage.affine_transform(cupy.asarray(volume), turned, order=1, mode="nearest", **options).get()

    works: dict[str, Work] = {
        "CuPy affine_transform": transform(False),
        "CuPy affine_transform, textures": transform(True),
    }
    return {name: Peer(work) for name, work in works.items()}
