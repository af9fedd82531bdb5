"""
Stabilise a video
=================

A shaking camera: each frame is turned and moved. Phase correlation finds the motion, the turn in polar coordinates, and
:meth:`bindless.Image.warp` undoes it. :meth:`bindless.Image.update` replaces the pixels of one image frame by frame,
without an allocation.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import bindless as bl

scene = data.camera()[40:440, 40:440].astype(np.float32) / 255
generator = np.random.default_rng(3)
window = np.outer(np.hanning(256), np.hanning(256)).astype(np.float32)
radius, angle = np.meshgrid(np.arange(8, 100), np.linspace(0, np.pi, 512, endpoint=False))
polar = np.stack([128.5 + radius * np.cos(angle), 128.5 + radius * np.sin(angle)], -1).astype(np.float32)


def motion(degrees, x, y, centre_from, centre_to):  # a matrix from output to input
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.array([[c, -s], [s, c]])
    return np.column_stack([turn, np.add(centre_to, (x, y)) - turn @ centre_from])


def shift_between(a, b):  # (rows, columns), by phase correlation
    cross = np.conj(np.fft.fft2(a)) * np.fft.fft2(b)
    peak = np.fft.ifft2(cross / (np.abs(cross) + 1e-9)).real
    at = np.array(np.unravel_index(peak.argmax(), peak.shape))
    return np.where(at > np.array(peak.shape) / 2, at - peak.shape, at)


def turn_of(frame, image):  # a turn becomes a shift
    image.update(np.log1p(np.abs(np.fft.fftshift(np.fft.fft2(frame * window)))).astype(np.float32))
    return image.sample(polar) - image.sample(polar).mean(0)


with bl.Image(scene) as image:
    shakes = generator.uniform(-1, 1, (12, 3)) * (np.arange(12) > 0)[:, None] * [4, 9, 9]
    video = [image.warp(motion(*shake, (128, 128), (200, 200)), (256, 256)) for shake in shakes]
steady = []
with bl.Image(video[0], filtering="cubic") as image:
    first = turn_of(video[0], image)
    for frame in video:
        degrees = shift_between(first, turn_of(frame, image))[0] * 180 / 512
        image.update(frame)
        turned = image.warp(motion(degrees, 0, 0, (128, 128), (128, 128)), (256, 256))
        rows_columns = shift_between(video[0] * window, turned * window)
        steady.append(np.roll(turned, -rows_columns, (0, 1)))
before, after = (np.std(frames, axis=0)[40:-40, 40:-40].mean() for frames in (video, steady))
print(f"deviation between frames: {before:.3f} before, {after:.3f} after")
assert after < 0.4 * before
figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
for axis, frames, name in zip(axes, (video, steady), ("mean of 12 frames", "stabilised")):
    axis.imshow(np.mean(frames, axis=0)[20:-20, 20:-20], cmap="gray")
    axis.set_title(name)
    axis.axis("off")
