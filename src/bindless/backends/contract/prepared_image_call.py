"""The arrays of a prepared device function; see ``BackendProtocol.prepare_image_call``."""

from __future__ import annotations

__all__ = ["ALIGNMENT", "ARRAYS"]

ARRAYS = ("coords", "layers", "levels", "dx", "dy", "values")
"""Fields of ``ImageCall`` that hold addresses, in the order of the places of a prepared call."""

ALIGNMENT = 16
"""Bytes; all arrays of this alignment have the same kernel."""
