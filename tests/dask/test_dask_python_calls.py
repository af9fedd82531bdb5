"""Python functions of the package that a block runs until its picture is submitted, on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.python_calls import python_calls

da = pytest.importorskip("dask.array")

from bindless import dask as bd  # noqa: E402
from bindless.dask import arrays, queues  # noqa: E402
from bindless.dask.blocks import compute_block  # noqa: E402

TURN = [[0.9, 0.1], [-0.1, 1.05]]
SUBMITTED = "sampling/driver.py:submit"  # whence C submits a prepared picture


@pytest.mark.parametrize(("lazy", "most"), [(False, 60), (True, 70)])
def test_calls_of_a_block(monkeypatch: pytest.MonkeyPatch, lazy: bool, most: int) -> None:
    tasks: list[tuple[Any, ...]] = []

    def record(*task: Any) -> Any:
        tasks.append(task)
        return compute_block(*task)

    monkeypatch.setattr(arrays, "compute_block", record)
    image = np.random.default_rng(3).random((60, 70)).astype(np.float32)
    source = da.from_array(image, chunks=20) if lazy else image
    bd.affine_transform(source, TURN, 0.3, order=1, output_chunks=20).compute(scheduler="synchronous")
    if not queues.workspace_of_thread().shares_memory:
        pytest.skip("on the reference device alone: others copy the values")
    inside = next(task for task in tasks if task[1] == (1, 1))
    for _ in range(2):
        compute_block(*inside)
    calls = [name for name in python_calls(lambda: compute_block(*inside)) if not name.endswith(">")]
    assert calls.count(SUBMITTED) == 1
    assert calls.index(SUBMITTED) < most
