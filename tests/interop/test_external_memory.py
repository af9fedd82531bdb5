"""External memory: import, mapped images and ranges, lifetimes and refusals.

The exporter is a file in memory, whose bytes the test reads: it is the same on every device that maps files.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.shared_files import SharedFile, descriptors, descriptors_return_to, import_file, import_semaphore

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of memory are Linux's"),
    pytest.mark.usefixtures("files"),
]

SHAPES = {1: (37,), 2: (13, 37), 3: (5, 7, 9)}
FORMATS = [
    ("unsigned_int8", 4, np.uint8),
    ("unorm_int8", 1, np.uint8),
    ("signed_int16", 2, np.int16),
    ("fp16", 4, np.float16),
    ("fp32", 1, np.float32),
    ("fp32", 4, np.float32),
    ("unsigned_int32", 2, np.uint32),
]


@pytest.fixture
def shared() -> Iterator[SharedFile]:
    made = SharedFile.make(1 << 16)
    yield made
    made.close()


def descriptor_of(shape: tuple[int, ...], channels: int, channel_type: str, **more: Any) -> bl.ImageDescriptor:
    return bl.ImageDescriptor(*reversed(shape), num_channels=channels, channel_type=channel_type, **more)


def random_pixels(shape: tuple[int, ...], dtype: Any, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


DESC = descriptor_of((48, 64), 4, "unsigned_int8")


def pitch_of(queue: bl.Queue) -> int:
    """Row pitch in bytes of an image in linear memory, larger than the row."""
    return max(512, int(queue.device.get_info("image_row_pitch_align")))


# ---------------------------------------------------------------------- images


@pytest.mark.parametrize("dimensions", SHAPES)
@pytest.mark.parametrize(("channel_type", "channels", "dtype"), FORMATS)
def test_images_of_every_kind(
    queue: bl.Queue, shared: SharedFile, dimensions: int, channel_type: str, channels: int, dtype: Any
) -> None:
    """What lies in the memory is the image's pixels, in both directions (R57)."""  # R57
    shape = SHAPES[dimensions]
    desc = descriptor_of(shape, channels, channel_type)
    written, wanted = (random_pixels((*shape, channels), dtype, seed) for seed in (1, 2))
    pixels = shared.seen(written.shape, dtype)
    pixels[...] = written
    memory = import_file(shared, queue)
    handle = bl.map_external_image_memory(memory, desc, queue)
    found = np.zeros_like(written)
    queue.ext_oneapi_copy(handle, found, src_desc=desc).wait()
    assert np.array_equal(found, written)
    queue.ext_oneapi_copy(wanted, handle, dst_desc=desc).wait()
    assert np.array_equal(pixels, wanted)
    assert tuple(bl.get_image_range(handle, queue)) == (desc.width, desc.height, desc.depth)
    assert bl.get_image_channel_type(handle, queue) == channel_type
    bl.unmap_external_image_memory(handle, "standard", queue)
    bl.release_external_memory(memory, queue)


def test_levels_of_a_mipmap(queue: bl.Queue, device: bl.Device, shared: SharedFile) -> None:
    if not device.has("ext_oneapi_mipmap"):
        mipmap = descriptor_of((32, 32), 1, "fp32", type="mipmap", num_levels=3)
        memory = import_file(shared, queue)
        with raises(bl.FeatureNotSupportedError, names="ext_oneapi_mipmap"):
            bl.map_external_image_memory(memory, mipmap, queue)
        return
    desc = descriptor_of((24, 32), 2, "fp32", type="mipmap", num_levels=5)
    memory = import_file(shared, queue)
    handle = bl.map_external_image_memory(memory, desc, queue)
    offset = 0
    for number in range(5):
        level_desc = desc.get_mip_level_desc(number)
        pixels = shared.seen((level_desc.height, level_desc.width, 2), np.float32, offset)
        pixels[...] = random_pixels(pixels.shape, np.float32, number)
        offset += pixels.nbytes
        level = bl.get_mip_level_mem_handle(handle, number, queue)
        found = np.zeros(pixels.shape, np.float32)
        queue.ext_oneapi_copy(level, found, src_desc=level_desc).wait()
        assert np.array_equal(found, pixels)
    bl.unmap_external_image_memory(handle, "mipmap", queue)


