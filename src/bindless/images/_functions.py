"""Device functions over arrays of coordinates (Reading and writing inside the kernel, and the sections on mipmaps,
image arrays and cubemaps).

Coordinates are (N, dims) in (x, y, z) order, or (N,) in one dimension: int32 to fetch and write, float32 to sample.
Unnormalized coordinates are pixels, and pixel (i, j) has its centre at (i + 0.5, j + 0.5); normalized ones run over
0..1.

With numpy arrays a function waits and returns the result, (N, channels) of the channel's own dtype, float32 for
normalized types. Arrays of coordinates that are not C-contiguous are copied first. With ``UsmArray``s, ``out`` included,
it returns an ``Event`` at once; the arrays are kept alive until it is complete.

Arguments common to all:
    queue: where it runs.
    handle: an image of the queue's context.
    num_channels: numbers of each value, 1 to 4; default the image's. Channels that the image lacks read 0.
    dtype: float16 or float32 for float and normalized types; or a structured dtype with ``hint``, the standard type of
        its size, such as ``np.dtype("4f4")``.
    out: where the result goes.
    depends_on: events to wait for.

All raise InvalidError for arguments that do not fit each other or the image, and FeatureNotSupportedError where an
aspect says no. Coordinates, layers or faces outside the image are an error on the reference device and undefined on
others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
import numpy.typing as npt

from ..model.descriptor import ImageDescriptor
from ..model.enums import ImageType
from ..model.errors import InvalidError
from ..model.handles import SampledImageHandle, UnsampledImageHandle
from ..model.image_call import ImageCall, Operation
from ..sycl.event import Event
from ..sycl.usm import UsmArray
from ._calls import ArrayLike, Form, check_out, enqueue, find_image, with_coords, with_layers, with_level
from ._values import DTypeLike, read_format, written_format

if TYPE_CHECKING:
    from ..sycl.queue import Queue

__all__ = [
    "fetch_cubemap",
    "fetch_image",
    "fetch_image_array",
    "sample_cubemap",
    "sample_image",
    "sample_image_array",
    "sample_mipmap",
    "write_cubemap",
    "write_image",
    "write_image_array",
]

_FETCH_IMAGE = Form("fetch_image", "fetch", ImageType.standard, sampled=True, unsampled=True)
_FETCH_ARRAY = Form("fetch_image_array", "fetch", ImageType.array, sampled=True, unsampled=True)
_FETCH_CUBEMAP = Form("fetch_cubemap", "fetch", ImageType.cubemap, sampled=False, unsampled=True)
_SAMPLE_IMAGE = Form("sample_image", "sample", ImageType.standard, sampled=True, unsampled=False)
_SAMPLE_ARRAY = Form("sample_image_array", "sample", ImageType.array, sampled=True, unsampled=False)
_SAMPLE_CUBEMAP = Form("sample_cubemap", "sample", ImageType.cubemap, sampled=True, unsampled=False)
_SAMPLE_LEVEL = Form("sample_mipmap", "sample_lod", ImageType.mipmap, sampled=True, unsampled=False)
_SAMPLE_GRADIENT = Form("sample_mipmap", "sample_grad", ImageType.mipmap, sampled=True, unsampled=False)
_WRITE_IMAGE = Form("write_image", "write", ImageType.standard, sampled=False, unsampled=True)
_WRITE_ARRAY = Form("write_image_array", "write", ImageType.array, sampled=False, unsampled=True)
_WRITE_CUBEMAP = Form("write_cubemap", "write", ImageType.cubemap, sampled=False, unsampled=True)

_COORDINATE_DTYPE: dict[Operation, str] = {
    "fetch": "int32",
    "write": "int32",
    "sample": "float32",
    "sample_lod": "float32",
    "sample_grad": "float32",
}

_Depends = Union[Event, Iterable[Event]]
_Image = Union[SampledImageHandle, UnsampledImageHandle]
_Array = npt.NDArray[Any]


@dataclass(frozen=True)
class _Options:
    """The keyword arguments that all reading functions share."""

    num_channels: int | None
    dtype: DTypeLike
    hint: DTypeLike
    out: ArrayLike | None
    depends_on: _Depends


def _dimensions(form: Form, desc: ImageDescriptor) -> int:
    return 3 if form is _SAMPLE_CUBEMAP else desc.dimensions


def _read(
    queue: Queue,
    form: Form,
    handle: object,
    coords: tuple[str, ArrayLike],
    layers: tuple[str, ArrayLike | int] | None,
    options: _Options,
    level: ArrayLike | float | None = None,
    gradients: tuple[ArrayLike, ArrayLike] | None = None,
) -> _Array | Event:
    """Every fetch and sample: checks, the result's array, submission."""
    num_channels, dtype = _asked(options)
    image = find_image(queue, form, handle, coords[1], num_channels, dtype)
    desc = image.desc
    dims, kind = _dimensions(form, desc), _COORDINATE_DTYPE[form.operation]
    points = with_coords(form, coords[0], coords[1], dims, kind)
    count = points.shape[0]
    inputs: dict[str, ArrayLike | None] = {"coords": points}
    layer, fixed_level = 0, 0.0
    if layers is not None:
        inputs["layers"], layer = with_layers(form, *layers, count, desc)
    if gradients is not None:
        for name, gradient in zip(("dx", "dy"), gradients):
            inputs[name] = with_coords(form, name, gradient, dims, kind, count)
    elif level is not None:
        inputs["levels"], fixed_level = with_level(form, level, count)
    values = read_format(form.name, desc, num_channels, dtype, options.hint)
    out = options.out
    if out is None:
        if isinstance(points, UsmArray):
            raise InvalidError(
                f"{form.name}: {coords[0]} is a UsmArray: give out=usm_empty({values.shape(count)}, ...) for the result"
            )
        out = np.empty(values.shape(count), values.item)
    else:
        check_out(form, out, values, count, inputs.values())
    call = ImageCall(
        operation=form.operation,
        handle=image.raw,
        sampled=image.sampled,
        descriptor=desc,
        count=count,
        coords=0,
        values=0,
        value_dtype=values.element,
        value_channels=values.channels,
        usm=image.usm,
        layer=layer,
        level=fixed_level,
    )
    event = enqueue(queue, form, call, inputs, out, image, options.depends_on)
    return event if isinstance(out, UsmArray) and event is not None else out  # type: ignore[return-value]


