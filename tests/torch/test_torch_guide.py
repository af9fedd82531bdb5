"""The programs in docs/guide/gradients.md run, in their order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

pytestmark = pytest.mark.torch

PAGE = Path(__file__).parents[2] / "docs/guide/gradients.md"


def test_the_programs_of_the_guide_run() -> None:
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(programs) >= 2
    names: dict[str, Any] = {
        "volume": torch.rand(1, 1, 4, 5, 6, requires_grad=True),
        "grid": (torch.rand(1, 2, 3, 4, 3) * 2 - 1).requires_grad_(),
        "tex": torch.rand(1, 8, 8, 3),
        "uv": torch.rand(1, 4, 5, 2),
        "uv_da": torch.rand(1, 4, 5, 4),
        "source": torch.tensor([3.0, 2.5, -20.0]),
        "pixels": torch.rand(3, 4, 3) * 4 + 6,
        "ct": torch.rand(6, 7, 8),
        "places": (torch.rand(5, 3) * 6).requires_grad_(),
    }
    for program in programs:
        exec(program, names)
    assert names["volume"].grad.shape == names["volume"].shape and names["grid"].grad.abs().sum() > 0
    assert names["values"].shape == (1, 4, 5, 3)
    assert names["image"].shape == (3, 4)
    assert torch.autograd.grad(names["density"].sum(), names["places"])[0].abs().sum() > 0
