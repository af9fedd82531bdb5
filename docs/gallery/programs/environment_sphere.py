"""A mirrored ball in a landscape: a cubemap, made from a panorama by one kernel and read with seamless filtering.

The panorama is computed: a sky with a low sun, hills, and a paved plain. OpenCL C has no cubemaps: the ball's kernel
writes the directions to memory, and ``sample_cubemap`` reads them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from common import Array, load_kernels, main, sampled_image

import bindless as bl

PANORAMA = bl.BindlessImageSampler(("repeat", "clamp_to_edge", "clamp_to_edge"), "normalized", "linear")
CUBEMAP = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", cubemap_filtering="seamless")
SCENE = np.array(
    ((0, 0, 3.2, 0), (1.0, 0.97, 0.92, 0), 2.2, 1.6, (0, 0)),
    [("eye", np.float32, 4), ("metal", np.float32, 4), ("zoom", np.float32), ("exposure", np.float32),
     ("_unused", np.float32, 2)],
)  # fmt: skip


def panorama(height: int) -> npt.NDArray[np.float32]:
    """Return light from all directions, float32 (height, 2 * height, 4), equirectangular, -z in the middle; the sun
    exceeds 1.
    """
    latitude = np.pi / 2 - (np.arange(height)[:, None] + 0.5) / height * np.pi
    longitude = (np.arange(2 * height)[None, :] + 0.5) / height * np.pi - np.pi
    x, z = np.cos(latitude) * np.sin(longitude), -np.cos(latitude) * np.cos(longitude)
    y = np.sin(latitude) + 0 * longitude

    def blend(a: npt.ArrayLike, b: npt.ArrayLike, weight: Array) -> Array:
        result: Array = np.asarray(a) + (np.asarray(b) - np.asarray(a)) * np.clip(weight, 0, 1)[..., None]
        return result

    sun = np.array([0.62, 0.34, 0.71])
    toward = np.stack([x, y, z], -1) @ (sun / np.linalg.norm(sun))
    light = blend((0.95, 0.72, 0.50), (0.10, 0.24, 0.62), np.abs(y) ** 0.45)
    u, v = x / (y + 0.15), z / (y + 0.15)  # clouds lie on a plane
    puffs = sum(np.sin(u * f + 2.1 * f) * np.sin(v * f * 1.2 + f) / f**0.7 for f in (0.9, 1.7, 3.1, 5.3, 9.7))
    light = blend(light, (1.0, 0.93, 0.86), np.clip(puffs - 0.35, 0, 0.7) * np.clip(y * 6, 0, 1))
    light += np.exp((toward - 1) * 60)[..., None] * (1.2, 0.8, 0.4) + (toward > 0.9986)[..., None] * (18.0, 14.0, 9.0)
    for waves, rise, colour in (((3, 7, 16), 0.13, (0.30, 0.30, 0.42)), ((4, 9, 23), 0.06, (0.13, 0.17, 0.16))):
        ridge = rise * (0.6 + sum(np.sin(w * longitude + w * w) / (i + 2) for i, w in enumerate(waves)))
        light = blend(light, colour, (ridge - latitude) * height / np.pi + 0.5)
    distance = 1.5 / np.maximum(-y, 1e-3)
    paving = (np.floor(x * distance) + np.floor(z * distance)) % 2
    ground = np.where(paving[..., None] > 0, (0.52, 0.42, 0.34), (0.16, 0.15, 0.17))
    ground = blend(ground, (0.40, 0.36, 0.33), distance / 25)
    light = np.where(y[..., None] < 0, ground, light)
    return np.dstack([light, np.ones_like(x)]).astype(np.float32)


def render(queue: bl.Queue, size: int) -> Array:
    """Render the picture, float32 (size, size, 4)."""
    bundle = load_kernels(queue, "environment_sphere.cl")
    rays = size * size * 4
    directions, light = bl.usm_empty((rays, 3), np.float32, queue), bl.usm_empty((rays, 4), np.float32, queue)
    mirrored, picture = bl.usm_empty(rays, np.float32, queue), bl.usm_empty((size, size, 4), np.float32, queue)
    desc = bl.ImageDescriptor(size, size, type="cubemap", array_size=6)
    trace, make, develop = (bundle.get_kernel(name) for name in ("trace", "make_cubemap", "develop"))
    with sampled_image(queue, [panorama(2 * size)], PANORAMA) as around, bl.ImageMem(desc, queue) as memory:
        faces = bl.create_image(memory, desc, queue)
        cubemap = bl.create_image(memory, desc, queue, sampler=CUBEMAP)
        made = queue.parallel_for((6, size, size), make, around, faces)
        traced = queue.parallel_for((size, size, 4), trace, SCENE, directions, mirrored)
        seen = bl.sample_cubemap(queue, cubemap, directions, out=light, depends_on=[made, traced])
        queue.parallel_for((size, size), develop, SCENE, light, mirrored, picture, depends_on=[seen]).wait_and_throw()
        for handle in (faces, cubemap):
            bl.destroy_image_handle(handle, queue)
    return picture.numpy(queue)


if __name__ == "__main__":
    main(render, __doc__, size=512)
