"""The kernels of mappings, executed by instruction, against products of matrices in numpy."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.sampling.memory.mappings import Mapping, mapping_coords, mapping_gradients
from tests.reference_kernels.programs import run, usm

MAPPINGS = [
    Mapping(1, (37,), False),
    Mapping(2, (9,), True),
    Mapping(3, (13, 6), False),
    Mapping(2, (40, 30), True),
    Mapping(1, (6, 5, 4), False),
    Mapping(2, (13, 11, 8), True),
]


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("SPIR-V is executed by the reference device")


@pytest.mark.parametrize("mapping", MAPPINGS, ids=str)
def test_mapping(queue: bl.Queue, mapping: Mapping) -> None:
    rng = np.random.default_rng(9)
    dims, sizes = len(mapping.size), mapping.size[::-1]
    matrices = rng.normal(size=(mapping.images, dims + mapping.projective, dims + 1)).astype("f")
    matrices[:, dims:] *= 0.05
    matrices[:, dims:, -1] = 3
    centres = np.moveaxis(np.indices(sizes)[::-1], 0, -1).reshape(-1, dims) + 0.5
    places = np.concatenate([centres, np.ones((len(centres), 1))], 1)
    products = places @ matrices.astype(float).swapaxes(1, 2)
    exact = products[..., :dims] / products[..., dims:] if mapping.projective else products

    operand, found = usm(queue, matrices), usm(queue, np.zeros(exact.shape, "f"))
    run(queue, mapping_coords(mapping), operand, found)
    np.testing.assert_allclose(found.numpy(), exact, rtol=2e-5, atol=2e-5)

    grads = rng.normal(size=exact.shape).astype("f")
    gradients = usm(queue, np.zeros_like(matrices))
    program = mapping_gradients(mapping)
    assert len(program.names) == (1 if mapping.pixels <= 1024 else 2)
    run(queue, program, operand, usm(queue, grads), gradients)
    above = grads.astype(float)
    if mapping.projective:
        above = above / products[..., dims:]
        above = np.concatenate([above, -(above * exact).sum(-1, keepdims=True)], -1)
    expected = above.swapaxes(1, 2) @ places
    np.testing.assert_allclose(gradients.numpy(), expected, rtol=1e-4, atol=1e-3)