def test_sampled_and_written_in_place(queue: bl.Queue, shared: SharedFile) -> None:
    """A sampler reads the exporter's writes, and the exporter reads a kernel's writes."""
    desc = descriptor_of((8, 16), 4, "fp32")
    pixels = shared.seen((8, 16, 4), np.float32)
    pixels[...] = random_pixels(pixels.shape, np.float32, 3)
    memory = import_file(shared, queue)
    handle = bl.map_external_image_memory(memory, desc, queue)
    sampled = bl.create_image(handle, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", filtering="linear"))
    y, x = np.divmod(np.arange(128), 16)
    coords = np.stack([x + 0.5, y + 0.5], 1).astype(np.float32)
    assert np.array_equal(bl.sample_image(queue, sampled, coords), pixels.reshape(-1, 4))
    between = bl.sample_image(queue, sampled, np.float32([[4.0, 2.5]]))  # half way from pixel 3 to pixel 4
    assert np.allclose(between[0], (pixels[2, 3] + pixels[2, 4]) / 2, atol=0.5)
    unsampled = bl.create_image(handle, desc, queue)
    colours = random_pixels((128, 4), np.float32, 4)
    bl.write_image(queue, unsampled, np.stack([x, y], 1).astype(np.int32), colours)
    queue.wait()
    assert np.array_equal(pixels.reshape(-1, 4), colours)
    bl.unmap_external_image_memory(handle, "standard", queue)
    assert np.array_equal(bl.fetch_image(queue, unsampled, np.int32([[3, 2]])), colours[35:36])  # it keeps memory alive
    bl.destroy_image_handle(sampled, queue)
    bl.destroy_image_handle(unsampled, queue)


# ---------------------------------------------------------------------- linear memory


def test_dma_buf(queue: bl.Queue, device: bl.Device, shared: SharedFile) -> None:
    """Processor drivers treat a dma-buf as ordinary memory."""
    desc = shared.descriptor(handle_type="dma_buf")
    if device.backend == "cuda":
        with raises(bl.InvalidError, names="dma_buf"):
            bl.import_external_memory(desc, queue)
        assert isinstance(desc.resource, bl.ResourceFd)
        os.close(desc.resource.file_descriptor)
        return
    shared.bytes[:] = 6
    array = bl.map_external_linear_memory(bl.import_external_memory(desc, queue), queue, size=64).array(64, np.uint8)
    assert (array.numpy(queue) == 6).all()


def test_ranges(queue: bl.Queue, shared: SharedFile) -> None:
    memory = import_file(shared, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=4096, offset=1024)
    assert isinstance(pointer, bl.UsmPointer) and pointer.kind == "device" and pointer.nbytes == 4096  # R73
    assert bl.get_pointer_type(pointer, queue.context) == "device"
    array = pointer.array((32, 32), np.float32)
    for on_host in (np.asarray, memoryview):
        with pytest.raises(TypeError):  # R73
            on_host(array)
    assert array.shape == (32, 32) and array.address == pointer.address
    queue.fill(array, np.float32(2.5), 1024).wait()
    assert (shared.seen((1024,), np.float32, 1024) == 2.5).all()
    assert not shared.bytes[:1024].any() and not shared.bytes[5120:].any()
    shared.seen((1024,), np.float32, 1024)[...] = np.arange(1024)
    assert np.array_equal(array.numpy(queue).reshape(-1), np.arange(1024))
    inner = (pointer + 4000).array(24, np.uint8)
    queue.fill(inner, 7, 24).wait()
    assert (shared.bytes[5024:5048] == 7).all()
    for shape in ((1025,), (33, 32)):
        with raises(bl.InvalidError, names=4096):
            pointer.array(shape, np.float32)
    bl.unmap_external_linear_memory(pointer, queue)
    with raises(bl.InvalidError):
        queue.fill(array, np.float32(1), 1)


def test_copies_between_both_maps(queue: bl.Queue, shared: SharedFile) -> None:
    """Linear memory and an image of one import, with a pitch of its own."""  # R57
    pixels, pitch = random_pixels((48, 64, 4), np.uint8, 5), pitch_of(queue)
    shared.seen((48, pitch // 4, 4), np.uint8, 12288)[:, :64] = pixels
    memory = import_file(shared, queue)
    handle = bl.map_external_image_memory(memory, DESC, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=48 * pitch, offset=12288)
    queue.ext_oneapi_copy(pointer, handle, src_desc=DESC, dst_desc=DESC, src_pitch=pitch).wait()
    assert np.array_equal(shared.seen(pixels.shape, np.uint8), pixels)


@pytest.mark.cuda
def test_surfaces_of_large_copies_end_with_the_map(
    queue: bl.Queue, shared: SharedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA's copy kernels cache surfaces; another image may soon reuse the handle."""
    monkeypatch.setattr("bindless.backends.cuda.surface_copy.SMALLEST", 1)
    memory, copied = import_file(shared, queue), queue.context._native.copied
    handle = bl.map_external_image_memory(memory, DESC, queue)
    with bl.ImageMem(DESC, queue) as other:
        queue.ext_oneapi_copy(handle, other, src_desc=DESC).wait()
        assert handle.raw_handle in copied
        bl.unmap_external_image_memory(handle, DESC.type, queue)
        assert handle.raw_handle not in copied
    bl.release_external_memory(memory, queue)


def test_sampled_linear_memory(queue: bl.Queue, shared: SharedFile) -> None:
    pitch = pitch_of(queue)
    pixels = shared.seen((48, pitch), np.uint8, 4096)
    pixels[...] = random_pixels((48, pitch), np.uint8, 6)
    memory = import_file(shared, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=48 * pitch, offset=4096)
    image = bl.create_image(pointer, DESC, queue, sampler=bl.BindlessImageSampler("clamp_to_edge"), pitch=pitch)
    found = bl.sample_image(queue, image, np.float32([[10.5, 20.5], [63.5, 47.5]]))
    assert np.array_equal(found, [pixels[20, 40:44], pixels[47, 252:256]])
    bl.destroy_image_handle(image, queue)


# ---------------------------------------------------------------------- ownership


def test_an_import_takes_the_descriptor_over(queue: bl.Queue, shared: SharedFile) -> None:
    """The import closes the descriptor exactly once; a failed import leaves it open."""
    before = descriptors()
    for _ in range(3):
        fd = os.dup(shared.fd)
        memory = bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(fd), "opaque_fd", 4096), queue)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)
        with raises(bl.InvalidError):  # the import owns the descriptor
            bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(fd), "opaque_fd", 4096), queue)
        pointer = bl.map_external_linear_memory(memory, queue, size=100)
        bl.release_external_memory(memory, queue)
        bl.unmap_external_linear_memory(pointer, queue)
        assert descriptors_return_to(before)
    with pytest.raises(bl.InvalidError):
        bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(shared.fd), "opaque_fd", 1 << 20), queue)
    assert os.fstat(shared.fd).st_size == 1 << 16 and descriptors_return_to(before)


