"""
Filters
=======

What each ``filtering`` makes of the same small picture, enlarged 40 times: blocks, straight lines between pixels, and
three kinds of cubic curves. ``cubic`` is the B-spline through the pixels; ``catmull_rom`` and ``bicubic`` are cubic
convolutions.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

rows = [".........", "..####...", ".......#.", "...#####.", "..#....#.", "..#....#.", "...####.#", "........."]
letter = np.array([[point == "." for point in row] for row in rows], np.float32)  # 8 rows of 9 pixels

figure, axes = plt.subplots(1, 5, figsize=(13, 2.8), layout="constrained")
for axis, filtering in zip(axes, ("nearest", "linear", "cubic", "catmull_rom", "bicubic")):
    with bl.Image(letter, filtering=filtering) as image:
        large = image.warp([[1 / 40, 0, 0], [0, 1 / 40, 0]], shape=(320, 360))  # output pixel to input coordinates
    axis.imshow(large, cmap="gray", vmin=-0.1, vmax=1.1)
    axis.set_title(filtering)
    axis.axis("off")
