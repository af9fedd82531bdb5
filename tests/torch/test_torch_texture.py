"""``bindless.torch.texture``: levels, footprints and gradients against compositions of torch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

from bindless.torch import (  # noqa: E402
    engine,
    footprints,
    level_kernels,
    mipmapped,
    mipmaps,
    sample,
    texture,
    texture_construct_mip,
)
from tests.oracle.samples import sample_textures  # noqa: E402

pytestmark = pytest.mark.torch

BOUNDARIES = {"wrap": "repeat", "clamp": "edge", "zero": "border"}
FILTERS = {
    "nearest": ("nearest", "none"),
    "linear": ("linear", "none"),
    "linear-mipmap-nearest": ("linear", "nearest"),
    "linear-mipmap-linear": ("linear", "linear"),
}


def operands(dims: int, count: int = 2) -> tuple[Any, ...]:
    generator = torch.Generator().manual_seed(dims)

    def random(*shape: int) -> Any:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    tex = random(count, *(8, 4, 16)[:dims], 3)
    uv, uv_da = random(2, 5, 4, dims) * 2 - 0.5, (random(2, 5, 4, 2 * dims) - 0.5) * 0.4
    return tex, uv, uv_da, random(2, 5, 4) - 0.5


def means(tex: Any) -> list[Any]:
    """The levels of a texture whose sizes are powers of two, by torch's pooling."""
    levels, first = [tex], tex.movedim(-1, 1)
    pool = {2: torch.nn.functional.avg_pool2d, 3: torch.nn.functional.avg_pool3d}[tex.dim() - 2]
    while max(first.shape[2:]) > 1:
        first = pool(first, tuple(2 if size > 1 else 1 for size in first.shape[2:]))
        levels.append(first.movedim(1, -1))
    return levels


def footprint(uv_da: Any, tex: Any) -> Any:
    """log2 of the largest singular value of the map from pixels to texels."""
    sizes = torch.tensor(tuple(tex.shape[-2:0:-1]), dtype=torch.float64)
    return torch.log2(torch.linalg.svdvals(uv_da.unflatten(-1, (-1, 2)) * sizes[:, None])[..., 0])


@pytest.mark.parametrize(("mode", "boundary"), list(itertools.product(FILTERS, BOUNDARIES)))
@pytest.mark.parametrize("dims", [2, 3])
def test_values_and_gradients(dims: int, mode: str, boundary: str) -> None:
    results = []
    for ours in (True, False):
        tensors = [part.requires_grad_() for part in operands(dims)]
        tex, uv, uv_da, bias = tensors
        if ours:
            values = texture(tex, uv, uv_da, bias, filter_mode=mode, boundary_mode=boundary)
        else:
            filtering, between = FILTERS[mode]
            level = (footprint(uv_da, tex) + bias).flatten(1)
            level = level.floor() if between == "nearest" else level
            sizes = tuple(float(size) for size in tex.shape[-2:0:-1])
            options: dict[str, Any] = {"interpolation": filtering, "between": between, "boundary": BOUNDARIES[boundary]}
            options |= {"scale": sizes, "offset": (-0.5,) * dims}
            flat = sample_textures(means(tex), uv.flatten(1, 2), level, **options)
            values = flat.unflatten(1, (5, 4))
        first = torch.autograd.grad(values.sin().sum(), tensors, allow_unused=True, create_graph=True)
        results.append([part if part is None else part.detach() for part in (values, *first)])
    for found, expected in zip(*results):
        expected = torch.zeros_like(found) if found is not None and expected is None else expected
        if found is None:
            assert expected is None or not expected.any()
        else:
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-9 * max(1.0, float(expected.abs().max())))


@pytest.mark.parametrize("dims", [2, 3])
def test_gradients_of_both_orders(dims: int) -> None:
    tex, uv, uv_da, bias = operands(dims)
    tensors = [part.requires_grad_() for part in (tex[:1, :4, :4].contiguous(), uv[:, :1], uv_da[:, :1], bias[:, :1])]
    assert torch.autograd.gradcheck(lambda *a: texture(*a), tensors, eps=1e-7, atol=1e-4)
    assert torch.autograd.gradgradcheck(lambda *a: texture(*a), tensors, eps=1e-7, atol=1e-3, fast_mode=True)


