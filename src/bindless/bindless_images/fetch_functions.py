"""Unfiltered reads by integer coordinates: ``fetch_image``, ``fetch_image_array`` and ``fetch_cubemap``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union, overload

from ..core._submission import device_function
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..submission.event import Event
from ..sycl.usm import UsmArray
from .call_form import ArrayLike
from .dispatch import FETCH_ARRAY, FETCH_CUBEMAP, FETCH_IMAGE, Depends, read
from .value_formats import DTypeLike

if TYPE_CHECKING:
    from ..model.arrays import Array
    from ..sycl.device.handle_owner import HandleOwner
    from ..sycl.queue.queue import Queue

__all__ = ["fetch_cubemap", "fetch_image", "fetch_image_array"]

_Image = Union[SampledImageHandle, UnsampledImageHandle, "HandleOwner"]


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
    queue : Queue
        The queue that runs the command.
    handle : _Image
        The image, made by ``create_image``.
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension.
    num_channels : int, optional
        Channels of a result; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike, optional
        dtype of the result; default the type of the channels, float32 for normalized types. Other dtypes,
        structured ones, float64 and int64, are user types: one item for each pixel, (N,), and ``hint``.
    hint : DTypeLike, optional
        The standard dtype that a user type stands for, of its size.
    out : ArrayLike, optional
        Array for the result, of its shape and dtype; required, in USM, with coordinates in a ``UsmArray``.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Array | Event
        (N, channels) values of the image's own type, float32 for normalized types, in the library of the coordinates;
        with ``out`` on the device an event.

    See Also
    --------
    sample_image : Filtered reads.

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
    >>> handle = bindless.create_image(memory, desc, queue)
    >>> bindless.fetch_image(queue, handle, np.array([[3, 2], [0, 1]], np.int32)).ravel()
    array([11.,  4.], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    return device_function(
        read, FETCH_IMAGE, queue, handle, coords, None, None, None, None, out, num_channels, dtype, hint, depends_on
    )


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
    queue : Queue
        The queue that runs the command.
    handle : _Image
        The image, made by ``create_image``.
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension.
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
    >>> handle = bindless.create_image(memory, desc, queue)
    >>> bindless.fetch_image_array(queue, handle, np.array([[3, 2]], np.int32), 1).ravel()
    array([23.], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    return device_function(
        read, FETCH_ARRAY, queue, handle, coords, layers, None, None, None, out, num_channels, dtype, hint, depends_on
    )


@overload
def fetch_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle | HandleOwner,
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
    handle: UnsampledImageHandle | HandleOwner,
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
    handle: UnsampledImageHandle | HandleOwner,
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
    queue : Queue
        The queue that runs the command.
    handle : UnsampledImageHandle | Image
        The image, made by ``create_image`` without a sampler.
    coords : ArrayLike
        (N, 2) int32.
    faces : ArrayLike | int
        (N,) uint32 or int32, or one number, 0 to 5.
    num_channels : int, optional
        Channels of a result; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike, optional
        dtype of the result; default the type of the channels, float32 for normalized types. Other dtypes,
        structured ones, float64 and int64, are user types: one item for each pixel, (N,), and ``hint``.
    hint : DTypeLike, optional
        The standard dtype that a user type stands for, of its size.
    out : ArrayLike, optional
        Array for the result, of its shape and dtype; required, in USM, with coordinates in a ``UsmArray``.
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
    >>> handle = bindless.create_image(memory, desc, queue)
    >>> bindless.fetch_cubemap(queue, handle, np.array([[1, 0]], np.int32), 5).ravel()
    array([21.], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    return device_function(
        read, FETCH_CUBEMAP, queue, handle, coords, faces, None, None, None, out, num_channels, dtype, hint, depends_on
    )
