"""The gradient kernels, compiled for this processor, give the reference driver's results.

Those of test_linear_gradients.py are left out: their work-items exchange addends.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from bindless.sampling.memory import Lookup, cuda, linear, processor
from bindless.sampling.memory.arrays import memory_array
from bindless.sampling.memory.plan import NAMES, MemoryPlan, Operation, check
from tests.builtin_kernels.host_kernels import HostKernels
from tests.support.filters import lookup as make_lookup

Array = np.ndarray[Any, Any]

SIZES = {1: (9,), 2: (6, 7), 3: (5, 4, 6)}
FILTERS = ["nearest", "linear", "cubic", "catmull_rom", "bicubic"]
BOUNDARIES = ["border", "edge", "repeat", "mirrored_repeat", "mirror", "extent"]


@pytest.fixture(autouse=True)
def _no_linear_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "kernel_kind", lambda plan: None)


def run_program(host_kernels: HostKernels, program: cuda.CudaCall, plan: MemoryPlan, pointers: list[int]) -> None:
    """Do what ``cuda.run`` does, one work-item after the other."""

    class Call(ctypes.Structure):
        _fields_ = (("words", ctypes.c_uint64 * (len(program.template) // 8)),)

    scratch = np.zeros(program.scratch // 8 + 1, np.uint64)
    call = Call.from_buffer_copy(program.template)
    for place, slot in program.places:
        call.words[place // 8] = pointers[slot]
    for place, offset in program.scratch_places:
        call.words[place // 8] = scratch.ctypes.data + offset
    for launch in program.launches:
        if launch.mode is None:
            offset, slot, count = launch.sums
            numbers = (scratch.ctypes.data + offset, pointers[slot], scratch.ctypes.data, count)
            host_kernels.launch(launch.kernel, *map(ctypes.c_uint64, numbers), work_items=3)
            continue
        items = plan.samples << (launch.mode >> 23 & 7)
        assert items <= launch.grid[0] * cuda.BLOCK
        host_kernels.launch(launch.kernel, call, ctypes.c_uint32(launch.mode), work_items=items)


class Case:
    """One call of each operation, with arrays of random numbers."""

    def __init__(
        self, lookup: Lookup, *, dtype: str = "f", channels: int = 3, num_levels: int = 1, last: bool = False
    ) -> None:
        rng = np.random.default_rng(3)
        size, samples, textures = ((4, 4) if lookup.cube else SIZES[lookup.dims]), 50, 2
        faces = (6,) if lookup.cube else ()
        shapes = [(textures, *faces, *(max(n >> level, 1) for n in size), channels) for level in range(num_levels)]

        def made(shape: tuple[int, ...], kind: str) -> Array:
            values = rng.standard_normal(shape).astype(kind)
            return values if last else np.moveaxis(np.ascontiguousarray(np.moveaxis(values, -1, 1)), 1, -1)

        self.lookup = lookup
        self.levels = [made(shape, dtype) for shape in shapes]
        self.cot_levels = [made(shape, dtype) for shape in shapes]
        self.grad_levels = [np.moveaxis(np.zeros((shape[0], shape[-1], *shape[1:-1]), "f"), 1, -1) for shape in shapes]
        if last:
            self.grad_levels = [np.zeros(shape, "f") for shape in shapes]
        span = np.ones(3) if lookup.cube else np.array(size[::-1])
        self.samples = {
            "coords": rng.uniform(-2 * span, 2.5 * span, (textures, samples, lookup.components)).astype("f"),
            "level": rng.uniform(-0.5, num_levels, (textures, samples)).astype("f") if num_levels > 1 else None,
            "out": np.zeros((textures, samples, channels), dtype),
            "grad_out": made((textures, samples, channels), dtype),
            "cot_coords": rng.standard_normal((textures, samples, lookup.components)).astype("f"),
            "cot_level": rng.standard_normal((textures, samples)).astype("f") if num_levels > 1 else None,
            "grad_grad_out": np.zeros((textures, samples, channels), dtype),
            "grad_coords": np.zeros((textures, samples, lookup.components), "f"),
            "grad_level": np.zeros((textures, samples), "f") if num_levels > 1 else None,
        }

    def run(self, operation: Operation, execute: Any, *, deterministic: bool = False) -> list[Array]:
        """The results of an operation."""
        used = {
            Operation.forward: ("coords", "level", "out"),
            Operation.backward: ("coords", "level", "grad_out", "grad_coords", "grad_level"),
            Operation.backward_backward: tuple(name for name in NAMES if name != "out"),
        }[operation]
        arrays = [self.samples[name] if name in used else None for name in NAMES]
        twice, gradients = operation is Operation.backward_backward, operation is not Operation.forward
        groups = (self.levels, self.cot_levels if twice else [], self.grad_levels if gradients else [])
        results = [self.samples[name] for name in ("out", "grad_grad_out", "grad_coords", "grad_level") if name in used]
        results = [array for array in [*results, *groups[2]] if array is not None]
        for array in results:
            array[...] = 0
        views = [
            None if array is None else memory_array(array) for array in [*arrays, *groups[0], *groups[1], *groups[2]]
        ]
        plan = check(operation, self.lookup, tuple(map(len, groups)), views)
        execute(plan, [0 if one is None else one.pointer for one in views])
        return [array.copy() for array in results]


def compare(host_kernels: HostKernels, case: Case, *, deterministic: bool = False, tolerance: float = 2e-5) -> None:
    """Assert that kernels and processor agree, for every operation."""

    def execute(plan: MemoryPlan, pointers: list[int]) -> None:
        run_program(host_kernels, cuda.describe(plan, deterministic=deterministic), plan, pointers)

    for operation in Operation:
        wanted = case.run(operation, processor.run)
        found = case.run(operation, execute)
        assert len(wanted) == len(found) > 0
        for a, b in zip(found, wanted, strict=True):
            scale = max(1.0, float(np.abs(b.astype("d")).max()))
            np.testing.assert_allclose(a.astype("d"), b.astype("d"), atol=tolerance * scale, err_msg=operation.name)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("filtering", FILTERS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_kernels_equal_processor(host_kernels: HostKernels, dims: int, filtering: str, boundary: str) -> None:
    lookup = make_lookup(
        dims, filtering, boundary=boundary, fill=0.5, scale=(0.75, 1.5, 1.25)[:dims], offset=(0.5,) * dims, shift=0.25
    )
    compare(host_kernels, Case(lookup))


@pytest.mark.parametrize("between", ["nearest", "linear"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_levels(host_kernels: HostKernels, dims: int, between: Any) -> None:
    compare(host_kernels, Case(make_lookup(dims, boundary="repeat", between=between), num_levels=3, channels=6))


@pytest.mark.parametrize("num_levels", [1, 3])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_cubemaps(host_kernels: HostKernels, filtering: str, num_levels: int) -> None:
    lookup = make_lookup(2, filtering, cube=True, between="linear" if num_levels > 1 else "none")
    compare(host_kernels, Case(lookup, num_levels=num_levels), tolerance=1e-4)


@pytest.mark.parametrize(("channels", "last"), [(1, False), (2, True), (7, False), (3, True)])
@pytest.mark.parametrize("dtype", ["e", "f"])
def test_types_and_layouts(host_kernels: HostKernels, dtype: str, channels: int, last: bool) -> None:
    case = Case(make_lookup(2, boundary="mirror"), dtype=dtype, channels=channels, last=last)
    compare(host_kernels, case, tolerance=2e-3 if dtype == "e" else 2e-5)


@pytest.mark.parametrize("filtering", ["linear", "bicubic"])
def test_deterministic_sums(host_kernels: HostKernels, filtering: str) -> None:
    lookup = make_lookup(2, filtering, boundary="border", between="linear")
    compare(host_kernels, Case(lookup, num_levels=2), deterministic=True, tolerance=1e-5)


def test_deterministic_sums_do_not_depend_on_order(host_kernels: HostKernels) -> None:
    results = []
    for order in (slice(None), slice(None, None, -1)):
        case = Case(make_lookup(3, boundary="mirrored_repeat"))
        for name in ("coords", "grad_out"):
            case.samples[name] = np.ascontiguousarray(case.samples[name][:, order])

        def execute(plan: MemoryPlan, pointers: list[int]) -> None:
            run_program(host_kernels, cuda.describe(plan, deterministic=True), plan, pointers)

        results.append(case.run(Operation.backward, execute)[-1])
    np.testing.assert_array_equal(results[0], results[1])


def test_many_channels_take_several_work_items() -> None:
    case = Case(make_lookup(2), channels=40, last=True)
    views = [memory_array(case.samples[name]) if name in ("coords", "out") else None for name in NAMES]
    plan = check(Operation.forward, case.lookup, (1, 0, 0), [*views, memory_array(case.levels[0])])
    launch = cuda.describe(plan).launches[0]
    assert launch.mode is not None and launch.mode >> 23 == 3
    assert launch.grid == (50 * 8 // cuda.BLOCK + 1, 2)


def test_struct_has_the_kernels_layout() -> None:
    """gradient_call.h repeats blr_gradients_t."""
    ffi = processor.reference.ffi
    assert ffi.sizeof("blr_strided_t") == 48 and ffi.sizeof("blr_gradient_level_t") == 160
    assert ffi.offsetof("blr_gradients_t", "fill") == 40 and ffi.offsetof("blr_gradients_t", "texel_type") == 104
    assert ffi.offsetof("blr_gradients_t", "coordinates") == 136 and ffi.offsetof("blr_gradients_t", "levels") == 568
    assert ffi.sizeof("blr_gradients_t") == 568 + 18 * 160
