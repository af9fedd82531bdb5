"""
Optical flow from coarse to fine
================================

Where did each pixel go from one frame to the next? Horn and Schunck's method sees small motions only, so it starts on
small pictures and doubles their size; each round reads the second frame through the flow found so far, by
:meth:`bindless.Image.remap`.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import hsv_to_rgb
from scipy.ndimage import gaussian_filter, uniform_filter
from skimage import data

import bindless as bl

first = data.camera()[:256, 100:356].astype(np.float32) / 255
y, x = np.mgrid[0:256, 0:256].astype(np.float32)
truth = np.stack([-(y - 128), x - 128], -1) * 0.06 + np.array([6, -4])  # a turn by 3.4 degrees, and a shift
truth = truth.astype(np.float32)
with bl.Image(first, filtering="cubic") as image:
    second = image.remap(-truth, relative=True)

flow = np.zeros((16, 16, 2), np.float32)
with bl.Image(first) as one, bl.Image(second) as two:
    for size in (16, 32, 64, 128, 256):
        with bl.Image(2 * flow if size > 16 else flow) as coarse:
            flow = coarse.resize((size, size))
        a, b = one.resize((size, size)), two.resize((size, size))
        with bl.Image(b, filtering="cubic") as image:
            for _ in range(6):
                moved = image.remap(flow, relative=True)
                down, right = np.gradient((moved + a) / 2)
                change, update = moved - a, np.zeros_like(flow)
                for _ in range(30):  # smooth flow, of which the brightness agrees
                    mean = uniform_filter(flow + update, (3, 3, 0)) - flow
                    slack = (right * mean[..., 0] + down * mean[..., 1] + change) / (0.003 + right**2 + down**2)
                    update = mean - slack[..., None] * np.stack([right, down], -1)
                flow = gaussian_filter(flow + update, (1, 1, 0))
error = np.linalg.norm(flow - truth, axis=-1)[32:-32, 32:-32]
print(f"median error: {np.median(error):.2f} pixels, of a motion of up to {np.linalg.norm(truth, axis=-1).max():.0f}")


def colours(field):
    angle = np.arctan2(field[..., 1], field[..., 0]) / (2 * np.pi) % 1
    return hsv_to_rgb(np.stack([angle, np.ones_like(angle), np.clip(np.linalg.norm(field, axis=-1) / 14, 0, 1)], -1))


figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
names = ("first frame", "second frame", "flow", "true flow")
for axis, picture, name in zip(axes, (first, second, colours(flow), colours(truth)), names):
    axis.imshow(picture, cmap="gray")
    axis.set_title(name)
    axis.axis("off")
