"""B-spline coefficients of arrays on the host and on the device, compared with a dense system and with scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.image.spline_filter import filter_by_kernels, spline_coefficients
from bindless.model.enums import Boundary
from bindless.model.spline_filter import SplineFilter
from tests.oracle.splines import padded, solved
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

# Shapes of arrays with their channels, and the number of filtered axes.
SHAPES: list[tuple[tuple[int, ...], int]] = [
    ((1, 1), 1), ((2, 1), 1), ((3, 1), 1), ((3, 5, 2), 1), ((40, 3), 1), ((2, 600, 4), 1), ((2, 1), 1), ((4100, 1), 1),
    ((1, 1, 1), 2), ((2, 3, 1), 2), ((150, 5, 3), 2), ((2, 37, 21, 4), 2), ((3, 17, 16, 1), 2), ((2, 18, 150, 2), 2),
    ((1, 1, 1, 1), 3), ((2, 3, 4, 2), 3), ((9, 40, 33, 1), 3), ((2, 35, 4, 6, 3), 3), ((200, 2, 3, 4), 3),
]  # fmt: skip
BOUNDARIES = ("mirror", "mirrored_repeat", "repeat")


def closeness(values: Array, expected: Array) -> float:
    return float(np.abs(values - expected).max() / np.abs(expected).max())


def on_device(queue: bl.Queue, array: Array) -> bl.UsmArray:
    memory = bl.usm_empty(array.shape, array.dtype, queue)
    memory.copy_from(array)
    return memory


@pytest.fixture(params=["host", "device", "kernels"])
def place(request: pytest.FixtureRequest, queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the arrays are; "kernels": on a device whose back end has no filter."""
    if request.param == "kernels":
        if queue._backend.spline_filters is None:
            pytest.skip("the device runs the kernels anyway: 'device'")
        monkeypatch.setattr(type(queue._backend), "spline_filters", None)
    return str(request.param)


def coefficients(queue: bl.Queue, place: str, samples: Array, dimensions: int, *args: Any, **options: Any) -> Array:
    if place == "host":
        made, after = spline_coefficients(queue, samples, dimensions, *args, **options)
        assert isinstance(made, np.ndarray) and after == ()
        return made
    made, after = spline_coefficients(queue, on_device(queue, samples), dimensions, *args, **options)
    for event in after:
        event.wait()
    assert isinstance(made, bl.UsmArray)
    return made.numpy()


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("shape", "dimensions"), SHAPES)
def test_coefficients_solve_the_system(
    queue: bl.Queue, place: str, shape: tuple[int, ...], dimensions: int, boundary: str, order: int
) -> None:
    samples = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    axes = range(len(shape) - 2, len(shape) - 2 - dimensions, -1)
    expected = solved(samples, axes, [boundary] * dimensions, order)
    made = coefficients(queue, place, samples, dimensions, boundary, order=order)
    assert made.dtype == np.float32 and made.shape == shape
    assert closeness(made, expected) < (5e-7 if order < 5 else 2e-6)  # of kernels, 0.43 to the 16th


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("fill", [None, 0.5])
@pytest.mark.parametrize(
    ("shape", "margin"), [((7, 2), [12]), ((5, 6, 1), [12, 12]), ((2, 1, 5, 3), [0, 3]), ((2, 4, 3, 5, 2), [3, 0, 12])]
)
def test_margins_surround_the_samples(
    queue: bl.Queue, place: str, shape: tuple[int, ...], margin: list[int], fill: float | None, order: int
) -> None:
    samples = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    axes = range(len(shape) - 2, len(shape) - 2 - len(margin), -1)
    boundaries = BOUNDARIES[: len(margin)]
    expected = solved(padded(samples, dict(zip(axes, margin)), fill), axes, boundaries, order)
    made = coefficients(queue, place, samples, len(margin), boundaries, margin=margin, fill=fill, order=order)
    assert made.shape == expected.shape
    assert closeness(made, expected) < 5e-7


