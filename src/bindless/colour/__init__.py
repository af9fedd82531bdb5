"""Colours: tables that map them."""

from .lut3d import Lut3D

__all__ = ["Lut3D"]
