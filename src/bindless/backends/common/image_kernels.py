"""Built-in kernels of device functions, shared by all drivers: names, formats and arguments.

``bindless.kernels`` defines the kernels and their arguments.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ... import kernels
from ...model.channels import ELEMENTS
from ...model.enums import ImageType
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.image_call import ImageCall, PictureMap
from ..contract.prepared_image_call import ARRAYS

__all__ = [
    "BLOCK",
    "GEOMETRIES",
    "ITEMS",
    "address_places",
    "arguments_of",
    "arrays_of",
    "blocks_of",
    "format_of",
    "geometry_of",
    "kernel_name",
    "operation_of",
    "parameters_of",
    "refused_without_kernel",
    "values_of",
]

BLOCK = 128  # work-items per group
ITEMS = 4  # items that a work-item processes together
# The most blocks of a launch: enough to fill any device many times; the kernels stride over the rest.
_MOST_BLOCKS = 1 << 20

GEOMETRIES = {1: "1d", 2: "2d", 3: "3d"}

# Letters of ``struct`` for OpenCL C types; pointers and handles take 8 bytes.
_LETTERS = {"uint": "I", "float": "f", "double": "d"}


def blocks_of(call: ImageCall) -> int:
    """The number of work-groups of a call; 0 for no items."""
    return min(-(-call.count // (BLOCK * ITEMS)), _MOST_BLOCKS)


def operation_of(call: ImageCall, backend: str) -> str:
    """The operation in a kernel's name.

    Raises
    ------
    InvalidError
        an image of this kind has no such function.
    """
    operation: str = call.operation
    if operation == "fetch" and call.sampled:
        return "fetch_sampled"
    if operation == "write" and call.sampled:
        raise InvalidError("write of a sampled image: only unsampled images are written", backend=backend)
    if operation.startswith("sample") and not call.sampled:
        raise InvalidError(f"{operation} of an unsampled image: create it with a sampler, or fetch", backend=backend)
    if call.map is not None:
        return "warp_grad" if operation == "sample_grad" else "warp"
    return operation


def geometry_of(call: ImageCall) -> str:
    """The geometry in a kernel's name, of every image but cubemaps."""
    desc = call.descriptor
    return GEOMETRIES[desc.dimensions] + ("_array" if desc.type is ImageType.array else "")


def kernel_name(call: ImageCall, backend: str) -> str:
    """The built-in kernel of a call, on drivers whose images of all types have the same functions.

    Raises
    ------
    InvalidError
        An image of this kind has no such function.
    """
    return f"bindless_{operation_of(call, backend)}_{geometry_of(call)}_{call.descriptor.channel.kind}"


@contextmanager
def refused_without_kernel(backend: str) -> Iterator[None]:
    """Raises ``FeatureNotSupportedError`` where ``bindless.kernels`` has no source of a kernel."""
    try:
        yield
    except (KeyError, ValueError) as error:
        raise FeatureNotSupportedError(f"there is no built-in kernel for this call: {error}", backend=backend) from None


@functools.cache
def parameters_of(name: str) -> tuple[tuple[str, ...], struct.Struct, tuple[int, ...]]:
    """Names, layout and sizes of a built-in kernel's parameters, as the kernels' manifest lists them."""
    declared = kernels.manifest()["modules"][kernels.module_of(name)]["kernels"][name]
    names = tuple(declaration.split()[-1] for declaration in declared)
    letters = "".join(_LETTERS.get(declaration.split()[0], "Q") for declaration in declared)
    return names, struct.Struct("=" + letters), tuple(struct.calcsize("=" + letter) for letter in letters)


def format_of(call: ImageCall) -> int:
    """The format word of a call: what its values and its image hold, and whether its arrays are aligned."""
    desc = call.descriptor
    element = ELEMENTS.get(call.value_dtype)
    if element is None:
        element = ELEMENTS[call.value_dtype.newbyteorder("=")]
    whole = call.value_channels * call.value_dtype.itemsize
    aligned = (call.coords | call.dx | call.dy) % 8 == 0 and (call.value_channels == 3 or call.values % whole == 0)
    return element | call.value_channels << 8 | desc.channel.index << 16 | desc.num_channels << 24 | aligned << 28


def _map_arguments(map_: PictureMap) -> dict[str, float]:
    """The arguments of kernels that write pictures."""
    arguments: dict[str, float] = {f"m{index // 3}{index % 3}": entry for index, entry in enumerate(map_.matrix)}
    arguments |= {"scale_x": map_.scale[0], "scale_y": map_.scale[1], "bias_x": map_.bias[0], "bias_y": map_.bias[1]}
    return arguments | {"width": map_.width, "height": map_.height}


def arguments_of(call: ImageCall, name: str, format_word: int) -> tuple[bytes, tuple[int, ...]]:
    """The packed arguments of a built-in kernel, and the size of each.

    The kernel parameters ``level`` and ``lod`` are the levels of all items and the common level; other parameters have
    the names of ``ImageCall``.
    """
    desc = call.descriptor
    values: dict[str, float] = {
        "image": call.handle,
        "coords": call.coords,
        "layers": call.layers,
        "layer": call.layer,
        "level": call.levels,
        "lod": call.level,
        "dx": call.dx,
        "dy": call.dy,
        "values": call.values,
        "count": call.count,
        "format": format_word,
        # The row length if the items form a picture: usually they match the image's own pixels or its width. Results do
        # not depend on it.
        "row": desc.width if desc.dimensions > 1 else 0,
    }
    if call.map is not None:
        values |= _map_arguments(call.map)
    names, layout, sizes = parameters_of(name)
    return layout.pack(*[values[parameter] for parameter in names]), sizes


def arrays_of(call: ImageCall) -> dict[str, int]:
    """Bytes of an item of each array, by the field of the call with the array's address, in the order of ``ARRAYS``."""
    directions = call.descriptor.type is ImageType.cubemap and call.operation.startswith("sample")
    dims = 3 if directions else call.descriptor.dimensions
    sizes = {"coords": 4 * dims, "layers": 4, "levels": 4, "dx": 4 * dims, "dy": 4 * dims}
    sizes["values"] = call.value_channels * call.value_dtype.itemsize
    return {name: sizes[name] for name in ARRAYS if getattr(call, name)}


def address_places(
    call: ImageCall, name: str, parameters: Sequence[int | None]
) -> tuple[tuple[int | None, ...], tuple[int, ...]]:
    """``places`` and ``sizes`` of a prepared call, from the address of each parameter of its kernel."""
    position = dict(zip(parameters_of(name)[0], parameters))
    places = [position["level" if field == "levels" else field] if getattr(call, field) else None for field in ARRAYS]
    return tuple(places), tuple([8 if place else 0 for place in places])


def values_of(call: ImageCall, name: str, format_word: int) -> tuple[bytes, ...]:
    """The arguments of a built-in kernel, one by one."""
    packed, sizes = arguments_of(call, name, format_word)
    return struct.unpack("=" + "".join([f"{size}s" for size in sizes]), packed)
