"""Arguments of ``bindless.cv2``: arrays of the caller, forms that only OpenCV has, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import cv2
from bindless.model.errors import ArgumentError, FeatureNotSupportedError
from tests.cv2.opencv_values import MATRIX, pixels

X = np.zeros((4, 5), np.float32)


def test_results_in_the_caller_s_array(queue: bl.Queue) -> None:
    picture, dst = pixels("uint8"), np.zeros((40, 60, 3), np.uint8)
    wanted = cv2.warpAffine(picture, MATRIX, (60, 40), queue=queue)
    assert cv2.warpAffine(picture, MATRIX, (60, 40), dst, queue=queue) is dst
    np.testing.assert_array_equal(dst, wanted)
    for values in (0, (1, 2, 3)):
        options: dict[str, Any] = {"borderValue": values, "queue": queue}
        moved = np.empty_like(picture)
        cv2.warpAffine(picture, MATRIX, None, moved, **options)
        np.testing.assert_array_equal(moved, cv2.warpAffine(picture, MATRIX, None, **options))
    cv2.resize(moved, (60, 40), dst, queue=queue)
    np.testing.assert_array_equal(dst, cv2.resize(moved, (60, 40), queue=queue))


@pytest.mark.parametrize("values", [0, (1, 200, 3)])
def test_arrays_on_the_device(queue: bl.Queue, values: Any) -> None:
    picture = pixels("uint8")
    there = bl.usm_empty(picture.shape, picture.dtype, queue)
    queue.memcpy(there, picture).wait()
    maps = np.random.default_rng(1).uniform(-3, 60, (2, 30, 20)).astype(np.float32)
    x, y = (bl.usm_empty((30, 20), np.float32, queue) for _ in range(2))
    queue.memcpy(x, maps[0]).wait()
    queue.memcpy(y, maps[1]).wait()
    found = cv2.remap(there, x, y, 1, borderValue=values, queue=queue)
    assert isinstance(found, bl.UsmArray)
    np.testing.assert_array_equal(found.numpy(), cv2.remap(picture, *maps, 1, borderValue=values, queue=queue))
    calls: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
        ("warpAffine", (MATRIX, (31, 22)), {}),
        ("resize", ((80, 20),), {}),
        ("resize", ((47, 54),), {"interpolation": cv2.INTER_NEAREST_EXACT}),
        ("resize", ((47, 41),), {"interpolation": cv2.INTER_NEAREST_EXACT}),
        ("pyrDown", (), {}),
    )
    for function, arguments, options in calls:
        found = getattr(cv2, function)(there, *arguments, queue=queue, **options)
        assert isinstance(found, bl.UsmArray)
        wanted = getattr(cv2, function)(picture, *arguments, queue=queue, **options)
        np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("border", [cv2.BORDER_REFLECT_101, cv2.BORDER_REFLECT, cv2.BORDER_WRAP])
@pytest.mark.parametrize("size", [(37, 53), (8, 6), (1, 9), (2, 1)])
def test_pyramids_of_samples(queue: bl.Queue, size: tuple[int, int], border: int) -> None:
    """Means of neighbours on the host have the bits of linear samples, and samples of those, on the device."""
    picture = pixels("float32", size=size)
    there = bl.usm_empty(picture.shape, picture.dtype, queue)
    queue.memcpy(there, picture).wait()
    down = cv2.pyrDown(there, borderType=border, queue=queue)
    np.testing.assert_array_equal(down.numpy(), cv2.pyrDown(picture, borderType=border, queue=queue))
    for more in (-1, 0, 1):
        wanted = (2 * size[1] + more, 2 * size[0] - more)
        up = cv2.pyrUp(there, dstsize=wanted, queue=queue)
        np.testing.assert_array_equal(up.numpy(), cv2.pyrUp(picture, dstsize=wanted, queue=queue))


@pytest.mark.parametrize(
    "call", [cv2.pyrDown, lambda a, dst, queue: cv2.resize(a, (26, 18), dst, interpolation=3, queue=queue)]
)
def test_results_in_the_memory_of_the_picture(queue: bl.Queue, call: Any) -> None:
    memory = np.zeros(36 * 52 * 3, np.uint8)
    whole = memory[: 36 * 52 * 3].reshape(36, 52, 3)
    whole[:] = pixels("uint8", size=(36, 52))
    result = memory[: 18 * 26 * 3].reshape(18, 26, 3)
    wanted = call(whole.copy(), np.empty_like(result), queue=queue)
    assert call(whole, result, queue=queue) is result
    np.testing.assert_array_equal(result, wanted)


def test_tensors() -> None:
    torch = pytest.importorskip("torch", reason="pip install torch")
    picture = pixels("uint8")
    found = cv2.warpAffine(torch.from_numpy(picture), torch.from_numpy(MATRIX), (60, 40))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_array_equal(found.numpy(), cv2.warpAffine(picture, MATRIX, (60, 40)))
    dst = torch.zeros(18, 20, 3, dtype=torch.uint8)
    assert cv2.resize(torch.from_numpy(picture), (20, 18), dst, interpolation=cv2.INTER_AREA) is dst
    np.testing.assert_array_equal(dst.numpy(), cv2.resize(picture, (20, 18), interpolation=cv2.INTER_AREA))


def test_one_channel_is_no_axis(queue: bl.Queue) -> None:
    picture = pixels("uint8", 1)
    found = cv2.warpAffine(picture[..., None], MATRIX, (60, 40), queue=queue)
    np.testing.assert_array_equal(found, cv2.warpAffine(picture, MATRIX, (60, 40), queue=queue))


@pytest.mark.parametrize("interpolation", [0, 1, 2])
def test_pixels_that_stay(queue: bl.Queue, interpolation: int) -> None:
    picture, dst = pixels("uint8"), np.full((40, 60, 3), 7, np.uint8)
    matrix = np.array([[1, 0, -3.25], [0, 1, 2.25]])
    whole = cv2.warpAffine(picture, matrix, (60, 40), flags=16 | interpolation, borderMode=4, queue=queue)
    flags = interpolation | cv2.WARP_INVERSE_MAP
    result = cv2.warpAffine(picture, matrix, (60, 40), dst, flags, cv2.BORDER_TRANSPARENT, queue=queue)
    assert result is dst
    x, y = np.meshgrid(np.arange(60) - 3.25, np.arange(40) + 2.25)
    reach = 0.5 if interpolation == 0 else 0
    inside = (x >= -reach) & (x <= 52 + reach) & (y >= -reach) & (y <= 36 + reach)
    np.testing.assert_array_equal(dst, np.where(inside[..., None], whole, 7))


def test_a_half_between_the_last_pixel_and_the_outside(queue: bl.Queue) -> None:
    row, dst = np.arange(4, dtype=np.uint8)[None], np.full((1, 4), 7, np.uint8)
    x = np.array([[-0.5, 3.25, 3.5, 0.5]], np.float32)  # halves go to even numbers
    cv2.remap(row, x, 0 * x, cv2.INTER_NEAREST, dst, cv2.BORDER_TRANSPARENT, queue=queue)
    assert dst.tolist() == [[0, 3, 7, 0]]


Call = Callable[[Any], Any]
LEFT: dict[str, Call] = {
    "float64": lambda a: cv2.resize(a.astype(float), (3, 3)),
    "complex": lambda a: cv2.resize(a.astype(complex), (3, 3)),
    "channels": lambda a: cv2.warpAffine(np.dstack([a, a]), MATRIX, (3, 3)),
    "lanczos": lambda a: cv2.remap(a, X, X, cv2.INTER_LANCZOS4),
    "exact": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), flags=cv2.INTER_LINEAR_EXACT),
    "flags": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), flags=256),
    "larger": lambda a: cv2.resize(a, (300, 300), interpolation=cv2.INTER_AREA),
    "factors": lambda a: cv2.resize(a, None, fx=0.3, fy=0.3, interpolation=cv2.INTER_AREA),
    "border": lambda a: cv2.pyrDown(a, borderType=cv2.BORDER_REPLICATE),
    "other border": lambda a: cv2.pyrUp(a, borderType=cv2.BORDER_REPLICATE),
}
WRONG: dict[str, Call] = {
    "axes": lambda a: cv2.resize(a[0, 0], (3, 3)),
    "empty": lambda a: cv2.resize(a[:0], (3, 3)),
    "size": lambda a: cv2.resize(a, (3, -3)),
    "sizes": lambda a: cv2.resize(a, 3),
    "factors": lambda a: cv2.resize(a, None),
    "number": lambda a: cv2.resize(a, None, fx="a", fy=1),
    "nothing": lambda a: cv2.resize(a, None, fx=1e-3, fy=1),
    "matrix": lambda a: cv2.warpAffine(a, np.eye(3), (3, 3)),
    "entries": lambda a: cv2.warpAffine(a, np.full((2, 3), np.nan), (3, 3)),
    "numbers": lambda a: cv2.warpAffine(a, [["a"] * 3] * 2, (3, 3)),
    "singular": lambda a: cv2.warpPerspective(a, np.zeros((3, 3)), (3, 3)),
    "mode": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), borderMode=6),
    "mode of a name": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), borderMode="wrap"),
    "flags": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), flags="linear"),
    "values": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), borderValue=(1, 2, 3, 4, 5)),
    "value": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), borderValue="a"),
    "dst": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), np.zeros((3, 4, 3), np.uint8)),
    "dtype of dst": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), np.zeros((3, 3, 3), np.float32)),
    "no dst": lambda a: cv2.warpAffine(a, MATRIX, (3, 3), borderMode=cv2.BORDER_TRANSPARENT),
    "one map": lambda a: cv2.remap(a, X, None, 1),
    "shapes": lambda a: cv2.remap(a, X, X[1:], 1),
    "forms": lambda a: cv2.remap(a, np.dstack([X, X]), X, 1),
    "integers": lambda a: cv2.remap(a, X.astype(int), X.astype(int), 1),
    "pairs": lambda a: cv2.remap(a, np.zeros((4, 5, 2), np.int16), X, 1),
    "half": lambda a: cv2.pyrDown(a, dstsize=(3, 3)),
    "double": lambda a: cv2.pyrUp(a, dstsize=(3, 3)),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_only_opencv_has(case: str) -> None:
    with pytest.raises(FeatureNotSupportedError, match=r"cv2\.\w+ computes it"):
        LEFT[case](pixels("uint8"))


@pytest.mark.parametrize("case", WRONG)
def test_what_opencv_refuses(case: str) -> None:
    with pytest.raises(ArgumentError):
        WRONG[case](pixels("uint8"))