def test_what_was_mapped_outlives_the_import(queue: bl.Queue, device: bl.Device, shared: SharedFile) -> None:
    before = descriptors()
    memory = import_file(shared, queue)
    handle = bl.map_external_image_memory(memory, DESC, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=4096, offset=32768)
    bl.release_external_memory(memory, queue)
    shared.bytes[:] = 9
    found = np.zeros((48, 64, 4), np.uint8)
    queue.ext_oneapi_copy(handle, found, src_desc=DESC).wait()
    queue.memset(pointer, 8, 4096).wait()
    assert (found == 9).all() and (shared.bytes[32768:36864] == 8).all()
    for use in (
        lambda: bl.map_external_image_memory(memory, DESC, queue),
        lambda: bl.map_external_linear_memory(memory, queue, size=1),
        lambda: bl.release_external_memory(memory, queue),
        lambda: memory.raw_handle,
    ):
        with raises(bl.InvalidError):
            use()
    bl.unmap_external_image_memory(handle, "standard", queue)
    del pointer
    gc.collect()
    assert descriptors_return_to(before)


def test_dropping_everything_leaks_nothing(device: bl.Device, shared: SharedFile) -> None:
    before = descriptors()
    for _ in range(3):
        context = bl.Context(device)
        with bl.Queue(device, context, in_order=True) as queue:
            memory = import_file(shared, device, context)
            assert memory.raw_handle != 0 and memory.nbytes == 1 << 16
            handle = bl.map_external_image_memory(memory, DESC, device, context)
            array = bl.map_external_linear_memory(memory, device, context, size=1 << 16).array(1 << 16, np.uint8)
            queue.fill(array, 3, 1 << 16)
            queue.ext_oneapi_copy(np.ones((48, 64, 4), np.uint8), handle, dst_desc=DESC)
            del memory, array  # pending work keeps both alive
            queue.wait()
        assert (shared.bytes[: 48 * 64 * 4] == 1).all() and (shared.bytes[48 * 64 * 4 :] == 3).all()
        context.close()
        del context, queue, handle
        gc.collect()
        assert descriptors_return_to(before)


