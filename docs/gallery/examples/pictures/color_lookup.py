"""
Tone mapping with a 3D table
============================

A colour grade is a function from colours to colours. A table of 17 x 17 x 17 colours stores it, and the texture unit
interpolates between its entries: one trilinear sample a pixel, whatever the function costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import bindless as bl


def grade(rgb):
    """Film-like: more contrast, shadows towards teal, lights towards orange."""
    curve = rgb**1.6 / (rgb**1.6 + 0.35 * (1 - rgb) ** 1.2 + 1e-6)
    light = curve.mean(-1, keepdims=True)
    return np.clip(curve + 0.18 * (light - 0.4) * np.array([1.0, 0.1, -1.0]), 0, 1)


photo = data.coffee()
blue, green, red = np.meshgrid(*[np.linspace(0, 1, 17)] * 3, indexing="ij")
table = grade(np.stack([red, green, blue], -1)).astype(np.float32)  # table[b, g, r], so that (x, y, z) is (r, g, b)

with bl.Image(table, dimensions=3) as image:
    colours = photo.astype(np.float32) / 255
    graded = image.sample(colours * 16 + 0.5)  # entry i of the table has its centre at i + 0.5
exact = grade(colours)
print(f"largest difference from the function: {np.abs(graded - exact).max():.3f}")
assert np.abs(graded - exact).mean() < 0.005

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for axis, (name, picture) in zip(axes, {"photograph": photo, "graded by the table": graded}.items()):
    axis.imshow(picture)
    axis.set_title(name)
    axis.axis("off")
