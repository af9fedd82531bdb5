"""
Make a picture smaller
======================

A zone plate has rings of all widths. Taking every fourth pixel turns the narrow ones into false rings.
:meth:`bindless.Image.resize` averages the area of each new pixel, and the false rings nearly vanish. The same means are
the levels of a mipmap.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

y, x = np.mgrid[-256:256, -256:256].astype(np.float32)
plate = 0.5 + 0.5 * np.cos((x**2 + y**2) * np.pi / 512)

with bl.Image(plate, mipmaps=True) as image:
    small = image.resize((128, 128))
    level = image.numpy(2)  # a quarter of the size
assert np.allclose(small, plate.reshape(128, 4, 128, 4).mean((1, 3)), atol=1e-5)
assert np.allclose(small, level, atol=1e-5)

figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
pictures = {"512 x 512": plate, "every fourth pixel": plate[::4, ::4], "resize((128, 128))": small}
for axis, (name, picture) in zip(axes, pictures.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(name)
    axis.axis("off")
