"""Python functions of the package that a new ``Image`` and repeated pictures run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.exchange_peer import Exchanged
from tests.support.pixels import require, usm
from tests.support.python_calls import LAYERS_OF_WAITS, python_calls

MOST_OF_A_NEW_IMAGE = 40
MOST_OF_A_PICTURE = 1  # the method itself
SIDE, DEPTH = 8, 4  # the reference device computes 64 elements at once, and a wait is C code
PLANE, VOLUME, LAYERS = (SIDE, SIDE), (DEPTH, DEPTH, DEPTH), 3


WAIT = (*LAYERS_OF_WAITS, "core/")


def fewest_calls(function: Callable[[], object], besides: tuple[str, ...] = ()) -> int:
    """Of nine calls: finalizers of other objects may run during one of them, and waits may be long. Functions of the
    folders ``besides`` do not count."""
    for _ in range(4):  # a device prepares what comes again
        function()
    calls = [[name for name in python_calls(function) if not name.startswith(besides)] for _ in range(9)]
    return min(map(len, calls))


def test_a_new_image() -> None:
    with bl.Queue("reference", in_order=True) as queue:
        for side, channels in ((16, 3), (16, 4), (200, 3)):
            pixels = np.ones((side, side, channels), np.uint8)
            assert fewest_calls(lambda pixels=pixels: bl.Image(pixels, queue=queue)) <= MOST_OF_A_NEW_IMAGE


Call = Callable[[], Any]


# Images, the sizes in which they are smaller, and their types and options.
SMALLER: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any, dict[str, Any]]] = {
    "smaller": ((*PLANE, 4), (3, 5), np.uint8, {}),
    "smaller RGB": ((*PLANE, 3), (3, 5), np.uint8, {}),
    "smaller floats": (PLANE, (3, 5), np.float32, {"filtering": "cubic"}),
    "much smaller": ((64, 64), (1, 1), np.float32, {}),  # one axis after the other
    "smaller volume": (VOLUME, (3, 2, 3), np.float16, {"dimensions": 3}),
    "smaller layers": ((LAYERS, *PLANE), (3, 5), np.uint8, {"layers": True}),
    "smaller mipmap": (PLANE, (3, 5), np.uint8, {"mipmaps": True}),
}


def size_of(shape: tuple[int, ...], size: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the picture in a size."""
    return (LAYERS, *size) if len(shape) > len(size) and shape[0] == LAYERS else (*size, *shape[len(size) :])


def picture(queue: bl.Queue, kind: str, *, in_usm: bool) -> partial[Any]:
    """A call that makes a picture, in memory of the device or of the host."""

    def array(values: Any) -> Any:
        return usm(queue, values) if in_usm else values

    def image(shape: tuple[int, ...], dtype: Any, **options: Any) -> bl.Image:
        return bl.Image(np.ones(shape, dtype), queue=queue, **options)

    matrix, rotation = np.eye(3), np.eye(4)
    if kind in ("exact", "lists", "columns"):
        maps = {"exact": matrix, "lists": matrix.tolist(), "columns": np.asfortranarray(matrix)}
        exact = image(PLANE, np.float32, precision="exact")
        return partial(exact.warp, maps[kind], PLANE, out=array(np.empty(PLANE, np.float32)))
    if kind.endswith("sample"):
        options = {"exact sample": {"precision": "exact"}, "cubic sample": {"filtering": "cubic"}}.get(kind, {})
        points, values = array(np.ones((SIDE, 2), np.float32)), array(np.empty(SIDE, np.float32))
        return partial(image(PLANE, np.float32, **options).sample, points, out=values)
    if kind in ("volume", "moves", "enlarged"):
        volume, cube = image(VOLUME, np.float32, dimensions=3), array(np.empty(VOLUME, np.float32))
        if kind == "enlarged":
            return partial(volume.resize, VOLUME, out=cube)
        moves = {"displacement": array(np.zeros((*VOLUME, 3), np.float32))} if kind == "moves" else {}
        return partial(volume.warp, rotation, VOLUME, **moves, out=cube)
    if kind in SMALLER:
        shape, size, dtype, options = SMALLER[kind]
        return partial(image(shape, dtype, **options).resize, size, out=array(np.empty(size_of(shape, size), dtype)))
    if kind in ("layers", "matrices"):
        layers = image((LAYERS, *PLANE, 4), np.uint8, layers=True)
        several = np.stack([matrix] * LAYERS) if kind == "matrices" else matrix
        return partial(layers.warp, several, PLANE, out=array(np.empty((LAYERS, *PLANE, 4), np.uint8)))
    filtering = "cubic" if kind.startswith("cubic") else "linear"
    plane = image((*PLANE, 4), np.uint8, mipmaps=kind == "mipmap", filtering=filtering)
    field, out = array(np.zeros((*PLANE, 2), np.float32)), array(np.empty((*PLANE, 4), np.uint8))
    return {
        "cubic": partial(plane.warp, matrix, PLANE, out=out),
        "cubic remap": partial(plane.remap, field, out=out),
        "cubic resize": partial(plane.resize, PLANE, out=out),
        "plane": partial(plane.warp, matrix, PLANE, out=out),
        "mipmap": partial(plane.warp, matrix, PLANE, out=out),
        "displacement": partial(plane.warp, matrix, PLANE, displacement=field, out=out),
        "remap": partial(plane.remap, field, out=out),
        "relative": partial(plane.remap, field, relative=True, out=out),
        "resize": partial(plane.resize, PLANE, out=out),
    }[kind]


