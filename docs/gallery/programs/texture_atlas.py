"""Photographs scattered on a table: one kernel, any number of images, each selected by a handle in memory.

The images differ in size, unlike the layers of an image array; only memory limits their number.
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import numpy.typing as npt
from common import Array, load_kernels, main, photograph, reductions, sampled_image, upload

import bindless as bl

# Photographs of scikit-image; CC0, public domain, or without known copyright restrictions, according to its manual.
PHOTOGRAPHS = ("brick.png", "grass.png", "gravel.png", "cell.png", "camera.png", "hubble_deep_field.jpg", "retina.jpg",
               "rocket.jpg", "coffee.png", "astronaut.png", "chelsea.png", "coins.png")  # fmt: skip
BORDER = 0.012
PRINT = np.dtype(
    [("photo", np.uint64), ("centre", np.float32, 2), ("axis", np.float32, 2), ("half_size", np.float32, 2),
     ("level", np.float32), ("_unused", np.float32)]
)  # fmt: skip
SAMPLER = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", mipmap_filtering="linear")


def scatter(shapes: list[tuple[int, ...]], size: int, seed: int = 4) -> npt.NDArray[np.void]:
    """Return the positions of prints with these shapes in a 4 : 3 picture of this height; the handles are not set."""
    random = np.random.default_rng(seed)
    prints = np.zeros(len(shapes), PRINT)
    columns = 4
    rows = -(-len(shapes) // columns)
    for i, (height, width, _) in enumerate(shapes):
        cell = np.array([(i % columns + 0.5) / columns - 0.5, (i // columns + 0.5) / rows - 0.5])
        angle = random.uniform(-0.35, 0.35)
        long_side = 0.36
        prints[i]["centre"] = cell * (1.18, 0.92) + random.uniform(-0.04, 0.04, 2)
        prints[i]["axis"] = np.cos(angle), np.sin(angle)
        prints[i]["half_size"] = np.array([width, height]) / max(width, height) * long_side / 2
        prints[i]["level"] = max(np.log2(max(width, height) / (long_side * size)), 0)
    return prints


def render(queue: bl.Queue, size: int) -> Array:
    """Render the picture, float32 (size, size * 4 // 3, 4)."""
    kernel = load_kernels(queue, "texture_atlas.cl").get_kernel("lay_out")
    photos = [photograph(name) for name in PHOTOGRAPHS]
    prints = scatter([photo.shape for photo in photos], size)
    picture = bl.usm_empty((size, size * 4 // 3, 4), np.float32, queue)
    with ExitStack() as images:
        for i, photo in enumerate(photos):
            handle = images.enter_context(sampled_image(queue, reductions(photo), SAMPLER))
            prints[i]["photo"] = handle.raw_handle
        table = upload(queue, prints)
        queue.parallel_for(
            picture.shape[:2], kernel, table, np.uint32(len(prints)), np.float32(BORDER), picture
        ).wait_and_throw()
    return picture.numpy(queue)


if __name__ == "__main__":
    main(render, __doc__, size=768)
