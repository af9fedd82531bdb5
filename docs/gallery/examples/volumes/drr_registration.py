"""
Register a volume to X-ray pictures
===================================

Two radiographs show a patient, a volume shows the anatomy: which pose of the volume gives those radiographs?
:meth:`bindless.tomography.Projector.views` moves the volume before it is projected, so that ten steps of Gauss and
Newton find three angles and three shifts, by 70 pairs of radiographs. Of torch's tensors there are derivatives by the
pose, too.
"""

import matplotlib.pyplot as plt
import numpy as np

from bindless import tomography

n = 56
z, y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j, -1 : 1 : n * 1j]
volume = 0.3 * (x**2 / 0.5 + y**2 / 0.3 + z**2 / 0.7 < 1).astype(np.float32)
for k in range(6):  # ribs, and a spine
    ring = np.abs(np.sqrt(x**2 / 1.6 + y**2) - 0.42) < 0.05
    volume[ring & (np.abs(z - 0.28 * (k - 2.5) - 0.25 * y) < 0.05)] = 1.0
volume[(x**2 + (y - 0.42) ** 2 < 0.012) & (np.cos(22 * z) > -0.6)] = 1.6

# From the front and from the side, on a detector 300 from the source.
scan = tomography.cone([0, np.pi / 2], (80, 80), spacing=1.2, source_distance=200, detector_distance=100)
A = tomography.Projector(scan, volume.shape)
truth = np.array([0.10, -0.07, 0.16, 3.5, -2.0, 4.0])  # a rotation vector in radians, and shifts in voxels
target = A.views(truth)(volume) + np.random.default_rng(0).normal(0, 0.3, A.shape)

pose, errors = np.zeros(6), []
steps = np.diag([0.12] * 3 + [3.0] * 3)  # of differences, which bridge the ribs at first
for _ in range(10):
    now = A.views(pose)(volume)
    errors.append(np.sqrt(np.mean((now - target) ** 2)))
    changes = [(A.views(pose + step)(volume) - now).ravel() for step in steps]
    pose += steps @ np.linalg.lstsq(np.array(changes).T, (target - now).ravel(), rcond=None)[0]
    steps *= 0.6
print(f"pose {truth}, the result {pose.round(3)}; differences {np.round(errors, 2)}")
assert np.abs(pose - truth)[:3].max() < 0.01 and np.abs(pose - truth)[3:].max() < 0.3

start, end = A(volume), A.views(pose)(volume)
figure, axes = plt.subplots(2, 4, figsize=(12, 6.4), layout="constrained")
names = ("radiograph", "volume, at the start", "volume, registered", "difference")
for row, view in zip(axes, range(2)):
    for axis, pictures, name in zip(row, (target, start, end, end - target), names):
        least = 0 if name != "difference" else -12
        axis.imshow(pictures[view, ::-1], cmap="bone", vmin=least, vmax=20 if least == 0 else 12)
        axis.set_title(name if view == 0 else "")
        axis.axis("off")
