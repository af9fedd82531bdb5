"""
A pyramid of a volume in blocks
===============================

A viewer of large volumes reads a pyramid: the volume at 1, 1/2, 1/4, ... of its size. :func:`bindless.dask.pyramid`
makes it block by block, and :func:`bindless.dask.affine_transform` turns volumes that no GPU holds. Tiles have the bits
of the whole, so that no seam shows.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import bindless as bl
from bindless.dask import affine_transform, pyramid

z, y, x = np.mgrid[-1:1:64j, -1:1:160j, -1:1:160j]
shells = np.cos(18 * np.sqrt(x**2 + 0.7 * y**2 + 2 * z**2)) * (x**2 + y**2 + z**2 < 0.9)
volume = da.from_array(shells.astype(np.float32), chunks=(32, 64, 64))  # or an array of zarr

c, s = np.cos(0.4), np.sin(0.4)
matrix = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
centre = np.array([31.5, 79.5, 79.5])
turned = affine_transform(volume, matrix, centre - matrix @ centre, order=1)  # lazy: 18 blocks, nothing is computed yet
levels = pyramid(turned, levels=4)

whole = bl.ndimage.affine_transform(np.asarray(volume), matrix, centre - matrix @ centre, order=1, mode="grid-constant")
blocks = affine_transform(volume, matrix, centre - matrix @ centre, order=1, mode="grid-constant")
assert (blocks.compute(scheduler="synchronous") == whole).all()

figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
for axis, level in zip(axes, levels):
    axis.imshow(level[level.shape[0] // 2].compute(scheduler="synchronous"), cmap="magma", interpolation="nearest")
    axis.set_title(" x ".join(map(str, level.shape)))
    axis.axis("off")
