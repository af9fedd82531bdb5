"""Large copies between images, and between images and device memory, by kernels: surface instructions reach several
times the bandwidth of the driver's own copies.

A kernel moves blobs of 16 bytes, or of fewer where rows or offsets are not multiples of 16, for pixels of any format.
Its PTX is assembled from two sides, which gives a kernel for every pair of geometries.
"""

from __future__ import annotations

import struct

from ...drivers import cuda as driver
from ...kernels.load import Code
from ...model.copy_region import CopyRegion, HostMemory, ImageMemory, UsmMemory
from ...model.enums import UsmKind
from .context import Context
from .image_functions import build
from .image_storage import ImageStorage
from .kernel import Kernel, Shape
from .launch import Launch, packed_launch
from .memory import pointer_info
from .prepared_command import address_of
from .queue import Queue

__all__ = ["SMALLEST", "kernel_of_copy", "places_of", "source_of"]

lib, ffi = driver.lib, driver.ffi

# Bytes from which on a kernel is worth its load: smaller copies are as fast in the driver.
SMALLEST = 256 << 10
# Smaller blobs do not saturate the memory bus.
_LEAST_BLOB, _LARGEST_BLOB = 4, 16

_LINEAR = "linear"
_THREADS = 256
# A work-group of 16 blobs by 16 work-items suits the tiles of images; wider groups write at half the speed.
_MOST_COLUMNS = 16
# Rows per work-item: their loads overlap.
_ROWS = 2
_MOST_SLICES = 65535

_MOVED = {1: ("b8", "%h{0}"), 2: ("b16", "%h{0}"), 4: ("b32", "%v{0}"), 8: ("v2.b32", "%v{0}, %v{1}"),
          16: ("v4.b32", "%v{0}, %v{1}, %v{2}, %v{3}")}  # fmt: skip
# Coordinates of surface instructions: x in bytes, the layer first, three coordinates padded to four.
_COORDINATES = {
    "1d": "{x}",
    "a1d": "{z}, {x}",
    "2d": "{x}, {y}",
    "a2d": "{z}, {x}, {y}, {y}",
    "3d": "{x}, {y}, {z}, {z}",
}

_PARAMETERS = struct.Struct("<QQ6I4Q2I")
_SIZES = (8, 8, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 4, 4)
_HEAD = """.version 6.3
.target sm_75
.address_size 64
.visible .entry bindless_copy(
    .param .u64 from, .param .u64 to,
    .param .u32 from_x, .param .u32 from_y, .param .u32 from_z, .param .u32 to_x, .param .u32 to_y, .param .u32 to_z,
    .param .u64 from_pitch, .param .u64 from_slice, .param .u64 to_pitch, .param .u64 to_slice,
    .param .u32 width, .param .u32 height)
{
    .reg .pred %gone, %here<8>;
    .reg .b16 %h<64>;
    .reg .b32 %v<64>, %x, %y<8>, %z, %a, %b, %c, %width, %height, %fx, %fy, %fz, %tx, %ty, %tz;
    .reg .b64 %from, %to, %pitch, %slice, %wide, %far, %near;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    ld.param.u32 %width, [width];
    ld.param.u32 %height, [height];
    mov.u32 %a, %ctaid.x;
    mov.u32 %b, %ntid.x;
    mov.u32 %c, %tid.x;
    mad.lo.u32 %x, %a, %b, %c;
    setp.ge.u32 %gone, %x, %width;
    @%gone ret;
    mov.u32 %a, %ctaid.y;
    mov.u32 %b, %ntid.y;
    mov.u32 %c, %tid.y;
    mul.lo.u32 %a, %a, %b;
    mad.lo.u32 %y0, %a, {rows}, %c;
    mov.u32 %z, %ctaid.z;
    mul.lo.u32 %x, %x, {blob};
"""


