"""Samples of images in kernels: by coordinates, layers, levels and gradients, of cubemaps and cubic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy.typing as npt

from .declaration import Call, KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic, interpretation
from .number_types import numpy_name
from .values import KernelImage, Number
from .vector import Vector

__all__ = [
    "gather_image", "sample_cubemap", "sample_image", "sample_image_array", "sample_mipmap",
]  # fmt: skip

_Place = TypeVar("_Place")

gathered: Callable[..., Vector] = interpretation("image_interpretation", "gathered")
sampled: Callable[..., Vector] = interpretation("image_interpretation", "sampled")
layered: Callable[..., tuple[tuple[Number | None, ...], int]] = interpretation("image_interpretation", "layered")

CLASSES = {"float32": ("f", "float4"), "int32": ("i", "int4"), "uint32": ("u", "uint4")}
"""Letter in the names of primitives, and type of the result, by the type of a channel."""

_HANDLE = "sampled_image_handle"


def _require_image(name: str, image: Type) -> None:
    if image.kind not in ("image", "int") or image.name == "unsampled":
        raise KernelTypeError(f"{name} takes a sampled image, not {image}")


def values_of(name: str, dtype: Type | None) -> tuple[str, str]:
    """Letter and type of the result."""
    return CLASSES[numpy_name(name, dtype, "float32", tuple(CLASSES))]


def coordinates(name: str, given: Sequence[Type | None], most: int) -> list[Type]:
    """Coordinates of a position, of which the last ones may be absent.

    Raises
    ------
    KernelTypeError
        One in between is absent, is no number, or there are too many.
    """
    there = [value for value in given if value is not None]
    if not there or len(there) > most or any(value is None for value in given[: len(there)]):
        raise KernelTypeError(f"{name} takes {' or '.join('123'[:most])} coordinates: x, y, z in this order")
    for letter, value in zip("xyz", there):
        if not value.is_number:
            raise KernelTypeError(
                f"{name}: the coordinate {letter} is a number, not {value}; each coordinate is an argument: x, y, z"
            )
    return there


def split_layer(place: Sequence[_Place], layer: _Place | None) -> tuple[tuple[_Place, ...], _Place | None]:
    """Coordinates, and the layer, which is the last one of them in a call without ``layer=``."""
    there = tuple(place)
    while there and there[-1] is None:
        there = there[:-1]
    return (there, layer) if layer is not None or len(there) < 2 else (there[:-1], there[-1])


def in_layer(
    name: str, place: Sequence[Type | None], layer: Type | None, axis: str = "layer"
) -> tuple[list[Type], Type]:
    """Coordinates and the layer of a place in an array of images.

    Parameters
    ----------
    place
        The coordinates; in a call without ``layer=`` the last one is the layer.
    axis
        What the function calls the layer.

    Raises
    ------
    KernelTypeError
        The layer is absent or no integer, or as of ``coordinates``.
    """
    positions, number = split_layer(place, layer)
    if number is None or number.kind != "int":
        absent = "absent" if number is None else str(number)
        raise KernelTypeError(f"{name}: the {axis} is an integer after the coordinates or {axis}=, not {absent}")
    return coordinates(name, positions, 2), number


def _is_cubic(name: str, filtering: Type | None, dtype: Type | None) -> bool:
    """Whether a sample is that of a B-spline."""
    if filtering is None:
        return False
    if filtering.value != "cubic":
        raise KernelTypeError(
            f'{name}: filtering is the constant "cubic"; without it the sampler of the image says whether a sample is '
            "nearest or linear"
        )
    if dtype is not None and numpy_name(name, dtype, "float32", tuple(CLASSES)) != "float32":
        raise KernelTypeError(f'{name}: filtering="cubic" gives float32, not the dtype of this call')
    return True


def _sample_image(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type | None = None,
    z: Type | None = None,
    dtype: Type | None = None,
    filtering: Type | None = None,
) -> Call:
    at = coordinates("sample_image", (x, y, z), 3)
    if _is_cubic("sample_image", filtering, dtype):
        return _cubic(image, None, at)
    letter, result = values_of("sample_image", dtype)
    return Call(result, f"__bindless_sample_{len(at)}d_{letter}", (_HANDLE, *["float"] * len(at)), (image, *at))


def _sample_image_array(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type | None = None,
    layer: Type | None = None,
    dtype: Type | None = None,
    filtering: Type | None = None,
) -> Call:
    at, number = in_layer("sample_image_array", (x, y), layer)
    if _is_cubic("sample_image_array", filtering, dtype):
        return _cubic(image, number, at)
    letter, result = values_of("sample_image_array", dtype)
    symbol = f"__bindless_sample_{len(at)}d_array_{letter}"
    return Call(result, symbol, (_HANDLE, "uint", *["float"] * len(at)), (image, number, *at))


def _sample_mipmap(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type | None = None,
    z: Type | None = None,
    level: Type | None = None,
    dx: Type | None = None,
    dy: Type | None = None,
    dtype: Type | None = None,
) -> Call | Lower:
    at = coordinates("sample_mipmap", (x, y, z), 3)
    letter, result = values_of("sample_mipmap", dtype)
    numbers = ["float"] * len(at)
    if level is not None and dx is None and dy is None:
        symbol = f"__bindless_sample_lod_{len(at)}d_{letter}"
        return Call(result, symbol, (_HANDLE, *numbers, "float"), (image, *at, level))
    if level is not None or dx is None or dy is None:
        raise KernelTypeError("sample_mipmap takes level=, or both dx= and dy=, by name: the third number is z")
    _require_image("sample_mipmap", image)
    for name, slope in (("dx", dx), ("dy", dy)):
        numbers_of = slope.elements if slope.kind == "tuple" else (slope,)
        if not all(one.is_number or one.kind == "vector" for one in numbers_of):
            raise KernelTypeError(f"sample_mipmap: {name} is a number, a tuple of numbers or a vector, not {slope}")
        if (slope.count if slope.kind in ("vector", "tuple") else 1) != len(at):
            raise KernelTypeError(f"sample_mipmap: {name} has a number for each of the {len(at)} coordinates")
    symbol = f"__bindless_sample_grad_{len(at)}d_{letter}"
    return Lower(result, "sampling:gradients", (image, *at, dx, dy), (symbol, result))


def _sample_cubemap(launch: LaunchFacts, image: Type, x: Type, y: Type, z: Type, dtype: Type | None = None) -> Lower:
    at = coordinates("sample_cubemap", (x, y, z), 3)
    letter, result = values_of("sample_cubemap", dtype)
    _require_image("sample_cubemap", image)
    return Lower(result, "sampling:cubemap", (image, *at), (f"__bindless_sample_cube_{letter}", result))


def _gather_image(
    launch: LaunchFacts, image: Type, x: Type, y: Type, component: Type | None = None, dtype: Type | None = None
) -> Call:
    at = coordinates("gather_image", (x, y), 2)
    letter, result = values_of("gather_image", dtype)
    number = 0 if component is None else component
    return Call(result, f"__bindless_gather_2d_{letter}", (_HANDLE, "float", "float", "uint"), (image, *at, number))


def _cubic(image: Type, layer: Type | None, at: list[Type]) -> Call:
    count, form = len(at), "_array" if layer is not None else ""
    symbol = f"bindless_python_sample_cubic_{count}d{form}"
    axes = ", ".join("xyz"[:count])
    place = f"(float{count})({axes})" if count > 1 else "x"
    parameters = ", ".join(f"float {axis}" for axis in "xyz"[:count])
    first, last, given = ("uint layer, ", ", layer", [layer]) if layer is not None else ("", "", [])
    source = (
        f"float4 {symbol}(ulong image, {first}{parameters}) "
        f"{{ return sample_image_cubic{form}_float4(image, {place}{last}); }}"
    )
    types = (_HANDLE, *(("uint",) if form else ()), *["float"] * count)
    return Call("float4", symbol, types, (image, *given, *at), source)


@device_intrinsic(_sample_image)
def sample_image(
    image: KernelImage,
    x: float,
    y: float | None = None,
    z: float | None = None,
    dtype: npt.DTypeLike = "float32",
    filtering: str | None = None,
) -> Vector:
    """Sample an image at a coordinate with its sampler, by one texture instruction, or with a cubic filter.

    Parameters
    ----------
    image : Image or sampled image handle
        Also an element of an array of handles (uint64), which may differ between work-items. A mipmap is sampled at
        level 0.
    x, y, z : float
        As many as the image has dimensions. Pixel i has its centre at i + 0.5, or 0 to 1 spans the image if the
        sampler's coordinates are normalized.
    dtype : dtype
        float32, also of normalized and fp16 images; int32 or uint32 of integer images. A constant.
    filtering : str, optional
        Default that of the sampler. ``"cubic"``: the cubic B-spline whose coefficients are the pixels, of float32, by
        2, 4 or 8 samples and about 30 operations an axis. The sampler then has linear filtering and coordinates that
        count pixels. The spline passes through the pixels of a picture if the image has their coefficients
        (``bindless.ndimage.spline_filter``). A constant.

    Returns
    -------
    vector of 4
        (r, g, b, a); channels that the image lacks are 0.
    """
    return sampled("sample_image", image, (x, y, z), dtype, filtering=filtering)


@device_intrinsic(_sample_image_array)
def sample_image_array(
    image: KernelImage,
    x: float,
    y: float | None = None,
    layer: int | None = None,
    dtype: npt.DTypeLike = "float32",
    filtering: str | None = None,
) -> Vector:
    """Sample one layer of an array of images: ``sample_image_array(image, x, y, layer)``, one texture instruction.

    Parameters
    ----------
    image : Image or sampled image handle
        An array of images of one or two dimensions.
    x, y : float
        As for ``sample_image``. Images of one dimension have no ``y``: the layer follows ``x``.
    layer : int
        From 0, an integer; larger numbers are the last layer.
    dtype : dtype
        float32, int32 or uint32, a constant.
    filtering : str, optional
        As for ``sample_image``.

    Returns
    -------
    vector of 4
        (r, g, b, a).
    """
    place, number = layered("sample_image_array", (x, y), layer)
    return sampled("sample_image_array", image, place, dtype, layer=number, filtering=filtering)


@device_intrinsic(_sample_mipmap)
def sample_mipmap(
    image: KernelImage,
    x: float,
    y: float | None = None,
    z: float | None = None,
    level: float | None = None,
    dx: tuple[Number, ...] | None = None,
    dy: tuple[Number, ...] | None = None,
    dtype: npt.DTypeLike = "float32",
) -> Vector:
    """Sample a mipmap at a level, or with gradients: one texture instruction, four for gradients of volumes.

    Parameters
    ----------
    image : Image or sampled image handle
        A mipmap.
    x, y, z : float
        As for ``sample_image``.
    level : float
        0 is the largest; 1.5 interpolates between the next two.
    dx, dy : tuple or vector
        The coordinate's differences to the next pixel on the right and below, which determine the level and the
        anisotropic footprint.
    dtype : dtype
        float32, int32 or uint32, a constant.

    Returns
    -------
    vector of 4
        (r, g, b, a).
    """
    return sampled("sample_mipmap", image, (x, y, z), dtype, level=level, dx=dx, dy=dy)


@device_intrinsic(_sample_cubemap)
def sample_cubemap(image: KernelImage, x: float, y: float, z: float, dtype: npt.DTypeLike = "float32") -> Vector:
    """Sample a cubemap where a ray from its centre meets it: one texture instruction and about ten operations.

    Devices with ``Aspect.ext_oneapi_cubemap`` have it: CUDA and the reference device.

    Parameters
    ----------
    image : Image or sampled image handle
        A cubemap.
    x, y, z : float
        Direction, of any length.
    dtype : dtype
        float32, int32 or uint32, a constant.

    Returns
    -------
    vector of 4
        (r, g, b, a).
    """
    return sampled("sample_cubemap", image, (x, y, z), dtype)


@device_intrinsic(_gather_image)
def gather_image(
    image: KernelImage, x: float, y: float, component: int = 0, dtype: npt.DTypeLike = "float32"
) -> Vector:
    """Return one channel of the four pixels that linear filtering blends: one instruction.

    Devices with ``Aspect.ext_oneapi_bindless_images_gather`` have it: CUDA and the reference device.

    Parameters
    ----------
    image : Image or sampled image handle
        Of two dimensions.
    x, y : float
        As for ``sample_image``.
    component : int
        0 to 3; four instructions if it is no constant.
    dtype : dtype
        float32, int32 or uint32, a constant.

    Returns
    -------
    vector of 4
        Counter-clockwise from the lower left: (x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y).
    """
    return gathered(image, x, y, component, dtype)
