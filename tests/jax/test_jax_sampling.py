"""``bindless.jax.sample`` against the same filter in JAX's functions: values and derivatives."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl

jax = pytest.importorskip("jax", reason="pip install jax")
jnp = jax.numpy
from jax.test_util import check_grads  # noqa: E402

import bindless.jax as bj  # noqa: E402
from bindless.jax.lines import outer_weights  # noqa: E402
from bindless.sampling.memory.mipmaps import reductions  # noqa: E402
from tests.oracle.samples import sample_pixels  # noqa: E402
from tests.support.python_calls import python_calls  # noqa: E402

by_definition = functools.partial(sample_pixels, fold=False)

Sampler = Callable[[Any, Any], Any]


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    """Double precision, on the processor."""
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(17)


def _arrays(rng: np.random.Generator, dims: int) -> tuple[Any, Any]:
    image = jnp.asarray(rng.normal(size=(*(5, 6, 7)[3 - dims :], 2)))
    return image, jnp.asarray(rng.uniform(-3, 9, size=(4, 3, dims)))


def _close(first: Any, second: Any, tolerance: float = 1e-12) -> None:
    pairs = list(zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True))
    assert pairs
    for one, other in pairs:
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=tolerance)


def _loss(sampler: Sampler) -> Callable[[Any, Any], Any]:
    return lambda image, coords: (jnp.sin(sampler(image, coords)) * coords[..., :1]).sum()


def _twice(sampler: Sampler) -> Callable[[Any, Any], Any]:
    gradient = jax.grad(_loss(sampler), (0, 1))
    return jax.grad(lambda image, coords: sum(jnp.cos(part).sum() for part in gradient(image, coords)), (0, 1))


TRANSFORMS: dict[str, Callable[[Sampler], Callable[[Any, Any], Any]]] = {
    "values": lambda f: f,
    "jit": lambda f: jax.jit(f),
    "grad": lambda f: jax.grad(_loss(f), (0, 1)),
    "grad of the image": lambda f: jax.jit(jax.grad(_loss(f))),
    "grad of the coordinates": lambda f: jax.jit(jax.grad(_loss(f), 1)),
    "grad of grad": _twice,
    "jvp": lambda f: lambda i, c: jax.jvp(f, (i, c), (jnp.cos(i), jnp.sin(c))),
    "jvp of grad": lambda f: lambda i, c: jax.jvp(jax.grad(_loss(f), (0, 1)), (i, c), (jnp.cos(i), jnp.sin(c))),
    "grad of jvp": lambda f: jax.grad(lambda i, c: jnp.sin(jax.jvp(f, (i, c), (i + 1, c + 1))[1]).sum(), (0, 1)),
    "jvp of jvp": lambda f: lambda i, c: jax.jacfwd(jax.jacfwd(lambda x: f(i, x)))(c[0, 0]),
    "linearize": lambda f: lambda i, c: jax.linearize(lambda x: f(i, x), c)[1](jnp.cos(c)),
    "transpose": lambda f: lambda i, c: jax.linear_transpose(lambda x: f(x, c), i)(jnp.cos(f(i, c))),
    "hessian": lambda f: lambda i, c: jax.hessian(lambda x: f(i, x)[0])(c[0, 0]),
    "vmap of coordinates": lambda f: jax.vmap(f, (None, 1), 1),
    "vmap of images": lambda f: lambda i, c: jax.vmap(f, (0, None))(jnp.stack([i, i + 1, jnp.cos(i)]), c),
    "vmap of both": lambda f: lambda i, c: jax.vmap(f, (2, 0))(jnp.stack([i, i + 1, i - 1, jnp.cos(i)], 2), c),
    "vmap of vmap": lambda f: jax.vmap(jax.vmap(f, (None, 0)), (None, 0)),
    "vmap of grad": lambda f: jax.vmap(jax.grad(_loss(f), (0, 1)), (None, 0)),
    "grad of vmap": lambda f: jax.grad(lambda i, c: (jax.vmap(f, (None, 0))(i, c) ** 2).sum(), (0, 1)),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(_loss(f)), (0, 1)),
    "cond": lambda f: jax.grad(lambda i, c: jax.lax.cond(i[0, 0, 0] > 9, lambda: 0.0, lambda: _loss(f)(i, c)), (0, 1)),
    "while": lambda f: (
        lambda i, c: jax.lax.while_loop(
            lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + f(i, c + s[0])), (0, jnp.zeros((4, 3, 2)))
        )
    ),
    "scan": lambda f: jax.grad(lambda i, c: jax.lax.scan(lambda s, x: (s + f(i, x).sum() ** 2, 0), 0.0, c)[0], (0, 1)),
}


OTHER_DIMENSIONS = [(name, dims) for name in ("values", "grad", "grad of grad", "vmap of grad") for dims in (1, 3)]


@pytest.mark.parametrize(("name", "dims"), [*((name, 2) for name in TRANSFORMS), *OTHER_DIMENSIONS])
def test_transforms(rng: np.random.Generator, name: str, dims: int) -> None:
    transform = TRANSFORMS[name]
    arrays = _arrays(rng, dims)
    _close(transform(bj.sample)(*arrays), transform(by_definition)(*arrays))


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp", "repeat", "mirrored_repeat", "mirror"])
def test_addressing(rng: np.random.Generator, addressing: str) -> None:
    arrays = _arrays(rng, 2)
    both = [
        jax.value_and_grad(_loss(lambda i, c, f=f: f(i, c, addressing=addressing, fill=0.5)), (0, 1))(*arrays)
        for f in (bj.sample, by_definition)
    ]
    _close(*both)


def test_addressing_of_each_axis(rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, 2)
    found = bj.sample(image, coords, addressing=("repeat", "clamp_to_edge"))
    wrapped = coords.at[..., 0].set(coords[..., 0] % image.shape[1] + image.shape[1])
    _close(found, by_definition(jnp.tile(image, (1, 3, 1)), wrapped))


def test_normalized_coordinates(rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, 3)
    sizes = jnp.asarray(image.shape[-2::-1], coords.dtype)
    both = [
        jax.grad(lambda c: (bj.sample(image, c, coordinate="normalized") ** 2).sum())(coords / sizes),
        jax.grad(lambda c: (by_definition(image, c * sizes) ** 2).sum())(coords / sizes),
    ]
    _close(*both)


def test_batches(rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, 2)
    images = jnp.stack([image, image * 2, image - 1, jnp.sin(image)])
    both = [
        jax.grad(lambda i, c: (bj.sample(i, c) ** 2).sum(), (0, 1))(images, coords),
        jax.grad(lambda i, c: (jax.vmap(by_definition)(i, c) ** 2).sum(), (0, 1))(images, coords),
    ]
    _close(*both)


@pytest.mark.parametrize("filtering", ["nearest", "catmull_rom", "bicubic"])
def test_other_filters(rng: np.random.Generator, filtering: str) -> None:
    """Samples at the centres of pixels are the pixels, and gradients of the image add up to the number of samples."""
    image, _ = _arrays(rng, 2)
    height, width = image.shape[:2]
    y, x = jnp.mgrid[:height, :width] + 0.5
    _close(bj.sample(image, jnp.stack([x, y], -1), filtering=filtering), image)
    places = jnp.asarray(rng.uniform(0, 5, (100, 2)))
    gradient = jax.grad(lambda i: bj.sample(i, places, filtering=filtering).sum())(image)
    np.testing.assert_allclose(gradient.sum((0, 1)), 100)


@pytest.mark.parametrize("shape", [(8, 8), (7, 5), (1, 6)])
def test_levels_of_detail(rng: np.random.Generator, shape: tuple[int, int]) -> None:
    """Blends of two levels, whose texels are means of areas, and gradients to all three arguments."""
    image = jnp.asarray(rng.normal(size=(*shape, 2)))
    coords = jnp.asarray(rng.uniform(0, 8, (40, 2)))
    detail = jnp.asarray(rng.uniform(0, 3, 40))

    def means(array: Any, axis: int) -> Any:
        size = array.shape[axis]
        half = max(size // 2, 1)
        fine = jnp.repeat(array, half, axis)  # each pixel of the level covers `size` parts
        return fine.reshape(*array.shape[:axis], half, size, *array.shape[axis + 1 :]).mean(axis + 1)

    def wanted(image: Any, coords: Any, detail: Any) -> Any:
        levels = [image]
        while max(levels[-1].shape[:2]) > 1:
            levels.append(means(means(levels[-1], 0), 1))
        sizes = jnp.asarray(image.shape[1::-1], coords.dtype)
        values = jnp.stack([by_definition(x, coords / sizes * jnp.asarray(x.shape[1::-1])) for x in levels])
        weights = jnp.clip(1 - abs(jnp.clip(detail, 0, len(levels) - 1) - jnp.arange(len(levels))[:, None]), 0, 1)
        return (weights[..., None] * values).sum(0)

    def loss(f: Any) -> Any:
        return lambda *arrays: jnp.sin(f(*arrays)).sum()

    arrays = image, coords, detail
    found = jax.value_and_grad(loss(lambda i, c, d: bj.sample(i, c, level=d)), (0, 1, 2))(*arrays)
    _close(found, jax.value_and_grad(loss(wanted), (0, 1, 2))(*arrays))


def test_one_level_for_all_samples(rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, 2)
    _close(bj.sample(image, coords, level=1.0), bj.sample(image, coords, level=jnp.ones(coords.shape[:-1])))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "uint8"])
def test_types(rng: np.random.Generator, dtype: str) -> None:
    image = jnp.asarray(rng.integers(0, 200, (6, 7, 3)), dtype)
    coords = jnp.asarray(rng.uniform(0, 6, (50, 2)), jnp.float32)
    found = bj.sample(image, coords, precision="exact")
    assert found.dtype == (dtype if dtype != "uint8" else jnp.float32)
    eps = float(jnp.finfo(found.dtype).eps)
    _close(found.astype(float), by_definition(image.astype(float), coords.astype(float)), 300 * eps)
    if dtype != "uint8":
        gradient = jax.grad(lambda i: bj.sample(i, coords).astype(jnp.float32).sum())(image)
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient.astype(float).sum(), 150, rtol=40 * eps)


def test_nothing_to_sample(rng: np.random.Generator) -> None:
    image, _ = _arrays(rng, 2)
    empty = jnp.zeros((0, 2))
    assert bj.sample(image, empty).shape == (0, 2)
    _close(jax.grad(lambda i: bj.sample(i, empty).sum())(image), jnp.zeros_like(image))
    assert jax.vmap(bj.sample, (None, 0))(image, jnp.zeros((3, 0, 2))).shape == (3, 0, 2)


def test_many_threads(rng: np.random.Generator) -> None:
    """More samples than one thread takes, and the same bits each time."""
    image = jnp.asarray(rng.normal(size=(40, 50, 4)), jnp.float32)
    coords = jnp.asarray(rng.uniform(0, 50, (100_000, 2)), jnp.float32)
    gradient = jax.jit(jax.grad(lambda i: (bj.sample(i, coords, precision="exact") ** 2).sum()))
    first = gradient(image)
    np.testing.assert_array_equal(first, gradient(image))
    wanted = jax.grad(lambda i: (by_definition(i, coords.astype(float)) ** 2).sum())(image.astype(float))
    _close(first, wanted, 2e-3)


def test_without_jit(rng: np.random.Generator) -> None:
    arrays = _arrays(rng, 2)
    with jax.disable_jit():
        found = jax.grad(_loss(bj.sample), (0, 1))(*arrays)
    _close(found, jax.grad(_loss(by_definition), (0, 1))(*arrays))


@pytest.mark.parametrize("level", [None, 0.5])
def test_calls_outside_of_jit_are_compiled_once(level: float | None, rng: np.random.Generator) -> None:
    """A repeated call dispatches one function of JAX, and traces nothing."""
    image, coords = jnp.asarray(rng.normal(size=(6, 7, 2))), jnp.asarray(rng.uniform(0, 6, (5, 2)))

    def call() -> Any:
        return bj.sample(image, coords, addressing=["repeat", "border"], fill=float("nan"), level=level)

    expected = call()
    names = [name for name in python_calls(lambda: np.testing.assert_array_equal(call(), expected)) if name[-1] != ">"]
    assert len(names) <= 6
    assert {name.partition(":")[0] for name in names} == {"jax/sampling.py", "jax/options.py"}


def test_third_derivatives_are_refused(rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, 2)
    with pytest.raises(bl.FeatureNotSupportedError):
        jax.jacrev(jax.jacrev(jax.jacrev(lambda c: bj.sample(image, c))))(coords[0, 0])


@pytest.mark.parametrize(
    ("image", "coords", "options"),
    [
        ((5, 6, 2), (4, 4), {}),
        ((5, 6, 2), (), {}),
        ((6, 2), (4, 2), {}),
        ((3, 5, 6, 2), (4, 2), {}),
        ((5, 6, 2), (4, 2), {"addressing": "none"}),
        ((5, 6, 2), (4, 2), {"addressing": "elsewhere"}),
        ((5, 6, 2), (4, 2), {"addressing": ("repeat", "repeat", "repeat")}),
        ((5, 6, 2), (4, 2), {"filtering": "smooth"}),
        ((5, 6, 2), (4, 2), {"coordinate": "metres"}),
    ],
)
def test_invalid_arguments(image: tuple[int, ...], coords: tuple[int, ...], options: dict[str, Any]) -> None:
    with pytest.raises(bl.InvalidError):
        bj.sample(jnp.zeros(image), jnp.zeros(coords), **options)


@pytest.mark.parametrize("dtype", [jnp.complex64, jnp.bool_])
def test_arrays_of_other_types_are_refused(dtype: Any) -> None:
    image, coords = jnp.zeros((5, 6, 2)), jnp.zeros((4, 2))
    with pytest.raises(bl.InvalidError):
        bj.sample(image.astype(dtype), coords)
    with pytest.raises(bl.InvalidError):
        bj.sample(image, coords.astype(dtype))


def test_static_options(rng: np.random.Generator) -> None:
    """``jax.jit`` takes all options by name as static arguments."""
    arrays = _arrays(rng, 2)
    options = {"filtering": "nearest", "addressing": "clamp", "fill": 0.5, "precision": "exact", "deterministic": True}
    compiled = jax.jit(bj.sample, static_argnames=tuple(options))
    _close(compiled(*arrays, **options), bj.sample(*arrays, **options))


@pytest.mark.parametrize("name", ["fill", "deterministic", "cubemap"])
def test_traced_options_are_refused(name: str, rng: np.random.Generator) -> None:
    arrays = _arrays(rng, 2)
    with pytest.raises(bl.InvalidError):
        jax.jit(lambda value: bj.sample(*arrays, **{name: value}))(False)


def test_absent_precision() -> None:
    with pytest.raises(bl.InvalidError):
        bj.sample(jnp.zeros((5, 6, 2)), jnp.zeros((4, 2)), precision="reproducible")


@pytest.mark.parametrize(
    ("dims", "addressing", "coordinate"),
    [
        (1, "clamp_to_edge", "normalized"),
        (2, "clamp", "unnormalized"),
        (3, "repeat", "normalized"),
        (2, "mirrored_repeat", "unnormalized"),
    ],
)
def test_cubic_is_that_of_images(dims: int, addressing: str, coordinate: str, rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, dims)
    coords = coords / 7 if coordinate == "normalized" else coords
    options: dict[str, Any] = {"filtering": "cubic", "coordinate": coordinate}
    mode = "clamp_to_border" if addressing == "clamp" else addressing
    with bl.Image(
        np.asarray(image, np.float32), addressing=mode, precision="exact", dimensions=dims,
        queue=bl.Queue("reference"), **options,
    ) as stored:  # fmt: skip
        expected = stored.sample(np.asarray(coords))
    found = jax.jit(lambda *arrays: bj.sample(*arrays, addressing=addressing, **options))(image, coords)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_cubic_with_fill_and_derivatives(rng: np.random.Generator) -> None:
    image, _ = _arrays(rng, 2)
    far = bj.sample(image, jnp.full((1, 2), 90.0), filtering="cubic", addressing="clamp", fill=3.0)
    _close(far, jnp.full((1, 2), 3.0))
    inside = jnp.asarray(rng.uniform(1.5, 4.5, size=(4, 2)))
    centres = jnp.asarray([[2.5, 3.5], [4.5, 0.5]])
    _close(bj.sample(image, centres, filtering="cubic"), image[jnp.array([3, 0]), jnp.array([2, 4])])
    check_grads(lambda *arrays: bj.sample(*arrays, filtering="cubic"), (image, inside), order=2, rtol=1e-3)


def test_cubemap(rng: np.random.Generator) -> None:
    faces = jnp.asarray(rng.normal(size=(6, 4, 4, 2)))
    directions = jnp.asarray(rng.normal(size=(30, 3)))
    with bl.Image(
        np.asarray(faces, np.float32), cubemap=True, precision="exact", queue=bl.Queue("reference")
    ) as stored:  # fmt: skip
        expected = stored.sample(np.asarray(directions))
    np.testing.assert_allclose(bj.sample(faces, directions, cubemap=True), expected, atol=1e-5)
    batch = jnp.stack([faces, 2 * faces])
    found = bj.sample(batch, jnp.stack([directions, directions]), cubemap=True)
    _close(found[1], 2 * found[0])
    check_grads(lambda *arrays: bj.sample(*arrays, cubemap=True), (faces, directions), order=1, eps=1e-6, rtol=1e-3)
    _close(
        bj.sample(faces, directions, cubemap=True, level=2.0),
        jnp.broadcast_to(_mean_of_face(faces, directions), (30, 2)),
    )


def _mean_of_face(faces: Any, directions: Any) -> Any:
    """Level 2 of faces of 4 x 4 texels is one texel each; a sample away from it reads its neighbours too."""
    smallest = faces.mean((1, 2), keepdims=True)
    return bj.sample(smallest, directions, cubemap=True)


def test_levels_that_are_given(rng: np.random.Generator) -> None:
    image, coords = _arrays(rng, 2)
    level = jnp.asarray(rng.uniform(-0.5, 3, coords.shape[:-1]))
    levels = [image, *reductions(image, (0, 1), 2, outer_weights)]
    _close(bj.sample(levels, coords, level=level), bj.sample(image, coords, level=level))
    changed = [each * (number + 1) for number, each in enumerate(levels)]
    gradients = jax.grad(lambda parts: bj.sample(parts, coords, level=1.0).sum())(changed)
    assert [bool(each.any()) for each in gradients] == [False, True, *[False] * (len(levels) - 2)]
    with pytest.raises(bl.InvalidError):
        bj.sample(levels, coords)
    with pytest.raises(bl.InvalidError):
        bj.sample((), coords, level=1.0)
    with pytest.raises(bl.InvalidError):
        bj.sample([levels[0], levels[1].astype(jnp.float32)], coords, level=1.0)


@pytest.mark.parametrize("options", [{"cubemap": True}, {"level": 1.0}])
def test_filters_that_have_no_meaning(options: dict[str, Any]) -> None:
    with pytest.raises(bl.InvalidError):
        bj.sample(jnp.zeros((6, 4, 4, 2)), jnp.zeros((4, 3)), filtering="cubic", **options)


SHARDED = """
from functools import partial

