"""Arrays and streams of a library with DLPack's exchange functions, on ``fake_cuda.c``: which driver calls order them.

``tests/backends/cuda/test_cuda_recording.py`` runs this file.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

import bindless as bl
from bindless.backends.cuda import surface_copy
from bindless.image import array_library
from tests.backends.cuda.fake_cuda import PTX, Fake
from tests.interop.recorded_exchange import Library, library  # noqa: F401  a fixture
from tests.support.error_checks import raises
from tests.support.exchange_peer import Exchanged
from tests.support.pixels import upload
from tests.support.python_calls import python_calls

COUNT = 16
CALLS = ("cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventCreate")


class Arrays:
    """Device memory of the library, as its arrays."""

    def __init__(self, owner: Library, index: int) -> None:
        self._library, self._index = owner, index

    def __call__(self, shape: tuple[int, ...], dtype: object = np.float32, **fields: object) -> Exchanged:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = self._library.allocate(size)
        buffer = (ctypes.c_uint8 * size).from_address(memory)
        return Exchanged(np.frombuffer(buffer, dtype).reshape(shape), device=(2, self._index), **fields)


@pytest.fixture
def arrays(library: Library, device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> Arrays:  # noqa: F811
    made = Arrays(library, device.index)
    monkeypatch.setattr(Exchanged, "new", lambda shape, dtype, place: made(shape, dtype))
    monkeypatch.setattr(Exchanged, "current", library.stream())
    return made


def image(queue: bl.Queue) -> tuple[object, bl.SampledImageHandle]:
    desc = bl.ImageDescriptor(8, 6)
    memory = upload(queue, desc, np.zeros(desc.shape, np.float32))
    sampler = bl.BindlessImageSampler("clamp_to_edge")
    return memory, bl.create_image(memory, desc, queue, sampler=sampler)


def driver_calls(fake: Fake, command: Callable[[], object]) -> list[str]:
    """Names of the calls that order streams and launch kernels."""
    fake.clear()
    command()
    return [line.split()[0].rstrip(":") for line in fake.lines() if line.startswith(CALLS)]


def holds(queue: bl.Queue, array: Exchanged) -> bool:
    """Whether the queue's batch of commands holds an array."""
    return any(item is array for item in queue._stream._batch)


@pytest.mark.parametrize("in_order", [True, False])
def test_one_event_each_way(device: bl.Device, context: bl.Context, arrays: Arrays, in_order: bool) -> None:
    fake = Fake()
    with bl.Queue(device, context, in_order=in_order) as queue:
        _memory, handle = image(queue)
        points, out = arrays((COUNT, 2)), arrays((COUNT, 4))
        for _ in range(8):  # the events are created on first use, and once for each stream of the queue
            bl.sample_image(queue, handle, points, out=out)
        asked = len(Exchanged.asked_for_stream)
        calls = driver_calls(fake, lambda: bl.sample_image(queue, handle, points, out=out))
        assert calls == ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
        assert Exchanged.asked_for_stream[asked:] == [(2, device.index)]
        assert python_calls(lambda: bl.sample_image(queue, handle, points, out=out)) == [
            "bindless_images/sample_functions.py:sample_image"
        ]
        queue.wait()


def test_no_event_on_the_librarys_own_stream(device: bl.Device, arrays: Arrays) -> None:
    fake = Fake()

    class Stream:
        cuda_stream = Exchanged.current
        device_index = device.index

    with bl.Queue.from_stream(Stream()) as queue:
        assert queue.is_in_order and queue.device == device
        _memory, handle = image(queue)
        points, out = arrays((COUNT, 2)), arrays((COUNT, 4))
        for _ in range(3):
            bl.sample_image(queue, handle, points, out=out)
        calls = driver_calls(fake, lambda: bl.sample_image(queue, handle, points, out=out))
        assert calls == ["cuLaunchKernel", "cuEventRecord"]  # the event is that of the command
        queue.wait()


def test_results_come_back_in_the_library(device: bl.Device, context: bl.Context, arrays: Arrays) -> None:
    with bl.Queue(device, context, in_order=True) as queue:
        _memory, handle = image(queue)
        points = arrays((COUNT, 2))
        for _ in range(3):
            got = bl.sample_image(queue, handle, points)
            assert type(got) is Exchanged and got.array.shape == (COUNT, 4) and got.device == (2, device.index)
        queue.wait()


