"""Arguments of the built-in kernels of device functions, packed for drivers."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ...kernels.arguments import layout_of
from ...model.enums import ImageType
from ...model.image_call import ImageCall
from ..contract.prepared_image_call import ARRAYS

__all__ = ["address_places", "arguments_of", "arrays_of", "values_of"]


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
    names, layout, sizes = layout_of(name)
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
    position = dict(zip(layout_of(name)[0], parameters))
    places = [position["level" if field == "levels" else field] if getattr(call, field) else None for field in ARRAYS]
    return tuple(places), tuple([8 if place else 0 for place in places])


def values_of(call: ImageCall, name: str, format_word: int) -> tuple[bytes, ...]:
    """The arguments of a built-in kernel, one by one."""
    packed, sizes = arguments_of(call, name, format_word)
    return struct.unpack("=" + "".join([f"{size}s" for size in sizes]), packed)
