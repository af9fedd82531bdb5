"""Execution by built-in kernels, on memory of a CUDA device, ordered by a stream."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...drivers import cuda
from ...kernels import choose
from ...kernels.load import Code, Library, split_variant, variant_of
from ...model.enums import Interpolation
from ...model.errors import FeatureNotSupportedError, InvalidError
from . import linear
from .plan import NAMES, Level, MemoryPlan, Operation, Strided
from .processor import describe as describe_for_processor

__all__ = ["CudaCall", "KernelLaunch", "addresses", "describe", "run"]

BLOCK = linear.BLOCK
_MOST_ROWS = 65535  # of a grid
_MOST_LEVELS = 18
_ALIGNMENT = 256
_POINTER = struct.Struct("@P")

_NONE, _ADD, _MEASURE, _INTEGERS = range(4)
_NEAR = 1 << 17


@dataclass(frozen=True)
class KernelLaunch:
    """A launch of a kernel with the call's struct and a mode, or with four numbers.

    Attributes
    ----------
    kernel : str
        Name of a built-in kernel.
    mode : int or None
        Its second argument, which may be a constant of the compiled code; None for the kernel that adds integer sums.
    grid : tuple[int, int]
        Groups of work-items.
    items : int
        Work-items of a group.
    sums : tuple[int, int, int]
        Of the kernel that adds integer sums: their offset in the scratch memory, the number of the address of the
        gradients, and how many there are.
    """

    kernel: str
    mode: int | None
    grid: tuple[int, int]
    items: int = BLOCK
    sums: tuple[int, int, int] = (0, 0, 0)

    @property
    def name(self) -> str:
        """The variant of the kernel whose mode is a constant."""
        return variant_of(self.kernel, mode=self.mode)


@dataclass(frozen=True)
class CudaCall:
    """A call on a device: a struct that takes addresses, scratch memory to clear, and launches of kernels.

    Attributes
    ----------
    template : bytes
        The kernels' first argument, with null addresses.
    places : tuple[tuple[int, int], ...]
        Where addresses belong: (offset in the struct, number of the address).
    scratch : int
        Bytes of memory that are zero before the first launch, at a multiple of 256.
    scratch_places : tuple[tuple[int, int], ...]
        Where addresses in it belong: (offset in the struct, offset in the memory).
    launches : tuple[KernelLaunch, ...]
        In their order.
    """

    template: bytes
    places: tuple[tuple[int, int], ...]
    scratch: int
    scratch_places: tuple[tuple[int, int], ...]
    launches: tuple[KernelLaunch, ...]


def describe(plan: MemoryPlan, *, deterministic: bool = False) -> CudaCall:
    """The struct and the launches of a call.

    Raises
    ------
    FeatureNotSupportedError
        Numbers of 64 bits.
    InvalidError
        Sums are to be deterministic, and strides of gradients are negative.
    """
    lookup = plan.lookup
    if plan.texel_type == "d" or plan.value_type == "d":
        raise FeatureNotSupportedError(
            "float64: gradients on CUDA are of float32 or float16 textures; convert the arrays"
        )
    struct_, places = describe_for_processor(plan)
    sums_at = len(struct_)
    template = struct_ + bytes(8 * (_MOST_LEVELS + 1))
    scatters = plan.operation is not Operation.forward and plan.levels[0].gradients is not None
    mode, grid = _mode(plan), _grid(plan)
    result_bits = _result_bits(plan)
    taps = {Interpolation.nearest: 1, Interpolation.linear: 2}.get(lookup.filter.interpolation, 4)
    operation, geometry = plan.operation.name, "cube" if lookup.cube else f"{lookup.dims}d"
    if not (scatters and deterministic):
        kernel_kind = linear.kernel_kind(plan) if mode & _NEAR else None
        if kernel_kind is not None:
            template, mode, grid = linear.arrange(plan, kernel_kind, template, sums_at, mode)
        mode |= result_bits | (_ADD if scatters else _NONE) << 18
        launch = KernelLaunch(
            choose.gradients(operation, geometry, kernel_kind or taps),
            mode,
            grid,
            linear.ITEMS.get(kernel_kind or "", BLOCK),
        )
        return CudaCall(template, tuple(places), 0, (), (launch,))
    name = choose.gradients(operation, geometry, taps)
    launches = [
        KernelLaunch(name, mode | _MEASURE << 18, grid),
        KernelLaunch(name, mode | result_bits | _INTEGERS << 18, grid),
    ]
    scratch, scratch_places = _ALIGNMENT, [(sums_at + 8 * _MOST_LEVELS, 0)]
    for number, level in enumerate(plan.levels):
        assert level.gradients is not None
        count = _span(plan, level, level.gradients)
        scratch_places.append((sums_at + 8 * number, scratch))
        groups = min(-(-count // BLOCK), _MOST_ROWS)
        sums = (scratch, level.gradients.slot, count)
        launches.append(KernelLaunch("bindless_gradients_settle", None, (groups, 1), sums=sums))
        scratch += -(-8 * count // _ALIGNMENT) * _ALIGNMENT
    return CudaCall(template, tuple(places), scratch, tuple(scratch_places), tuple(launches))


def _sizes(plan: MemoryPlan, level: Level) -> tuple[int, ...]:
    return (plan.channels, *level.size[:2], 6 if plan.lookup.cube else level.size[2], plan.textures)


def _span(plan: MemoryPlan, level: Level, array: Strided) -> int:
    """Numbers from the first to the last one of an array of texels."""
    if any(stride < 0 for stride in array.strides):
        raise InvalidError(f"strides {array.strides} of gradients: deterministic sums need positive ones")
    return 1 + sum((size - 1) * stride for size, stride in zip(_sizes(plan, level), array.strides, strict=True))


def _is_near(plan: MemoryPlan) -> bool:
    """Whether offsets within a texture have 32 bits."""
    for level in plan.levels:
        for array in (level.texels, level.cotangents, level.gradients):
            if array is None:
                continue
            sizes = _sizes(plan, level)[1:4]
            reach = sum((size - 1) * abs(stride) for size, stride in zip(sizes, array.strides[1:4], strict=True))
            if reach >= 1 << 31:
                return False
    return True


def _spread(plan: MemoryPlan) -> int:
    """Neighbouring work-items of a sample, as a power of two: four neighbouring channels for each."""
    strides = plan.levels[0].texels.strides
    if plan.channels < 4 or strides[0] != 1:
        return 0
    return min(int(math.log2(plan.channels)) - 2, 5)


def _mode(plan: MemoryPlan) -> int:
    """The word in csrc/kernels/include/gradient_call.h, without results."""
    filter_ = plan.lookup.filter
    word = int(filter_.ties_to_even)
    for axis, boundary in enumerate(filter_.boundary[: plan.lookup.dims]):
        word |= boundary.number << (1 + 3 * axis)
    levels = filter_.levels.number if len(plan.levels) > 1 and plan.arrays[1] is not None else 0
    word |= levels << 10 | filter_.interpolation.number << 12
    word |= (plan.texel_type == "e") << 15 | (plan.value_type == "e") << 16 | _is_near(plan) * _NEAR
    return word | _spread(plan) << 23 | (plan.channels == 1) << 26


def _result_bits(plan: MemoryPlan) -> int:
    """The bits of the mode for results other than gradients of texels."""
    if plan.operation is Operation.forward:
        return 0
    names = ("grad_coords", "grad_level", "grad_grad_out")
    return sum((plan.arrays[NAMES.index(name)] is not None) << (20 + bit) for bit, name in enumerate(names))


def _grid(plan: MemoryPlan) -> tuple[int, int]:
    return -(-(plan.samples << _spread(plan)) // BLOCK), min(plan.textures, _MOST_ROWS)


# ---------------------------------------------------------------- execution

_library: Library[Any] = Library("ptx", "cuda")
_modules: list[Any] = []  # never unloaded: contexts of other libraries live as long as the process


def run(plan: MemoryPlan, pointers: list[int], stream: int, *, deterministic: bool) -> None:
    """Enqueue a call on a stream of the calling thread's context, or else of the arrays' device."""
    call = plan.prepared.get(("cuda", deterministic))
    if call is None:
        cuda.load()
        call = plan.prepared["cuda", deterministic] = describe(plan, deterministic=deterministic)
    context, previous = _context(pointers)
    try:
        _enqueue(call, pointers, cuda.ffi.cast("CUstream", stream), context)
    finally:
        if previous is not None:
            cuda.check(cuda.lib.cuCtxSetCurrent(previous), "cuCtxSetCurrent")


def _context(pointers: list[int]) -> tuple[int, Any]:
    """The current context; that of the arrays, made current, and the one to restore, if there is none."""
    ffi, lib = cuda.ffi, cuda.lib
    current = ffi.new("CUcontext *")
    cuda.check(lib.cuCtxGetCurrent(current), "cuCtxGetCurrent")
    if current[0] != ffi.NULL:
        return int(ffi.cast("uintptr_t", current[0])), None
    owner = ffi.new("CUcontext *")
    address = next(pointer for pointer in pointers if pointer)
    attribute = int(lib.CU_POINTER_ATTRIBUTE_CONTEXT)
    cuda.check(lib.cuPointerGetAttribute(owner, attribute, address), "cuPointerGetAttribute")
    cuda.check(lib.cuCtxSetCurrent(owner[0]), "cuCtxSetCurrent")
    return int(ffi.cast("uintptr_t", owner[0])), current[0]


def make_current(pointer: int) -> None:
    """Makes the context of an array current on a thread that has none, as threads of autograd may."""
    cuda.load()
    _context([pointer])


def _enqueue(call: CudaCall, pointers: list[int], stream: Any, context: int) -> None:
    ffi, lib = cuda.ffi, cuda.lib
    data = bytearray(call.template)
    for place, slot in call.places:
        _POINTER.pack_into(data, place, pointers[slot])
    scratch = 0
    if call.scratch:
        memory = ffi.new("CUdeviceptr *")
        cuda.check(lib.cuMemAllocAsync(memory, call.scratch, stream), f"cuMemAllocAsync({call.scratch} bytes)")
        scratch = int(memory[0])
        cuda.check(lib.cuMemsetD8Async(scratch, 0, call.scratch, stream), "cuMemsetD8Async")
        for place, offset in call.scratch_places:
            _POINTER.pack_into(data, place, scratch + offset)
    parameters = ffi.new("void *[4]")
    mode = ffi.new("uint32_t *")
    for launch in call.launches:
        function = _function(context, launch.kernel, launch.mode)
        if launch.mode is None:
            offset, slot, count = launch.sums
            numbers = ffi.new("uint64_t[4]", [scratch + offset, pointers[slot], scratch, count])
            for number in range(4):
                parameters[number] = numbers + number
        else:
            mode[0] = launch.mode
            parameters[0], parameters[1] = ffi.from_buffer(data), mode
        result = lib.cuLaunchKernel(function, *launch.grid, 1, launch.items, 1, 1, 0, stream, parameters, ffi.NULL)
        cuda.check(result, f"cuLaunchKernel({launch.kernel})")
    if scratch:
        cuda.check(lib.cuMemFreeAsync(scratch, stream), "cuMemFreeAsync")


def addresses(names: Sequence[str]) -> tuple[int, ...]:
    """Functions of the current context, loaded: kernels by their variants."""
    current = cuda.ffi.new("CUcontext *")
    cuda.check(cuda.lib.cuCtxGetCurrent(current), "cuCtxGetCurrent")
    context = int(cuda.ffi.cast("uintptr_t", current[0]))
    variants = map(split_variant, names)
    functions = [_function(context, name, words.get("mode")) for name, words in variants]
    return tuple(int(cuda.ffi.cast("uintptr_t", function)) for function in functions)


def _function(context: int, name: str, mode: int | None) -> Any:
    """The function of a kernel, loaded into the current context."""
    return _library.load(name, context, _build, mode=mode)


def _build(code: Code) -> Any:
    ffi, lib = cuda.ffi, cuda.lib
    module = ffi.new("CUmodule *")
    cuda.check(lib.cuModuleLoadData(module, ffi.from_buffer(code.text)), f"cuModuleLoadData({code.name})")
    _modules.append(module[0])
    function = ffi.new("CUfunction *")
    cuda.check(lib.cuModuleGetFunction(function, module[0], code.name.encode()), f"cuModuleGetFunction({code.name})")
    return function[0]
