"""Invalid numbers, arrays and capsules: each raises an error of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl


@pytest.mark.parametrize("alignment", [3, -8, 2**64, 2**200, 1.5, "8", None, float("nan")])
def test_an_alignment_that_no_address_has(queue: bl.Queue, alignment: Any) -> None:
    with pytest.raises(bl.InvalidError):
        bl.malloc_device(64, queue, alignment=alignment)


@pytest.mark.parametrize("selector", ["9" * 5000, "reference:cpu:" + "9" * 5000, "reference:*:" + "0" * 5000 + "7"])
def test_a_number_of_thousands_of_digits(selector: str) -> None:
    with pytest.raises(bl.InvalidError):
        bl.Device(selector)


@pytest.mark.parametrize("size", [2**62, 2**63, 2**64, 10**30])
def test_a_picture_that_no_memory_holds(queue: bl.Queue, size: int) -> None:
    with bl.Image(np.zeros((8, 8), np.float32), queue=queue) as image:
        for attempt in (
            lambda: image.resize((4, size)),
            lambda: image.warp([[1, 0, 0], [0, 1, 0]], (size, 4)),
            lambda: bl.Image.from_equirectangular(np.zeros((8, 16), np.float32), size, queue=queue),
        ):
            with pytest.raises(bl.MemoryAllocationError):
                attempt()


@pytest.mark.parametrize("size", [float("nan"), float("inf"), 1.5, "3", 0, -1, (3, "a"), (), (1, 2, 3)])
def test_a_size_that_is_none(queue: bl.Queue, size: Any) -> None:
    with bl.Image(np.zeros((8, 8), np.float32), queue=queue) as image:
        for attempt in (
            lambda: image.resize(size),
            lambda: image.warp([[1, 0, 0], [0, 1, 0]], size),
            lambda: bl.Image.from_equirectangular(np.zeros((8, 16), np.float32), size, queue=queue),
        ):
            with pytest.raises(bl.InvalidError):
                attempt()


def test_a_matrix_that_is_not_finite(queue: bl.Queue) -> None:
    with bl.Image(np.zeros((8, 8), np.float32), queue=queue) as image, pytest.raises(bl.InvalidError):
        image.warp([[float("nan"), 0, 0], [0, 1, 0]], (4, 4))


@pytest.mark.parametrize("index", [slice(None, None, 0), slice("a", None), slice(None, 1.5)])
def test_a_slice_that_is_none(queue: bl.Queue, index: slice) -> None:
    with pytest.raises(bl.InvalidError):
        bl.usm_empty(8, np.int32, queue)[index]


class Exporter:
    """A numpy array that reports a false device."""

    def __init__(self, place: Any) -> None:
        self.array, self.place = np.arange(4, dtype=np.int32), place

    def __dlpack_device__(self) -> Any:
        return self.place

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


@pytest.mark.parametrize("place", [("a", "b"), ("1", "0"), 1, None, (1,), (1, 0, 0), (1.5, 0)])
def test_a_place_that_is_none(place: Any) -> None:
    with pytest.raises(bl.InvalidError):
        bl.from_dlpack(Exporter(place))


def test_a_capsule_that_contradicts_its_exporter() -> None:
    """The capsule states host memory, the exporter another device: one of the two is wrong."""
    from bindless.sycl.usm.array_import import _same_place

    assert bl.from_dlpack(Exporter((1, 0))).numpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(bl.InvalidError):
        bl.from_dlpack(Exporter((2, 0)), bl.Queue("reference"))
    assert not _same_place((1, 0), (2, 0)) and not _same_place((2, 0), (2, 1)) and _same_place((1, 0), (3, 1))


def test_an_exporter_of_the_host_with_a_capsule_of_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.sycl.usm import dlpack_export

    array = np.arange(4, dtype=np.int32)
    address = array.__array_interface__["data"][0]
    capsule = dlpack_export.capsules.make_capsule(array, address, (2, 0), (0, 32), (4,), (1,), 0, False)

    class Lying(Exporter):
        def __dlpack__(self, **options: Any) -> Any:
            return capsule

    with pytest.raises(bl.InvalidError):
        bl.from_dlpack(Lying((1, 0)))


@pytest.mark.parametrize("change", [{"offset": "a"}, {"offset": 1.5}, {"shape": ("a",)}, {"data": (8, False)}])
def test_an_interface_that_is_none(queue: bl.Queue, change: dict[str, Any]) -> None:
    class Array:
        @property
        def __sycl_usm_array_interface__(self) -> dict[str, Any]:
            plain = {"version": 1, "shape": (4,), "typestr": "<i4", "data": (2**40, False), "syclobj": queue}
            return {**plain, **change}

    with pytest.raises(bl.InvalidError):
        bl.as_usm_array(Array(), queue)


def test_blocks_of_a_picture_without_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from bindless.sampling import row_blocks

    def refuse(*_: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    monkeypatch.setattr(row_blocks.os, "cpu_count", lambda: 4)
    rows = np.zeros(1000, np.int32)

    def work(start: int, stop: int) -> None:
        rows[start:stop] += 1

    row_blocks.in_blocks(work, len(rows), 1 << 14)
    assert (rows == 1).all()
