"""``UsmArray.__setitem__`` against numpy's assignment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bindless as bl
from bindless.sycl.usm.strides import boxes
from tests.support.error_checks import raises

KINDS = ("device", "host", "shared")


def made(values: Any, queue: bl.Queue, kind: str = "device") -> bl.UsmArray:
    array = np.asarray(values)
    return bl.usm_empty(array.shape, array.dtype, queue, kind=kind).copy_from(array)


@st.composite
def keys(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Integers, slices with steps of either sign, ``...`` and None."""
    parts: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        parts.append(draw(st.one_of(st.slices(size), st.integers(-size, size - 1))))
    extra = draw(st.sampled_from([..., None]))
    whole = len(parts) == len(shape)
    parts.insert(draw(st.integers(0, len(parts))) if whole or extra is None else len(parts), extra)
    return tuple(parts)


@st.composite
def sources(draw: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array that broadcasts to a shape, strided now and then."""
    own = [1 if draw(st.booleans()) and draw(st.booleans()) else size for size in shape]
    own = own[draw(st.integers(0, len(own))) :] if draw(st.booleans()) else own
    values = np.arange(100, 100 + math.prod(own) * 2, dtype=np.int32)
    kind = draw(st.sampled_from(["packed", "strided", "reversed"]))
    if kind == "strided":
        return values.reshape(*own, 2)[..., 0]
    values = values[: math.prod(own)].reshape(own)
    return values[..., ::-1] if kind == "reversed" and own else values


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_assignment_is_numpys(queue: bl.Queue, kind: str, data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=0, max_size=4)))
    expected = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    array = made(expected, queue, kind)
    key = data.draw(keys(shape))
    values = data.draw(sources(expected[key].shape))
    given_values: Any = values
    if data.draw(st.booleans()):
        whole = made(np.ascontiguousarray(values), queue, data.draw(st.sampled_from(KINDS)))
        given_values = whole.reshape(values.shape)
        if values.ndim and data.draw(st.booleans()):
            given_values, values = given_values[..., ::-1], values[..., ::-1]
    array[key] = given_values
    expected[key] = values
    np.testing.assert_array_equal(array.numpy(), expected)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_boxes_copy_every_element_once(data: Any) -> None:
    whole = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    sides = [np.arange(math.prod(whole), dtype=np.int16).reshape(whole) for _ in "ts"]
    key = tuple(slice(None, None, data.draw(st.integers(1, 3))) for _ in whole)
    target, source = sides[0][key], np.ascontiguousarray(sides[1][key])
    order = data.draw(st.permutations(range(len(whole))))
    target, source = target.transpose(order), source.transpose(order)
    for cut in (boxes(target.shape, target.strides, source.strides, 2),):
        for one in (cut, cut.single_rows()):
            places = [
                (to + row * one.pitches[0] + at, of + row * one.pitches[1] + at)
                for to, of in one.offsets()
                for row in range(one.rows)
                for at in range(0, one.row, 2)
            ]
            wanted = [
                tuple(int(np.dot(index, side.strides)) for side in (target, source))
                for index in np.ndindex(target.shape)
            ]
            assert sorted(places) == sorted(wanted)


def test_scalars_fill(queue: bl.Queue) -> None:
    array = made(np.zeros((4, 6), np.float32), queue)
    array[...] = 7
    array[1, 2:4] = np.float64(1.5)
    array[::2, ::3] = True
    expected = np.full((4, 6), 7, np.float32)
    expected[1, 2:4] = 1.5
    expected[::2, ::3] = 1
    np.testing.assert_array_equal(array.numpy(), expected)


def test_many_scattered_elements(queue: bl.Queue) -> None:
    expected = np.arange(40 * 50 * 60, dtype=np.uint8).reshape(40, 50, 60)
    array = made(expected, queue)
    values = np.arange(20 * 25 * 20, dtype=np.uint8).reshape(20, 25, 20)
    array[::2, ::-2, 1::3] = values
    expected[::2, ::-2, 1::3] = values
    array[1::2, ::2, ::3] = made(values, queue)
    expected[1::2, ::2, ::3] = values
    np.testing.assert_array_equal(array.numpy(), expected)


def test_one_channel_of_a_picture(queue: bl.Queue) -> None:
    """Rows of one element with a pitch."""
    expected = np.zeros((30, 40, 3), np.uint8)
    array = made(expected, queue)
    plane = np.arange(1200, dtype=np.uint8).reshape(30, 40)
    array[..., 1] = plane
    expected[..., 1] = plane
    array[..., 2] = made(plane, queue)[::-1]
    expected[..., 2] = plane[::-1]
    np.testing.assert_array_equal(array.numpy(), expected)


@pytest.mark.parametrize("shift", [1, -1])
def test_overlapping_views_of_one_array(queue: bl.Queue, shift: int) -> None:
    expected = np.arange(1000, dtype=np.int16)
    array = made(expected, queue)
    to, of = (slice(1, None), slice(None, -1)) if shift > 0 else (slice(None, -1), slice(1, None))
    array[to] = array[of]
    expected[to] = expected[of].copy()
    np.testing.assert_array_equal(array.numpy(), expected)


def test_other_libraries_and_dtypes(queue: bl.Queue) -> None:
    array = made(np.zeros((2, 3), np.float32), queue)

    class Exporter:
        def __init__(self, values: np.ndarray[Any, Any]) -> None:
            self.values = values

        def __dlpack__(self, **options: Any) -> Any:
            return self.values.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    array[0] = Exporter(np.array([1, 2, 3], np.int64))
    array[1] = made(np.array([4, 5, 6], np.float64), queue)
    np.testing.assert_array_equal(array.numpy(), [[1, 2, 3], [4, 5, 6]])
    array[:, 1] = [8, 9]
    np.testing.assert_array_equal(array.numpy(), [[1, 8, 3], [4, 9, 6]])


def test_libraries_that_refuse(queue: bl.Queue) -> None:
    """numpy gets a copy, or the error is one of the package."""

    class Refusing:
        def __init__(self, copied: bool) -> None:
            self.copied = copied

        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("not now")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
            if not self.copied:
                raise RuntimeError("it has a gradient")
            return np.array([7, 8], np.int32)

    array = made(np.zeros(2, np.int32), queue)
    array[...] = Refusing(True)
    assert array.numpy().tolist() == [7, 8]
    with raises(bl.InvalidError):
        array[...] = Refusing(False)


def test_work_on_any_queue_comes_first(device: bl.Device) -> None:
    out_of_order = bl.Queue(device)
    source = made(np.arange(1 << 20, dtype=np.int32), out_of_order)
    target = bl.usm_empty(1 << 20, np.int32, out_of_order)
    out_of_order.memcpy(target, source)
    target[::2] = -1
    expected = np.arange(1 << 20, dtype=np.int32)
    expected[::2] = -1
    np.testing.assert_array_equal(target.numpy(), expected)


def test_empty_selections_change_nothing(queue: bl.Queue) -> None:
    array = made(np.arange(6, dtype=np.int32), queue)
    array[3:3] = 5
    array[6:] = np.empty(0, np.int32)
    array[2:2] = array[4:4]
    np.testing.assert_array_equal(array.numpy(), np.arange(6))


def test_structured_elements(queue: bl.Queue) -> None:
    kind = np.dtype([("a", np.int16), ("b", np.float32)])
    array = made(np.zeros(4, kind), queue)
    array[1::2] = np.array((3, 0.5), kind)
    assert array.numpy().tolist() == [(0, 0.0), (3, 0.5), (0, 0.0), (3, 0.5)]


def test_what_does_not_fit_is_refused(queue: bl.Queue) -> None:
    array = made(np.zeros((2, 3), np.uint8), queue)
    for key, value in (
        ((), np.zeros((2, 2), np.uint8)),
        ((), np.zeros((3, 2, 3), np.uint8)),
        ((), made(np.zeros((2, 2), np.uint8), queue)),
        (..., 0.5),
        (..., 256),
        (..., -1),
        (..., np.zeros(3, np.float32)),
        (0, made(np.zeros(3, np.float32), queue)),
        ([0, 1], 1),
        ((0, 0, 0), 1),
        (True, 1),
    ):
        with raises(bl.InvalidError):
            array[key] = value
    with pytest.raises(IndexError):
        array[2] = 1
    np.testing.assert_array_equal(array.numpy(), np.zeros((2, 3)))
    array.close()
    with raises(bl.InvalidError):
        array[0] = 1


def test_read_only_memory_is_not_written() -> None:
    values = np.arange(3, dtype=np.int32)
    values.flags.writeable = False
    array = bl.as_usm_array(values, bl.Queue("reference"))
    with raises(bl.InvalidError):
        array[0] = 1
