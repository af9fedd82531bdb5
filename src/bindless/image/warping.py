"""``warp`` and ``resample``: methods of ``Image`` that make pictures through maps of positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..camera.camera import Camera, matrix_of
from ..camera.lens import Lens
from ..model.errors import ArgumentError, InvalidError
from ..model.grid import Grid, of_pixels
from ..model.message_values import shown
from ..model.transforms import Affine, BSpline, Displacement, Transform
from ..sampling.fields import Field, scale_fields, shift_fields
from .array_library import OWN_TYPES, AnyArray, ArrayLike, hand_over, view
from .composition import Composition, compose
from .drawing import Frame, Moves, draw, frame_of
from .repetition import REPROJECT, WARP, remember, remember_view

if TYPE_CHECKING:
    from .image import Image

__all__ = ["reproject", "resample", "warp", "warp_native"]

_numbers = count()
_TO_FIRST_CENTRE = np.array([[1.0, 0.0, -0.5], [0.0, 1.0, -0.5], [0.0, 0.0, 1.0]])
_MESH = 33  # points along an axis
_LONG_STEP = 1.25  # pixels of the image, of the first level for the most part
_LENSES = 64  # of an image, whose pictures come again
_ORTHONORMAL = 1e-3  # how far products of the rows of a rotation are from those of the identity, at most


def warp(
    image: Image,
    matrix: npt.ArrayLike,
    shape: int | Sequence[int],
    *,
    displacement: ArrayLike | Displacement | BSpline | None = None,
    grid: Grid | None = None,
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
    displacement : ArrayLike | bindless.space.BSpline, optional
        Shape (\\*shape, d) in (x, y[, z]) order, in the image's coordinates; numbers of any library. All layers have
        the same. With ``grid`` (\\*grid.shape, d). Of a B-spline the displacements are its cubic sums of coefficients,
        and its world is that of ``grid``.
    grid : bindless.space.Grid, optional
        Where the vectors of a displacement lie that is as coarse as it is smooth: the device interpolates them
        linearly. The grid's world is the picture: pixels (x, y[, z]), the centre of the first one at 0.5. Beyond the
        outer borders of the grid's outer pixels nothing is added. There is one matrix then, an affine one.
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
        The image is a cubemap, or the matrix, the shape, the displacement or the grid does not fit it.

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
    >>> ramp, ends = np.arange(5, dtype=np.float32)[None], bindless.space.Grid((1, 2), spacing=4.0, origin=0.5)
    >>> with bindless.Image(ramp, queue=bindless.Queue("reference")) as image:
    ...     image.warp(np.eye(2, 3), (1, 5), displacement=np.array([[[2, 0], [0, 0]]]), grid=ends)
    array([[2. , 2.5, 3. , 3.5, 4. ]], dtype=float32)
    >>> volume = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    >>> with bindless.Image(volume, queue=bindless.Queue("reference"), dimensions=3) as image:
    ...     image.warp([[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], (2, 2, 2))  # x and z exchanged
    array([[[0., 4.],
            [2., 6.]],
    <BLANKLINE>
           [[1., 5.],
            [3., 7.]]], dtype=float32)
    """
    if grid is not None or isinstance(displacement, (Displacement, BSpline)):
        return _warp_by_grid(image, matrix, shape, displacement, grid, out)
    picture = image._pictures.repeat(WARP, matrix, shape, displacement, out)
    if picture is not None:
        return picture
    frame = frame_of(image, shape, "warp")
    if displacement is None:
        picture = image._store.warp(image, matrix, frame, None, out)
        remember(
            image, WARP, frame.sizes, frame.shape, out, picture, frame=shape, matrix=matrix, library=image._library
        )
        return picture
    vectors = displacement if type(displacement) is np.ndarray else view("displacement", displacement, image._queue)
    if vectors.shape != frame.vectors:
        vectors = _vectors_of_line(vectors, frame.vectors)
    picture = image._store.warp(image, matrix, frame, vectors, out)
    if type(displacement) not in OWN_TYPES:
        hand_over(displacement, vectors)
    remember(
        image, WARP, frame.sizes, frame.shape, out, picture, frame=shape, matrix=matrix, vectors=displacement,
        vectors_dtype=vectors.dtype, library=image._library,
    )  # fmt: skip
    return picture


