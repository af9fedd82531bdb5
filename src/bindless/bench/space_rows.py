"""Rows of ``bindless bench`` about grids in physical space, and SimpleITK's time, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model.arrays import Array
from ..model.aspects import Aspect
from ..space import Affine, Displacement, Grid, Sequence, resample
from ..sycl.usm import usm_empty
from .measure import Bench, Peer
from .peer_libraries import available

__all__ = ["measure_space"]

_SIDE, _FIELD = 256, 32  # voxels of a side
_GOAL_ITK, _GOAL_FIELD = 10.0, 1 / 1.3
_GOAL_GPU = 0.5e-3  # seconds


def measure_space(bench: Bench) -> None:
    """A volume on another grid: through an affine map, and through one, a coarse field and another one."""
    queue, side = bench.queue, max(int(_SIDE * min(bench.samples / 1e6, 1.0) ** (1 / 3)), 8)
    random = np.random.default_rng(38)
    volume = random.integers(-1000, 3000, (side,) * 3).astype(np.int16)
    vectors = random.normal(size=(_FIELD,) * 3 + (3,)).astype(np.float32)
    source = Grid(volume.shape, (0.8, 0.8, 1.0))
    target = Grid(volume.shape, (0.75, 0.8, 0.9), (3.0, 4.0, 5.0), Affine.rotation((2, 3, 4), (0, 0, 0)).matrix[:3, :3])
    extent = np.array(source.spacing) * side * 1.1
    lies = Grid((_FIELD,) * 3, tuple(extent / _FIELD), (-5.0, -5.0, -5.0))
    first, last = (Affine.rotation(angles, tuple(extent / 2)) for angles in ((5, 3, 10), (-2, 3, 1)))
    on_gpu = queue.device.has(Aspect.gpu)
    image, field, out = (
        (usm_empty(array.shape, array.dtype, queue).copy_from(array) if on_gpu else array)
        for array in (volume, vectors, np.empty_like(volume))
    )

    def resampling(transform: Affine | Sequence) -> Callable[[], None]:
        def run() -> None:
            resample(image, source, target, transform, out=out, queue=queue)
            queue.wait()

        return run

    affine = resampling(last)
    through = resampling(Sequence([first, Displacement(field, lies), last]))
    amount: dict[str, Any] = {"amount": volume.size, "unit": "pixels"}
    bench.measure(f"{side}^3 int16 to another grid, affine", affine, _itk(volume, source, target, [last]), **amount)
    peers = {"without the field": Peer(affine, goal=_GOAL_FIELD)}
    parts: list[Affine | Displacement] = [first, Displacement(vectors, lies), last]
    peers |= _itk(volume, source, target, parts, goal=None if on_gpu else _GOAL_ITK)
    goal = _GOAL_GPU if on_gpu else 0.0
    bench.measure(f"{side}^3 int16, field of {_FIELD}^3 between affines", through, peers, goal_seconds=goal, **amount)


def _itk(
    volume: Array, source: Grid, target: Grid, parts: list[Affine | Displacement], *, goal: float | None = None
) -> dict[str, Peer]:
    """SimpleITK on all processors, from image to image."""
    sitk = available("SimpleITK")
    if sitk is None:
        return {}

    def place(image: Any, grid: Grid) -> Any:
        image.SetSpacing(grid.spacing)
        image.SetOrigin(grid.origin)
        image.SetDirection(np.asarray(grid.direction).ravel().tolist())
        return image

    def transform_of(part: Affine | Displacement) -> Any:
        if isinstance(part, Displacement):
            moves = sitk.GetImageFromArray(part.vectors.astype(np.float64), isVector=True)
            return sitk.DisplacementFieldTransform(place(moves, part.grid))
        transform = sitk.AffineTransform(3)
        transform.SetMatrix(part.matrix[:3, :3].ravel().tolist())
        transform.SetTranslation(part.matrix[:3, 3].tolist())
        return transform

    image = place(sitk.GetImageFromArray(volume), source)
    like = place(sitk.Image(*volume.shape[::-1], sitk.sitkInt16), target)
    transform = sitk.CompositeTransform([transform_of(part) for part in reversed(parts)])
    return {"SimpleITK Resample": Peer(lambda: sitk.Resample(image, like, transform, sitk.sitkLinear), goal=goal)}
