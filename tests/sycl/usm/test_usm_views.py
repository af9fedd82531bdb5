"""Views of UsmArrays against numpy's: reshaping, transposing, other dtypes."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import bindless as bl
from bindless.sycl.usm.strides import indexed, permuted, reshaped_strides
from tests.support.error_checks import raises

SIZES = st.lists(st.integers(1, 4), min_size=0, max_size=4)


@st.composite
def views(draw):
    """A view of a numpy array made by slicing and transposing."""
    shape = draw(SIZES)
    values = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    key = []
    for size in shape:
        start, stop = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
        step = draw(st.sampled_from([1, 1, 1, 2, -1]))
        key.append(slice(start, stop, step) if step > 0 else slice(None, None, step))
    return values[(*key, ...)].transpose(draw(st.permutations(range(len(shape)))))


@st.composite
def shapes_of(draw, size):
    """A shape with a given number of elements."""
    shape = []
    while size > 1:
        factor = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        shape.append(factor)
        size //= factor
        if len(shape) == 5:
            shape.append(size)
            break
    return tuple(draw(st.permutations(shape)))


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_reshaping_finds_a_view_exactly_where_there_is_one(data):
    values = data.draw(views())
    wanted = data.draw(shapes_of(values.size)) if values.size else (0, 3)
    strides = reshaped_strides(values.shape, values.strides, wanted, 4)
    expected = values.reshape(wanted)
    is_view = values.size == 0 or expected.__array_interface__["data"] == values.__array_interface__["data"]
    assert (strides is not None) == is_view, (values.shape, values.strides, wanted)
    if strides is not None and values.size:
        seen = np.lib.stride_tricks.as_strided(values, wanted, strides)
        np.testing.assert_array_equal(seen, expected)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_indexing_is_numpys(data):
    values = data.draw(views())
    key = []
    for size in values.shape:
        part = data.draw(
            st.one_of(
                st.slices(size),
                st.integers(-size, size - 1) if size else st.slices(size),
                st.just(None),
            )
        )
        key += [part, slice(None)] if part is None else [part]
    key = tuple(key)
    shape, strides, offset = indexed(values.shape, values.strides, key)
    expected = values[key]
    assert shape == expected.shape
    if expected.size:
        base = values.__array_interface__["data"][0]
        assert base + offset == np.asarray(expected).__array_interface__["data"][0] or expected.ndim == 0
        seen = np.lib.stride_tricks.as_strided(values.reshape(-1)[:0] if not values.size else values, shape, strides)
        assert seen.shape == expected.shape


def test_transposing(queue):
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    array = bl.usm_empty((2, 3, 4), "i2", queue).copy_from(values)
    for axes in ((), (0, 1, 2), (2, 0, 1), (-1, 0, 1), ((1, 2, 0),)):
        view, expected = array.transpose(*axes), values.transpose(*axes)
        assert view.shape == expected.shape and view.strides == expected.strides
        np.testing.assert_array_equal(view.numpy(), expected)
    np.testing.assert_array_equal(array.T.T[1].T.numpy(), values[1].T)
    array.T.copy_from(values.T + 1)
    np.testing.assert_array_equal(array.numpy(), values + 1)
    for wrong in ((0,), (0, 1, 1), (0, 1, 3), (0, 1, 2, 2)):
        with raises(bl.InvalidError, names=(0, 2)):
            array.transpose(*wrong)
    with raises(bl.InvalidError):
        permuted((2, 3), (12, 4), ("x", 0))


def test_reshaping_views(queue):
    values = np.arange(24, dtype=np.int32).reshape(4, 6)
    array = bl.usm_empty((4, 6), "i4", queue).copy_from(values)
    for view, expected in (
        (array[:, ::2].reshape(12), values[:, ::2].reshape(12)),
        (array[::2].reshape(2, 2, 3), values[::2].reshape(2, 2, 3)),
        (array[:, :4].reshape(4, 2, -1), values[:, :4].reshape(4, 2, 2)),
        (array[None, ::-1].reshape(4, 1, 6), values[::-1].reshape(4, 1, 6)),
        (array[1, 2].reshape(1, 1), values[1, 2].reshape(1, 1)),
    ):
        np.testing.assert_array_equal(view.numpy(), expected)
        assert view._owner is array._owner
    with raises(bl.InvalidError, names=("shape (16,)", "array.copy()")):
        array[:, 1:5].reshape(16)
    np.testing.assert_array_equal(array[:, 1:5].copy().reshape(16).numpy(), values[:, 1:5].reshape(16))


def test_other_dtypes_of_views_with_contiguous_rows(queue):
    values = np.arange(24, dtype=np.int32).reshape(4, 6)
    array = bl.usm_empty((4, 6), "i4", queue).copy_from(values)
    for key, dtype in ((np.s_[:, :4], "i8"), (np.s_[::-1, 2:], "u1"), (np.s_[::2, 1:2], "i2")):
        if values[key].shape[-1] == 1:
            with raises(bl.InvalidError):
                array[key].view(dtype)
            continue
        np.testing.assert_array_equal(array[key].view(dtype).numpy(), values[key].view(dtype))


def test_an_index_that_is_a_mask_is_refused(queue):
    array = bl.usm_empty(4, "i4", queue)
    for mask in (True, np.True_, np.ones(4, bool)):
        with raises(bl.InvalidError):
            array[mask]
    np.testing.assert_array_equal(array[np.int64(1) : np.int8(3)].shape, (2,))