def test_an_array_of_another_device(device: bl.Device, context: bl.Context, arrays: Arrays) -> None:
    with bl.Queue(device, context, in_order=True) as queue:
        _memory, handle = image(queue)
        points, out = arrays((COUNT, 2)), arrays((COUNT, 4))
        far = arrays((COUNT, 2))
        far.device = (2, device.index + 1)
        for _ in range(3):
            bl.sample_image(queue, handle, points, out=out)
            with raises(bl.InvalidError):
                bl.sample_image(queue, handle, far, out=out)
        queue.wait()


def test_arrays_that_live_as_long_as_their_call(device: bl.Device, context: bl.Context, arrays: Arrays) -> None:
    """The queue holds them while the command runs, and not afterwards."""
    with bl.Queue(device, context, in_order=True) as queue:
        _memory, handle = image(queue)
        points, out = arrays((COUNT, 2)), arrays((COUNT, 4))
        for _ in range(3):
            bl.sample_image(queue, handle, points, out=out)
            queue.wait()
        bl.sample_image(queue, handle, points, out=out)
        assert holds(queue, points) and holds(queue, out)
        queue.wait()
        assert not holds(queue, points) and not holds(queue, out)


def test_a_failure_of_each_call_that_orders(device: bl.Device, context: bl.Context, arrays: Arrays) -> None:
    """The call raises; the next one succeeds, and the queue holds the arrays of a command that was submitted."""
    fake = Fake()
    with bl.Queue(device, context, in_order=True) as queue:
        _memory, handle = image(queue)
        points, out = arrays((COUNT, 2)), arrays((COUNT, 4))
        for _ in range(3):
            bl.sample_image(queue, handle, points, out=out)
        for name, after in (
            ("cuEventRecord", 0),
            ("cuStreamWaitEvent", 0),
            ("cuEventRecord", 1),
            ("cuStreamWaitEvent", 1),
        ):
            fake.fail(name, 700, after)
            with pytest.raises(bl.Error):
                bl.sample_image(queue, handle, points, out=out)
            fake.fail(name, 0)
            bl.sample_image(queue, handle, points, out=out)
        queue.wait()


def test_a_stream_of_no_cuda_device() -> None:
    with raises(bl.FeatureNotSupportedError):
        bl.Queue.from_stream(1, "reference")
    for stream in (0, "x", None, True):
        with raises(bl.InvalidError):
            bl.Queue.from_stream(stream)


@pytest.mark.parametrize("in_order", [True, False])
def test_arguments_of_kernels(device: bl.Device, context: bl.Context, arrays: Arrays, in_order: bool) -> None:
    """A launch with the library's arrays is ordered like a device function, and repeats without Python."""
    fake = Fake()
    with bl.Queue(device, context, in_order=in_order) as queue:
        kernel = bl.load_kernel_bundle(PTX, queue).get_kernel("pieces")
        data, other = arrays((COUNT,)), bl.usm_empty(COUNT, np.float32, queue)
        for _ in range(8):
            queue.parallel_for(COUNT, kernel, data, 1, other)
        calls = driver_calls(fake, lambda: queue.parallel_for(COUNT, kernel, data, 1, other))
        assert calls == ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
        assert python_calls(lambda: queue.parallel_for(COUNT, kernel, data, 2, other)) == []
        calls = driver_calls(fake, lambda: queue.parallel_for(COUNT, kernel, other, 1, other))
        assert calls == ["cuLaunchKernel"]
        assert python_calls(lambda: queue.parallel_for(COUNT, kernel, other, 2, data)) == []
        far = arrays((COUNT,))
        far.device = (2, device.index + 1)
        with raises(bl.InvalidError):
            queue.parallel_for(COUNT, kernel, far, 1, other)
        queue.wait()
        event = queue.parallel_for(COUNT, kernel, data, 1, other)
        assert holds(queue, data)
        event.wait()
        queue.wait()
        assert not holds(queue, data)


class Interface:
    """An array of a library with the CUDA array interface alone."""

    def __init__(self, array: Exchanged, stream: int | None) -> None:
        self._array, self.stream, self.reads, self.read_only = array, stream, 0, False

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        self.reads += 1
        memory = self._array.array
        return {
            "version": 3,
            "shape": memory.shape,
            "typestr": memory.dtype.str,
            "data": (memory.ctypes.data, self.read_only),
            "strides": None if memory.flags.c_contiguous else memory.strides,
            "stream": self.stream,
        }