def test_auto_chooses_the_filter() -> None:
    tex, uv, uv_da, bias = operands(2)
    plain, levels = texture(tex, uv), texture(tex, uv, uv_da)
    assert torch.equal(plain, texture(tex, uv, filter_mode="linear"))
    assert torch.equal(levels, texture(tex, uv, uv_da, filter_mode="linear-mipmap-linear"))
    assert not torch.equal(plain, levels)
    absolute = texture(tex, uv, None, torch.full_like(bias, 2.0))
    assert torch.equal(absolute, texture(texture_construct_mip(tex)[1], uv))


def test_custom_levels_have_gradients_of_their_own() -> None:
    tex, uv, uv_da, _ = operands(2)
    mip = [torch.randn_like(level).requires_grad_() for level in texture_construct_mip(tex)]
    tex.requires_grad_()
    found = texture(tex, uv, uv_da, mip=mip)
    level = footprint(uv_da, tex).flatten(1)
    options: dict[str, Any] = {"between": "linear", "boundary": "repeat", "scale": (4.0, 8.0), "offset": (-0.5, -0.5)}
    expected = sample_textures([tex, *mip], uv.flatten(1, 2), level, **options).unflatten(1, (5, 4))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    pairs = (torch.autograd.grad(part.sin().sum(), (tex, *mip), allow_unused=True) for part in (found, expected))
    for ours, theirs in zip(*pairs):
        torch.testing.assert_close(ours, torch.zeros_like(ours) if theirs is None else theirs, rtol=0, atol=1e-12)


def test_constructed_levels_pass_gradients_on() -> None:
    tex, uv, uv_da, _ = operands(2)
    results = []
    for given in (True, False):
        leaf = tex.clone().requires_grad_()
        values = texture(leaf, uv, uv_da, mip=texture_construct_mip(leaf) if given else None)
        results.append((values.detach(), torch.autograd.grad(values.sin().sum(), leaf)[0]))
    for ours, theirs in zip(*results):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_sizes_that_are_not_powers_of_two() -> None:
    """Levels are means of areas, as those of ``Image``."""
    tex = torch.randn(1, 13, 6, 3)
    with bl.Image(tex[0].numpy(), mipmaps=True, queue=bl.Queue("reference")) as picture:
        for number, level in enumerate(texture_construct_mip(tex), 1):
            expected = torch.from_numpy(picture.numpy(level=number))
            torch.testing.assert_close(level[0], expected, rtol=0, atol=1e-5)
    ramp = texture_construct_mip(torch.arange(7.0).reshape(1, 7, 1, 1))[0].flatten()
    torch.testing.assert_close(ramp, torch.tensor([5 / 7, 3.0, 37 / 7]))


def test_the_largest_level() -> None:
    tex, uv, _, bias = operands(2)
    assert len(texture_construct_mip(tex, 2)) == 2 and texture_construct_mip(tex, 0) == []
    deep = torch.full_like(bias, 9.0)
    assert torch.equal(texture(tex, uv, None, deep, max_mip_level=1), texture(texture_construct_mip(tex)[0], uv))
    assert torch.equal(texture(tex, uv, None, deep, max_mip_level=0), texture(tex, uv))


def test_one_texture_for_all_and_all_for_one() -> None:
    tex, uv, uv_da, _ = operands(2)
    for textures, places, steps in ((tex[:1], uv, uv_da), (tex, uv[:1], uv_da[:1])):
        tensors = [part.clone().requires_grad_() for part in (textures, places, steps)]
        copies = [part.clone().requires_grad_() for part in (textures, places, steps)]
        found = texture(*tensors)
        expected = texture(*(part.expand(2, *part.shape[1:]) for part in copies))
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        pairs = (torch.autograd.grad(part.sin().sum(), own) for part, own in ((found, tensors), (expected, copies)))
        for ours, theirs in zip(*pairs):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_footprints_without_size_or_bounds(dtype: Any) -> None:
    """They have the first and the last level, and no gradients: single precision has small exponents."""
    tex = operands(2)[0][:1].to(dtype)
    steps = torch.tensor([0.0, 1e-30, float("nan"), float("inf"), 1e30]).to(dtype)[None, :, None].repeat(1, 1, 4)
    uv = torch.rand(1, 5, 2, dtype=dtype)
    steps.requires_grad_()
    values = texture(tex, uv, steps)
    last = texture_construct_mip(tex)[-1]
    assert torch.equal(values[:, :3], texture(tex, uv[:, :3]))
    assert torch.equal(values[:, 3:], texture(last, uv[:, 3:]))
    assert not torch.autograd.grad(values.sum(), steps)[0].any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_round_footprint(dtype: str) -> None:
    """The longest axis has no direction: the derivative is that of the mean axis."""
    real = getattr(torch, dtype)
    tex = torch.arange(2.0, dtype=real).reshape(1, 1, 2, 1).expand(1, 8, 2, 1).repeat(1, 1, 4, 1)
    steps = torch.tensor([[[0.3, 0.0, 0.0, 0.3]]], dtype=real, requires_grad=True)
    values = texture(tex, torch.full((1, 1, 2), 0.0625, dtype=real), steps)
    (found,) = torch.autograd.grad(values.sum(), steps)
    turned = torch.tensor([[[0.3, 0.0, 0.0, 0.2999]]], dtype=real, requires_grad=True)
    (slope,) = torch.autograd.grad(texture(tex, torch.full((1, 1, 2), 0.0625, dtype=real), turned).sum(), turned)
    torch.testing.assert_close(found[0, 0, 0], found[0, 0, 3])
    torch.testing.assert_close(2 * found[0, 0, 0], slope[0, 0, 0], rtol=1e-3, atol=0)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e30])
