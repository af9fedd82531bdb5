"""
Smoke
=====

A fluid in few lines: each step asks where the gas at a pixel came from, and reads smoke and velocity there, a sample
against the flow. :meth:`bindless.Image.update` keeps the images on the device through all steps; a Fourier transform
removes the divergence.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

n = 160
centres = np.moveaxis(np.mgrid[0.5:n, 0.5:n][::-1], 0, -1).astype(np.float32)
ky, kx = np.meshgrid(np.fft.fftfreq(n), np.fft.rfftfreq(n), indexing="ij")
square = kx**2 + ky**2
square[0, 0] = 1


def without_divergence(velocity):
    """The part of a field that neither gathers nor spreads, in a box that repeats."""
    u, v = np.fft.rfft2(velocity[..., 0]), np.fft.rfft2(velocity[..., 1])
    along = (u * kx + v * ky) / square
    return np.stack([np.fft.irfft2(u - along * kx), np.fft.irfft2(v - along * ky)], -1).astype(np.float32)


state = np.zeros((n, n, 3), np.float32)  # velocity (x, y), and smoke
y, x = np.mgrid[:n, :n]
source = np.exp(-((x - n / 2) ** 2 + (y - n * 0.9) ** 2) / 40).astype(np.float32)
wind = 0.02 * np.sin(y / 9.0)
figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
with bl.Image(state, filtering="catmull_rom", addressing="repeat") as image:
    for step in range(1, 161):
        image.update(state)
        state = image.sample(centres - state[..., :2])
        state[..., 2] = np.clip(0.999 * state[..., 2] + 0.15 * source, 0, 2)
        state[..., 1] -= 0.06 * state[..., 2]  # warm smoke rises: y points down
        state[..., 0] += wind * source
        state[..., :2] = without_divergence(state[..., :2])
        if step % 40 == 0:
            axis = axes[step // 40 - 1]
            axis.imshow(state[..., 2], cmap="inferno", vmin=0, vmax=1.4)
            axis.set_title(f"step {step}")
            axis.axis("off")
