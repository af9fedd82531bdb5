"""
Look around in a panorama
=========================

A cubemap answers "what colour is in this direction?". :meth:`bindless.Image.from_equirectangular` makes one from a
panorama of the whole sphere; a camera is an array of directions, and :meth:`bindless.Image.sample` is its picture.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

# A computed panorama: sky, sun, hills, and a plain with a grid. Columns are longitudes, rows latitudes.
lat, lon = np.meshgrid(np.linspace(np.pi / 2, -np.pi / 2, 512), np.linspace(-np.pi, np.pi, 1024), indexing="ij")
hills = 0.10 + 0.06 * np.sin(3 * lon) + 0.04 * np.sin(7 * lon + 1)
depth = 1 / np.tan(np.maximum(-lat, 0.02))
grid = (np.abs((depth * np.sin(lon)) % 1 - 0.5) > 0.46) | (np.abs((depth * np.cos(lon)) % 1 - 0.5) > 0.46)
sky = np.stack([0.35 + 0.3 * np.cos(lat) ** 8, 0.55 + 0.2 * np.cos(lat) ** 8, 0.9 + 0 * lat], -1)
sun = np.exp(-((lat - 0.5) ** 2 + (lon - 0.4) ** 2) / 0.004)[..., None]
ground = np.where(grid[..., None], [0.35, 0.3, 0.2], [0.75, 0.68, 0.5])
panorama = np.where((lat < 0)[..., None], ground, np.where((lat < hills)[..., None], [0.3, 0.45, 0.3], sky + sun))
panorama = np.clip(panorama, 0, 1).astype(np.float32)


def camera(yaw, pitch, field=75, width=320, height=240):
    """Directions of a camera's pixels: x right, y up, -z ahead; angles in degrees."""
    v, u = np.mgrid[0.5:height, 0.5:width]
    focal = width / 2 / np.tan(np.radians(field) / 2)
    rays = np.stack([u - width / 2, height / 2 - v, np.full_like(u, -focal)], -1)
    (a, b), (c, d) = np.cos(np.radians([yaw, pitch])), np.sin(np.radians([yaw, pitch]))
    tilt = np.array([[1, 0, 0], [0, b, -d], [0, d, b]])
    turn = np.array([[a, 0, -c], [0, 1, 0], [c, 0, a]])
    return (rays @ (turn @ tilt).T).astype(np.float32)


figure, axes = plt.subplots(2, 2, figsize=(9, 6.2), layout="constrained")
axes[0, 0].imshow(panorama)
axes[0, 0].set_title("panorama")
with bl.Image.from_equirectangular(panorama) as cube:
    for axis, (yaw, pitch) in zip(axes.flat[1:], [(0, 5), (60, -10), (20, 40)]):
        axis.imshow(cube.sample(camera(yaw, pitch)))
        axis.set_title(f"yaw {yaw}°, pitch {pitch}°")
for axis in axes.flat:
    axis.axis("off")
