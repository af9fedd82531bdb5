"""
Perspective: mipmaps and anisotropy
===================================

A chequered floor reaches the horizon. One :meth:`~bindless.Image.warp` by a projective matrix draws it.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

tile = np.kron([[0, 1], [1, 0]], np.ones((32, 32))).astype(np.float32)
with bl.Image(tile, mipmaps=True, max_anisotropy=16, addressing="repeat") as image:
    floor = image.warp([[640, 0, -204800], [0, 0, -300000], [0, 1, 8]], shape=(480, 640))
plt.imshow(floor, cmap="gray")
plt.axis("off")
