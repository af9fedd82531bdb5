"""Large copies on the driver of ``fake_cuda.c``, which copies real memory; ``test_cuda_recording.py`` runs this
file."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.backends.cuda import pinned_staging, surface_copy
from tests.backends.cuda.fake_cuda import Fake
from tests.support.error_checks import raises


def test_large_copies_are_kernels(queue: bl.Queue, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments of the copy kernels; their surfaces are destroyed with the images."""
    monkeypatch.setattr(surface_copy, "SMALLEST", 1 << 10)
    wide = bl.ImageDescriptor(64, 32, num_channels=2, channel_type="fp16", type="array", array_size=4)
    small = bl.ImageDescriptor(64, 64, num_channels=2, channel_type="fp16", type="mipmap", num_levels=2)
    level = small.get_mip_level_desc(1)
    before = fake.library.fake_live_objects()
    with bl.ImageMem(wide, queue) as layers, bl.ImageMem(small, queue) as mipmap:
        memory = bl.usm_empty((32 * 512,), "u1", queue)
        fake.clear()
        fake.parameters(*surface_copy._SIZES)
        part = mipmap.get_mip_level_mem_handle(1)
        queue.ext_oneapi_copy(
            layers, part, dst_desc=level, src_offset=(8, 2, 3), dst_offset=(4, 1, 0), copy_extent=(20, 13, 1)
        ).wait()
        queue.ext_oneapi_copy(memory, part, src_desc=level, dst_desc=level, src_pitch=512).wait()
        queue.ext_oneapi_copy(part, layers, src_desc=level, copy_extent=(5, 32, 1)).wait()  # less than 1 KiB
        queue.ext_oneapi_copy(layers, np.zeros(wide.shape, wide.dtype)).wait()
        launches = fake.lines("cuLaunchKernel")
        assert len(launches) == 2 and len(fake.lines("cuMemcpy3DAsync")) == 2
        words = [[int.from_bytes(bytes.fromhex(w), "little") for w in line.split(": ")[1].split()] for line in launches]
        assert words[0][2:] == [32, 2, 3, 16, 1, 0, 0, 0, 0, 0, 5, 13]
        assert words[1][0] == memory.address and words[1][2:] == [0] * 6 + [512, 512 * 32, 0, 0, 8, 32]
        assert launches[0].startswith("cuLaunchKernel bindless_copy 1 1 1 8 32 1 shared 0")
        assert fake.library.fake_live_objects() == before + 2
        memory.close()
    assert fake.library.fake_live_objects() == before


FORMS: dict[str, dict[str, Any]] = {
    "picture": {"sizes": (300, 500), "num_channels": 4, "channel_type": "fp32"},
    "bytes": {"sizes": (300, 500), "num_channels": 1, "channel_type": "unorm_int8"},
    "volume": {"sizes": (70, 31, 90), "num_channels": 2, "channel_type": "fp16"},
    "slices": {"sizes": (200, 200, 20), "num_channels": 4, "channel_type": "fp16"},
    "lines": {"sizes": (4000,), "num_channels": 4, "channel_type": "fp32", "type": "array", "array_size": 40},
    "cube": {"sizes": (64, 64), "num_channels": 1, "channel_type": "fp32", "type": "cubemap", "array_size": 6},
}
STAGED = [
    ("picture", (0, 0, 0), (300, 500, 1)),
    ("bytes", (7, 3, 0), (290, 490, 1)),
    ("volume", (0, 0, 0), (70, 31, 90)),
    ("volume", (5, 2, 9), (60, 29, 80)),
    ("slices", (0, 1, 2), (200, 190, 17)),
    ("lines", (9, 0, 3), (3000, 1, 30)),
    ("cube", (0, 0, 0), (64, 64, 6)),
]


def _bytes(array: npt.NDArray[Any], desc: bl.ImageDescriptor) -> npt.NDArray[np.uint8]:
    """View as (slices, rows, pixels, bytes of a pixel)."""
    x, y, z = (size or 1 for size in desc.extent)
    return array.view(np.uint8).reshape(z, y, x, desc.pixel_size)


