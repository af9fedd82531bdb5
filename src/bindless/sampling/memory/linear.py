"""Which calls the kernels of linear filters without a mipmap serve: ``csrc/kernels/source/gradients_linear.cl``,
``gradients_tiles.cl`` for one channel and many samples that are a picture, and ``gradients_vectors.cl`` for channels
that are next to one another.
"""

from __future__ import annotations

import math
import struct
from functools import cache

from ...drivers import cuda
from ...model.enums import Interpolation
from .plan import NAMES, MemoryPlan, Operation, Strided

__all__ = ["BLOCK", "ITEMS", "arrange", "kernel_kind"]

BLOCK = 128
ITEMS = {"tiles": 256}
"""Work-items of a group of kernels whose groups are not of ``BLOCK``."""

_LANES = 32
_TILE = 10  # samples of a tile, as a power of two
_MANY = 1 << 19  # samples of which tiles are enough to occupy a device
_ROWS = {"single": 8, "linear": 2}  # samples of a work-item of the backward kernels
_SINGLES = 2  # samples of a work-item of the forward kernels, for one channel
_ROW = struct.Struct("@I")
_MAP = struct.Struct("@8f3I")
_ROW_AT = 36  # in the struct
_DENSE, _PLANES, _PACKED, _SPREAD_AT = 1 << 27, 1 << 28, 1 << 29, 23  # bits of the mode
_MOST_SPREAD_OF_PLANES = 3  # each work-group writes 64 bytes of a plane
_MOST_TEXTURES = 65535


def kernel_kind(plan: MemoryPlan) -> str | None:
    """The kind of the kernel, the end of its name: linear, single, tiles or vectors; None if none of them serves."""
    lookup = plan.lookup
    if (
        plan.operation is Operation.backward_backward
        or lookup.dims == 1
        or lookup.cube
        or lookup.filter.interpolation is not Interpolation.linear
        or len(plan.levels) > 1
        or plan.arrays[NAMES.index("grad_level")] is not None
    ):
        return None
    texels, gradients = plan.levels[0].texels, plan.levels[0].gradients
    if (gradients is not None and gradients.strides[:4] != texels.strides[:4]) or not _has_near_samples(plan):
        return None
    forward = plan.operation is Operation.forward
    if texels.strides[0] == 1 and plan.channels > 3:
        return "vectors" if _has_vectors(plan) and (forward or gradients is None or _adds_vectors()) else None
    if plan.channels > 1 or forward:
        return "linear"
    many = gradients is not None and plan.textures * plan.samples >= _MANY and all(plan.picture)
    return "tiles" if many else "single"


def _values(plan: MemoryPlan) -> Strided:
    values = plan.arrays[NAMES.index("out" if plan.operation is Operation.forward else "grad_out")]
    assert values is not None
    return values


def _has_near_samples(plan: MemoryPlan) -> bool:
    """Whether offsets of samples of a texture have 32 bits."""
    sizes = {"out": plan.channels, "grad_out": plan.channels, "coords": plan.lookup.dims}
    sizes["grad_coords"] = plan.lookup.dims
    for name, size in sizes.items():
        array = plan.arrays[NAMES.index(name)]
        if array is not None:
            reach = (size - 1) * abs(array.strides[0]) + (plan.samples - 1) * abs(array.strides[1])
            if reach >= 1 << 31:
                return False
    return True


def _is_packed(plan: MemoryPlan) -> bool:
    """Whether coordinates, their gradients and values are next to those of the next sample."""
    coordinates = (plan.arrays[NAMES.index(name)] for name in ("coords", "grad_coords"))
    packed = all(array is None or array.strides[:2] == (1, plan.lookup.dims) for array in coordinates)
    return packed and _values(plan).strides[1] == 1


