"""
Oblique slices of a volume
==========================

A scanner stores slices along its own axis; a surgeon wants the plane through an organ. A plane is a grid of 3D
coordinates, and :meth:`bindless.Image.sample` of a volume is the slice. Voxels need not be cubes: the coordinates are
scaled.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

z, y, x = np.mgrid[-1:1:48j, -1:1:160j, -1:1:160j]  # voxels are 3.3 times as thick as wide
body = ((x / 0.85) ** 2 + (y / 0.6) ** 2 + (z / 2) ** 2 < 1) * 40.0
for cx, cy, cz, radius, value in [(-0.4, 0, 0.1, 0.3, -30), (0.4, 0, 0.1, 0.3, -30), (0.1, 0.1, -0.2, 0.22, 25)]:
    body[(x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2 < radius**2] += value
body[(x**2 + (y - 0.4) ** 2) < 0.01 + 0.004 * np.sin(12 * z)] += 60  # a spine
volume = body.astype(np.float32)


def plane(yaw, pitch, size=240):
    """Coordinates (x, y, z) in voxels of a plane through the centre; angles in degrees."""
    v, u = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    (a, b), (c, d) = np.cos(np.radians([yaw, pitch])), np.sin(np.radians([yaw, pitch]))
    right, down = np.array([a, c, 0]), np.array([-c * b, a * b, d])
    points = u[..., None] * right + v[..., None] * down
    return ((points + 1) / 2 * np.array([160, 160, 48])).astype(np.float32)


figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
with bl.Image(volume, filtering="cubic", addressing="border") as image:
    for axis, (yaw, pitch) in zip(axes, [(0, 0), (0, 90), (30, 60), (90, 75)]):
        axis.imshow(image.sample(plane(yaw, pitch)), cmap="gray", vmin=0, vmax=110)
        axis.set_title(f"yaw {yaw}°, pitch {pitch}°")
        axis.axis("off")