import numpy as np
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import bindless.jax as bj

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("images", "rows"))
rng = np.random.default_rng(3)
images = jnp.asarray(rng.normal(size=(4, 6, 7, 2)), jnp.float32)
coords = jnp.asarray(rng.uniform(0, 6, (4, 8, 5, 2)), jnp.float32)

exact = partial(bj.sample, precision="exact")

def loss(images, coords):
    return (exact(images, coords) ** 2).sum()

def one(image, coords):
    return (exact(image, coords) ** 2).sum()

def hardware(images, coords):
    return bj.sample(images, coords, addressing="repeat", precision="hardware")

for function, arrays, places, gathers in (
    (exact, (images, coords), (P("images"), P("images")), False),
    (exact, (images, coords), (P("images"), P("images", "rows")), False),
    (exact, (images[0], coords), (P(), P(("images", "rows"))), False),
    (jax.grad(loss, (0, 1)), (images, coords), (P("images"), P("images", "rows")), True),
    (jax.grad(one, (0, 1)), (images[0], coords), (P(), P(("images", "rows"))), True),
    (jax.grad(one, 1), (images[0], coords), (P(), P(("images", "rows"))), False),
    (hardware, (images, coords), (P("images"), P("images", "rows")), False),
    (hardware, (images[0], coords), (P(), P(("images", "rows"))), False),
):
    wanted = function(*arrays)
    placed = [jax.device_put(array, NamedSharding(mesh, place)) for array, place in zip(arrays, places)]
    compiled = jax.jit(function).lower(*placed).compile()
    text = compiled.as_text()
    assert "all-gather" not in text, text
    assert ("all-reduce" in text) == gathers, text
    found = compiled(*placed)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted)):
        np.testing.assert_allclose(a, b, atol=1e-5)
    last = jax.tree.leaves(found)[-1]
    assert len(last.sharding.device_set) == 4 and not last.sharding.is_fully_replicated

rows = P(("images", "rows"))
mapped = jax.jit(jax.shard_map(exact, mesh=mesh, in_specs=(P(), rows), out_specs=rows))
np.testing.assert_allclose(mapped(images[0], coords), exact(images[0], coords), atol=1e-6)
print("sharded")
"""


def test_sharding() -> None:
    """Devices sample what they hold: nothing is gathered, and gradients of shared images are added up."""
    environment = {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "JAX_PLATFORMS": "cpu",
        "JAX_USE_SHARDY_PARTITIONER": "1",
    }
    run = subprocess.run(
        [sys.executable, "-c", SHARDED], env={**os.environ, **environment}, capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout.strip() == "sharded"


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 4, 0)])
def test_an_image_without_pixels(shape: tuple[int, ...]) -> None:
    with pytest.raises(bl.InvalidError):
        bj.sample(jnp.zeros(shape), jnp.ones((4, 2)))
    with pytest.raises(bl.InvalidError):
        bj.sample(jnp.zeros((2, *shape)), jnp.ones((2, 4, 2)))
