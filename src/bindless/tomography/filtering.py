"""Filters and weights of projections before they are back projected."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from ..model.errors import ArgumentError
from .geometry import Geometry

__all__ = [
    "FILTERS",
    "distance_weights",
    "missing_columns",
    "ramp_filter",
    "ramp_response",
    "redundancy_weights",
    "span_of",
]

Floats = npt.NDArray[np.float64]


def _shepp_logan(share: Floats) -> Floats:
    return np.sinc(share / 2)


def _cosine(share: Floats) -> Floats:
    return np.cos(np.pi / 2 * share)


def _hann(share: Floats) -> Floats:
    return 0.5 + 0.5 * np.cos(np.pi * share)


def _hamming(share: Floats) -> Floats:
    return 0.54 + 0.46 * np.cos(np.pi * share)


FILTERS: dict[str, Callable[[Floats], Floats]] = {
    "ramp": np.ones_like,
    "shepp-logan": _shepp_logan,
    "cosine": _cosine,
    "hamming": _hamming,
    "hann": _hann,
}
"""Factors of frequencies, which are shares of the largest one, from 0 to 1."""


_WHOLE_TURN = 2 * np.pi * 0.99


def ramp_filter(values: Array, spacing: float, name: str, curved: bool) -> Array:
    """Rows of projections, filtered by the ramp of samples at this distance, times the factors of ``FILTERS[name]``.

    Of a curved detector the distance is an angle.
    """
    count = values.shape[-1]
    response, length = _ramp(count, spacing, name, curved)
    result = np.empty(values.shape, np.float32)
    for view, rows in enumerate(values):
        result[view] = np.fft.irfft(np.fft.rfft(rows, length) * response, length)[..., :count]
    return result


def ramp_response(count: int, spacing: float, name: str, curved: bool) -> Floats:
    """The same filter in space: of differences from 1 - count to count - 1 samples."""
    response, length = _ramp(count, spacing, name, curved)
    return np.fft.irfft(response, length)[np.arange(1 - count, count)]


def _ramp(count: int, spacing: float, name: str, curved: bool) -> tuple[Floats, int]:
    """Factors of the frequencies of rows, and the length that these are brought to.

    The ramp is the transform of its band-limited kernel in space, so that sums of rows are right. Of angles the
    distance of two lines is the sine of their angle times that from the source.
    """
    if name not in FILTERS:
        raise ArgumentError(f"filter={name!r}: {', '.join(FILTERS)} are known")
    length = 1 << max(2 * count - 1, 1).bit_length()
    place = np.fft.fftfreq(length, 1 / length)
    kernel = np.where(place % 2 == 0, 0.0, -1 / (np.pi * np.where(place == 0, 1, place) * spacing) ** 2)
    kernel[0] = 1 / (4 * spacing**2)
    if curved:
        kernel = np.where(
            np.abs(place) < count, kernel / np.sinc(np.minimum(np.abs(place), count) * spacing / np.pi) ** 2, 0
        )
    return np.fft.rfft(kernel).real * FILTERS[name](np.linspace(0, 1, length // 2 + 1)) * spacing, length


def _places(geometry: Geometry, axis: int) -> Floats:
    """Places of columns, axis 0, or of rows, beside the middle ray."""
    count = geometry.detector_shape[1 - axis]
    numbers = np.arange(count, dtype=np.float64)
    return np.asarray((numbers - (count - 1) / 2) * geometry.spacing[axis] + geometry.offset[axis])


def distance_weights(geometry: Geometry) -> Floats:
    """The cosine between each ray and the middle one, (rows, columns)."""
    along, up = _places(geometry, 0), _places(geometry, 1)[:, None]
    distance = geometry.source_distance + geometry.detector_distance
    if geometry.column_angle:
        return np.asarray(np.cos(along / distance) * distance / np.sqrt(distance**2 + up**2))
    return np.asarray(distance / np.sqrt(distance**2 + along**2 + up**2))


def redundancy_weights(geometry: Geometry, angles: Floats) -> Floats:
    """Shares of rays that are measured twice, or nearly so, (views, columns), whose pairs add up to 2.

    Of whole turns, all rays are measured twice; where a detector beside the middle measures a ray once, it counts
    twice, with a smooth passage. Of fans over less than a turn, Parker's weights.

    Raises
    ------
    ArgumentError
        A fan over less than half a turn and its angle.
    """
    along = _places(geometry, 0)
    span = span_of(angles)
    if span > _WHOLE_TURN:
        if not any(missing_columns(geometry)):
            return np.ones((1, len(along)))
        reach = min(abs(along[0]), abs(along[-1]))  # both sides have these
        side = along * np.sign(geometry.offset[0]) / reach
        return np.asarray(1 + np.sin(np.pi / 2 * np.clip(side, -1, 1))[None])
    if geometry.is_parallel:
        return np.ones((1, len(along)))
    slope = along / (geometry.source_distance + geometry.detector_distance)
    lean = slope if geometry.column_angle else np.arctan(slope)
    beyond = (span - np.pi) / 2
    if beyond < np.abs(lean).max() - 1e-6:
        least = 180 + np.degrees(2 * np.abs(lean).max())
        raise ArgumentError(
            f"views over {np.degrees(span):.0f} degrees: {least:.0f}, half a turn and the fan's angle, are needed at "
            "least; sirt and cgls take fewer"
        )
    turn = (angles - angles.min())[:, None]
    first = np.sin(np.pi / 4 * turn / np.maximum(beyond + lean, 1e-9)) ** 2
    last = np.sin(np.pi / 4 * (np.pi + 2 * beyond - turn) / np.maximum(beyond - lean, 1e-9)) ** 2
    weights = np.where(turn < 2 * (beyond + lean), first, np.where(turn > np.pi + 2 * lean, last, 1.0))
    return np.asarray(2 * weights)


def span_of(angles: Floats) -> float:
    """The angle of views at equal distances, the step after the last one included."""
    return float(np.ptp(angles)) * len(angles) / max(len(angles) - 1, 1)


def missing_columns(geometry: Geometry) -> tuple[int, int]:
    """Columns that a detector beside the middle lacks before its first and after its last one, beside the other side.

    Filtered projections reach beyond the detector, where texels are that other views see.
    """
    along = _places(geometry, 0)
    difference = abs(along[0]) - abs(along[-1])
    count = round(abs(difference) / geometry.spacing[0]) if geometry.angles is not None else 0
    if count <= 1 or geometry.angles is None or span_of(geometry.angles) <= _WHOLE_TURN:
        return 0, 0
    return (0, count) if difference > 0 else (count, 0)
