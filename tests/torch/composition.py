"""``grid_sample`` in elementary operations of torch, of which torch makes derivatives of all orders."""

from __future__ import annotations

import torch

from tests.oracle.samples import sample_textures

Tensor = torch.Tensor


def grid_sample(
    image: Tensor, grid: Tensor, mode: str = "bilinear", padding: str = "zeros", align: bool = False
) -> Tensor:
    """``torch.nn.functional.grid_sample``, whose second derivatives torch has from 2.13 on."""
    sizes = image.shape[:1:-1]
    boundary = {"zeros": "border", "border": "edge", "reflection": "mirror" if align else "mirrored_repeat"}[padding]
    values: Tensor = sample_textures(
        [image.movedim(1, -1)],
        grid.flatten(1, -2),
        interpolation="linear" if mode == "bilinear" else mode,
        boundary=boundary,
        scale=tuple((size - 1 if align else size) / 2 for size in sizes),
        offset=tuple((size - 1) / 2 for size in sizes),
        ties_to_even=True,
    )
    values = values + 0 * grid.sum()  # those of the nearest texel do not depend on it
    return values.movedim(-1, 1).reshape(*image.shape[:2], *grid.shape[1:-1])
