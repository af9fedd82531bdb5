"""The kernels of mipmaps and footprints, executed by instruction, against area means and singular values in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.sampling.memory import levels
from bindless.sampling.memory.levels import Pyramid
from bindless.sampling.memory.programs import join_programs
from tests.reference_kernels.programs import run, usm

Array = npt.NDArray[Any]

PYRAMIDS = [
    Pyramid(1, (8, 8, 1), 3, False, 3),
    Pyramid(2, (13, 6, 1), 1, False, 3),
    Pyramid(1, (1, 9, 1), 2, False, 3),
    Pyramid(2, (5, 3, 11), 2, False, 3),
    Pyramid(6, (7, 7, 1), 3, False, 1),
    Pyramid(1, (150, 1, 1), 2, False, 2),
    Pyramid(1, (13, 6, 2), 4, True, 3),
]


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("SPIR-V is executed by the reference device")


def matrix_of_means(size: int) -> Array:
    """Rows are texels of the next level, columns those of an axis: the part of a texel's area in another one's."""
    if size == 1:
        return np.ones((1, 1))
    half = size // 2
    ends = np.arange(half + 1) * (size / half)
    low, high = ends[:-1, None], ends[1:, None]
    texel = np.arange(size)
    return np.clip(np.minimum(high, texel + 1) - np.maximum(low, texel), 0, None) / (size / half)


def means(texels: Array) -> Array:
    """(images, z, y, x, channels) of the next level."""
    z, y, x = (matrix_of_means(size) for size in texels.shape[1:4])
    return np.einsum("az,by,cx,nzyxk->nabck", z, y, x, texels)


def shapes_of(pyramid: Pyramid) -> list[tuple[int, ...]]:
    return [(pyramid.images, *reversed(size), pyramid.channels) for size in pyramid.sizes]


@pytest.mark.parametrize("pyramid", PYRAMIDS, ids=str)
def test_pyramid(queue: bl.Queue, pyramid: Pyramid) -> None:
    rng = np.random.default_rng(7)
    dtype, bound = (np.float16, 2e-3) if pyramid.halves else (np.float32, 2e-6)
    shapes = shapes_of(pyramid)
    texels = rng.normal(size=shapes[0]).astype(dtype)
    made = [usm(queue, np.zeros(shape, dtype)) for shape in shapes[1:]]
    run(queue, levels.pyramid_means(pyramid), usm(queue, texels), *made)
    expected = [texels.astype(float)]
    for level in made:
        expected.append(means(expected[-1]))
        np.testing.assert_allclose(level.numpy(), expected[-1], atol=bound)

    for given in ([True] * pyramid.count, [number == pyramid.count - 1 for number in range(pyramid.count)]):
        grads = [rng.normal(size=shape).astype(dtype) if there else None for shape, there in zip(shapes[1:], given)]
        found = usm(queue, np.zeros(shapes[0], dtype))
        operands = [None if grad is None else usm(queue, grad) for grad in grads]
        run(queue, levels.pyramid_gradients(pyramid, given), *operands, None, found)
        for _ in range(4):  # the transpose: scalar products are the same
            level = rng.normal(size=shapes[0])
            product, total = (found.numpy().astype(float) * level).sum(), 0.0
            for grad in grads:
                level = means(level)
                total += 0.0 if grad is None else (grad.astype(float) * level).sum()
            np.testing.assert_allclose(product, total, atol=bound * 30)

        more, both = rng.normal(size=shapes[0]).astype(dtype), usm(queue, np.zeros(shapes[0], dtype))
        run(queue, levels.pyramid_gradients(pyramid, given, added=True), *operands, usm(queue, more), both)
        np.testing.assert_allclose(both.numpy(), found.numpy().astype(float) + more, atol=bound * 2)


@pytest.mark.parametrize("sizes", [(7, 12), (9, 5, 4)])
@pytest.mark.parametrize("biased", [False, True])
def test_footprints(queue: bl.Queue, sizes: tuple[int, ...], biased: bool) -> None:
    rng = np.random.default_rng(8)
    count, dims = 150, len(sizes)
    scales = np.exp2(rng.uniform(-12, 6, (count, 1, 1)))
    steps = (rng.normal(size=(count, dims, 2)) * scales).astype("f")
    biases = rng.normal(size=count).astype("f")
    found, operand = usm(queue, np.zeros(count, "f")), usm(queue, steps)
    program = levels.footprint_levels(count, sizes, biased=biased)
    run(queue, program, operand, usm(queue, biases) if biased else None, found)
    left, singular, right = np.linalg.svd(steps.astype(float) * np.array(sizes)[:, None], full_matrices=False)
    expected = np.log2(singular[:, 0]) + biased * biases
    np.testing.assert_allclose(found.numpy(), expected, atol=2e-6)

    weights = rng.normal(size=count).astype("f")
    gradients = usm(queue, np.zeros_like(steps))
    run(queue, levels.footprint_gradients(count, sizes), operand, usm(queue, weights), gradients)
    slopes = left[:, :, :1] * right[:, :1] * np.array(sizes)[:, None] / (singular[:, :1, None] * np.log(2))
    exact = slopes * weights[:, None, None]
    np.testing.assert_allclose(gradients.numpy() * scales, exact * scales, rtol=1e-3, atol=1e-3)


def test_footprints_without_direction_or_size(queue: bl.Queue) -> None:
    """A round one has the gradient of its mean axis, an empty one none; neither have steps that are no numbers."""
    steps = np.array([[[0.25, 0], [0, 0.25]], [[0, 0], [0, 0]], [[np.nan, 0], [0, 1]], [[np.inf, 0], [1e30, 1]]], "f")
    operand, found = usm(queue, steps), usm(queue, np.zeros(4, "f"))
    run(queue, levels.footprint_levels(4, (16, 16), biased=False), operand, None, found)
    values = found.numpy()
    assert values[0] == 2 and values[1] < -40 and values[2] == 4 and 29 < values[3] < 32
    gradients = usm(queue, np.ones_like(steps))
    run(queue, levels.footprint_gradients(4, (16, 16)), operand, usm(queue, np.ones(4, "f")), gradients)
    slopes = gradients.numpy()
    np.testing.assert_allclose(slopes[0], [[2 / np.log(2), 0], [0, 2 / np.log(2)]], rtol=1e-6)
    np.testing.assert_allclose(slopes[2], [[0, 0], [0, 1 / np.log(2)]], rtol=1e-6)
    assert not slopes[1].any() and not slopes[3, :, 0].any() and np.isfinite(slopes).all()


def test_joined_programs(queue: bl.Queue) -> None:
    """One program with the buffers of two in another order, of which one has several commands."""
    rng = np.random.default_rng(10)
    pyramid = PYRAMIDS[1]
    shapes, count, sizes = shapes_of(pyramid), 40, (7, 12)
    texels = usm(queue, rng.normal(size=shapes[0]).astype("f"))
    steps, biases = (
        usm(queue, rng.normal(size=(count, 2, 2)).astype("f")),
        usm(queue, rng.normal(size=count).astype("f")),
    )

    def results() -> list[bl.UsmArray]:
        return [usm(queue, np.zeros(shape, "f")) for shape in (*shapes[1:], (count,))]

    means, footprints = levels.pyramid_means(pyramid), levels.footprint_levels(count, sizes, biased=True)
    *expected, level = results()
    run(queue, means, texels, *expected)
    run(queue, footprints, steps, biases, level)
    *found, other = results()
    program = join_programs((means, [3, 4, 5, 6]), (footprints, [1, 0, 2]), (means, [3, 4, 5, 6]))
    assert program.names == (*means.names, *footprints.names)
    run(queue, program, biases, steps, other, texels, *found)
    for one, two in zip((*found, other), (*expected, level)):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
