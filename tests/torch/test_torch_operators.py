"""The operators of ``torch.library`` under the transformations of torch: checks, compilers, ``vmap``, autocast."""

from __future__ import annotations

import gc
import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.func import grad, jacrev, vmap  # noqa: E402
from torch.nn import functional  # noqa: E402

from bindless.torch import engine, grid_sample, sample, texture, warp  # noqa: E402
from tests.torch import composition  # noqa: E402

# torch's compiler calls it up to 2.11.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated")]

TAIL = (["edge"], "grid", 0.0, False, "exact", False)


def ours(image: Any, grid: Any) -> Any:
    return grid_sample(image, grid, align_corners=False)


def theirs(image: Any, grid: Any) -> Any:
    return functional.grid_sample(image, grid, align_corners=False)


def operands(*leading: int, dtype: Any = torch.float64) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(11)
    image = torch.randn(*leading, 2, 3, 5, 4, generator=generator, dtype=torch.float64)
    grid = torch.rand(*leading, 2, 3, 4, 2, generator=generator, dtype=torch.float64) * 2.4 - 1.2
    return image.to(dtype), grid.to(dtype)


def same(found: Any, expected: Any, bound: float = 1e-11) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=bound)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch's, of its own access
@pytest.mark.parametrize("filtering", ["linear", "nearest", "bicubic"])
def test_opcheck(filtering: str) -> None:
    image, grid = (part.requires_grad_() for part in operands())
    values = torch.randn(2, 3, 3, 4, dtype=torch.float64, requires_grad=True)
    options = (filtering, "none", *TAIL)
    tensors = ([image], grid, None)
    torch.library.opcheck(torch.ops.bindless.sample.default, (*tensors, *options))
    needs = [True, True, False]
    torch.library.opcheck(torch.ops.bindless.sample_backward.default, (values, *tensors, *options, needs))
    flat = [image.detach()], grid.detach(), None, values.detach(), [image.detach()], grid.detach(), None
    torch.library.opcheck(torch.ops.bindless.sample_backward_backward.default, (*flat, *options, [True, *needs]))


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch's, of its own access
def test_opcheck_of_levels() -> None:
    levels = [torch.randn(1, size, size, 2, dtype=torch.float64, requires_grad=True) for size in (8, 4, 2)]
    coords = torch.rand(2, 5, 2, dtype=torch.float64, requires_grad=True)
    level = (torch.rand(2, 5, dtype=torch.float64) * 2).requires_grad_()
    options = ("linear", "linear", ["repeat"], "normalized", 0.0, True, "exact", False)
    torch.library.opcheck(torch.ops.bindless.sample.default, (levels, coords, level, *options))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_gradcheck(mode: str) -> None:
    image, grid = (part.requires_grad_() for part in operands())

    def function(first: Any, second: Any) -> Any:
        return grid_sample(first, second, mode, "reflection", False)

    assert torch.autograd.gradcheck(function, (image, grid), nondet_tol=0.0)
    assert torch.autograd.gradgradcheck(function, (image, grid), nondet_tol=0.0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile(backend: str) -> None:
    def step(function: Any, image: Any, grid: Any) -> Any:
        return function(image * 2, grid).relu().sum()

    torch._dynamo.reset()
    compiled = torch.compile(lambda *tensors: step(ours, *tensors), fullgraph=True, backend=backend)
    for count in (2, 1):
        tensors = [part[:count].clone().requires_grad_() for part in operands()]
        copies = [part.detach().clone().requires_grad_() for part in tensors]
        found, expected = compiled(*tensors), step(theirs, *copies)
        same(found, expected)
        same(torch.autograd.grad(found, tensors), torch.autograd.grad(expected, copies))


def test_compile_of_the_other_functions() -> None:
    torch._dynamo.reset()
    coords = torch.rand(1, 6, 2) * 4
    image = torch.randn(1, 4, 4, 3)
    steps = torch.rand(1, 6, 4)
    for function, arguments in (
        (lambda *a: sample(*a, precision="exact", filtering="cubic"), (image, coords)),
        (lambda *a: sample(*a, precision="exact", level=1.25), (image, coords)),
        (lambda *a: texture(*a), (image, coords, steps)),
    ):
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        same(compiled(*arguments), function(*arguments), 1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda image, coords: sample(image, coords, precision="exact", fill=1.25, addressing=["clamp", "repeat"]),
        lambda image, coords: sample(image, coords, precision="exact", filtering="cubic", fill=0.5, addressing="clamp"),
        lambda image, coords: sample(image, coords, level=0.7),
        lambda image, coords: warp(
            image, torch.eye(2, 3), (coords.shape[1], 3), displacement=coords[:, :, None].expand(-1, -1, 3, 2)
        ),
        lambda image, coords: texture(image, coords, mip_level_bias=coords[..., 0]),
    ],
)
def test_compile_with_symbols_for_sizes_and_numbers(function: Any) -> None:
    """In such a program sizes and floats are symbols, also floats that are defaults and constants of modules."""
    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend="aot_eager")
    for shape in ((3, 5, 6, 3), (2, 7, 4, 2)):
        image, coords = torch.rand(shape), torch.rand(shape[0], 2 * shape[0], 2) * 4
        same(compiled(image, coords), function(image, coords), 1e-5)


