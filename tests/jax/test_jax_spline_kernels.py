"""The program of cubic splines on CUDA, whose kernels run here on the queue's device, against scipy."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import bindless as bl
from bindless.kernels.load import split_variant
from bindless.kernels.manifest import parameters_of
from bindless.sycl.kernel.builtin import builtin_kernel

jax = pytest.importorskip("jax", reason="pip install jax")
jnp = jax.numpy

from bindless.jax import map_coordinates  # noqa: E402
from bindless.jax.spline_kernels import spline_program  # noqa: E402
from bindless.model.filter import Filter  # noqa: E402
from bindless.sampling.memory.programs import Program  # noqa: E402

TYPES = {"int": ("i", np.int32), "uint": ("I", np.uint32), "long": ("q", np.int64), "ulong": ("Q", np.uint64)}
TYPES |= {"float": ("f", np.float32), "double": ("d", np.float64)}


def run(queue: bl.Queue, program: Program, buffers: list[Any]) -> None:
    """Launch each kernel of a program with the arguments that CUDA would get."""
    words = program.words
    while words:
        _, function, *shape, size, count = words[:10]
        end = 10 + 3 * count
        patches = {offset: (buffers[buffer], start) for offset, buffer, start in zip(*[iter(words[10:end])] * 3)}
        contents = struct.pack(f"{-(-size // 8)}q", *words[end : end - -size // 8])[:size]
        name, constants = split_variant(program.names[function])
        arguments, at = [], 0
        for type_, _ in parameters_of(name):
            letter, number = TYPES.get(type_, ("P", np.uint64))
            width = struct.calcsize(letter)
            at = -(-at // width) * width
            (value,) = struct.unpack_from(letter, contents, at)
            if letter == "P":
                array, start = patches.pop(at) if at in patches else (None, 0)
                arguments.append(None if array is None else array.pointer + start)
            else:
                arguments.append(number(value))
            at += width
        assert at == size and not patches
        groups, items = shape[:3], shape[3:]
        space = bl.NdRange([group * item for group, item in zip(groups, items)][::-1], items[::-1])
        queue.parallel_for(space, builtin_kernel(queue, name, **constants), *arguments).wait()
        words = words[end - -size // 8 :]


@pytest.mark.parametrize("mode", ["grid-constant", "nearest", "grid-wrap", "mirror", "reflect"])
@pytest.mark.parametrize("shape", [(40,), (19, 150), (5, 7, 9)])
def test_program_equals_scipy(queue: bl.Queue, shape: tuple[int, ...], mode: str) -> None:
    if not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the kernel computes positions in float64")
    random = np.random.default_rng(2)
    array = random.normal(size=shape).astype(np.float32)
    points = random.uniform(-9, 29, (len(shape), 333)).astype(np.float32)
    program = spline_program(Filter.from_scipy(3, mode, 1.5, "exact"), shape, points.shape[1])
    forms = (shape, np.float32), (points.shape, np.float32), (points.shape[1], np.float32), (program.scratch, np.uint8)
    buffers: list[bl.UsmArray] = [bl.usm_empty(form, dtype, queue) for form, dtype in forms]
    for buffer, values in zip(buffers, (array, points)):
        buffer.copy_from(values)
    run(queue, program, buffers)
    expected = ndimage.map_coordinates(array.astype(float), points, order=3, mode=mode, cval=1.5)
    np.testing.assert_allclose(buffers[2].numpy(), expected, atol=5e-6)


def test_one_call_reads_the_stack() -> None:
    """On CUDA the stack of coordinates goes to the kernels as it is; mapped calls and derivatives take others."""
    array, stack = jnp.zeros((40, 50), "f4"), jnp.zeros((2, 7, 8), "f4")

    def lowered(function: Any) -> str:
        text: str = jax.jit(function).trace(array, stack).lower(lowering_platforms=("cuda",)).as_text()
        return text

    def spline(array: Any, stack: Any) -> Any:
        return map_coordinates(array, stack, 3, "mirror")

    text = lowered(spline)
    assert text.count("custom_call") == 1 and "bindless_spline_rows" in text and "bindless_resample_memory_2d_f" in text
    assert "transpose" not in text and "concatenate" not in text
    assert "bindless_gradients_forward_2d" in lowered(jax.vmap(spline, (None, 1)))
    assert "bindless_gradients_backward_2d" in lowered(jax.grad(lambda *arrays: spline(*arrays).sum()))
    assert "custom_call" not in lowered(lambda array, stack: spline(array, stack[:, :0]))