def _asked(options: _Options) -> tuple[int | None, DTypeLike]:
    """Channels and dtype as given, else as the result's array says."""
    out, num_channels, dtype = options.out, options.num_channels, options.dtype
    if isinstance(out, (np.ndarray, UsmArray)):
        if dtype is None:
            dtype = out.dtype
        if num_channels is None and np.dtype(dtype).fields is None and out.ndim == 2 and 1 <= out.shape[1] <= 4:
            num_channels = out.shape[1]
    return num_channels, dtype


def _write(
    queue: Queue,
    form: Form,
    handle: object,
    coords: ArrayLike,
    layers: tuple[str, ArrayLike | int] | None,
    colors: ArrayLike,
    depends_on: _Depends,
) -> Event | None:
    """Every write: checks, submission."""
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
        inputs["layers"], layer = with_layers(form, *layers, count, desc)
    values = written_format(form.name, desc, colors.dtype)
    shape = tuple(colors.shape)
    if shape != values.shape(count) and not (shape == (count,) and values.channels == 1):
        raise InvalidError(f"{form.name}: colors of shape {shape}; it is {values.shape(count)} here")
    if isinstance(colors, np.ndarray):
        colors = np.ascontiguousarray(colors)
    call = ImageCall(
        operation="write",
        handle=image.raw,
        sampled=False,
        descriptor=desc,
        count=count,
        coords=0,
        values=0,
        value_dtype=values.element,
        value_channels=values.channels,
        layer=layer,
    )
    return enqueue(queue, form, call, inputs, colors, image, depends_on)


