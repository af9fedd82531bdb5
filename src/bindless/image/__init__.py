"""``Image``: arrays in, pictures and samples out."""

from .image import Image

__all__ = ["Image"]