def resample(image: Image, target: Grid, transform: Transform | Any = None, *, out: Any = None) -> Any:
    """The picture on the pixels of another grid, through the world and a transform of it.

    The pixel of the target at world position p is a sample of the image at ``transform(p)``, with the image's
    filtering, addressing and precision; ``addressing="extent"`` with ``precision="exact"`` is SimpleITK's rule. The
    device computes the positions.

    Parameters
    ----------
    target : bindless.space.Grid
        Where the pixels of the picture lie.
    transform : Affine | Displacement | BSpline | Sequence | ArrayLike, optional
        As of ``bindless.space.resample``.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous. Where it lies on the device nothing
        waits.

    Returns
    -------
    ArrayLike
        As of ``warp``, of the target's shape.

    Raises
    ------
    ArgumentError
        The image was made without ``grid``, or the target and the transform do not fit it.

    See Also
    --------
    bindless.space.resample : The same for arrays that are resampled once.

    Examples
    --------
    >>> from bindless.space import Grid
    >>> ramp, lies = np.array([[0, 10, 20, 30]], dtype=np.float32), Grid((1, 4), spacing=2.0)
    >>> with bindless.Image(ramp, grid=lies, queue=bindless.Queue("reference")) as image:
    ...     image.resample(Grid((1, 3), spacing=1.0, origin=(1.0, 0.0)))
    array([[ 5., 10., 15.]], dtype=float32)
    """
    grid = image.grid
    if grid is None:
        raise ArgumentError("the image has no grid: make it by Image(array, grid=bindless.space.Grid(...))")
    if not isinstance(target, Grid):
        raise ArgumentError(f"target={shown(target)} is no Grid; bindless.space.Grid(shape, spacing, origin) is one")
    map_, dims = compose(grid, target, transform), grid.dimensions
    matrix = of_pixels(map_.matrix)[:dims]
    factors = 1 / np.array(image._size, np.float64) if image._sampler.is_normalized else np.ones(dims)
    if not map_.fields:
        matrix[:, -1] += 0.5
        return image.warp(factors[:, None] * matrix, target.shape, out=out)
    own = map_.on(image._queue)
    fields = scale_fields(shift_fields(own.fields, 0.5), factors)
    picture = image._store.warp(image, matrix, frame_of(image, target.shape, "resample"), fields, out)
    map_.hand_over(own)
    return picture


def reproject(
    image: Image,
    camera: Camera,
    *,
    to: Camera,
    rotation: npt.ArrayLike | None = None,
    shape: Sequence[int] | None = None,
    out: Any = None,
) -> Any:
    """The picture that another camera at the same place takes.

    Pixels of the new camera are followed as rays to the camera that took the image: an undistorted view, a part of a
    panorama, or, where the new camera has a distortion, a distorted picture. The device computes the positions in
    double precision; no maps are made.

    Parameters
    ----------
    camera : bindless.Camera
        The camera that took the image.
    to : bindless.Camera
        The new camera.
    rotation : ArrayLike, optional
        (3, 3), from the axes of the new camera to those of the old one; default: they look in the same direction.
    shape : Sequence[int], optional
        (height, width) of the picture; default the size of the new camera, or else that of the image.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous. Where it lies on the device nothing
        waits.

    Returns
    -------
    ArrayLike
        As of ``warp``.

    Raises
    ------
    ArgumentError
        A camera has the size of another image, or the rotation is none.
    InvalidError
        The image has not two dimensions.

    Notes
    -----
    What the old camera does not see lies far outside of the image: with ``addressing="border"`` it is 0, and with
    ``precision="exact"`` the fill value. A distortion is inverted to 1e-15 of a focal length, or where the distortion
    turns back, to 1e-9.

    The levels of an image with mipmaps, and the footprint of each pixel, follow from the slopes of the positions, so
    that parts that shrink do not alias. The host computes the positions then, and the device samples at them; where no
    step to the next pixel is longer than 1.25 pixels of the image, the device does both, in full size.

    Examples
    --------
    >>> ramp = np.arange(8, dtype=np.float32).reshape(1, 8)
    >>> sphere = bindless.Camera(None, model="equirectangular", size=(8, 1))
    >>> back = [[-1, 0, 0], [0, 1, 0], [0, 0, -1]]
    >>> with bindless.Image(ramp, addressing="repeat", queue=bindless.Queue("reference")) as image:
    ...     image.reproject(sphere, to=sphere, rotation=back)
    array([[4., 5., 6., 7., 0., 1., 2., 3.]], dtype=float32)
    """
    for name, one in (("camera", camera), ("to", to)):
        if not isinstance(one, Camera):
            raise ArgumentError(f"{name}={shown(one)} is no Camera: bindless.Camera(K, distortion, model) is one")
    view_ = _view_of(image, camera, to, rotation, shape)
    picture = None if view_ is None else image._pictures.repeat(REPROJECT, None, view_, None, out)
    if picture is not None:
        return picture
    image._refuse_cubemap("reproject")
    size = tuple(image._size)
    if len(size) != 2:
        raise InvalidError(f"reproject: the image has {len(size)} dimensions, pictures of cameras have 2")
    if camera.size not in (None, size):
        raise ArgumentError(f"camera has pictures of the size {camera.size}, and the image is {size}, (width, height)")
    turn = np.eye(3) if rotation is None else matrix_of("rotation", rotation)
    if not np.abs(turn @ turn.T - np.eye(3)).max() <= _ORTHONORMAL or not np.linalg.det(turn) > 0:
        raise ArgumentError(f"rotation={turn.tolist()} is no rotation: its rows are orthonormal, its determinant is 1")
    frame = frame_of(image, (to.size or size)[::-1] if shape is None else tuple(shape), "reproject")
    lens = Lens.between(camera, to, turn)
    factors = 1 / np.array(size, np.float64) if image._sampler.is_normalized else np.ones(2)
    has_footprints = image._mipmaps and _shrinks(lens, frame.sizes)
    field = Field.of_lens(lens.numbers, lens.behind, has_footprints=has_footprints)
    fields = scale_fields(shift_fields((field,), 0.5), factors)
    matrix = (lens.before @ _TO_FIRST_CENTRE)[: 3 if lens.is_projective else 2]
    picture = image._store.warp(image, matrix, frame, fields, out)
    if view_ is not None and not has_footprints:
        remember_view(image, view_, frame.sizes, frame.shape, matrix, fields, out, picture)
    return picture