@overload
def fetch_image(
    queue: Queue,
    handle: _Image,
    coords: _Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def fetch_image(
    queue: Queue,
    handle: _Image,
    coords: UsmArray,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def fetch_image(
    queue: Queue,
    handle: _Image,
    coords: ArrayLike,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Reads pixels as they are in memory, by integer coordinates; a sampler has no effect.

    Args:
        coords: (N, dims) int32, or (N,) in one dimension.

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    return _read(queue, _FETCH_IMAGE, handle, ("coords", coords), None, options)


@overload
def fetch_image_array(
    queue: Queue,
    handle: _Image,
    coords: _Array,
    layers: _Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def fetch_image_array(
    queue: Queue,
    handle: _Image,
    coords: UsmArray,
    layers: UsmArray | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def fetch_image_array(
    queue: Queue,
    handle: _Image,
    coords: ArrayLike,
    layers: ArrayLike | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Reads pixels of the layers of an image array, by integer coordinates; a sampler has no effect.

    Args:
        coords: (N, dims) int32, or (N,) in one dimension.
        layers: (N,) uint32, or one number.

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    return _read(queue, _FETCH_ARRAY, handle, ("coords", coords), ("layers", layers), options)


@overload
def fetch_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: _Array,
    faces: _Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def fetch_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: UsmArray,
    faces: UsmArray | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def fetch_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    faces: ArrayLike | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Reads pixels of the faces of an unsampled cubemap, by integer coordinates.

    Args:
        coords: (N, 2) int32.
        faces: (N,) uint32, or one number, 0 to 5.

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    return _read(queue, _FETCH_CUBEMAP, handle, ("coords", coords), ("faces", faces), options)


@overload
def sample_image(
    queue: Queue,
    handle: SampledImageHandle,
    coords: _Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def sample_image(
    queue: Queue,
    handle: SampledImageHandle,
    coords: UsmArray,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def sample_image(
    queue: Queue,
    handle: SampledImageHandle,
    coords: ArrayLike,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Samples a standard image as its sampler says.

    Args:
        coords: (N, dims) float32, or (N,) in one dimension; pixel (i, j) has its centre at (i + 0.5, j + 0.5).

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    return _read(queue, _SAMPLE_IMAGE, handle, ("coords", coords), None, options)


@overload
def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle,
    coords: _Array,
    layers: _Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle,
    coords: UsmArray,
    layers: UsmArray | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle,
    coords: ArrayLike,
    layers: ArrayLike | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Samples the layers of an image array as its sampler says; layers are never blended.

    Args:
        coords: (N, dims) float32, or (N,) in one dimension; pixel (i, j) has its centre at (i + 0.5, j + 0.5).
        layers: (N,) uint32, or one number.

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    return _read(queue, _SAMPLE_ARRAY, handle, ("coords", coords), ("layers", layers), options)


@overload
def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle,
    directions: _Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle,
    directions: UsmArray,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle,
    directions: ArrayLike,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Samples a cubemap along directions from its centre.

    Args:
        directions: (N, 3) float32, of any length but 0.

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    return _read(queue, _SAMPLE_CUBEMAP, handle, ("directions", directions), None, options)


@overload
def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle,
    coords: _Array,
    *,
    level: _Array | float | None = None,
    dx: _Array | None = None,
    dy: _Array | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: _Array | None = None,
    depends_on: _Depends = (),
) -> _Array: ...


@overload
def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle,
    coords: UsmArray,
    *,
    level: UsmArray | float | None = None,
    dx: UsmArray | None = None,
    dy: UsmArray | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    depends_on: _Depends = (),
) -> Event: ...


def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle,
    coords: ArrayLike,
    *,
    level: ArrayLike | float | None = None,
    dx: ArrayLike | None = None,
    dy: ArrayLike | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    depends_on: _Depends = (),
) -> _Array | Event:
    """Samples a mipmap at levels, or along gradients (with anisotropy, where the sampler has it).

    Args:
        coords: (N, dims) float32, or (N,) in one dimension; normalized.
        level: (N,) float32 or one number; 0 is the largest level.
        dx, dy: (N, dims) float32: how the coordinates change from one result to its neighbours in x and y.

    Returns:
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = _Options(num_channels, dtype, hint, out, depends_on)
    if (dx is None) != (dy is None) or (level is None) == (dx is None):
        raise InvalidError("sample_mipmap: give level=, or both dx= and dy=")
    if dx is not None and dy is not None:
        return _read(queue, _SAMPLE_GRADIENT, handle, ("coords", coords), None, options, gradients=(dx, dy))
    return _read(queue, _SAMPLE_LEVEL, handle, ("coords", coords), None, options, level=level)


def write_image(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    colors: ArrayLike,
    *,
    depends_on: _Depends = (),
) -> Event | None:
    """Writes pixels of an unsampled image, by integer coordinates.

    Args:
        coords: (N, dims) int32, or (N,) in one dimension; a pixel named twice gets one of its colours.
        colors: (N, channels), or (N,) where there is one channel, of the image's own dtype; for float and normalized
            types float32 or float16 too, clamped and rounded to nearest even. Or (N,) structured items of the size of a
            pixel.

    Returns:
        None when the pixels are written; with USM arrays an event.
    """
    return _write(queue, _WRITE_IMAGE, handle, coords, None, colors, depends_on)


def write_image_array(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    layers: ArrayLike | int,
    colors: ArrayLike,
    *,
    depends_on: _Depends = (),
) -> Event | None:
    """Writes pixels of the layers of an unsampled image array, by integer coordinates.

    Args:
        coords: (N, dims) int32, or (N,) in one dimension.
        layers: (N,) uint32, or one number.
        colors: as for ``write_image``.

    Returns:
        None when the pixels are written; with USM arrays an event.
    """
    return _write(queue, _WRITE_ARRAY, handle, coords, ("layers", layers), colors, depends_on)


def write_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    faces: ArrayLike | int,
    colors: ArrayLike,
    *,
    depends_on: _Depends = (),
) -> Event | None:
    """Writes pixels of the faces of an unsampled cubemap, by integer coordinates.

    Args:
        coords: (N, 2) int32.
        faces: (N,) uint32, or one number, 0 to 5.
        colors: as for ``write_image``.

    Returns:
        None when the pixels are written; with USM arrays an event.
    """
    return _write(queue, _WRITE_CUBEMAP, handle, coords, ("faces", faces), colors, depends_on)