@pytest.mark.parametrize(("form", "offset", "extent"), STAGED)
def test_host_memory_goes_through_buffers(
    queue: bl.Queue,
    fake: Fake,
    staging: Any,
    form: str,
    offset: Any,
    extent: Any,
) -> None:
    """Every byte of whole images and of boxes in them, in pieces of rows and of slices."""
    rng = np.random.default_rng(1)
    given = dict(FORMS[form])
    desc = bl.ImageDescriptor(*given.pop("sizes"), **given)
    whole, part = (rng.integers(0, 256, desc.nbytes, np.uint8).view(desc.dtype).reshape(desc.shape) for _ in range(2))
    box = {"src_offset": offset, "dst_offset": offset, "copy_extent": extent}
    inside = tuple(slice(begin, begin + size) for begin, size in zip(offset, extent))[::-1]
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(whole, memory).wait()
        fake.clear()
        given_away = part.copy()
        event = queue.ext_oneapi_copy(given_away, memory, src_extent=desc.extent, **box)
        given_away[:] = 0  # the call had read it when it returned
        copies = len(fake.lines("cuMemcpy3DAsync"))
        back, alone = np.zeros_like(whole), np.zeros_like(whole)
        queue.ext_oneapi_copy(memory, back, depends_on=event)
        assert copies > 1 and len(fake.lines("cuMemcpy3DAsync")) > copies + 1
        wanted = _bytes(whole, desc).copy()
        wanted[inside] = _bytes(part, desc)[inside]
        assert np.array_equal(_bytes(back, desc), wanted)
        queue.ext_oneapi_copy(memory, alone, dst_extent=desc.extent, **box)
        assert np.array_equal(_bytes(alone, desc)[inside], wanted[inside])
        _bytes(alone, desc)[inside] = 0
        assert not alone.view(np.uint8).any()


@pytest.mark.parametrize("extra", [0, 4096, 12345])
def test_bytes_go_through_buffers_too(queue: bl.Queue, fake: Fake, staging: Any, extra: int) -> None:
    """Numpy arrays and device memory, at unaligned starts and lengths; copies of shared memory go to the driver."""
    data = np.random.default_rng(2).integers(0, 256, (3 << 20) + extra, np.uint8)
    counts = []
    for kind in ("device", "shared"):
        memory = bl.usm_empty(data.shape, data.dtype, queue, kind=kind)
        fake.clear()
        event = queue.memcpy(memory, data.copy())
        back = np.zeros_like(data)
        queue.memcpy(back, memory, depends_on=event).wait()
        assert np.array_equal(back, data)
        counts.append(len(fake.lines("cuMemcpyAsync")))
        memory.close()
    assert counts[0] > 10 and counts[1] == 2