def test_released_while_work_is_pending(device: bl.Device, context: bl.Context, shared: SharedFile) -> None:
    """Pending work keeps its memory, although the caller releases and unmaps it meanwhile."""
    gate = threading.Event()
    with bl.Queue(device, context, in_order=True) as queue:
        memory = import_file(shared, queue)
        handle = bl.map_external_image_memory(memory, DESC, queue)
        queue.submit(lambda handler: handler.host_task(gate.wait))
        pixels = random_pixels((48, 64, 4), np.uint8, 7)
        done = queue.ext_oneapi_copy(pixels, handle, dst_desc=DESC)
        bl.unmap_external_image_memory(handle, "standard", queue)
        bl.release_external_memory(memory, queue)
        del memory
        gate.set()
        done.wait()
    assert np.array_equal(shared.seen(pixels.shape, np.uint8), pixels)


def test_imported_memory_is_not_freed(queue: bl.Queue, shared: SharedFile) -> None:
    memory = import_file(shared, queue)
    handle = bl.map_external_image_memory(memory, DESC, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=64)
    with raises(bl.MemoryAllocationError, names="unmap_external_image_memory"):  # R74
        bl.free_image_mem(handle, "standard", queue)
    with raises(bl.InvalidError):  # R74
        bl.free(pointer, queue)
    own = bl.malloc_device(64, queue)
    image = bl.alloc_image_mem(DESC, queue)
    for wrong, call in (
        (own, bl.release_external_memory),
        (7, bl.release_external_memory),
        (handle, bl.release_external_memory),
        (own, bl.unmap_external_linear_memory),
        (pointer + 8, bl.unmap_external_linear_memory),
        (memory, bl.unmap_external_linear_memory),
    ):
        with pytest.raises(bl.InvalidError):  # R74
            call(wrong, queue)
    for wrong_handle, image_type in ((image, "standard"), (handle, "mipmap"), (bl.ImageMemHandle(12345), "standard")):
        with pytest.raises(bl.InvalidError):
            bl.unmap_external_image_memory(wrong_handle, image_type, queue)
    bl.free_image_mem(image, "standard", queue)
    bl.unmap_external_image_memory(handle, "standard", queue)
    bl.unmap_external_linear_memory(pointer, queue)
    for again in (
        lambda: bl.unmap_external_image_memory(handle, "standard", queue),
        lambda: bl.unmap_external_linear_memory(pointer, queue),
    ):
        with pytest.raises(bl.InvalidError):
            again()


