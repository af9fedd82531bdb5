"""
A volume larger than the memory for it
======================================

:class:`bindless.bricks.BrickStore` keeps those bricks of a volume in image memory that a kernel reads, here 6 MB of
200 MB. Rays through the whole read a coarse level at once; those through the middle get its bricks, launch by launch,
and read the next coarser level meanwhile. ``bindless view`` draws its pages in this way.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl
from bindless import device
from bindless.bricks import BrickStore


class Foam:
    """Bubbles, computed where they are read, as an array that could be on a disk; a level has texels of ``size``."""

    def __init__(self, size):
        self.size, self.shape, self.dtype = size, (256 // size, 640 // size, 640 // size), np.dtype(np.uint16)

    def __getitem__(self, box):
        z, y, x = (self.size * (np.arange(part.start, part.stop) + 0.5) / 40 for part in box)
        z, y, x = np.meshgrid(z, y, x, indexing="ij")
        cells = np.sin(x + np.sin(2 * z)) * np.cos(y) + np.sin(y + np.cos(x)) * np.cos(2.3 * z)
        cells += np.sin(z) * np.cos(3 * x)
        return (25_000 * np.exp(-8 * np.square(cells))).astype(np.uint16)


@bl.kernel
def depth_mean(table, first, pixel, level, out):
    j, i = device.item_id(0), device.item_id(1)
    total = 0.0
    for k in range(8):
        total += device.sample_bricks(table, first[0] + i * pixel, first[1] + j * pixel, 124.5 + k, level).x
    out[j, i] = total / 8


queue = bl.Queue("reference")
out = bl.usm_empty((300, 300), np.float32, queue)
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
with BrickStore([Foam(1), Foam(2), Foam(4), Foam(8), Foam(16)], queue, memory="6MB") as store:
    views = [((0.5, 0.5), 640 / 300, 3, False)] + [((280.5, 280.5), 0.25, 0, wait) for wait in (False, False, True)]
    for axis, (first, pixel, level, wait) in zip(axes, views):
        missing = store.update(wait=wait)
        queue.parallel_for(out.shape, depth_mean, store.table, first, pixel, level, out).wait()
        axis.imshow(out.numpy(), cmap="magma", vmin=0, vmax=25_000)
        axis.set_title(f"level {level}, {store.allocated / 1e6:.1f} MB")
        axis.axis("off")
