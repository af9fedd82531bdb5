"""``bindless.jax.map_coordinates`` against JAX's function, and against scipy's where JAX has no splines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import bindless as bl

jax = pytest.importorskip("jax", reason="pip install jax")
jnp = jax.numpy
from jax.test_util import check_grads  # noqa: E402

from bindless.jax import map_coordinates  # noqa: E402
from tests.support.python_calls import python_calls  # noqa: E402

MODES = {
    "constant": "grid-constant",
    "nearest": "nearest",
    "wrap": "grid-wrap",
    "mirror": "mirror",
    "reflect": "reflect",
}
SHAPE = (7, 9, 6)


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    """Double precision, on the processor."""
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(23)


def places(rng: np.random.Generator, dims: int, dtype: str = "d") -> list[Any]:
    """Coordinates inside and outside, with halves and integers among them."""
    anywhere = rng.uniform(-12, 20, size=(dims, 90))
    anywhere[:, :30] = np.round(2 * anywhere[:, :30]) / 2
    return [jnp.asarray(each.reshape(9, 10), dtype) for each in anywhere]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("dims", [1, 3])
def test_orders_of_jax_equal_jax(rng: np.random.Generator, dims: int, order: int, mode: str) -> None:
    array, coordinates = jnp.asarray(rng.normal(size=SHAPE[:dims])), places(rng, dims)
    expected = jax.scipy.ndimage.map_coordinates(array, coordinates, order, mode, 1.5)
    np.testing.assert_allclose(map_coordinates(array, coordinates, order, mode, 1.5), expected, atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dims", [1, 2])
def test_cubic_splines_equal_scipy(rng: np.random.Generator, dims: int, mode: str) -> None:
    array, coordinates = rng.normal(size=SHAPE[:dims]), places(rng, dims)
    # scipy continues lines by twelve samples, at which a B-spline still feels 1e-7 of what lies behind.
    tolerance = 1e-6 if mode in ("constant", "nearest") else 1e-12
    expected = ndimage.map_coordinates(array, np.array(coordinates), order=3, mode=MODES[mode], cval=1.5)
    found = map_coordinates(jnp.asarray(array), coordinates, 3, mode, 1.5)
    np.testing.assert_allclose(found, expected, atol=tolerance)
    by_scipys_name = map_coordinates(jnp.asarray(array), coordinates, 3, MODES[mode], 1.5)
    np.testing.assert_array_equal(by_scipys_name, found)


@pytest.mark.parametrize(("place", "order"), [("d", 0), ("f", 1), ("i4", 1)])
@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f2", "f4", "c8"])
def test_types_are_those_of_jax(rng: np.random.Generator, dtype: str, order: int, place: str) -> None:
    array, coordinates = jnp.asarray(rng.uniform(-90, 90, SHAPE).astype(dtype)), places(rng, 3, place)
    expected = jax.scipy.ndimage.map_coordinates(array, coordinates, order, "mirror")
    found = map_coordinates(array, coordinates, order, "mirror")
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = 0.05 if dtype == "f2" else 1e-4
    if jnp.issubdtype(array.dtype, jnp.integer):
        # A sum that lies between two integers within its rounding error may become either.
        assert (np.abs(np.asarray(found, "i8") - np.asarray(expected, "i8")) > 0).mean() <= 0.02
    elif dtype != "?":
        np.testing.assert_allclose(found, expected, atol=tolerance)


def test_doubles_keep_their_digits() -> None:
    """The position of a sample in a long array, and large integers, need more than float32."""
    ramp = jnp.arange(1 << 18, dtype="f4")
    place = (1 << 17) + 0.001953125
    assert float(map_coordinates(ramp, [jnp.array([place])], 1)[0]) == np.float32(place)
    large = jnp.array([2**31 - 1, 2**31 - 5, 7], "i8")
    assert map_coordinates(large, [jnp.arange(3.0)], 1).tolist() == large.tolist()


@pytest.mark.parametrize("dtype", ["f4", "c8"])
def test_what_has_no_texture_goes_to_jax(rng: np.random.Generator, dtype: str) -> None:
    array = jnp.asarray(rng.normal(size=(3, 4, 2, 5)).astype(dtype))
    coordinates = places(rng, 4)
    expected = jax.scipy.ndimage.map_coordinates(array, coordinates, 1, "wrap")
    np.testing.assert_array_equal(map_coordinates(array, coordinates, 1, "wrap"), expected)
    with pytest.raises(bl.FeatureNotSupportedError):
        map_coordinates(array, coordinates, 3)


@pytest.mark.parametrize("mode", ["constant", "mirror"])
def test_derivatives_of_splines(rng: np.random.Generator, mode: str) -> None:
    array, coordinates = jnp.asarray(rng.normal(size=(5, 6))), jnp.asarray(rng.uniform(-2.2, 8.3, (2, 7)))
    check_grads(
        lambda array, coordinates: map_coordinates(array, list(coordinates), 3, mode, 0.5),
        (array, coordinates),
        order=2,
        rtol=1e-5,
        atol=1e-5,
    )


def test_transformations(rng: np.random.Generator) -> None:
    """Shapes are broadcast; jit and vmap give what a call gives."""
    arrays, row, column = jnp.asarray(rng.normal(size=(3, 5, 6))), jnp.arange(4.0)[:, None], jnp.arange(5.0) + 0.25
    each = [map_coordinates(array, [row, column], 3, "reflect") for array in arrays]
    assert each[0].shape == (4, 5)
    mapped = jax.jit(jax.vmap(lambda array: map_coordinates(array, [row, column], 3, "reflect")))(arrays)
    np.testing.assert_allclose(mapped, jnp.stack(each), atol=1e-13)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_a_stack_of_coordinates(rng: np.random.Generator, order: int) -> None:
    """One array in place of one for each axis, of numpy or JAX, in single precision, differentiated and mapped."""
    array, stack = jnp.asarray(rng.normal(size=(5, 6)), "f4"), np.array(places(rng, 2, "f"))

    def sample(array: Any, stack: Any) -> Any:
        return map_coordinates(array, stack, order, "reflect")

    wanted = map_coordinates(array, list(stack), order, "reflect")
    np.testing.assert_array_equal(sample(array, stack), wanted)
    np.testing.assert_array_equal(sample(array, jnp.asarray(stack)), wanted)
    mapped = jax.vmap(sample, (None, 1))(array, jnp.asarray(stack))
    np.testing.assert_allclose(mapped, wanted, atol=1e-6)
    if order == 3:
        expected = ndimage.map_coordinates(np.asarray(array, "d"), stack.astype("d"), order=3, mode="reflect")
        np.testing.assert_allclose(wanted, expected, atol=2e-6)
        check_grads(sample, (array, jnp.asarray(stack[:, :2])), order=1, rtol=2e-2, atol=2e-2, eps=1e-3)


@pytest.mark.parametrize("cval", [0.5, "nan"])
@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_calls_outside_of_jit_are_compiled_once(
    rng: np.random.Generator, order: int, dtype: str, cval: float | str
) -> None:
    """A repeated call dispatches one function of JAX: it traces nothing, also with a new object for each NaN."""
    array, coordinates = jnp.asarray(rng.normal(size=(5, 6)), dtype), places(rng, 2, dtype)

    def call() -> Any:
        return map_coordinates(array, coordinates, order, cval=float(cval))

    expected = call()
    names = [name for name in python_calls(lambda: np.testing.assert_array_equal(call(), expected)) if name[-1] != ">"]
    assert len(names) <= 9
    assert {name.partition(":")[0] for name in names} == {"jax/coordinates.py", "jax/options.py"}


def test_a_texture_unit_has_weights_of_eight_bits() -> None:
    row = jnp.array([0.0, 1.0], "f4")
    place = [jnp.array([1 / 1000], "f4")]
    assert float(map_coordinates(row, place, 1)[0]) == np.float32(1 / 1000)
    assert float(map_coordinates(row, place, 1, precision="hardware")[0]) == 0


@pytest.mark.parametrize(
    ("coordinates", "options", "error"),
    [
        ([jnp.zeros(2)] * 2, {}, bl.ArgumentError),
        ([jnp.zeros(2, "c8")], {}, bl.ArgumentError),
        ([jnp.zeros(2)], {"mode": "grid"}, bl.ArgumentError),
        ([jnp.zeros(2)], {"mode": None}, bl.ArgumentError),
        ([jnp.zeros(2)], {"order": 6}, bl.ArgumentError),
        ([jnp.zeros(2)], {"order": 2}, bl.FeatureNotSupportedError),
        ([jnp.zeros(2)], {"precision": "reproducible"}, bl.ArgumentError),
        ([jnp.zeros(2)], {"precision": "double"}, bl.ArgumentError),
        ([jnp.zeros(2)], {"cval": "white"}, bl.ArgumentError),
        ([jnp.zeros(2)], {"order": [1]}, bl.ArgumentError),
        ([jnp.zeros(2)], {"order": True}, bl.ArgumentError),
        ([jnp.zeros(2)], {"order": 1.0}, bl.ArgumentError),
    ],
)
def test_bad_arguments(coordinates: Any, options: dict[str, Any], error: type[Exception]) -> None:
    map_coordinates(jnp.zeros(3), [jnp.zeros(2)], 1)  # options that equal these do not stand for them
    with pytest.raises(error):
        map_coordinates(jnp.zeros(3), coordinates, **{"order": 1, **options})


def test_traced_options_are_refused() -> None:
    with pytest.raises(bl.ArgumentError):
        jax.jit(lambda cval: map_coordinates(jnp.zeros(3), [jnp.zeros(2)], 1, cval=cval))(1.0)
