"""``CopyRegion`` as one command: a linear copy of bytes, or a copy of boxes between arrays and memory.

The driver copies, or where that is faster a kernel (``surface_copy``) or threads with pinned buffers
(``pinned_staging``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.copy_region import CopyRegion, Endpoint, Extent, HostMemory, ImageMemory
from ...model.errors import InvalidError
from ..common.strided_memory import is_contiguous, start_of
from ..contract.prepared_copy import PreparedCopy
from . import pinned_staging
from .context import Context
from .errors import fail
from .event import Event
from .fork_guard import refuse_in_fork
from .image_memory import storage_of
from .launch import Launch, prepare, submit
from .prepared_command import prepared_command
from .queue import Queue
from .surface_copy import kernel_of_copy, places_of

__all__ = ["copy_image", "prepare_bytes", "prepare_copy"]

lib, ffi = driver.lib, driver.ffi

_copy_box = lib.bindless_copy_box
_ARRAY, _HOST, _UNIFIED = lib.CU_MEMORYTYPE_ARRAY, lib.CU_MEMORYTYPE_HOST, lib.CU_MEMORYTYPE_UNIFIED


def _place_of(end: Endpoint, context: Context, extent: Extent) -> tuple[int, ...]:
    """One side of ``bindless_copy_box``: type, address, x in bytes, y, z, row pitch in bytes, rows per slice."""
    if isinstance(end, ImageMemory):
        storage = context.images.get(end.handle) or storage_of(context, end.handle)
        if storage.is_mipmap:
            raise InvalidError(
                f"{end.handle:#x} is a whole mipmap: copies take the handle of one level, which "
                "get_mip_level_mem_handle gives, and the level's descriptor",
                backend="cuda",
            )
        x, y, z = end.offset
        return _ARRAY, end.handle, x * end.descriptor.pixel_size, y, z, 0, 0
    kind = _HOST if isinstance(end, HostMemory) else _UNIFIED
    width, height, depth = extent
    # A pitch that no copied pixel depends on may have any value: keep it inside the driver's limits.
    if height == 1 and depth > 1:
        # With one row per slice, slices are treated as rows: the slice pitch need not be a multiple of the row pitch.
        pitch, rows = end.slice_pitch, 1
    elif depth > 1:
        pitch, rows = end.row_pitch, end.slice_pitch // end.row_pitch
    else:
        pitch, rows = end.row_pitch if height > 1 else width * end.pixel_size, height
    return kind, start_of(end), 0, 0, 0, pitch, rows


def _staged_job(queue: Queue, region: CopyRegion, again: bool) -> tuple[CData, tuple[CData, ...]] | None:
    """Staging buffers for a large copy between an image and pageable host memory; None below the threshold."""
    src, dst, (width, height, depth), _, pixel_size = region
    row = width * pixel_size
    if row * height * depth < pinned_staging.smallest(isinstance(src, HostMemory), again):
        return None
    if isinstance(src, HostMemory) and isinstance(dst, ImageMemory):
        host, device = src, dst
    elif isinstance(src, ImageMemory) and isinstance(dst, HostMemory):
        host, device = dst, src
    else:
        return None
    place = _place_of(device, queue.context, region.extent)
    pitches = start_of(host), host.row_pitch, host.slice_pitch
    return pinned_staging.staged_job(queue, host is src, pitches, place, (row, height, depth), again)


class _Plan(NamedTuple):
    """A copy that one C function makes.

    Attributes
    ----------
    command
        submits the copy to a CUstream once.
    function, struct, members
        the C function that submits it again, the type of its argument, and the members after context and stream.
    places
        members with the address of the source and of the destination; an empty one for a fixed side.
    offsets
        bytes from the array of a side to the address in the struct.
    """

    command: Callable[[CData], int]
    function: str
    struct: str
    members: tuple[CData, ...]
    places: tuple[tuple[str, ...], tuple[str, ...]]
    offsets: tuple[int, int]


def _plan(queue: Queue, region: CopyRegion, again: bool = False, large: bool = True) -> Launch | _Plan:
    """The fastest way to copy a region; ``again``: for repetition; ``large``: it may be staged."""
    src, dst, extent, _, pixel_size = region
    if isinstance(src, HostMemory) or isinstance(dst, HostMemory):
        job = _staged_job(queue, region, again) if large else None
    else:
        launch, job = kernel_of_copy(queue, region), None
        if launch is not None:
            return launch
    if job is not None:
        places: tuple[tuple[str, ...], tuple[str, ...]] = (("job", "host"), ())
        if isinstance(src, HostMemory):
            offsets = (job[1][1] - src.address, 0)
        else:
            assert isinstance(dst, HostMemory)
            places, offsets = places[::-1], (0, job[1][1] - dst.address)
        return _Plan(pinned_staging.staged(*job), "bindless_stage_again", "bindless_staged_t", job, places, offsets)
    width, height, depth = extent
    context = queue.context
    sides = _place_of(src, context, extent), _place_of(dst, context, extent)
    row = width * pixel_size
    box = *sides[0], *sides[1], row, height, depth
    return _Plan(
        lambda stream: _copy_box(stream, *box),
        "bindless_copy_again",
        "bindless_copy_t",
        (*sides, row, height, depth),
        (("source", "place"), ("destination", "place")),
        (
            0 if isinstance(src, ImageMemory) else sides[0][1] - src.address,
            0 if isinstance(dst, ImageMemory) else sides[1][1] - dst.address,
        ),
    )


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI, in queue order and without an intermediate copy of host arrays.

    With pageable host memory (numpy arrays) the driver may return only after it has read or written that memory; for a
    copy from host to host it always does.
    """
    src, dst, extent, _, _ = region
    if not (
        isinstance(src, ImageMemory)
        or isinstance(dst, ImageMemory)
        or not (is_contiguous(src, extent) and is_contiguous(dst, extent))
    ):
        source, destination, nbytes = start_of(src), start_of(dst), region.nbytes
        return queue.run(
            lambda stream: lib.cuMemcpyAsync(destination, source, nbytes, stream), "cuMemcpyAsync", waits, region
        )
    plan = _plan(queue, region)
    if isinstance(plan, Launch):
        return submit(queue, plan, waits)
    return queue.run(plan.command, "cuMemcpy3DAsync", waits, region)


