"""UsmArrays as DLPack capsules: ``__dlpack__`` and ``__dlpack_device__``."""

from __future__ import annotations

import operator

from ...core import ownership
from ...model.dlpack import DLDeviceType, DLFlag, dlpack_type
from ...model.enums import UsmKind
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...submission.command_stream import events_of_users
from ...submission.foreign_stream import place_stream_after, stream_handle
from .elements import Elements

try:
    from . import _dlpack as capsules
except ImportError as error:  # a checkout whose extension modules were not built
    raise ImportError(
        f"bindless.sycl.usm._dlpack, which makes DLPack capsules, is not built ({error}): install the package with "
        "pip, which builds it, or build csrc/dlpack"
    ) from error

__all__ = ["capsules", "dlpack_place", "export_dlpack"]

Place = tuple[int, int]  # DLDeviceType, number of the device

HOST: Place = (DLDeviceType.cpu, 0)
_NO_STREAM = -1  # "do not synchronize"
_LEGACY_DEFAULT_STREAM = 1

_CUDA_TYPES = {
    UsmKind.device: DLDeviceType.cuda,
    UsmKind.host: DLDeviceType.cuda_host,
    UsmKind.shared: DLDeviceType.cuda_managed,
}


def dlpack_place(array: Elements) -> Place:
    """Type and number of the device, as DLPack counts them.

    All memory of the reference device is the host's, and so is ordinary host memory that a device was lent. Host and
    shared memory of CUDA have the number 0. Memory of other backends is oneAPI's whatever its kind, by the number of
    the device in its backend: its consumers find the kind themselves, and the host asks with ``dl_device``.
    """
    memory = array.context._backend.traits.device_memory
    if memory is DLDeviceType.cpu or array._owner.ordinary:
        return HOST
    if memory is DLDeviceType.cuda:
        kind = array.kind
        return _CUDA_TYPES[kind], array.device.index if kind is UsmKind.device else 0
    return memory, array.device.index


def export_dlpack(
    array: Elements, stream: object, max_version: tuple[int, int] | None, dl_device: Place | None, copy: bool | None
) -> object:
    """See ``UsmArray.__dlpack__``."""
    place = dlpack_place(array)
    target = place if dl_device is None else _place(dl_device)
    if target not in (place, HOST):
        raise BufferError(
            f"dl_device={target}: this array can be given at {place}, where it lies, or at {HOST}, the host; "
            "copy it to another device first"
        )
    element = dlpack_type(array.dtype)
    if element is None:
        raise BufferError(f"DLPack has no elements of dtype {array.dtype}: export the bytes, array.view('uint8')")
    itemsize = array.dtype.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise BufferError(f"strides {array.strides} are no multiples of {itemsize} bytes, and DLPack counts elements")
    versioned = max_version is not None and max_version[0] >= 1
    flags = DLFlag(0)
    to_host = target == HOST != place
    if to_host and array.kind is UsmKind.device:
        if copy is False:
            raise BufferError("device memory comes to the host only as a copy, and copy=False forbids one")
        host = array.numpy()
        strides = tuple(stride // itemsize for stride in host.strides)
        address = int(host.__array_interface__["data"][0])
        return capsules.make_capsule(host, address, HOST, element, host.shape, strides, DLFlag.copied, versioned)
    if copy:
        array, flags = array.copy(), DLFlag.copied
    elif array._owner.read_only:
        if not versioned:
            raise BufferError(
                "the memory is read-only, which only DLPack 1.0 can say: ask with max_version=(1, 0), or for a copy"
            )
        flags = DLFlag.read_only
    _synchronize(array, target, stream)
    lease = array._owner.lease()
    strides = tuple(stride // itemsize for stride in array.strides)
    return capsules.make_capsule(lease, array.address, target, element, array.shape, strides, flags, versioned)


def _place(dl_device: Place) -> Place:
    try:
        kind, number = map(operator.index, dl_device)
    except (TypeError, ValueError):
        raise InvalidError(f"dl_device={shown(dl_device)}: it is (type, number) of a DLPack device") from None
    return kind, number


def _synchronize(array: Elements, place: Place, stream: object) -> None:
    """Orders the consumer after the work submitted here that uses the memory; the host waits if it is the consumer."""
    on_cuda = place[0] in _CUDA_TYPES.values()
    if not on_cuda and stream is not None and stream != _NO_STREAM:
        raise BufferError(
            f"stream={shown(stream)}: memory at {place} has no streams; it is None, or -1 to leave it unordered"
        )
    if stream == _NO_STREAM and not isinstance(stream, bool):
        return
    if on_cuda and (stream is not None or place[0] == DLDeviceType.cuda):
        handle = _LEGACY_DEFAULT_STREAM if stream is None else stream_handle(stream)
        place_stream_after(array.context, array.device, handle, events_of_users(array._owner))
        return
    for event in events_of_users(array._owner):
        event.wait()


ownership.at_exit(capsules.finish)
