"""
Terrain with anisotropy
=======================

Rays march over a height field, a texture, and colour it from a second one. Seen at a slant, a pixel covers a long strip
of ground: ``dx`` and ``dy`` give :meth:`bindless.Image.sample` the strip, and ``max_anisotropy`` keeps it sharp.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import bindless as bl

generator = np.random.default_rng(5)
n = 256
noise = generator.normal(size=(n, n))
ground = sum(gaussian_filter(noise, s, mode="wrap") * s**1.9 for s in (3, 8, 20)).astype(np.float32)
ground = 30 * (ground - ground.min()) / np.ptp(ground)
with bl.Image(ground) as image:
    fine = image.resize((4 * n, 4 * n))  # the map has four pixels for each of the heights
level = np.clip(fine / 30, 0, 1)[..., None]
green, brown, white = np.array([[0.25, 0.45, 0.2], [0.6, 0.5, 0.35], [0.97, 0.97, 1.0]])
land = np.where(level < 0.6, green + (brown - green) * level / 0.6, brown + (white - brown) * (level - 0.6) / 0.4)
contour = np.abs(fine % 2.5 - 1.25) > 1.1
grid = np.logical_or(*(np.mgrid[: 4 * n, : 4 * n] % 16 < 2))
land = (land * np.where(contour | grid, 0.35, 1.0)[..., None]).astype(np.float32)

height, width = 190, 320
v, u = np.mgrid[0.12 : -0.7 : height * 1j, -1 : 1 : width * 1j]
rays = np.stack([u, np.full_like(u, 1.2), v], -1)  # x right, y ahead, z up
eye = np.array([n / 2, 0, 34.0])


def march(heights):
    """The points where the rays meet the ground, and whether they do."""
    t, step = np.full((height, width), 4.0), np.full((height, width), 1.2)
    for _ in range(160):
        points = eye + t[..., None] * rays
        above = points[..., 2] - heights.sample(points[..., :2].astype(np.float32))
        step = np.where(above > 0, np.clip(above * 0.5, 0.02, 2.5), 0)
        t += step
    return eye + t[..., None] * rays, (step < 0.1) & (t < 190)


with bl.Image(ground, addressing="repeat") as heights:
    points, hit = march(heights)
at = 4 * points[..., :2].astype(np.float32)
down, right = np.gradient(at, axis=(0, 1))
figure, axes = plt.subplots(1, 2, figsize=(13, 4.1), layout="constrained")
for axis, ratio in zip(axes, (0, 16)):
    with bl.Image(land, mipmaps=True, max_anisotropy=ratio, addressing="repeat") as image:
        colour = image.sample(at, dx=right, dy=down)
    haze = np.exp(-points[..., 1:2] / 160)
    sky = np.array([0.65, 0.78, 0.92])
    axis.imshow(np.where(hit[..., None], np.clip(colour, 0, 1) * haze + sky * (1 - haze), sky))
    axis.set_title(f"max_anisotropy={ratio}")
    axis.axis("off")
