"""Programs: the commands of a planned call, as integers; ``csrc/programs/program.h`` describes them.

They depend on the plan alone. Addresses are written in when a program runs: it names an array by the index of a buffer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...kernels.launch_range import GROUP
from ...kernels.manifest import parameters_of
from . import cuda, processor
from .plan import MemoryPlan

__all__ = [
    "HOST_FUNCTION",
    "Program",
    "command",
    "cuda_program",
    "host_program",
    "launch_command",
    "texture_command",
]

HOST_FUNCTION = "blrSampleGradients"
"""The function of the reference driver that computes samples and their derivatives."""

_CLEAR, _CALL, _TEXTURE = range(3)


class Program(NamedTuple):
    """Commands of a call.

    Attributes
    ----------
    words : list[int]
        The commands.
    names : tuple[str, ...]
        Functions or kernels that they call; a kernel with constant arguments is a variant (``kernels.load``).
    scratch : int
        Bytes of a further buffer, in which nothing is left for the caller; 0 if there is none.
    """

    words: list[int]
    names: tuple[str, ...]
    scratch: int


def host_program(plan: MemoryPlan, buffer_of: Callable[[int], int], cleared: Sequence[tuple[int, int]]) -> Program:
    """The program of a call on processors.

    Parameters
    ----------
    plan : MemoryPlan
        The call.
    buffer_of : Callable
        The buffer of an array of the plan, by the number of its address.
    cleared : Sequence of (int, int)
        Buffers that are filled with zeros first, and their bytes: the call adds to gradients of texels.
    """
    contents, places = processor.describe(plan)
    patches = [(offset, buffer_of(slot), 0) for offset, slot in places]
    return Program([*_clears(cleared), *command(0, (0,) * 6, contents, patches)], (HOST_FUNCTION,), 0)


def cuda_program(
    plan: MemoryPlan,
    buffer_of: Callable[[int], int],
    cleared: Sequence[tuple[int, int]],
    scratch: int,
    *,
    deterministic: bool,
) -> Program:
    """The program of a call on CUDA.

    Parameters
    ----------
    plan, buffer_of, cleared
        As in ``host_program``.
    scratch : int
        The buffer of scratch memory.
    deterministic : bool
        Whether results are the same bits every time.
    """
    call = cuda.describe(plan, deterministic=deterministic)
    words = _clears(cleared)
    if call.scratch:
        words += _clears([(scratch, call.scratch)])
    places = [(offset, buffer_of(slot), 0) for offset, slot in call.places]
    places += [(offset, scratch, start) for offset, start in call.scratch_places]
    names: list[str] = []
    for launch in call.launches:
        if launch.mode is None:
            start, slot, count = launch.sums
            contents = struct.pack("4q", 0, 0, 0, count)
            patches = [(0, scratch, start), (8, buffer_of(slot), 0), (16, scratch, 0)]
        else:
            contents, patches = call.template + struct.pack("I", launch.mode), places
        if launch.name not in names:
            names.append(launch.name)
        words += command(names.index(launch.name), (*launch.grid, 1, launch.items, 1, 1), contents, patches)
    return Program(words, tuple(names), call.scratch)


def _clears(buffers: Sequence[tuple[int, int]]) -> list[int]:
    return [word for buffer, size in buffers for word in (_CLEAR, buffer, size)]


def command(function: int, grid: Sequence[int], contents: bytes, patches: Sequence[tuple[int, int, int]]) -> list[int]:
    """The words that call a function.

    Parameters
    ----------
    function : int
        Its index among the program's names.
    grid : Sequence[int]
        Three numbers of groups, and three of work-items in a group.
    contents : bytes
        Its arguments.
    patches : Sequence[tuple[int, int, int]]
        Where addresses belong in them: the offset, the buffer, and the first byte of it.
    """
    words = [_CALL, function, *grid, len(contents), len(patches)]  # CUDA refuses more bytes than the parameters have
    for patch in patches:
        words += patch
    padded = contents + bytes(-len(contents) % 8)
    return [*words, *struct.unpack(f"{len(padded) // 8}q", padded)]


_LETTERS = {"int": "i", "uint": "I", "long": "q", "ulong": "Q", "float": "f", "double": "d"}


def launch_command(
    function: int,
    name: str,
    groups: Sequence[int],
    values: Mapping[str, Any],
    arrays: Mapping[str, tuple[int, int]],
) -> list[int]:
    """The words that launch a built-in kernel.

    Parameters
    ----------
    function : int
        Its index among the program's names.
    name : str
        The kernel.
    groups : Sequence[int]
        Three numbers of groups of ``GROUP`` work-items.
    values : Mapping[str, Any]
        Numbers by the names of parameters.
    arrays : Mapping[str, tuple[int, int]]
        Buffers by the names of parameters, and the first byte of each. Other pointers are 0.
    """
    letters, numbers, patches = "@", [], []
    for type_, parameter in parameters_of(name):
        letter = _LETTERS.get(type_, "P")
        letters += letter
        if parameter in arrays:
            patches.append((struct.calcsize(letters) - struct.calcsize(letter), *arrays[parameter]))
        numbers.append(0 if letter == "P" else values[parameter])
    return command(function, (*groups, GROUP, 1, 1), struct.pack(letters, *numbers), patches)


def texture_command(buffer: int, start: int, description: Sequence[int]) -> list[int]:
    """The words that copy an image into a texture, which later commands find after the last buffer.

    Parameters
    ----------
    buffer, start : int
        Its buffer, and its first byte there.
    description : Sequence[int]
        The words of a texture.
    """
    return [_TEXTURE, buffer, start, *description]


def join_programs(*parts: tuple[Program, Sequence[int]]) -> Program:
    """One program of several, which use the same scratch memory one after another.

    Parameters
    ----------
    parts : tuple[Program, Sequence[int]]
        A program, and the numbers that its buffers have in the new one, its scratch memory included if it has some.
    """
    words: list[int] = []
    names: list[str] = []
    for program, buffers in parts:
        rest = program.words
        while rest:
            if rest[0] == _CLEAR:
                words += (_CLEAR, buffers[rest[1]], rest[2])
                rest = rest[3:]
                continue
            name, size, count = program.names[rest[1]], *rest[8:10]
            if name not in names:
                names.append(name)
            words += (_CALL, names.index(name), *rest[2:10])
            for offset, buffer, start in zip(*[iter(rest[10 : 10 + 3 * count])] * 3):
                words += (offset, buffers[buffer], start)
            end = 10 + 3 * count + -(-size // 8)
            words += rest[10 + 3 * count : end]
            rest = rest[end:]
    return Program(words, tuple(names), max(program.scratch for program, _ in parts))