def test_steps_that_are_no_numbers(value: float) -> None:
    steps = torch.tensor([[[0.3, value, 0.1, 0.2]]], requires_grad=True)
    values = texture(torch.rand(1, 8, 8, 1), torch.full((1, 1, 2), 0.3), steps)
    (found,) = torch.autograd.grad(values.sum(), steps)
    explicit = footprints._gradient_of_steps(steps.detach(), torch.ones(1, 1), (8, 8))
    assert values.isfinite().all() and found.isfinite().all() and explicit.isfinite().all()
    assert found[0, 0, 1] == explicit[0, 0, 1] == 0


@pytest.mark.parametrize("shape", [(1, 8, 16, 2), (2, 13, 6, 1), (1, 5, 3, 11, 2)])
def test_the_transpose_of_levels(shape: tuple[int, ...]) -> None:
    """Operations of torch that second derivatives on CUDA take."""
    image = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    axes = range(1, len(shape) - 1)
    levels = mipmaps.reductions(image, axes, 3, mipmaps._outer_weights)
    for skipped in ((), (0,), (1, 2)):
        grads = [None if number in skipped else torch.randn_like(level) for number, level in enumerate(levels)]
        total: Any = sum((level * grad).sum() for level, grad in zip(levels, grads) if grad is not None)
        (expected,) = torch.autograd.grad(total, image, retain_graph=True)
        torch.testing.assert_close(mipmaps._composed_transpose(grads, shape, axes), expected)


@pytest.mark.parametrize("dims", [2, 3])
def test_the_derivative_of_the_level(dims: int) -> None:
    """Operations of torch that second derivatives on CUDA take."""
    steps = operands(dims)[2].requires_grad_()
    sizes = (8, 4, 16)[:dims]
    level = footprints.level_of_detail(None, steps, None, sizes, False)
    weights = torch.randn_like(level)
    (expected,) = torch.autograd.grad(level, steps, weights)
    torch.testing.assert_close(footprints._gradient_of_steps(steps, weights, sizes), expected)
    small = torch.cat([steps.detach()[:1, :1, :1], torch.zeros_like(steps[:1, :1, :1])], 1).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda s: footprints._gradient_of_steps(s, weights[:1, :2, :1], sizes)[:, :1], small, eps=1e-7, atol=1e-4
    )
    assert not footprints._gradient_of_steps(small, weights[:1, :2, :1], sizes)[:, 1].any()


