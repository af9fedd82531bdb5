"""Memory and semaphores by file descriptors: exported, imported, and shared with code outside any driver."""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from typing import Any

import numpy as np

from tests.level_zero_driver.formats import ze_format
from tests.level_zero_driver.rig import FOREVER, Rig, ffi, group_count, lib

DMA_BUF, OPAQUE_FD = lib.ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, lib.ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD
ADD = "kernel void add(global int *sum, int term) { sum[get_global_id(0)] += term; }"


def _importing(rig: Rig, fd: int, kind: int = OPAQUE_FD) -> Any:
    return rig.struct("ze_external_memory_import_fd_t", flags=kind, fd=fd)


def _exporting(rig: Rig, kinds: int = OPAQUE_FD | DMA_BUF) -> Any:
    return rig.struct("ze_external_memory_export_desc_t", flags=kinds)


def _exported(rig: Rig, pointer: Any, kind: int = OPAQUE_FD) -> int:
    """The file descriptor of an exportable allocation."""
    export = rig.struct("ze_external_memory_export_fd_t", flags=kind)
    properties = rig.struct("ze_memory_allocation_properties_t", export)
    rig.call("zeMemGetAllocProperties", rig.context, pointer, properties, ffi.NULL)
    assert properties.type == lib.ZE_MEMORY_TYPE_DEVICE
    return int(export.fd)


def check_properties(rig: Rig) -> None:
    properties = rig.struct("ze_device_external_memory_properties_t")
    rig.call("zeDeviceGetExternalMemoryProperties", rig.device, properties)
    for name in ("memoryAllocationImportTypes", "memoryAllocationExportTypes", "imageImportTypes", "imageExportTypes"):
        assert getattr(properties, name) == OPAQUE_FD | DMA_BUF


def check_memory_is_shared(rig: Rig) -> None:
    """One allocation, exported, imported again, and mapped by Python: all read a kernel's writes."""
    memory = rig.memory(4096, "Device", _exporting(rig))
    fd = _exported(rig, memory, DMA_BUF)
    again = rig.memory(4096, "Device", _importing(rig, fd))
    view = np.frombuffer(mmap.mmap(fd, 4096), np.int32)
    os.close(fd)
    view[:] = np.arange(1024)
    rig.launch(rig.compiled(ADD, "add"), (1024,), again, np.int32(5))
    assert np.array_equal(view, np.arange(1024) + 5)
    found = np.zeros(1024, np.int32)
    rig.append("zeCommandListAppendMemoryCopy", ffi.from_buffer(found), memory, 4096)
    assert np.array_equal(found, view)


def check_importers_cannot_shrink_the_file(rig: Rig) -> None:
    """A process that touches a removed page ends with SIGBUS."""
    fd = _exported(rig, rig.memory(4096, "Device", _exporting(rig)))
    with contextlib.suppress(PermissionError):
        os.ftruncate(fd, 0)
    assert os.fstat(fd).st_size == 4096
    os.close(fd)


def check_memory_of_the_host_is_shared(rig: Rig) -> None:
    """Host memory, exported and imported again."""
    slots = []
    fd = -1
    for link in ("export", "import"):
        slot = ffi.new("void **")
        chained = _exporting(rig) if link == "export" else _importing(rig, fd)
        rig.call("zeMemAllocHost", rig.context, rig.struct("ze_host_mem_alloc_desc_t", chained), 4096, 0, slot)
        if link == "export":
            export = rig.struct("ze_external_memory_export_fd_t", flags=OPAQUE_FD)
            properties = rig.struct("ze_memory_allocation_properties_t", export)
            rig.call("zeMemGetAllocProperties", rig.context, slot[0], properties, ffi.NULL)
            assert properties.type == lib.ZE_MEMORY_TYPE_HOST
            fd = int(export.fd)
        slots.append(slot[0])
    os.close(fd)
    ffi.cast("int32_t *", slots[0])[7] = 42
    rig.launch(rig.compiled(ADD, "add"), (8,), slots[1], np.int32(5))
    assert ffi.cast("int32_t *", slots[0])[7] == 47
    for pointer in slots:
        rig.call("zeMemFree", rig.context, pointer)


