"""Tolerances for OpenCL devices, and their known faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .cases import Case

# Of the range of an image's values. Devices compute in float: the conversion of a code and three blends one after the
# other round by 6e-8 each. Measured on exact points: 1.8e-7 (PoCL 3.1, Intel 2026.2), normalized types included.
TOLERANCE = 2e-6
# A normalized code read without a filter may be off by 1.5 units in the last place (OpenCL C, conversion rules).
CODE_TOLERANCE = 1.5 * 2.0**-23


@dataclass(frozen=True)
class Fault:
    """A known fault of a platform, in some of its versions.

    Attributes
    ----------
    spoils
        The affected cases.
    probe
        The case that detects the fault; if its result is right, all affected cases are compared.
    """

    spoils: Callable[[Case], bool]
    probe: str


# Name of the platform: {fault: affected cases}. The probe detects the fault, whatever the version.
FAULTS: dict[str, dict[str, Fault]] = {
    "Portable Computing Language": {
        "images of one half are read as something else": Fault(  # 3.1 and 5.0
            lambda case: case.channel_type == "fp16" and case.channels == 1,
            "fetch standard 32x16 fp16x1 clamp_to_edge,clamp_to_edge nearest unnormalized pixels",
        ),
        "normalized coordinates of arrays scale the layer": Fault(  # 3.1
            lambda case: case.type == "array" and case.normalized,
            "sample array 32x16 fp32x4 clamp_to_edge,clamp_to_edge nearest normalized dyadic",
        ),
    },
}


def known_faults(platform: str) -> dict[str, Fault]:
    """Return the known faults of a platform by its name, with or without a version suffix."""
    return next((known for start, known in FAULTS.items() if platform.startswith(start)), {})


def allowed(case: Case) -> float:
    """Return the tolerance of a case for points away from texel borders; zero for unfiltered, unnormalized types.

    Points that are not exact in texels cost a rounding of at most 2 sizes more in each dimension, where neighbouring
    texels may differ by the whole range.
    """
    if case.filtering == "linear":
        texels = sum(case.sizes) if case.points == "near" else 0
        return (TOLERANCE + 2 * texels * 2.0**-24) * case.value_range
    return CODE_TOLERANCE if "norm" in case.channel_type else 0.0