def test_a_footprint_in_half_precision_is_not_squared_in_it() -> None:
    tex, uv = torch.rand(1, 1024, 1024, 1), torch.rand(1, 5, 2)
    steps = torch.full((1, 5, 4), 0.4)  # 410 texels, whose square is beyond half precision
    torch.testing.assert_close(texture(tex, uv, steps.half()), texture(tex, uv, steps), rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("tex", "uv", "options"),
    [
        ((1, 4, 4, 1), (1, 2, 3), {}),
        ((4, 4, 1), (1, 2, 2), {}),
        ((2, 4, 4, 1), (3, 2, 2), {}),
        ((1, 4, 0, 1), (1, 2, 2), {}),
        ((1, 4, 4, 1), (1, 2, 2), {"boundary_mode": "mirror"}),
        ((1, 4, 4, 1), (1, 2, 2), {"boundary_mode": "cube"}),
        ((1, 4, 4, 1), (1, 2, 2), {"filter_mode": "cubic"}),
        ((1, 4, 4, 1), (1, 2, 2), {"filter_mode": "linear-mipmap-linear"}),
        ((1, 4, 4, 1), (1, 2, 2), {"uv_da": torch.zeros(1, 2, 6)}),
        ((1, 4, 4, 1), (1, 2, 2), {"mip_level_bias": torch.zeros(1, 3)}),
        ((1, 4, 4, 1), (1, 2, 2), {"mip_level_bias": torch.zeros(1, 2), "max_mip_level": -1}),
        ((1, 6, 4, 2, 1), (1, 2, 3), {"boundary_mode": "cube"}),
        *(
            ((1, 4, 4, 1), (1, 2, 2), {"mip_level_bias": torch.zeros(1, 2), "mip": mip})
            for mip in ([torch.zeros(1, 2, 4, 1)], [torch.zeros(1, 2, 2, 1).double()], torch.zeros(1, 2, 2, 1))
        ),
    ],
)
def test_errors(tex: tuple[int, ...], uv: tuple[int, ...], options: dict[str, Any]) -> None:
    with pytest.raises(bl.InvalidError) as raised:
        texture(torch.zeros(tex), torch.zeros(uv), **options)
    assert raised.value.code is bl.Errc.invalid


def directions(count: int = 60) -> Any:
    """Some inside faces, some at edges and corners of the cube."""
    generator = torch.Generator().manual_seed(5)
    inside = torch.randn(count, 3, generator=generator, dtype=torch.float64)
    edges = inside.sign() * torch.tensor([1.0, 0.97, 0.3], dtype=torch.float64)
    corners = inside.sign() * torch.tensor([0.99, 1.0, 0.98], dtype=torch.float64)
    return torch.cat((inside, edges, corners))


def test_cubemaps_are_those_of_image() -> None:
    faces = torch.rand(6, 8, 8, 3, dtype=torch.float64)
    queue = bl.Queue("reference")
    with bl.Image(faces.float().numpy(), cubemap=True, precision="exact", queue=queue) as picture:
        expected = torch.from_numpy(picture.sample(directions().float().numpy()))
    found = texture(faces[None], directions()[None], boundary_mode="cube", filter_mode="linear")[0]
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=1e-4)
    torch.testing.assert_close(sample(faces, directions(), cubemap=True, precision="exact"), found)


def test_gradients_of_cubemaps() -> None:
    faces = torch.rand(1, 6, 4, 4, 1, dtype=torch.float64, requires_grad=True)
    places = directions(4)[None].requires_grad_()
    steps = (0.2 * torch.randn(1, 12, 6, dtype=torch.float64)).requires_grad_()

    def function(*tensors: Any) -> Any:
        return texture(*tensors, boundary_mode="cube")

    assert torch.autograd.gradcheck(function, (faces, places, steps), eps=1e-7, atol=1e-4)
    assert torch.autograd.gradgradcheck(function, (faces, places, steps), eps=1e-7, atol=1e-3, fast_mode=True)


