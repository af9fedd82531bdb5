"""``lut3d``: colours by a table, with gradients to both."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function

from ..model.errors import ArgumentError
from .sampling import sample
from .tensors import require_tensors

__all__ = ["lut3d"]

Tensor = Any


def lut3d(
    picture: Tensor,
    table: Tensor,
    interpolation: str = "tetrahedral",
    *,
    domain: tuple[float, float] = (0.0, 1.0),
) -> Tensor:
    """The picture with its colours mapped by a table, as ``bindless.Lut3D`` does it.

    Parameters
    ----------
    picture : Tensor
        Shape (..., 3), or (..., 4) with a fourth channel that stays as it is: red, green and blue.
    table : Tensor
        Shape (blue, green, red, 3) with three equal sizes, on the device of the picture and of its dtype: float64,
        float32, float16 or bfloat16.
    interpolation : {"tetrahedral", "trilinear"}, default "tetrahedral"
        Between the four entries of a tetrahedron, which keeps greys free of other colours, or the eight of a cell.
    domain : tuple[float, float], default (0.0, 1.0)
        Input values at the first and at the last entry. Values beyond are clamped, and have no gradient.

    Returns
    -------
    Tensor
        Of the picture's shape and dtype, differentiable twice in the picture and the table.

    Raises
    ------
    ArgumentError
        Shapes, dtypes, devices or options that do not fit.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import lut3d
    >>> ends = torch.tensor([0.0, 1.0])
    >>> b, g, r = torch.meshgrid(ends, ends, ends, indexing="ij")
    >>> lut3d(torch.tensor([[0.25, 0.5, 1.0]]), 1 - torch.stack([r, g, b], -1)).tolist()
    [[0.75, 0.5, 0.0]]
    """
    if has_torch_function((picture, table)):
        return handle_torch_function(lut3d, (picture, table), picture, table, interpolation, domain=domain)
    require_tensors(picture=picture, table=table)
    size = table.shape[0] if table.dim() else 0
    if table.dim() != 4 or tuple(table.shape) != (size, size, size, 3) or size < 2:
        raise ArgumentError(f"table has shape {tuple(table.shape)}: (n, n, n, 3) with n from 2 is needed")
    if not picture.dim() or picture.shape[-1] not in (3, 4):
        raise ArgumentError(f"picture has shape {tuple(picture.shape)}: 3 or 4 channels in the last axis are needed")
    if not table.is_floating_point() or (picture.dtype, picture.device) != (table.dtype, table.device):
        raise ArgumentError(
            f"picture is {picture.dtype} on {picture.device}, table {table.dtype} on {table.device}: convert one of "
            "them to the real numbers and the device of the other"
        )
    low, high = domain
    if not low < high:
        raise ArgumentError(f"domain={domain}: the first value is less than the last one")
    if interpolation not in ("tetrahedral", "trilinear"):
        raise ArgumentError(f"interpolation={interpolation!r}: it is tetrahedral or trilinear")
    single = torch.float64 if picture.dtype is torch.float64 else torch.float32
    places = ((picture[..., :3].to(single) - low) * ((size - 1) / (high - low))).clamp(0, size - 1)
    entries = table.to(single)
    if interpolation == "trilinear":
        colours = sample(entries, places + 0.5, precision="exact")
    else:
        colours = _tetrahedral(places, entries)
    return torch.cat([colours.to(picture.dtype), picture[..., 3:]], -1)


def _tetrahedral(places: Tensor, table: Tensor) -> Tensor:
    """Colours at places (..., 3) in the table: along the axis of the largest share first."""
    size = table.shape[0]
    low = places.detach().floor().clamp(0, size - 2)
    shares, order = (places - low).sort(-1, descending=True)
    steps = torch.tensor([1, size, size * size], device=places.device)
    first = (low.long() * steps).sum(-1)
    ends = torch.zeros_like(shares[..., :1])
    weights = torch.cat([ends + 1, shares], -1) - torch.cat([shares, ends], -1)
    corners = torch.cat([first[..., None], first[..., None] + steps[order].cumsum(-1)], -1)
    return (weights[..., None] * table.reshape(-1, 3)[corners]).sum(-2)
