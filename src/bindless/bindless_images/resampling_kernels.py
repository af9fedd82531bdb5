"""Built-in kernels that resample images: the choice of a kernel, its formats and its arguments."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..model.channels import ELEMENTS
from ..model.enums import ImageType, Precision
from ..model.filter import CoordinateMap
from ..model.image_descriptor import ImageDescriptor
from ..model.ranges import NdRange
from ..model.resampling import Resampling, Window
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.kernel.kernel import Kernel

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = [
    "arguments_of",
    "format_word",
    "index_space",
    "kernel_name",
    "mode_word",
    "numbers_of",
    "parameters_of",
    "specialised_kernel",
]

_GROUP = 128
_MOST_GROUPS = 1 << 20  # the kernels stride over the rest
_NO_WINDOW = Window((0, 0, 0), (0, 0, 0))
# Kinds of pictures, and the elements that a work-group processes together: see csrc/kernels/include/picture.h.
_LINE, _PLANE, _VOLUME = range(3)
_BLOCKS = {_LINE: (512, 1, 1), _PLANE: (32, 16, 1), _VOLUME: (8, 8, 8)}
_SMALLEST = 4  # rows of a plane, and planes of a volume
_NUMBERS = {"double": np.float64, "float": np.float32, "int": np.int32, "uint": np.uint32, "long": np.int64}


def kernel_name(queue: Queue, desc: ImageDescriptor, precision: Precision, *, in_usm: bool) -> str:
    """The name of the kernel for an image, without the prefix."""
    operation = "resample" if precision is Precision.hardware else "resample_fetch"
    kind = "_array" if desc.type is ImageType.array else ""
    if in_usm and desc.dimensions == 1 and queue._backend.traits.build_target == "ptx":
        kind = "_linear"  # a texture over linear memory has its own instruction
    return f"{operation}_{desc.dimensions}d{kind}_{desc.channel.kind}"


def format_word(desc: ImageDescriptor, dtype: np.dtype[Any], channels: int, address: int) -> int:
    """The argument ``format``, for values at an address."""
    aligned = channels == 3 or address % (channels * dtype.itemsize) == 0
    element = ELEMENTS[dtype.newbyteorder("=")]
    return element | channels << 8 | desc.channel.index << 16 | desc.num_channels << 24 | aligned << 28


def _kind(shape: tuple[int, int, int]) -> int:
    _, height, depth = shape
    if height < _SMALLEST:
        return _LINE
    return _PLANE if depth < _SMALLEST else _VOLUME


def mode_word(picture: Resampling, map_: CoordinateMap, *, has_vectors: bool) -> int:
    """The argument ``mode``."""
    filter_ = picture.filter
    word = filter_.interpolation.number
    for axis in range(picture.descriptor.dimensions):
        word |= filter_.boundary[axis].number << (3 + 3 * axis)
    flags = (
        filter_.ignore_nan,
        picture.rounding == "away",
        has_vectors,
        has_vectors and picture.coords_dtype.itemsize == 8,
        not map_.is_affine,
        picture.scale != (1.0, 1.0, 1.0) or picture.bias != (0.0, 0.0, 0.0),
    )
    for bit, flag in enumerate(flags, 12):
        word |= flag << bit
    return word | _kind(picture.shape) << 18 | (map_.centre == 0.5) << 20 | (picture.window is not None) << 21


def index_space(shape: tuple[int, int, int]) -> NdRange:
    """The range of a launch: a work-group for each block of the picture."""
    groups = 1
    for size, block in zip(shape, _BLOCKS[_kind(shape)]):
        groups *= -(-size // block)
    return _range_of(min(groups, _MOST_GROUPS))


@lru_cache(64)
def _range_of(groups: int) -> NdRange:
    """One object for launches that come again."""
    return NdRange(groups * _GROUP, _GROUP)


def specialised_kernel(queue: Queue, name: str, format_: int, mode: int) -> Kernel:
    """A built-in kernel for a queue's device, compiled for one format and one mode, which it still takes."""
    loaded, key = queue.context._kernels, (queue.device, name, format_, mode)
    kernel: Kernel | None = loaded.get(key)
    if kernel is None:
        target, whole = queue._backend.traits.build_target, f"bindless_{name}"
        constants: dict[int | str, Any] = {}
        if target == "opencl_c":
            text, constants = kernels.source(name, target), {0: format_, 1: mode}
        else:
            text = kernels.specialised(whole, format_, target, mode)
        bundle = load_kernel_bundle(text, queue.device, queue.context, specialization=constants)
        kernel = loaded[key] = bundle.get_kernel(whole)
    return kernel


def numbers_of(picture: Resampling) -> dict[str, float]:
    """Those arguments of the kernels that are numbers, apart from the formats."""
    desc = picture.descriptor
    numbers: dict[str, float] = {f"m{index // 4}{index % 4}": entry for index, entry in enumerate(picture.map.matrix)}
    numbers |= {"centre": picture.map.centre, "fill": picture.filter.fill, "layer": picture.layer}
    numbers |= dict(zip(("step", "component"), picture.coords_strides))
    window = picture.window or _NO_WINDOW
    for name, values in (
        ("first", picture.first),
        ("scale", picture.scale),
        ("bias", picture.bias),
        ("size", (desc.width, desc.height, desc.depth)),
        ("origin", window.origin),
        ("whole", window.whole),
    ):
        numbers |= {f"{name}_{axis}": value for axis, value in zip("xyz", values)}
    return numbers | dict(zip(("width", "height", "depth"), picture.shape))


def arguments_of(name: str, values: dict[str, Any]) -> list[Any]:
    """The arguments of a kernel in its order; numbers in the types of its parameters."""
    found = []
    for declaration in _declarations(name):
        type_, _, argument = declaration.rpartition(" ")
        value = values[argument]
        found.append(_NUMBERS[type_](value) if type_ in _NUMBERS else value)
    return found


def parameters_of(name: str) -> list[str]:
    """The names of a kernel's parameters in its order."""
    return [declaration.rpartition(" ")[2] for declaration in _declarations(name)]


def _declarations(name: str) -> list[str]:
    declared: list[str] = kernels.manifest()["modules"][name]["kernels"][f"bindless_{name}"]
    return declared
