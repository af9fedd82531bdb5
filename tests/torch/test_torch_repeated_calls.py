"""Calls with tensors of the layouts of an earlier call, which C code repeats without Python."""

from __future__ import annotations

import ctypes
import struct
import threading
import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.nn import functional  # noqa: E402

from bindless.core._submission import TensorCalls  # noqa: E402
from bindless.torch import engine, grid_sample, sample  # noqa: E402
from bindless.torch.options import Arguments  # noqa: E402
from bindless.torch.repeats import PLAIN  # noqa: E402

pytestmark = pytest.mark.torch

OPTIONS = Arguments("linear", "none", ("edge",), "normalized", 0.0, True, "exact", False)
HAS_EXCHANGE = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
needs_exchange = pytest.mark.skipif(not HAS_EXCHANGE, reason="exchange functions of DLPack: pip install 'torch>=2.10'")


def layouts(seed: int) -> tuple[Any, Any]:
    """An image and a grid, of random sizes, strides and dtype."""
    generator = torch.Generator().manual_seed(seed)
    channels, height, width, rows = (torch.randint(1, 5, (4,), generator=generator) + 1).tolist()
    dtype = (torch.float32, torch.float64)[seed % 2]
    image = torch.randn(2, channels, height, width, generator=generator, dtype=dtype)
    grid = torch.rand(2, rows, 3, 2, generator=generator, dtype=dtype) * 2.4 - 1.2
    if seed % 3 == 0:
        image = image.contiguous(memory_format=torch.channels_last)
    if seed % 4 == 0:
        grid = grid.flip(1).transpose(1, 2).contiguous().transpose(1, 2)
    if seed % 5 == 0:
        image = image[:1].expand(2, -1, -1, -1)
    return image, grid


def derived(function: Any, image: Any, grid: Any, mode: str) -> tuple[Any, ...]:
    image, grid = image.detach().requires_grad_(), grid.detach().requires_grad_()
    values = function(image, grid, mode=mode, align_corners=False)
    return values, *torch.autograd.grad(values, (image, grid), values.detach())


def test_layouts_and_options_in_turns() -> None:
    """Each layout three times, with other numbers, between calls with all the others."""
    for number in range(3):
        for seed in range(24):
            image, grid = layouts(seed)
            image, grid = image * (number + 1), grid * 0.9**number
            for mode in ("bilinear", "nearest"):
                expected = functional.grid_sample(image, grid, mode=mode, align_corners=False)
                bound = 1e-5 if image.dtype is torch.float32 else 1e-12
                torch.testing.assert_close(
                    grid_sample(image, grid, mode, align_corners=False), expected, rtol=0, atol=bound
                )
                found = derived(grid_sample, image, grid, mode)
                for one, other in zip(found, derived(functional.grid_sample, image, grid, mode)):
                    torch.testing.assert_close(one, other, rtol=0, atol=20 * bound)


def test_more_layouts_than_are_kept() -> None:
    image = torch.arange(4.0).reshape(1, 1, 2, 2)
    for _ in range(2):
        for rows in range(1, 700):
            values = grid_sample(image, torch.zeros(1, rows, 1, 2), align_corners=False)
            assert values.shape == (1, 1, rows, 1) and torch.equal(values, torch.full_like(values, 1.5))


@needs_exchange
def test_second_call_is_a_repeat() -> None:
    image, coords = torch.rand(1, 5, 1), torch.rand(1, 7, 1)
    first = engine.sample([image], coords, None, OPTIONS)
    again = engine.repeated(OPTIONS, coords, None, image)
    assert again is not None and len(again) == 1
    assert torch.equal(first, again[0]) and first.data_ptr() != again[0].data_ptr()
    assert engine.repeated(OPTIONS, coords[:, :6], None, image) is None
    assert engine.repeated(OPTIONS._replace(filtering="nearest"), coords, None, image) is None
    assert engine.repeated(OPTIONS, coords.double(), None, image) is None


def test_one_tensor_in_two_places_and_then_two() -> None:
    image = torch.rand(1, 4, 1)
    for coords in (image, torch.rand(1, 4, 1), image):
        expected = engine.sample([image.double()], coords.double(), None, OPTIONS)
        torch.testing.assert_close(engine.sample([image], coords, None, OPTIONS).double(), expected, rtol=0, atol=1e-6)


def test_numbers_in_memory_with_the_opposite_sign() -> None:
    image, grid = torch.rand(1, 1, 3, 3), torch.zeros(1, 1, 1, 2)
    negated = torch._neg_view(image)
    for part in (image, negated, image):
        assert grid_sample(part, grid, align_corners=False).item() == part[0, 0, 1, 1].item()


