"""A colour grade by a table: a file of the type .cube, tetrahedral, trilinear, and as a texture unit computes it.

A sunset in linear light, as bright as 8 in the sun, passes through one curve, which spreads the shadows, and then
through a table of 33 x 33 x 33 colours, which the program writes to a file. Below, a small part of the sky, enlarged
and with its contrast stretched: ``Lut3D`` has float32 weights, while a texture unit's weights of eight bits make steps.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from common import Array, grid, main

import bindless as bl

ENTRIES, EDGE, BRIGHTEST, KNEE = 4096, 33, 8.0, 40.0
WHOLE = (-4 / 3, 4 / 3, -1.0, 1.0)  # left, right, top, bottom in half heights
PATCH = (-1.1, -1.06, -0.80, -0.77)


def curve(light: Array) -> Array:
    """Return the place in the table of a brightness: close to its logarithm."""
    result: Array = np.log1p(KNEE * light) / np.log1p(KNEE * BRIGHTEST)
    return result


def look(light: Array) -> Array:
    """Return colours for a screen: highlights that fade, shadows towards teal, lights towards orange."""
    grey = light.mean(-1, keepdims=True)
    mood = np.where(grey < 0.25, [0.86, 1.02, 1.1], [1.08, 1.0, 0.86]) - 1
    toned = np.maximum(grey + 1.25 * (light - grey), 0) * (1 + mood * np.abs(np.log2(4 * grey + 1e-3)) / 5)
    film = toned * (2.51 * toned + 0.03) / (toned * (2.43 * toned + 0.59) + 0.14)
    return screen(film)


def screen(light: Array) -> Array:
    """Return the values of sRGB of linear light."""
    light = np.clip(light, 0, 1)
    return np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def write_cube(file: Path) -> None:
    """Write the curve and the table."""
    shaper = np.repeat(curve(np.linspace(0, BRIGHTEST, ENTRIES))[:, None], 3, 1)
    blue, green, red = np.meshgrid(*[np.linspace(0, 1, EDGE)] * 3, indexing="ij")  # red changes first in files
    table = look(np.expm1(np.stack([red, green, blue], -1) * np.log1p(KNEE * BRIGHTEST)) / KNEE)
    head = f"LUT_1D_SIZE {ENTRIES}\nLUT_1D_INPUT_RANGE 0 {BRIGHTEST}\nLUT_3D_SIZE {EDGE}\nLUT_3D_INPUT_RANGE 0 1\n"
    with file.open("w", encoding="utf-8") as text:
        text.write(head)
        for entries in (shaper, table.reshape(-1, 3)):
            np.savetxt(text, entries, "%.7f")


def sunset(size: int, view: tuple[float, float, float, float]) -> Array:
    """Return a part of the scene in linear light, float32 (size, 4 / 3 of it, 3)."""
    width = round(size * 4 / 3)
    left, right, top, bottom = view
    x = left + (right - left) * (np.arange(width) + 0.5) / width
    y = (top + (bottom - top) * (np.arange(size) + 0.5) / size)[:, None]
    away = np.hypot(x - 0.35, y - 0.22)[..., None]
    height = np.clip((0.5 - y) / 1.5, 0, 1)[..., None]
    light = np.array([0.9, 0.42, 0.2]) * (1 - height) ** 3 + np.array([0.05, 0.11, 0.26]) * height + 0 * away
    light = light + np.array([1.0, 0.55, 0.2]) * (0.9 * np.exp(-4 * away) + 7 / (1 + np.exp(90 * (away - 0.09))))
    for depth, haze in enumerate((0.35, 0.16, 0.04)):
        crest = 0.3 + 0.22 * depth + (0.1 - 0.02 * depth) * np.sin((2.1 + depth) * x + 2 * depth)
        crest = crest + 0.03 * np.sin(9 * x + depth) + 0.012 * np.sin(23 * x + 4 * depth)
        hill = np.array([0.5, 0.3, 0.32]) * haze + 0 * away
        light = np.where((y > crest)[..., None], hill, light)
    return np.clip(light, 0, BRIGHTEST).astype(np.float32)


def by_texture_unit(lut: bl.Lut3D, light: Array, queue: bl.Queue) -> Array:
    """Return the colours by a sample of an image that has the table: weights of eight bits."""
    table = lut.table
    assert table is not None
    place = np.interp(light, np.linspace(0, BRIGHTEST, ENTRIES), curve(np.linspace(0, BRIGHTEST, ENTRIES)))
    with bl.Image(table, dimensions=3, queue=queue) as image:
        result: Array = image.sample((place * (EDGE - 1) + 0.5).astype(np.float32))
    return result


def levels(values: Array) -> int:
    """Return the number of values of red, of more than a millionth apart."""
    return len(np.unique(np.rint(values[..., 0] * 1e6)))


def render(queue: bl.Queue, size: int) -> Array:
    """Render the scene and both grades; below, the part by both of them and by the texture unit."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "look.cube"
        write_cube(file)
        lut = bl.Lut3D.open(file)
    scene, patch = sunset(size, WHOLE), sunset(size, PATCH)
    above = [screen(scene), *(lut(scene, kind, queue=queue) for kind in ("tetrahedral", "trilinear"))]
    below = [lut(patch, kind, queue=queue) for kind in ("tetrahedral", "trilinear")]
    below.append(by_texture_unit(lut, patch, queue))
    print("levels of red in the part: " + ", ".join(str(levels(part)) for part in below), "(by the texture unit)")
    mean, contrast = below[1].mean((0, 1)), 0.5 / np.ptp(below[1], axis=(0, 1)).max()
    print(f"the part has {contrast:.0f} times its contrast")
    return grid([above, [mean + contrast * (part - mean) for part in below]])


if __name__ == "__main__":
    main(render, __doc__, size=360)
