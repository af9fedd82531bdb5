"""External memory: import, and the images and ranges mapped of it (Importing external memory objects).

``model.external`` checks how resource, handle type, size and value agree, for all back ends. A successful import
closes the descriptor, a failed one leaves it (``sycl.device.imported_resource``). A mapped image is a row of the
context's table like that of ``alloc_image_mem``; a mapped range is an ``Allocation`` whose lender unmaps it. Both hold
the import.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from ..backends.contract import BackendProtocol, NativeContext, require_group
from ..backends.contract.native_objects import NativeExternalMemory
from ..bindless_images.context_tables import ListedMemory, MemoryRecord
from ..bindless_images.device_limits import require_format, require_image_type, require_limits, require_type
from ..core.ownership import Rank, Resource
from ..model.aspects import Aspect
from ..model.enums import ImageType, UsmKind, coerce
from ..model.errors import Error, InvalidError
from ..model.external import ExternalMemDescriptor, ExternalMemHandleType
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import ImageMemHandle
from ..model.message_values import shown
from ..submission.command_stream import sweep
from ..sycl.device.device import Device
from ..sycl.device.device_context import Where, resolve
from ..sycl.device.imported_resource import Imported, as_invalid, let_go, of_context, take_over
from ..sycl.usm import UsmArray, UsmPointer

if TYPE_CHECKING:
    from ..submission.owners import StreamContext
    from ..sycl.device.context import Context

__all__ = [
    "ExternalMem",
    "import_external_memory",
    "map_external_image_memory",
    "map_external_linear_memory",
    "release_external_memory",
    "supports_importing_handle_type",
    "unmap_external_image_memory",
    "unmap_external_linear_memory",
]


class ExternalMem(Imported):
    """Memory of another interface or process; ``import_external_memory`` makes one.

    It ends with ``release_external_memory``, or with its last reference. What was mapped of it keeps the memory.

    Attributes
    ----------
    descriptor : ExternalMemDescriptor
        What it was imported from. A file descriptor in it means nothing any more.
    context, device
        Where it was imported.
    """

    __slots__ = ()

    descriptor: ExternalMemDescriptor

    def __init__(
        self, _native: NativeExternalMemory, _descriptor: ExternalMemDescriptor, _device: Device, _context: Context
    ) -> None:
        self._native = _native
        self.descriptor = _descriptor
        self.device = _device
        self.context = _context
        calls = require_group(_context._backend.external_memory, "external memory", _context._backend.backend)
        self._resource = Resource(
            Rank.EXTERNAL, _context._resource, calls.release_memory, _context._native_context, _native
        )

    @property
    def nbytes(self) -> int:
        """Size in bytes, as it was imported."""
        return self.descriptor.size_in_bytes

    def __repr__(self) -> str:
        state = "" if self._resource is not None else ", released"
        return f"<ExternalMem {self._text()}, {self.nbytes} bytes{state}>"


class MappedImage(ListedMemory):
    """Image memory that lies in external memory, which it keeps."""

    __slots__ = ("_external",)

    owner = "external"

    def __init__(self, descriptor: ImageDescriptor, device: Device, number: int, external: Resource) -> None:
        super().__init__(descriptor, device, number)
        self._external = external

    def _hold(self, context: StreamContext) -> MemoryRecord:
        self.levels = levels = list[int]()
        calls = require_group(context._backend.external_memory, "external memory", context._backend.backend)
        unmap, native, desc = calls.unmap_image, context._native_context, self.descriptor
        return MemoryRecord(desc, self.device, self.owner, levels, self._external, unmap, native, self.number, desc)

    def _release(self, backend: BackendProtocol, native: NativeContext) -> None:
        calls = require_group(backend.external_memory, "external memory", backend.backend)
        calls.unmap_image(native, self.number, self.descriptor)


class MappedRange(Resource):
    """The right and duty to unmap linear memory; it keeps the external memory."""

    __slots__ = ()


# ---------------------------------------------------------------------- import


def supports_importing_handle_type(handle_type: ExternalMemHandleType | str, device: Device) -> bool:
    """Tell whether a device imports external memory by handles of one type.

    Parameters
    ----------
    handle_type
        Type of the handle, as in `ExternalMemDescriptor`.
    device
        The device that would import.

    Returns
    -------
    bool
        False also where the device imports no memory at all (``Aspect.ext_oneapi_external_memory_import``).

    Raises
    ------
    InvalidError
        The type is not known, or ``device`` is no device.

    Examples
    --------
    >>> import bindless as bl
    >>> bl.supports_importing_handle_type("win32_nt_dx12_resource", bl.Device("reference"))
    False
    """
    kind = coerce(ExternalMemHandleType, handle_type, "handle_type")
    if not isinstance(device, Device):
        raise InvalidError(f"device={shown(device)} is no Device")
    if not device.has(Aspect.ext_oneapi_external_memory_import):
        return False
    calls = require_group(device._backend.external_memory, "external memory", device._backend.backend)
    return kind in calls.importable_memory(device._record.native)


def import_external_memory(desc: ExternalMemDescriptor, *where: Where) -> ExternalMem:
    """Imports memory that another interface or process exported.

    A successful import takes a file descriptor over: it is closed, by the driver or here. One that raises leaves it.

    Parameters
    ----------
    desc : ExternalMemDescriptor
        The handle, of what kind it is, and the size of the memory.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    ExternalMem
        The imported memory; release it with ``release_external_memory``.

    Raises
    ------
    InvalidError
        The descriptor is closed, of another kind, names less memory, or is refused by the driver; ``where`` is none.
    FeatureNotSupportedError
        The device imports no memory (``Aspect.ext_oneapi_external_memory_import``), or none of this kind.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Importing external memory objects".
    """
    if not isinstance(desc, ExternalMemDescriptor):
        raise InvalidError(f"desc={shown(desc)} is no ExternalMemDescriptor")
    device, context = resolve(where)
    device._require(Aspect.ext_oneapi_external_memory_import, "importing external memory")
    calls = require_group(context._backend.external_memory, "external memory", context._backend.backend)
    native = take_over(desc, lambda: calls.import_memory(context._native, device._record.native, desc))
    return ExternalMem(native, desc, device, context)


def release_external_memory(memory: ExternalMem, *where: Where) -> None:
    """Release imported memory; the native object is destroyed after the last mapping of it.

    Parameters
    ----------
    memory : ExternalMem
        What ``import_external_memory`` returned.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the import.

    Raises
    ------
    InvalidError
        It is not memory of ``import_external_memory``, was released before, or is of another context.
    """
    device, context = resolve(where)
    _require(memory)
    let_go(memory, device, context)


def _require(memory: object) -> None:
    if not isinstance(memory, ExternalMem):
        raise InvalidError(f"{memory!r} is no ExternalMem; import_external_memory makes one")


# ---------------------------------------------------------------------- images


def map_external_image_memory(memory: ExternalMem, desc: ImageDescriptor, *where: Where) -> ImageMemHandle:
    """Image memory that lies in external memory, as ``alloc_image_mem`` would give it.

    It ends with ``unmap_external_image_memory``, not with ``free_image_mem``, and keeps the external memory.

    Parameters
    ----------
    memory : ExternalMem
        What ``import_external_memory`` returned.
    desc : ImageDescriptor
        The image as the other interface made it: standard or a mipmap, of the same size, channels and levels.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the import.

    Returns
    -------
    ImageMemHandle
        The image memory, which ``create_image`` takes; unmap it with ``unmap_external_image_memory``.

    Raises
    ------
    InvalidError
        The descriptor is not valid, of another image type, or takes more than the memory has.
    FeatureNotSupportedError
        The device lacks this type of image or this format.
    """
    _require(memory)
    device, context = resolve(where)
    external = of_context(memory, device, context)
    if not isinstance(desc, ImageDescriptor):
        raise InvalidError(f"desc: {type(desc).__name__} is no ImageDescriptor")
    desc.verify()
    if desc.type not in (ImageType.standard, ImageType.mipmap):
        raise InvalidError(f"type={desc.type}: external memory is mapped as a standard image or a mipmap")
    require_type(device, desc)
    require_format(device, desc)
    require_limits(device, desc, InvalidError)
    if desc.nbytes > memory.nbytes:
        raise InvalidError(f"the image {desc} takes at least {desc.nbytes} bytes, {memory!r} has {memory.nbytes}")
    calls = require_group(context._backend.external_memory, "external memory", context._backend.backend)
    sweep()
    try:
        raw = calls.map_image(context._native, device._record.native, memory._native, desc)
    except Error as error:
        raise as_invalid(error, f"{memory!r} was not mapped as {desc}") from error
    context._images[raw] = MappedImage(desc, device, raw, external)
    return ImageMemHandle(raw)


def unmap_external_image_memory(handle: ImageMemHandle, image_type: ImageType | str, *where: Where) -> None:
    """Ends an image mapped of external memory. Images still made from it, and work in flight, keep it until they end.

    Parameters
    ----------
    handle : ImageMemHandle
        What ``map_external_image_memory`` returned.
    image_type : ImageType | str
        The type that was mapped.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the import.

    Raises
    ------
    InvalidError
        The handle is not of ``map_external_image_memory`` in this context, or was unmapped before, or ``image_type``
        is not what was mapped.
    """
    require_image_type(image_type, "unmap_external_image_memory")
    _, context = resolve(where)
    if not isinstance(handle, ImageMemHandle):
        raise InvalidError(f"{handle!r} is no ImageMemHandle")
    images = context._images
    record = images.get(handle.raw_handle)
    if not isinstance(record, MappedImage):
        what = "is none of this context: it was unmapped already, or mapped in another context"
        if record is not None:
            what = "was not mapped of external memory: free_image_mem or its ImageMem ends it"
        raise InvalidError(f"{handle!r} {what}")
    if record.descriptor.type != image_type:
        kind = coerce(ImageType, image_type, "image_type")
        raise InvalidError(f"image_type={kind}: {handle!r} was mapped as {record.descriptor.type}; pass that")
    for level in record.levels:
        images.pop(level, None)
    if images.pop(handle.raw_handle, None) is None:
        raise InvalidError(f"{handle!r} was unmapped already, by another thread just now")
    try:
        record.end(context._backend, context._native_context)
    except Error as error:
        raise as_invalid(error, f"{handle!r} was not unmapped") from error


# ---------------------------------------------------------------------- linear memory


def _bytes(value: SupportsIndex, name: str, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not an integer; it is bytes") from None
    if number < least:
        raise InvalidError(f"{name}={shown(number)}: at least {least} is needed")
    return number


def map_external_linear_memory(
    memory: ExternalMem, *where: Where, size: SupportsIndex, offset: SupportsIndex = 0
) -> UsmPointer:
    """Device memory that lies in external memory: the host cannot read it.

    It ends with ``unmap_external_linear_memory``, with ``pointer.close()``, or with its last pointer and array, not
    with ``free``, and keeps the external memory. ``pointer.array(shape, dtype)`` sees it as a ``UsmArray``.

    Parameters
    ----------
    memory : ExternalMem
        What ``import_external_memory`` returned.
    size : SupportsIndex
        Bytes.
    offset : SupportsIndex, default 0
        Of the first byte in the external memory.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the import.

    Returns
    -------
    UsmPointer
        A pointer to the range; unmap it with ``unmap_external_linear_memory``.

    Raises
    ------
    InvalidError
        The range leaves the memory, or the driver refuses it.
    """
    _require(memory)
    device, context = resolve(where)
    external = of_context(memory, device, context)
    nbytes, first = _bytes(size, "size", 1), _bytes(offset, "offset", 0)
    if first + nbytes > memory.nbytes:
        raise InvalidError(
            f"{shown(nbytes)} bytes from offset {shown(first)} leave {memory!r}, which has {memory.nbytes}"
        )
    calls = require_group(context._backend.external_memory, "external memory", context._backend.backend)
    native = context._native
    sweep()
    try:
        address = calls.map_linear(native, device._record.native, memory._native, first, nbytes)
    except Error as error:
        raise as_invalid(error, f"{nbytes} bytes from offset {first} of {memory!r} were not mapped") from error
    mapped = MappedRange(Rank.MEMORY, external, calls.unmap_linear, native, address)
    return UsmPointer._adopt(address, nbytes, UsmKind.device, device, context, owned=False, lender=mapped)


def unmap_external_linear_memory(pointer: UsmPointer | UsmArray, *where: Where) -> None:
    """Ends memory mapped of external memory, after the work that uses it.

    Parameters
    ----------
    pointer : UsmPointer | UsmArray
        What ``map_external_linear_memory`` returned.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the import.

    Raises
    ------
    InvalidError
        The pointer is not of ``map_external_linear_memory`` in this context, or was unmapped before.
    """
    _, context = resolve(where)
    if not isinstance(pointer, (UsmPointer, UsmArray)):
        raise InvalidError(f"pointer={shown(pointer)}: give what map_external_linear_memory returned")
    first = pointer.pointer
    owner = first._owner
    if not owner.open:
        raise InvalidError(f"{first!r} was unmapped already, or freed")
    if not isinstance(owner.lender, MappedRange):
        raise InvalidError(f"{first!r} was not mapped of external memory: free ends memory of malloc_*")
    if owner.context is not context:
        raise InvalidError(f"{first!r} was mapped in another context: unmap it there")
    if first._offset:
        raise InvalidError(f"{first!r} points {first._offset} bytes into a mapped range: unmap its first byte")
    try:
        owner.close()
    except Error as error:
        raise as_invalid(error, f"{first!r} was not unmapped") from error
