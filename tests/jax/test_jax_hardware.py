"""``precision="hardware"`` of ``bindless.jax.sample``: values of images of the reference driver, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

jax = pytest.importorskip("jax", reason="pip install jax")
jnp = jax.numpy

import bindless.jax as bj  # noqa: E402

Array = npt.NDArray[Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(29)


def arrays(rng: np.random.Generator, dims: int, channels: int, dtype: Any, count: int = 0) -> tuple[Array, Array]:
    """One image, or a batch of them, and coordinates, some of which are outside."""
    sizes, first = (5, 8, 7)[3 - dims :], (count,) if count else ()
    image = rng.normal(size=(*first, *sizes, channels)).astype(dtype)
    coords = rng.uniform(-0.6, 1.6, (*first, 9, 31, dims)) * sizes[::-1]
    return image, coords.astype(np.float32)


def of_image(image: Array, coords: Array, addressing: Any, filtering: str) -> Array:
    """Samples of an image in the memory of the reference driver."""
    names = (addressing,) * 3 if isinstance(addressing, str) else tuple(addressing * 3)[:3]
    modes = ["clamp_to_border" if name == "clamp" else name for name in names]
    dims = coords.shape[-1]
    with bl.Image(image, addressing=modes, filtering=filtering, dimensions=dims, queue=bl.Queue("reference")) as stored:
        found: Array = stored.sample(coords)
    return found


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("filtering", ["linear", "nearest"])
def test_same_bits_as_images(dims: int, channels: int, dtype: Any, filtering: str, rng: np.random.Generator) -> None:
    image, coords = arrays(rng, dims, channels, dtype)
    mixed = ("repeat", "clamp", "clamp_to_edge")[:dims]
    for addressing in ("clamp_to_edge", "clamp", "repeat", "mirrored_repeat", mixed):
        found = bj.sample(image, coords, addressing=addressing, filtering=filtering, precision="hardware")
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, of_image(image, coords, addressing, filtering))


def test_normalized_coordinates(rng: np.random.Generator) -> None:
    image, coords = arrays(rng, 2, 3, np.float32)
    size = np.array(image.shape[1::-1], np.float32)
    found = bj.sample(image, coords / size, coordinate="normalized", precision="hardware")
    np.testing.assert_array_equal(found, of_image(image, coords / size * size, "clamp_to_edge", "linear"))


def test_weights_have_eight_bits() -> None:
    image = jnp.array([[0.0], [256.0]])
    found = bj.sample(image, jnp.linspace(0.5, 1.5, 4097)[:, None])  # "hardware" is the default
    assert sorted(set(np.asarray(found).ravel().tolist())) == list(range(257))


@pytest.mark.parametrize(
    "options",
    [
        {"filtering": "cubic"},
        {"filtering": "catmull_rom"},
        {"addressing": "mirror"},
        {"addressing": "clamp", "fill": 2.0},
        {"level": 0.5},
    ],
)
def test_exact_where_the_unit_has_none(options: dict[str, Any], rng: np.random.Generator) -> None:
    image, coords = arrays(rng, 2, 3, np.float32)
    found = bj.sample(image, coords, precision="hardware", **options)
    np.testing.assert_array_equal(found, bj.sample(image, coords, precision="exact", **options))


def test_exact_for_many_channels(rng: np.random.Generator) -> None:
    image, coords = arrays(rng, 2, 5, np.float32)
    found = bj.sample(image, coords, precision="hardware")
    np.testing.assert_array_equal(found, bj.sample(image, coords, precision="exact"))


def test_gradients_are_those_of_exact(rng: np.random.Generator) -> None:
    image, coords = map(jnp.asarray, arrays(rng, 3, 2, np.float32))

    weights = jnp.asarray(rng.normal(size=(*coords.shape[:-1], 2)), jnp.float32)

    def loss(precision: str) -> Any:
        return lambda image, coords: (bj.sample(image, coords, precision=precision) * weights).sum()

    def second(precision: str) -> Any:
        first = jax.grad(loss(precision), (0, 1))
        return jax.grad(lambda *given: sum(jnp.sin(part).sum() for part in first(*given)), (0, 1))

    value, found = jax.jit(jax.value_and_grad(loss("hardware"), (0, 1)))(image, coords)
    expected = jax.grad(loss("exact"), (0, 1))(image, coords)
    for one, other in zip((*found, *second("hardware")(image, coords)), (*expected, *second("exact")(image, coords))):
        np.testing.assert_allclose(one, other, atol=1e-4)
    assert value == loss("hardware")(image, coords)
    pushed, wanted = (
        jax.jvp(lambda coords, name=name: bj.sample(image, coords, precision=name), (coords,), (coords,))[1]
        for name in ("hardware", "exact")
    )
    np.testing.assert_allclose(pushed, wanted, atol=1e-4)


def test_vmap_and_batches(rng: np.random.Generator) -> None:
    images, coords = arrays(rng, 2, 3, np.float16, 4)
    expected = np.stack([of_image(image, each, "repeat", "linear") for image, each in zip(images, coords)])

    def sample(image: Any, coords: Any) -> Any:
        return bj.sample(image, coords, addressing="repeat", precision="hardware")

    for found in (
        sample(images, coords),
        jax.jit(jax.vmap(sample))(images, coords),
        jnp.stack([jax.vmap(sample, (None, 0))(image, each) for image, each in zip(images, coords)]),
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("channels", [1, 3])
def test_lowering_for_cuda(channels: int) -> None:
    """Each image is copied and sampled by a custom call of its own, which XLA does not record in CUDA graphs."""
    function = jax.jit(lambda image, coords: bj.sample(image, coords, addressing="repeat", precision="hardware"))
    shapes = jax.ShapeDtypeStruct((2, 5, 6, channels), np.float32), jax.ShapeDtypeStruct((2, 40, 2), np.float32)
    text = function.trace(*shapes).lower(lowering_platforms=("cuda",)).as_text()
    assert "@bindless_textures" in text and "@bindless_gradients" not in text
    assert "bindless_sample_2d_f@" in text
