"""Writes of pixels: ``write_image``, ``write_image_array`` and ``write_cubemap``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core._submission import device_function
from ..model.image_handles import UnsampledImageHandle
from ..submission.event import Event
from .call_form import ArrayLike
from .dispatch import WRITE_ARRAY, WRITE_CUBEMAP, WRITE_IMAGE, Depends, write

if TYPE_CHECKING:
    from ..sycl.device.handle_owner import HandleOwner
    from ..sycl.queue.queue import Queue

__all__ = ["write_cubemap", "write_image", "write_image_array"]


def write_image(
    queue: Queue,
    handle: UnsampledImageHandle | HandleOwner,
    coords: ArrayLike,
    colors: ArrayLike,
    *,
    depends_on: Depends = (),
) -> Event | None:
    """Writes pixels of an unsampled image, by integer coordinates.

    Parameters
    ----------
    queue : Queue
        The queue that runs the command.
    handle : UnsampledImageHandle | Image
        The image, made by ``create_image`` without a sampler.
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension; a pixel named twice gets one of its colours.
    colors : ArrayLike
        (N, channels), or (N,) where there is one channel, of the image's own dtype; for float and normalized types
        float32 or float16 too, clamped and rounded to nearest even. Or (N,) items of a user type, a
        structured dtype, float64 or int64, of the size of a pixel.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Event | None
        None when the pixels are written; with USM arrays an event.

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
    >>> bindless.write_image(queue, handle, np.array([[3, 2]], np.int32), np.array([-1], np.float32))
    >>> bindless.fetch_image(queue, handle, np.array([[3, 2]], np.int32)).ravel()
    array([-1.], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    return device_function(
        write, WRITE_IMAGE, queue, handle, coords, None, None, None, None, colors, None, None, None, depends_on
    )


def write_image_array(
    queue: Queue,
    handle: UnsampledImageHandle | HandleOwner,
    coords: ArrayLike,
    layers: ArrayLike | int,
    colors: ArrayLike,
    *,
    depends_on: Depends = (),
) -> Event | None:
    """Writes pixels of the layers of an unsampled image array, by integer coordinates.

    Parameters
    ----------
    queue : Queue
        The queue that runs the command.
    handle : UnsampledImageHandle | Image
        The image, made by ``create_image`` without a sampler.
    coords : ArrayLike
        (N, dims) int32, or (N,) in one dimension.
    layers : ArrayLike | int
        (N,) uint32 or int32, or one number.
    colors : ArrayLike
        As for ``write_image``.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Event | None
        None when the pixels are written; with USM arrays an event.

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
    >>> bindless.write_image_array(queue, handle, np.array([[3, 2]], np.int32), 1, np.array([-1], np.float32))
    >>> bindless.fetch_image_array(queue, handle, np.array([[3, 2]], np.int32), 1).ravel()
    array([-1.], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    return device_function(
        write, WRITE_ARRAY, queue, handle, coords, layers, None, None, None, colors, None, None, None, depends_on
    )


def write_cubemap(
    queue: Queue,
    handle: UnsampledImageHandle | HandleOwner,
    coords: ArrayLike,
    faces: ArrayLike | int,
    colors: ArrayLike,
    *,
    depends_on: Depends = (),
) -> Event | None:
    """Writes pixels of the faces of an unsampled cubemap, by integer coordinates.

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
    colors : ArrayLike
        As for ``write_image``.
    depends_on : Depends, default ()
        Events to wait for first.

    Returns
    -------
    Event | None
        None when the pixels are written; with USM arrays an event.

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
    >>> bindless.write_cubemap(queue, handle, np.array([[1, 0]], np.int32), 5, np.array([-1], np.float32))
    >>> bindless.fetch_cubemap(queue, handle, np.array([[1, 0]], np.int32), 5).ravel()
    array([-1.], dtype=float32)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    return device_function(
        write, WRITE_CUBEMAP, queue, handle, coords, faces, None, None, None, colors, None, None, None, depends_on
    )