def test_other_contexts(device: bl.Device, queue: bl.Queue, shared: SharedFile) -> None:
    memory = import_file(shared, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=64)
    with bl.Context(device) as other:
        for use in (
            lambda: bl.map_external_image_memory(memory, DESC, device, other),
            lambda: bl.map_external_linear_memory(memory, device, other, size=1),
            lambda: bl.release_external_memory(memory, device, other),
            lambda: bl.unmap_external_linear_memory(pointer, device, other),
        ):
            with raises(bl.InvalidError):
                use()
    bl.release_external_memory(memory, queue)


# ---------------------------------------------------------------------- what does not fit


def test_handle_types_go_with_resources() -> None:
    fd, handle, name = bl.ResourceFd(0), bl.ResourceWin32Handle(4), bl.ResourceWin32Name("memory")
    assert (fd.file_descriptor, handle.handle, name.name) == (0, 4, "memory")
    for resource, handle_type in (  # R71
        (handle, "opaque_fd"),
        (name, "dma_buf"),
        (fd, "win32_nt_handle"),
        (fd, "win32_nt_dx12_resource"),
        (3, "opaque_fd"),
    ):
        with raises(bl.InvalidError, names=handle_type):
            bl.ExternalMemDescriptor(resource, handle_type, 1)  # type: ignore[arg-type]
    good = bl.ExternalMemDescriptor(handle, bl.ExternalMemHandleType.win32_nt_handle, 4096)
    assert (good.resource, good.handle_type, good.size_in_bytes, good.dedicated) == (
        handle,
        "win32_nt_handle",
        4096,
        False,
    )
    for bad in ("opaque", 0):
        with raises(bl.InvalidError, names="opaque_fd"):
            bl.ExternalMemDescriptor(fd, bad, 1)  # type: ignore[arg-type]
    for size in (0, -1, 2**64, "1"):
        with raises(bl.InvalidError, names="size_in_bytes"):
            bl.ExternalMemDescriptor(fd, "opaque_fd", size)  # type: ignore[arg-type]
    for number in (-1, 2**31, "3", None):
        with raises(bl.InvalidError, names="file_descriptor"):
            bl.ResourceFd(number)  # type: ignore[arg-type]
    for text in ("", "a\0b", None):
        with raises(bl.InvalidError):
            bl.ResourceWin32Name(text)  # type: ignore[arg-type]
    with raises(bl.InvalidError):
        bl.ResourceWin32Handle(2**64)


def test_handles_of_another_system(queue: bl.Queue) -> None:
    for resource in (bl.ResourceWin32Handle(4), bl.ResourceWin32Name("memory")):
        for handle_type in ("win32_nt_handle", "win32_nt_dx12_resource"):
            with raises(bl.FeatureNotSupportedError):
                bl.import_external_memory(bl.ExternalMemDescriptor(resource, handle_type, 4096), queue)


def test_descriptors_that_are_no_memory(queue: bl.Queue, shared: SharedFile) -> None:
    """Closed, reused and unsuitable descriptors raise an error; the process goes on."""
    import fcntl

    before = descriptors()
    reader, writer = os.pipe()
    folder = os.open("/", os.O_RDONLY)
    event = os.eventfd(0)
    sealed = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(sealed, 4096)
    fcntl.fcntl(sealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    closed = os.dup(shared.fd)
    os.close(closed)
    for fd, words in (
        (reader, "a pipe"),
        (writer, "a pipe"),
        (folder, "a directory"),
        (closed, None),
        (event, None),
        (sealed, None),
    ):
        with raises(bl.InvalidError, names=words):
            bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(fd), "opaque_fd", 4096), queue)
    for fd in (reader, writer, folder, event, sealed):
        os.close(fd)
    assert descriptors_return_to(before)
    reused = os.dup(shared.fd)  # a descriptor number that was reused
    memory = bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(reused), "opaque_fd", 4096), queue)
    bl.release_external_memory(memory, queue)
    with raises(bl.InvalidError, names="ExternalMemDescriptor"):
        bl.import_external_memory(shared.fd, queue)  # type: ignore[arg-type]
    assert descriptors_return_to(before)


