"""
A mirror ball
=============

Reflections are lookups by direction: each pixel of the ball computes where its ray goes, and samples the surroundings,
a cubemap, there. On a rough ball each lookup averages; mipmaps give the average at the price of one sample.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

lat, lon = np.meshgrid(np.linspace(np.pi / 2, -np.pi / 2, 256), np.linspace(-np.pi, np.pi, 512), indexing="ij")
tiles = (np.floor(12 * lon / np.pi) + np.floor(12 * lat / np.pi)) % 2 < 1
room = np.stack([0.5 + 0.5 * np.sin(lon), 0.5 + 0.5 * np.sin(lat), 0.5 + 0.5 * np.cos(lon)], -1)
room = (room * np.where(tiles, 1.0, 0.55)[..., None]).astype(np.float32)

y, x = np.mgrid[1.2:-1.2:360j, -1.2:1.2:360j]
inside = x**2 + y**2 < 1
z = np.sqrt(np.maximum(1 - x**2 - y**2, 0))
normal = np.stack([x, y, z], -1)
view = np.array([0, 0, -1])
mirrored = view - 2 * (normal @ view)[..., None] * normal
directions = np.where(inside[..., None], mirrored, np.stack([x, y, np.full_like(x, -2)], -1)).astype(np.float32)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
with bl.Image.from_equirectangular(room, mipmaps=True) as cube:
    for axis, level in zip(axes, (0, 2.5, 4)):
        levels = np.where(inside, level, 0).astype(np.float32)
        axis.imshow(np.clip(cube.sample(directions, level=levels), 0, 1))
        axis.set_title(f"level {level}")
        axis.axis("off")
