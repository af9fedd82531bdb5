"""The handlers of XLA's calls, without XLA: versions, refused programs, and CUDA's commands with a driver in Python."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np
import pytest

from bindless import kernels
from bindless.drivers import cuda, reference

jax = pytest.importorskip("jax", reason="pip install jax")

from bindless.jax import _ffi  # noqa: E402
from bindless.jax.operation import NONE, Chosen, Operation  # noqa: E402
from bindless.jax.programs import cuda_program, host_program  # noqa: E402
from bindless.jax.targets import prepare  # noqa: E402
from bindless.sampling.memory.programs import Program  # noqa: E402
from tests.jax.call_frame import INITIALIZE, call, version_of  # noqa: E402
from tests.support.filters import lookup as make_lookup  # noqa: E402

NO_FUNCTIONS = (0,) * len(_ffi.cuda_functions())
STREAM, CONTEXT, LIBRARY, KERNEL = 0x5000, 0x6000, 0x7000, 0x8000


@pytest.mark.parametrize(
    ("capsule", "traits"),
    [(_ffi.host_handler(), 1), (_ffi.cuda_handler(), 1), (_ffi.cuda_texture_handler(), 0)],
)
def test_version(capsule: object, traits: int) -> None:
    """The newest that both sides know, and 0.1 for versions of XLA that do not say theirs; CUDA graphs are possible but
    for textures.
    """
    assert version_of(capsule, None) == (0, 1, traits)
    assert version_of(capsule, 0, 1) == (0, 1, traits)
    assert version_of(capsule, 0, 2) == (0, 2, traits)
    assert version_of(capsule, 0, 3) == (0, 3, traits)
    assert version_of(capsule, 0, 9) == (0, 3, traits)
    assert version_of(capsule, 1, 9)[0] == 0


def arrays(operation: Operation) -> tuple[list[Any], list[Any]]:
    """Operands with random values, and results with other ones than zeros."""
    rng = np.random.default_rng(5)
    image, coords = rng.normal(size=(2, 5, 6, 3)), rng.uniform(-1, 7, (2, 40, 2))
    grad, more = rng.normal(size=(2, 40, 3)), [rng.normal(size=(2, 5, 6, 3)), rng.normal(size=(2, 40, 2))]
    given = [image, coords, *([grad] if operation.kind in ("pull", "bend") else [])]
    given += [array for array, chosen in zip(more, operation.tangents) if chosen]
    operands = [array.astype(np.float32) for array in given]
    results = [np.full(shape, 7, np.float32) for shape, _ in operation.buffers(operands)]
    return operands, results


TEXTURE = make_lookup(2, boundary="border", fill=0.5, offset=(-0.5, -0.5))
BOTH = Chosen(True, True, False)
OPERATIONS = {
    "sample": Operation("sample", TEXTURE, 1, False),
    "push": Operation("push", TEXTURE, 1, False, BOTH),
    "pull": Operation("pull", TEXTURE, 1, False, NONE, BOTH),
    "bend": Operation("bend", TEXTURE, 1, False, BOTH, BOTH),
}


def on_host(operation: Operation) -> list[Any]:
    """Results of the handler for processors."""
    prepare("cpu")
    operands, results = arrays(operation)
    words, names, scratch = host_program(operation, operands, results)
    assert scratch == 0
    assert call(_ffi.host_handler(), operands, results, words, " ".join(names)) is None
    return results


STRUCTURE = re.search(rb"_param_0\[(\d+)\]", kernels.source("gradients_forward_2d_2", "ptx"))
assert STRUCTURE is not None
PARAMETERS = int(STRUCTURE[1]) + 4  # bytes of the parameters of a kernel: a structure and the mode


def unexpected() -> int:
    raise AssertionError("gradients have no textures")


class Driver:
    """CUDA's functions for memory of the process: a kernel's arguments begin with the reference driver's struct."""

    def __init__(self) -> None:
        self.contexts: list[int] = []
        self.loaded: list[bytes] = []
        self.launches: list[tuple[int, ...]] = []
        self.functions = 0
        self.failing = ""
        self.callbacks = tuple(
            ctypes.CFUNCTYPE(*types)(function)
            for function, types in (
                (self.get_context, (c_int, c_void_p, POINTER(c_void_p))),
                (self.push, (c_int, c_void_p)),
                (self.pop, (c_int, POINTER(c_void_p))),
                (self.clear, (c_int, c_uint64, ctypes.c_ubyte, c_size_t, c_void_p)),
                (self.load, (c_int, POINTER(c_void_p), c_char_p, *[c_void_p] * 2, c_int, *[c_void_p] * 2, c_int)),
                (self.get_kernel, (c_int, POINTER(c_void_p), c_void_p, c_char_p)),
                (self.get_function, (c_int, POINTER(c_void_p), c_void_p)),
                (self.launch, (c_int, c_void_p, *[c_int] * 7, c_void_p, c_void_p, POINTER(c_void_p))),
                (self.error_name, (c_int, c_int, POINTER(c_char_p))),
                *self.texture_functions(),
            )
        )
        self.addresses = tuple(ctypes.cast(callback, c_void_p).value or 0 for callback in self.callbacks)

    def texture_functions(self) -> tuple[Any, ...]:
        """The functions of arrays, textures and events, which gradients do not call."""
        return tuple((unexpected, (c_int,)) for _ in range(11))

    def get_context(self, stream: int, context: Any) -> int:
        assert stream == STREAM
        context[0] = CONTEXT
        return 0

    def push(self, context: int) -> int:
        self.contexts.append(context)
        return 0

    def pop(self, context: Any) -> int:
        context[0] = self.contexts.pop()
        return 0

    def clear(self, address: int, value: int, size: int, stream: int) -> int:
        assert stream == STREAM and self.contexts == [CONTEXT]
        ctypes.memset(address, value, size)
        return 0

    def load(self, library: Any, image: bytes, *_: Any) -> int:
        self.loaded.append(image)
        library[0] = LIBRARY
        return 0

    def get_kernel(self, kernel: Any, library: int, name: bytes) -> int:
        assert library == LIBRARY and b"@" not in name
        kernel[0] = KERNEL
        return 500 if self.failing == "get_kernel" else 0

    def get_function(self, function: Any, kernel: int) -> int:
        assert kernel == KERNEL and self.contexts == [CONTEXT]
        self.functions += 1
        return 0

    def launch(self, kernel: int, *rest: Any) -> int:
        *grid, _, stream, parameters, extra = rest
        assert (kernel, stream, parameters, extra[0], extra[2], extra[4]) == (KERNEL, STREAM, None, 1, 2, None)
        # A driver refuses any other number of bytes than the parameters have: the structure, and the mode.
        size = ctypes.cast(extra[3], ctypes.POINTER(ctypes.c_size_t))[0]
        assert size == PARAMETERS
        assert self.contexts == [CONTEXT]
        self.launches.append(tuple(grid))
        call_ = reference.ffi.cast("blr_gradients_t *", extra[1])
        return int(reference.lib.blrSampleGradients(call_)) if self.failing != "launch" else 700

    def error_name(self, code: int, name: Any) -> int:
        name[0] = b"CUDA_ERROR_OF_TEST"
        return 0


