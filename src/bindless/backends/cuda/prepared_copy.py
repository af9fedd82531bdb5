"""Prepared copies of images: one C call per repetition; see ``prepare_copy`` of the contract."""

from __future__ import annotations

from typing import Any, NoReturn

from ...drivers import cuda as driver
from ...model.copy_region import CopyRegion, Endpoint, HostMemory, ImageMemory, UsmMemory
from ..contract.prepared_command import PreparedCommand
from ..contract.prepared_copy import PreparedCopy
from . import pinned_staging
from .copy import place_of, staged_job
from .errors import fail
from .event import Event
from .fork_guard import refuse_in_fork
from .launch import prepare_packed
from .queue import Queue
from .stream import Stream
from .surface_copy import kernel_of_copy

__all__ = ["prepare_copy"]

lib, ffi = driver.lib, driver.ffi


def _address(of: Any) -> int:
    return int(ffi.cast("uintptr_t", of))


_COPY = _address(ffi.addressof(lib, "bindless_copy_again"))
_STAGE = _address(ffi.addressof(lib, "bindless_stage_again"))


def prepare_copy(queue: Queue, region: CopyRegion) -> PreparedCopy | None:
    """Prepare an image copy for repetition: by a kernel, through pinned buffers, or by the driver, as the first copy
    was made.
    """
    src, dst = region.src, region.dst
    if queue.untimed is None or queue.closed or not (isinstance(src, ImageMemory) or isinstance(dst, ImageMemory)):
        return None
    planned = kernel_of_copy(queue, region)
    if planned is not None:
        return PreparedCopy(prepare_packed(queue, *planned), ((), ()))
    job = staged_job(queue, region, again=True)
    if job is not None:
        made = [ffi.new("bindless_staged_t *", (queue.primary.handle, lane.handle, *job)) for lane in queue.ordered]
        places = tuple(_address(ffi.addressof(one, "job", "host")) for one in made)
        to_device = isinstance(src, HostMemory)
        offset = _offset(src if to_device else dst, job[1])
        return PreparedCopy(
            _command(queue, region, _STAGE, made),
            (places, ()) if to_device else ((), places),
            (offset, 0) if to_device else (0, offset),
        )
    on_host = isinstance(src, HostMemory) or isinstance(dst, HostMemory)
    if on_host and region.nbytes >= pinned_staging.smallest(isinstance(src, HostMemory), True):
        return None  # Pinned memory; the array of the next copy need not be pinned.
    width, height, depth = region.extent
    sides = place_of(src, queue.context, region.extent), place_of(dst, queue.context, region.extent)
    box = *sides, width * region.pixel_size, height, depth
    made = [ffi.new("bindless_copy_t *", (queue.primary.handle, lane.handle, *box)) for lane in queue.ordered]
    fields = [
        () if isinstance(end, UsmMemory) else tuple(_address(ffi.addressof(one, side, "place")) for one in made)
        for side, end in (("source", src), ("destination", dst))
    ]
    command = _command(queue, region, _COPY, made)
    return PreparedCopy(command, (fields[0], fields[1]), (_offset(src, sides[0]), _offset(dst, sides[1])))


def _offset(end: Endpoint, side: tuple[int, ...]) -> int:
    return 0 if isinstance(end, ImageMemory) else side[1] - end.address


def _command(queue: Queue, region: CopyRegion, submit: int, made: list[Any]) -> PreparedCommand:
    def refused(result: int) -> NoReturn:
        refuse_in_fork()
        fail(result, "cuMemcpy3DAsync", region)

    return PreparedCommand(
        submit=submit,
        descriptions=tuple(map(_address, made)),
        lanes=queue.ordered,
        mark=Event,
        places=(),
        sizes=(),
        settle=Stream.prepare,
        refused=refused,
        keep=made,
    )
