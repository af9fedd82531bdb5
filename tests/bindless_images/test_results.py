"""Result arrays reuse the memory of earlier results, but never memory that is still referenced."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from bindless.bindless_images import result_arrays
from bindless.bindless_images.result_arrays import empty_result

FLOAT = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def nothing_kept():
    result_arrays._free.clear()
    yield
    result_arrays._free.clear()


def address(array):
    return array.__array_interface__["data"][0]


def kept_bytes():
    return sum(size * len(row) for size, row in result_arrays._free.items())


def test_memory_is_used_again_once_nothing_sees_it():
    first = empty_result((1024, 512), FLOAT)
    first[...] = 1
    where, view = address(first), first[3:5].T
    del first
    second = empty_result((1024, 512), FLOAT)
    second[...] = 2
    assert address(second) != where and (view == 1).all()
    del view
    third = empty_result((512, 1024), np.dtype(np.int32))
    assert address(third) == where and third.dtype == np.int32 and third.shape == (512, 1024)
    assert third.flags.writeable and third.flags.c_contiguous and (second == 2).all()


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(result_arrays, "KEPT_BYTES", 8 << 20)
    results = [empty_result((1 << 20,), FLOAT) for _ in range(5)]
    assert kept_bytes() == 0
    results.clear()
    assert 0 < kept_bytes() <= 8 << 20
    large = empty_result((3 << 20,), FLOAT)
    assert large.base is None  # above the limit: a separate array
    del large
    assert kept_bytes() <= 8 << 20


@pytest.mark.parametrize(("shape", "dtype"), [((100,), FLOAT), ((1 << 20,), np.dtype([("x", "f4"), ("y", "f4")]))])
def test_small_and_structured_results_are_arrays_of_their_own(shape, dtype):
    result = empty_result(shape, dtype)
    assert result.base is None and result.shape == shape and result.dtype == dtype


def test_threads_share_nothing():
    wrong: list[int] = []

    def work(value: int) -> None:
        for _ in range(40):
            result = empty_result((1 << 18,), FLOAT)
            result[:] = value
            if not (result == value).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
