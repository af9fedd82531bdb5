"""The choice of the road of pictures, and ``resample``: one picture on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..bindless_images.call_form import ArrayLike
from ..kernels import choose
from ..model.aspects import Aspect
from ..model.enums import ImageType, Interpolation, Precision
from ..model.resampling import FieldKind, Strategy
from .blocks import BlockPlan
from .driver import DriverPlan
from .host import HostPlan
from .kernel import KernelPlan
from .plan import Plan

if TYPE_CHECKING:
    from ..model.image_handles import SampledImageHandle
    from ..model.resampling import Resampling
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["prepare", "resample"]

_OF_UNITS = (Interpolation.nearest, Interpolation.linear)


def prepare(queue: Queue, handle: SampledImageHandle, picture: Resampling) -> Plan:
    """The plan of pictures of an image; see ``Plan`` for the arguments.

    A texture unit that samples planes at the positions of a map follows the map itself (``Strategy.projection``), which
    took 0.1 to 0.9 of the time of ``Strategy.resampling`` in 51 of 57 cases, with equal values. Drivers with kernels in
    the language of the device run those. Where they lack it for footprints or for the arithmetic of the handle, and for
    footprints of lenses, device functions sample at coordinates that the host makes.

    Raises
    ------
    InvalidError
        The handle is no standard image, array or mipmap of the queue's context.
    FeatureNotSupportedError
        ``Precision.reproducible``, or no double precision: the host computes the picture, and the image lies over USM.
    """
    projects = _projects(queue, handle, picture)
    if picture.footprints and picture.fields is not FieldKind.none:
        return BlockPlan(queue, handle, picture)
    if queue._backend.resampling is not None:
        return DriverPlan(queue, handle, picture, Strategy.projection if projects else Strategy.resampling)
    computes_positions, desc = queue.device.has(Aspect.fp64), handle._descriptor
    in_hardware = picture.filter.precision is Precision.hardware
    if projects and desc is not None:
        name = choose.warp(desc, desc.channel.kind, gradients=picture.footprints)
        if in_hardware and computes_positions and choose.is_available(name, queue.context._library.target):
            return KernelPlan(queue, handle, picture, Strategy.projection)
        if picture.footprints or not (in_hardware and computes_positions):
            return BlockPlan(queue, handle, picture)
    if picture.filter.precision is Precision.reproducible or not computes_positions:
        return HostPlan(queue, handle, picture, resample)
    return KernelPlan(queue, handle, picture, Strategy.resampling)


def _projects(queue: Queue, handle: SampledImageHandle, picture: Resampling) -> bool:
    """Whether samples of the handle at the positions of a map are the picture."""
    desc, filter_ = handle._descriptor, picture.filter
    record = queue.context._handles.get(handle._raw_handle << 1 | 1)
    return (
        desc is not None
        and desc.dimensions == 2
        and record is not None
        and record.precision is filter_.precision
        and filter_.interpolation in _OF_UNITS
        and not (filter_.double_sums or filter_.has_even_ties)
        and picture.coords_strides == (0, 0)
        and picture.shape[2] == 1
        and picture.first == (0, 0, 0)
        and picture.window is None
        and picture.rounding == "even"
        and picture.map.centre == 0.5
        and picture.value_dtype in (desc.dtype, desc.value_dtype)
        and desc.type in (ImageType.standard, ImageType.array, ImageType.mipmap)
    )


def resample(
    queue: Queue,
    handle: SampledImageHandle,
    picture: Resampling,
    out: ArrayLike,
    *,
    coords: ArrayLike | None = None,
    depends_on: Event | Iterable[Event] = (),
) -> Event | None:
    """A picture of an image.

    Parameters
    ----------
    handle : SampledImageHandle
        Handle of a standard image, an array or a mipmap, made by ``create_image`` for the queue's device.
    picture : Resampling
        What to compute. The fields for handle, descriptor, addresses and types of arrays follow from the other
        arguments and need not be right.
    out : ArrayLike
        The values: contiguous, ``picture.shape`` reversed times channels; on the host (waits, returns None) or in USM
        (returns the event).
    coords : ArrayLike | None, default None
        Vectors of float32 or float64. Its first element is the first component of the first vector, from which
        ``picture.coords_strides`` lead to the others; their number is that of the image's dimensions.
    depends_on : Event | Iterable[Event], default ()
        Events to wait for first.

    Raises
    ------
    InvalidError
        The handle is no such image of the queue's context.
    FeatureNotSupportedError
        See ``prepare``.
    """
    fields = {"coords_strides": (0, 0)} if coords is None else {"coords_dtype": coords.dtype}
    picture = replace(picture, value_dtype=out.dtype, value_channels=out.shape[-1], **fields)
    is_flat = picture.shape[2] == 1 and picture.first[2] == 0
    map_ = picture.map.flat if is_flat else picture.map
    return prepare(queue, handle, picture).submit(map_, out, coords, depends_on)
