"""Device functions with arrays of other libraries: DLPack's exchange functions, and results in the same library."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.exchange_peer import Exchanged
from tests.support.pixels import every_coordinate, random_pixels, upload
from tests.support.python_calls import python_calls

DESC = bl.ImageDescriptor(9, 7)
PLAIN = bl.BindlessImageSampler("clamp_to_edge")
EVERY = every_coordinate(9, 7)
CENTRES = (EVERY + 0.5).astype(np.float32)
COUNT = len(EVERY)
OFTEN = 5


@pytest.fixture
def own(device: bl.Device) -> Iterator[bl.Queue]:
    """A new in-order queue of a device that reaches host memory: the library's arrays are the host's."""
    if not device.has(bl.Aspect.usm_system_allocations):
        pytest.skip("the device does not reach host memory: runs with --device reference")
    with bl.Queue(device, in_order=True) as made:
        yield made


@pytest.fixture
def image(own: bl.Queue) -> tuple[Any, np.ndarray[Any, Any]]:
    """A handle, and the pixels in the order of ``EVERY``."""
    pixels = random_pixels(DESC, 1)
    upload_ = upload(own, DESC, pixels)
    handle = bl.create_image(upload_, DESC, own, sampler=PLAIN)
    return handle, pixels.reshape(-1, 4)


class Peer:
    """A library: how its arrays are made of numpy's, and seen."""

    def __init__(self, name: str) -> None:
        self.torch: Any = (
            pytest.importorskip("torch", reason="needs torch: pip install torch") if name == "torch" else None
        )

    def make(self, array: np.ndarray[Any, Any]) -> Any:
        return Exchanged(array.copy()) if self.torch is None else self.torch.from_numpy(array.copy())

    def see(self, array: Any) -> np.ndarray[Any, Any]:
        assert type(array) is (Exchanged if self.torch is None else self.torch.Tensor)
        return array.array if self.torch is None else array.numpy()


@pytest.fixture(params=["ctypes", "torch"])
def peer(request: pytest.FixtureRequest) -> Peer:
    return Peer(request.param)


def test_results_come_back_in_the_library(own: bl.Queue, image: Any, peer: Peer) -> None:
    handle, pixels = image
    rng = np.random.default_rng(2)
    kept = []
    for _ in range(OFTEN):
        order = rng.permutation(COUNT)
        kept.append((bl.sample_image(own, handle, peer.make(CENTRES[order])), order))
        out = peer.make(np.zeros((COUNT, 4), np.float32))
        assert bl.sample_image(own, handle, peer.make(CENTRES[order]), out=out) is out
        np.testing.assert_array_equal(peer.see(out), pixels[order])
        three = bl.sample_image(own, handle, peer.make(CENTRES[order]), num_channels=3, dtype=np.float16)
        np.testing.assert_array_equal(peer.see(three), pixels[order, :3].astype(np.float16))
    for got, order in kept:
        np.testing.assert_array_equal(peer.see(got), pixels[order])
    assert own._stream.image_calls is not None and own._stream.image_calls.count() == 3


def test_mixed_with_numpy(own: bl.Queue, image: Any, peer: Peer) -> None:
    handle, pixels = image
    for _ in range(OFTEN):
        out = np.zeros((COUNT, 4), np.float32)
        assert bl.sample_image(own, handle, peer.make(CENTRES), out=out) is out
        np.testing.assert_array_equal(out, pixels)
        theirs = peer.make(np.zeros((COUNT, 4), np.float32))
        assert bl.sample_image(own, handle, CENTRES, out=theirs) is theirs
        np.testing.assert_array_equal(peer.see(theirs), pixels)


def test_reads_and_writes(own: bl.Queue, peer: Peer) -> None:
    memory = bl.ImageMem(DESC, own)
    handle = bl.create_image(memory, DESC, own)
    places = peer.make(EVERY)
    for seed in range(OFTEN):
        colors = random_pixels(DESC, seed).reshape(-1, 4)
        assert bl.write_image(own, handle, places, peer.make(colors)) is None
        np.testing.assert_array_equal(peer.see(bl.fetch_image(own, handle, places)), colors)