def test_the_cuda_array_interface(device: bl.Device, context: bl.Context, arrays: Arrays, library: Library) -> None:  # noqa: F811
    """The same arrays repeat without Python; the stream is the interface's, and none needs no event."""
    fake, stream = Fake(), library.stream()
    with bl.Queue(device, context, in_order=True) as queue:
        _memory, handle = image(queue)
        points, out = Interface(arrays((COUNT, 2)), stream), Interface(arrays((COUNT, 4)), stream)
        for _ in range(3):
            bl.sample_image(queue, handle, points, out=out)
        calls = driver_calls(fake, lambda: bl.sample_image(queue, handle, points, out=out))
        assert calls == ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
        assert len(python_calls(lambda: bl.sample_image(queue, handle, points, out=out))) == 1
        for array in (points, out):
            array.stream = None
        assert driver_calls(fake, lambda: bl.sample_image(queue, handle, points, out=out)) == ["cuLaunchKernel"]
        count = queue._stream.image_calls.count()
        other = Interface(arrays((COUNT, 4)), None)  # of the same shape, at another address: the device is asked for
        assert len(python_calls(lambda: bl.sample_image(queue, handle, points, out=other))) > 1
        assert queue._stream.image_calls.count() == count + 1
        other.read_only = True
        with raises(bl.InvalidError):
            bl.sample_image(queue, handle, points, out=other)
        strided = Interface(arrays((COUNT, 4)), None)
        strided._array.array = strided._array.array[:, ::2]
        with raises(bl.InvalidError):
            bl.sample_image(queue, handle, strided, out=out)
        queue.wait()


