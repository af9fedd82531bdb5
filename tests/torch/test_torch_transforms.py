"""Transforms of ``torch.func``, in all nestings of two, against those of compositions of elementary operations.

Each function takes one vector, of all its tensors: its second derivatives are those of each pair of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402

from bindless.torch import Detector, grid_sample, line_integrals, projections, sample, texture, warp  # noqa: E402
from tests.oracle.samples import sample_textures  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # torch's, of its own formulas
    pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning"),
]

Function = Callable[[Any], Any]


class Case(NamedTuple):
    """A function of a vector, the same composed of elementary operations, and the vector."""

    ours: Function
    composed: Function
    vector: Any


def of_vector(function: Callable[..., Any], parts: list[Any]) -> Function:
    shapes, counts = [part.shape for part in parts], [part.numel() for part in parts]

    def of(vector: Any) -> Any:
        return function(*(part.reshape(shape) for part, shape in zip(vector.split(counts), shapes)))

    return of


def case(name: str) -> Case:
    generator = torch.Generator().manual_seed(len(name))

    def random(*shape: int) -> Any:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    def ours(*parts: Any) -> Any: ...

    def composed(*parts: Any) -> Any: ...

    if name == "grid_sample":
        parts = [random(2, 2, 3, 4), random(2, 1, 3, 2) * 1.8 - 0.9]

        def ours(image: Any, grid: Any) -> Any:
            return grid_sample(image, grid, align_corners=False)

        def composed(image: Any, grid: Any) -> Any:
            options: dict[str, Any] = {"scale": (2.0, 1.5), "offset": (1.5, 1.0), "boundary": "border"}
            values = sample_textures([image.movedim(1, -1)], grid.flatten(1, 2), **options)
            return values.unflatten(1, (1, 3)).movedim(-1, 1)

    elif name == "sample":
        parts = [random(3, 4, 2), random(1, 2, 2), random(3, 2) * 4, random(3)]

        def ours(first: Any, second: Any, coords: Any, level: Any) -> Any:
            return sample([first, second], coords, level=level, precision="exact")

        def composed(first: Any, second: Any, coords: Any, level: Any) -> Any:
            options: dict[str, Any] = {"between": "linear", "offset": (-0.5, -0.5)}
            return sample_textures([first[None], second[None]], coords[None], level[None], **options)[0]

    elif name == "warp":
        affine = torch.tensor([[0.9, 0.1, 0.4], [-0.1, 0.8, 0.3], [0.02, 0.01, 1.0]], dtype=torch.float64)
        parts = [random(4, 4, 1), affine + random(3, 3) * 0.01]

        def ours(image: Any, matrix: Any) -> Any:
            return warp(image, matrix, (2, 3), filtering="catmull_rom", addressing="repeat", precision="exact")

        def composed(image: Any, matrix: Any) -> Any:
            y, x = torch.meshgrid(torch.arange(2) + 0.5, torch.arange(3) + 0.5, indexing="ij")
            moved = torch.stack([x, y, torch.ones_like(x)], -1).double() @ matrix.T
            places = (moved[..., :2] / moved[..., 2:]).reshape(1, -1, 2)
            options: dict[str, Any] = {"interpolation": "catmull_rom", "boundary": "repeat", "offset": (-0.5, -0.5)}
            return sample_textures([image[None]], places, **options).reshape(2, 3, 1)

    else:
        parts = [random(1, 4, 4, 1), random(1, 3, 2), (random(1, 3, 4) - 0.5) * 0.8, random(1, 3) * 0.3]

        def ours(tex: Any, uv: Any, uv_da: Any, bias: Any) -> Any:
            return texture(tex, uv, uv_da, bias)

        def composed(tex: Any, uv: Any, uv_da: Any, bias: Any) -> Any:
            pool = torch.nn.functional.avg_pool2d
            levels = [tex.movedim(-1, 1)]
            levels += [pool(levels[0], 2), pool(pool(levels[0], 2), 2)]
            level = torch.log2(torch.linalg.svdvals(uv_da.unflatten(-1, (2, 2)) * 4)[..., 0]) + bias
            options: dict[str, Any] = {"between": "linear", "boundary": "repeat", "scale": (4.0, 4.0)}
            options["offset"] = (-0.5, -0.5)
            return sample_textures([part.movedim(1, -1) for part in levels], uv, level, **options)

    vector = torch.cat([part.flatten() for part in parts])
    return Case(of_vector(ours, parts), of_vector(composed, parts), vector)


CASES = ("grid_sample", "sample", "warp", "texture")
TOLERANCE = {"rtol": 1e-7, "atol": 1e-7}
FIRST: dict[str, Callable[[Function, Any, Any], Any]] = {
    "vmap": lambda f, x, t: vmap(f)(torch.stack([x, x + 0.001 * t])),
    "grad": lambda f, x, t: grad(lambda y: f(y).sin().sum())(x),
    "vjp": lambda f, x, t: vjp(f, x)[1](f(x))[0],
    "jvp": lambda f, x, t: jvp(f, (x,), (t,))[1],
    "jacrev": lambda f, x, t: jacrev(f)(x),
    "jacfwd": lambda f, x, t: jacfwd(f)(x),
    "vmap(jacrev)": lambda f, x, t: vmap(jacrev(f))(torch.stack([x, x + 0.001 * t])),
    "vmap(jacfwd)": lambda f, x, t: vmap(jacfwd(f))(torch.stack([x, x + 0.001 * t])),
    "grad(vmap)": lambda f, x, t: grad(lambda y: vmap(f)(y).sin().sum())(torch.stack([x, x + 0.001 * t])),
    "jvp(vmap)": lambda f, x, t: jvp(vmap(f), (torch.stack([x, x + 0.001 * t]),), (torch.stack([t, x]),))[1],
}
SECOND: dict[str, Callable[[Function, Any, Any], Any]] = {
    "jacrev(jacrev)": lambda s, x, t: jacrev(jacrev(s))(x),
    "jacrev(jacfwd)": lambda s, x, t: jacrev(jacfwd(s))(x),
    "jacfwd(jacfwd)": lambda s, x, t: jacfwd(jacfwd(s))(x),
    "hessian": lambda s, x, t: hessian(s)(x),
    "vmap(hessian)": lambda s, x, t: vmap(hessian(s))(torch.stack([x, x + 0.001 * t])),
    "grad(grad)": lambda s, x, t: grad(lambda y: (grad(s)(y) * t).sum())(x),
    "grad(jvp)": lambda s, x, t: grad(lambda y: jvp(s, (y,), (t,))[1])(x),
    "jvp(grad)": lambda s, x, t: jvp(grad(s), (x,), (t,))[1],
    "jvp(jvp)": lambda s, x, t: jvp(lambda y: jvp(s, (y,), (t,))[1], (x,), (x,))[1],
    "vjp(jvp)": lambda s, x, t: vjp(lambda y, z: jvp(s, (y,), (z,))[1], x, t)[1](torch.ones_like(s(x))),
    "vmap(grad(jvp))": lambda s, x, t: vmap(lambda u: grad(lambda y: jvp(s, (y,), (u,))[1])(x))(torch.stack([t, x])),
}
THIRD: dict[str, Callable[[Function, Any, Any], Any]] = {
    "jacrev(jacrev(jacrev))": lambda s, x, t: jacrev(jacrev(jacrev(s)))(x),
    "jacfwd(hessian)": lambda s, x, t: jacfwd(hessian(s))(x),
    "grad(jvp(jvp))": lambda s, x, t: grad(
        lambda z: jvp(lambda y: jvp(s, (y,), (t,))[1], (z,), (x,))[1]
    )(x),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transform", FIRST)
def test_first_derivatives(name: str, transform: str) -> None:
    ours, composed, vector = case(name)
    tangent = torch.randn(len(vector), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found, expected = (FIRST[transform](function, vector, tangent) for function in (ours, composed))
    torch.testing.assert_close(found, expected, **TOLERANCE)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transform", SECOND)
def test_second_derivatives(name: str, transform: str) -> None:
    ours, composed, vector = case(name)
    tangent = torch.randn(len(vector), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found, expected = (
        SECOND[transform](lambda x, f=function: f(x).sin().sum(), vector, tangent) for function in (ours, composed)
    )
    torch.testing.assert_close(found, expected, **TOLERANCE)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transform", THIRD)
def test_third_derivatives_are_refused(name: str, transform: str) -> None:
    ours, _, vector = case(name)
    with pytest.raises(bl.FeatureNotSupportedError) as raised:
        THIRD[transform](lambda x: ours(x).sin().sum(), vector, torch.ones_like(vector))
    assert raised.value.code is bl.Errc.feature_not_supported


@pytest.mark.parametrize("name", CASES)
def test_third_derivatives_without_transforms_are_refused(name: str) -> None:
    ours, _, vector = case(name)
    derivative = ours(vector.requires_grad_()).sin().sum()
    for _ in range(2):
        derivative = torch.autograd.grad(derivative, vector, create_graph=True)[0].sin().sum()
    with pytest.raises(bl.FeatureNotSupportedError):
        torch.autograd.grad(derivative, vector)


@pytest.mark.parametrize("name", CASES)
def test_reverse_mode_over_dual_tensors(name: str) -> None:
    """After the level has ended: within it, the gradient is differentiated along the tangent as well."""
    ours, composed, vector = case(name)
    tangent = torch.linspace(-1, 1, len(vector), dtype=torch.float64)
    leaf = vector.clone().requires_grad_()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(leaf, tangent)
        moved = torch.autograd.forward_ad.unpack_dual(ours(dual)).tangent.sin().sum()
    expected = grad(lambda x: jvp(composed, (x,), (tangent,))[1].sin().sum())(vector)
    torch.testing.assert_close(torch.autograd.grad(moved, leaf)[0], expected, **TOLERANCE)


def test_one_level_for_each_of_several_samples() -> None:
    """Levels of detail are mapped, and coordinates are not."""
    image, coords = torch.rand(4, 4, 1, dtype=torch.float64), torch.rand(5, 2, dtype=torch.float64) * 4
    levels = torch.rand(3, 5, dtype=torch.float64) * 2
    found = vmap(lambda level: sample(image, coords, level=level, precision="exact"))(levels)
    each = [sample(image, coords, level=level, precision="exact") for level in levels]
    torch.testing.assert_close(found, torch.stack(each))


DETECTOR = Detector((-20, 1, 0.5), (15, -4, -3), (0.1, 1.7, 0), (0, 0.1, 1.4), width=3, height=2)


def projected(matrices: bool = False) -> tuple[Function, Any]:
    generator = torch.Generator().manual_seed(3)
    parts = [torch.randn(4, 5, 6, generator=generator, dtype=torch.float64)]
    parts.append(torch.randn(2, *((3, 4) if matrices else (6,)), generator=generator, dtype=torch.float64) * 0.2)
    function = of_vector(lambda volume, poses: projections(volume, poses, DETECTOR, 11), parts)
    return function, torch.cat([part.flatten() for part in parts])


def integrated() -> tuple[Function, Any]:
    generator = torch.Generator().manual_seed(4)
    parts = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((4, 5, 6), (3,), (6, 3))]
    parts = [parts[0], parts[1] - 4, parts[2] + 9]
    function = of_vector(lambda volume, start, ends: line_integrals(volume, start, ends, 7).view(1, 2, 3), parts)
    return function, torch.cat([part.flatten() for part in parts])


MARCHES = {"projections": projected, "line_integrals": integrated}


@pytest.mark.parametrize("name", MARCHES)
@pytest.mark.parametrize("transform", FIRST)
def test_ray_marches(transform: str, name: str) -> None:
    """Compared with difference quotients."""
    function, vector = MARCHES[name]()
    tangent = torch.linspace(-1, 1, len(vector), dtype=torch.float64)
    found = FIRST[transform](function, vector, tangent)
    step = 1e-6 * torch.eye(len(vector), dtype=torch.float64)

    def jacobian(x: Any) -> Any:
        return torch.stack([(function(x + row) - function(x - row)) / 2e-6 for row in step], -1)

    rows = torch.stack([vector, vector + 0.001 * tangent])
    both = torch.stack([tangent, vector])
    expected = {
        "vmap": lambda: torch.stack([function(row) for row in rows]),
        "grad": lambda: torch.einsum("phw,phwn->n", function(vector).cos(), jacobian(vector)),
        "vjp": lambda: torch.einsum("phw,phwn->n", function(vector), jacobian(vector)),
        "jvp": lambda: jacobian(vector) @ tangent,
        "jacrev": lambda: jacobian(vector),
        "jacfwd": lambda: jacobian(vector),
        "vmap(jacrev)": lambda: torch.stack([jacobian(row) for row in rows]),
        "vmap(jacfwd)": lambda: torch.stack([jacobian(row) for row in rows]),
        "grad(vmap)": lambda: torch.stack(
            [torch.einsum("phw,phwn->n", function(row).cos(), jacobian(row)) for row in rows]
        ),
        "jvp(vmap)": lambda: torch.stack([jacobian(row) @ along for row, along in zip(rows, both)]),
    }[transform]()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MARCHES)
@pytest.mark.parametrize("transform", SECOND)
def test_second_derivatives_of_ray_marches_are_refused(transform: str, name: str) -> None:
    function, vector = MARCHES[name]()
    with pytest.raises(bl.FeatureNotSupportedError):
        SECOND[transform](lambda x: function(x).sin().sum(), vector, torch.ones_like(vector))


@pytest.mark.parametrize("matrices", [False, True])
def test_projections_of_dual_tensors(matrices: bool) -> None:
    function, vector = projected(matrices)
    tangent = torch.linspace(-1, 1, len(vector), dtype=torch.float64)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(vector, tangent)
        _, moved = torch.autograd.forward_ad.unpack_dual(function(dual))
    quotient = (function(vector + 1e-6 * tangent) - function(vector - 1e-6 * tangent)) / 2e-6
    torch.testing.assert_close(moved, quotient, rtol=1e-5, atol=1e-5)


def test_an_image_has_reverse_mode_alone() -> None:
    pixels = torch.rand(4, 5, 2)
    image = bl.Image(pixels.numpy(), precision="exact", queue=bl.Queue("reference"))
    coords = torch.rand(3, 2) * 4

    def function(places: Any) -> Any:
        return sample(image, places)

    def exact(places: Any) -> Any:
        return sample(pixels, places, precision="exact")

    def total(places: Any) -> Any:
        return function(places).square().sum()

    torch.testing.assert_close(jacrev(function)(coords), jacrev(exact)(coords), rtol=1e-3, atol=1e-3)
    expected = hessian(lambda places: exact(places).square().sum())(coords)
    torch.testing.assert_close(jacrev(jacrev(total))(coords), expected, rtol=1e-3, atol=1e-3)
    for transform in (jacfwd(function), hessian(total)):
        with pytest.raises(bl.FeatureNotSupportedError):
            transform(coords)