def test_the_level_of_a_cubemap_is_that_of_its_face() -> None:
    """A step along a face of 16 texels, in texels: log2 of its length is the level."""
    levels = [torch.full((1, 6, 16 >> n, 16 >> n, 1), float(n), dtype=torch.float64) for n in range(5)]
    for texels in (1.0, 2.0, 3.5, 8.0):
        step = texels * 2 / 16  # faces span -1 to 1
        uv = torch.tensor([[[2.0, 0.3, -0.4]]], dtype=torch.float64)
        uv_da = torch.tensor([[[0.0, 0.0, 2 * step, 0.0, 0.0, step]]], dtype=torch.float64)
        found = texture(levels[0], uv, uv_da, mip=levels[1:], boundary_mode="cube")
        torch.testing.assert_close(found.item(), torch.log2(torch.tensor(texels)).item(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("mode", ["nearest", "linear", "linear-mipmap-linear"])
def test_directions_that_are_none(mode: str) -> None:
    tex = torch.rand(1, 6, 4, 4, 3, requires_grad=True)
    nan, inf = float("nan"), float("inf")
    uv = torch.tensor([[[0.0, 0, 0], [nan, 1, 0], [1, inf, 2], [1e-30, 1e-31, 0], [1e-45, 0, 0]]], requires_grad=True)
    steps = torch.rand(1, 5, 6, requires_grad=True) if "mipmap" in mode else None
    values = texture(tex, uv, steps, filter_mode=mode, boundary_mode="cube")
    assert (values != 0).any(-1).tolist() == [[False, False, False, True, False]]
    inputs = (tex, uv) if steps is None else (tex, uv, steps)
    found = torch.autograd.grad(values.sum(), inputs)
    torch.testing.assert_close(found[0].sum(), torch.tensor(3.0))
    assert all(part.isfinite().all() and not part[0, [0, 1, 2, 4]].any() for part in found[1:])


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("sizes", [(8, 8), (5, 7), (4, 4, 6)])
@pytest.mark.parametrize("asked", ["tex", "uv", "uv_da", "bias", "all"])
def test_one_operation_for_levels_and_samples(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], biased: bool, asked: str
) -> None:
    """That of CUDA, whose kernels are those of tests/reference_kernels: here operations of torch take their place."""
    generator = torch.Generator().manual_seed(4)
    dims = len(sizes)

    def random(*shape: int) -> Any:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    given = {"tex": random(1, *sizes, 2), "uv": random(2, 3, dims), "uv_da": random(2, 3, 2 * dims) - 0.5}
    if biased or asked == "bias":
        given["bias"] = random(2, 3)
    for name, part in given.items():
        part.requires_grad_(asked in (name, "all"))
    wanted = [part for part in given.values() if part.requires_grad]

    def derivatives() -> tuple[Any, ...]:
        values = texture(*given.values())
        first = torch.autograd.grad(values.sin().sum(), wanted, retain_graph=True)
        again = torch.autograd.grad(values.sin().sum(), wanted, create_graph=True)
        second = torch.autograd.grad(sum(part.sin().sum() for part in again), wanted, allow_unused=True)
        return values, first, again, [torch.zeros(()) if part is None else part for part in second]

    expected = derivatives()
    axes, reverse = range(1, dims + 1), sizes[::-1]

    def transposed(shape: Any, dtype: Any, first: int, grads: Any, added: Any) -> Any:
        return mipmaps._composed_transpose(grads, shape, axes) + added

    for name, planned in (("planned", engine.planned), ("planned_backward", engine.planned_backward)):
        monkeypatch.setattr(engine, name, lambda *given, call=planned: (call(*given)[0], None))
    monkeypatch.setattr(mipmapped, "_have_kernels", lambda given: True)
    for name, function in (
        (
            "pyramid_means",
            lambda tex, first, count: tuple(mipmaps.reductions(tex, axes, count, mipmaps._outer_weights)),
        ),
        ("footprint_levels", lambda steps, bias, _: footprints.level_of_detail(None, steps, bias, reverse, False)),
        ("pyramid_gradients", transposed),
        ("footprint_gradients", lambda steps, grad, _: footprints._gradient_of_steps(steps, grad, reverse)),
    ):
        monkeypatch.setattr(level_kernels, name, function)
    found = derivatives()
    assert type(found[0].grad_fn).__name__ == "_MipmappedBackward"
    torch.testing.assert_close(found, expected)


def test_repeated_calls_check_what_sample_does_not() -> None:
    """``sample`` takes layouts with the same options that ``texture`` refuses; cubemaps have the layouts of volumes."""
    options: dict[str, Any] = {"coordinate": "normalized", "addressing": "repeat", "precision": "exact"}
    line, plane, volume = torch.rand(2, 6, 1), torch.rand(6, 6, 1), torch.rand(1, 6, 5, 5, 1)
    for _ in range(2):
        sample(line, torch.rand(2, 4, 1), **options)
        sample(plane, torch.rand(4, 2), **options)
        for tex, uv in ((line, torch.rand(2, 4, 1)), (plane, torch.rand(4, 2))):
            with pytest.raises(bl.InvalidError):
                texture(tex, uv)
        for mode in ("nearest", "linear"):
            uv = torch.rand(1, 7, 3) + 0.1
            flat = texture(volume, uv, filter_mode=mode, boundary_mode="clamp")
            faces = texture(volume, uv, filter_mode=mode, boundary_mode="cube")
            torch.testing.assert_close(
                flat, sample(volume, uv, coordinate="normalized", filtering=mode, precision="exact")
            )
            torch.testing.assert_close(faces, sample(volume, uv, filtering=mode, precision="exact", cubemap=True))
        for wrong in ({"filter_mode": "cubic"}, {"boundary_mode": "mirror"}, {"filter_mode": "linear-mipmap-linear"}):
            with pytest.raises(bl.InvalidError):
                texture(volume, uv, **wrong)
