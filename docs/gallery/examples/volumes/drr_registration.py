"""
Register a volume to an X-ray picture
=====================================

A radiograph shows a patient, a volume shows the anatomy: which pose of the volume gives that radiograph? A simulated
radiograph is a :meth:`bindless.Image.warp` by the pose, summed along the rays; a minimiser finds two angles and two
shifts in about 200 radiographs.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import bindless as bl

n = 56
z, y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j, -1 : 1 : n * 1j]
volume = 0.3 * (x**2 / 0.5 + y**2 / 0.3 + z**2 / 0.7 < 1).astype(np.float32)
for k in range(6):  # ribs, and a spine
    ring = np.abs(np.sqrt(x**2 / 1.6 + y**2) - 0.42) < 0.05
    volume[ring & (np.abs(z - 0.28 * (k - 2.5) - 0.25 * y) < 0.05)] = 1.0
volume[(x**2 + (y - 0.42) ** 2 < 0.012) & (np.cos(22 * z) > -0.6)] = 1.6


def radiograph(image, pose):
    """The sum along y, of the volume turned by two angles (degrees) and moved by two shifts (voxels)."""
    turn = Rotation.from_euler("zx", pose[:2], degrees=True).as_matrix()
    centre = np.full(3, n / 2)
    shift = np.array([pose[2], 0, pose[3]])
    matrix = np.column_stack([turn, centre - turn @ (centre + shift)])
    return image.warp(matrix, (n, n, n)).sum(1)


truth = np.array([14.0, -9.0, 3.5, -2.0])
with bl.Image(volume, addressing="border", precision="exact") as image:
    target = radiograph(image, truth) + np.random.default_rng(0).normal(0, 0.3, (n, n))
    start = radiograph(image, np.zeros(4))
    simplex = np.vstack([np.zeros(4), np.diag([12.0, 12.0, 4.0, 4.0])])
    found = minimize(
        lambda pose: ((radiograph(image, pose) - target) ** 2).mean(),
        np.zeros(4),
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": 260},
    )
    end = radiograph(image, found.x)
print(f"pose {truth}, found {found.x.round(2)} in {found.nfev} radiographs")
assert np.abs(found.x - truth).max() < 0.5

figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
names = ("radiograph", "volume, at the start", "volume, registered", "difference")
for axis, picture, name in zip(axes, (target, start, end, end - target), names):
    axis.imshow(picture[::-1], cmap="bone", vmin=0 if name != "difference" else -12, vmax=12)
    axis.set_title(name)
    axis.axis("off")
