"""The kernels of projectors, executed by instruction, beside the reference driver's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import tomography
from bindless.sampling.rays import Halves, filter_launch

Array = npt.NDArray[Any]

ANGLES = np.linspace(0, np.pi, 5) + 0.2
SCANS = {
    "parallel": (tomography.parallel(ANGLES, 13, offset=1.0), (9, 11)),
    "cone": (tomography.cone(ANGLES, (6, 9), 1.4, 30, 20, pitch=2.0), (6, 7, 8)),
    "curved": (tomography.cone(ANGLES, (6, 9), 1.4, 30, 20, 2.0, offset=(1, -2), curved=True), (6, 7, 8)),
    "high": (tomography.cone(ANGLES, (18, 7), (1.2, 0.9), 30, 20), (9, 6, 7)),
    "any": (
        tomography.vectors(
            [(2, 3, -30), (-25, 4, 1)], [(1, -2, 20), (25, 2, 3)], [(1.3, 0.1, 0.1), (0.2, 1.4, 0)],
            [(0, 1.2, 0.2), (0.1, 0.3, 1.1)], (7, 6),
        ),
        (6, 7, 8),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("SPIR-V is executed by the reference device")


def run(launch: Any, queue: bl.Queue, source: Array, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    values: bl.UsmArray = bl.usm_empty(shape, dtype, queue)
    launch.submit(None, bl.usm_empty(source.shape, source.dtype, queue).copy_from(source), values).wait_and_throw()
    return values.numpy()


@pytest.mark.parametrize("name", SCANS)
def test_projector_kernels(queue: bl.Queue, name: str) -> None:
    scan, shape = SCANS[name]
    A = tomography.Projector(scan, shape)
    x, y = (np.random.default_rng(seed).random(size, np.float32) for seed, size in ((1, shape), (2, A.shape)))
    calls: list[tuple[str, list[int], Array, Array]] = [("forward", [], x, A(x)), ("adjoint", [], y, A.adjoint(y))]
    calls += [("back", [power], y, A.back(y, power=power)) for power in range(3)]
    for operation, power, source, expected in calls:
        result = run(A._rays.launch(queue, operation, *power), queue, source, expected.shape)  # type: ignore[arg-type]
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("halves", [Halves(True, False), Halves(False, True), Halves(True, True)])
def test_kernels_of_half_precision(queue: bl.Queue, halves: Halves) -> None:
    scan, shape = SCANS["any"]
    A = tomography.Projector(scan, shape)
    source, result = (np.float16 if half else np.float32 for half in halves)
    x, y = (np.random.default_rng(seed).random(size).astype(source) for seed, size in ((1, shape), (2, A.shape)))
    calls: list[tuple[Any, list[int], Array, Array]] = [("forward", [], x, A(x)), ("adjoint", [], y, A.adjoint(y))]
    calls.append(("back", [2], y, A.back(y, power=2)))
    for operation, power, values, expected in calls:
        launch = A._rays.launch(queue, operation, *power, halves=halves)
        np.testing.assert_allclose(run(launch, queue, values, expected.shape, result), expected, rtol=6e-4, atol=1e-4)


@pytest.mark.parametrize("halves", [Halves(), Halves(True)])
def test_filter_kernel(queue: bl.Queue, halves: Halves) -> None:
    values = np.random.default_rng(3).random((30, 20)).astype(np.float32 if halves == Halves() else np.float16)
    response = np.random.default_rng(4).random(2 * 26 - 1)
    turn, pixel = np.random.default_rng(5).random((30, 20)), np.random.default_rng(6).random((1, 20))
    result = run(filter_launch(queue, 30, (1, 20), turn, pixel, response, (2, 4), halves), queue, values, (30, 26))
    padded = np.pad(values * turn * pixel, [(0, 0), (2, 4)])
    expected = [np.convolve(row, response)[25:51] for row in padded]
    np.testing.assert_allclose(result, expected, rtol=1e-5)
