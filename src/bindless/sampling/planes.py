"""``PlanesSource`` and ``PlanesPlan``: pictures in colours of the two planes of a video frame, by one kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bindless_images.call_form import ArrayLike
from ..kernels import choose
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import Boundary
from ..model.errors import FeatureNotSupportedError
from ..model.resampling import Resampling, Strategy
from ..model.video import VideoColours
from ..sycl.device.handle_owner import HeldHandle
from ..sycl.usm.array_import import as_usm_array
from .kernel import KernelPlan
from .plan import Plan, finish
from .source import Source

if TYPE_CHECKING:
    from ..model.filter import CoordinateMap, Filter
    from ..model.image_handles import SampledImageHandle
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["Chroma", "PlanesSource", "blend_planes", "separate_fills"]

_BLOCK = 1 << 14  # pixels that the processor's caches hold

_FILLS = {Boundary.border: 1, Boundary.extent: 2}  # of the kernel's argument


def separate_fills(filter_: Filter) -> tuple[Filter, int]:
    """The filter of both planes, and the kernel's argument that says along which axes the fill value lies outside.

    Planes have the colour of their edges there: fill values are colours, which the kernel blends last.
    """
    x, y, z = filter_.boundary
    inner = [Boundary.edge if mode in _FILLS else mode for mode in (x, y)]
    return replace(filter_, boundary=(inner[0], inner[1], z)), _FILLS.get(x, 0) | _FILLS.get(y, 0) << 2


def blend_planes(
    luma: Array, chroma: Array, colours: VideoColours, values: Array, share: Array | None = None, *, fill: float = 0.0
) -> None:
    """Red, green and blue of values of both planes, on the host.

    Parameters
    ----------
    luma, chroma : Array
        Fractions of the largest integer, float32: shapes (...) and (..., 2).
    values : Array
        Shape (..., 3), contiguous: integers over the whole range of their type, or float32 from 0 to 1.
    share : Array | None
        Shape (...): the rest is the fill value, from 0 to 1.
    """
    light, pairs, pixels = luma.reshape(-1), chroma.reshape(-1, 2), values.reshape(-1, 3)
    largest = np.float32(np.iinfo(values.dtype.name).max) if values.dtype.kind == "u" else None
    rows = np.array(colours.rows, np.float32)
    for start in range(0, len(light), _BLOCK):
        part = slice(start, start + _BLOCK)
        y, u, v, target = light[part], pairs[part, 0].copy(), pairs[part, 1].copy(), pixels[part]
        for channel, row in enumerate(rows):
            value = y * row[0] + row[3]
            for difference, factor in ((u, row[1]), (v, row[2])):
                if factor:
                    value += difference * factor
            np.clip(value, 0.0, 1.0, out=value)
            if share is not None:
                inside = share.reshape(-1)[part]
                value *= inside
                value += (1 - inside) * np.float32(fill)
            if largest is not None:
                value *= largest
                np.rint(value, out=value)
            target[:, channel] = value


@dataclass(frozen=True)
class Chroma:
    """The plane of colour differences, and what it means.

    Attributes
    ----------
    image : HeldHandle
        Handle of its image.
    colours : VideoColours
        The numbers of the planes.
    fills : int
        See ``separate_fills``.
    """

    image: HeldHandle
    colours: VideoColours
    fills: int


@dataclass(frozen=True, eq=False)
class PlanesSource(Source):
    """The planes of a video frame as pictures read them: ``handle`` is the image of the brightness."""

    chroma: Chroma | None = None

    def _prepare(self, picture: Resampling) -> Plan:
        assert self.chroma is not None
        return PlanesPlan(self.queue, self.handle, picture, self.chroma)


class PlanesPlan(KernelPlan):
    """See ``Plan``. The weights are exact, and the filter nearest or linear.

    Raises
    ------
    FeatureNotSupportedError
        The device lacks the double precision in which positions are computed.
    """

    def __init__(self, queue: Queue, handle: SampledImageHandle, picture: Resampling, chroma: Chroma) -> None:
        if not queue.device.has(Aspect.fp64):
            raise FeatureNotSupportedError(
                f"{queue.device.name} has no double precision (aspect fp64), which pictures of video frames need: "
                'take another device, such as Queue("reference")',
                backend=queue.backend,
            )
        super().__init__(queue, handle, picture, Strategy.resampling)
        self._name, self._chroma = choose.planes(), chroma
        self._reaches_host = queue.device.has(Aspect.usm_system_allocations)

    def _numbers(self) -> dict[str, Any]:
        desc, colours = self._chroma.image.descriptor, self._chroma.colours
        assert desc is not None
        numbers: dict[str, Any] = super()._numbers() | {"chroma": self._chroma.image, "fills": self._chroma.fills}
        numbers |= {"chroma_x": desc.width, "chroma_y": desc.height, "scale_x": 0.5, "scale_y": 0.5}
        numbers |= dict(zip(("bias_x", "bias_y"), colours.bias))
        for name, row in zip(("red", "green", "blue"), colours.rows):
            numbers |= dict(zip((f"{name}_y", f"{name}_u", f"{name}_v", name), row))
        return numbers

    def _again(self, picture: Resampling) -> KernelPlan:
        return PlanesPlan(self._queue, self._handle, picture, self._chroma)

    def _from_host(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int,
    ) -> Event | None:
        is_packed = not isinstance(coords, np.ndarray) or (self._is_packed and coords.flags.c_contiguous)
        if not (self._reaches_host and isinstance(out, np.ndarray) and is_packed):
            return super()._from_host(map_, out, coords, depends_on, offset)
        queue = self._queue
        there = as_usm_array(coords, queue) if isinstance(coords, np.ndarray) else coords
        event = self._submit(map_, as_usm_array(out, queue), there, depends_on, offset)
        assert event is not None
        finish(event)
        return None