def test_sizes(queue: bl.Queue, shared: SharedFile) -> None:
    small = shared.descriptor(size=(1 << 16) + 1)
    with pytest.raises(bl.InvalidError):
        bl.import_external_memory(small, queue)
    assert isinstance(small.resource, bl.ResourceFd)
    os.close(small.resource.file_descriptor)
    memory = import_file(shared, queue, size=48 * 64 * 4)
    bl.unmap_external_image_memory(bl.map_external_image_memory(memory, DESC, queue), "standard", queue)
    with raises(bl.InvalidError, names=(12544, 12288)):
        bl.map_external_image_memory(memory, descriptor_of((49, 64), 4, "unsigned_int8"), queue)
    for size, offset, words in (
        (0, 0, "size=0"),
        (-4, 0, "size=-4"),
        (1, -1, "offset=-1"),
        (12289, 0, "12288"),
        (1, 12288, "12288"),
        (2**64, 2**63, "12288"),
        ("a", 0, None),
        (1.5, 0, None),
    ):
        with raises(bl.InvalidError, names=words):
            bl.map_external_linear_memory(memory, queue, size=size, offset=offset)  # type: ignore[arg-type]
    assert bl.map_external_linear_memory(memory, queue, size=1, offset=12287).nbytes == 1


def test_images_that_do_not_fit(queue: bl.Queue, shared: SharedFile) -> None:
    memory = import_file(shared, queue)
    for desc in (  # R72
        descriptor_of((8, 8), 4, "fp32", type="array", array_size=4),
        descriptor_of((8, 8), 4, "fp32", type="cubemap", array_size=6),
    ):
        with raises(bl.InvalidError):
            bl.map_external_image_memory(memory, desc, queue)
    for desc, words in (
        (bl.ImageDescriptor(), "width"),
        (descriptor_of((8, 8), 5, "fp32"), "num_channels"),
        (descriptor_of((8, 8), 4, "fp32", type="mipmap", num_levels=9), "num_levels"),
    ):
        with raises(bl.InvalidError, names=words):
            bl.map_external_image_memory(memory, desc, queue)
    with raises(bl.InvalidError, names="ImageDescriptor"):
        bl.map_external_image_memory(memory, (8, 8), queue)  # type: ignore[arg-type]
    handle = bl.map_external_image_memory(memory, DESC, queue)
    with raises(bl.SyclRuntimeError):
        bl.create_image(handle, descriptor_of((64, 48), 4, "unsigned_int8"), queue)
    bl.unmap_external_image_memory(handle, bl.ImageType.standard, queue)


# ---------------------------------------------------------------------- processes

EXPORTER = """
import os, sys, mmap
import numpy as np
fd, semaphore = int(sys.argv[1]), int(sys.argv[2])
pixels = np.frombuffer(mmap.mmap(fd, 1 << 16), np.uint8)
pixels[:] = 0
pixels[: 48 * 64 * 4] = np.arange(48 * 64 * 4) % 199
if sys.argv[3] == "dies":
    os.kill(os.getpid(), 9)
os.write(semaphore, (1).to_bytes(8, "little"))
"""


def run_exporter(shared: SharedFile, semaphore: int, end: str) -> int:
    """Run another process that writes the memory and signals the semaphore (a timeline to 1), or dies before."""
    arguments = [str(shared.fd), str(semaphore), end]
    done = subprocess.run([sys.executable, "-c", EXPORTER, *arguments], pass_fds=(shared.fd, semaphore), timeout=100)
    return done.returncode


