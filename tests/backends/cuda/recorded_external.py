"""Calls of imports to the CUDA driver, on the driver of ``fake_cuda.c``; ``test_cuda_recording.py`` runs this file."""

from __future__ import annotations

import os

import pytest

import bindless as bl
from bindless.drivers import cuda as driver
from tests.backends.cuda.fake_cuda import Fake
from tests.support.error_checks import raises
from tests.support.shared_files import SharedFile, descriptors, import_semaphore

lib = driver.lib
DESC = bl.ImageDescriptor(16, 8, num_channels=4, channel_type="fp32")


def imported(
    shared: SharedFile, queue: bl.Queue, handle_type: str = "opaque_fd", dedicated: bool = False
) -> bl.ExternalMem:
    resource = bl.ResourceFd(os.dup(shared.fd))
    desc = bl.ExternalMemDescriptor(resource, handle_type, len(shared.bytes), dedicated)
    try:
        return bl.import_external_memory(desc, queue)
    except bl.Error:
        os.close(resource.file_descriptor)
        raise


def test_what_is_asked(queue: bl.Queue, fake: Fake) -> None:
    shared = SharedFile.make(4096)
    for dedicated in (False, True):
        bl.release_external_memory(imported(shared, queue, dedicated=dedicated), queue)
    assert fake.lines("cuImportExternalMemory") == ["cuImportExternalMemory 4096 0", "cuImportExternalMemory 4096 1"]
    memory = imported(shared, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=100, offset=28)
    image = bl.map_external_image_memory(memory, DESC, queue)
    mipmap = bl.ImageDescriptor(16, 8, num_channels=1, channel_type="fp32", type="mipmap", num_levels=3)
    levels = bl.map_external_image_memory(memory, mipmap, queue)
    assert fake.lines("cuExternalMemoryGetMapped") == [
        "cuExternalMemoryGetMappedBuffer 28 100",
        f"cuExternalMemoryGetMappedMipmappedArray 16x8x0 format {lib.CU_AD_FORMAT_FLOAT} channels 4 flags 2 levels 1",
        f"cuExternalMemoryGetMappedMipmappedArray 16x8x0 format {lib.CU_AD_FORMAT_FLOAT} channels 1 flags 2 levels 3",
    ]
    bl.release_external_memory(memory, queue)
    destroyed = len(fake.lines("cuDestroyExternalMemory"))
    bl.unmap_external_image_memory(image, "standard", queue)
    bl.unmap_external_image_memory(levels, "mipmap", queue)
    bl.unmap_external_linear_memory(pointer, queue)
    assert len(fake.lines("cuDestroyExternalMemory")) == destroyed + 1  # with the last mapping
    assert fake.library.fake_live_external() == 0
    shared.close()


def test_a_refusal_leaves_nothing(queue: bl.Queue, fake: Fake) -> None:
    shared, before = SharedFile.make(4096), descriptors()
    fake.fail("cuImportExternalMemory", lib.CUDA_ERROR_UNKNOWN)
    with raises(bl.InvalidError, names=("4096 bytes", "Fake GPU 0")):
        imported(shared, queue)
    with raises(bl.InvalidError, names="dma_buf"):
        imported(shared, queue, "dma_buf")
    memory = imported(shared, queue)
    arrays = fake.library.fake_live_arrays()
    for call in ("cuExternalMemoryGetMappedMipmappedArray", "cuMipmappedArrayGetLevel"):
        fake.fail(call, lib.CUDA_ERROR_INVALID_VALUE)
        with raises(bl.InvalidError, names=call):
            bl.map_external_image_memory(memory, DESC, queue)
        assert fake.library.fake_live_arrays() == arrays
    fake.fail("cuExternalMemoryGetMappedBuffer", lib.CUDA_ERROR_INVALID_VALUE)
    with raises(bl.InvalidError, names="offset 0"):
        bl.map_external_linear_memory(memory, queue, size=10)
    bl.release_external_memory(memory, queue)
    event = os.eventfd(0)
    fake.fail("cuImportExternalSemaphore", lib.CUDA_ERROR_UNKNOWN)
    resource = bl.ResourceFd(os.dup(event))
    with raises(bl.InvalidError, names="GPU"):
        bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(resource, "opaque_fd"), queue)
    os.close(resource.file_descriptor)
    with bl.Queue(queue.device, queue.context, in_order=True) as ordered:
        semaphore = import_semaphore(event, "opaque_fd", ordered)
        for name in ("Wait", "Signal"):
            fake.fail(f"cu{name}ExternalSemaphoresAsync", lib.CUDA_ERROR_INVALID_HANDLE)
            with raises(bl.InvalidError, names=f"cu{name}ExternalSemaphoresAsync"):
                getattr(ordered, f"ext_oneapi_{name.lower()}_external_semaphore")(semaphore)
        bl.release_external_semaphore(semaphore, ordered)
    os.close(event)
    assert fake.library.fake_live_external() == 0 and descriptors() == before
    shared.close()


def test_types_of_handles(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def imported_types() -> list[str]:
        return [str(kind) for kind in bl.ExternalMemHandleType if bl.supports_importing_handle_type(kind, device)]

    native = device._record.native
    known = native._attributes
    for version, supported, wanted in (
        ((13, 0), 1, ["opaque_fd", "dma_buf"]),
        ((13, 0), 0, ["opaque_fd"]),
        ((12, 4), 1, ["opaque_fd"]),
    ):
        monkeypatch.setattr(driver, "version", lambda version=version: version)
        monkeypatch.setitem(known, lib.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, supported)
        assert imported_types() == wanted
