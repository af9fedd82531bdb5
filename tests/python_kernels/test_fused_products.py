"""``device.fma`` and ``contract``: products and sums that round once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.device.declaration import LaunchFacts
from bindless.python_kernels.argument_type import ArgumentType
from bindless.python_kernels.compilation import compiled_kernel
from bindless.python_kernels.function_digest import digest_of
from bindless.python_kernels.function_source import source_of

Upload = Callable[[Any], bl.UsmArray]

COUNT = 4096


@bl.kernel
def both(a, b, c, out):
    i = device.item_id(0)
    out[i, 0] = device.fma(a[i], b[i], c[i])
    out[i, 1] = a[i] * b[i] + c[i]


def numbers() -> tuple[np.ndarray[Any, Any], ...]:
    rng = np.random.default_rng(24)
    a, b = rng.uniform(0.5, 2, (2, COUNT)).astype(np.float32)
    return a, b, (-a * b).astype(np.float32) + rng.choice([0, 1e-3, 1], COUNT).astype(np.float32)


def exact(a: Any, b: Any, c: Any) -> Any:
    """Products of float32 are exact in float64, and so are these sums: 24 + 24 bits, above 2**-48."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def test_fma_rounds_once_and_plain_operations_twice(queue: bl.Queue, upload: Upload) -> None:
    a, b, c = numbers()
    out = upload(np.zeros((COUNT, 2), np.float32))
    queue.parallel_for(COUNT, both, *map(upload, (a, b, c)), out).wait()
    got = out.numpy(queue)
    np.testing.assert_array_equal(got[:, 0], exact(a, b, c))
    np.testing.assert_array_equal(got[:, 1], a * b + c)
    assert (got[:, 0] != got[:, 1]).sum() > COUNT // 4


def test_interpretation_has_the_same_bits() -> None:
    a, b, c = (values[:200] for values in numbers())
    out = np.zeros((200, 2), np.float32)
    both.run_in_python(200, a, b, c, out)
    np.testing.assert_array_equal(out[:, 0], exact(a, b, c))
    assert device.fma(np.float32(3e38), np.float32(2), np.float32(-3e38)) == np.float32(3e38)
    assert np.isinf(device.fma(np.float32(3e38), np.float32(2), np.float32(0)))
    assert device.fma(2, 3, 4) == 10
    assert type(device.fma(np.float16(1), np.float16(2), 1)) is np.float16
    assert type(device.fma(np.float16(1), 2.0, 1)) is np.float32
    assert type(device.fma(np.float64(1), 2.0, 1)) is np.float64


def test_integers_and_types_of_results(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(values, out):
        i = device.item_id(0)
        out[i] = device.fma(values[i], 3, 0.5)

    for dtype in (np.int32, np.float32):
        out = upload(np.zeros(8, np.float32))
        queue.parallel_for(8, run, upload(np.arange(8, dtype=dtype)), out).wait()
        assert out.numpy(queue).tolist() == [3 * i + 0.5 for i in range(8)]


@pytest.mark.parametrize("contract", [False, True])
def test_contraction_is_a_choice(contract: bool) -> None:
    floats = ArgumentType("array", dtype=np.dtype(np.float32), dimensions=1)
    table = ArgumentType("array", dtype=np.dtype(np.float32), dimensions=2)
    source = source_of(both._kernel_function)
    launch = LaunchFacts(1, "ptx", contract=contract)
    made = compiled_kernel(source, digest_of(source), launch, (floats, floats, floats, table))
    text = made.file.sections[0].data.decode()
    assert text.count("fma.rn.f32") == 1 + contract
    assert text.count("mul.rn.f32") == text.count("add.rn.f32") == 1 - contract
