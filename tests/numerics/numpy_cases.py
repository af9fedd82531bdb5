"""Cases for the comparison with float64 numpy: every type, geometry, mode and filter of the specification."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .cases import MODES, REALS, STORAGE, Case, make

_SIZES = ((37,), (23, 18), (13, 11, 7))
_FILTERS = ("nearest", "linear")
_MIXED = ("repeat", "clamp_to_border", "mirrored_repeat")


def _filters(channel_type: str) -> tuple[str, ...]:
    """Return the filters of a type; 32-bit integers have no linear filter."""
    return ("nearest",) if "int32" in channel_type else _FILTERS


def _standard(channels: Iterator[int]) -> Iterator[Case]:
    for channel_type, sizes in itertools.product(STORAGE, _SIZES):
        for filtering in _filters(channel_type):
            for mode in (*MODES, _MIXED[: len(sizes)]):
                yield make("standard", sizes, channel_type, next(channels), mode, filtering, points="spread", count=300)
            for mode in ("clamp_to_edge", "clamp_to_border", "repeat"):
                yield make(
                    "standard", sizes, channel_type, next(channels), mode, filtering, points="spread", count=300,
                    normalized=False,
                )  # fmt: skip


def _layers(channels: Iterator[int]) -> Iterator[Case]:
    for channel_type, sizes in itertools.product(REALS, _SIZES[:2]):
        for filtering, mode, normalized in itertools.product(_FILTERS, MODES, (True, False)):
            if normalized or mode.startswith("clamp"):
                yield make(
                    "array", sizes, channel_type, next(channels), mode, filtering, points="spread", count=300,
                    normalized=normalized,
                )  # fmt: skip


def _levels(channels: Iterator[int]) -> Iterator[Case]:
    ranges = ((0.0, 3.0), (0.7, 2.3))
    for channel_type, sizes in itertools.product(REALS, ((77,), (53, 41), (21, 17, 13))):
        for filtering, between, mode in itertools.product(_FILTERS, _FILTERS, MODES):
            low, high = ranges[next(channels) % 2]
            yield make(
                "mipmap", sizes, channel_type, next(channels), mode, filtering, points="spread", count=400,
                operation="sample_lod", levels=4, mipmap_filtering=between, min_level=low, max_level=high,
            )  # fmt: skip
        for between in _FILTERS:
            yield make(
                "mipmap", sizes, channel_type, next(channels), "repeat", "linear", points="gradients", count=400,
                operation="sample_gradient", levels=4, mipmap_filtering=between,
            )  # fmt: skip


def _cubemaps(channels: Iterator[int]) -> Iterator[Case]:
    for channel_type, filtering in itertools.product(REALS, _FILTERS):
        for width in (1, 2, 24):
            yield make(
                "cubemap", (width, width), channel_type, next(channels), "clamp_to_edge", filtering,
                points="directions", seamless=True,
            )  # fmt: skip
        for mode in (*MODES, _MIXED[:2]):
            yield make("cubemap", (24, 24), channel_type, next(channels), mode, filtering, points="directions")
    # Wide faces expose the error of rounding a direction to float.
    for seamless in (True, False):
        yield make("cubemap", (160, 160), "fp32", 2, "clamp_to_edge", "linear", points="directions", seamless=seamless)


def _anisotropic() -> Iterator[Case]:
    for sizes, limit, smooth in itertools.product(((128,), (64, 48)), (2.0, 5.0, 16.0), (True, False)):
        # At the finest level, footprints have many texels, and each must count.
        for between, high in (("linear", 4.0), ("nearest", 4.0), ("linear", 0.0)):
            yield make(
                "mipmap", sizes, "fp32", 2, "repeat", "linear", points="gradients", count=60, levels=5, smooth=smooth,
                operation="sample_gradient", mipmap_filtering=between, max_level=high, max_anisotropy=limit,
            )  # fmt: skip


CASES = tuple(
    case for family in (_standard, _layers, _levels, _cubemaps) for case in family(itertools.cycle((1, 2, 4, 3, 2)))
)
ANISOTROPIC = tuple(_anisotropic())
CASES += ANISOTROPIC
