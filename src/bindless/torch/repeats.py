"""``Repeats``: calls of a function whose tensors have the layouts of an earlier call, repeated without Python."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from ..core._submission import TensorCalls
from ..drivers import cuda, reference
from ..model.errors import SyclRuntimeError
from ..sampling.memory import cuda as kernels
from ..sampling.memory.plan import LEVEL_NAMES, NAMES, MemoryPlan
from ..sampling.memory.programs import HOST_FUNCTION, Program, cuda_program, host_program

__all__ = ["PLAIN", "Repeats", "slots_of"]

Tensor = Any

PLAIN = (torch.Tensor, torch.nn.Parameter)
"""Types of tensors that are memory, and nothing else."""

_DRIVER = ("cuCtxGetCurrent", "cuMemsetD8Async", "cuLaunchKernel")


class Repeats:
    """Calls of one function.

    Attributes
    ----------
    repeat : Callable
        ``repeat(options, *operands)``: a tuple of new results, or None for a call that was not added. Operands are
        tensors of the types ``PLAIN``, or None.
    has : Callable
        ``has(options, *operands)``: whether a call was added.
    """

    def __init__(self) -> None:
        self._calls = TensorCalls(PLAIN)
        self.repeat, self.has = self._calls.repeat, self._calls.has

    def add(
        self,
        options: Hashable,
        plan: MemoryPlan,
        operands: Sequence[Tensor | None],
        results: Sequence[Tensor | None],
        buffers: Mapping[str, int],
        cleared: Sequence[int] = (),
        *,
        deterministic: bool = False,
    ) -> None:
        """Adds a call that has been computed.

        Parameters
        ----------
        options
            What ``repeat`` compares in addition to layouts.
        plan : MemoryPlan
            The call.
        operands : Sequence[Tensor | None]
            Those that ``repeat`` takes.
        results : Sequence[Tensor | None]
            The tuple that ``repeat`` returns: tensors without gaps in memory, and None.
        buffers : Mapping[str, int]
            Arrays of the plan, by their names, among the operands followed by the results that are tensors; of levels
            the first.
        cleared : Sequence[int]
            Results that are tensors, by their numbers, that are filled with zeros before the call.
        deterministic : bool
            Whether gradients of texels have the same bits each time.
        """
        tensors = [part for part in results if part is not None]
        first, end = len(operands), len(operands) + len(tensors)
        zeros = [(first + number, tensors[number].numel() * tensors[number].element_size()) for number in cleared]
        slots = slots_of(plan, buffers)
        if tensors[0].is_cuda:
            program = cuda_program(plan, slots.__getitem__, zeros, end, deterministic=deterministic)
        else:
            program = host_program(plan, slots.__getitem__, zeros)
        self.add_program(options, program, operands, results)

    def add_program(
        self,
        options: Hashable,
        program: Program,
        operands: Sequence[Tensor | None],
        results: Sequence[Tensor | None],
    ) -> None:
        """Adds a call by its program, whose buffers are the operands, the results that are tensors, and its scratch
        memory.
        """
        tensors = [part for part in results if part is not None]
        order = iter(range(len(tensors)))
        returned = tuple(None if part is None else next(order) for part in results)
        image = tensors[0]
        makers = [_maker(part) for part in tensors]
        if image.is_cuda:
            kernels.make_current(image.data_ptr())
            functions = kernels.addresses(program.names)
            driver = tuple(_address(cuda, name) for name in _DRIVER)
            if program.scratch:
                makers.append(_scratch_maker(program.scratch, image.device))
        else:
            functions, driver = (_address(reference, HOST_FUNCTION),), None
        words = struct.pack(f"{len(program.words)}q", *program.words)
        self._calls.add(options, tuple(operands), tuple(makers), returned, words, functions, driver)

    def run(
        self,
        options: Hashable,
        program: Program,
        operands: Sequence[Tensor | None],
        results: Sequence[Tensor | None],
    ) -> tuple[Any, ...]:
        """``repeat`` of a call on CUDA that is added first if there was none like it; results are those of
        ``add_program``.

        Raises
        ------
        SyclRuntimeError
            The driver refused a kernel.
        """
        image = next(part for part in results if part is not None)
        with torch.cuda.device(image.device):
            kernels.make_current(image.data_ptr())
            if not self.has(options, *operands):
                self.add_program(options, program, operands, results)
            returned = self.repeat(options, *operands)
        if returned is None:
            raise SyclRuntimeError(
                f"the CUDA driver refused {', '.join(program.names)}: use a tensor of fewer elements"
            )
        return returned


def slots_of(plan: MemoryPlan, buffers: Mapping[str, int]) -> list[int]:
    """The buffer of each array of a plan, by the number of its address."""
    slots = [buffers.get(name, -1) for name in NAMES]
    for name in LEVEL_NAMES:
        slots += range(buffers[name], buffers[name] + len(plan.levels)) if name in buffers else ()
    return slots


def _address(driver: Any, name: str) -> int:
    return int(driver.ffi.cast("uintptr_t", driver.ffi.addressof(driver.lib, name)))


def _maker(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """A function, and its arguments, that allocates a tensor like one, on the current device."""
    layout = tuple(tensor.shape), tensor.stride()
    make = getattr(torch._C._dynamo.guards, "_empty_strided_cuda" if tensor.is_cuda else "_empty_strided_cpu", None)
    if make is not None:
        return make, (*layout, tensor.dtype)
    return partial(torch.empty_strided, dtype=tensor.dtype, device=tensor.device), layout


def _scratch_maker(size: int, device: torch.device) -> tuple[Any, tuple[Any, ...]]:
    return _maker(torch.empty(size, dtype=torch.uint8, device=device))
