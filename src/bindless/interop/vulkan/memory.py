"""``ExportedMemory``: exported memory of a Vulkan image or buffer."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from ...drivers.common.cffi_types import CData
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.external import ExternalMemDescriptor, ExternalMemHandleType, ResourceFd
from .binding import OPAQUE_FD_MEMORY, binding, device_function, translated

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ExportedMemory", "give_memory"]


class ExportedMemory:
    """Memory that Vulkan allocated to be shared; images and buffers derive from it.

    Attributes
    ----------
    device : VkDevice
        The VkDevice, which the caller keeps until this is closed.
    memory : VkDeviceMemory
        The VkDeviceMemory.
    size : int
        Bytes of the whole allocation, what an import has to tell: the driver's size, not that of the pixels.
    dedicated : bool
        Whether the allocation is dedicated to this object; CUDA needs this at import.
    """

    device: CData
    memory: CData
    size: int
    dedicated: bool

    _destroy: Callable[[], None] | None

    def __init__(self, device: CData, memory: CData, size: int, dedicated: bool, destroy: Callable[[], None]) -> None:
        self.device, self.memory, self.size, self.dedicated = device, memory, size, dedicated
        self._destroy = destroy

    def export(self) -> ExternalMemDescriptor:
        """The descriptor for ``import_external_memory``, with a new file descriptor at each call.

        The file descriptor is the caller's until an import succeeds, which takes it over; one that is never imported is
        closed with ``os.close(descriptor.resource.file_descriptor)``.

        Raises
        ------
        InvalidError
            This is closed.
        FeatureNotSupportedError
            The VkDevice was made without ``VK_KHR_external_memory_fd``.
        """
        self._require_open()
        vk = binding()
        get = device_function(self.device, "vkGetMemoryFdKHR", "VK_KHR_external_memory_fd")
        with translated("exporting memory of Vulkan's"):
            fd = get(self.device, vk.VkMemoryGetFdInfoKHR(memory=self.memory, handleType=OPAQUE_FD_MEMORY))
        kind = ExternalMemHandleType.opaque_fd
        return ExternalMemDescriptor(ResourceFd(int(fd)), kind, self.size, dedicated=self.dedicated)

    def _require_open(self) -> None:
        if self._destroy is None:
            raise InvalidError("this memory of Vulkan's is closed: make another with the Exporter")

    def __reduce__(self) -> NoReturn:
        # Also what copy.copy asks: a copy would destroy Vulkan's objects a second time.
        raise InvalidError("Vulkan's memory has one owner and is not copied: share this object, or export() it")

    def close(self) -> None:
        """Destroys Vulkan's objects; no command of either side uses them any more. Again, it does nothing."""
        destroy, self._destroy = self._destroy, None
        if destroy is not None:
            destroy()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def give_memory(
    physical_device: CData, device: CData, kind: str, item: CData, must_be_dedicated: bool, flags: int = 0
) -> tuple[CData, int, bool, Callable[[], None]]:
    """Memory for export, bound to an image or a buffer that has none; where that fails the object is destroyed.

    Parameters
    ----------
    kind : str
        ``Image`` or ``Buffer``, as Vulkan's functions are named.
    item : VkBuffer | VkImage
        A VkImage or VkBuffer.
    must_be_dedicated : bool
        Whether it cannot be exported otherwise; it is too where the driver prefers that.
    flags : int, default 0
        VkMemoryPropertyFlags that the memory has to have; memory of the device is preferred.

    Returns
    -------
    tuple[Any, int, bool, Callable[[], None]]
        The VkDeviceMemory, its bytes, whether it is dedicated, and what destroys both.

    Raises
    ------
    FeatureNotSupportedError
        No type of memory has these flags.
    MemoryAllocationError
        There is not enough.
    """
    vk = binding()
    handle = {kind.lower(): item}
    memory = None

    def destroy() -> None:
        getattr(vk, f"vkDestroy{kind}")(device, item, None)
        if memory is not None:
            vk.vkFreeMemory(device, memory, None)

    try:
        wish = vk.VkMemoryDedicatedRequirements()
        needs = vk.VkMemoryRequirements2(pNext=wish)
        question = getattr(vk, f"Vk{kind}MemoryRequirementsInfo2")(**handle)
        getattr(vk, f"vkGet{kind}MemoryRequirements2")(device, question, needs)
        dedicated = bool(must_be_dedicated or wish.requiresDedicatedAllocation or wish.prefersDedicatedAllocation)
        own = vk.VkMemoryDedicatedAllocateInfo(**handle) if dedicated else None
        export = vk.VkExportMemoryAllocateInfo(pNext=own, handleTypes=OPAQUE_FD_MEMORY)
        size = int(needs.memoryRequirements.size)  # exactly this size, which importers must give
        index = _memory_type(physical_device, needs.memoryRequirements.memoryTypeBits, flags)
        request = vk.VkMemoryAllocateInfo(pNext=export, allocationSize=size, memoryTypeIndex=index)
        with translated(f"allocating {size} bytes of Vulkan's memory for export"):
            memory = vk.vkAllocateMemory(device, request, None)
        with translated(f"binding the memory of a Vulkan {kind.lower()}"):
            getattr(vk, f"vkBind{kind}Memory")(device, item, memory, 0)
    except BaseException:
        destroy()
        raise
    return memory, size, dedicated, destroy


def _memory_type(physical_device: CData, bits: int, flags: int) -> int:
    """The first of the types ``bits`` with these properties that is the device's own, or else the first."""
    vk = binding()
    properties = vk.vkGetPhysicalDeviceMemoryProperties(physical_device)
    fitting = [
        index
        for index in range(properties.memoryTypeCount)
        if bits >> index & 1 and properties.memoryTypes[index].propertyFlags & flags == flags
    ]
    if not fitting:
        raise FeatureNotSupportedError(
            f"no memory type of this Vulkan device has the property flags {flags:#x} and fits memoryTypeBits={bits:#x}"
        )
    local = vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
    # The first of the preferred: drivers list memory types from the plainest on.
    return min(fitting, key=lambda each: not properties.memoryTypes[each].propertyFlags & local)
