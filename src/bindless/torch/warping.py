"""``warp``: images seen through matrices and displacement fields, with gradients to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..image import Image
from ..model.enums import AddressingMode, Interpolation, Precision
from ..model.errors import ArgumentError
from .images import axes_of
from .mappings import mapped_pixels
from .sampling import sample
from .tensors import require_tensors

__all__ = ["warp"]

Tensor = Any


def warp(
    image: Tensor | Image,
    matrix: Tensor,
    shape: int | Sequence[int],
    *,
    displacement: Tensor | None = None,
    addressing: str | AddressingMode | Sequence[str | AddressingMode] = "clamp_to_edge",
    filtering: str | Interpolation = "linear",
    coordinate: str = "unnormalized",
    fill: float = 0.0,
    precision: str | Precision = "hardware",
    deterministic: bool | None = None,
) -> Tensor:
    """An image, or a batch of images, through an affine or projective map and a displacement field.

    The matrix maps from the output to the input: output pixel (i, j[, k]) reads the image at
    ``matrix @ (i + 0.5, j + 0.5[, k + 0.5], 1)``, the result of a projective matrix divided by its last component. The
    displacement of a pixel is added to that.

    Parameters
    ----------
    image : Tensor | Image
        Shape ([N,] [[D,] H,] W, C). An ``Image`` has no gradients, and options of its own.
    matrix : Tensor
        Of an image of d axes (d, d + 1), affine, or (d + 1, d + 1), projective; or one for each image, (N, ...).
    shape : int | Sequence[int]
        Of the output: (width,), (height, width) or (depth, height, width).
    displacement : Tensor, optional
        ``([N,] *shape, d)`` in (x, y[, z]) order, in the coordinates of the image.
    addressing, filtering, coordinate, fill, precision, deterministic
        As those of ``sample``.

    Returns
    -------
    Tensor
        ``([N,] *shape, C)``: differentiable twice in the image, the matrix and the displacement.

    Raises
    ------
    ArgumentError
        Shapes, dtypes or options that do not fit.

    Notes
    -----
    Memory of the coordinates, ``prod(shape) * d`` numbers for each matrix, is taken for the call, and until the
    gradients are computed.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import warp
    >>> image = torch.eye(2)[..., None]
    >>> warp(image, torch.tensor([[-1.0, 0, 2], [0, 1, 0]]), (2, 2), precision="exact")[..., 0]
    tensor([[0., 1.],
            [1., 0.]])
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
    dims = len(sizes)
    require_tensors(matrix=matrix, image=None if isinstance(image, Image) else image, displacement=displacement)
    if matrix.dim() not in (2, 3) or matrix.shape[-1] != dims + 1 or matrix.shape[-2] not in (dims, dims + 1):
        raise ArgumentError(
            f"matrix {tuple(matrix.shape)} for an output {sizes}: it is ([N,] {dims}, {dims + 1}), or "
            f"([N,] {dims + 1}, {dims + 1})"
        )
    axes = axes_of(image) if isinstance(image, Image) else image.dim()
    batched = axes == dims + 2
    if axes not in (dims + 1, dims + 2):
        raise ArgumentError(f"image {tuple(image.shape)} for an output {sizes}: it has as many axes, and channels")
    if not batched and (matrix.dim() == 3 or (displacement is not None and displacement.dim() != dims + 1)):
        raise ArgumentError(f"image {tuple(image.shape)} is one: give it an axis of images, or one matrix alone")
    coords = mapped_pixels(matrix, sizes)
    if displacement is not None:
        if tuple(displacement.shape[-dims - 1 :]) != (*sizes, dims):
            raise ArgumentError(
                f"displacement {tuple(displacement.shape)} for an output {sizes}: it is ([N,] *shape, {dims})"
            )
        coords = coords + displacement
    if batched and coords.dim() == dims + 1:
        coords = coords[None]
    return sample(
        image,
        coords,
        addressing=addressing,
        filtering=filtering,
        coordinate=coordinate,
        fill=fill,
        precision=precision,
        deterministic=deterministic,
    )
