"""
A floor to the horizon
======================

Three ways to read one image through a perspective: nearest pixels flicker and alias, mipmaps are calm and soft, and
mipmaps with anisotropy are calm and sharp. One :meth:`bindless.Image.warp` by a projective matrix draws each picture.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

board = np.kron([[0, 1], [1, 0]], np.ones((32, 32))).astype(np.float32)
view = [[320, 0, -320 * 160], [0, 0, -150 * 320], [0, 1, -60]]  # pixel to floor; the horizon is row 60
ways = {
    "nearest": {"filtering": "nearest"},
    "mipmaps": {"mipmaps": True},
    "mipmaps, max_anisotropy=16": {"mipmaps": True, "max_anisotropy": 16},
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for axis, (name, options) in zip(axes, ways.items()):
    with bl.Image(board, addressing="repeat", **options) as image:
        floor = image.warp(view, shape=(240, 320))
    floor[:61] = 0.8  # the sky
    axis.imshow(floor, cmap="gray", vmin=0, vmax=1)
    axis.set_title(name)
    axis.axis("off")
