"""Device functions over arrays of coordinates (Reading and writing inside the kernel, and the sections on mipmaps,
image arrays and cubemaps).

Coordinates are (N, dims) in (x, y, z) order, or (N,) in one dimension: int32 to fetch and write, float32 to sample.
Unnormalized coordinates are pixels, and pixel (i, j) has its centre at (i + 0.5, j + 0.5); normalized ones run over
0..1.

With numpy arrays a function waits and returns the result, (N, channels) of the channel's own dtype, float32 for
normalized types. Arrays of coordinates that are not C-contiguous are copied first. With ``UsmArray``s, ``out``
included, it returns an ``Event`` at once; the arrays are kept alive until it is complete.

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

from typing import TYPE_CHECKING, Union, overload

from ..model.errors import InvalidError
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..submission.event import Event
from ..sycl.usm import UsmArray
from .call_arguments import ArrayLike
from .dispatch import (
    FETCH_ARRAY,
    FETCH_CUBEMAP,
    FETCH_IMAGE,
    SAMPLE_ARRAY,
    SAMPLE_CUBEMAP,
    SAMPLE_GRADIENT,
    SAMPLE_IMAGE,
    SAMPLE_LEVEL,
    WRITE_ARRAY,
    WRITE_CUBEMAP,
    WRITE_IMAGE,
    Array,
    Depends,
    Options,
    read,
    write,
)
from .value_formats import DTypeLike

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

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

_Image = Union[SampledImageHandle, UnsampledImageHandle]


@overload
def fetch_image(
    queue: Queue,
    handle: _Image,
    coords: Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Reads pixels as they are in memory, by integer coordinates; a sampler has no effect.

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    return read(queue, FETCH_IMAGE, handle, ("coords", coords), None, options)


@overload
def fetch_image_array(
    queue: Queue,
    handle: _Image,
    coords: Array,
    layers: Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Reads pixels of the layers of an image array, by integer coordinates; a sampler has no effect.

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension.
    layers : ArrayLike | int
        (N,) uint32, or one number.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    return read(queue, FETCH_ARRAY, handle, ("coords", coords), ("layers", layers), options)


@overload
def fetch_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: Array,
    faces: Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Reads pixels of the faces of an unsampled cubemap, by integer coordinates.

    Parameters
    ----------
    coords : ArrayLike
        (N, 2) int32.
    faces : ArrayLike | int
        (N,) uint32, or one number, 0 to 5.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    return read(queue, FETCH_CUBEMAP, handle, ("coords", coords), ("faces", faces), options)


@overload
def sample_image(
    queue: Queue,
    handle: SampledImageHandle,
    coords: Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Samples a standard image as its sampler says.

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) float32, or (N,) in one dimension; pixel (i, j) has its centre at (i + 0.5, j + 0.5).

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    return read(queue, SAMPLE_IMAGE, handle, ("coords", coords), None, options)


@overload
def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle,
    coords: Array,
    layers: Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Samples the layers of an image array as its sampler says; layers are never blended.

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) float32, or (N,) in one dimension; pixel (i, j) has its centre at (i + 0.5, j + 0.5).
    layers : ArrayLike | int
        (N,) uint32, or one number.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    return read(queue, SAMPLE_ARRAY, handle, ("coords", coords), ("layers", layers), options)


@overload
def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle,
    directions: Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Samples a cubemap along directions from its centre.

    Parameters
    ----------
    directions : ArrayLike
        (N, 3) float32, of any length but 0.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    return read(queue, SAMPLE_CUBEMAP, handle, ("directions", directions), None, options)


@overload
def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle,
    coords: Array,
    *,
    level: Array | float | None = None,
    dx: Array | None = None,
    dy: Array | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    depends_on: Depends = (),
) -> Array: ...


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
    depends_on: Depends = (),
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
    depends_on: Depends = (),
) -> Array | Event:
    """Samples a mipmap at levels, or along gradients (with anisotropy, where the sampler has it).

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) float32, or (N,) in one dimension; normalized.
    level : ArrayLike | float, optional
        (N,) float32 or one number; 0 is the largest level.
    dx, dy : ArrayLike, optional
        (N, dims) float32: how the coordinates change from one result to its neighbours in x and y.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types; with USM arrays an event.
    """
    options = Options(num_channels, dtype, hint, out, depends_on)
    if (dx is None) != (dy is None) or (level is None) == (dx is None):
        raise InvalidError("sample_mipmap: give level=, or both dx= and dy=")
    if dx is not None and dy is not None:
        return read(queue, SAMPLE_GRADIENT, handle, ("coords", coords), None, options, gradients=(dx, dy))
    return read(queue, SAMPLE_LEVEL, handle, ("coords", coords), None, options, level=level)


def write_image(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    colors: ArrayLike,
    *,
    depends_on: Depends = (),
) -> Event | None:
    """Writes pixels of an unsampled image, by integer coordinates.

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension; a pixel named twice gets one of its colours.
    colors : ArrayLike
        (N, channels), or (N,) where there is one channel, of the image's own dtype; for float and normalized types
        float32 or float16 too, clamped and rounded to nearest even. Or (N,) structured items of the size of a pixel.

    Returns
    -------
    Event | None
        None when the pixels are written; with USM arrays an event.
    """
    return write(queue, WRITE_IMAGE, handle, coords, None, colors, depends_on)


def write_image_array(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    layers: ArrayLike | int,
    colors: ArrayLike,
    *,
    depends_on: Depends = (),
) -> Event | None:
    """Writes pixels of the layers of an unsampled image array, by integer coordinates.

    Parameters
    ----------
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension.
    layers : ArrayLike | int
        (N,) uint32, or one number.
    colors : ArrayLike
        As for ``write_image``.

    Returns
    -------
    Event | None
        None when the pixels are written; with USM arrays an event.
    """
    return write(queue, WRITE_ARRAY, handle, coords, ("layers", layers), colors, depends_on)


def write_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle,
    coords: ArrayLike,
    faces: ArrayLike | int,
    colors: ArrayLike,
    *,
    depends_on: Depends = (),
) -> Event | None:
    """Writes pixels of the faces of an unsampled cubemap, by integer coordinates.

    Parameters
    ----------
    coords : ArrayLike
        (N, 2) int32.
    faces : ArrayLike | int
        (N,) uint32, or one number, 0 to 5.
    colors : ArrayLike
        As for ``write_image``.

    Returns
    -------
    Event | None
        None when the pixels are written; with USM arrays an event.
    """
    return write(queue, WRITE_CUBEMAP, handle, coords, ("faces", faces), colors, depends_on)