def test_repeated_calls_run_no_python(own: bl.Queue, image: Any, peer: Peer) -> None:
    if peer.torch is None:
        pytest.skip("the functions of this library are Python functions: the case of torch counts")
    handle, _ = image
    points, out = peer.make(CENTRES), peer.make(np.zeros((COUNT, 4), np.float32))
    for command in (
        lambda: bl.sample_image(own, handle, points),
        lambda: bl.sample_image(own, handle, points, out=out),
    ):
        assert len(python_calls(command)) <= 60
        assert min(len(python_calls(command)) for _ in range(8)) == 1


def test_other_shapes_types_and_strides(own: bl.Queue, image: Any, peer: Peer) -> None:
    """An array that differs from that of the prepared call is checked as if it came first."""
    handle, pixels = image
    for _ in range(3):
        out = peer.make(np.zeros((COUNT, 4), np.float32))
        bl.sample_image(own, handle, peer.make(CENTRES), out=out)
        part = bl.sample_image(own, handle, peer.make(CENTRES[:9]))
        np.testing.assert_array_equal(peer.see(part), pixels[:9])
        with raises(bl.InvalidError, names="float64"):
            bl.sample_image(own, handle, peer.make(CENTRES.astype(np.float64)))
        with raises(bl.InvalidError, names="out is"):
            bl.sample_image(
                own, handle, peer.make(CENTRES), out=peer.make(np.zeros((COUNT, 3), np.float32)), num_channels=4
            )
        wide = np.zeros((COUNT, 4), np.float32)
        wide[:, ::2] = CENTRES
        strided = Exchanged(wide[:, ::2]) if peer.torch is None else peer.torch.from_numpy(wide)[:, ::2]
        np.testing.assert_array_equal(peer.see(bl.sample_image(own, handle, strided)), pixels)
        none = bl.sample_image(own, handle, peer.make(CENTRES[:0]))
        assert peer.see(none).shape == (0, 4)


def test_a_result_that_shares_memory(own: bl.Queue, image: Any, peer: Peer) -> None:
    handle, _ = image
    memory = np.zeros(6 * COUNT, np.float32)
    memory[: 2 * COUNT] = CENTRES.reshape(-1)
    share = Exchanged if peer.torch is None else peer.torch.from_numpy
    points = share(memory[: 2 * COUNT].reshape(COUNT, 2))
    for _ in range(3):
        bl.sample_image(own, handle, points, out=share(memory[2 * COUNT :].reshape(COUNT, 4)))
        with raises(bl.InvalidError, match="shares memory"):
            bl.sample_image(own, handle, points, out=share(memory[COUNT : 5 * COUNT].reshape(COUNT, 4)))


def test_arrays_with_gradients(own: bl.Queue, image: Any) -> None:
    """A command bypasses the graph of gradients: the library refuses, also after calls without gradients."""
    torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
    handle, pixels = image
    points, out = torch.from_numpy(CENTRES), torch.zeros(COUNT, 4)
    for _ in range(3):
        np.testing.assert_array_equal(bl.sample_image(own, handle, points, out=out).numpy(), pixels)
        with pytest.raises(BufferError):
            bl.sample_image(own, handle, points.clone().requires_grad_(), out=out)
        with pytest.raises(BufferError):
            bl.sample_image(own, handle, points, out=torch.zeros(COUNT, 4, requires_grad=True))


def test_read_only_results(own: bl.Queue, image: Any) -> None:
    """Only the owning form of an export says so: it is asked for each result."""
    handle, pixels = image
    points = Exchanged(CENTRES.copy())
    out, fixed = (Exchanged(np.zeros((COUNT, 4), np.float32), flags=flags) for flags in (0, 1))
    for _ in range(3):
        bl.sample_image(own, handle, points, out=out)
        np.testing.assert_array_equal(out.array, pixels)
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points, out=fixed)
    assert not fixed.array.any()


