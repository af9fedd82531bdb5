"""``Image``: arrays in, pictures and samples out."""

from . import image_kinds as image_kinds
from .image import Image

__all__ = ["Image"]