def check_physical_memory_is_shared(rig: Rig) -> None:
    """Physical memory, exported and imported as new physical memory: both share the second page."""
    size = ffi.new("size_t *")
    rig.call("zeVirtualMemQueryPageSize", rig.context, rig.device, 1, size)
    page = int(size[0])
    hint = ffi.cast("void *", 1 << 44)  # validation layer 1.8 requires an address

    def mapped(chained: Any) -> tuple[Any, Any]:
        desc = rig.struct("ze_physical_mem_desc_t", chained, size=2 * page)
        physical, virtual = rig.handle("ze_physical_mem_handle_t"), ffi.new("void **")
        rig.call("zePhysicalMemCreate", rig.context, rig.device, desc, physical)
        rig.call("zeVirtualMemReserve", rig.context, hint, page, virtual)
        rig.call("zeVirtualMemMap", rig.context, virtual[0], page, physical[0], page, 1)
        return physical[0], virtual[0]

    first, there = mapped(_exporting(rig))
    export = rig.struct("ze_external_memory_export_fd_t", flags=DMA_BUF)
    properties = rig.struct("ze_physical_mem_properties_t", export)
    rig.call("zePhysicalMemGetProperties", rig.context, first, properties)
    assert properties.size == 2 * page
    second, here = mapped(_importing(rig, export.fd, DMA_BUF))
    view = np.frombuffer(mmap.mmap(export.fd, 2 * page), np.int32)
    rig.launch(rig.compiled(ADD, "add"), (8,), there, np.int32(3))
    rig.launch(rig.compiled(ADD, "add"), (8,), here, np.int32(4))
    assert list(view[page // 4 : page // 4 + 9]) == [7] * 8 + [0]
    os.close(export.fd)
    plain, other = mapped(None)
    rig.fails("INVALID_ARGUMENT", "", "zePhysicalMemGetProperties", rig.context, plain, properties)
    rig.fails("INVALID_ARGUMENT", "", "zePhysicalMemGetProperties", rig.context, second, properties)
    for physical, virtual in ((first, there), (second, here), (plain, other)):
        rig.call("zeVirtualMemFree", rig.context, virtual, page)
        rig.call("zePhysicalMemDestroy", rig.context, physical)


def check_foreign_files_are_imported(rig: Rig) -> None:
    fd = os.memfd_create("pixels")
    os.ftruncate(fd, 8192)
    view = np.frombuffer(mmap.mmap(fd, 8192), np.float32)
    view[: 6 * 8] = np.arange(48)
    chain = rig.struct("ze_image_bindless_exp_desc_t", _importing(rig, fd), flags=1)
    image = rig.image(rig.image_desc(ze_format("32", "FLOAT"), 8, 6, next=chain))
    assert np.array_equal(rig.download(image, view[:48].reshape(6, 8)), np.arange(48).reshape(6, 8))
    rig.upload(image, np.full((6, 8), 2, np.float32))
    assert (view[:48] == 2).all() and not view[48:].any()
    assert rig.offset(image) != 0
    big = rig.image_desc(ze_format("32", "FLOAT"), 8, 257, next=_importing(rig, fd))
    slot = rig.handle("ze_image_handle_t")
    rig.fails("INVALID_SIZE", "8192 bytes", "zeImageCreate", rig.context, rig.device, big, slot)
    os.close(fd)


def check_images_are_exported(rig: Rig) -> None:
    image = rig.image(rig.image_desc(ze_format("16", "UINT"), 20, 10, next=_exporting(rig)))
    pixels = np.random.default_rng(10).integers(0, 2**16, (10, 20)).astype(np.uint16)
    rig.upload(image, pixels)
    export = rig.struct("ze_external_memory_export_fd_t", flags=OPAQUE_FD)
    properties = rig.struct("ze_image_allocation_ext_properties_t", export)
    rig.call("zeImageGetAllocPropertiesExt", rig.context, image, properties)
    found = np.frombuffer(mmap.mmap(export.fd, 400), np.uint16).reshape(10, 20)
    os.close(export.fd)
    assert np.array_equal(found, pixels)


def check_memory_refused(rig: Rig) -> None:
    pointer = ffi.new("void **")

    def refused(expected: str, sentence: str, chain: Any, size: int = 4096, alignment: int = 0) -> None:
        desc = rig.struct("ze_device_mem_alloc_desc_t", chain)
        rig.fails(expected, sentence, "zeMemAllocDevice", rig.context, desc, size, alignment, rig.device, pointer)

    refused("INVALID_ARGUMENT", "not an open file descriptor", _importing(rig, 12345))
    refused("UNSUPPORTED_ENUMERATION", "OPAQUE_FD", _importing(rig, 0, 64))
    refused("INVALID_ENUMERATION", "needed", _importing(rig, 0, 0))
    read_end, write_end = os.pipe()
    refused("INVALID_ARGUMENT", "names no memory", _importing(rig, read_end))
    os.close(read_end)
    os.close(write_end)
    refused("UNSUPPORTED_ENUMERATION", "OPAQUE_FD", _exporting(rig, 1 | 16))
    refused("UNSUPPORTED_SIZE", "possible", _exporting(rig), 2**62)
    refused("UNSUPPORTED_ALIGNMENT", "4096", _exporting(rig), 4096, 1 << 20)
    both = rig.struct("ze_external_memory_export_desc_t", _importing(rig, 0), flags=1)
    refused("INVALID_ARGUMENT", "not both", both)
    export = rig.struct("ze_external_memory_export_fd_t", flags=OPAQUE_FD)
    properties = rig.struct("ze_memory_allocation_properties_t", export)
    name = "zeMemGetAllocProperties"
    rig.fails(
        "INVALID_ARGUMENT", "cannot be exported", name, rig.context, rig.memory(64, "Device"), properties, ffi.NULL
    )


# ---------------------------------------------------------------------- semaphores

BINARY = lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD
TIMELINE = lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD


def _semaphore(rig: Rig, fd: int, kind: int) -> Any:
    chain = rig.struct("ze_external_semaphore_fd_ext_desc_t", fd=fd)
    desc = rig.struct("ze_external_semaphore_ext_desc_t", chain, flags=kind)
    destroy = "zeDeviceReleaseExternalSemaphoreExt"
    return rig.make(
        "ze_external_semaphore_ext_handle_t", "zeDeviceImportExternalSemaphoreExt", destroy, rig.device, desc
    )


def _append(rig: Rig, what: str, semaphore: Any, value: int = 0) -> None:
    parameters = rig.struct(f"ze_external_semaphore_{what.lower()}_params_ext_t", value=value)
    array = ffi.new("ze_external_semaphore_ext_handle_t[]", [semaphore])
    name = f"zeCommandListAppend{what}ExternalSemaphoreExt"
    rig.call(name, rig.list, 1, array, parameters, ffi.NULL, 0, ffi.NULL)


def _add_after(rig: Rig, wait: Any, signal: Any, value: int) -> Any:
    """Submit a kernel between a wait and a signal; return the array that it changes."""
    kernel = rig.compiled(ADD, "add")
    pointer, sums = rig.array(np.zeros(4, np.int32))
    rig.set(kernel, pointer, np.int32(1))
    _append(rig, "Wait", wait, value)
    rig.call("zeCommandListAppendLaunchKernel", rig.list, kernel, group_count(4), ffi.NULL, 0, ffi.NULL)
    _append(rig, "Signal", signal, value + 1)
    return sums


def check_eventfds(rig: Rig) -> None:
    """The list waits until an eventfd is written from outside, and its signal is readable from outside."""
    given, told = os.eventfd(0), os.eventfd(0)
    sums = _add_after(rig, _semaphore(rig, given, BINARY), _semaphore(rig, told, BINARY), 0)
    assert rig.result("zeCommandListHostSynchronize", rig.list, 0) == lib.ZE_RESULT_NOT_READY and not sums.any()
    os.eventfd_write(given, 1)
    assert os.eventfd_read(told) == 1 and (sums == 1).all()
    rig.call("zeCommandListHostSynchronize", rig.list, FOREVER)
    os.close(given)
    os.close(told)


def check_timelines(rig: Rig) -> None:
    fd = os.memfd_create("timeline")
    os.ftruncate(fd, 8)
    value = np.frombuffer(mmap.mmap(fd, 8), np.uint64)
    semaphore = _semaphore(rig, fd, TIMELINE)
    os.close(fd)
    sums = _add_after(rig, semaphore, semaphore, 5)
    value[0] = 4
    assert rig.result("zeCommandListHostSynchronize", rig.list, 0) == lib.ZE_RESULT_NOT_READY and not sums.any()
    setter = threading.Thread(target=lambda: value.__setitem__(0, 5))
    setter.start()
    rig.call("zeCommandListHostSynchronize", rig.list, FOREVER)
    setter.join()
    assert value[0] == 6 and (sums == 1).all()
    _append(rig, "Signal", semaphore, 3)  # the value never decreases
    rig.call("zeCommandListHostSynchronize", rig.list, FOREVER)
    assert value[0] == 6


def check_semaphores_refused(rig: Rig) -> None:
    slot = rig.handle("ze_external_semaphore_ext_handle_t")
    name = "zeDeviceImportExternalSemaphoreExt"

    def desc(fd: int, flags: int) -> Any:
        return rig.struct(
            "ze_external_semaphore_ext_desc_t", rig.struct("ze_external_semaphore_fd_ext_desc_t", fd=fd), flags=flags
        )

    rig.fails("INVALID_ARGUMENT", "not an open file", name, rig.device, desc(12345, BINARY), slot)
    fd = os.memfd_create("short")
    rig.fails("INVALID_ARGUMENT", "an eventfd or", name, rig.device, desc(fd, BINARY), slot)
    rig.fails("INVALID_ARGUMENT", "8 bytes", name, rig.device, desc(fd, TIMELINE), slot)
    os.close(fd)
    rig.fails("UNSUPPORTED_ENUMERATION", "supported", name, rig.device, desc(0, 2), slot)
    rig.fails("INVALID_ENUMERATION", "needed", name, rig.device, desc(0, 0), slot)
    rig.fails(
        "INVALID_ARGUMENT", "chain", name, rig.device, rig.struct("ze_external_semaphore_ext_desc_t", flags=1), slot
    )
    wait = "zeCommandListAppendWaitExternalSemaphoreExt"
    event = os.eventfd(0)
    array = ffi.new("ze_external_semaphore_ext_handle_t[]", [_semaphore(rig, event, BINARY)])
    os.close(event)
    good = rig.struct("ze_external_semaphore_wait_params_ext_t")
    wrong = rig.struct("ze_external_semaphore_signal_params_ext_t")
    end = (ffi.NULL, 0, ffi.NULL)
    rig.fails("INVALID_SIZE", "numSemaphores", wait, rig.list, 0, array, good, *end)
    rig.fails(
        "INVALID_ARGUMENT",
        "stype",
        wait,
        rig.list,
        1,
        array,
        ffi.cast("ze_external_semaphore_wait_params_ext_t *", wrong),
        *end,
    )
    rig.fails("INVALID_NULL_POINTER", "waitParams", wait, rig.list, 1, array, ffi.NULL, *end)
