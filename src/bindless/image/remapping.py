"""``remap``: a method of ``Image`` that makes a picture at the coordinates of an array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.enums import ImageType
from ..model.errors import InvalidError
from ..sampling.row_blocks import SMALL_PICTURE, require_room
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes
from .array_library import OWN_TYPES, AnyArray, ArrayLike, Library, hand_over, library_of, view
from .computed_sampling import matrix_of_coordinates
from .drawing import draw
from .repetition import DISPLACE, REMAP, remember

if TYPE_CHECKING:
    from .image import Image

__all__ = ["remap", "remap_native"]

_MAX_AXES = 3


def remap(image: Image, coords: ArrayLike, *, relative: bool = False, out: Any = None) -> Any:
    """A picture at any coordinates, in the image's dtype.

    As ``sample``, but what comes back are pixels: integers are rounded and clamped, normalized values are codes. The
    device reads the coordinates where they are and stores pixels, and makes no other array.

    Parameters
    ----------
    coords : ArrayLike
        Shape (..., dims) in (x, y[, z]) order, numbers of any library: coordinates as ``sample`` takes them. A 1D image
        takes (N,) too.
    relative : bool, default False
        Whether they are displacements of the picture's pixels: element (j, i) reads the image at (i + 0.5, j + 0.5)
        plus ``coords[j, i]``, or with normalized coordinates at the first divided by the image's size. The shape is
        then that of a picture of the image's dimensions: (height, width, 2) for an image of two.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous. Where it lies on the device nothing
        waits.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library of ``coords``, on the device if they are there: of shape (...[, channels]),
        with the layers first, in the array's dtype. The accuracy is that of ``sample``.

    Raises
    ------
    InvalidError
        The image is a cubemap, or the shape does not fit it.

    See Also
    --------
    Image.warp : Pictures through matrices, and displacements added to them.

    Notes
    -----
    An image with mipmaps is read in full size.

    Examples
    --------
    >>> pixels = np.arange(6, dtype=np.uint8).reshape(2, 3)
    >>> with bindless.Image(pixels, queue=bindless.Queue("reference")) as image:
    ...     image.remap([[0.5, 1.5], [2.5, 0.5]])
    ...     image.remap(np.full((2, 3, 2), [1.0, 0.0]), relative=True)
    array([3, 2], dtype=uint8)
    array([[1, 2, 2],
           [4, 5, 5]], dtype=uint8)
    """
    method = DISPLACE if relative else REMAP
    picture = image._pictures.repeat(method, None, None, coords, out)
    if picture is not None:
        return picture
    if image._described.type is ImageType.cubemap:
        image._refuse_cubemap("remap")
    vectors = coordinate_axes(image, coords if type(coords) is np.ndarray else view("coords", coords, image._queue))
    count = math.prod(vectors.shape[:-1])
    if count * image._pixel_bytes > SMALL_PICTURE:
        require_room(count, "coords", image._pixel_bytes)
    library = None if type(coords) in OWN_TYPES else library_of(coords)
    picture = image._store.remap(image, vectors, relative, out, library)
    if type(coords) not in OWN_TYPES:
        hand_over(coords, vectors)
    matrix, sizes, shape = _placement(image, tuple(vectors.shape), relative)
    remember(
        image, method, sizes, shape, out, picture, fixed=matrix, vectors=coords, vectors_dtype=vectors.dtype,
        library=library,
    )  # fmt: skip
    return picture


def _placement(
    image: Image, shape: tuple[int, ...], relative: bool
) -> tuple[npt.NDArray[np.float64], tuple[int, ...], tuple[int, ...]]:
    """The matrix to which coordinates of a shape are added, the sizes of the picture, and the shape of the result.

    Raises
    ------
    InvalidError
        Displacements of another number of axes than the image has.
    """
    size, leading = image._size, shape[:-1]
    dims = len(size)
    matrix = matrix_of_coordinates(dims)
    sizes = leading[::-1] if 0 < len(leading) <= _MAX_AXES else (math.prod(leading),)
    if relative:
        if len(leading) != dims:
            names = ", ".join(("depth", "height", "width")[3 - dims :])
            raise InvalidError(f"coords have shape {shape}; displacements of this image's pixels are ({names}, {dims})")
        normalized = image._sampler.is_normalized
        matrix[range(dims), range(dims)] = [1 / pixels if normalized else 1.0 for pixels in size]
    return matrix, sizes, (*image._layer_axis, *leading, *image._channel_axis)


def remap_native(image: Image, vectors: AnyArray, relative: bool, out: Any, library: Library | None) -> Any:
    """``remap`` of one native image."""
    matrix, sizes, shape = _placement(image, tuple(vectors.shape), relative)
    in_usm = isinstance(vectors, UsmArray)
    return draw(image, matrix, sizes, shape, out, library, moves=vectors, name="coords", on_device=in_usm)
