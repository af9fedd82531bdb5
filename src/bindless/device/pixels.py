"""Pixels of images in kernels: fetches without the sampler, and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from .declaration import Call, KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic, interpretation
from .number_types import numpy_name
from .sampling import coordinates, in_layer, layered, values_of
from .values import KernelImage, Operand

__all__ = [
    "fetch_cubemap", "fetch_image", "fetch_image_array", "fetch_sampled_image", "fetch_sampled_image_array",
    "write_cubemap", "write_image", "write_image_array",
]  # fmt: skip

fetched = interpretation("image_interpretation", "fetched")
written = interpretation("image_interpretation", "written")

_TYPES = (
    "float32", "int32", "uint32", "float16", "int16", "uint16", "int8", "uint8",
)  # fmt: skip
_NORMALIZED = ("snorm_int8", "snorm_int16", "unorm_int8", "unorm_int16")
_INTEGERS = ["int"] * 3


def _texture_fetch(name: str, image: Type, layer: Type | None, at: list[Type], dtype: Type | None) -> Call:
    letter, result = values_of(name, dtype)
    form, given = ("_array", [layer]) if layer is not None else ("", [])
    symbol = f"__bindless_fetch_sampled_{len(at)}d{form}_{letter}"
    types = ("sampled_image_handle", *(("uint",) if form else ()), *_INTEGERS[: len(at)])
    return Call(result, symbol, types, (image, *given, *at))


def _fetch_sampled_image(
    launch: LaunchFacts, image: Type, x: Type, y: Type | None = None, z: Type | None = None, dtype: Type | None = None
) -> Call:
    at = coordinates("fetch_sampled_image", (x, y, z), 3)
    return _texture_fetch("fetch_sampled_image", image, None, at, dtype)


def _fetch_sampled_image_array(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type | None = None,
    layer: Type | None = None,
    dtype: Type | None = None,
) -> Call:
    at, number = in_layer("fetch_sampled_image_array", (x, y), layer)
    return _texture_fetch("fetch_sampled_image_array", image, number, at, dtype)


def _fetch_image(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type | None = None,
    z: Type | None = None,
    dtype: Type | None = None,
    channels: Type | None = None,
    channel_type: Type | None = None,
) -> Call | Lower:
    at = coordinates("fetch_image", (x, y, z), 3)
    return _fetch("fetch_image", launch, image, None, at, dtype, channels, channel_type)


def _fetch_image_array(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type | None = None,
    layer: Type | None = None,
    dtype: Type | None = None,
    channels: Type | None = None,
    channel_type: Type | None = None,
) -> Call | Lower:
    at, number = in_layer("fetch_image_array", (x, y), layer)
    return _fetch("fetch_image_array", launch, image, number, at, dtype, channels, channel_type)


def _fetch_cubemap(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type,
    face: Type,
    dtype: Type | None = None,
    channels: Type | None = None,
    channel_type: Type | None = None,
) -> Call | Lower:
    at, number = in_layer("fetch_cubemap", (x, y), face, "face")
    return _surface_fetch("fetch_cubemap", launch, image, number, at, dtype, channels, channel_type)


def _fetch(
    name: str,
    launch: LaunchFacts,
    image: Type,
    layer: Type | None,
    at: list[Type],
    dtype: Type | None,
    channels: Type | None,
    channel_type: Type | None,
) -> Call | Lower:
    if image.kind == "image" and image.name != "unsampled":
        if channels is not None or channel_type is not None:
            raise KernelTypeError(
                f"{name}: channels and channel_type describe the pixels of an unsampled handle; an Image and a sampled "
                "handle know theirs, and give 4 channels"
            )
        return _texture_fetch(name, image, layer, at, dtype)
    return _surface_fetch(name, launch, image, layer, at, dtype, channels, channel_type)


def _surface_fetch(
    name: str,
    launch: LaunchFacts,
    image: Type,
    layer: Type | None,
    at: list[Type],
    dtype: Type | None,
    channels: Type | None,
    channel_type: Type | None,
) -> Call | Lower:
    _require_unsampled(name, image)
    kind = numpy_name(name, dtype, "float32", _TYPES)
    count = _channels(name, channels)
    form = "_array" if layer is not None else ""
    given = [layer] if layer is not None else []
    if channel_type is not None:
        vector = f"float{count}" if count > 1 else "float"
        return _normalized(name, image, given, at, channel_type, vector, None)
    options = {"geometry": f"{len(at)}d{form}", "dtype": kind, "channels": count, "language": launch.language}
    return Lower(_pixel_type(kind, count), "surfaces:read", (image, *given, *at), options)


def _require_unsampled(name: str, image: Type) -> None:
    if image.kind not in ("image", "int") or image.name == "sampled":
        raise KernelTypeError(f"{name} takes an Image or an unsampled image, not {image}")


def _channels(name: str, channels: Type | None) -> int:
    count = 4 if channels is None else channels.value
    if count not in (1, 2, 4):
        raise KernelTypeError(f"{name}: channels is 1, 2 or 4, a constant")
    return int(count)


def _pixel_type(kind: str, count: int) -> str:
    from .number_types import OPENCL_TYPES

    return f"{OPENCL_TYPES[kind]}{count}" if count > 1 else OPENCL_TYPES[kind]


def _normalized(
    name: str, image: Type, given: list[Type], at: list[Type], channel_type: Type, vector: str, value: Type | None
) -> Call:
    """A fetch or a write of a normalized image by OpenCL C: texels are converted on every target."""
    if channel_type.value not in _NORMALIZED:
        raise KernelTypeError(f"{name}: channel_type is one of {', '.join(map(repr, _NORMALIZED))}, a constant")
    count, form = len(at), "_array" if given else ""
    verb = "write" if value is not None else "fetch"
    symbol = f"bindless_python_{verb}_{count}d{form}_{channel_type.value}_{vector}"
    axes = ", ".join("xyz"[:count])
    place = f"(int{count})({axes})" if count > 1 else "x"
    parameters = f"ulong image, {'uint layer, ' if form else ''}" + ", ".join(f"int {axis}" for axis in "xyz"[:count])
    where = f"image, {place}{', layer' if form else ''}"
    types = ("unsampled_image_handle", *(("uint",) if form else ()), *_INTEGERS[:count])
    kind = f"bindless_{channel_type.value}"
    if value is None:
        source = f"{vector} {symbol}({parameters}) {{ return fetch_image{form}_{vector}({where}, {kind}); }}"
        return Call(vector, symbol, types, (image, *given, *at), source)
    source = f"void {symbol}({parameters}, {vector} value) {{ write_image{form}({where}, value, {kind}); }}"
    return Call("void", symbol, (*types, vector), (image, *given, *at, value), source)


def _written_type(parts: Sequence[Type]) -> str:
    """Type of the channels of a value: floats lead, then numbers that are no constants; empty where they differ."""
    floats = [part for part in parts if part.kind in ("float", "vector") and part.name.startswith("float")]
    leading = floats or parts
    names = {part.name for part in leading if part.value is None} or {part.name for part in leading}
    name = names.pop() if len(names) == 1 else ""
    return {"float64": "float32", "int64": "int32", "bool": "uint8"}.get(name, name)


def _write_image(
    launch: LaunchFacts,
    image: Type,
    *place_and_value: Type,
    dtype: Type | None = None,
    channel_type: Type | None = None,
) -> Call | Lower:
    at = coordinates("write_image", place_and_value[:-1], 3)
    return _write("write_image", launch, image, None, at, place_and_value[-1], dtype, channel_type)


def _write_image_array(
    launch: LaunchFacts,
    image: Type,
    *place_and_value: Type,
    layer: Type | None = None,
    dtype: Type | None = None,
    channel_type: Type | None = None,
) -> Call | Lower:
    at, number = in_layer("write_image_array", place_and_value[:-1], layer)
    return _write("write_image_array", launch, image, number, at, place_and_value[-1], dtype, channel_type)


def _write_cubemap(
    launch: LaunchFacts,
    image: Type,
    x: Type,
    y: Type,
    face: Type,
    value: Type,
    dtype: Type | None = None,
    channel_type: Type | None = None,
) -> Call | Lower:
    at, number = in_layer("write_cubemap", (x, y), face, "face")
    return _write("write_cubemap", launch, image, number, at, value, dtype, channel_type)


def _write(
    name: str,
    launch: LaunchFacts,
    image: Type,
    layer: Type | None,
    at: list[Type],
    value: Type,
    dtype: Type | None,
    channel_type: Type | None,
) -> Call | Lower:
    _require_unsampled(name, image)
    given = [layer] if layer is not None else []
    if not (value.is_number or value.kind in ("vector", "tuple")):
        raise KernelTypeError(f"{name} writes a number, a vector or a tuple of numbers, not {value}")
    count = value.count if value.kind in ("vector", "tuple") else 1
    if count not in (1, 2, 4):
        raise KernelTypeError(f"{name} writes 1, 2 or 4 channels, not {count}")
    if channel_type is not None:
        vector = f"float{count}" if count > 1 else "float"
        return _normalized(name, image, given, at, channel_type, vector, value)
    if dtype is not None:
        kind = numpy_name(name, dtype, "", _TYPES)
    else:
        kind = _written_type(value.elements if value.kind == "tuple" else (value,))
        if kind not in _TYPES:
            raise KernelTypeError(f"{name}: {value} has no channel type of images: give dtype=, such as np.float32")
    form = "_array" if given else ""
    options = {"geometry": f"{len(at)}d{form}", "dtype": kind, "channels": count, "language": launch.language}
    return Lower("void", "surfaces:write", (image, *given, *at, value), options)


@device_intrinsic(_fetch_image)
def fetch_image(
    image: KernelImage,
    x: int,
    y: int | None = None,
    z: int | None = None,
    dtype: npt.DTypeLike = "float32",
    channels: int = 4,
    channel_type: str | None = None,
) -> Any:
    """Read one pixel, without the sampler: one texture or surface instruction.

    Parameters
    ----------
    image : Image, sampled or unsampled image handle
        A number of an array of handles is an unsampled handle here; ``fetch_sampled_image`` takes sampled ones. A
        kernel must not read what it writes to the same image.
    x, y, z : int
        Pixels, from 0. Outside the image the result is 0 on CUDA and undefined elsewhere.
    dtype : dtype
        Of an Image or a sampled handle: float32 (also of normalized and fp16 images), int32 or uint32. Of an unsampled
        handle: the image's own type, as pixels are bits on CUDA; of a normalized image the codes (uint8). A constant.
    channels : int
        Of the image behind an unsampled handle: 1, 2 or 4, a constant.
    channel_type : str
        Of a normalized image behind an unsampled handle, such as ``"unorm_int8"``: the result is float32 on every
        device.

    Returns
    -------
    vector or number
        A vector of 4, of an unsampled handle of its channels; a number for one channel.
    """
    return fetched("fetch_image", image, (x, y, z), dtype, channels)


@device_intrinsic(_fetch_image_array)
def fetch_image_array(
    image: KernelImage,
    x: int,
    y: int | None = None,
    layer: int | None = None,
    dtype: npt.DTypeLike = "float32",
    channels: int = 4,
    channel_type: str | None = None,
) -> Any:
    """Read one pixel of one layer of an array of images: ``fetch_image_array(image, x, y, layer)``.

    Parameters
    ----------
    image : Image, sampled or unsampled image handle
        An array of images.
    x, y : int
        Pixels, from 0. Images of one dimension have no ``y``: the layer follows ``x``.
    layer : int
        From 0, an integer.
    dtype, channels, channel_type
        As for ``fetch_image``.

    Returns
    -------
    vector or number
        As of ``fetch_image``.
    """
    place, number = layered("fetch_image_array", (x, y), layer)
    return fetched("fetch_image_array", image, place, dtype, channels, layer=number)


@device_intrinsic(_fetch_cubemap)
def fetch_cubemap(
    image: KernelImage,
    x: int,
    y: int,
    face: int,
    dtype: npt.DTypeLike = "float32",
    channels: int = 4,
    channel_type: str | None = None,
) -> Any:
    """Read one pixel of one face of a cubemap: one surface instruction.

    Devices with ``Aspect.ext_oneapi_cubemap`` have it: CUDA and the reference device.

    Parameters
    ----------
    image : Image or unsampled image handle
        A cubemap, of which an Image gives its unsampled handle. A kernel must not read what it writes to the same
        image.
    x, y : int
        Pixels, from 0.
    face : int
        0 to 5, an integer: +x, -x, +y, -y, +z, -z.
    dtype : dtype
        The image's own type; of a normalized image the codes (uint8). A constant.
    channels : int
        Of the image: 1, 2 or 4, a constant.
    channel_type : str
        Of a normalized image, such as ``"unorm_int8"``: the result is float32 on every device.

    Returns
    -------
    vector or number
        A vector of the image's channels; a number for one channel.
    """
    return fetched("fetch_cubemap", image, (x, y), dtype, channels, layer=face)


@device_intrinsic(_fetch_sampled_image)
def fetch_sampled_image(
    image: KernelImage, x: int, y: int | None = None, z: int | None = None, dtype: npt.DTypeLike = "float32"
) -> Any:
    """Read one pixel of a sampled image, without the sampler: one texture instruction.

    Parameters
    ----------
    image : Image or sampled image handle
        Also an element of an array of handles (uint64).
    x, y, z : int
        Pixels, from 0.
    dtype : dtype
        float32, int32 or uint32, a constant.

    Returns
    -------
    vector of 4
        (r, g, b, a); channels that the image lacks are 0.
    """
    return fetched("fetch_sampled_image", image, (x, y, z), dtype, 4)


@device_intrinsic(_fetch_sampled_image_array)
def fetch_sampled_image_array(
    image: KernelImage, x: int, y: int | None = None, layer: int | None = None, dtype: npt.DTypeLike = "float32"
) -> Any:
    """Read one pixel of one layer of a sampled array of images: one texture instruction.

    Parameters
    ----------
    image : Image or sampled image handle
        An array of images.
    x, y, layer : int
        As for ``fetch_image_array``.
    dtype : dtype
        As for ``fetch_sampled_image``.

    Returns
    -------
    vector of 4
        (r, g, b, a).
    """
    place, number = layered("fetch_sampled_image_array", (x, y), layer)
    return fetched("fetch_sampled_image_array", image, place, dtype, 4, layer=number)


@device_intrinsic(_write_image)
def write_image(
    image: KernelImage, *place_and_value: Operand, dtype: npt.DTypeLike | None = None, channel_type: str | None = None
) -> None:
    """Write one pixel: ``write_image(image, x, y, value)``, one surface instruction.

    Parameters
    ----------
    image : Image or unsampled image handle
        Also an element of an array of handles (uint64).
    place_and_value : int, then number, vector or tuple
        x, y and z as the image has dimensions, then the pixel with 1, 2 or 4 channels. Outside the image nothing is
        written on CUDA; elsewhere that is undefined.
    dtype : dtype
        Type of a channel, which is the image's own, as pixels are bits on CUDA; by default that of the value (float32
        for Python's floats). Of a normalized image the codes. A constant.
    channel_type : str
        Of a normalized image, such as ``"unorm_int8"``: the value is float32, clamped and rounded to the nearest code
        on every device.
    """
    *place, value = place_and_value
    written("write_image", image, tuple(place), value)


@device_intrinsic(_write_image_array)
def write_image_array(
    image: KernelImage,
    *place_and_value: Operand,
    layer: int | None = None,
    dtype: npt.DTypeLike | None = None,
    channel_type: str | None = None,
) -> None:
    """Write one pixel of one layer of an array of images: ``write_image_array(image, x, y, layer, value)``.

    Parameters
    ----------
    image : Image or unsampled image handle
        An array of images.
    place_and_value : int, then number, vector or tuple
        x, and y as the images have dimensions, then the layer unless it is given by name, then the pixel.
    layer : int, optional
        From 0, an integer.
    dtype, channel_type
        As for ``write_image``.
    """
    *place, value = place_and_value
    at, number = layered("write_image_array", place, layer)
    written("write_image_array", image, at, value, layer=number)


@device_intrinsic(_write_cubemap)
def write_cubemap(
    image: KernelImage,
    x: int,
    y: int,
    face: int,
    value: Operand,
    dtype: npt.DTypeLike | None = None,
    channel_type: str | None = None,
) -> None:
    """Write one pixel of one face of a cubemap: one surface instruction.

    Devices with ``Aspect.ext_oneapi_cubemap`` have it: CUDA and the reference device.

    Parameters
    ----------
    image : Image or unsampled image handle
        A cubemap.
    x, y : int
        Pixels, from 0.
    face : int
        0 to 5, an integer: +x, -x, +y, -y, +z, -z.
    value : number, vector or tuple
        The pixel with 1, 2 or 4 channels.
    dtype, channel_type
        As for ``write_image``.
    """
    written("write_cubemap", image, (x, y), value, layer=face)
