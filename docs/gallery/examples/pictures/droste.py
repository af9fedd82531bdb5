"""
A picture inside itself
=======================

The Droste effect in complex numbers: a logarithm turns rings into a strip, a factor tilts it, and the exponential rolls
it up again as a spiral. The coordinates are an array, so any map is one :meth:`bindless.Image.sample`; mipmaps and the
derivatives of the map keep the shrinking copies calm.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import bindless as bl

photo = data.astronaut()
n, ratio = 512, 8  # each round of the spiral is an eighth of the last
y, x = np.mgrid[1:-1:480j, -1:1:480j]
z = x + 1j * y + 1e-9

tilt = 1 - 1j * np.log(ratio) / (2 * np.pi)  # once round is one ring further in
strip = np.log(z) * tilt
ring = np.exp((strip.real % np.log(ratio)) + 1j * strip.imag) / ratio  # a ring of the picture, up to its edge
coords = np.stack([(ring.real + 1) / 2 * n, (1 - ring.imag) / 2 * n], -1).astype(np.float32)

# The size of a pixel in the photograph; a jump from ring to ring is no size.
footprint = np.abs(ring / z * tilt) * 2 / 480 * n / 2
level = np.log2(np.maximum(footprint, 1)).astype(np.float32)

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
with bl.Image(photo, mipmaps=True, addressing="mirrored_repeat") as image:
    spiral = image.sample(coords, level=level)
for axis, picture, name in zip(axes, (photo, spiral), ("photograph", "spiral")):
    axis.imshow(picture)
    axis.set_title(name)
    axis.axis("off")
