"""Device functions over host arrays on the driver of ``fake_cuda.c``, whose kernels copy real memory;
``test_cuda_recording.py`` runs this file."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.contract.prepared_image_call import ARRAYS
from bindless.backends.cuda import mapped_image_call, pipelined_image_call
from bindless.backends.cuda.polling import wait_until_ready
from bindless.model.image_call import ImageCall
from tests.backends.cuda.fake_cuda import Fake


@pytest.fixture
def copying(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, int, int], None]]:
    """Makes every kernel copy items of some bytes from one of its arguments to another; the first call has a buffer."""
    monkeypatch.setattr(mapped_image_call, "_JUSTIFIES_BUFFER", 1)
    fake.parameters()
    yield lambda source, target, size: fake.library.fake_work(source, target, target + 1, ctypes.c_size_t(size))
    fake.library.fake_work(0, 0, 0, ctypes.c_size_t(0))


@pytest.mark.parametrize("count", [1, 1000])
def test_small_host_arrays_need_no_transfers(
    queue: bl.Queue, fake: Fake, copying: Callable[[int, int, int], None], count: int
) -> None:
    """One launch over pinned memory, also after commands that have not run, and in a fresh queue; another size gets its
    own command."""
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    random = np.random.default_rng(4)
    with bl.ImageMem(desc, queue) as memory, bl.Queue(queue.device, queue.context) as other:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        copying(1, 2, 8)
        for run in (queue, queue, other, queue):
            for size in (count, count, count + 1):
                points, out = random.random((size, 2), np.float32), np.full((size, 2), np.nan, np.float32)
                run.ext_oneapi_copy(np.zeros(desc.shape, np.float32), memory)
                fake.clear()
                assert bl.sample_image(run, image, points, out=out) is out
                assert np.array_equal(out, points)
                assert len(fake.lines("cuLaunchKernel")) == 1 and not fake.lines("cuMemcpyAsync")
        bl.destroy_image_handle(image, queue)


def test_a_buffer_is_for_repeated_calls(
    device: bl.Device, fake: Fake, copying: Callable[[int, int, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first calls make transfers; the next queue takes the buffer of one that was closed."""
    monkeypatch.setattr(mapped_image_call, "_JUSTIFIES_BUFFER", 7)
    device._record.native.context().mapped.clear()
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    points = np.random.default_rng(4).random((50, 2), np.float32)
    with bl.Queue(device) as queue, bl.ImageMem(desc, queue) as memory:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        copying(1, 2, 8)
        for transfers in ([2, 2, 2, 0, 0], [0, 0]):
            with bl.Queue(device, queue.context) as run:
                for count in transfers:
                    fake.clear()
                    assert np.array_equal(bl.sample_image(run, image, points), points)
                    assert len(fake.lines("cuMemcpyAsync")) == count
        bl.destroy_image_handle(image, queue)


