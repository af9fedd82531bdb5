"""
Deformable registration
=======================

Demons: find the displacement of each pixel that makes one picture look like another. Each of 80 steps reads the moving
picture through the current field by :meth:`bindless.Image.remap`, and follows the difference downhill; smoothing keeps
the field a deformation.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from skimage import data
from skimage.transform import resize

import bindless as bl

fixed = resize(data.camera(), (160, 160)).astype(np.float32)
y, x = np.mgrid[0:160, 0:160].astype(np.float32)
bend = np.stack([5 * np.sin(y / 18) + 3 * np.cos(x / 25), 5 * np.cos(x / 21) - 3 * np.sin(y / 30)], -1)
with bl.Image(fixed, precision="exact") as image:
    moving = image.remap(bend, relative=True)

field = np.zeros((160, 160, 2), np.float32)
errors = []
with bl.Image(moving, precision="exact") as image:
    for step in range(80):
        warped = image.remap(field, relative=True)
        difference = fixed - warped
        errors.append(np.abs(difference).mean())
        down, right = np.gradient(warped)
        square = down**2 + right**2 + difference**2 + 1e-6
        force = np.stack([difference * right, difference * down], -1) / square[..., None]
        field = gaussian_filter(field + 2 * force, (3, 3, 0) if step < 50 else (1.5, 1.5, 0))
print(f"mean difference: {errors[0]:.3f} before, {errors[-1]:.3f} after")
assert errors[-1] < 0.25 * errors[0]

figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
for axis, picture, name in zip(axes, (fixed, moving, warped), ("fixed", "moving", "moving, registered")):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(name)
axes[3].imshow(fixed, cmap="gray", alpha=0.3)
axes[3].quiver(x[::10, ::10], y[::10, ::10], *np.moveaxis(field[::10, ::10], -1, 0), angles="xy", color="tab:red")
axes[3].set_title("displacement")
for axis in axes:
    axis.axis("off")