def test_gradients_that_are_wanted_change() -> None:
    image, grid = torch.rand(1, 2, 4, 4), torch.rand(1, 3, 3, 2)
    for wanted in ((True, False), (False, True), (True, True), (False, False)) * 2:
        parts = [part.clone().requires_grad_(flag) for part, flag in zip((image, grid), wanted)]
        values = grid_sample(parts[0], parts[1], align_corners=False)
        assert values.requires_grad == any(wanted)
        if any(wanted):
            values.sum().backward()
            others = [part.clone().requires_grad_(flag) for part, flag in zip((image, grid), wanted)]
            functional.grid_sample(*others, align_corners=False).sum().backward()
            for part, other in zip(parts, others):
                assert (part.grad is None) == (other.grad is None)
                if part.grad is not None:
                    torch.testing.assert_close(part.grad, other.grad, rtol=0, atol=1e-5)


def test_modes_of_torch_take_part_after_a_plain_call() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watch(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    image, grid = torch.rand(1, 2, 4, 4), torch.rand(1, 3, 3, 2)
    grid_sample(image, grid, align_corners=False)
    with Watch():
        grid_sample(image, grid, align_corners=False)
    assert "bindless.sample.default" in seen
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert grid_sample(image, grid.bfloat16(), align_corners=False).dtype is torch.float32
    with torch.inference_mode():
        assert grid_sample(image, grid, align_corners=False).is_inference()


def test_memory_is_not_kept() -> None:
    image, grid = torch.rand(1, 2, 4, 4), torch.rand(1, 3, 3, 2)
    grid_sample(image, grid, align_corners=False)
    values = grid_sample(image, grid, align_corners=False)
    seen = [weakref.ref(part.untyped_storage()) for part in (image, grid, values)]
    del image, grid, values
    assert [one() for one in seen] == [None, None, None]


def test_empty_tensors() -> None:
    for _ in range(2):
        assert grid_sample(torch.rand(1, 2, 4, 4), torch.rand(1, 0, 3, 2), align_corners=False).shape == (1, 2, 0, 3)
        assert grid_sample(torch.rand(0, 2, 4, 4), torch.rand(0, 5, 3, 2), align_corners=False).shape == (0, 2, 5, 3)
        assert sample(torch.rand(4, 4, 2), torch.rand(0, 2), precision="exact").shape == (0, 2)


def test_threads() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        image, grid = torch.full((1, 1, 4, 4), float(number)), torch.zeros(1, 50, 50, 2)
        wrong.extend(
            number for _ in range(100) if bool((grid_sample(image, grid, align_corners=False) != number).any())
        )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---------------------------------------------------------------- programs


class _Driver:
    """The functions of a CUDA driver that ``TensorCalls`` calls, and what they were given."""

    def __init__(self) -> None:
        self.context, self.result = 7, 0
        self.seen: list[Any] = []
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        self.functions = (
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(pointer))(self._get_context),
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, pointer)(self._clear),
            ctypes.CFUNCTYPE(ctypes.c_int, pointer, *[number] * 7, pointer, pointer, ctypes.POINTER(pointer))(
                self._launch
            ),
        )
        self.addresses = tuple(ctypes.cast(function, pointer).value or 0 for function in self.functions)

    def _get_context(self, found: Any) -> int:
        found[0] = self.context
        return 0

    def _clear(self, address: int, value: int, size: int, stream: int | None) -> int:
        self.seen.append(("clear", address, value, size))
        return 0

    def _launch(self, function: int, *rest: Any) -> int:
        size = ctypes.cast(rest[-1][3], ctypes.POINTER(ctypes.c_size_t))[0]
        self.seen.append((function, rest[:6], ctypes.string_at(rest[-1][1], size)))
        return self.result


def _words(*words: int) -> bytes:
    return struct.pack(f"{len(words)}q", *words)


