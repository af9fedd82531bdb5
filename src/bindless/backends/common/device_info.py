"""Members of ``info.device`` that come in groups."""

from __future__ import annotations

__all__ = ["VECTOR_WIDTHS"]

VECTOR_WIDTHS = tuple(
    f"{kind}_vector_width_{element}"
    for kind in ("preferred", "native")
    for element in ("char", "short", "int", "long", "float", "double", "half")
)
"""Elements of a vector, by type of element."""