def test_a_library_that_refuses(own: bl.Queue, image: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays then come by their capsules, as those of libraries without exchange functions."""
    handle, pixels = image
    points, out = Exchanged(CENTRES.copy()), Exchanged(np.zeros((COUNT, 4), np.float32))
    bl.sample_image(own, handle, points, out=out)
    reads = Exchanged.reads
    bl.sample_image(own, handle, points, out=out)
    assert Exchanged.reads > reads
    monkeypatch.setattr(Exchanged, "refuses", True)
    for _ in range(3):
        out.array[:] = 0
        asked = len(points.asked)
        assert bl.sample_image(own, handle, points, out=out) is out
        assert len(points.asked) > asked
        np.testing.assert_array_equal(out.array, pixels)


def test_arrays_live_as_long_as_their_call(own: bl.Queue, image: Any) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
    handle, pixels = image
    for _ in range(OFTEN):
        points = torch.from_numpy(CENTRES.copy())
        watch = weakref.ref(points)
        got = bl.sample_image(own, handle, points)
        np.testing.assert_array_equal(got.numpy(), pixels)
        del points
        gc.collect()
        assert watch() is None
        watch = weakref.ref(got)
        del got
        gc.collect()
        assert watch() is None


def test_every_owning_export_is_ended(own: bl.Queue, image: Any) -> None:
    handle, _ = image
    out = Exchanged(np.zeros((COUNT, 4), np.float32))
    for _ in range(OFTEN):
        bl.sample_image(own, handle, CENTRES, out=out)
    reads, deleted = Exchanged.reads, out.deleted
    bl.sample_image(own, handle, CENTRES, out=out)
    assert Exchanged.reads - reads == out.deleted - deleted == 1


def test_copies(own: bl.Queue, peer: Peer) -> None:
    """Copies between images and the library's arrays on the host, which repeat like those of numpy's arrays."""
    with bl.ImageMem(DESC, own) as memory:
        for seed in range(OFTEN):
            pixels = random_pixels(DESC, seed)
            source, target = peer.make(pixels), peer.make(np.zeros_like(pixels))
            own.ext_oneapi_copy(source, memory).wait()
            own.ext_oneapi_copy(memory, target).wait()
            np.testing.assert_array_equal(peer.see(target), pixels)
            with raises(bl.InvalidError):
                own.ext_oneapi_copy(peer.make(pixels.astype(np.int32)), memory)
        if own._stream.copies is not None:
            assert own._stream.copies.count() == 2
        if peer.torch is not None:
            assert python_calls(lambda: own.ext_oneapi_copy(source, memory)) == []
            assert python_calls(lambda: own.ext_oneapi_copy(memory, target)) == []
        own.wait()


def test_copies_to_read_only_arrays(own: bl.Queue) -> None:
    pixels = random_pixels(DESC, 1)
    with bl.ImageMem(DESC, own) as memory:
        target, fixed = (Exchanged(np.zeros_like(pixels), flags=flags) for flags in (0, 1))
        own.ext_oneapi_copy(pixels, memory).wait()
        for _ in range(3):
            own.ext_oneapi_copy(memory, target).wait()
            with raises(bl.InvalidError):
                own.ext_oneapi_copy(memory, fixed)
        assert not fixed.array.any()


class Standard:
    """An array of a library of the array API standard: its namespace takes DLPack's capsules."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __array_namespace__(self) -> type[Standard]:
        return Standard

    @classmethod
    def from_dlpack(cls, other: Any) -> Standard:
        return cls(np.from_dlpack(other))

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_results_of_the_array_standard(own: bl.Queue, image: Any) -> None:
    handle, pixels = image
    kept = [bl.sample_image(own, handle, Standard(CENTRES.copy())) for _ in range(OFTEN)]
    for got in kept:
        assert type(got) is Standard
        np.testing.assert_array_equal(got.array, pixels)
