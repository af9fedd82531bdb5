"""The table and the picture of docs/guide/formats.md: one photograph in each compressed format.

python docs/plots/formats.py        prints the table, writes docs/guide/formats.png; needs pip install 'bindless[plots]'
                                    scikit-image etcpak, which encodes the blocks but those of BC6H
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl

__all__ = ["bc6h", "draw", "measure"]

Array = npt.NDArray[Any]


def bc6h(picture: Array) -> Array:
    """Blocks of BC6H in its mode 11, two colours and sixteen steps between them, of floats (height, width, 3)."""
    height, width, _ = picture.shape
    numbers = picture.astype(np.float16).view(np.uint16).astype(float)  # about the logarithm, in which blocks blend
    texels = numbers.reshape(height // 4, 4, width // 4, 4, 3).swapaxes(1, 2).reshape(-1, 16, 3)
    middle = texels.mean(1, keepdims=True)
    axis = np.linalg.eigh(np.einsum("btc,btd->bcd", texels - middle, texels - middle))[1][..., -1:]
    place = (texels - middle) @ axis
    ends = middle + np.concatenate([place.min(1, keepdims=True), place.max(1, keepdims=True)], 1) * axis.swapaxes(1, 2)
    codes = np.clip(np.rint(ends / 31), 0, 1023)  # of 10 bits; 31 / 64 of their 16 bits are the half's
    line = 31 * (codes[:, 1:] - codes[:, :1])
    step = ((texels - 31 * codes[:, :1]) * line).sum(-1) / np.maximum((line**2).sum(-1), 1)
    index = np.clip(np.rint(15 * step), 0, 15)
    swap = index[:, 0] > 7  # the first index has three bits
    index[swap] = 15 - index[swap]
    codes[swap] = codes[swap, ::-1]
    bits = [int(number) for number in codes.astype(np.uint64).reshape(-1)]
    blocks = np.empty((len(texels), 16), np.uint8)
    for i, row in enumerate(index.astype(np.uint64)):
        value = 0b00011 | sum(bits[6 * i + k] << 5 + 10 * k for k in range(6))
        value |= sum(int(number) << (65 if k == 0 else 64 + 4 * k) for k, number in enumerate(row))
        blocks[i] = np.frombuffer(value.to_bytes(16, "little"), np.uint8)
    return blocks.reshape(height // 4, width // 4, 16)


def encode(picture: Array) -> dict[str, Array]:
    """Blocks of each format, of a picture (height, width, 4) of uint8."""
    import etcpak

    height, width, _ = picture.shape
    data = np.ascontiguousarray(picture).tobytes()
    blocks = {
        "bc1_unorm": etcpak.compress_bc1(data, width, height),
        "bc3_unorm": etcpak.compress_bc3(data, width, height),
        "bc4_unorm": etcpak.compress_bc4(data, width, height),
        "bc5_unorm": etcpak.compress_bc5(data, width, height),
        "bc7_unorm": etcpak.compress_bc7(data, width, height, None),
    }
    shaped = {
        name: np.frombuffer(block, np.uint8).reshape(height // 4, width // 4, -1) for name, block in blocks.items()
    }
    return shaped | {"bc6h_ufloat": bc6h(picture[..., :3] / 255)}


def values(image: bl.Image) -> Array:
    """Decoded pixels as 0 to 1, (height, width, channels)."""
    pixels = image.numpy()
    scale = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "ui" else 1
    return np.atleast_3d(pixels) / scale


def rates(images: list[bl.Image]) -> list[float]:
    """Linear samples in 10^6 a second of each image, at places between the pixels; they take turns."""
    height, width = images[0].shape[:2]
    y, x = np.mgrid[0 : height : height / 512, 0 : width : width / 512]
    places = np.stack([x, y], -1).astype(np.float32)
    best = [float("inf")] * len(images)
    for _ in range(60):
        for number, image in enumerate(images):
            start = time.perf_counter()
            image.sample(places)
            best[number] = min(best[number], time.perf_counter() - start)
    return [x.size / seconds / 1e6 for seconds in best]


def measure(picture: Array) -> list[tuple[str, float, float, float, Array]]:
    """Name, bytes a pixel, samples in 10^6 a second, root mean square of errors, and pixels of each format."""
    shape = picture.shape[:2]
    blocks = encode(picture)
    images = {"unorm_int8": bl.Image(picture)}
    images |= {name: bl.Image.from_blocks(data, shape, name) for name, data in blocks.items()}
    rows = []
    for (name, image), speed in zip(images.items(), rates(list(images.values()))):
        pixels = values(image)
        channels = min(pixels.shape[-1], 3)
        error = np.sqrt(np.mean((pixels[..., :channels] - picture[..., :channels] / 255) ** 2))
        nbytes = blocks[name].nbytes / (shape[0] * shape[1]) if name in blocks else 4.0
        rows.append((name, nbytes, speed, 255 * error, pixels))
        image.close()
    return rows


def draw(rows: list[tuple[str, float, float, float, Array]], target: Path) -> None:
    """Draw a part of the photograph in each format that has colours."""
    import matplotlib.pyplot as plt

    shown = [row for row in rows if row[4].shape[-1] >= 3]
    figure, axes = plt.subplots(1, len(shown), figsize=(2.6 * len(shown), 3.2), layout="constrained")
    for axis, (name, nbytes, _, error, pixels) in zip(axes, shown):
        axis.imshow(np.clip(pixels[150:214, 250:314, :3], 0, 1), interpolation="nearest")
        axis.set_title(f"{name}\n{nbytes:g} bytes, error {error:.1f} / 255", fontsize=9)
        axis.axis("off")
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    from skimage import data

    photograph = data.coffee()
    opaque = np.concatenate([photograph, np.full_like(photograph[..., :1], 255)], -1)
    table = measure(opaque)
    for name, nbytes, samples, error, _ in table:
        print(f"| `{name}` | {nbytes:g} | {samples / table[0][2]:.2f} | {error:.1f} |")
    draw(table, Path(__file__).parents[1] / "guide" / "formats.png")
