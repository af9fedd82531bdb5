"""The task of the programs in this folder: sample an atlas of images, another one for each point, and compare."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

import bindless as bl

POINTS, IMAGES, SIZE = 4096, 16, 64


@dataclass
class Scene:
    """Images and points.

    Attributes
    ----------
    handles
        A number (uint64) for each image.
    which
        The image of each point (int32).
    x, y
        Where to sample it (float32), in pixels.
    wanted
        The samples by the package's own kernel, (points, 4).
    """

    handles: np.ndarray
    which: np.ndarray
    x: np.ndarray
    y: np.ndarray
    wanted: np.ndarray


def make_scene(queue: bl.Queue, owner: ExitStack) -> Scene:
    """Images of random colours; they live as long as their owner."""
    rng = np.random.default_rng(11)
    images = [
        owner.enter_context(bl.Image(rng.random((SIZE, SIZE, 4), np.float32), filtering="linear", queue=queue))
        for _ in range(IMAGES)
    ]
    which = rng.integers(0, IMAGES, POINTS).astype(np.int32)
    points = rng.uniform(0, SIZE, (POINTS, 2)).astype(np.float32)
    every = np.stack([bl.sample_image(queue, image.handle, points) for image in images])
    handles = np.array([int(image.handle) for image in images], np.uint64)
    return Scene(handles, which, points[:, 0].copy(), points[:, 1].copy(), every[which, np.arange(POINTS)])


def report(name: str, found: Any, scene: Scene) -> float:
    """Print and return the largest difference; the texture unit is the same, and so are the bits."""
    difference = float(np.abs(np.asarray(found).reshape(scene.wanted.shape) - scene.wanted).max())
    print(f"{name}: {POINTS} points in {IMAGES} images, largest difference {difference}")
    return difference