@needs_exchange
def test_program_on_cuda() -> None:
    driver, calls = _Driver(), TensorCalls(PLAIN)
    operand, other = torch.rand(3, 2), torch.rand(3, 2)
    made: list[Any] = []

    def maker(size: int) -> Any:
        made.append(torch.empty(size))
        return made[-1]

    # Clears the scratch memory (buffer 2), then launches with the result, the operand, the scratch memory and a number.
    program = _words(0, 2, 40, 1, 0, 4, 1, 1, 128, 1, 1, 28, 3, 0, 1, 0, 8, 0, 4, 16, 2, 8, 0, 0, 0, 5)
    assert calls.add("key", (operand,), ((maker, (6,)), (maker, (10,))), (0,), program, (99,), driver.addresses)
    found = calls.repeat("key", other)
    assert found is not None and len(found) == 1 and found[0] is made[0]
    addresses = struct.pack("3QI", made[0].data_ptr(), other.data_ptr() + 4, made[1].data_ptr() + 8, 5)
    assert driver.seen == [("clear", made[1].data_ptr(), 0, 40), (99, (4, 1, 1, 128, 1, 1), addresses)]
    driver.context = 8  # the functions belong to another one
    assert calls.repeat("key", other) is None
    driver.context, driver.result = 7, 701
    assert calls.repeat("key", other) is None
    driver.result = 0
    assert calls.repeat("key", other) is not None


@needs_exchange
def test_refused_operands() -> None:
    calls, maker = TensorCalls(PLAIN), ((torch.empty, (1,)),)
    image = torch.rand(2)
    assert not calls.add("key", (image, "text"), maker, (0,), b"", (), None)
    assert not calls.add("key", (None,), maker, (0,), b"", (), None)
    assert not calls.add("key", (torch.rand(2, device="meta"),), maker, (0,), b"", (), None)
    assert not calls.add("key", (image.to_sparse(),), maker, (0,), b"", (), None)
    assert calls.repeat("key") is None and calls.repeat("key", image) is None
    assert calls.add("key", (image, None), maker, (0,), b"", (), None)
    assert calls.repeat("key", image, None) is not None
    assert calls.repeat("key", None, image) is None and calls.repeat("key", image, image) is None


@needs_exchange
def test_maker_that_fails() -> None:
    calls, image = TensorCalls(PLAIN), torch.rand(2)

    def fail() -> Any:
        raise MemoryError("none left")

    assert calls.add("key", (image,), ((fail, ()),), (0,), b"", (), None)
    with pytest.raises(MemoryError):
        calls.repeat("key", image)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_images_without_an_axis_of_images(dims: int) -> None:
    """Values and derivatives are those of a batch of one, in the first call of a layout and in later ones."""
    generator = torch.Generator().manual_seed(dims)
    image = torch.randn(*range(4, 4 + dims), 2, generator=generator, dtype=torch.float64, requires_grad=True)
    for rows in ((), (5,), (2, 3)):
        coords = (torch.rand(*rows, dims, generator=generator, dtype=torch.float64) * 5).requires_grad_()
        for _ in range(3):
            options: dict[str, Any] = {"addressing": "repeat", "filtering": "catmull_rom", "precision": "exact"}
            found, expected = sample(image, coords, **options), sample(image[None], coords[None], **options)[0]
            torch.testing.assert_close(found, expected)
            firsts = []
            for values in (found, expected):
                last = torch.autograd.grad(values.sum(), (image, coords), retain_graph=True)
                first = torch.autograd.grad(values.sin().sum(), (image, coords), create_graph=True)
                second = torch.autograd.grad(sum(part.cos().sum() for part in first), (image, coords))
                firsts.append([*last, *first, *second])
            torch.testing.assert_close(*firsts)


def test_gradients_in_batches_without_an_axis_of_images() -> None:
    image = torch.rand(4, 5, 2, requires_grad=True)
    coords = (torch.rand(6, 2) * 4).requires_grad_()
    values, grads = sample(image, coords, precision="exact"), torch.rand(3, 6, 2)
    found = torch.autograd.grad(values, (image, coords), grads, is_grads_batched=True, retain_graph=True)
    each = [torch.autograd.grad(values, (image, coords), grad, retain_graph=True) for grad in grads]
    torch.testing.assert_close(found, tuple(map(torch.stack, zip(*each))))


def test_a_cubic_filter_is_not_repeated_for_its_coefficients() -> None:
    """The tensor of coefficients has the layout of another image, whose pixels are not coefficients."""
    image, coords = torch.rand(1, 9, 9, 1), torch.rand(1, 5, 2) * 6 + 1
    for options in ({"addressing": "clamp_to_edge"}, {"addressing": ["clamp_to_edge", "clamp_to_edge"]}):
        for size in range(9, 40):
            padded = torch.nn.functional.interpolate(image.movedim(-1, 1), (size, size)).movedim(1, -1)
            once = sample(padded, coords, filtering="cubic", precision="exact", **options)
            again = sample(padded, coords, filtering="cubic", precision="exact", **options)
            assert torch.equal(once, again)
