"""A texture, learned from views of it that are rotated, scaled and coarse.

Each view shows a part of a photograph at a quarter of its resolution. The texture starts grey, and descends along the
gradient of the views' squared differences. ``bindless.torch.warp`` draws the views, and gives the gradient of the
texels.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from common import photograph
from training import Tensor, beside, descend, main

from bindless.torch import warp

VIEWS = 24


def truth(size: int) -> npt.NDArray[np.float32]:
    """Return the photograph, float32 (size, size, 3), values 0 to 1."""
    picture = torch.from_numpy(photograph("astronaut.png")[..., :3].copy()).permute(2, 0, 1)[None].float() / 255
    small = torch.nn.functional.interpolate(picture, (size, size), mode="area")
    found: npt.NDArray[np.float32] = small[0].permute(1, 2, 0).numpy()
    return found


def matrices(size: int) -> Tensor:
    """Return the map from the pixels of each view to those of the texture, (VIEWS, 2, 3)."""
    generator = np.random.default_rng(8)
    maps = []
    for view in range(VIEWS):
        angle, scale = 2 * math.pi * view / VIEWS, generator.uniform(0.7, 1.1)
        turned = scale * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        centre = np.array([size / 2, size / 2])
        shift = centre - turned @ centre + generator.uniform(-0.1, 0.1, 2) * size
        maps.append(np.column_stack([turned, shift]))
    return torch.from_numpy(np.array(maps, np.float32))


def draw(texture: Tensor, maps: Tensor) -> Tensor:
    """Draw the views, (VIEWS, 3, size / 4, size / 4): each pixel is the mean of 16 samples."""
    size = texture.shape[0]
    views = torch.stack([warp(texture, each, (size, size)) for each in maps])
    return torch.nn.functional.avg_pool2d(views.permute(0, 3, 1, 2), 4)


def fit(device: torch.device, size: int, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the views, the fitted texture and the photograph."""
    wanted = torch.from_numpy(truth(size)).to(device)
    maps = matrices(size).to(device)
    views = draw(wanted, maps)
    texture = torch.full_like(wanted, 0.5, requires_grad=True)
    descend(lambda: (draw(texture, maps) - views).square().mean(), [texture], steps, 0.05)
    return views, texture.detach(), wanted


def learn(device: torch.device, size: int, steps: int) -> npt.NDArray[np.float32]:
    """Return a view, the mean of a quarter of them, the fitted texture and the photograph, next to one another."""
    views, texture, wanted = fit(device, size, steps)
    coarse = torch.nn.functional.interpolate(views[3:4], (size, size))[0].permute(1, 2, 0)
    return beside([coarse, texture, wanted])


if __name__ == "__main__":
    main(learn, __doc__, size=256, steps=200)
