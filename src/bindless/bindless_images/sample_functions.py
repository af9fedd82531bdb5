"""Filtered reads: ``sample_image``, ``sample_image_array``, ``sample_cubemap`` and ``sample_mipmap``."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from ..core._submission import device_function
from ..model.enums import Precision
from ..model.errors import InvalidError
from ..model.image_handles import SampledImageHandle
from ..submission.event import Event
from ..sycl.usm import UsmArray
from .call_form import ArrayLike
from .dispatch import (
    SAMPLE_ARRAY,
    SAMPLE_CUBEMAP,
    SAMPLE_GRADIENT,
    SAMPLE_IMAGE,
    SAMPLE_LEVEL,
    Depends,
    precise,
    read,
)
from .value_formats import DTypeLike

if TYPE_CHECKING:
    from ..model.arrays import Array
    from ..sycl.device.handle_owner import HandleOwner
    from ..sycl.queue.queue import Queue

__all__ = ["sample_cubemap", "sample_image", "sample_image_array", "sample_mipmap"]


@overload
def sample_image(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array: ...


@overload
def sample_image(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: UsmArray,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Event: ...


def sample_image(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: ArrayLike,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array | Event:
    """Samples a standard image as its sampler says.

    Parameters
    ----------
    queue : Queue
        The queue that runs the command.
    handle : SampledImageHandle | Image
        The image, made by ``create_image`` with a sampler.
    coords : ArrayLike
        (N, dims) float32, or (N,) in one dimension; pixel (i, j) has its centre at (i + 0.5, j + 0.5).
    num_channels : int, optional
        Channels of a result; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike, optional
        dtype of the result; default the type of the channels, float32 for normalized types. Other dtypes,
        structured ones, float64 and int64, are user types: one item for each pixel, (N,), and ``hint``.
    hint : DTypeLike, optional
        The standard dtype that a user type stands for, of its size.
    out : ArrayLike, optional
        Array for the result, of its shape and dtype; required, in USM, with coordinates in a ``UsmArray``.
    precision : Precision | str, optional
        ``hardware``, ``exact`` or ``reproducible``, for this call; default that of ``create_image``, which tells them
        apart. On GPUs, weights of ``hardware`` have 8 bits: errors of up to 1/512 of the difference of neighbouring
        pixels for each axis (up to 5 HU on CT); those of ``exact`` are below 1e-6 of the range.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types, in the library of the coordinates;
        with ``out`` on the device an event.

    See Also
    --------
    fetch_image : Reads by integer coordinates.
    Image.sample : The same for images made from arrays.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Reading and writing inside the kernel".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pixels = np.arange(12, dtype=np.float32).reshape(3, 4)
    >>> desc = bindless.ImageDescriptor.from_array(pixels)
    >>> memory = bindless.ImageMem(desc, queue)
    >>> event = queue.ext_oneapi_copy(pixels, memory)
    >>> event.wait()
    >>> handle = bindless.create_image(memory, desc, queue, sampler=bindless.BindlessImageSampler(filtering="linear"))
    >>> bindless.sample_image(queue, handle, np.array([[0.5, 0.5], [1.0, 0.5]], np.float32)).ravel()
    array([0. , 0.5], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    form = SAMPLE_IMAGE if precision is None else precise(SAMPLE_IMAGE, precision)
    return device_function(
        read, form, queue, handle, coords, None, None, None, None, out, num_channels, dtype, hint, depends_on
    )


@overload
def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: Array,
    layers: Array | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array: ...


@overload
def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: UsmArray,
    layers: UsmArray | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Event: ...


def sample_image_array(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: ArrayLike,
    layers: ArrayLike | int,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array | Event:
    """Samples the layers of an image array as its sampler says; layers are never blended.

    Parameters
    ----------
    queue : Queue
        The queue that runs the command.
    handle : SampledImageHandle | Image
        The image, made by ``create_image`` with a sampler.
    coords : ArrayLike
        (N, dims) float32, or (N,) in one dimension; pixel (i, j) has its centre at (i + 0.5, j + 0.5).
    layers : ArrayLike | int
        (N,) uint32 or int32, or one number.
    num_channels : int, optional
        Channels of a result; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike, optional
        dtype of the result; default the type of the channels, float32 for normalized types. Other dtypes,
        structured ones, float64 and int64, are user types: one item for each pixel, (N,), and ``hint``.
    hint : DTypeLike, optional
        The standard dtype that a user type stands for, of its size.
    out : ArrayLike, optional
        Array for the result, of its shape and dtype; required, in USM, with coordinates in a ``UsmArray``.
    precision : Precision | str, optional
        ``hardware``, ``exact`` or ``reproducible``, for this call; default that of ``create_image``, which tells them
        apart. On GPUs, weights of ``hardware`` have 8 bits: errors of up to 1/512 of the difference of neighbouring
        pixels for each axis (up to 5 HU on CT); those of ``exact`` are below 1e-6 of the range.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types, in the library of the coordinates;
        with ``out`` on the device an event.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Image arrays".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pixels = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    >>> desc = bindless.ImageDescriptor(4, 3, num_channels=1, type="array", array_size=2)
    >>> memory = bindless.ImageMem(desc, queue)
    >>> event = queue.ext_oneapi_copy(pixels, memory)
    >>> event.wait()
    >>> handle = bindless.create_image(memory, desc, queue, sampler=bindless.BindlessImageSampler(filtering="linear"))
    >>> bindless.sample_image_array(queue, handle, np.array([[1.0, 0.5]], np.float32), 1).ravel()
    array([12.5], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    form = SAMPLE_ARRAY if precision is None else precise(SAMPLE_ARRAY, precision)
    return device_function(
        read, form, queue, handle, coords, layers, None, None, None, out, num_channels, dtype, hint, depends_on
    )


@overload
def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    directions: Array,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array: ...


@overload
def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    directions: UsmArray,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Event: ...


def sample_cubemap(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    directions: ArrayLike,
    *,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array | Event:
    """Samples a cubemap along directions from its centre.

    Parameters
    ----------
    queue : Queue
        The queue that runs the command.
    handle : SampledImageHandle | Image
        The image, made by ``create_image`` with a sampler.
    directions : ArrayLike
        (N, 3) float32, of any length but 0.
    num_channels : int, optional
        Channels of a result; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike, optional
        dtype of the result; default the type of the channels, float32 for normalized types. Other dtypes,
        structured ones, float64 and int64, are user types: one item for each pixel, (N,), and ``hint``.
    hint : DTypeLike, optional
        The standard dtype that a user type stands for, of its size.
    out : ArrayLike, optional
        Array for the result, of its shape and dtype; required, in USM, with coordinates in a ``UsmArray``.
    precision : Precision | str, optional
        ``hardware``, ``exact`` or ``reproducible``, for this call; default that of ``create_image``, which tells them
        apart. On GPUs, weights of ``hardware`` have 8 bits: errors of up to 1/512 of the difference of neighbouring
        pixels for each axis (up to 5 HU on CT); those of ``exact`` are below 1e-6 of the range.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types, in the library of the coordinates;
        with ``out`` on the device an event.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Cubemapped images".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pixels = np.arange(24, dtype=np.float32).reshape(6, 2, 2)
    >>> desc = bindless.ImageDescriptor(2, 2, num_channels=1, type="cubemap", array_size=6)
    >>> memory = bindless.ImageMem(desc, queue)
    >>> event = queue.ext_oneapi_copy(pixels, memory)
    >>> event.wait()
    >>> sampler = bindless.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    >>> handle = bindless.create_image(memory, desc, queue, sampler=sampler)
    >>> bindless.sample_cubemap(queue, handle, np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], np.float32)).ravel()
    array([ 1.5, 21.5], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    form = SAMPLE_CUBEMAP if precision is None else precise(SAMPLE_CUBEMAP, precision)
    return device_function(
        read,
        form,
        queue,
        handle,
        directions,
        None,
        None,
        None,
        None,
        out,
        num_channels,
        dtype,
        hint,
        depends_on,
    )


@overload
def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: Array,
    *,
    level: Array | float | None = None,
    dx: Array | None = None,
    dy: Array | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: Array | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array: ...


@overload
def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: UsmArray,
    *,
    level: UsmArray | float | None = None,
    dx: UsmArray | None = None,
    dy: UsmArray | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: UsmArray,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Event: ...


def sample_mipmap(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: ArrayLike,
    *,
    level: ArrayLike | float | None = None,
    dx: ArrayLike | None = None,
    dy: ArrayLike | None = None,
    num_channels: int | None = None,
    dtype: DTypeLike = None,
    hint: DTypeLike = None,
    out: ArrayLike | None = None,
    precision: Precision | str | None = None,
    depends_on: Depends = (),
) -> Array | Event:
    """Samples a mipmap at levels, or along gradients (with anisotropy, where the sampler has it).

    Parameters
    ----------
    queue : Queue
        The queue that runs the command.
    handle : SampledImageHandle | Image
        The image, made by ``create_image`` with a sampler.
    coords : ArrayLike
        (N, dims) float32, or (N,) in one dimension; normalized.
    level : ArrayLike | float, optional
        (N,) float32 or one number; 0 is the largest level.
    dx, dy : ArrayLike, optional
        (N, dims) float32: how the coordinates change from one result to its neighbours in x and y.
    num_channels : int, optional
        Channels of a result; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike, optional
        dtype of the result; default the type of the channels, float32 for normalized types. Other dtypes,
        structured ones, float64 and int64, are user types: one item for each pixel, (N,), and ``hint``.
    hint : DTypeLike, optional
        The standard dtype that a user type stands for, of its size.
    out : ArrayLike, optional
        Array for the result, of its shape and dtype; required, in USM, with coordinates in a ``UsmArray``.
    precision : Precision | str, optional
        ``hardware``, ``exact`` or ``reproducible``, for this call; default that of ``create_image``, which tells them
        apart. On GPUs, weights of ``hardware`` have 8 bits: errors of up to 1/512 of the difference of neighbouring
        pixels for each axis (up to 5 HU on CT); those of ``exact`` are below 1e-6 of the range.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types, in the library of the coordinates;
        with ``out`` on the device an event.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Mipmapped images".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 4, num_channels=1, type="mipmap", num_levels=3)
    >>> memory = bindless.alloc_image_mem(desc, queue)
    >>> for level in range(3):
    ...     pixels = np.full((4 >> level, 4 >> level), level, np.float32)
    ...     part = bindless.get_mip_level_mem_handle(memory, level, queue)
    ...     event = queue.ext_oneapi_copy(pixels, part, dst_desc=desc.get_mip_level_desc(level))
    ...     event.wait()
    >>> sampler = bindless.BindlessImageSampler(
    ...     "clamp_to_edge", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=2
    ... )
    >>> handle = bindless.create_image(memory, desc, queue, sampler=sampler)
    >>> bindless.sample_mipmap(queue, handle, np.array([[0.5, 0.5]], np.float32), level=1.5).ravel()
    array([1.5], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    >>> bindless.free_image_mem(memory, "mipmap", queue)
    """
    if (dx is None) != (dy is None) or (level is None) == (dx is None):
        raise InvalidError("sample_mipmap: give level=, or both dx= and dy=")
    form = SAMPLE_LEVEL if dx is None else SAMPLE_GRADIENT
    if precision is not None:
        form = precise(form, precision)
    return device_function(
        read, form, queue, handle, coords, None, level, dx, dy, out, num_channels, dtype, hint, depends_on
    )
