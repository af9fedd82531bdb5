"""
Depth of field by a kernel in Python
====================================

A lens blurs what is out of focus by discs. The kernel, a Python function, sums 48 samples of the photograph on a
spiral, whose radius is the blur of the pixel, read from a second image. :func:`bindless.kernel` compiles it for the
device.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import bindless as bl
from bindless import device

SAMPLES, GOLDEN = 48, 2.399963


@bl.kernel
def lens(photo, depth, out, focus, strength):
    row, column = device.item_id(0), device.item_id(1)
    x, y = column + 0.5, row + 0.5
    blur = strength * abs(device.sample_image(depth, x, y)[0] - focus)
    red, green, blue = 0.0, 0.0, 0.0
    for i in range(SAMPLES):
        radius, angle = blur * math.sqrt((i + 0.5) / SAMPLES), i * GOLDEN
        at = device.sample_image(photo, x + radius * math.cos(angle), y + radius * math.sin(angle))
        red, green, blue = red + at[0], green + at[1], blue + at[2]
    out[row, column, 0] = red / SAMPLES
    out[row, column, 1] = green / SAMPLES
    out[row, column, 2] = blue / SAMPLES


photo = data.coffee()[:, 50:550]
height, width = photo.shape[:2]
distance = np.broadcast_to(np.linspace(1, 0, height, dtype=np.float32)[:, None], (height, width))  # 0 is near

queue = bl.Queue()
figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
axes[0].imshow(photo)
axes[0].set_title("photograph")
out = bl.usm_empty(photo.shape, np.float32, queue)
with bl.Image(photo, queue=queue) as image, bl.Image(distance, queue=queue) as depth:
    for axis, focus in zip(axes[1:], (0.25, 0.85)):
        queue.parallel_for((height, width), lens, image, depth, out, focus, 22.0).wait()
        axis.imshow(out.numpy(queue))
        axis.set_title(f"focus at {focus}")
for axis in axes:
    axis.axis("off")
