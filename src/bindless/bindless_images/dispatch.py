"""Dispatch of device functions: look up the image, check the arguments, build one ``ImageCall``, submit it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ..core._submission import device_function, empty_like_foreign
from ..model.arrays import Array
from ..model.dlpack import dlpack_type
from ..model.enums import ImageType, Precision, coerce
from ..model.errors import InvalidError
from ..model.host_array import as_dtype
from ..model.image_call import Operation
from ..submission.event import Event
from ..sycl.device.handle_owner import HandleOwner
from ..sycl.usm import UsmArray, usm_empty
from ..sycl.usm.array_import import foreign_array
from .call_arguments import check_out, enqueue, find_image, with_coords, with_layers, with_level
from .call_form import ArrayLike, Form
from .prepared_call import NATIVE
from .result_arrays import empty_result
from .value_formats import DTypeLike, ValueFormat, read_format, written_format

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
    "Depends",
    "precise",
    "read",
    "write",
]

Depends = Union[Event, Iterable[Event]]

FETCH_IMAGE = Form("fetch_image", "fetch", ImageType.standard, sampled=True, unsampled=True)
FETCH_ARRAY = Form("fetch_image_array", "fetch", ImageType.array, sampled=True, unsampled=True, layers="layers")
FETCH_CUBEMAP = Form("fetch_cubemap", "fetch", ImageType.cubemap, sampled=False, unsampled=True, layers="faces")
SAMPLE_IMAGE = Form("sample_image", "sample", ImageType.standard, sampled=True, unsampled=False)
SAMPLE_ARRAY = Form("sample_image_array", "sample", ImageType.array, sampled=True, unsampled=False, layers="layers")
SAMPLE_CUBEMAP = Form("sample_cubemap", "sample", ImageType.cubemap, sampled=True, unsampled=False, coords="directions")
SAMPLE_LEVEL = Form("sample_mipmap", "sample_lod", ImageType.mipmap, sampled=True, unsampled=False)
SAMPLE_GRADIENT = Form("sample_mipmap", "sample_grad", ImageType.mipmap, sampled=True, unsampled=False)
WRITE_IMAGE = Form("write_image", "write", ImageType.standard, sampled=False, unsampled=True)
WRITE_ARRAY = Form("write_image_array", "write", ImageType.array, sampled=False, unsampled=True, layers="layers")
WRITE_CUBEMAP = Form("write_cubemap", "write", ImageType.cubemap, sampled=False, unsampled=True, layers="faces")

_PRECISE: dict[tuple[Form, Precision], Form] = {
    (form, precision): replace(form, precision=precision)
    for form in (SAMPLE_IMAGE, SAMPLE_ARRAY, SAMPLE_CUBEMAP, SAMPLE_LEVEL, SAMPLE_GRADIENT)
    for precision in Precision
}


def precise(form: Form, precision: Precision | str) -> Form:
    """The form of calls that give a precision: one object for each, as C code compares forms by identity."""
    return _PRECISE[form, coerce(Precision, precision, "precision")]


_COORDINATE_DTYPE: dict[Operation, str] = {
    "fetch": "int32",
    "write": "int32",
    "sample": "float32",
    "sample_lod": "float32",
    "sample_grad": "float32",
}


def read(
    form: Form,
    queue: Queue,
    handle: object,
    coords: ArrayLike,
    layers: ArrayLike | int | None,
    level: ArrayLike | float | None,
    dx: ArrayLike | None,
    dy: ArrayLike | None,
    out: ArrayLike | None,
    num_channels: int | None,
    dtype: DTypeLike,
    hint: DTypeLike,
    depends_on: Depends,
    prepare: bool,
) -> Array | Event:
    """Every fetch and sample that C code does not repeat: checks, the result's array, submission.

    Parameters
    ----------
    prepare : bool
        Whether the call may be prepared; not if a prepared call could not be submitted just now.
    """
    if isinstance(handle, HandleOwner):
        own = handle._image_handle(not form.unsampled)
        return device_function(
            read, form, queue, own, coords, layers, level, dx, dy, out, num_channels, dtype, hint, depends_on
        )
    arguments = (form, queue, handle, coords, layers, level, dx, dy, out, num_channels, dtype, hint)
    values_array = out if out is None or type(out) in NATIVE else foreign_array(out, queue)
    if values_array is not None:
        num_channels, dtype = _format_of(num_channels, dtype, values_array)
    if type(coords) not in NATIVE:
        coords = foreign_array(coords, queue)
    image = find_image(queue, form, handle, coords, num_channels, dtype)
    desc = image.desc
    dims = 3 if form.coords == "directions" else desc.dimensions
    kind = _COORDINATE_DTYPE[form.operation]
    points = with_coords(form, form.coords, coords, dims, kind)
    count = points.shape[0]
    inputs: dict[str, ArrayLike | None] = {"coords": points}
    layer, fixed_level = 0, 0.0
    if form.layers is not None:
        inputs["layers"], layer = with_layers(form, form.layers, foreign_array(layers, queue), count, desc)
    if form.operation == "sample_grad":
        for name, gradient in (("dx", dx), ("dy", dy)):
            inputs[name] = with_coords(form, name, foreign_array(gradient, queue), dims, kind, count)
    elif form.operation == "sample_lod":
        inputs["levels"], fixed_level = with_level(form, foreign_array(level, queue), count)
    values = read_format(form.name, desc, num_channels, dtype, hint)
    result = namespace = None
    if values_array is None:
        result, namespace = _new_result(queue, form, arguments[3], points, values, count)
        values_array = foreign_array(result, queue)
    else:
        check_out(form, values_array, values, count, inputs.values())
    fields = {
        "count": count,
        "value_dtype": values.element,
        "value_channels": values.channels,
        "layer": layer,
        "level": fixed_level,
    }
    prepare = prepare and namespace is None  # C code makes no arrays by from_dlpack
    precision = image.precision(form)
    if precision is not Precision.hardware and form.operation != "fetch":
        fields["precision"] = precision
    event = enqueue(queue, form, image, inputs, values_array, fields, depends_on, arguments, prepare, result)
    if namespace is not None:
        return namespace.from_dlpack(result)  # type: ignore[no-any-return]
    if result is not None:
        return result  # type: ignore[no-any-return]
    return out if event is None else event  # type: ignore[return-value]


def _new_result(
    queue: Queue, form: Form, coords: object, points: ArrayLike, values: ValueFormat, count: int
) -> tuple[Any, Any]:
    """A new array for the result, and the namespace whose ``from_dlpack`` makes it one of its library; or None.

    The library is that of the coordinates, as far as it is known: by DLPack's exchange functions, else by the array
    API's ``__array_namespace__``. Otherwise the result is an array of numpy.
    """
    shape = values.shape(count)
    namespace = None
    if type(coords) not in NATIVE and not isinstance(coords, np.ndarray):
        element = dlpack_type(values.item)
        array = None if element is None else empty_like_foreign(coords, shape, *element)
        if array is not None:
            return array, None
        namespace_of = getattr(coords, "__array_namespace__", None)
        namespace = None if element is None or namespace_of is None else namespace_of()
    if not isinstance(points, UsmArray):
        return empty_result(shape, values.item), namespace
    if namespace is None:
        raise InvalidError(f"{form.name}: {form.coords} is a UsmArray: give out=usm_empty({shape}, ...) for the result")
    return usm_empty(shape, values.item, queue), namespace


def _format_of(num_channels: int | None, dtype: DTypeLike, out: ArrayLike | None) -> tuple[int | None, DTypeLike]:
    """Channels and dtype as given, else as the result's array says."""
    if isinstance(out, (np.ndarray, UsmArray)):
        if dtype is None:
            dtype = out.dtype
        if (
            num_channels is None
            and (dtype if isinstance(dtype, np.dtype) else as_dtype("dtype", dtype)).fields is None
            and len(out.shape) == 2
            and 1 <= out.shape[1] <= 4
        ):
            num_channels = out.shape[1]
    return num_channels, dtype


