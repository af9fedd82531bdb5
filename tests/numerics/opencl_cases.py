"""Cases within OpenCL's limits: no levels, no cubemaps, one mode for all axes; only normalized coordinates repeat."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .cases import INTEGERS, MODES, STORAGE, Case, make

# Sizes whose points of 1/2048 texel are exact in float for every order of computation, and sizes that are not.
_EVEN = {"standard": ((32,), (32, 16), (16, 8, 8)), "array": ((32,), (32, 16))}
_ODD = {"standard": ((37,), (23, 18), (13, 11, 7)), "array": ((37,), (23, 18))}
_KINDS = ("standard", "array")


def _samples(sizes: tuple[int, ...], kind: str, channel_type: str, channels: int, points: str) -> Iterator[Case]:
    filters = ("nearest",) if channel_type in INTEGERS else ("nearest", "linear")
    for filtering, mode, normalized in itertools.product(filters, MODES, (True, False)):
        if normalized or mode.startswith("clamp"):
            yield make(kind, sizes, channel_type, channels, mode, filtering, points=points, normalized=normalized)


def _cases(every: bool = False) -> Iterator[Case]:
    for kind, channel_type, channels in itertools.product(_KINDS, STORAGE, (1, 2, 4)):
        for sizes in _EVEN[kind]:
            if every or channels == 4 or channel_type in ("fp32", "fp16", "unorm_int8"):
                yield from _samples(sizes, kind, channel_type, channels, "dyadic")
            yield make(kind, sizes, channel_type, channels, "clamp_to_edge", "nearest", points="pixels",
                       normalized=False, operation="fetch")  # fmt: skip
    for kind, channel_type in itertools.product(_KINDS, ("fp32", "unorm_int16")):
        for sizes in _ODD[kind]:
            for case in _samples(sizes, kind, channel_type, 4, "near"):
                if case.filtering == "linear":
                    yield case


CASES = tuple(_cases())
EVERY = tuple(_cases(every=True))
"""All counts of channels in all configurations, too."""
