"""``resample``: volumes on another grid of the world, with gradients to pixels, matrices and fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..model.enums import Interpolation
from ..model.errors import ArgumentError
from ..model.grid import Grid
from ..model.message_values import shown
from ..model.transforms import Affine, BSpline, Displacement, Transform, parts_of
from . import functions
from .mappings import mapped_pixels
from .sampling import arguments, sample
from .tensors import require_tensors

__all__ = ["resample"]

Tensor = Any


def resample(
    volume: Tensor,
    source: Grid,
    target: Grid,
    transform: Transform | Tensor | Sequence[Transform | Tensor] | None = None,
    *,
    filtering: str | Interpolation = "linear",
    fill: float = 0.0,
    addressing: str | Sequence[str] = "extent",
    deterministic: bool | None = None,
) -> Tensor:
    """Volumes, or images, on the pixels of another grid, through the world and a transform of it.

    The pixel of the target at world position p is the value of the volume at ``transform(p)``, with exact weights, as
    of ``bindless.space.resample``.

    Parameters
    ----------
    volume : Tensor
        Real numbers. Shape ``(*source.shape)``, with an axis of channels behind it or without; or ``(N,
        *source.shape, C)``, a batch.
    source, target : bindless.space.Grid
        Where the pixels of the volume and those of the result lie.
    transform : Transform | Tensor | Sequence[Transform | Tensor], optional
        From points of the target's world to the source's: a transform of ``bindless.space``, whose fields may be
        tensors; a matrix (d, d + 1) or (d + 1, d + 1), affine; a field ``(*target.shape, d)`` of displacements in the
        world, one for each pixel of the target; or several of these, the first one first. Default: the identity.
    filtering, fill, addressing, deterministic
        As those of ``sample``.

    Returns
    -------
    Tensor
        The volume's axes, with the target's sizes, in its dtype: differentiable twice in the volume, in matrices and in
        fields.

    Raises
    ------
    ArgumentError
        The volume is not of the source's shape, or a part of the transform does not fit the grids.

    Notes
    -----
    Positions are computed in the volume's dtype, at least single precision; matrices are multiplied in double
    precision. Memory of the positions is taken for the call, and until the gradients are computed.

    Examples
    --------
    >>> import torch
    >>> from bindless.space import Grid
    >>> from bindless.torch import resample
    >>> ramp, lies = torch.tensor([[0.0, 10, 20, 30]]), Grid((1, 4), spacing=2.0)
    >>> move = torch.tensor([[1.0, 0, 1], [0, 1, 0]], requires_grad=True)
    >>> values = resample(ramp, lies, lies, move)
    >>> values.tolist()
    [[5.0, 15.0, 25.0, 30.0]]
    >>> torch.autograd.grad(values.sum(), move)[0][0, 2].item()  # the last pixel is that of the edge
    15.0
    """
    require_tensors(volume=volume)
    for name, grid in (("source", source), ("target", target)):
        if not isinstance(grid, Grid):
            raise ArgumentError(f"{name}={shown(grid)} is no Grid; bindless.space.Grid(shape, spacing, origin) is one")
    dims = source.dimensions
    if target.dimensions != dims:
        raise ArgumentError(f"target has {target.dimensions} axes, and source {dims}")
    if not volume.is_floating_point():
        raise ArgumentError(f"volume has dtype {volume.dtype}: convert it to real numbers")
    batched, pixels = _arranged(volume, source)
    coords = _coordinates(volume, source, target, _parts(transform, target))
    values = sample(
        pixels, coords[None] if batched else coords, addressing=addressing, filtering=filtering, fill=fill,
        precision="exact", deterministic=deterministic,
    )  # fmt: skip
    return values if pixels.dim() == volume.dim() else values[..., 0]


def _arranged(volume: Tensor, grid: Grid) -> tuple[bool, Tensor]:
    """Whether there is a batch, and the volume with an axis of channels."""
    shape, dims = tuple(volume.shape), grid.dimensions
    if shape == grid.shape:
        return False, volume[..., None]
    if shape[:-1] == grid.shape:
        return False, volume
    if len(shape) == dims + 2 and shape[1:-1] == grid.shape:
        return True, volume
    raise ArgumentError(f"volume has shape {shape}; that of the source is {grid.shape}, a batch is (N, *shape, C)")


def _parts(transform: Any, target: Grid) -> list[Any]:
    """Parts of transforms, matrices, and fields of displacements of the target's pixels."""
    if isinstance(transform, torch.Tensor):
        return [transform]
    if isinstance(transform, (list, tuple)) and any(not isinstance(part, (int, float, list)) for part in transform):
        return [part for each in transform for part in _parts(each, target)]
    parts: list[Any] = list(parts_of(transform))
    return parts


