"""
Reconstruction from cone beams
==============================

A flat detector sees a phantom from a turn of 120 views. FDK filters the projections and spreads them back: fast, and
good near the plane of the source. From 12 views it leaves streaks, where SIRT, which goes back and forth between the
projector and its exact adjoint, finds a positive volume that explains the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from bindless import tomography

n = 48
z, y, x = (np.mgrid[:n, :n, :n] - (n - 1) / 2) / (n / 2)
phantom = np.zeros((n, n, n), np.float32)
for value, (cx, cy, cz), (rx, ry, rz), turn in (
    (1.0, (0, 0, 0), (0.69, 0.88, 0.8), 0.0),
    (-0.7, (0, -0.02, 0), (0.62, 0.8, 0.73), 0.0),
    (-0.2, (0.24, 0, 0), (0.13, 0.34, 0.24), -0.3),
    (-0.2, (-0.24, 0, 0), (0.17, 0.43, 0.3), 0.3),
    (0.3, (0, 0.38, 0.1), (0.22, 0.2, 0.3), 0.0),
    (0.4, (0.05, -0.5, -0.2), (0.1, 0.1, 0.15), 0.0),
):  # ellipsoids of a head
    c, s = np.cos(turn), np.sin(turn)
    u, v = c * (x - cx) + s * (y - cy), c * (y - cy) - s * (x - cx)
    phantom += value * (np.hypot(np.hypot(u / rx, v / ry), (z - cz) / rz) < 1)

angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
scan = tomography.cone(angles, (72, 84), spacing=1.5, source_distance=150, detector_distance=75)
A = tomography.Projector(scan, phantom.shape)
data = A(phantom) + np.random.default_rng(0).normal(0, 0.2, A.shape).astype(np.float32)

few = slice(None, None, 10)
volumes = {
    "phantom": phantom,
    "FDK, 120 views": tomography.fdk(data, scan, phantom.shape, filter="hann"),
    "FDK, 12 views": tomography.fdk(data[few], scan[few], phantom.shape, filter="hann"),
    "SIRT, 12 views": tomography.sirt(A[few], data[few], 60, lowest=0),
}
errors = {name: np.sqrt(np.mean((volume - phantom) ** 2)) for name, volume in volumes.items()}
assert errors["SIRT, 12 views"] < 0.7 * errors["FDK, 12 views"]

figure, axes = plt.subplots(2, 4, figsize=(11, 5.8), layout="constrained")
for (above, below), (name, volume) in zip(axes.T, volumes.items()):
    above.imshow(volume[n // 2 + 2], cmap="gray", vmin=0, vmax=0.7)
    below.imshow(volume[::-1, :, n // 2], cmap="gray", vmin=0, vmax=0.7)
    above.set_title(name + (f"\nerror {errors[name]:.3f}" if errors[name] else ""))
    for axis in (above, below):
        axis.axis("off")
