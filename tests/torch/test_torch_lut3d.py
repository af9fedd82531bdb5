"""``bindless.torch.lut3d``: values of ``Lut3D``, gradients to picture and table."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.colour.test_lut3d import INTERPOLATIONS, oracle

torch = pytest.importorskip("torch", reason="pip install 'bindless[torch]'")
pytestmark = pytest.mark.torch


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(12)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_values(random: np.random.Generator, interpolation: str) -> None:
    from bindless.torch import lut3d

    table, picture = random.random((7, 7, 7, 3)), random.random((20, 30, 4)) * 1.2 - 0.1
    exact = oracle(table, picture[..., :3], interpolation)
    for dtype, close in ((torch.float64, 1e-12), (torch.float32, 1e-5), (torch.float16, 6e-3), (torch.bfloat16, 6e-2)):
        values = lut3d(torch.tensor(picture, dtype=dtype), torch.tensor(table, dtype=dtype), interpolation)
        assert values.dtype is dtype and values.shape == (20, 30, 4)
        assert np.abs(values[..., :3].double().numpy() - exact).max() < close
        assert torch.equal(values[..., 3:], torch.tensor(picture, dtype=dtype)[..., 3:])
    own = bl.Lut3D(table)(torch.tensor(picture, dtype=torch.float32), interpolation)
    assert torch.is_tensor(own)
    assert np.abs(own[..., :3].numpy() - exact).max() < 1e-5


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_gradients(random: np.random.Generator, interpolation: str) -> None:
    from bindless.torch import lut3d

    table = torch.tensor(random.random((3, 3, 3, 3)), requires_grad=True)
    picture = torch.tensor(random.random((6, 3)) * 3.6 - 0.8, requires_grad=True)  # apart from kinks, some beyond

    def call(p: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return lut3d(p, t, interpolation, domain=(-0.5, 2.0))

    assert torch.autograd.gradcheck(call, (picture, table))
    assert torch.autograd.gradgradcheck(call, (picture, table))


def test_arguments() -> None:
    from bindless.torch import lut3d

    table, picture = torch.zeros(3, 3, 3, 3), torch.zeros(5, 3)
    for wrong in (
        (picture[:, :2], table), (picture, table[:2]), (picture.double(), table), (picture, table[..., :2]),
        (picture.int(), table.int()), (picture, table, "cubic"),
    ):  # fmt: skip
        with pytest.raises(bl.ArgumentError):
            lut3d(*wrong)
    with pytest.raises(bl.ArgumentError):
        lut3d(picture, table, domain=(1.0, 1.0))
