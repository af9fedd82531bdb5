"""Python functions of the package that a repeated call runs, on the reference device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from bindless.image import default_queue
from tests.support.python_calls import python_calls

MATRIX = np.array([[0.9, 0.1], [0.0, 1.0]])


@pytest.fixture
def own_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The reference device as the default one."""
    with bl.Queue("reference", in_order=True) as queue:
        monkeypatch.setattr(default_queue, "_default", queue)
        yield


@pytest.mark.usefixtures("own_queue")
@pytest.mark.parametrize(("order", "most"), [(0, 12), (1, 12), (3, 30)])
def test_calls_of_a_repeated_transform(order: int, most: int) -> None:
    image = np.random.default_rng(3).random((8, 8)).astype(np.float32)
    call = partial(ndimage.affine_transform, image, MATRIX, 0.3, order=order)
    expected = call()
    for _ in range(2):
        np.testing.assert_array_equal(call(), expected)
    assert len([name for name in python_calls(call) if not name.endswith(">")]) <= most


@pytest.mark.usefixtures("own_queue")
def test_equal_calls_of_other_arrays_keep_apart() -> None:
    """The image of a call is used again: by the next one, and by none that has begun."""
    images = [np.full((6, 6), number, np.float32) for number in range(4)]
    results = [ndimage.shift(image, 0.0, order=1, mode="nearest") for image in images]
    assert [result.min() for result in results] == [result.max() for result in results] == [0, 1, 2, 3]
    assert np.signbit(ndimage.shift(images[1], 9.0, order=1, cval=-0.0)).all()
    assert not np.signbit(ndimage.shift(images[1], 9.0, order=1, cval=0.0)).any()