def _coordinates(volume: Tensor, source: Grid, target: Grid, parts: Sequence[Any]) -> Tensor:
    """Pixels of the source that the target's pixels are samples of: (*target.shape, d)."""
    dims, dtype = source.dimensions, torch.promote_types(volume.dtype, torch.float32)
    constant = {"dtype": torch.float64, "device": volume.device}
    matrix = _tensor(target.matrix, **constant)  # from pixels, or from the world if there are points
    points: Tensor = None

    def follow(to: Grid | None) -> Tensor:
        """Points behind the matrix, in the pixels of a grid or in the world."""
        whole = matrix if to is None else _tensor(np.linalg.inv(to.matrix), **constant) @ matrix
        whole = whole[:dims].to(dtype)
        if points is None:
            return mapped_pixels(whole, target.shape)
        return points @ whole[:, :dims].mT + whole[:, dims]

    for part in parts:
        if isinstance(part, (Displacement, BSpline)):
            if part.dimensions != dims:
                raise ArgumentError(f"transform has a part of {part.dimensions} axes, {part!r}; the grids have {dims}")
            vectors = _vectors(part, follow(part.grid), volume)
        elif isinstance(part, torch.Tensor) and tuple(part.shape) == (*target.shape, dims):
            vectors = part
        else:
            matrix = _matrix(part, dims, constant, target) @ matrix
            continue
        points = follow(None) + vectors.to(dtype)
        matrix = torch.eye(dims + 1, **constant)
    return follow(source)


def _matrix(part: Any, dims: int, constant: dict[str, Any], target: Grid) -> Tensor:
    """An affine map of the world (d + 1, d + 1)."""
    matrix = part.matrix if isinstance(part, Affine) else part
    shape = tuple(matrix.shape)
    if shape not in ((dims, dims + 1), (dims + 1, dims + 1)):
        raise ArgumentError(
            f"a part of the transform has shape {shape}; with {dims} axes a matrix is {(dims, dims + 1)} or "
            f"{(dims + 1, dims + 1)}, a field of the target's pixels {(*target.shape, dims)}"
        )
    matrix = _tensor(matrix, **constant)
    last = torch.eye(dims + 1, **constant)[dims:]
    return torch.cat([matrix[:dims], last])


def _tensor(array: Any, device: Any, dtype: Any) -> Tensor:
    """An array of any library; a copy of one of numpy, which may be constant."""
    tensor = torch.from_numpy(np.array(array)) if isinstance(array, np.ndarray) else torch.as_tensor(array)
    return tensor.to(device, dtype)


def _vectors(part: Displacement | BSpline, coords: Tensor, volume: Tensor) -> Tensor:
    """The displacements at pixels of the part's grid."""
    vectors = _tensor(part.vectors, volume.device, coords.dtype)
    if isinstance(part, Displacement):
        return sample(vectors, coords, addressing="extent", precision="exact")
    chosen = arguments(("clamp_to_edge",), "cubic", "unnormalized", "exact", False)
    values = functions.sample([vectors[None]], coords[None], None, chosen)[0]
    inside = [(place >= 1.5) & (place <= size - 1.5) for place, size in zip(coords.unbind(-1), vectors.shape[-2::-1])]
    return values * torch.stack(inside).all(0)[..., None]