@pytest.mark.parametrize("mode", ["mirror", "constant", "grid-constant", "wrap", "reflect", "nearest", "grid-wrap"])
def test_coefficients_are_those_of_scipy(queue: bl.Queue, place: str, mode: str) -> None:
    """scipy's ``reflect`` is inexact for fewer than eight samples, by 1e-4 of three: lines are longer here."""
    ndimage = pytest.importorskip("scipy.ndimage")
    boundary = {"reflect": "mirrored_repeat", "nearest": "mirrored_repeat", "grid-wrap": "repeat"}.get(mode, "mirror")
    samples = np.random.default_rng(3).standard_normal((12, 25, 70)).astype(np.float32)
    expected = ndimage.spline_filter(samples, 3, np.float64, mode)
    made = coefficients(queue, place, samples[..., None], 3, boundary)[..., 0]
    assert np.abs(made - expected).max() < 1e-6 * np.ptp(expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float64", "int32"])
def test_samples_of_any_numbers_and_layout(queue: bl.Queue, place: str, dtype: str) -> None:
    if dtype == "float64" and place != "host" and not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the device has no float64")
    samples = np.random.default_rng(4).integers(0, 100, (9, 14, 6)).astype(dtype)
    view = samples[::2, ::-1, 1:4]
    expected = solved(view, (1, 0), ("mirror", "repeat"))
    if place == "host":
        made, _ = spline_coefficients(queue, view, 2, ("mirror", "repeat"))
        assert closeness(np.asarray(made), expected) < 5e-7
        return
    made, after = spline_coefficients(queue, on_device(queue, samples)[::2, ::-1, 1:4], 2, ("mirror", "repeat"))
    for event in after:
        event.wait()
    assert isinstance(made, bl.UsmArray)
    assert closeness(made.numpy(), expected) < 5e-7


def test_results_go_to_arrays_of_the_caller(queue: bl.Queue, place: str) -> None:
    samples = np.random.default_rng(5).standard_normal((140, 3, 1)).astype(np.float32)
    expected = solved(samples, (1, 0), ("mirror", "mirror"))
    out = np.empty(samples.shape, np.float32)
    if place == "host":
        made, _ = spline_coefficients(queue, samples, 2, out=out)
        assert made is out
    else:
        memory = bl.usm_empty(out.shape, np.float32, queue)
        made, after = spline_coefficients(queue, on_device(queue, samples), 2, out=memory)
        assert made is memory
        queue.memcpy(out, memory, depends_on=after).wait()
    assert closeness(out, expected) < 5e-7


def test_bad_arguments(queue: bl.Queue) -> None:
    samples = np.zeros((4, 5, 1), np.float32)
    memory = on_device(queue, samples)
    for bad in ("edge", "wrap", ("mirror", "constant")):
        with raises(bl.InvalidError):
            spline_coefficients(queue, samples, 2, bad)
    for dimensions in (0, 3, 4):
        with raises(bl.InvalidError):
            spline_coefficients(queue, samples, dimensions)
    with raises(bl.InvalidError):
        spline_coefficients(queue, np.zeros((4, 5), np.float32), 1)  # five channels
    with raises(bl.InvalidError):
        spline_coefficients(queue, samples.astype(complex), 2)
    with raises(bl.InvalidError):
        spline_coefficients(queue, samples, 2, margin=-1)
    with raises(bl.InvalidError):
        spline_coefficients(queue, samples, 2, order=1)
    with raises(bl.InvalidError):
        spline_coefficients(queue, samples[:0], 2, margin=12)
    with raises(bl.InvalidError):
        spline_coefficients(queue, samples, 2, ("mirror",))
    with raises(bl.InvalidError):
        spline_coefficients(queue, samples, 2, out=np.zeros((4, 5, 1)))
    with raises(bl.InvalidError):
        spline_coefficients(queue, memory, 2, out=np.zeros((4, 5, 1), np.float32))


def test_no_samples_have_no_coefficients(queue: bl.Queue) -> None:
    samples = np.zeros((3, 0, 5, 1), np.float32)
    for array in (samples, bl.usm_empty(samples.shape, np.float32, queue)):
        made, after = spline_coefficients(queue, array, 2)
        assert made.shape == samples.shape and after == ()


def test_kernels_filter_a_large_array_as_the_processor_does(queue: bl.Queue) -> None:
    """More groups than one launch has, and columns that are filtered in place."""
    samples = np.random.default_rng(6).standard_normal((2, 20, 60, 1100, 1)).astype(np.float32)
    expected, _ = spline_coefficients(queue, samples, 3)
    source, target = on_device(queue, samples), bl.usm_empty(samples.shape, np.float32, queue)
    described = SplineFilter(0, 0, (1100, 60, 20), 2, 1, 3, (0, 0, 0), None, (Boundary.mirror,) * 3)
    for event in filter_by_kernels(queue, described, source, target, ()):
        event.wait()
    assert closeness(target.numpy(), np.asarray(expected)) < 5e-7