@pytest.mark.parametrize("alone", [True, False])
def test_kernels_take_the_cuda_array_interface(
    device: bl.Device,
    context: bl.Context,
    arrays: Arrays,
    library: Library,  # noqa: F811
    alone: bool,
) -> None:
    """A launch repeats without Python, ordered with the interface's stream: with any array if there is one device, else
    with arrays at the same addresses."""
    fake, stream = Fake(), library.stream()
    each_way = ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
    with bl.Queue(device, context, in_order=True) as queue:
        queue._stream._dlpack_alone = alone
        kernel = bl.load_kernel_bundle(PTX, queue).get_kernel("pieces")
        data, other = Interface(arrays((COUNT,)), stream), Interface(arrays((COUNT,)), stream)
        first = driver_calls(fake, lambda: queue.parallel_for(COUNT, kernel, data, 1, data))
        assert first[first.index("cuLaunchKernel") :] == ["cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
        for _ in range(3):
            queue.parallel_for(COUNT, kernel, data, 1, data)
        assert driver_calls(fake, lambda: queue.parallel_for(COUNT, kernel, data, 2, data)) == each_way
        assert python_calls(lambda: queue.parallel_for(COUNT, kernel, data, 2, data)) == []
        assert (python_calls(lambda: queue.parallel_for(COUNT, kernel, data, 2, other)) == []) is alone
        assert python_calls(lambda: queue.parallel_for(COUNT, kernel, data, 2, other)) == []
        data.stream = None  # and the other's is not: Python orders both
        assert python_calls(lambda: queue.parallel_for(COUNT, kernel, data, 2, other)) != []
        queue.wait()


def test_results_of_the_array_standard(device: bl.Device, context: bl.Context, arrays: Arrays) -> None:
    """A library of the array API standard takes the result's memory by its from_dlpack."""

    class Standard(Interface):
        def __array_namespace__(self) -> type[Standard]:
            return Standard

        @staticmethod
        def from_dlpack(other: bl.UsmArray) -> tuple[object, tuple[int, int]]:
            return other.__dlpack__(stream=Exchanged.current, max_version=(1, 0)), other.__dlpack_device__()

    with bl.Queue(device, context, in_order=True) as queue:
        _memory, handle = image(queue)
        for _ in range(3):
            capsule, place = bl.sample_image(queue, handle, Standard(arrays((COUNT, 2)), None))
            assert place == (2, device.index) and type(capsule).__name__ == "PyCapsule"
        queue.wait()


@pytest.mark.parametrize("in_order", [True, False])
def test_pictures_into_arrays_of_a_library(
    device: bl.Device, context: bl.Context, arrays: Arrays, in_order: bool
) -> None:
    """Pictures of an Image go to the library's arrays by one launch, ordered each way; wrong arrays are refused."""
    fake, each_way = (
        Fake(),
        ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"],
    )
    matrix = np.array([[0.9, 0.1, 1.0], [-0.1, 0.9, 0.5]])
    with (
        bl.Queue(device, context, in_order=in_order) as queue,
        bl.Image(np.zeros((6, 8), np.float32), queue=queue) as image,
        bl.Image(np.zeros((3, 6, 8), np.float32), dimensions=3, queue=queue) as volume,
    ):
        out, large, space = arrays((6, 8)), arrays((12, 16)), arrays((3, 6, 8))
        moves = arrays((6, 8, 2))
        works: dict[str, Callable[[], object]] = {
            "warp": lambda: image.warp(matrix, (6, 8), out=out),
            "displacement": lambda: image.warp(matrix, (6, 8), displacement=moves, out=out),
            "remap": lambda: image.remap(moves, out=out),
            "resize": lambda: image.resize((12, 16), out=large),
            "volume": lambda: volume.warp(np.eye(3, 4), (3, 6, 8), out=space),
        }
        for name, work in works.items():
            for _ in range(8):
                assert work() is (large if name == "resize" else space if name == "volume" else out)
            assert driver_calls(fake, work) == each_way, name
            assert len(python_calls(work)) == 1, (name, python_calls(work))
        image.warp(matrix, (6, 8), out=arrays((6, 8)))
        for wrong in (arrays((6, 8), np.float64), arrays((8, 6)), arrays((6, 8, 1)), arrays((6, 8), np.int32)):
            with raises(bl.InvalidError):
                image.warp(matrix, (6, 8), out=wrong)
        far = arrays((6, 8))
        far.device = (2, device.index + 1)
        with raises(bl.InvalidError):
            image.warp(matrix, (6, 8), out=far)
        overlaps = Exchanged(moves.array.reshape(-1)[40:88].reshape(6, 8), device=moves.device)
        with raises(bl.InvalidError):
            image.warp(matrix, (6, 8), displacement=moves, out=overlaps)
        with raises(bl.InvalidError):
            image.warp(np.full((2, 3), np.nan), (6, 8), out=out)
        queue.wait()
    with raises(bl.InvalidError):
        image.warp(matrix, (6, 8), out=out)


@pytest.mark.parametrize("in_order", [True, False])
def test_pictures_and_samples_come_back_in_the_library(
    device: bl.Device, context: bl.Context, arrays: Arrays, in_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New results of an image that was made of the library's array, and of its coordinates, are allocated by it; later
    calls run no other Python of the package than the method."""
    fake, shape = Fake(), (6, 8)
    each_way = ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
    with bl.Queue(device, context, in_order=in_order) as queue:
        # The first results lie in memory of ours, which the library would take by from_dlpack.
        monkeypatch.setitem(array_library._constructors, Exchanged, lambda values: arrays(values.shape))
        torch_like = {
            "dtype": property(lambda array: f"torch.{array.array.dtype}"),
            "is_contiguous": lambda array: array.array.flags.c_contiguous,
            "__len__": lambda array: len(array.array),
            "reshape": lambda array, *sizes: Exchanged(array.array.reshape(*sizes), device=array.device),
        }
        for name, attribute in torch_like.items():
            monkeypatch.setattr(Exchanged, name, attribute, raising=False)
        with bl.Image(arrays(shape), queue=queue) as image:
            image._library = lambda values: arrays(values.shape)
            moves, values = arrays((*shape, 2)), arrays(shape)
            works: dict[str, Callable[[], Exchanged]] = {
                "warp": lambda: image.warp(np.eye(3), shape),
                "displacement": lambda: image.warp(np.eye(3), shape, displacement=moves),
                "remap": lambda: image.remap(moves),
                "resize": lambda: image.resize((12, 16)),
                "sample": lambda: image.sample(moves),
                "sample, out": lambda: image.sample(moves, out=values),
            }
            for name, work in works.items():
                for _ in range(8):
                    picture = work()
                    assert type(picture) is Exchanged and picture.device == (2, device.index), name
                assert driver_calls(fake, work) == each_way, name
                assert len(python_calls(work)) == 1, (name, python_calls(work))
                assert picture.shape == ((12, 16) if name == "resize" else shape)
            assert work() is values
            held = image.warp(np.eye(3), shape)
            assert holds(queue, held)
            queue.wait()
            assert not holds(queue, held)


EACH_WAY = ["cuEventRecord", "cuStreamWaitEvent", "cuMemcpy3DAsync", "cuEventRecord", "cuStreamWaitEvent"]
MOST_OF_A_NEW_IMAGE = 45
SMALL, LARGE = (6, 8), (256, 512)  # the driver copies the one, a kernel the other


def copies_of(fake: Fake, command: Callable[[], object]) -> list[str]:
    """Names of the calls that order streams, launch kernels and copy."""
    fake.clear()
    command()
    kinds = (*CALLS, "cuMemcpy3DAsync")
    return [line.split()[0].rstrip(":") for line in fake.lines() if line.startswith(kinds)]


@pytest.mark.parametrize("shape", [SMALL, LARGE, (6, 8, 4), (3, 6, 8)])
def test_updates_from_arrays_of_a_library(
    device: bl.Device,
    context: bl.Context,
    arrays: Arrays,
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
) -> None:
    """An update is one copy, ordered with the library's stream each way, of any array of the shape and the type."""
    fake = Fake()
    if shape == LARGE:
        monkeypatch.setattr(surface_copy, "SMALLEST", 1 << 10)
        fake.parameters(*surface_copy._SIZES)
    options = {"dimensions": 3} if shape[0] == 3 else {}
    with (
        bl.Queue(device, context, in_order=True) as queue,
        bl.Image(np.zeros(shape, np.float32), queue=queue, **options) as image,
    ):
        first, second = arrays(shape), arrays(shape)
        first.array[...], second.array[...] = 1.0, 2.0
        for _ in range(3):
            image.update(first)
        image.update(second)
        calls = copies_of(fake, lambda: image.update(first))
        copy = "cuLaunchKernel" if shape == LARGE else "cuMemcpy3DAsync"
        assert calls == [copy if name.startswith("cuMemcpy3D") else name for name in EACH_WAY]
        fake.clear()
        assert len(python_calls(lambda: image.update(second))) <= 4
        if shape == LARGE:  # the driver for tests runs no kernels
            (launch,) = fake.lines("cuLaunchKernel")
            (address, *_) = (int.from_bytes(bytes.fromhex(word), "little") for word in launch.split(": ")[1].split())
            fake.parameters()
            assert address == second.array.ctypes.data
        else:
            assert (image.numpy() == 2).all()
        image.update(first)
        assert holds(queue, first)
        queue.wait()
        assert not holds(queue, first)
        count = queue._stream.copies.count()
        wide = arrays((*shape[:-1], 2 * shape[-1]))
        strided = Exchanged(wide.array[..., ::2], device=wide.device)
        assert image.update(strided) is not None  # a kernel packs it
        far = arrays(shape)
        far.device = (2, device.index + 1)
        for wrong in (far, arrays((*shape, 1)), arrays(shape, np.int32), arrays(shape[::-1])):
            with raises(bl.InvalidError):
                image.update(wrong)
        assert queue._stream.copies.count() <= count + 1
        queue.wait()
    with raises(bl.InvalidError):
        image.update(first)


@pytest.mark.parametrize("alone", [True, False])
def test_updates_from_the_cuda_array_interface(
    device: bl.Device,
    context: bl.Context,
    arrays: Arrays,
    library: Library,  # noqa: F811
    alone: bool,
) -> None:
    """Any array repeats if there is one device, else that at the address of an earlier one."""
    fake, stream = Fake(), library.stream()
    with (
        bl.Queue(device, context, in_order=True) as queue,
        bl.Image(np.zeros(SMALL, np.float32), queue=queue) as image,
    ):
        queue._stream._dlpack_alone = alone
        first, other = Interface(arrays(SMALL), stream), Interface(arrays(SMALL), stream)
        for _ in range(3):
            image.update(first)
        assert copies_of(fake, lambda: image.update(first)) == EACH_WAY
        assert len(python_calls(lambda: image.update(first))) <= 4
        assert (len(python_calls(lambda: image.update(other))) <= 4) is alone
        assert len(python_calls(lambda: image.update(other))) <= 4
        other.stream = None
        assert copies_of(fake, lambda: image.update(other)) == ["cuMemcpy3DAsync"]
        queue.wait()


@pytest.mark.parametrize("in_order", [True, False])
def test_copies_of_arrays_of_a_library(device: bl.Device, context: bl.Context, arrays: Arrays, in_order: bool) -> None:
    """Image copies from and to the library's arrays repeat without Python, ordered each way."""
    fake = Fake()
    desc = bl.ImageDescriptor(8, 6)
    with bl.Queue(device, context, in_order=in_order) as queue, bl.ImageMem(desc, queue) as memory:
        values, result = arrays(desc.shape), arrays(desc.shape)
        values.array[...] = 5.0
        for _ in range(8):
            event = queue.ext_oneapi_copy(values, memory)
            queue.ext_oneapi_copy(memory, result, depends_on=event)
        assert copies_of(fake, lambda: queue.ext_oneapi_copy(values, memory)) == EACH_WAY
        assert copies_of(fake, lambda: queue.ext_oneapi_copy(memory, result)) == EACH_WAY
        assert python_calls(lambda: queue.ext_oneapi_copy(values, memory)) == []
        assert python_calls(lambda: queue.ext_oneapi_copy(memory, result)) == []
        queue.wait()
        assert (result.array == 5).all()
        part = {"copy_extent": (4, 3), "dst_offset": (1, 2), "src_desc": bl.ImageDescriptor(4, 3)}
        piece = arrays((3, 4, 4))
        for _ in range(3):
            queue.ext_oneapi_copy(piece, memory, **part)
        assert copies_of(fake, lambda: queue.ext_oneapi_copy(piece, memory, **part)) == EACH_WAY
        queue.wait()


@pytest.mark.parametrize("in_order", [True, False])
def test_images_of_arrays_of_a_library(device: bl.Device, context: bl.Context, arrays: Arrays, in_order: bool) -> None:
    """A new image is one allocation and one copy, ordered with the library's stream each way."""
    fake = Fake()
    with bl.Queue(device, context, in_order=in_order) as queue:
        for shape in (SMALL, (6, 8, 4)):
            array, other = arrays(shape), arrays(shape)
            array.array[...], other.array[...] = 4.0, 5.0
            for _ in range(8):
                with bl.Image(array, queue=queue) as image:
                    assert image.shape == shape and (image.numpy() == 4).all()
            with bl.Image(other, queue=queue) as image:
                assert (image.numpy() == 5).all()
            names = copies_of(fake, lambda array=array: bl.Image(array, queue=queue))
            assert names == EACH_WAY
            assert len(python_calls(lambda array=array: bl.Image(array, queue=queue))) <= MOST_OF_A_NEW_IMAGE
        for wrong in (arrays(SMALL, np.complex64), arrays((2, 3, 4, 5, 6))):
            with raises(bl.InvalidError):
                bl.Image(wrong, queue=queue)
        with bl.Image(arrays(SMALL, np.float64), queue=queue) as image:
            assert image.dtype == np.float32
        queue.wait()


def test_updates_that_add_channels(device: bl.Device, context: bl.Context, arrays: Arrays) -> None:
    """One launch, ordered with the library's stream each way, and one copy of what it has written."""
    fake, shape = Fake(), (6, 8, 3)
    with (
        bl.Queue(device, context, in_order=True) as queue,
        bl.Image(np.zeros(shape, np.uint8), queue=queue) as image,
    ):
        first, second = arrays(shape, np.uint8), arrays(shape, np.uint8)
        for _ in range(3):
            image.update(first)
        assert image.update(second) is not None
        calls = copies_of(fake, lambda: image.update(first))
        assert calls == [*(name.replace("cuMemcpy3DAsync", "cuLaunchKernel") for name in EACH_WAY), "cuMemcpy3DAsync"]
        assert len(python_calls(lambda: image.update(second))) <= 4
        wide = arrays((6, 8, 6), np.uint8)
        image.update(Exchanged(wide.array[..., ::2], device=wide.device))
        for wrong in (arrays((6, 8, 4), np.uint8), arrays(shape, np.int8), arrays((8, 6, 3), np.uint8)):
            with raises(bl.InvalidError):
                image.update(wrong)
        queue.wait()
    with raises(bl.InvalidError):
        image.update(first)
