"""Memory fills for drivers that require addresses at multiples of the pattern size."""

from __future__ import annotations

__all__ = ["fill_parts"]


def fill_parts(dst: int, pattern: bytes, total: int) -> list[tuple[int, bytes, int]]:
    """Address, pattern and bytes of the fills that write a pattern from an address on.

    If the address is not a multiple of the pattern's size, the pattern is rotated from the first such multiple on; the
    parts before it and after the last whole pattern are written in pieces as large as their alignment allows.
    """
    if len(set(pattern)) == 1:
        pattern = pattern[:1]
    size = len(pattern)
    before = min(-dst % size, total)
    turned = pattern[before:] + pattern[:before]
    whole = (total - before) // size * size
    head = _pieces(dst, pattern[:before])
    tail = _pieces(dst + before + whole, turned[: total - before - whole])
    return [*head, *([(dst + before, turned, whole)] if whole else []), *tail]


def _pieces(address: int, data: bytes) -> list[tuple[int, bytes, int]]:
    pieces = []
    while data:
        size = 1
        while 2 * size <= len(data) and address % (2 * size) == 0:
            size *= 2
        pieces.append((address, data[:size], size))
        address, data = address + size, data[size:]
    return pieces