KINDS = (
    "plane", "mipmap", "exact", "lists", "columns", "displacement", "volume", "moves", "layers", "matrices", "remap",
    "relative", "resize", "enlarged", "sample", "exact sample", "cubic", "cubic remap", "cubic resize", "cubic sample",
    *SMALLER,
)  # fmt: skip


@pytest.fixture
def _with_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels compute the means of areas on processors, too, where the back end does not."""
    monkeypatch.setattr(bl.Device, "is_gpu", lambda _: True)


@pytest.mark.usefixtures("_with_kernels")
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_in_usm(device: bl.Device, kind: str) -> None:
    with bl.Queue(device, in_order=True) as queue:
        assert fewest_calls(picture(queue, kind, in_usm=True)) <= MOST_OF_A_PICTURE
        queue.wait()


@pytest.mark.usefixtures("_with_kernels")
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_in_memory_of_the_host(device: bl.Device, kind: str) -> None:
    """But for the wait: where C code has asked the driver often enough, Python goes on to ask."""
    with bl.Queue(device, in_order=True) as queue:
        assert fewest_calls(picture(queue, kind, in_usm=False), besides=WAIT) <= MOST_OF_A_PICTURE


def test_a_new_result() -> None:
    """Pictures and samples whose result is a new array of the host."""
    with bl.Queue("reference", in_order=True) as queue, bl.Image(np.ones(PLANE, np.uint8), queue=queue) as image:
        field = np.ones((*PLANE, 2), np.float32)
        calls: tuple[Call, ...] = (
            partial(image.warp, np.eye(3), PLANE),
            partial(image.warp, np.eye(3), PLANE, displacement=field),
            partial(image.remap, field),
            partial(image.resize, PLANE),
            partial(image.sample, field),
        )
        for call in calls:
            assert fewest_calls(call) <= MOST_OF_A_PICTURE, call
        assert fewest_calls(partial(image.warp, np.eye(3), PLANE)) <= 8


MOST_OF_NEW_MEMORY = 8
IN_USM = ("remap", "relative", "sample", "exact sample", "cubic remap", "cubic sample")  # results are where vectors are


@pytest.mark.usefixtures("_with_kernels")
@pytest.mark.parametrize(("kind", "in_usm"), [*((kind, False) for kind in KINDS), *((kind, True) for kind in IN_USM)])
def test_a_new_result_of_each_kind(kind: str, in_usm: bool) -> None:
    with bl.Queue("reference", in_order=True) as queue:
        call = picture(queue, kind, in_usm=in_usm)
        out = call.keywords.pop("out")
        result = call()
        assert type(result) is type(out) and result.shape == out.shape and result.dtype == out.dtype
        assert fewest_calls(call, besides=WAIT) <= (MOST_OF_NEW_MEMORY if in_usm else MOST_OF_A_PICTURE)
        queue.wait()


@pytest.mark.usefixtures("_with_kernels")
@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize(
    "kind", ["displacement", "moves", "remap", "relative", "sample", "exact sample", "cubic remap"]
)
def test_vectors_in_usm_of_a_picture_on_the_host(device: bl.Device, kind: str, new: bool) -> None:
    """Equal to that of vectors on the host, after work of the queue that writes them."""
    with bl.Queue(device, in_order=True) as queue:
        call = picture(queue, kind, in_usm=False)
        out, image, options = call.keywords["out"], call.func.__self__, {**call.keywords}
        image.update(np.random.default_rng(1).integers(0, 200, image.numpy().shape).astype(image.dtype))
        host = options.get("displacement", call.args[0])
        vectors = usm(queue, np.zeros_like(host))
        options["out"] = None if new else np.empty_like(out)
        if "displacement" in options:
            again = partial(call.func, *call.args, **{**options, "displacement": vectors})
        else:
            again = partial(call.func, vectors, **options)
        for number in range(6):
            host[...] = np.random.default_rng(number).random(host.shape) * 4
            queue.memcpy(vectors, host)
            result, expected = again(), call()
            assert new or result is options["out"]
            values = result.numpy() if isinstance(result, bl.UsmArray) else result
            np.testing.assert_array_equal(values, expected)
        if isinstance(result, np.ndarray):
            assert fewest_calls(again, besides=WAIT) <= MOST_OF_A_PICTURE
        queue.wait()


MOST_OF_AN_UPDATE = 4
UPDATES = 70  # small pixels of the host get pinned memory after so many


@pytest.mark.parametrize("mipmaps", [False, True])
@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 4), (8, 8, 3)])
def test_an_update(device: bl.Device, shape: tuple[int, ...], mipmaps: bool) -> None:
    """Of numpy arrays and of memory of the device."""
    pixels = np.ones(shape, np.float32)
    if mipmaps:
        require(device, bl.Aspect.ext_oneapi_mipmap)
    with bl.Queue(device, in_order=True) as queue, bl.Image(pixels, mipmaps=mipmaps, queue=queue) as image:
        arrays = (np.ones(shape, np.float32), usm(queue, np.ones(shape, np.float32)))
        for array in arrays:
            for _ in range(UPDATES):
                image.update(array)
            assert fewest_calls(lambda array=array: image.update(array)) <= MOST_OF_AN_UPDATE + mipmaps
        queue.wait()


def test_an_update_from_a_tensor() -> None:
    with bl.Queue("reference", in_order=True) as queue, bl.Image(np.ones(PLANE, np.float32), queue=queue) as image:
        for value in range(3):
            image.update(Exchanged(np.full(PLANE, value, np.float32)))
        tensor = Exchanged(np.full(PLANE, 7, np.float32))
        assert fewest_calls(lambda: image.update(tensor)) <= MOST_OF_AN_UPDATE
        assert (image.numpy() == 7).all()


MOST_OF_A_FRAME, MOST_OF_THREE_PLANES = 8, 14


class Tensor(Exchanged):
    """Such an array with the attributes that those of libraries have."""

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def reshape(self, shape: tuple[int, ...]) -> Tensor:
        return Tensor(self.array.reshape(shape))


@pytest.mark.parametrize("library", ["numpy", "usm", "tensor"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_an_update_of_a_frame(device: bl.Device, dtype: Any, library: str) -> None:
    """Planes of NV12 and P010, the second one in pairs or rows, are the last ones; bad ones change neither plane."""
    rng = np.random.default_rng(5)
    with bl.Queue(device, in_order=True) as queue:

        def new(*shape: int) -> Any:
            values = rng.integers(0, 256, shape).astype(dtype) << (8 if dtype is np.uint16 else 0)
            return {"numpy": values, "usm": values, "tensor": Tensor(values)}[library], values

        def place(array: Any) -> Any:
            return usm(queue, array) if library == "usm" else array

        (y, light), (uv, hue) = new(6, 10), new(3, 5, 2)
        y, uv = place(y), place(uv)
        with bl.Image.from_nv12(np.zeros_like(light), np.zeros_like(hue), queue=queue) as image:
            for again in (uv, uv if library == "usm" else uv.reshape((3, 10))):
                for _ in range(UPDATES):
                    image.update_nv12(y, again)
                assert fewest_calls(lambda again=again: image.update_nv12(y, again), besides=WAIT) <= MOST_OF_A_FRAME
            with bl.Image.from_nv12(light, hue, queue=queue) as other:
                np.testing.assert_array_equal(image.numpy(), other.numpy())
                for bad_y, bad_uv in ((y, place(new(3, 4, 2)[0])), (place(new(6, 8)[0]), place(new(3, 5, 2)[0]))):
                    with pytest.raises(bl.InvalidError):
                        image.update_nv12(bad_y, bad_uv)
                np.testing.assert_array_equal(image.numpy(), other.numpy())


@pytest.mark.parametrize("on_host", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_an_update_of_three_planes(device: bl.Device, dtype: Any, on_host: bool) -> None:
    rng = np.random.default_rng(6)
    with bl.Queue(device, in_order=True) as queue:
        frames = [[rng.integers(0, 256, shape).astype(dtype) for shape in ((6, 10), (3, 5), (3, 5))] for _ in range(3)]
        there = [np.zeros_like(plane) if on_host else usm(queue, np.zeros_like(plane)) for plane in frames[0]]
        with bl.Image.from_yuv420(*frames[0], queue=queue) as image:
            for frame in frames * 2:
                for plane, values in zip(there, frame):
                    queue.memcpy(plane, values).wait()
                event = image.update_yuv420(*there)
                assert (event is None) == on_host
                with bl.Image.from_yuv420(*frame, queue=queue) as other:
                    np.testing.assert_array_equal(image.numpy(), other.numpy())
            calls = fewest_calls(lambda: image.update_yuv420(*there), besides=WAIT)
            assert calls <= MOST_OF_THREE_PLANES


def test_three_planes_of_a_library_on_the_host_are_read(device: bl.Device) -> None:
    """They may be overwritten after the call."""
    frame = [np.full(shape, 90, np.uint8) for shape in ((6, 10), (3, 5), (3, 5))]
    with bl.Queue(device, in_order=True) as queue, bl.Image.from_yuv420(*frame, queue=queue) as image:
        expected = image.numpy()
        for value in (20, 90):
            tensors = [Tensor(np.full_like(plane, value)) for plane in frame]
            image.update_yuv420(*[usm(queue, plane) for plane in frame])
            assert image.update_yuv420(*tensors) is None
            for tensor in tensors:
                tensor.array[...] = 0
            assert np.array_equal(image.numpy(), expected) == (value == 90)


@pytest.mark.parametrize("shape", [(SIDE, SIDE, 3), (256, 256, 3), (256, 256), (DEPTH, 256, 256)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_an_update_of_each_size(device: bl.Device, shape: tuple[int, ...], dtype: Any) -> None:
    """Pixels that lack a channel, and those that go through memory of the device, are the last ones of the host."""
    options = {"dimensions": 3} if len(shape) == 3 and shape[-1] != 3 else {}
    first = np.zeros(shape, dtype)
    with bl.Queue(device, in_order=True) as queue, bl.Image(first, queue=queue, **options) as image:
        for value in range(UPDATES):
            image.update(np.full(shape, value, dtype))
        pixels = np.arange(first.size).astype(dtype).reshape(shape)
        if device.backend in ("reference", "cuda"):
            assert fewest_calls(lambda: image.update(pixels), besides=WAIT) <= MOST_OF_AN_UPDATE
        image.update(pixels)
        if device.backend != "cuda" or shape[-1] != 3:  # a driver that records runs no kernel
            assert (image.numpy() == pixels).all()


def test_copies_of_bytes(device: bl.Device) -> None:
    """Of memory of the device and of the host, at any addresses, and of a part."""
    with bl.Queue(device, in_order=True) as queue:
        values = np.arange(64, dtype=np.float32)
        for source, target in ((values, usm(queue, values * 0)), (usm(queue, values), np.zeros_like(values))):
            if device.backend in ("reference", "cuda"):
                assert fewest_calls(lambda a=source, b=target: queue.memcpy(b, a)) <= MOST_OF_A_PICTURE
            queue.memcpy(target, source).wait()
            assert (np.asarray(target.numpy() if isinstance(target, bl.UsmArray) else target) == values).all()
        part, other = usm(queue, values * 0), usm(queue, values)
        for _ in range(3):
            queue.memcpy(part, other, 16).wait()
        assert (part.numpy()[:4] == values[:4]).all() and not part.numpy()[4:].any()
        with pytest.raises(bl.InvalidError):
            queue.memcpy(part, other[:4])
        with pytest.raises(bl.InvalidError):
            queue.memcpy(part[:2], other, 16)