def _side(name: str, geometry: str, first: str) -> str:
    """The invariant part of a side: the address of the work-item's slice, or coordinates without the row."""
    if geometry == _LINEAR:
        return f"""    ld.param.u64 %pitch, [{name}_pitch];
    ld.param.u64 %slice, [{name}_slice];
    cvt.u64.u32 %wide, %z;
    mad.lo.u64 %{name}, %wide, %slice, %{name};
    cvt.u64.u32 %wide, %x;
    add.u64 %{name}, %{name}, %wide;
"""
    return "".join(
        f"    ld.param.u32 %{first}{axis}, [{name}_{axis}];\n"
        + (f"    add.u32 %{first}{axis}, %{first}{axis}, %{axis};\n" if axis != "y" else "")
        for axis in "xyz"
    )


def _access(name: str, geometry: str, first: str, row: int, blob: int) -> str:
    """A load from the side ``from`` or a store to the side ``to``, of one row."""
    kind, registers = _MOVED[blob]
    base = row * 4
    operands = "{" + registers.format(*range(base, base + 4)) + "}"
    reads = name == "from"
    if geometry == _LINEAR:
        where = f"""    cvt.u64.u32 %wide, %y{row};
    mad.lo.u64 %near, %wide, %pitch, %{name};
"""
        operands = operands if kind.startswith("v") else operands.strip("{}")
        order = f"ld.global.{kind} {operands}, [%near]" if reads else f"st.global.{kind} [%near], {operands}"
        return f"{where}    @%here{row} {order};\n"
    at = _COORDINATES[geometry].format(x=f"%{first}x", y="%a", z=f"%{first}z")
    where = f"    add.u32 %a, %{first}y, %y{row};\n"
    order = f"suld.b.{geometry}.{kind}.zero {operands}, [%{name}, {{{at}}}]"
    if not reads:
        order = f"sust.b.{geometry}.{kind}.zero [%{name}, {{{at}}}], {operands}"
    return f"{where}    @%here{row} {order};\n"


def source_of(source: str, target: str, blob: int, rows: int) -> bytes:
    """The PTX of a kernel.

    Parameters
    ----------
    source, target
        ``linear``, or the geometry of surface instructions: ``1d``, ``a1d``, ``2d``, ``a2d``, ``3d``.
    blob
        bytes of one load and store: 1, 2, 4, 8 or 16.
    rows
        rows per work-item.
    """
    lines = [_HEAD.replace("{rows}", str(rows)).replace("{blob}", str(blob))]
    for row in range(rows):
        if row:
            lines.append(f"    add.u32 %y{row}, %y{row - 1}, %b;\n")
        lines.append(f"    setp.lt.u32 %here{row}, %y{row}, %height;\n")
    for name, geometry, first in (("from", source, "f"), ("to", target, "t")):
        lines.append(_side(name, geometry, first))
        lines += [_access(name, geometry, first, row, blob) for row in range(rows)]
    return "".join([*lines, "    ret;\n}\n"]).encode()


# ---------------------------------------------------------------------- which one

_Side = tuple[str, int, tuple[int, int, int], tuple[int, int], int]
"""Geometry, surface or address, offset of a surface (x in bytes), pitches of rows and slices, and what decides on the
blob, or-ed."""

_NOWHERE, _NO_PITCHES = (0, 0, 0), (0, 0)

_Plan = tuple[Kernel, Shape]
_MOST_PLANS = 1024
_plans: dict[tuple[int, str, str, int, int, int, int], _Plan] = {}


def _kernel(queue: Queue, source: str, target: str, blob: int, rows: int) -> Kernel:
    """The kernel, compiled for the queue's device on first use."""
    key = ("bindless_copy", source, target, blob, rows)

    def make() -> Kernel:
        return build(queue, Code("bindless_copy", source_of(source, target, blob, rows), {}))

    kernel = queue.primary.library.create(key, make)
    assert isinstance(kernel, Kernel)
    return kernel


def _surface(context: Context, storage: ImageStorage, handle: int) -> int:
    """The surface of an array for copies, created once; 0 if the driver refuses."""
    number = context.copied.get(handle)
    if number is None:
        surface: int = lib.bindless_surface_create(storage.primary.handle, handle)
        if not surface:
            return 0
        number = context.copied.setdefault(handle, surface)
        if number != surface:  # another thread was first
            lib.bindless_image_destroy(storage.primary.handle, surface, False)
    return number