def write(
    form: Form,
    queue: Queue,
    handle: object,
    coords: ArrayLike,
    layers: ArrayLike | int | None,
    level: None,
    dx: None,
    dy: None,
    colors: ArrayLike,
    num_channels: None,
    dtype: None,
    hint: None,
    depends_on: Depends,
    prepare: bool,
) -> Event | None:
    """Every write that C code does not repeat: checks, submission. The arguments are those of ``read``."""
    if isinstance(handle, HandleOwner):
        own = handle._image_handle(False)
        return device_function(
            write, form, queue, own, coords, layers, level, dx, dy, colors, num_channels, dtype, hint, depends_on
        )
    arguments = (form, queue, handle, coords, layers, level, dx, dy, colors, num_channels, dtype, hint)
    if type(coords) not in NATIVE:
        coords = foreign_array(coords, queue)
    if type(colors) not in NATIVE:
        colors = foreign_array(colors, queue)
    if not isinstance(colors, (np.ndarray, UsmArray)):
        raise InvalidError(f"{form.name}: colors is a {type(colors).__name__}; it is a numpy array or a UsmArray")
    channels = colors.shape[1] if colors.ndim == 2 else 1
    image = find_image(queue, form, handle, coords, channels, None if colors.dtype.fields else colors.dtype)
    desc = image.desc
    points = with_coords(form, "coords", coords, desc.dimensions, _COORDINATE_DTYPE["write"])
    count = points.shape[0]
    inputs: dict[str, ArrayLike | None] = {"coords": points}
    layer = 0
    if form.layers is not None:
        inputs["layers"], layer = with_layers(form, form.layers, foreign_array(layers, queue), count, desc)
    values = written_format(form.name, desc, colors.dtype)
    shape = tuple(colors.shape)
    if shape != values.shape(count) and not (shape == (count,) and values.channels == 1):
        user = f": {colors.dtype} is a user type of one pixel" if values.is_user_type else ""
        raise InvalidError(f"{form.name}: colors of shape {shape}; it is {values.shape(count)} here{user}")
    if isinstance(colors, np.ndarray):
        colors = np.ascontiguousarray(colors)
    fields = {
        "count": count,
        "value_dtype": values.element,
        "value_channels": values.channels,
        "layer": layer,
    }
    return enqueue(queue, form, image, inputs, colors, fields, depends_on, arguments, prepare)
