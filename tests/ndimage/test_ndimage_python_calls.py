"""Python functions of the package that a repeated call runs, on the reference device."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from bindless.image import default_queue
from bindless.ndimage import repeated
from bindless.ndimage.images import images_of
from tests.support.error_checks import raises
from tests.support.python_calls import front_calls

MATRIX = np.array([[0.9, 0.1], [0.0, 1.0]])


@pytest.fixture
def own_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The reference device as the default one."""
    with bl.Queue("reference", in_order=True) as queue:
        monkeypatch.setattr(default_queue, "_default", queue)
        monkeypatch.setattr(repeated, "_calls", {})
        yield


CALLS: dict[str, Callable[..., Any]] = {
    "affine": lambda image, number, **options: ndimage.affine_transform(
        image, MATRIX + 0.01 * number, 0.3 * number, **options
    ),
    "rotate": lambda image, number, **options: ndimage.rotate(image, 7.5 * number, reshape=False, **options),
    "shift": lambda image, number, **options: ndimage.shift(image, (0.1 * number, -0.2), **options),
    "zoom": lambda image, number, **options: ndimage.zoom(image, 1.5 + 1e-4 * number, **options),
}


@pytest.mark.usefixtures("own_queue")
@pytest.mark.parametrize("has_queue", [False, True])
@pytest.mark.parametrize("kind", ["numpy", "dtype", "torch", "jax"])
@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("name", list(CALLS))
def test_calls_with_new_numbers(name: str, order: int, kind: str, has_queue: bool) -> None:
    """A loop over twenty angles, shifts, factors and matrices, against calls in a queue that keeps nothing."""
    image: Any = np.random.default_rng(3).random((8, 8)).astype(np.float32)
    options: dict[str, Any] = {"order": order}
    if kind == "torch":
        image = pytest.importorskip("torch").from_numpy(image)
    elif kind == "jax":
        jax = pytest.importorskip("jax")
        image = jax.device_put(image, jax.devices("cpu")[0])
    elif kind == "dtype":
        options["output"] = np.float32
    with bl.Queue("reference", in_order=True) as queue, bl.Queue("reference") as other:
        call = partial(CALLS[name], image, **options, **({"queue": queue} if has_queue else {}))
        for number in range(20):
            result = call(number)
            assert type(result) is type(image)
            expected = CALLS[name](np.asarray(image), number, queue=other, **options)
            np.testing.assert_array_equal(np.asarray(result), expected)
        most = max(len(front_calls(partial(call, number))) for number in range(20, 30))
        assert most <= (16 if order == 3 else 12)


@pytest.mark.usefixtures("own_queue")
def test_numbers_that_change_the_result_s_form() -> None:
    """Sizes and filters follow from the numbers too; wrong numbers are refused after right ones."""
    image = np.random.default_rng(5).random((8, 9)).astype(np.float32)
    with bl.Queue("reference") as other:
        for factor in (1.5, 1.51, 1.0, 1, 2.0, [1.5, 1.5], 1.0, 1.01, (1, 1.2)):
            for grid_mode in (False, True):
                options: dict[str, Any] = {"order": 1, "mode": "mirror", "grid_mode": grid_mode}
                expected = ndimage.zoom(image, factor, queue=other, **options)
                np.testing.assert_array_equal(ndimage.zoom(image, factor, **options), expected)
        for degrees, axes in ((30, (1, 0)), (31.0, (0, 1)), (30, (-1, 0)), (90, [1, 0]), (181, (1, 0))):
            expected = ndimage.rotate(image, degrees, axes, order=1, queue=other)
            np.testing.assert_array_equal(ndimage.rotate(image, degrees, axes, order=1), expected)
    for wrong in (-1.0, float("nan"), (1.5, 1.5, 1.5), "x"):
        with raises(bl.ArgumentError):
            ndimage.zoom(image, wrong, order=1, mode="mirror")
    for angle, axes in ((float("inf"), (1, 0)), (30, (1, 1)), (30, 1), (30, (0, 2))):
        with raises(bl.ArgumentError):
            ndimage.rotate(image, angle, axes, order=1)
    with raises(bl.ArgumentError):
        ndimage.shift(image, (1, 2, 3), order=1)


@pytest.mark.usefixtures("own_queue")
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "f2"])
def test_repeated_splines_of_other_types(dtype: str) -> None:
    """An image of coefficients has float32, whatever the array has."""
    image = (np.random.default_rng(5).random((8, 9)) * 100).astype(dtype)
    call = partial(ndimage.shift, image, 0.4, order=3, mode="mirror", prefilter=False)
    expected = call()
    for _ in range(2):
        np.testing.assert_array_equal(call(), expected)


def test_a_queue_keeps_images_until_it_is_closed() -> None:
    image = np.random.default_rng(7).random((8, 9)).astype(np.float32)
    queue = bl.Queue("reference", in_order=True)
    ndimage.shift(image, 0.5, order=1, queue=queue)
    stores = [weakref.ref(image.store) for row in images_of(queue).free.values() for image in row]
    assert len(stores) == 1
    queue.close()
    gc.collect()
    assert [store() for store in stores] == [None]
    dropped = bl.Queue("reference", in_order=True)
    ndimage.shift(image, 0.5, order=1, queue=dropped)
    reference = weakref.ref(dropped)
    del dropped
    gc.collect()
    assert reference() is None


@pytest.mark.usefixtures("own_queue")
def test_equal_calls_of_other_arrays_keep_apart() -> None:
    """The image of a call is used again: by the next one, and by none that has begun."""
    images = [np.full((6, 6), number, np.float32) for number in range(4)]
    results = [ndimage.shift(image, 0.0, order=1, mode="nearest") for image in images]
    assert [result.min() for result in results] == [result.max() for result in results] == [0, 1, 2, 3]
    assert np.signbit(ndimage.shift(images[1], 9.0, order=1, cval=-0.0)).all()
    assert not np.signbit(ndimage.shift(images[1], 9.0, order=1, cval=0.0)).any()
