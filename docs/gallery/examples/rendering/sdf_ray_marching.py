"""
Ray marching a distance field
=============================

A volume stores the distance to the nearest surface. A ray may always step that far, and so reaches the surface in a few
dozen lookups; cubic filtering makes the normals smooth. The blend of shapes costs nothing more: it is in the volume.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

n = 64
z, y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j, -1 : 1 : n * 1j]
torus = np.hypot(np.hypot(x, z) - 0.55, y) - 0.17
balls = [np.sqrt((x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2) - r for a, b, c, r in
         [(0.0, 0.35, 0.0, 0.3), (0.5, -0.3, 0.3, 0.22), (-0.45, -0.25, 0.35, 0.25)]]  # fmt: skip
distance = -np.log(sum(np.exp(-18 * shape) for shape in [torus, *balls])) / 18  # a smooth union

height, width = 240, 320
v, u = np.mgrid[1 : -1 : height * 1j, -width / height : width / height : width * 1j]
eye = np.array([0.9, 1.1, 2.4])
ahead = -eye / np.linalg.norm(eye)
right = np.cross(ahead, [0, 1, 0])
right /= np.linalg.norm(right)
rays = ahead * 2.2 + u[..., None] * right + v[..., None] * np.cross(right, ahead)
rays /= np.linalg.norm(rays, axis=-1, keepdims=True)

with bl.Image(distance.astype(np.float32), filtering="cubic", precision="exact") as image:

    def at(points):
        """The distance at points of the cube -1..1."""
        return image.sample(((points + 1) / 2 * (n - 1) + 0.5).astype(np.float32))

    t = np.full((height, width), 1.6)
    for _ in range(50):
        t += at(eye + t[..., None] * rays)
    points = eye + t[..., None] * rays
    hit = (np.abs(at(points)) < 0.01) & (np.abs(points).max(-1) < 1)
    step = np.eye(3) * 0.02
    normals = np.stack([at(points + d) - at(points - d) for d in step], -1)
normals /= np.linalg.norm(normals, axis=-1, keepdims=True) + 1e-9

light = np.array([0.3, 0.8, 0.5]) / np.linalg.norm([0.3, 0.8, 0.5])
diffuse = np.clip(normals @ light, 0, 1)
gloss = np.clip((2 * diffuse[..., None] * normals - light) @ -ahead, 0, 1) ** 40
colour = (0.15 + 0.85 * diffuse)[..., None] * (0.55 + 0.35 * normals) + 0.5 * gloss[..., None]
picture = np.where(hit[..., None], colour, np.linspace(0.95, 0.7, height)[:, None, None])
plt.figure(figsize=(8, 6), layout="constrained")
plt.imshow(np.clip(picture, 0, 1))
plt.axis("off")
