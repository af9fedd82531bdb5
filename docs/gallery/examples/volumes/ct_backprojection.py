"""
Tomography by backprojection
============================

A scanner measures sums along rays, a sinogram. Filtered backprojection reads, for each pixel and angle, the filtered
sinogram where the pixel's ray hits the detector: the lookups that texture units were first misused for. Each angle is a
layer, so that one :meth:`bindless.Image.warp` with a matrix for each layer makes all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.data import shepp_logan_phantom
from skimage.transform import rescale

import bindless as bl

phantom = rescale(shepp_logan_phantom(), 0.4).astype(np.float32)  # (160, 160)
n = len(phantom)
angles = np.linspace(0, np.pi, 180, endpoint=False)


def about_centre(angle):
    """Rotation about the centre of the picture, output to input coordinates."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, n / 2 * (1 - c + s)], [s, c, n / 2 * (1 - s - c)]])


# %%
# The scanner: turn the phantom to each angle, and sum its columns.

with bl.Image(phantom, addressing="border") as image:
    sinogram = np.stack([image.warp(about_centre(angle), (n, n)).sum(0) for angle in angles])

# %%
# The ramp filter, and a stack of pictures of one row, one for each angle.

frequencies = np.fft.rfftfreq(2 * n)
filtered = np.fft.irfft(np.fft.rfft(sinogram, 2 * n) * 2 * frequencies)[:, :n].astype(np.float32)
matrices = np.stack([about_centre(-angle)[:1] for angle in angles])  # the column alone matters
matrices = np.concatenate([matrices, np.broadcast_to([[0, 0, 0.5]], (180, 1, 3))], axis=1)
with bl.Image(filtered[:, None], layers=True) as image:
    found = image.warp(matrices, (n, n)).mean(0) * np.pi / 2
print(f"mean error: {np.abs(found - phantom).mean():.3f}")
assert np.abs(found - phantom).mean() < 0.04

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for axis, (name, picture) in zip(axes, {"phantom": phantom, "sinogram": sinogram, "reconstruction": found}.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=picture.max() if name == "sinogram" else 0.6, aspect="auto")
    axis.set_title(name)
    axis.axis("off")
