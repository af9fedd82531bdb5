"""An environment map, learned from pictures of a mirrored ball.

Six cameras around the ball see the landscape of ``environment_sphere.py`` in it. A cubemap starts grey, and descends
along the gradient of the pictures' differences. ``bindless.torch.texture`` reads the cubemap in the reflected
directions, with seamless filtering, and gives the gradient of its texels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from environment_sphere import panorama
from training import Tensor, beside, descend, main

from bindless.torch import sample, texture

CAMERAS = ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0.3, 1, 0.1), (0.3, -1, 0.1))


def landscape(directions: Tensor, size: int) -> Tensor:
    """Return the light that comes from directions, (..., 3): the panorama, mapped to 0 to 1."""
    light = torch.from_numpy(panorama(2 * size)[..., :3].copy()).to(directions.device)
    x, y, z = torch.nn.functional.normalize(directions, dim=-1).unbind(-1)
    place = torch.stack([torch.atan2(x, -z) / (2 * np.pi) + 0.5, torch.acos(y.clamp(-1, 1)) / np.pi], -1)
    found = sample(light, place, addressing=("repeat", "clamp_to_edge"), coordinate="normalized", precision="exact")
    return 1 - torch.exp(-1.2 * found)


def reflections(device: torch.device, size: int) -> tuple[Tensor, Tensor]:
    """Return the directions in which each camera looks after reflection, (6, size, size, 3), and where the ball is."""
    places = ((torch.arange(size, device=device) + 0.5) / size * 2 - 1) * 1.05
    v, u = torch.meshgrid(-places, places, indexing="ij")
    inside = u * u + v * v < 0.995
    depth = (1 - u * u - v * v).clamp(min=0).sqrt()
    found = []
    for camera in torch.tensor(CAMERAS, device=device, dtype=torch.float32):
        back = torch.nn.functional.normalize(camera, dim=0)
        up = torch.eye(3, device=device)[1 if abs(float(back[1])) < 0.9 else 2]
        right = torch.nn.functional.normalize(torch.linalg.cross(up, back), dim=0)
        normal = u[..., None] * right + v[..., None] * torch.linalg.cross(back, right) + depth[..., None] * back
        found.append(2 * (normal @ back)[..., None] * normal - back)
    return torch.stack(found), inside


def read(cubemap: Tensor, directions: Tensor) -> Tensor:
    """Return values of a cubemap (6, n, n, 3) in directions (N, ..., 3)."""
    return texture(cubemap[None], directions.flatten(0, -2)[None], filter_mode="linear", boundary_mode="cube").reshape(
        directions.shape
    )


def fit(device: torch.device, size: int, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the pictures of the ball, (6, size, size, 3), the same of the cubemap, and the cubemap."""
    directions, inside = reflections(device, size)
    wanted = landscape(directions, size) * inside[..., None]
    cubemap = torch.full((6, size // 2, size // 2, 3), 0.5, device=device, requires_grad=True)

    def loss() -> Tensor:
        differs = ((read(cubemap, directions) - wanted) * inside[..., None]).square().mean()
        rough = cubemap.diff(dim=1).square().mean() + cubemap.diff(dim=2).square().mean()
        return differs + 1e-3 * rough

    descend(loss, [cubemap], steps, 0.05)
    found = cubemap.detach()
    return wanted, read(found, directions) * inside[..., None], found


def learn(device: torch.device, size: int, steps: int) -> npt.NDArray[np.float32]:
    """Return one camera's picture, its reconstruction, and the learned light from all around, as panorama."""
    wanted, found, cubemap = fit(device, size, steps)
    latitude = (0.5 - (torch.arange(size, device=device) + 0.5) / size) * np.pi
    longitude = ((torch.arange(2 * size, device=device) + 0.5) / size - 1) * np.pi
    b, a = torch.meshgrid(latitude, longitude, indexing="ij")
    around = torch.stack([b.cos() * a.sin(), b.sin(), -b.cos() * a.cos()], -1)
    return beside([wanted[2], found[2], read(cubemap, around)])


if __name__ == "__main__":
    main(learn, __doc__, size=192, steps=200)