def _view_of(image: Image, camera: Camera, to: Camera, rotation: Any, shape: Any) -> tuple[int, ...] | None:
    """A shape, and a number for the cameras and the rotation, by which pictures are known; None of other arguments."""
    sizes = (to.size or image._size)[::-1] if shape is None else tuple(shape) if isinstance(shape, list) else shape
    if type(sizes) is not tuple or not (rotation is None or type(rotation) is np.ndarray):
        return None
    turn = None if rotation is None else (rotation.dtype, rotation.shape, rotation.tobytes())
    key, views = (camera.key, to.key, turn), image._views
    number = views.get(key)
    if number is None:
        if len(views) >= _LENSES:
            views.clear()
            image._lenses.clear()
        number = views[key] = next(_numbers)
    return *sizes, number


def _shrinks(lens: Lens, sizes: tuple[int, ...]) -> bool:
    """Whether a step to the next pixel is longer than one of the image anywhere on a mesh of a picture."""
    lines = [np.linspace(0, size - 1, min(size, _MESH)) for size in sizes]
    _, dx, dy = lens.footprints(np.stack(np.meshgrid(*lines), -1))
    return bool(max(np.linalg.norm(step, axis=-1).max() for step in (dx, dy)) > _LONG_STEP)


def warp_native(image: Image, matrix: npt.ArrayLike, frame: Frame, moves: Moves | None, out: Any) -> Any:
    """``warp`` of one native image."""
    return draw(
        image, matrix, frame.sizes, frame.shape, out, image._library, moves=moves, name="displacement",
        on_device=image._leads_on_device,
    )  # fmt: skip


def _warp_by_grid(
    image: Image, matrix: npt.ArrayLike, shape: int | Sequence[int], displacement: Any, grid: Grid | None, out: Any
) -> Any:
    """``warp`` with displacements between vectors on a grid of their own."""
    frame = frame_of(image, shape, "warp")
    dims = len(frame.sizes)
    part = displacement if grid is None else Displacement(displacement, grid)
    to_image = Affine(matrix).matrix[:-1]
    if not len(to_image) == part.dimensions == dims:
        raise ArgumentError(
            f"the image has {dims} dimensions, and the grid {part.dimensions}; matrix has shape {to_image.shape}"
        )
    field = Field(part.vectors, part.interpolation, to_image @ part.grid.index_matrix, np.eye(dims))
    map_ = Composition(part.grid._to_indices, (field,), ("displacement",))
    own = map_.on(image._queue)
    picture = image._store.warp(image, map_.matrix[:dims], frame, own.fields, out)
    map_.hand_over(own)
    return picture


def _vectors_of_line(array: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """Vectors of a picture of one dimension, which may lack the last axis.

    Raises
    ------
    InvalidError
        Another shape, or other dimensions.
    """
    if len(shape) == 2 and tuple(array.shape) == shape[:1]:
        return array[:, None]
    order = ", ".join("xyz"[: shape[-1]])
    raise InvalidError(f"displacement has shape {tuple(array.shape)}; it is {shape}, the last axis ({order})")