def test_export() -> None:
    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, image: Any, grid: Any) -> Any:
            return ours(image, grid)

    image, grid = operands()
    exported = torch.export.export(Module(), (image, grid))
    assert "bindless.sample" in exported.graph_module.code
    same(exported.module()(image, grid), theirs(image, grid))


MAPPED = {"both": (0, 0), "image": (0, None), "grid": (None, 0), "other axes": (2, -1)}


@pytest.mark.parametrize("dims", MAPPED.values(), ids=MAPPED)
def test_vmap(dims: tuple[int | None, int | None]) -> None:
    tensors = [
        whole if dim == 0 else whole.movedim(0, dim) if dim is not None else whole[0]
        for whole, dim in zip(operands(4), dims)
    ]
    same(vmap(ours, dims)(*tensors), vmap(theirs, dims)(*tensors))
    for arguments in (0, 1, (0, 1)):
        found, expected = (
            vmap(grad(lambda a, b, f=function: f(a, b).sin().sum(), arguments), dims)(*tensors)
            for function in (ours, composition.grid_sample)
        )
        same(found, expected)


def test_batched_gradients() -> None:
    """Those of one call for several gradients of the values, also of second order."""
    results = []
    for function in (ours, composition.grid_sample):
        image, grid = (part.requires_grad_() for part in operands())
        values = function(image, grid)
        several = torch.randn(3, *values.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        options = {"is_grads_batched": True, "create_graph": True}
        first = torch.autograd.grad(values, (image, grid), several, **options)
        second = torch.autograd.grad(
            first[1], (image, grid), torch.stack([torch.ones_like(first[1])] * 2), is_grads_batched=True
        )
        jacobian = torch.autograd.functional.jacobian(
            lambda g, f=function, i=image: f(i, g).sum((0, 1)), grid, vectorize=True
        )
        results.append((*first, *second, jacobian))
    for found, expected in zip(*results):
        same(found, expected)


def test_vmap_shares_one_image() -> None:
    image, grid = operands(4)
    tensors = image[0, :1], grid[:, :1]
    same(vmap(ours, (None, 0))(*tensors), vmap(theirs, (None, 0))(*tensors))
    found, expected = (
        vmap(grad(lambda a, b, f=function: f(a, b).sin().sum()), (None, 0))(*tensors)
        for function in (ours, composition.grid_sample)
    )
    same(found, expected)


def test_second_derivatives_in_torch_func() -> None:
    image, grid = operands()

    def scalar(function: Any) -> Any:
        return lambda places: function(image[:1], places.reshape(1, 3, 4, 2)).sin().sum()

    places = grid[0].reshape(-1)
    theirs = composition.grid_sample
    same(jacrev(jacrev(scalar(ours)))(places), jacrev(jacrev(scalar(theirs)))(places))
    found, expected = (
        grad(lambda x, f=function: grad(scalar(f))(x).pow(2).sum())(places) for function in (ours, theirs)
    )
    same(found, expected)


def test_autocast() -> None:
    """Of two dtypes, the wider one; one dtype stays."""
    image, grid = operands(dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for pair in ((image, grid.bfloat16()), (image.bfloat16(), grid), (image.bfloat16(), grid.bfloat16())):
            found, expected = ours(*pair), theirs(*pair)
            assert found.dtype == expected.dtype
            same(found, expected, 5e-2 if found.dtype == torch.bfloat16 else 1e-5)


def test_meta_and_inference() -> None:
    image, grid = operands()
    assert ours(image.to("meta"), grid.to("meta")).shape == (2, 3, 3, 4)
    with torch.inference_mode():
        same(ours(image, grid), theirs(image, grid))


@pytest.mark.parametrize("everywhere", [False, True])
def test_the_same_bits_twice(everywhere: bool) -> None:
    image = torch.randn(1, 32, 32, 3, requires_grad=True)
    coords = torch.rand(1, 20000, 2) * 32
    results = []
    torch.use_deterministic_algorithms(everywhere)
    try:
        for _ in range(3):
            values = sample(image, coords, precision="exact", deterministic=True)
            results.append(torch.autograd.grad(values.square().sum(), image)[0])
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(results[0], other) for other in results[1:])


def test_only_what_is_asked_for() -> None:
    """Each subset of the operands that need gradients."""
    for asked in itertools.product([False, True], repeat=2):
        tensors = [part.clone().requires_grad_(wanted) for part, wanted in zip(operands(), asked)]
        copies = [part.detach().clone().requires_grad_(part.requires_grad) for part in tensors]
        leaves, others = ([part for part in group if part.requires_grad] for group in (tensors, copies))
        if leaves:
            found = torch.autograd.grad(ours(*tensors).sin().sum(), leaves, create_graph=True)
            expected = torch.autograd.grad(composition.grid_sample(*copies).sin().sum(), others, create_graph=True)
            same(found, expected)
            totals = [sum(part.square().sum() for part in group) for group in (found, expected)]
            same(torch.autograd.grad(totals[0], leaves), torch.autograd.grad(totals[1], others))


def test_distributed_data_parallel(tmp_path: Any) -> None:
    """Gradients reach the buckets of a module under ``DistributedDataParallel``."""
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available():
        pytest.skip("this torch is built without torch.distributed")

    class Module(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.image = torch.nn.Parameter(operands()[0])

        def forward(self, grid: Any) -> Any:
            return ours(self.image, grid)

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        module = torch.nn.parallel.DistributedDataParallel(Module())
        module(operands()[1]).sin().sum().backward()
        alone = Module()
        alone(operands()[1]).sin().sum().backward()
        same(module.module.image.grad, alone.image.grad)
    finally:
        module = None  # its reducer first: as the last owner of the group it would join threads that need the GIL
        gc.collect()
        distributed.destroy_process_group()


def test_float64_that_a_device_has_no_kernels_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands for CUDA: the first call lacks kernels, and that on the processor has them."""
    image, grid = (part.requires_grad_() for part in operands())
    expected = ours(image, grid)
    derivatives = torch.autograd.grad(expected.square().sum(), (image, grid))
    missing = [True]
    monkeypatch.setattr(engine, "_lacks_kernels", lambda levels: bool(missing and missing.pop()))
    copied = image.detach().clone().requires_grad_()
    options = ("linear", "none", ["border"], "grid", 0.0, False, "exact", False)
    found = torch.ops.bindless.sample([copied], grid, None, *options)
    same(found, expected)
    for calls in ([True], []):
        missing[:] = calls
        same(torch.autograd.grad(found.square().sum(), (copied, grid), retain_graph=True), derivatives)
