"""An ``Image`` as text, and as a thumbnail in notebooks."""

from __future__ import annotations

import base64
import html
import math
from typing import TYPE_CHECKING

import numpy as np

from ..model.arrays import Array
from ..model.enums import FilteringMode, ImageType
from ..sampling.codes import to_storage
from .picture_files.png import encode_png

if TYPE_CHECKING:
    from .image import Image

__all__ = ["as_html", "as_png", "as_text", "levels_of"]


_LONGEST = 512  # pixels of a thumbnail's longer side
_SHORTEST = 128  # small pictures are shown with large pixels
_MOST_TILES = 16  # of a contact sheet
_STRIP = 16  # rows of a one-dimensional image


def as_text(image: Image) -> str:
    """Sizes, channels, layers and levels, and the device or ``closed``."""
    described = image._described
    size = " x ".join(map(str, image.size))
    extra = f", {described.array_size} layers" if described.type is ImageType.array else ""
    extra += ", cubemap" if described.type is ImageType.cubemap else ""
    extra += f", {image.num_levels} levels" if image._mipmaps else ""
    state = "closed" if image._store.closed else f"on {image._queue.device.name}"
    return f"<Image {size}, {described.num_channels} x {described.channel_type}{extra}, {state}>"


def as_png(image: Image) -> bytes | None:
    """The thumbnail as a PNG file; None of a closed image."""
    return None if image._store.closed else encode_png(levels_of(_view(image)[0])[0])


def as_html(image: Image) -> str:
    """The thumbnail with a caption; of a closed image the text alone."""
    text = html.escape(as_text(image))
    if image._store.closed:
        return f"<pre>{text}</pre>"
    pixels, part = _view(image)
    shown, span = levels_of(pixels)
    height, width = shown.shape[:2]
    times = max(_SHORTEST // max(height, width), 1)
    notes = "".join(f"<br>{html.escape(note)}" for note in (part, span) if note)
    data = base64.b64encode(encode_png(shown)).decode("ascii")
    style = ";image-rendering:pixelated" if times > 1 else ""
    return (
        f'<figure style="margin:0"><img src="data:image/png;base64,{data}" width="{width * times}" '
        f'height="{height * times}" alt="{text}" style="max-width:100%{style}">'
        f"<figcaption><code>{text}</code>{notes}</figcaption></figure>"
    )


# ---------------------------------------------------------------------- pixels


def _view(image: Image) -> tuple[Array, str]:
    """Pixels (height, width, channels) of at most 512 on the longer side, and what part of the image they are."""
    described = image._described
    if described.is_layered:
        return _contact_sheet(image)
    if len(image.size) == 1:
        row = _fetched(image, (image.size[0], 1), None)
        return np.repeat(row, _STRIP, 0), ""
    if len(image.size) == 3:
        depth = image.size[2]
        return _fetched(image, image.size[:2], None, depth // 2), f"slice {depth // 2} of 0 to {depth - 1}"
    width, height = image.size
    longest = max(width, height)
    if longest <= _LONGEST:
        pixels = image.numpy()
    elif image._sampler.filtering is FilteringMode.nearest:
        return _fetched(image, (width, height), None), ""
    else:
        pixels = image.resize((_reduced(height, longest), _reduced(width, longest)))
    return pixels.reshape(*pixels.shape[:2], -1), ""


def _reduced(size: int, longest: int, most: int = _LONGEST) -> int:
    return max(round(size * min(most / longest, 1)), 1)


def _fetched(
    image: Image, sizes: tuple[int, ...], layers: int | None, depth: int | None = None, most: int = _LONGEST
) -> Array:
    """Pixels of a plane, every n-th of a large one."""
    longest = max(sizes)
    axes = [
        np.minimum((np.arange(count := _reduced(size, longest, most)) * 2 + 1) * size // (2 * count), size - 1)
        for size in sizes
    ]
    x, y = np.meshgrid(*axes)
    points = [x] if len(image.size) == 1 else [x, y]
    points += [] if depth is None else [np.full_like(x, depth)]
    values = to_storage(image.fetch(np.stack(points, -1), layers=layers), image._described.channel, codes=False)
    return values.reshape(*x.shape, -1)


def _contact_sheet(image: Image) -> tuple[Array, str]:
    """Layers or faces next to each other, in rows."""
    count = min(image.num_layers, _MOST_TILES)
    columns = 3 if image._described.type is ImageType.cubemap else math.ceil(math.sqrt(count))
    sizes = (*image.size, 1)[:2]
    most = max((_LONGEST - columns + 1) // columns, 1)
    tiles = [_fetched(image, sizes, layer, most=most) for layer in range(count)]
    height, width, channels = tiles[0].shape
    rows = math.ceil(count / columns)
    sheet = np.zeros((rows * (height + 1) - 1, columns * (width + 1) - 1, channels), tiles[0].dtype)
    for number, tile in enumerate(tiles):
        top, left = number // columns * (height + 1), number % columns * (width + 1)
        sheet[top : top + height, left : left + width] = tile
    if image._described.type is ImageType.cubemap:
        return sheet, "faces +x, -x, +y; -y, +z, -z"
    return sheet, f"layers 0 to {count - 1} of {image.num_layers}" if count < image.num_layers else ""


# ---------------------------------------------------------------------- colours


def levels_of(pixels: Array) -> tuple[Array, str]:
    """uint8 pixels, and the values that are shown as black and white; those of uint8 pixels are not changed.

    The range is that of the finite values of all colours; NaN is shown as black. Two channels that are not uint8 are
    shown as red and green.
    """
    if pixels.dtype == np.uint8:
        return pixels, ""
    values = pixels.astype(np.float64)
    alpha = None
    if values.shape[2] == 4:
        values, alpha = values[..., :3], values[..., 3:]
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    values = np.clip(np.nan_to_num((values - low) / ((high - low) or 1.0), nan=0.0, posinf=1.0, neginf=0.0), 0, 1)
    if low == high:
        values[...] = 0.5
    parts = [values]
    if values.shape[2] == 2:
        parts.append(np.zeros_like(values[..., :1]))
    if alpha is not None:
        largest = float(np.iinfo(pixels.dtype).max) if pixels.dtype.kind in "iu" else 1.0
        parts.append(np.clip(np.nan_to_num(alpha / largest), 0, 1))
    shown = np.rint(np.concatenate(parts, -1) * 255).astype(np.uint8)
    return shown, f"{low:.4g} (black) to {high:.4g} (white)"
