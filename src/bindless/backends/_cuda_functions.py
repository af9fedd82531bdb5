"""Device functions over arrays of coordinates: which built-in kernel does a call, and with which arguments.

Kernels and their arguments are those of ``bindless.kernels``; each is compiled for a device and for the formats of its
image and values when it is first used.
"""

from __future__ import annotations

import functools
import struct
import threading
from collections.abc import Sequence

from .. import kernels
from ..model.channels import ELEMENTS
from ..model.enums import ImageType
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.image_call import ImageCall
from ._cuda_event import Event
from ._cuda_kernel import Kernel
from ._cuda_launch import launch_packed
from ._cuda_module import load_module
from ._cuda_queue import Queue, nothing

__all__ = ["arguments_of", "format_of", "image_call", "kernel_name"]

_BLOCK = 128
_ITEMS = 4  # that a work-item of the kernels takes at once
# Blocks a launch has at most: enough to fill any device many times; the kernels stride over the rest.
_MOST_BLOCKS = 1 << 20

# Letters of ``struct`` for OpenCL C types; pointers and handles take 8 bytes.
_LETTERS = {"uint": "I", "float": "f"}

_GEOMETRIES = {1: "1d", 2: "2d", 3: "3d"}

# The kernels loaded so far, by the address of the primary context, their name and the format they are compiled for.
_loaded: dict[tuple[int, str, int], Kernel] = {}
_loading = threading.Lock()


def _geometry(call: ImageCall) -> str:
    """The geometry in a kernel's name. The faces of an unsampled cubemap are layers."""
    desc = call.descriptor
    if desc.type is ImageType.cubemap:
        if call.operation == "write" or not call.sampled:
            return "2d_array"
        if call.operation in ("sample", "sample_lod"):
            return "cube"
        raise InvalidError(
            f"{call.operation} of a sampled cubemap: it is sampled by directions; fetch faces through an unsampled "
            "image",
            backend="cuda",
        )
    geometry = _GEOMETRIES[desc.dimensions]
    if call.usm and desc.dimensions == 1:
        if call.operation != "fetch":
            raise FeatureNotSupportedError(
                f"{call.operation} of a one-dimensional image over USM: NVIDIA's linear textures are only fetched. Use "
                "a pitched 2D image of height 1 (height=1 in the descriptor); ask aspect "
                "ext_oneapi_bindless_images_sample_1d_usm first",
                backend="cuda",
            )
        return "1d_linear"
    return geometry + ("_array" if desc.type is ImageType.array else "")


def kernel_name(call: ImageCall) -> str:
    """The built-in kernel of a call.

    Raises:
        InvalidError: an image of this kind has no such function.
        FeatureNotSupportedError: this device has no such function.
    """
    operation: str = call.operation
    if operation == "fetch" and call.sampled:
        operation = "fetch_sampled"
    elif operation == "write" and call.sampled:
        raise InvalidError("write of a sampled image: only unsampled images are written", backend="cuda")
    elif operation.startswith("sample") and not call.sampled:
        raise InvalidError(f"{operation} of an unsampled image: create it with a sampler, or fetch", backend="cuda")
    return f"bindless_{operation}_{_geometry(call)}_{call.descriptor.channel.kind}"


@functools.cache
def _parameters(name: str) -> tuple[tuple[str, ...], struct.Struct, tuple[int, ...]]:
    """Names, layout and sizes of a built-in kernel's parameters, as the kernels' manifest lists them."""
    declared = kernels.manifest()["modules"][kernels.module_of(name)]["kernels"][name]
    names = tuple(declaration.split()[-1] for declaration in declared)
    letters = "".join(_LETTERS.get(declaration.split()[0], "Q") for declaration in declared)
    return names, struct.Struct("=" + letters), tuple(struct.calcsize("=" + letter) for letter in letters)


def format_of(call: ImageCall) -> int:
    """The format word of a call: what its values and its image hold, and whether its arrays are aligned."""
    desc = call.descriptor
    element = ELEMENTS[call.value_dtype.newbyteorder("=")]
    whole = call.value_channels * call.value_dtype.itemsize
    aligned = (call.coords | call.dx | call.dy) % 8 == 0 and (call.value_channels == 3 or call.values % whole == 0)
    return element | call.value_channels << 8 | desc.channel.index << 16 | desc.num_channels << 24 | aligned << 28


def arguments_of(call: ImageCall, name: str, format_word: int) -> tuple[bytes, tuple[int, ...]]:
    """The arguments of a built-in kernel one behind the other, and the size of each.

    What a kernel calls ``level`` and ``lod`` are the levels of all items and the one for all; the others have the
    names that ``ImageCall`` gives them.
    """
    desc = call.descriptor
    values = {
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
        # Items in a row of the picture that they are, if they are one: most often they are as many as the image's own
        # pixels, or as wide. Results do not depend on it.
        "row": desc.width if desc.dimensions > 1 else 0,
    }
    names, layout, sizes = _parameters(name)
    return layout.pack(*[values[parameter] for parameter in names]), sizes


def _kernel(queue: Queue, name: str, format_word: int) -> Kernel:
    """A built-in kernel, compiled for the queue's device and a format on first use."""
    key = (queue.primary.address, name, format_word)
    kernel = _loaded.get(key)
    if kernel is None:
        with _loading:
            kernel = _loaded.get(key)
            if kernel is None:
                kernel = _loaded[key] = _load(queue, name, format_word)
    return kernel


def _load(queue: Queue, name: str, format_word: int) -> Kernel:
    try:
        source = kernels.specialised(name, format_word)
    except (KeyError, ValueError) as error:
        raise FeatureNotSupportedError(f"there is no built-in kernel for this call: {error}", backend="cuda") from None
    return Kernel(load_module(queue.context, queue.device, source), name)


def image_call(queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Runs a device function over ``call.count`` items."""
    name = kernel_name(call)
    format_word = format_of(call)
    kernel = _kernel(queue, name, format_word)
    blocks = min(-(-call.count // (_BLOCK * _ITEMS)), _MOST_BLOCKS)
    if not blocks:
        return queue.run(nothing, name, waits)
    packed, sizes = arguments_of(call, name, format_word)
    return launch_packed(queue, kernel, (blocks, 1, 1, _BLOCK, 1, 1), sizes, packed, waits)