def prepare_copy(queue: Queue, region: CopyRegion) -> PreparedCopy | None:
    """Prepare an image copy for repetition; see the contract."""
    src, dst = region.src, region.dst
    if not (queue.prepares and (isinstance(src, ImageMemory) or isinstance(dst, ImageMemory))):
        return None
    large = False
    if isinstance(src, HostMemory) or isinstance(dst, HostMemory):
        width, height, depth = region.extent
        to_device, nbytes = isinstance(src, HostMemory), width * height * depth * region.pixel_size
        large = nbytes >= pinned_staging.smallest(to_device, again=True)
        is_small = large and nbytes < pinned_staging.smallest(to_device, again=False)
        if is_small and not queue.justifies_buffers((region.extent, region.pixel_size, to_device)):
            return None
    plan = _plan(queue, region, again=True, large=large)
    if isinstance(plan, Launch):
        command = prepare(queue, plan)
        return None if command is None else PreparedCopy(command, *places_of(plan, region))
    if plan.struct == "bindless_copy_t" and large:
        return None  # Pinned memory; the array of the next copy need not be pinned.
    return _prepared(queue, plan, "cuMemcpy3DAsync", region)


def prepare_bytes(queue: Queue, dst: int, src: int, nbytes: int, host: tuple[bool, bool]) -> PreparedCopy | None:
    """Prepare a copy of bytes for repetition; see the contract."""
    if not queue.prepares:
        return None
    plan = _plan_of_bytes(queue, dst, src, nbytes, host)
    return None if plan is None else _prepared(queue, plan, "cuMemcpyAsync", f"{nbytes} bytes")


def _plan_of_bytes(queue: Queue, dst: int, src: int, nbytes: int, host: tuple[bool, bool]) -> _Plan | None:
    """How C code copies bytes; None where each copy has to look at its memory."""
    if any(host) and nbytes >= pinned_staging.smallest(host[0], again=True) and pinned_staging.is_possible():
        return None
    return _Plan(
        lambda stream: lib.cuMemcpyAsync(dst, src, nbytes, stream),
        "bindless_bytes_again",
        "bindless_bytes_t",
        (dst, src, nbytes),
        (("source",), ("destination",)),
        (0, 0),
    )


def _prepared(queue: Queue, plan: _Plan, call: str, details: object) -> PreparedCopy | None:
    """The prepared command of a plan; None if the queue prepares no commands."""

    def refused(result: int) -> NoReturn:
        refuse_in_fork()
        fail(result, call, details)

    command = prepared_command(queue, plan.function, plan.struct, plan.members, refused)
    if command is None:
        return None
    structs: list[CData] = command.keep[0]  # type: ignore[index]
    first, second = [
        tuple([int(ffi.cast("uintptr_t", ffi.addressof(one, *member))) for one in structs]) if member else ()
        for member in plan.places
    ]
    return PreparedCopy(command, (first, second), plan.offsets)
