"""``warp``: a method of ``Image`` that makes pictures through affine and projective maps and displacement fields."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..model.errors import InvalidError
from .arguments import shape_order, sizes_of
from .array_library import AnyArray, ArrayLike, hand_over, seen
from .coordinates import projection_matrix, warp_coordinates
from .device_image import Reader
from .mapped_pictures import mapped_picture
from .pictures import bytes_of_pixel, draw, follow, followed, follows_maps, given_picture, picture_shape
from .resampled import homogeneous
from .results import Result
from .row_blocks import require_room

if TYPE_CHECKING:
    from .image import Image

__all__ = ["View", "warp", "warp_native"]

Array = npt.NDArray[Any]

_MOST_VIEWS = 16  # kept with an image


def warp(
    image: Image,
    matrix: npt.ArrayLike,
    shape: int | Sequence[int],
    *,
    displacement: ArrayLike | None = None,
    out: Any = None,
) -> Any:
    """The picture seen through an affine or projective map, and a displacement field.

    The matrix maps from the output to the input: output pixel (i, j[, k]) reads the image at
    ``matrix @ (i + 0.5, j + 0.5[, k + 0.5], 1)``, the result of a projective matrix divided by its last component.
    (Invert a matrix that maps input pixels to output pixels.) The input coordinates are those of ``sample``:
    pixels, or 0..1 with normalized coordinates. The displacement of a pixel is added to them. The device computes the
    coordinates: no array of them is made.

    Positions are computed in double precision. With ``precision="hardware"`` the texture unit rounds them to 1/256 of
    a pixel; with ``precision="exact"`` the picture is that of float64 to 1e-6 of the range of the pixels.

    Parameters
    ----------
    matrix : ArrayLike
        Of an image of d dimensions (d, d + 1), affine, or (d + 1, d + 1), projective. An image with ``layers=True``
        also takes (layers, d, d + 1) or (layers, d + 1, d + 1): one for each layer.
    shape : int | Sequence[int]
        (height, width) of the output; (width,) of a 1D image, (depth, height, width) of a 3D one.
    displacement : ArrayLike, optional
        Shape (\\*shape, d) in (x, y[, z]) order, in the image's coordinates; numbers of any library. All layers have
        the same.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous. Where it lies on the device nothing
        waits.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library that the image was made from, on the device if that array was there:
        of the given shape[, channels], with the layers first, in the array's dtype (integers rounded and clamped).

    Raises
    ------
    InvalidError
        The image is a cubemap, or the matrix, the shape or the displacement does not fit it.

    See Also
    --------
    Image.remap : Pictures through arrays of coordinates.

    Notes
    -----
    The level of a two-dimensional image with mipmaps, and the footprint of each pixel, follow from the matrix, so that
    parts that shrink do not alias. Other images, and those with a displacement, are read in full size.

    Examples
    --------
    >>> with bindless.Image(np.eye(2, dtype=np.float32), queue=bindless.Queue("reference")) as image:
    ...     image.warp([[-1, 0, 2], [0, 1, 0]], (2, 2))
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    >>> volume = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    >>> with bindless.Image(volume, queue=bindless.Queue("reference"), dimensions=3) as image:
    ...     image.warp([[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], (2, 2, 2))  # x and z exchanged
    array([[[0., 4.],
            [2., 6.]],
    <BLANKLINE>
           [[1., 5.],
            [3., 7.]]], dtype=float32)
    """
    if displacement is not None or not image._has_fast_warp or (image._described.is_layered and np.ndim(matrix) == 3):
        return _warp_any(image, matrix, shape, displacement, out)
    full = projection_matrix(matrix)
    view = image._views.get(shape) if type(shape) is tuple else None
    if view is None:
        view = _view_of(image, shape)
    width, height = view.sizes
    if image._native._memory is None:
        image._native.memory()  # raises
    reader = view.reader
    if view.follows and out is None and not image._leads_on_device:
        picture: AnyArray = empty_result(view.shape, image._described.dtype)
        follow(image, reader, full, view.sizes, picture, gradients=image._mipmaps)
        return picture if image._library is None else image._library(picture)
    result = Result(image._queue, out, view.shape, image.dtype, kept=image._native.pictures)
    if view.follows:
        return followed(image, reader, full, view.sizes, result, gradients=image._mipmaps)

    def coordinates(start: int, stop: int) -> tuple[Array, tuple[Array, Array] | None]:
        points, dx, dy = warp_coordinates(full, width, start, stop, gradients=image._mipmaps)
        return points, None if dx is None or dy is None else (dx, dy)

    drawn = draw(image, reader, (width, height), coordinates, image._described.channel, codes=False)
    return given_picture(image, result, drawn, image._library, on_device=image._leads_on_device)


class View(NamedTuple):
    """A picture by ``warp``, as far as its shape decides it.

    Attributes
    ----------
    sizes : tuple[int, int]
        (width, height).
    shape : tuple[int, ...]
        Of the array.
    reader : Reader
        Of the image.
    follows : bool
        Whether the device follows the map itself.
    """

    sizes: tuple[int, int]
    shape: tuple[int, ...]
    reader: Reader
    follows: bool


def _view_of(image: Image, shape: int | Sequence[int]) -> View:
    """The view for a shape, kept with the image."""
    height, width = sizes_of(shape, 2, "shape", "(height, width)")
    require_room(height * width, "shape", bytes_of_pixel(image))
    reader = image._native.reader(image._sampler)
    whole = picture_shape(image, (width, height))
    view = View((width, height), whole, reader, follows_maps(image, gradients=image._mipmaps))
    if len(image._views) >= _MOST_VIEWS:
        image._views.clear()
    image._views[height, width] = view
    return view


def _warp_any(
    image: Image, matrix: npt.ArrayLike, shape: int | Sequence[int], displacement: ArrayLike | None, out: Any
) -> Any:
    """``warp`` of images of any dimensions, filters, stores and displacements."""
    image._refuse_cubemap("warp")
    dims = len(image.size)
    matrices = matrices_of(image, matrix)
    sizes = sizes_of(shape, dims, "shape", shape_order(dims))[::-1]
    require_room(math.prod(sizes), "shape", bytes_of_pixel(image))
    vectors = None
    if displacement is not None:
        vectors = vectors_of_picture("displacement", seen("displacement", displacement, image._queue), sizes)
    picture = image._store.warp(image, matrices, sizes, vectors, out)
    if vectors is not None:
        hand_over(displacement, vectors)
    return picture


def warp_native(
    image: Image,
    matrices: Sequence[npt.NDArray[np.float64]],
    sizes: tuple[int, ...],
    vectors: AnyArray | None,
    out: Any,
) -> Any:
    """``warp`` of one native image, by ``Resampling``."""
    image._native.memory()  # raises
    result = Result(image._queue, out, picture_shape(image, sizes), image.dtype, (vectors,))
    return mapped_picture(image, matrices, sizes, "displacement", vectors, result, image._library)


def matrices_of(image: Image, matrix: npt.ArrayLike) -> list[npt.NDArray[np.float64]]:
    """(d + 1, d + 1) of the argument of ``warp``: one, or one for each layer.

    Raises
    ------
    InvalidError
        It has another shape, or entries that are not finite numbers.
    """
    dims, layers = len(image.size), image.num_layers
    if not image._described.is_layered or np.ndim(matrix) != 3:
        return [homogeneous(matrix, dims)]
    several = list(np.asarray(matrix))
    if len(several) != layers:
        raise InvalidError(f"matrix has shape {np.shape(matrix)}: it is one, or one for each of the {layers} layers")
    return [homogeneous(each, dims, f"matrix[{number}]") for number, each in enumerate(several)]


def vectors_of_picture(name: str, array: AnyArray, sizes: Sequence[int]) -> AnyArray:
    """Vectors of shape (*shape, d) of a picture; those of a 1D picture may lack the last axis.

    Raises
    ------
    InvalidError
        Another shape.
    """
    wanted = (*reversed(sizes), len(sizes))
    if len(sizes) == 1 and tuple(array.shape) == wanted[:1]:
        return array[:, None]
    if tuple(array.shape) != wanted:
        order = ", ".join("xyz"[: len(sizes)])
        raise InvalidError(f"{name} has shape {tuple(array.shape)}; it is {wanted}, the last axis ({order})")
    return array