def test_memory_of_another_process(device: bl.Device, context: bl.Context, shared: SharedFile) -> None:
    """A semaphore alone orders the access; if the exporter dies before it signals, memory and process stay usable."""
    counts = device.backend != "opencl"  # OpenCL has binary semaphores only
    kind, value, told = ("timeline_fd", 1, " to come to 1") if counts else ("opaque_fd", None, "")
    signalled = SharedFile.make(8).fd if counts else os.eventfd(0)
    with bl.Queue(device, context, in_order=True) as queue:
        semaphore = import_semaphore(signalled, kind, queue)
        memory = import_file(shared, queue)
        handle = bl.map_external_image_memory(memory, DESC, queue)
        found = np.zeros((48, 64, 4), np.uint8)
        assert run_exporter(shared, signalled, "dies") == -9
        queue.ext_oneapi_wait_external_semaphore(semaphore, value)
        event = queue.ext_oneapi_copy(handle, found, src_desc=DESC)
        with raises(bl.WaitTimeoutError, names=(f"ExternalSemaphore {kind}", told)):
            event.wait(timeout=0.05)
        assert run_exporter(shared, signalled, "signals") == 0
        event.wait()
        assert np.array_equal(found.reshape(-1), np.arange(48 * 64 * 4) % 199)
    os.close(signalled)


ENDINGS = {
    "everything in globals": "",
    "released, its maps not": "bl.release_external_memory(memory, queue)",
    "work on its way": "for value in range(99): queue.memset(pointer, value, 4096)",
    "a fork": """
if os.fork() == 0:
    for use in (lambda: bl.map_external_linear_memory(memory, queue, size=4), lambda: queue.memset(pointer, 1, 4)):
        try:
            use()
        except bl.SyclRuntimeError as error:
            assert "forked" in str(error)
        else:
            os._exit(3)
    del handle, pointer, memory
    sys.exit(0)
assert os.wait()[1] == 0
queue.memset(pointer, 1, 4096).wait()
""",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_end_of_the_interpreter(device: bl.Device, ending: str) -> None:
    beginning = f"""
import os, sys
import bindless as bl
from tests.support.shared_files import SharedFile, import_file
shared = SharedFile.make(1 << 16)
queue = bl.Queue("{device.backend}:*:*")
memory = import_file(shared, queue)
handle = bl.map_external_image_memory(memory, bl.ImageDescriptor(64, 48, num_channels=4, channel_type="fp32"), queue)
pointer = bl.map_external_linear_memory(memory, queue, size=4096)
"""
    program = beginning + ENDINGS[ending]
    quiet = ("-W", "ignore::DeprecationWarning")  # Python 3.12 warns about forks of a process with threads
    done = subprocess.run([sys.executable, *quiet, "-c", program], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------------- what is imported


@pytest.mark.parametrize("handle_type", list(bl.ExternalMemHandleType))
def test_types_of_handles_that_are_imported(
    queue: bl.Queue, device: bl.Device, shared: SharedFile, handle_type: bl.ExternalMemHandleType
) -> None:
    said = bl.supports_importing_handle_type(handle_type, device)
    assert said == bl.supports_importing_handle_type(str(handle_type), device)
    if handle_type.startswith("win32") and sys.platform != "win32":
        assert not said
        return
    try:
        memory = bl.import_external_memory(shared.descriptor(handle_type=handle_type), queue)
    except bl.FeatureNotSupportedError:
        assert not said
    except bl.InvalidError:
        assert handle_type == "dma_buf"  # the file is a memfd, which CUDA's back end detects on every device
    else:
        assert said
        bl.release_external_memory(memory, queue)


def test_types_of_handles_of_a_device_without_imports(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_aspects", device.aspects - {bl.Aspect.ext_oneapi_external_memory_import})
    assert not any(bl.supports_importing_handle_type(kind, device) for kind in bl.ExternalMemHandleType)


def test_types_of_handles_that_there_are_not(device: bl.Device) -> None:
    for arguments in (("opaque", device), ("opaque_fd", "reference")):
        with pytest.raises(bl.InvalidError):
            bl.supports_importing_handle_type(*arguments)  # type: ignore[arg-type]
