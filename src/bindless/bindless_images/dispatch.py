"""Dispatch of device functions: look up the image, check the arguments, build one ``ImageCall``, submit it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from ..model.enums import ImageType
from ..model.errors import InvalidError
from ..model.host_array import as_dtype
from ..model.image_call import Operation
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from ..sycl.usm import UsmArray
from ..sycl.usm.array_import import foreign_array
from .call_arguments import ArrayLike, Form, check_out, enqueue, find_image, with_coords, with_layers, with_level
from .result_arrays import empty_result
from .value_formats import DTypeLike, read_format, written_format

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = [
    "FETCH_ARRAY",
    "FETCH_CUBEMAP",
    "FETCH_IMAGE",
    "SAMPLE_ARRAY",
    "SAMPLE_CUBEMAP",
    "SAMPLE_GRADIENT",
    "SAMPLE_IMAGE",
    "SAMPLE_LEVEL",
    "WRITE_ARRAY",
    "WRITE_CUBEMAP",
    "WRITE_IMAGE",
    "Array",
    "Depends",
    "Options",
    "read",
    "write",
]

Depends = Union[Event, Iterable[Event]]
Array = npt.NDArray[Any]

FETCH_IMAGE = Form("fetch_image", "fetch", ImageType.standard, sampled=True, unsampled=True)
FETCH_ARRAY = Form("fetch_image_array", "fetch", ImageType.array, sampled=True, unsampled=True)
FETCH_CUBEMAP = Form("fetch_cubemap", "fetch", ImageType.cubemap, sampled=False, unsampled=True)
SAMPLE_IMAGE = Form("sample_image", "sample", ImageType.standard, sampled=True, unsampled=False)
SAMPLE_ARRAY = Form("sample_image_array", "sample", ImageType.array, sampled=True, unsampled=False)
SAMPLE_CUBEMAP = Form("sample_cubemap", "sample", ImageType.cubemap, sampled=True, unsampled=False)
SAMPLE_LEVEL = Form("sample_mipmap", "sample_lod", ImageType.mipmap, sampled=True, unsampled=False)
SAMPLE_GRADIENT = Form("sample_mipmap", "sample_grad", ImageType.mipmap, sampled=True, unsampled=False)
WRITE_IMAGE = Form("write_image", "write", ImageType.standard, sampled=False, unsampled=True)
WRITE_ARRAY = Form("write_image_array", "write", ImageType.array, sampled=False, unsampled=True)
WRITE_CUBEMAP = Form("write_cubemap", "write", ImageType.cubemap, sampled=False, unsampled=True)

_COORDINATE_DTYPE: dict[Operation, str] = {
    "fetch": "int32",
    "write": "int32",
    "sample": "float32",
    "sample_lod": "float32",
    "sample_grad": "float32",
}


class Options(NamedTuple):
    """The keyword arguments that all reading functions share."""

    num_channels: int | None
    dtype: DTypeLike
    hint: DTypeLike
    out: ArrayLike | None
    depends_on: Depends


def _dimensions(form: Form, desc: ImageDescriptor) -> int:
    return 3 if form is SAMPLE_CUBEMAP else desc.dimensions


def read(
    queue: Queue,
    form: Form,
    handle: object,
    coords: tuple[str, ArrayLike],
    layers: tuple[str, ArrayLike | int] | None,
    options: Options,
    level: ArrayLike | float | None = None,
    gradients: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array | Event:
    """Every fetch and sample: checks, the result's array, submission."""
    out = foreign_array(options.out, queue)
    num_channels, dtype = _asked(options, out)
    coords = coords[0], foreign_array(coords[1], queue)
    image = find_image(queue, form, handle, coords[1], num_channels, dtype)
    desc = image.desc
    dims, kind = _dimensions(form, desc), _COORDINATE_DTYPE[form.operation]
    points = with_coords(form, coords[0], coords[1], dims, kind)
    count = points.shape[0]
    inputs: dict[str, ArrayLike | None] = {"coords": points}
    layer, fixed_level = 0, 0.0
    if layers is not None:
        inputs["layers"], layer = with_layers(form, layers[0], foreign_array(layers[1], queue), count, desc)
    if gradients is not None:
        for name, gradient in zip(("dx", "dy"), gradients):
            inputs[name] = with_coords(form, name, foreign_array(gradient, queue), dims, kind, count)
    elif level is not None:
        inputs["levels"], fixed_level = with_level(form, foreign_array(level, queue), count)
    values = read_format(form.name, desc, num_channels, dtype, options.hint)
    if out is None:
        if isinstance(points, UsmArray):
            raise InvalidError(
                f"{form.name}: {coords[0]} is a UsmArray: give out=usm_empty({values.shape(count)}, ...) for the result"
            )
        out = empty_result(values.shape(count), values.item)
    else:
        check_out(form, out, values, count, inputs.values())
    fields = {
        "count": count,
        "value_dtype": values.element,
        "value_channels": values.channels,
        "layer": layer,
        "level": fixed_level,
    }
    event = enqueue(queue, form, image, inputs, out, fields, options.depends_on)
    if isinstance(out, UsmArray) and event is not None:
        return event
    return out if options.out is None else options.out  # type: ignore[return-value]


def _asked(options: Options, out: ArrayLike | None) -> tuple[int | None, DTypeLike]:
    """Channels and dtype as given, else as the result's array says."""
    num_channels, dtype = options.num_channels, options.dtype
    if isinstance(out, (np.ndarray, UsmArray)):
        if dtype is None:
            dtype = out.dtype
        if (
            num_channels is None
            and as_dtype("dtype", dtype).fields is None
            and out.ndim == 2
            and 1 <= out.shape[1] <= 4
        ):
            num_channels = out.shape[1]
    return num_channels, dtype


def write(
    queue: Queue,
    form: Form,
    handle: object,
    coords: ArrayLike,
    layers: tuple[str, ArrayLike | int] | None,
    colors: ArrayLike,
    depends_on: Depends,
) -> Event | None:
    """Every write: checks, submission."""
    coords, colors = foreign_array(coords, queue), foreign_array(colors, queue)
    if not isinstance(colors, (np.ndarray, UsmArray)):
        raise InvalidError(f"{form.name}: colors is a {type(colors).__name__}; it is a numpy array or a UsmArray")
    channels = colors.shape[1] if colors.ndim == 2 else 1
    image = find_image(queue, form, handle, coords, channels, None if colors.dtype.fields else colors.dtype)
    desc = image.desc
    points = with_coords(form, "coords", coords, desc.dimensions, _COORDINATE_DTYPE["write"])
    count = points.shape[0]
    inputs: dict[str, ArrayLike | None] = {"coords": points}
    layer = 0
    if layers is not None:
        inputs["layers"], layer = with_layers(form, layers[0], foreign_array(layers[1], queue), count, desc)
    values = written_format(form.name, desc, colors.dtype)
    shape = tuple(colors.shape)
    if shape != values.shape(count) and not (shape == (count,) and values.channels == 1):
        raise InvalidError(f"{form.name}: colors of shape {shape}; it is {values.shape(count)} here")
    if isinstance(colors, np.ndarray):
        colors = np.ascontiguousarray(colors)
    fields = {
        "count": count,
        "value_dtype": values.element,
        "value_channels": values.channels,
        "layer": layer,
    }
    return enqueue(queue, form, image, inputs, colors, fields, depends_on)
