"""
The lines of a flow
===================

Line integral convolution draws a vector field as streaks: each pixel is the mean of noise along its own streamline. The
field is an image of two channels and the noise another one; both are read at places between pixels, 2 x 24 times for
each pixel.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

n = 320
y, x = np.mgrid[-1.5 : 1.5 : n * 1j, -1.5 : 1.5 : n * 1j]
field = np.zeros((n, n, 2))
for cx, cy, strength in [(-0.6, -0.4, 1.0), (0.7, -0.5, -1.0), (0.0, 0.7, 0.8)]:  # three vortices
    square = (x - cx) ** 2 + (y - cy) ** 2 + 0.02
    field += strength * np.stack([-(y - cy), x - cx], -1) / square[..., None]
speed = np.linalg.norm(field, axis=-1)
field = (field / speed[..., None]).astype(np.float32)
noise = np.random.default_rng(0).random((n, n), np.float32)

total = np.zeros((n, n), np.float32)
start = np.moveaxis(np.mgrid[0.5:n, 0.5:n][::-1], 0, -1).astype(np.float32)
with bl.Image(field) as vectors, bl.Image(noise, addressing="repeat") as grains:
    for direction in (1, -1):
        at = start.copy()
        for _ in range(24):
            at += 0.8 * direction * vectors.sample(at)
            total += grains.sample(at)

streaks = (total - total.min()) / np.ptp(total)
colour = plt.get_cmap("viridis")(np.clip(np.log(speed) / 3, 0, 1))[..., :3]
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for axis, picture, name in zip(axes, (noise, colour * (0.3 + 1.1 * streaks[..., None])), ("noise", "along the flow")):
    axis.imshow(np.clip(picture, 0, 1), cmap="gray")
    axis.set_title(name)
    axis.axis("off")
