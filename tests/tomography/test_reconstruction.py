"""Reconstructions of phantoms: filtered back projection over all kinds of turns, and iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bindless import tomography
from bindless.model.errors import ArgumentError
from tests.tomography.shapes import ball

Array = npt.NDArray[Any]
SIZE = 64
HALF = np.linspace(0, np.pi, 120, endpoint=False)
SHORT = np.linspace(0, np.pi + 2 * np.arctan(55 / 200), 140, endpoint=False)
SCANS = {
    "parallel, half a turn": tomography.parallel(HALF, 92),
    "parallel, a turn": tomography.parallel(2 * HALF, 184, 0.5),
    "parallel, sideways": tomography.parallel(2 * HALF, 92, offset=0.25),
    "fan": tomography.fan(2 * HALF, 100, 1.1, 150, 50),
    "fan, short scan": tomography.fan(SHORT, 100, 1.1, 150, 50),
    "curved fan": tomography.fan(2 * HALF, 100, 1.1, 110, 50, curved=True),
    "curved fan, short scan": tomography.fan(SHORT, 96, 1.1, 150, 50, curved=True),
    "curved fan, half a detector": tomography.fan(2 * HALF, 70, 1.1, 110, 50, offset=22.0, curved=True),
    "parallel, half a detector": tomography.parallel(2 * HALF, 50, offset=-18.0),
    "fan, half a detector": tomography.fan(2 * HALF, 70, 1.1, 150, 50, offset=22.0),
}


@pytest.fixture(scope="module")
def phantom() -> Array:
    return ball((SIZE, SIZE), (3, -4), 22) - 0.5 * ball((SIZE, SIZE), (-5, 2), 6)


@pytest.fixture(scope="module")
def inside() -> Array:
    return ball((SIZE, SIZE), (3, -4), 19) == 1


@pytest.mark.parametrize("filter", ["ramp", "shepp-logan", "cosine", "hamming", "hann"])
@pytest.mark.parametrize("scan", [pytest.param(scan, id=name) for name, scan in SCANS.items()])
def test_pictures(scan: tomography.Geometry, filter: str, phantom: Array, inside: Array) -> None:
    values = tomography.Projector(scan, phantom.shape)(phantom)
    error = (tomography.fbp(values, scan, phantom.shape, filter=filter) - phantom)[inside]
    assert abs(error.mean()) < 0.01 and np.sqrt((error**2).mean()) < 0.06


@pytest.mark.parametrize("curved", [False, True])
def test_a_cone(curved: bool) -> None:
    shape = (48, 48, 48)
    volume = ball(shape, (2, -1, 3), 15) + 0.5 * ball(shape, (-4, 3, 0), 4)
    scan = tomography.cone(2 * HALF, (80, 80), 1.6, 150, 100, curved=curved)
    error = tomography.fdk(tomography.Projector(scan, shape)(volume), scan, shape) - volume
    error = error[ball(shape, (2, -1, 3), 12) == 1]
    assert abs(error.mean()) < 0.02 and np.sqrt((error**2).mean()) < 0.06


@pytest.mark.parametrize("method", [tomography.sirt, tomography.cgls])
def test_iterations_approach_the_phantom(method: Any, phantom: Array) -> None:
    A = tomography.Projector(SCANS["fan"][::4], phantom.shape)
    values, errors = A(phantom), []
    result = method(A, values, 25, lambda number, volume: errors.append((number, np.abs(A(volume) - values).mean())))
    assert [number for number, _ in errors] == list(range(1, 26))
    assert errors[-1][1] < 0.1 * errors[0][1] or (method is tomography.sirt and errors[-1][1] < 0.3 * errors[0][1])
    assert np.abs(result - phantom).mean() < 0.06
    further = method(A, values, 5, start=result)
    assert np.abs(A(further) - values).mean() < errors[-1][1]


def test_lowest_values(phantom: Array) -> None:
    A = tomography.Projector(SCANS["fan"][::10], phantom.shape)
    assert tomography.sirt(A, A(phantom), 10, lowest=0.0).min() >= 0 > tomography.sirt(A, A(phantom), 10).min()


@pytest.mark.parametrize("method", [tomography.sirt, tomography.cgls])
def test_several_volumes(method: Any, phantom: Array) -> None:
    A = tomography.Projector(SCANS["fan"][::10], phantom.shape)
    values = A(np.stack([phantom, phantom[::-1], np.zeros_like(phantom)])[:, None])
    together = method(A, values, 5)
    further = method(A, values, 2, start=together)
    again = method(A, values, 2, start=together[0, 0])
    for number, each in enumerate(values[:, 0]):
        np.testing.assert_allclose(together[number, 0], method(A, each, 5), atol=1e-5)
        np.testing.assert_allclose(further[number, 0], method(A, each, 2, start=together[number, 0]), atol=1e-5)
        np.testing.assert_allclose(again[number, 0], method(A, each, 2, start=together[0, 0]), atol=1e-5)
    for wrong in (values[..., 1:], values[:0]):
        with pytest.raises(ArgumentError):
            method(A, wrong, 1)


@pytest.mark.parametrize("method", [tomography.sirt, tomography.cgls])
def test_iterations_of_half_precision_are_float32(method: Any, phantom: Array) -> None:
    geometry = SCANS["fan"][::10]
    half = tomography.Projector(geometry, phantom.shape, dtype="float16")
    values = half(phantom * 1000)
    wanted = method(tomography.Projector(geometry, phantom.shape), values.astype(np.float32), 5)
    assert values.dtype == np.float16
    np.testing.assert_array_equal(method(half, values, 5), wanted)


def test_an_interrupt_keeps_the_last_volume(phantom: Array) -> None:
    A = tomography.Projector(SCANS["fan"][::4], phantom.shape)
    volumes: list[Array] = []

    def interrupt(number: int, volume: Array) -> None:
        volumes.append(volume)
        if number == 3:
            raise KeyboardInterrupt

    with pytest.warns(RuntimeWarning):
        result = tomography.cgls(A, A(phantom), 50, interrupt)
    assert len(volumes) == 3
    np.testing.assert_array_equal(result, volumes[-1])


@pytest.mark.torch
def test_results_are_of_the_library_of_the_values(phantom: Array) -> None:
    torch = pytest.importorskip("torch")
    A = tomography.Projector(SCANS["fan"][::4], phantom.shape)
    values = torch.from_numpy(A(phantom))
    for result in (tomography.fbp(values, A.geometry, phantom.shape), tomography.cgls(A, values, 2)):
        assert isinstance(result, torch.Tensor) and result.shape == phantom.shape


def test_mistakes(phantom: Array) -> None:
    A = tomography.Projector(SCANS["fan"], phantom.shape)
    values = A(phantom)
    helix = tomography.cone(HALF, (4, 4), 1.0, 100, 50, pitch=3.0)
    free = tomography.vectors([(0, -9, 0)], [(0, 9, 0)], [(1, 0, 0)], [(0, 0, 1)], 9)
    for call in (
        lambda: tomography.fbp(values[1:], A.geometry, phantom.shape),
        lambda: tomography.fbp(values, A.geometry, phantom.shape, filter="box"),
        lambda: tomography.fbp(values[:60], A.geometry[:60], phantom.shape),
        lambda: tomography.fdk(np.zeros((120, 4, 4)), helix, (4, 4, 4)),
        lambda: tomography.fbp(np.zeros((1, 9)), free, (4, 4)),
        lambda: tomography.cgls(A, values[1:], 1),
        lambda: tomography.sirt(A, values, 1, start=phantom[1:]),
    ):
        with pytest.raises(ArgumentError):
            call()