def _sizes(plan: MemoryPlan) -> tuple[int, int, int]:
    """Samples of a row, rows of a slice, and slices."""
    row, rows = plan.picture
    return row, rows, -(-plan.samples // max(row * rows, 1))


def _tile(plan: MemoryPlan) -> tuple[int, ...]:
    """Samples of a tile along each axis, as powers of two: as many along each, if there are so many."""
    sizes, bits = _sizes(plan), [0, 0, 0]
    while sum(bits) < _TILE:
        smaller = [axis for axis in range(3) if 1 << bits[axis] < sizes[axis]]
        bits[min(smaller, key=bits.__getitem__) if smaller else 2] += 1
    return tuple(bits)


def _has_vectors(plan: MemoryPlan) -> bool:
    """Whether four channels are a vector, of texels and of gradients; values may be apart."""
    arrays = [plan.levels[0].texels, plan.levels[0].gradients]
    if _values(plan).strides[0] == 1:
        arrays.append(_values(plan))
    return (
        plan.texel_type == plan.value_type == "f"
        and plan.channels % 4 == 0
        and all(
            array.strides[0] == 1 and not any(stride % 4 for stride in array.strides[1:])
            for array in arrays
            if array is not None
        )
    )


@cache
def _adds_vectors() -> bool:
    """Whether all devices add four floats at once."""
    if not cuda.available():
        return False
    cuda.load()
    count, major = cuda.ffi.new("int *"), cuda.ffi.new("int *")
    cuda.check(cuda.lib.cuDeviceGetCount(count), "cuDeviceGetCount")
    for device in range(count[0]):
        attribute = cuda.lib.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        cuda.check(cuda.lib.cuDeviceGetAttribute(major, attribute, device), "cuDeviceGetAttribute")
        if major[0] < 9:
            return False
    return bool(count[0] > 0)


def arrange(
    plan: MemoryPlan, kernel_kind: str, template: bytes, sums_at: int, mode: int
) -> tuple[bytes, int, tuple[int, int]]:
    """The struct with what these kernels have in the place of integer sums, the mode, and the groups of the launch."""
    lookup, textures = plan.lookup, min(plan.textures, _MOST_TEXTURES)
    unused, map_ = (0.0,) * (3 - lookup.dims), lookup.map
    tile = _tile(plan)
    numbers = _MAP.pack(
        *map_.scale[: lookup.dims],
        *unused,
        *map_.offset[: lookup.dims],
        *unused,
        map_.shift,
        lookup.filter.fill,
        plan.picture[1],
        *tile[:2],
    )
    template = template[:sums_at] + numbers + template[sums_at + _MAP.size :]
    mode |= _DENSE if plan.levels[0].texels.strides[1] == 1 else 0
    mode |= _PACKED if _is_packed(plan) else 0
    if kernel_kind == "vectors":
        spread = min((plan.channels // 4).bit_length() - 1, 5)
        if _values(plan).strides[0] != 1:
            spread, mode = min(spread, _MOST_SPREAD_OF_PLANES), mode | _PLANES
        mode = mode & ~(7 << _SPREAD_AT) | spread << _SPREAD_AT
        return template, mode, (-(-(plan.samples << spread) // BLOCK), textures)
    if plan.operation is Operation.forward:
        share = _SINGLES if plan.channels == 1 else 1
        return template, mode, (-(-plan.samples // (BLOCK * share)), textures)
    row = plan.picture[0]
    if kernel_kind == "tiles":
        counts = (-(-size >> bits) for size, bits in zip(_sizes(plan), tile))
        template = template[:_ROW_AT] + _ROW.pack(row) + template[_ROW_AT + _ROW.size :]
        return template, mode, (math.prod(counts), textures)
    row = row if row >= _LANES else BLOCK  # rows of less are rows of one picture without a second dimension
    rows = -(-plan.samples // row)
    groups = -(-row // _LANES) * -(-rows // (_ROWS[kernel_kind] * (BLOCK // _LANES)))
    template = template[:_ROW_AT] + _ROW.pack(row) + template[_ROW_AT + _ROW.size :]
    return template, mode, (groups, textures)
