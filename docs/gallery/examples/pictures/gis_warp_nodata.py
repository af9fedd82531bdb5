"""
Reproject a map with missing data
=================================

Elevations on a grid of longitudes and latitudes, with gaps, become a polar map. With ``nan="ignore"`` a pixel next to a
gap is the mean of the neighbours that exist; by default the gap spreads.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

generator = np.random.default_rng(2)
lat, lon = np.meshgrid(np.linspace(90, 40, 200), np.linspace(-180, 180, 720, endpoint=False), indexing="ij")
turn = np.radians(lon)
waves = np.column_stack([np.arange(1, 9), generator.random((8, 2)) * 9])
height = sum(
    np.cos(k * turn + p) * np.cos(np.radians(lat)) * np.sin(np.radians(lat) * (k + 2) + q) / k for k, p, q in waves
)
height = (1000 * (height - height.min()) / np.ptp(height)).astype(np.float32)
height[generator.random(height.shape) < 0.08] = np.nan  # sensors fail
height[110:150, 300:360] = np.nan  # a strip without data

v, u = np.mgrid[-1:1:360j, -1:1:360j]  # a polar stereographic plane; the margin is 45 degrees north
to_lat = 90 - 2 * np.degrees(np.arctan(np.hypot(u, v) * np.tan(np.radians(45 / 2))))
to_lon = np.degrees(np.arctan2(u, -v))
coords = np.stack([(to_lon + 180) * 2 + 0.5, (90 - to_lat) / 50 * 199 + 0.5], -1).astype(np.float32)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.9), layout="constrained", width_ratios=[1.5, 1, 1])
axes[0].imshow(height, cmap="terrain", extent=(-180, 180, 40, 90), aspect="auto")
axes[0].set_title("longitude and latitude")
for axis, nan in zip(axes[1:], ("propagate", "ignore")):
    around = ("repeat", "clamp_to_edge", "clamp_to_edge")  # longitude goes round; (x, y, z)
    with bl.Image(height, addressing=around, nan=nan, precision="exact") as image:
        polar = image.remap(coords)
    polar[np.hypot(u, v) > 1] = np.nan
    axis.imshow(polar, cmap="terrain")
    axis.set_title(f'polar, nan="{nan}": {np.isnan(polar[np.hypot(u, v) <= 1]).mean():.0%} missing')
    axis.axis("off")
