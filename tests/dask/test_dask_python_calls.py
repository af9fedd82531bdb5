"""Python functions of the package that the task of a block runs, once a block of its shape was computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.python_calls import front_calls

da = pytest.importorskip("dask.array")

from bindless import dask as bd  # noqa: E402
from bindless.dask import arrays, queues  # noqa: E402
from bindless.dask.blocks import compute_block  # noqa: E402

TURN = [[0.9, 0.1], [-0.1, 1.05]]
SHAPE = (400, 420)
IMAGE = np.random.default_rng(3).random(SHAPE).astype(np.float32)
FIELD = np.random.default_rng(4).random((2, *SHAPE)).astype(np.float32)
NUMBERS = ((4, 5), (5, 4), (5, 5), (4, 6), (6, 4))  # of blocks inside
MOST, MOST_OF_FIELDS, MOST_OF_SPLINES = 15, 18, 20
# Blocks that go through pinned memory, and what displacements, floats of 64 bits, and splines take more.
SIDE = 600  # more than the smallest bytes of pinned memory in uint8
MOST_OF_LARGE, MORE_OF_FIELDS, MORE_OF_FLOATS, MORE_OF_SPLINES = 19, 5, 5, 11

Operation = Callable[[Any], Any]
OPERATIONS: dict[str, Operation] = {
    "affine": lambda image: bd.affine_transform(image, TURN, 0.3, order=1, output_chunks=40),
    "nearest": lambda image: bd.affine_transform(image, TURN, 0.3, order=0, mode="nearest", output_chunks=40),
    "hardware": lambda image: bd.affine_transform(
        image, TURN, 0.3, order=1, mode="nearest", output_chunks=40, precision="hardware"
    ),
    "resize": lambda image: bd.resize(image, (420, 500), output_chunks=40),
    "pyramid": lambda image: bd.pyramid(image, 2)[1],
}


def tasks_of(operation: Operation, source: Any, monkeypatch: pytest.MonkeyPatch) -> dict[Any, tuple[Any, ...]]:
    """Compute a result; the arguments of ``compute_block`` by the numbers of the blocks."""
    tasks: dict[Any, tuple[Any, ...]] = {}

    def record(*task: Any) -> Any:
        tasks[task[1]] = task
        return compute_block(*task)

    monkeypatch.setattr(arrays, "compute_block", record)
    operation(source).compute(scheduler="synchronous")
    return tasks


def calls_of_blocks(tasks: dict[Any, tuple[Any, ...]]) -> int:
    for _ in range(2):
        for number in NUMBERS:
            compute_block(*tasks[number])
    return max(len(front_calls(partial(compute_block, *tasks[number]))) for number in NUMBERS)


@pytest.mark.parametrize("has_chunks", [False, True])
@pytest.mark.parametrize("name", list(OPERATIONS))
def test_calls_of_a_block(monkeypatch: pytest.MonkeyPatch, name: str, has_chunks: bool) -> None:
    source = da.from_array(IMAGE, chunks=20) if has_chunks or name == "pyramid" else IMAGE
    tasks = tasks_of(OPERATIONS[name], source, monkeypatch)
    assert calls_of_blocks(tasks) <= MOST


def test_calls_of_a_displaced_block(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(
        lambda image: bd.affine_transform(image, TURN, 0.3, order=1, displacement=FIELD, output_chunks=40),
        IMAGE,
        monkeypatch,
    )
    assert calls_of_blocks(tasks) <= MOST_OF_FIELDS


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("is_displaced", [False, True])
def test_calls_of_a_large_block(monkeypatch: pytest.MonkeyPatch, dtype: str, order: int, is_displaced: bool) -> None:
    image = (np.random.default_rng(5).random((3 * SIDE, 3 * SIDE)) * 255).astype(dtype)
    field = np.random.default_rng(6).random((2, *image.shape)).astype(np.float32) if is_displaced else None
    tasks = tasks_of(
        lambda image: bd.affine_transform(
            image, [[0.99, 0.01], [-0.01, 0.99]], 6.0, order=order, displacement=field, output_chunks=SIDE
        ),
        image,
        monkeypatch,
    )
    most = MOST_OF_LARGE + is_displaced * MORE_OF_FIELDS + (dtype == "float64") * MORE_OF_FLOATS
    most += (order == 3) * MORE_OF_SPLINES
    first = compute_block(*tasks[1, 1])
    for _ in range(3):
        np.testing.assert_array_equal(compute_block(*tasks[1, 1]), first)
    assert len(front_calls(partial(compute_block, *tasks[1, 1]))) <= most


def test_calls_of_a_block_of_splines(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the reference device: others filter in their own memory."""
    monkeypatch.setattr(queues, "_device", lambda: bl.Device("reference"))
    tasks = tasks_of(lambda image: bd.affine_transform(image, TURN, 0.3, order=3, output_chunks=40), IMAGE, monkeypatch)
    assert calls_of_blocks(tasks) <= MOST_OF_SPLINES
