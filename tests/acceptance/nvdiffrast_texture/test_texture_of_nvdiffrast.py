"""Random calls of ``bindless.torch.texture`` have the values, and the difference quotients, of nvdiffrast's rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

from bindless.torch import texture  # noqa: E402
from tests.acceptance.nvdiffrast_texture import rules  # noqa: E402

pytestmark = pytest.mark.torch

MODES = ("auto", "nearest", "linear", "linear-mipmap-nearest", "linear-mipmap-linear")


def call(generator: np.random.Generator, boundary: str, mode: str) -> tuple[list[Any], dict[str, Any]]:
    """The tensors tex, uv, uv_da, bias and those of mip, and the options of a random call."""
    cube = boundary == "cube"
    count, channels, axes = int(generator.integers(1, 3)), int(generator.integers(1, 6)), 3 if cube else 2
    height, width = (2 ** int(power) for power in generator.integers(0, 5, 2))
    sizes = (6, height, height) if cube else (height, width)
    tex = generator.normal(size=(int(generator.choice([1, count])), *sizes, channels))
    picture = (count, *generator.integers(1, 4, 2))
    uv = generator.normal(size=(*picture, axes)) * 1.5
    if cube and generator.random() < 0.3:
        uv = np.sign(uv) * (1 + 0.05 * generator.normal(size=uv.shape))  # near the corners
    with_steps = ("mipmap" in mode and generator.random() < 0.6) or (mode == "auto" and generator.random() < 0.5)
    with_bias = ("mipmap" in mode and not with_steps) or (with_steps and generator.random() < 0.5)
    uv_da = generator.normal(size=(*picture, 2 * axes)) * 10 ** generator.uniform(-2, 0.5) if with_steps else None
    bias = 1.5 * generator.normal(size=picture) if with_bias else None
    most = None if generator.random() < 0.5 else int(generator.integers(0, 4))
    mip = []
    if generator.random() < 0.4:
        mip = [part + generator.normal(size=part.shape) for part in rules.construct_mip(tex, most)]
    options = {"filter_mode": mode, "boundary_mode": boundary, "max_mip_level": most}
    return [tex, uv, uv_da, bias, *mip], options


@pytest.mark.parametrize("boundary", ["wrap", "clamp", "zero", "cube"])
@pytest.mark.parametrize("mode", MODES)
def test_random_calls(boundary: str, mode: str) -> None:
    generator = np.random.default_rng([ord(boundary[0]), MODES.index(mode)])
    for _ in range(12):
        arrays, options = call(generator, boundary, mode)
        weights: Any = 1.0

        def expected(arrays: list[Any], options: dict[str, Any] = options) -> Any:
            return rules.texture(*arrays[:4], arrays[4:] or None, **options)

        tensors = [part if part is None else torch.tensor(part, requires_grad=True) for part in arrays]
        values = texture(*tensors[:4], tensors[4:] or None, **options)
        np.testing.assert_allclose(values.detach().numpy(), expected(arrays), rtol=0, atol=1e-9)
        if mode == "nearest":
            continue
        weights = generator.normal(size=tuple(values.shape))
        wanted = [number for number, part in enumerate(arrays) if part is not None]
        total = (values * torch.from_numpy(weights)).sum()
        found = torch.autograd.grad(total, [tensors[number] for number in wanted], allow_unused=True)
        for number, gradient in zip(wanted, found):
            direction, step = generator.normal(size=arrays[number].shape), 1e-7
            ends = [
                [part + sign * step * direction if n == number else part for n, part in enumerate(arrays)]
                for sign in (1, -1)
            ]
            quotient = float(((expected(ends[0]) - expected(ends[1])) * weights).sum()) / (2 * step)
            slope = 0.0 if gradient is None else float((gradient.numpy() * direction).sum())
            assert abs(slope - quotient) <= 1e-4 * (1 + abs(quotient)), (number, options)
