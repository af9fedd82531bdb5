"""Contact sheets of labelled panels for the demo, composed with Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from ..model.arrays import Array

__all__ = ["Panel", "Sheet", "outline"]

_PAPER = (250, 249, 246)
_INK = (28, 30, 34)
_GREY = (112, 114, 120)
_MARGIN = 36
_GAP = 24
_TITLE, _TEXT, _SMALL = 30, 19, 15


@dataclass(frozen=True)
class Panel:
    """One picture of a sheet: uint8 pixels (height, width[, 3 or 4]) and the line under it."""

    pixels: Array
    caption: str


@dataclass(frozen=True)
class Sheet:
    """A title, a line below it, and rows of panels that share their upper edge."""

    title: str
    subtitle: str
    rows: Sequence[Sequence[Panel]]

    def draw(self, footer: str) -> Picture.Image:
        """The picture of the sheet, with one small line at its foot."""
        pictures = [[_opaque(panel.pixels) for panel in row] for row in self.rows]
        widths = [sum(p.width for p in row) + _GAP * (len(row) - 1) for row in pictures]
        heights = [max(p.height for p in row) + _TEXT + 16 for row in pictures]
        text_width = max(_width(self.title, _TITLE), _width(self.subtitle, _TEXT), _width(footer, _SMALL))
        width = max(*widths, int(text_width)) + 2 * _MARGIN
        top = _MARGIN + _TITLE + 12 + _TEXT + 26
        bottom = sum(heights) + _GAP * (len(self.rows) - 1) + _SMALL + 22 + _MARGIN
        sheet = Picture.new("RGB", (width, top + bottom), _PAPER)
        draw = ImageDraw.Draw(sheet)
        draw.text((_MARGIN, _MARGIN - 4), self.title, _INK, ImageFont.load_default(_TITLE))
        draw.text((_MARGIN, _MARGIN + _TITLE + 10), self.subtitle, _GREY, ImageFont.load_default(_TEXT))
        y = top
        for row, row_pictures, height in zip(self.rows, pictures, heights):
            x = _MARGIN
            for panel, picture in zip(row, row_pictures):
                sheet.paste(picture, (x, y))
                draw.text((x, y + picture.height + 9), panel.caption, _INK, ImageFont.load_default(_TEXT))
                x += picture.width + _GAP
            y += height + _GAP
        draw.text((_MARGIN, y), footer, _GREY, ImageFont.load_default(_SMALL))
        return sheet


def outline(
    pixels: npt.NDArray[np.uint8], corners: Sequence[tuple[float, float]], colour: tuple[int, int, int] = (255, 214, 64)
) -> npt.NDArray[np.uint8]:
    """A copy of a picture with a polygon drawn on it; corners are (x, y) in pixels."""
    picture = Picture.fromarray(pixels)
    closed = [*corners, corners[0]]
    draw = ImageDraw.Draw(picture)
    draw.line(closed, (20, 20, 20), 5, joint="curve")
    draw.line(closed, colour, 3, joint="curve")
    return np.asarray(picture)


def _opaque(pixels: Array) -> Picture.Image:
    picture = Picture.fromarray(np.ascontiguousarray(pixels))
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    y, x = np.indices((picture.height, picture.width)) // 12
    squares = np.where((x + y) % 2, 236, 252).astype(np.uint8)
    paper = Picture.fromarray(squares).convert("RGB")
    paper.paste(picture, mask=picture.getchannel("A"))
    return paper


def _width(text: str, size: int) -> float:
    return float(ImageFont.load_default(size).getlength(text))
