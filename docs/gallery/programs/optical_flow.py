"""Optical flow: how each pixel moved between two frames, found by gradient descent.

The first frame is the second one, a photograph, sampled along a smooth field. The flow of a coarse pair of frames comes
first, and starts the descent of the next finer pair. The loss is the difference of the first frame and the second one,
sampled along the flow, plus the roughness of the flow. ``bindless.torch.warp`` samples, with the flow as
``displacement``.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from common import photograph
from torch.nn import functional
from training import Tensor, beside, descend, main

from bindless.torch import warp

LEVELS = 4


def motion(size: int) -> Tensor:
    """Return the true displacement of each pixel, (size, size, 2) in pixels in the order x, y."""
    y, x = torch.meshgrid(*[(torch.arange(size) + 0.5) / size * 2 - 1] * 2, indexing="ij")
    swirl = 0.05 * size * torch.exp(-2 * (x * x + y * y))[..., None] * torch.stack([-y, x], -1)
    wave = 0.012 * size * torch.stack([torch.sin(2.5 * y + 0.6), torch.cos(2.0 * x)], -1)
    return 2 * swirl + wave


def frames(device: torch.device, size: int) -> tuple[Tensor, Tensor]:
    """Return two frames, (size, size, 3): the first, sampled along the motion in the second."""
    picture = torch.from_numpy(photograph("chelsea.png")[:, :, :3].copy()).permute(2, 0, 1)[None].float() / 255
    side = min(picture.shape[-2:])
    second = functional.interpolate(picture[..., :side, 60 : 60 + side], (size, size), mode="area")[0].permute(1, 2, 0)
    second = second.contiguous().to(device)
    return moved(second, motion(size).to(device)), second


def moved(picture: Tensor, flow: Tensor) -> Tensor:
    """Return a picture, sampled at the centres of its pixels plus a flow."""
    identity = torch.eye(2, 3, device=picture.device)
    return warp(picture, identity, flow.shape[:2], displacement=flow)


def smaller(picture: Tensor, factor: int) -> Tensor:
    """Return the means of blocks of pixels of (height, width, channels)."""
    return functional.avg_pool2d(picture.permute(2, 0, 1)[None], factor)[0].permute(1, 2, 0).contiguous()


def estimate(first: Tensor, second: Tensor, steps: int) -> Tensor:
    """Return the flow, (height, width, 2) in pixels."""
    flow = torch.zeros(1, 1, 2, device=first.device)
    for level in reversed(range(LEVELS)):
        near, far = (smaller(frame, 2**level) for frame in (first, second))
        wider = functional.interpolate(
            flow.permute(2, 0, 1)[None], near.shape[:2], mode="bilinear", align_corners=False
        )
        scale = near.shape[0] / flow.shape[0] if flow.shape[0] > 1 else 1.0
        flow = (wider[0].permute(1, 2, 0) * scale).contiguous().requires_grad_()
        descend(lambda near=near, far=far, flow=flow: loss(near, far, flow), [flow], steps, 0.1)  # type: ignore[misc]
        flow = flow.detach()
    return flow


def loss(first: Tensor, second: Tensor, flow: Tensor) -> Tensor:
    """Return the robust difference of the frames along the flow, plus the roughness of the flow."""
    differs = (moved(second, flow) - first).square().sum(-1).add(1e-6).sqrt().mean()
    rough = flow.diff(dim=0).square().mean() + flow.diff(dim=1).square().mean()
    return differs + 0.2 * rough


def colours(flow: Tensor, largest: float) -> Tensor:
    """Return a picture of a flow: the hue is its direction, the saturation its length."""
    angle = torch.atan2(flow[..., 1], flow[..., 0])[..., None]
    waves = 0.5 + 0.5 * torch.cos(angle - 2 * math.pi / 3 * torch.arange(3, device=flow.device))
    length = (flow.norm(dim=-1, keepdim=True) / largest).clamp(0, 1)
    return 1 - length * (1 - waves)


def learn(device: torch.device, size: int, steps: int) -> npt.NDArray[np.float32]:
    """Return the two frames, the flow found and the true one, next to one another."""
    first, second = frames(device, size)
    flow, true = estimate(first, second, steps), motion(size).to(device)
    largest = float(true.norm(dim=-1).max())
    print(f"mean error {float((flow - true).norm(dim=-1).mean()):.2f} pixels of up to {largest:.1f}")
    return beside([first, second, colours(flow, largest), colours(true, largest)])


if __name__ == "__main__":
    main(learn, __doc__, size=256, steps=150)