def _is_near(queue: Queue, address: int) -> bool:
    """Whether memory is local to the queue's device: the copy engines access other memory faster than kernels."""
    own = queue.context.allocations.get(address)
    if own is not None:
        return own.kind is UsmKind.device and own.primary is queue.primary
    record = pointer_info(queue.context, address)
    return record.kind is UsmKind.device and record.device is queue.device


def _shape(width: int, height: int, depth: int, rows: int) -> Shape:
    columns = min(_MOST_COLUMNS, 1 << (width - 1).bit_length()) if height > 1 else _THREADS
    lines = _THREADS // columns
    return -(-width // columns), -(-height // (lines * rows)), depth, columns, lines, 1


def _image_side(queue: Queue, end: ImageMemory) -> _Side | None:
    """The side of an image; None without a surface."""
    handle, desc, (x, y, z) = end
    context = queue.context
    storage = context.images.get(handle)
    if storage is None or storage.primary is not queue.primary:
        return None
    surface = context.copied.get(handle)
    if surface is None:
        surface = _surface(context, storage, handle) if storage.writable and not storage.is_mipmap else 0
        if not surface:
            return None
    x *= desc.pixel_size
    return storage.geometry, surface, (x, y, z), _NO_PITCHES, x


def _linear_side(queue: Queue, end: UsmMemory, height: int, depth: int) -> _Side | None:
    """The side of linear memory; None if it is not on the device."""
    if not _is_near(queue, end.address):
        return None
    x, y, z = end.offset
    pitch, slice_pitch = end.row_pitch, end.slice_pitch
    address = end.address + z * slice_pitch + y * pitch + x * end.pixel_size
    multiples = address | (pitch if height > 1 else 0) | (slice_pitch if depth > 1 else 0)
    return _LINEAR, address, _NOWHERE, (pitch, slice_pitch), multiples


def kernel_of_copy(queue: Queue, region: CopyRegion) -> Launch | None:
    """The launch of a copy of at least ``SMALLEST`` bytes; None if there is no kernel, or it is not faster."""
    src, dst, (width, height, depth), _, pixel_size = region
    row = width * pixel_size
    if row * height * depth < SMALLEST or depth > _MOST_SLICES or isinstance(src, HostMemory):
        return None
    from_side = _image_side(queue, src) if isinstance(src, ImageMemory) else _linear_side(queue, src, height, depth)
    if from_side is None or isinstance(dst, HostMemory):
        return None
    to_side = _image_side(queue, dst) if isinstance(dst, ImageMemory) else _linear_side(queue, dst, height, depth)
    if to_side is None:
        return None
    source, origin, at, pitches, first = from_side
    target, place, to, other, second = to_side
    # The largest common power-of-two divisor, up to 16.
    multiples = row | first | second | _LARGEST_BLOB
    blob = multiples & -multiples
    if blob < _LEAST_BLOB or origin == place or source is target is _LINEAR:
        return None
    key = queue.primary.address, source, target, blob, row, height, depth
    plan = _plans.get(key) or _plan(queue, key)
    packed = _PARAMETERS.pack(origin, place, *at, *to, *pitches, *other, row // blob, height)
    return packed_launch(*plan, _SIZES, packed)


def places_of(launch: Launch, region: CopyRegion) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, int]]:
    """The positions of the addresses of linear memory among the arguments, for each side, and what is added to them."""
    places: list[tuple[int, ...]] = []
    offsets: list[int] = []
    for at, end in enumerate((region.src, region.dst)):
        place = launch.pointers[at]
        if isinstance(end, UsmMemory):
            places.append((address_of(place),))
            offsets.append(int(ffi.cast("uint64_t *", place)[0]) - end.address)
        else:
            places.append(())
            offsets.append(0)
    return (places[0], places[1]), (offsets[0], offsets[1])


def _plan(queue: Queue, key: tuple[int, str, str, int, int, int, int]) -> _Plan:
    """The kernel of a copy and its launch; cached for later copies."""
    _, source, target, blob, row, height, depth = key
    rows = _ROWS if height > 1 else 1
    plan = _kernel(queue, source, target, blob, rows), _shape(row // blob, height, depth, rows)
    if len(_plans) >= _MOST_PLANS:
        _plans.clear()
    return _plans.setdefault(key, plan)