def test_prepared_calls_of_host_arrays(queue: bl.Queue, fake: Fake, copying: Callable[[int, int, int], None]) -> None:
    """The C function copies the arrays at the addresses that it gets, of any alignment, in and out; it leaves long
    waits to Python. Large arrays are not prepared."""
    backend, native = queue._backend, queue._native
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    block = np.zeros(2 * 80 + 1, np.uint8)
    first, second = block[:80], block[81:]
    random = np.random.default_rng(4)
    copying(1, 2, 8)
    with bl.ImageMem(desc, queue) as memory:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        call = ImageCall("sample", image.raw_handle, True, desc, 10, 8, 16, np.dtype(np.float32), 2)
        large = replace(call, count=mapped_image_call.LARGEST // 16 + 1)
        assert backend.host_calls.prepare_host_call(native, large) is None
        command = backend.host_calls.prepare_host_call(native, call)
        submit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(command.submit)
        for source, target in ((first, second), (second, first)):
            source[:] = random.integers(0, 256, 80)
            for name, array in (("coords", source), ("values", target)):
                place = command.places[ARRAYS.index(name)]
                ctypes.c_uint64.from_address(place).value = array.ctypes.data
            assert submit(command.descriptions[0]) == 0
            assert np.array_equal(first, second)
        first[:] = 0
        with bl.usm_empty((16,), "u1", queue) as other, bl.Queue(queue.device, queue.context) as busy:
            event = busy.memset(other, 1, 16)
            for _ in range(3000):
                event = busy.memset(other, 1, 16)
            queue.memset(other, 2, 16, depends_on=event)
            for _ in range(2):
                assert submit(command.descriptions[0]) == -(2**31) and not first.any()
            assert np.array_equal(
                bl.sample_image(queue, image, second.view(np.float32).reshape(10, 2)).view(np.uint8).ravel(), second
            )
            assert submit(command.descriptions[0]) == 0 and np.array_equal(first, second)
        bl.destroy_image_handle(image, queue)


def test_a_call_that_took_long_ends_before_the_next(
    queue: bl.Queue, fake: Fake, copying: Callable[[int, int, int], None]
) -> None:
    """The kernel that C code left to Python runs on one stream, the repeated call on another: both use the buffer."""
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    points = np.random.default_rng(4).random((10, 2), np.float32)
    copying(1, 2, 8)
    with bl.ImageMem(desc, queue) as memory, bl.usm_empty((16,), "u1", queue) as other:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        native = queue._native
        at = points.ctypes.data
        call = ImageCall("sample", image.raw_handle, True, desc, 10, at, at, np.dtype(np.float32), 2)
        command = queue._backend.host_calls.prepare_host_call(native, call)
        submit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(command.submit)
        assert len(native.streams) > 1
        lanes = list(zip(native.streams, command.descriptions, strict=True))
        for stream, description in lanes[::-1]:  # a call from Python takes the streams in turn, from the first
            with bl.Queue(queue.device, queue.context) as busy:
                event = busy.memset(other, 1, 16)
                for _ in range(3000):
                    event = busy.memset(other, 1, 16)
                stream.barrier([event._native])
                assert submit(description) == -(2**31)
                fake.clear()
                assert np.array_equal(bl.sample_image(queue, image, points + 1), points + 1)
                assert stream.is_idle()
                assert len(fake.lines("cuLaunchKernel")) == 1
        bl.destroy_image_handle(image, queue)


def test_small_host_arrays_after_a_signal(
    queue: bl.Queue, fake: Fake, copying: Callable[[int, int, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal ends the wait for a kernel, which then still uses the buffer: the next call waits for it first."""
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    points = np.random.default_rng(4).random((50, 2), np.float32)
    waits: list[int] = []

    def interrupted(query: Callable[[Any], int], handle: Any) -> int:
        waits.append(1)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait_until_ready(query, handle)

    with bl.ImageMem(desc, queue) as memory, bl.Queue(queue.device, queue.context) as run:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        copying(1, 2, 8)
        prepares = run._native.prepares
        run._native.prepares = False  # the calls go through Python
        monkeypatch.setattr(mapped_image_call, "wait_until_ready", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bl.sample_image(run, image, points)
        run._native.prepares = prepares
        fake.clear()
        assert np.array_equal(bl.sample_image(run, image, points + 1), points + 1)
        calls = 1 + len(run._native.streams) + 1  # of the first call, for its kernel on any stream, and of the second
        assert len(waits) == calls and len(fake.lines("cuLaunchKernel")) == 1
        assert np.array_equal(bl.sample_image(run, image, points), points) and len(waits) == calls
        bl.destroy_image_handle(image, queue)


@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuMemHostAlloc", "cuStreamQuery"])
def test_small_host_arrays_when_the_driver_fails(
    device: bl.Device, fake: Fake, copying: Callable[[int, int, int], None], call: str
) -> None:
    """The driver's error is raised, and the next call works; without pinned memory the arrays are copied."""
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    points = np.random.default_rng(4).random((50, 2), np.float32)
    device._record.native.context().mapped.clear()
    with bl.Queue(device) as queue, bl.ImageMem(desc, queue) as memory:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        copying(1, 2, 8)
        for _ in range(1 if call == "cuMemHostAlloc" else 3):
            fake.fail(call, 2)
            if call == "cuMemHostAlloc":
                assert np.array_equal(bl.sample_image(queue, image, points), points)
            else:
                with pytest.raises(bl.Error, match="CUDA_ERROR_OUT_OF_MEMORY"):
                    bl.sample_image(queue, image, points)
            assert np.array_equal(bl.sample_image(queue, image, points), points)
        bl.destroy_image_handle(image, queue)


@pytest.mark.parametrize("count", [1, 4095, 40_000, 123_457])
@pytest.mark.parametrize("given", [False, True])
def test_device_functions_over_host_arrays_overlap_in_pieces(
    queue: bl.Queue,
    fake: Fake,
    staging: Any,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    given: bool,
) -> None:
    """Every item runs once and in order, for any size of the last piece; the kernel here returns the coordinates."""
    monkeypatch.setattr(pipelined_image_call, "SMALLEST", 1)
    monkeypatch.setattr(mapped_image_call, "LARGEST", 0)
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    points = np.random.default_rng(4).random((count, 2), np.float32)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    with bl.ImageMem(desc, queue) as memory:
        image = bl.create_image(memory, desc, queue, sampler=sampler)
        fake.clear()
        fake.parameters()
        fake.library.fake_work(1, 2, 3, ctypes.c_size_t(8))
        try:
            out = np.full((count, 2), np.nan, np.float32) if given else None
            values = bl.sample_image(queue, image, points, out=out)
        finally:
            fake.library.fake_work(0, 0, 0, ctypes.c_size_t(0))
        assert values is out or not given
        assert np.array_equal(values, points)
        assert len(fake.lines("cuLaunchKernel")) > count // 4096
        bl.destroy_image_handle(image, queue)


def test_pieces_of_layers_and_of_writes(
    queue: bl.Queue,
    fake: Fake,
    staging: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each piece receives its own part of every array; a write has no result."""
    monkeypatch.setattr(pipelined_image_call, "SMALLEST", 1)
    monkeypatch.setattr(mapped_image_call, "LARGEST", 0)
    desc = bl.ImageDescriptor(16, 16, num_channels=1, channel_type="fp32", type="array", array_size=3)
    layers = np.random.default_rng(5).integers(0, 3, 70_001).astype(np.uint32)
    points = np.zeros((len(layers), 2), np.int32)
    with bl.ImageMem(desc, queue) as memory:
        image = bl.create_image(memory, desc, queue)
        fake.parameters()
        fake.library.fake_work(2, 4, 5, ctypes.c_size_t(4))
        try:
            values = bl.fetch_image_array(queue, image, points, layers)
            fake.clear()
            assert bl.write_image_array(queue, image, points, layers, values) is None
        finally:
            fake.library.fake_work(0, 0, 0, ctypes.c_size_t(0))
        assert np.array_equal(values.view(np.uint32)[:, 0], layers)
        launches = len(fake.lines("cuLaunchKernel"))
        assert launches > 5 and len(fake.lines("cuMemcpyAsync")) == launches
        bl.destroy_image_handle(image, queue)


@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuMemcpyAsync", "cuEventRecord", "cuMemAlloc"])
def test_pieces_that_fail(
    queue: bl.Queue,
    fake: Fake,
    staging: Any,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
) -> None:
    """The driver's error is raised, and the next call works."""
    monkeypatch.setattr(pipelined_image_call, "SMALLEST", 1)
    monkeypatch.setattr(mapped_image_call, "LARGEST", 0)
    desc = bl.ImageDescriptor(16, 16, num_channels=2, channel_type="fp32")
    points = np.random.default_rng(4).random((50_000, 2), np.float32)
    with bl.ImageMem(desc, queue) as memory:
        image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
        fake.parameters()
        fake.library.fake_work(1, 2, 3, ctypes.c_size_t(8))
        try:
            fake.fail(call, 2, after=0 if call == "cuMemAlloc" else 3)
            with pytest.raises(bl.Error, match="CUDA_ERROR_OUT_OF_MEMORY"):
                bl.sample_image(queue, image, points)
            assert np.array_equal(bl.sample_image(queue, image, points), points)
        finally:
            fake.library.fake_work(0, 0, 0, ctypes.c_size_t(0))
        bl.destroy_image_handle(image, queue)
