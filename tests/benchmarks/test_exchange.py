"""Cost of a zero-copy array exchange, compared with exchanges between other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl

Compare = Callable[..., Any]
CALLS = 2_000


def test_numpy_in_place(compare: Compare) -> None:
    with bl.Queue("reference:*:*") as queue:
        array, values = bl.usm_empty((64, 64), "f4", queue, kind="host"), np.zeros((64, 64), "f4")
        for name, ours in (
            ("np.from_dlpack(array)", lambda: np.from_dlpack(array)),
            ("np.asarray(array)", lambda: np.asarray(array)),
            ("from_dlpack(numpy array)", lambda: bl.from_dlpack(values, queue)),
        ):
            compare(ours, {"numpy to numpy": lambda: np.from_dlpack(values)}, name=name, calls=CALLS)


@pytest.mark.cuda
@pytest.mark.cupy
@pytest.mark.torch
@pytest.mark.parametrize("in_order", [True, False])
def test_cuda_libraries(compare: Compare, device: bl.Device, in_order: bool) -> None:
    import cupy
    import torch

    with bl.Queue(device, in_order=in_order) as queue:
        array, tensor = bl.usm_empty((64, 64), "f4", queue), torch.zeros(64, 64, device="cuda")
        theirs = cupy.zeros((64, 64), cupy.float32)
        for name, ours, peer, work in (
            (
                "cupy.from_dlpack(array)",
                lambda: cupy.from_dlpack(array),
                "of a tensor",
                lambda: cupy.from_dlpack(tensor),
            ),
            (
                "torch.from_dlpack(array)",
                lambda: torch.from_dlpack(array),
                "of CuPy's",
                lambda: torch.from_dlpack(theirs),
            ),
            ("from_dlpack(tensor)", lambda: bl.from_dlpack(tensor, queue), "by CuPy", lambda: cupy.from_dlpack(tensor)),
            (
                "from_dlpack(CuPy's)",
                lambda: bl.from_dlpack(theirs, queue),
                "by torch",
                lambda: torch.from_dlpack(theirs),
            ),
        ):
            compare(ours, {peer: work}, name=name, calls=CALLS)