def test_staged_copies_are_in_order(queue: bl.Queue, fake: Fake, staging: Any) -> None:
    """Staged copies stay in order with earlier and later commands, of this queue and another, and from several
    threads."""
    desc = bl.ImageDescriptor(300, 200, num_channels=4, channel_type="fp32")
    arrays = [np.full(desc.shape, float(value), np.float32) for value in range(4)]
    with bl.Queue(queue.device, queue.context) as other, bl.ImageMem(desc, queue) as a, bl.ImageMem(desc, queue) as b:
        event = queue.ext_oneapi_copy(arrays[1], a)
        event = other.ext_oneapi_copy(a, b, depends_on=event)
        event = queue.ext_oneapi_copy(b, arrays[3], depends_on=event)
        assert (arrays[3] == 1).all()
        event = queue.ext_oneapi_copy(arrays[2], b, depends_on=event)
        queue.ext_oneapi_copy(b, arrays[3], depends_on=event).wait()
        assert (arrays[3] == 2).all()
        failures: list[int] = []

        def round_trip(value: int) -> None:
            with bl.Queue(queue.device, queue.context) as own, bl.ImageMem(desc, own) as memory:
                mine, back = np.full(desc.shape, float(value), np.float32), np.zeros(desc.shape, np.float32)
                for _ in range(5):
                    event = own.ext_oneapi_copy(mine, memory)
                    own.ext_oneapi_copy(memory, back, depends_on=event).wait()
                    if not (back == value).all():
                        failures.append(value)

        threads = [threading.Thread(target=round_trip, args=(value,)) for value in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures


@pytest.mark.parametrize("call", ["cuMemcpy3DAsync", "cuEventRecord"])
@pytest.mark.parametrize("to_device", [True, False])
def test_a_staged_copy_that_fails(queue: bl.Queue, fake: Fake, staging: Any, call: str, to_device: bool) -> None:
    desc = bl.ImageDescriptor(300, 200, num_channels=4, channel_type="fp32")
    array = np.ones(desc.shape, np.float32)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(array, memory).wait()
        fake.fail(call, 2, after=3)
        with pytest.raises(bl.Error, match="cuMemcpy3DAsync"):
            queue.ext_oneapi_copy(*((array, memory) if to_device else (memory, array))).wait()
        array[:] = 5
        queue.ext_oneapi_copy(array, memory).wait()
        back = np.zeros_like(array)
        queue.ext_oneapi_copy(memory, back).wait()
        assert (back == 5).all()


def test_what_goes_to_the_driver_as_before(
    queue: bl.Queue,
    fake: Fake,
    device: bl.Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Small copies, pinned memory, too few threads, no memory, and an opt-out bypass the staging buffers."""
    primary = device._record.native.context()
    desc = bl.ImageDescriptor(512, 128, num_channels=4, channel_type="fp32")
    pinned = bl.usm_empty(desc.shape, desc.dtype, queue, kind="host")
    with bl.ImageMem(desc, queue) as memory:

        def count(array: Any) -> int:
            fake.clear()
            queue.ext_oneapi_copy(array, memory, src_desc=desc).wait()
            return len(fake.lines("cuMemcpy3DAsync"))

        pageable = np.zeros(desc.shape, np.float32)
        assert count(pageable) == 1
        queue._stream.copies.forget()  # prepared with the sizes of before
        monkeypatch.setattr(pinned_staging, "SMALLEST", {True: 1, False: 1})
        for name, value in (("_threads", 2), ("staging_bytes", 0), ("staging_bytes", 1 << 60)):
            with monkeypatch.context() as patch:
                patch.setattr(pinned_staging, "_threads", lambda: 5)
                patch.setattr(pinned_staging, name, lambda value=value: value)
                patch.setattr(primary, "staging", None)
                assert count(pageable) == 1, name
        with monkeypatch.context() as patch:
            patch.setattr(pinned_staging, "_threads", lambda: 5)
            patch.setattr(primary, "staging", None)
            assert count(np.asarray(pinned)) == 1
            assert count(pageable) > 1
    pinned.close()
    monkeypatch.setenv("BINDLESS_STAGING", "12")
    assert pinned_staging.staging_bytes() == 12 << 20
    monkeypatch.setenv("BINDLESS_STAGING", "lots")
    with raises(bl.InvalidError, names=("BINDLESS_STAGING='lots'", "MiB")):
        pinned_staging.staging_bytes()


def test_repeated_copies(queue: bl.Queue, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver repeats small copies; a prepared kernel repeats large ones. A refusal by the driver raises the same
    error as the first time, and the cache keeps nothing of it."""
    desc = bl.ImageDescriptor(64, 64, num_channels=4, channel_type="unorm_int8")
    pixels = np.full(desc.shape, 3, np.uint8)
    with bl.ImageMem(desc, queue) as first, bl.ImageMem(desc, queue) as second:
        for source, target in ((pixels, first), (first, second)):
            for _ in range(3):
                fake.clear()
                queue.ext_oneapi_copy(source, target).wait()
                assert len(fake.lines("cuMemcpy3DAsync")) == 1 and not fake.lines("cuLaunchKernel")
            fake.fail("cuMemcpy3DAsync", 1)
            with raises(bl.InvalidError, names=("cuMemcpy3DAsync", "64 x 64 x 1", 4)):
                queue.ext_oneapi_copy(source, target)
            queue.ext_oneapi_copy(source, target).wait()
        monkeypatch.setattr(surface_copy, "SMALLEST", 1)
        queue._stream.copies.forget()
        for _ in range(5):
            fake.clear()
            queue.ext_oneapi_copy(second, first).wait()
            assert len(fake.lines("cuLaunchKernel")) == 1 and not fake.lines("cuMemcpy3DAsync")
        with bl.ImageMem(desc, queue) as third:  # with its own surface
            for _ in range(3):
                queue.ext_oneapi_copy(second, third).wait()
        fake.fail("cuLaunchKernel", 701)
        with pytest.raises(bl.Error, match="bindless_copy"):
            queue.ext_oneapi_copy(second, first)
        queue.ext_oneapi_copy(second, first).wait()


def test_repeated_copies_through_buffers(queue: bl.Queue, fake: Fake, staging: Any) -> None:
    """Repeats with other arrays of the same shape use the buffers; pinned memory goes to the driver directly."""
    desc = bl.ImageDescriptor(512, 128, num_channels=4, channel_type="fp32")
    pinned = bl.usm_empty(desc.shape, desc.dtype, queue, kind="host")
    with bl.ImageMem(desc, queue) as image:
        for turn in range(6):
            pixels, out = np.full(desc.shape, turn, np.float32), np.zeros(desc.shape, np.float32)
            fake.clear()
            queue.ext_oneapi_copy(pixels, image).wait()
            assert len(fake.lines("cuMemcpy3DAsync")) > 1
            queue.ext_oneapi_copy(image, out).wait()
            assert np.array_equal(out, pixels)
            fake.clear()
            queue.ext_oneapi_copy(image, np.asarray(pinned)).wait()
            assert len(fake.lines("cuMemcpy3DAsync")) == 1
            assert np.array_equal(np.asarray(pinned), pixels)
    pinned.close()


def test_small_copies_that_are_repeated_have_a_buffer(
    queue: bl.Queue,
    fake: Fake,
    device: bl.Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the third copy on the buffer is used, in pieces; it belongs to one thread."""
    primary = device._record.native.context()
    monkeypatch.setattr(pinned_staging, "_threads", lambda: 5)
    monkeypatch.setattr(primary, "staging", None)
    desc = bl.ImageDescriptor(511, 64, num_channels=4, channel_type="fp32")  # a shape not used elsewhere
    before = fake.library.fake_live_allocations()
    with bl.ImageMem(desc, queue) as image:
        for turn in range(5):
            pixels, out = np.full(desc.shape, turn, np.float32), np.zeros(desc.shape, np.float32)
            fake.clear()
            queue.ext_oneapi_copy(pixels, image).wait()
            assert len(fake.lines("cuMemcpy3DAsync")) == 1  # less than 2 MiB
            fake.clear()
            queue.ext_oneapi_copy(image, out).wait()
            assert len(fake.lines("cuMemcpy3DAsync")) == (1 if turn < 2 else 2)
            assert np.array_equal(out, pixels)
    assert primary.staging.native is not None
    assert fake.library.fake_live_allocations() == before + 1


def test_a_graph_is_one_of_the_drivers(queue: bl.Queue, fake: Fake, staging: Any) -> None:
    """Recording runs no command; the graph is launched as one and destroyed once; nothing is staged."""
    array, pixels = bl.usm_empty((1 << 20,), "u1", queue), np.full(1 << 20, 9, np.uint8)
    queue.memcpy(array, pixels).wait()
    fake.clear()
    graph = bl.CommandGraph(queue)
    graph.memcpy(array, pixels)
    graph.fill(array[:16], np.uint8(1))
    graph.finalize()
    assert len(fake.lines("cuMemcpyAsync")) == 1 and len(fake.lines("cuGraphInstantiate")) == 1
    assert len(fake.lines("cuGraphDestroy")) == 1 and not fake.lines("cuGraphLaunch")
    pixels[:] = 4
    for _ in range(3):
        graph().wait()
    assert len(fake.lines("cuGraphLaunch")) == 3 and len(fake.lines("cuEventRecord")) <= 3
    assert array.numpy()[:20].tolist() == [1] * 16 + [4] * 4
    graph.close()
    queue.wait()
    del graph
    gc.collect()
    assert len(fake.lines("cuGraphExecDestroy")) == 1
    fake.fail("cuGraphInstantiate", 2)
    other = bl.CommandGraph(queue)
    other.fill(array, np.uint8(1))
    with pytest.raises(bl.Error, match="cuGraphInstantiate"):
        other.finalize()
    other().wait()
    other.close()
    array.close()


def test_small_images_go_through_pinned_memory(device: bl.Device, fake: Fake) -> None:
    """After some images of one kind, pinned arrays are used in turn, never one with a pending copy; the context frees
    them."""
    rng = np.random.default_rng(1)
    before = fake.library.fake_live_allocations()
    with bl.Context(device) as context, bl.Queue(device, context, in_order=True) as queue:

        def made(count: int) -> list[tuple[npt.NDArray[Any], bl.Image]]:
            arrays = [rng.integers(0, 255, (9, 5, 4)).astype(np.uint8) for _ in range(count)]
            return [(array, bl.Image(array, queue=queue)) for array in arrays]

        for array, image in made(60):
            assert np.array_equal(image.numpy(), array)
        assert fake.library.fake_live_allocations() == before
        for _ in range(5):
            images = made(50)  # more images than pinned arrays, with no query of the driver in between
            for array, image in images:
                assert np.array_equal(image.numpy(), array)
                array[:] = 0
            del images, image
        (pinned,) = (row[2] for row in context._uploads.values())
        assert len(pinned) == 16 and fake.library.fake_live_allocations() == before + 1
        grey = rng.integers(0, 255, (9, 5)).astype(np.uint8)
        assert np.array_equal(bl.Image(grey, queue=queue).numpy(), grey)
        del pinned
    gc.collect()
    assert fake.library.fake_live_allocations() == before


def test_small_images_without_pinned_memory(device: bl.Device, fake: Fake) -> None:
    """Without pinned memory left, small images take the ordinary path."""
    array = np.arange(9 * 5 * 4, dtype=np.uint8).reshape(9, 5, 4)
    with bl.Context(device) as context, bl.Queue(device, context, in_order=True) as queue:
        fake.fail("cuMemHostAlloc", 2)
        for _ in range(80):
            with bl.Image(array, queue=queue) as image:
                assert np.array_equal(image.numpy(), array)
        assert [len(row[2]) for row in context._uploads.values()] == [0]


def test_small_copies_of_bytes_that_are_repeated_have_a_buffer(
    queue: bl.Queue,
    fake: Fake,
    device: bl.Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the third copy from the device on, the buffer is used: two pieces, and the bytes after the last line."""
    monkeypatch.setattr(pinned_staging, "_threads", lambda: 5)
    monkeypatch.setattr(device._record.native.context(), "staging", None)
    nbytes = (300 << 10) + 77  # a size not used elsewhere
    with bl.usm_empty(nbytes, np.uint8, queue) as there, bl.usm_empty(nbytes, np.uint8, queue, kind="host") as pinned:
        for turn in range(5):
            values, out = np.full(nbytes, turn + 1, np.uint8), np.zeros(nbytes, np.uint8)
            fake.clear()
            queue.memcpy(there, values).wait()
            assert len(fake.lines("cuMemcpyAsync")) == 1  # less than 2 MiB
            fake.clear()
            queue.memcpy(out, there).wait()
            assert len(fake.lines("cuMemcpyAsync")) == (1 if turn < 2 else 3)
            fake.clear()
            queue.memcpy(pinned, there).wait()
            assert len(fake.lines("cuMemcpyAsync")) == 1
            assert np.array_equal(out, values)
