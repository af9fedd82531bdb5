"""``read_cube``: tables of colours in files of the type .cube, as Adobe, Resolve and OpenColorIO write them."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError
from ..model.message_values import shown

__all__ = ["Cube", "read_cube"]

_SIZES = {"LUT_1D_SIZE": (2, 1 << 16), "LUT_3D_SIZE": (2, 256)}
_RANGES = ("LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE")
_DOMAINS = ("DOMAIN_MIN", "DOMAIN_MAX")
_IGNORED = ("TITLE", "LUT_IN_VIDEO_RANGE", "LUT_OUT_VIDEO_RANGE")
_MAX_BYTES = 1 << 30
_Domain = tuple[tuple[float, ...], tuple[float, ...]]
_UNIT: _Domain = ((0.0,) * 3, (1.0,) * 3)


class Cube(NamedTuple):
    """The tables of a file.

    Attributes
    ----------
    table : Array | None
        Shape (blue, green, red, 3), float32.
    domain : tuple[tuple[float, ...], tuple[float, ...]]
        Values of red, green and blue at the first and at the last entry of the table.
    shaper : Array | None
        Shape (entries, 3), float32: what each channel goes through before.
    shaper_domain : tuple[tuple[float, ...], tuple[float, ...]]
        Its first and last values.
    """

    table: Array | None
    domain: _Domain
    shaper: Array | None
    shaper_domain: _Domain


def read_cube(path: str | os.PathLike[str]) -> Cube:
    """The tables of a file: of one dimension, of three, or both, of which that of one dimension comes first.

    Raises
    ------
    InvalidError
        The file has no table, a line that is none of the format's, or another number of entries than it says.
    """
    size = os.stat(path).st_size
    if size > _MAX_BYTES:
        raise InvalidError(f"{os.fspath(path)!r} has {size} bytes: a table of colours has less than {_MAX_BYTES}")
    sizes: dict[str, int] = {}
    domains: dict[str, tuple[float, ...]] = {}
    rows: list[str] = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            words = line.partition("#")[0].split()
            if not words or words[0] in _IGNORED:
                continue
            where = f"{os.fspath(path)!r}, line {number}"
            if words[0] in _SIZES:
                sizes[words[0]] = _size_of(words, where)
            elif words[0] in _RANGES or words[0] in _DOMAINS:
                domains[words[0]] = _numbers_of(words[1:], 2 if words[0] in _RANGES else 3, where)
            elif words[0][0].isalpha() and words[0].lower() not in ("nan", "inf"):
                raise InvalidError(f"{where}: {shown(words[0])} is no word of .cube files")
            elif len(words) == 3:
                rows.append(line)
            else:
                raise InvalidError(f"{where}: {len(words)} words; an entry is three numbers")
    return _tables_of(sizes, domains, rows, repr(os.fspath(path)))


def _size_of(words: list[str], where: str) -> int:
    low, high = _SIZES[words[0]]
    if len(words) != 2 or not words[1].isdecimal() or not low <= int(words[1]) <= high:
        raise InvalidError(f"{where}: {words[0]} {' '.join(words[1:])}: one number from {low} to {high} is needed")
    return int(words[1])


def _numbers_of(words: list[str], count: int, where: str) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, words))
    except ValueError:
        raise InvalidError(f"{where}: {' '.join(words)!r} are no numbers") from None
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise InvalidError(f"{where}: {' '.join(words)!r}: {count} finite numbers are needed")
    return numbers


def _tables_of(sizes: dict[str, int], domains: dict[str, tuple[float, ...]], rows: list[str], name: str) -> Cube:
    flat, edge = sizes.get("LUT_1D_SIZE", 0), sizes.get("LUT_3D_SIZE", 0)
    if not sizes:
        raise InvalidError(f"{name} has neither LUT_1D_SIZE nor LUT_3D_SIZE: it is no .cube file")
    if len(rows) != flat + edge**3:
        raise InvalidError(f"{name} has {len(rows)} entries: {flat + edge**3} are needed for {sizes}")
    try:
        entries = np.array(" ".join(rows).split(), np.float64).astype(np.float32).reshape(-1, 3)
    except ValueError as error:
        raise InvalidError(f"{name}: {error}") from None
    if not np.isfinite(entries).all():
        raise InvalidError(f"{name} has entries that are not finite")
    whole = domains.get("DOMAIN_MIN", _UNIT[0]), domains.get("DOMAIN_MAX", _UNIT[1])
    shaper_domain, domain = (
        tuple((end,) * 3 for end in domains[word]) if word in domains else default
        for word, default in zip(_RANGES, (whole, _UNIT if flat else whole))
    )
    return Cube(
        table=entries[flat:].reshape(edge, edge, edge, 3) if edge else None,
        domain=(domain[0], domain[1]),
        shaper=entries[:flat] if flat else None,
        shaper_domain=(shaper_domain[0], shaper_domain[1]),
    )
