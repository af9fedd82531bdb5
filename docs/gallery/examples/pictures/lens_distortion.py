"""
Straighten a lens
=================

A wide-angle lens bends lines. The model of Brown and Conrady says where each straight pixel lies in the bent picture;
:meth:`bindless.Image.remap` reads it there.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import bindless as bl

wall = data.brick()[:480]
size = np.array([512, 480])


def bend(coords, k1=-0.28, k2=0.075):
    """Where the lens puts a pixel: radial terms of the distance from the centre, in focal lengths."""
    centred = (coords - size / 2) / 330
    square = (centred**2).sum(-1, keepdims=True)
    return centred * (1 + k1 * square + k2 * square**2) * 330 + size / 2


def unbend(coords):
    """The inverse, by fixed-point iteration."""
    straight = coords.copy()
    for _ in range(20):
        straight += coords - bend(straight)
    return straight


pixels = np.moveaxis(np.mgrid[0.5:480, 0.5:512][::-1], 0, -1)  # (480, 512, 2), centres in (x, y) order
with bl.Image(wall, addressing="border") as image:
    bent = image.remap(unbend(pixels).astype(np.float32))
with bl.Image(bent, addressing="border") as image:
    straight = image.remap(bend(pixels).astype(np.float32))
middle = np.s_[60:-60, 60:-60]
assert np.abs(straight[middle].astype(int) - wall[middle]).mean() < 4

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for axis, (name, picture) in zip(axes, {"wall": wall, "by the lens": bent, "straightened": straight}.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=255)
    axis.set_title(name)
    axis.axis("off")
