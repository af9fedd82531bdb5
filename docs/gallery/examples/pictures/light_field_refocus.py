"""
Refocus a light field
=====================

A camera array sees a scene from 49 places. Moving each picture in proportion to its place and averaging them focuses on
one depth, after the fact. The pictures are layers of one image; :meth:`bindless.Image.warp` takes a matrix for each.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data
from skimage.transform import resize

import bindless as bl

height, width, side = 160, 200, 7
far = resize(data.coffee()[:, 60:560], (height, width)).astype(np.float32)
near = resize(data.chelsea()[:, 60:435], (height, width)).astype(np.float32)
disc = (np.hypot(*(np.mgrid[:height, :width] - np.array([85, 70])[:, None, None])) < 45).astype(np.float32)
places = np.stack(np.meshgrid(*[np.arange(side) - side // 2] * 2), -1).reshape(-1, 2)  # of the cameras


def shifts(disparity):
    """One matrix for each camera: the picture moved by the disparity times the camera's place."""
    matrices = np.tile(np.eye(2, 3), (len(places), 1, 1))
    matrices[:, :, 2] = places * disparity
    return matrices


# %%
# The light field: the far picture moves by 1 pixel from camera to camera, the disc in front of it by 4.

stack = np.ones((len(places), 1, 1, 1), np.float32)
with bl.Image(stack * far, layers=True) as image:
    back = image.warp(shifts(1), (height, width))
with bl.Image(stack * np.dstack([near, disc]), layers=True) as image:
    front = image.warp(shifts(4), (height, width))
views = front[..., 3:] * front[..., :3] + (1 - front[..., 3:]) * back

# %%
# Focus on either depth.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
with bl.Image(views, layers=True) as image:
    pictures = {
        "one camera": views[len(views) // 2],
        "focus on the background": image.warp(shifts(-1), (height, width)).mean(0),
        "focus on the disc": image.warp(shifts(-4), (height, width)).mean(0),
    }
for axis, (name, picture) in zip(axes, pictures.items()):
    axis.imshow(np.clip(picture, 0, 1))
    axis.set_title(name)
    axis.axis("off")