@pytest.fixture
def driver() -> Iterator[Driver]:
    reference.load()
    made = Driver()
    _ffi.use_cuda(made.addresses)
    yield made
    functions = cuda.available() and [cuda.ffi.addressof(cuda.lib, name) for name in _ffi.cuda_functions()]
    _ffi.use_cuda(tuple(int(cuda.ffi.cast("uintptr_t", each)) for each in functions) if functions else NO_FUNCTIONS)


def program_of(operation: Operation, operands: list[Any], results: list[Any], prefix: str) -> Program:
    """CUDA's program, whose kernels have other names, and their code."""
    made = cuda_program(operation, operands, results)
    names = tuple(f"{prefix}_{name}" for name in made.names)
    for name in names:
        _ffi.register_kernel(name, b"code of " + name.encode() + b"\0")
    return made._replace(names=names)


@pytest.mark.parametrize("name", OPERATIONS)
def test_commands_of_cuda(driver: Driver, name: str) -> None:
    """Kernels are loaded before the executable runs, and launched once on XLA's stream with XLA's addresses."""
    operation = OPERATIONS[name]
    operands, results = arrays(operation)
    words, names, scratch = program_of(operation, operands, results, f"test_{name}")
    assert scratch == 0
    for stage in (INITIALIZE, INITIALIZE):
        failed = call(_ffi.cuda_handler(), operands, results, words, " ".join(names), stage=stage, stream=STREAM)
        assert failed is None
    assert driver.loaded == [b"code of " + names[0].encode()]
    assert driver.functions == 2
    assert driver.launches == []
    assert call(_ffi.cuda_handler(), operands, results, words, " ".join(names), stream=STREAM) is None
    assert len(driver.launches) == len(driver.loaded) == 1
    assert driver.contexts == []
    for found, wanted in zip(results, on_host(operation), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_scratch_memory_of_deterministic_sums() -> None:
    operation = Operation("pull", TEXTURE, 1, False, NONE, BOTH, deterministic=True)
    operands, results = arrays(operation)
    made = cuda_program(operation, operands, results)
    assert made.scratch >= 8 * operands[0].size
    assert [name.partition("@")[0].rpartition("_")[2] for name in made.names] == ["2", "2", "settle"]


@pytest.mark.parametrize("function", ["get_kernel", "launch"])
def test_errors_of_the_driver(driver: Driver, function: str) -> None:
    operation = OPERATIONS["sample"]
    operands, results = arrays(operation)
    words, names, _ = program_of(operation, operands, results, f"test_error_{function}")
    driver.failing = function
    failed = call(_ffi.cuda_handler(), operands, results, words, " ".join(names), stream=STREAM)
    assert failed is not None
    assert "CUDA_ERROR_OF_TEST" in failed
    assert driver.contexts == []


def test_absent_driver() -> None:
    if cuda.available():
        pytest.skip("a CUDA driver is here")
    _ffi.use_cuda(NO_FUNCTIONS)
    operands, results = arrays(OPERATIONS["sample"])
    assert call(_ffi.cuda_handler(), operands, results, [], "none", stream=STREAM) is not None


@pytest.mark.parametrize(
    "damage",
    [
        lambda words: words[:-1],
        lambda words: [5, *words],
        lambda words: [words[0], 9, *words[2:]],
        lambda words: [*words[:8], 1 << 40, *words[9:]],
        lambda words: [*words[:9], 1 << 40, *words[10:]],
        lambda words: [*words[:10], -1, *words[11:]],
        lambda words: [*words[:11], 99, *words[12:]],
        lambda words: [0, 0],
        lambda words: [0, 99, 8],
    ],
)
def test_damaged_programs(damage: Any) -> None:
    prepare("cpu")
    operands, results = arrays(OPERATIONS["sample"])
    words, names, _ = host_program(OPERATIONS["sample"], operands, results)
    before = [result.copy() for result in results]
    assert call(_ffi.host_handler(), operands, results, damage(words), " ".join(names)) is not None
    np.testing.assert_array_equal(results, before)


def test_unknown_functions() -> None:
    operands, results = arrays(OPERATIONS["sample"])
    words, _, _ = host_program(OPERATIONS["sample"], operands, results)
    assert call(_ffi.host_handler(), operands, results, words, "blrUnheardOf") is not None


def test_lowering_for_cuda() -> None:
    """Executables for CUDA are made on machines without it."""
    import bindless.jax as bj

    function = jax.jit(jax.grad(lambda image, coords: bj.sample(image, coords).sum(), (0, 1)))
    shapes = jax.ShapeDtypeStruct((5, 6, 3), np.float32), jax.ShapeDtypeStruct((40, 2), np.float32)
    text = function.trace(*shapes).lower(lowering_platforms=("cuda",)).as_text()
    assert "bindless_gradients_backward_2d_linear@" in text
