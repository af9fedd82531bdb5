"""
A projector and its adjoint
===========================

Iterative reconstruction needs the projector A and its exact adjoint: :math:`\\langle Ax, y\\rangle = \\langle x,
A'y\\rangle`. With ``precision="exact"`` a projector by texture lookups computes known bilinear weights, and the adjoint
spreads by the same weights. Conjugate gradients then find the picture from 40 noisy views, where backprojection leaves
streaks.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.data import shepp_logan_phantom
from skimage.transform import resize

import bindless as bl

n, views = 96, 40
truth = resize(shepp_logan_phantom(), (n, n)).astype(np.float32)
angles = np.linspace(0, np.pi, views, endpoint=False)
v, u = np.mgrid[0.5:n, 0.5:n] - n / 2
c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
coords = np.stack([c * u - s * v, s * u + c * v], -1).astype(np.float32) + n / 2  # (views, steps, detector, 2)

low = np.floor(coords - 0.5).astype(int)
weight = (coords - 0.5 - low).astype(np.float64)


def project(image, picture):  # sums along rays, (views, detector)
    image.update(picture.astype(np.float32))
    return image.sample(coords).sum(1).astype(np.float64)


def spread(sinogram):  # the adjoint: each ray's value goes to the four pixels of each of its samples
    picture = np.zeros((n + 2) * (n + 2))
    values = np.broadcast_to(sinogram[:, None], coords.shape[:3])
    for i, j in np.ndindex(2, 2):
        x, y = np.clip(low[..., 0] + i + 1, 0, n + 1), np.clip(low[..., 1] + j + 1, 0, n + 1)
        part = np.abs(1 - i - weight[..., 0]) * np.abs(1 - j - weight[..., 1])
        picture += np.bincount((y * (n + 2) + x).ravel(), (values * part).ravel(), len(picture))
    return picture.reshape(n + 2, n + 2)[1:-1, 1:-1]


generator = np.random.default_rng(0)
with bl.Image(truth, addressing="border", precision="exact") as image:
    x, y = generator.random((n, n)), generator.random((views, n))
    assert abs((project(image, x) * y).sum() / (x * spread(y)).sum() - 1) < 1e-6  # adjoint
    data = project(image, truth) + generator.normal(0, 0.3, (views, n))
    found, residual = np.zeros((n, n)), spread(data)
    direction, norm = residual.copy(), (residual**2).sum()
    for _ in range(12):  # conjugate gradients on A'A x = A'b
        ahead = spread(project(image, direction))
        step = norm / (direction * ahead).sum()
        found, residual = found + step * direction, residual - step * ahead
        direction, norm = residual + (residual**2).sum() / norm * direction, (residual**2).sum()
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for axis, picture, name in zip(axes, (truth, spread(data), found), ("phantom", "A' b", "12 iterations")):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=None if name == "A' b" else 0.6)
    axis.set_title(name)
    axis.axis("off")
