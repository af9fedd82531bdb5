"""Compilation of one Python kernel for types of arguments: Numba, the package's device functions, LLVM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from ...compiler.prelude import ptx_images, spirv_images
from ...device.declaration import LaunchFacts
from ...model.module.description import KernelSignature, Parameter
from ...model.module.kernel_file import KernelFile, Section
from ..argument_type import ArgumentType
from ..expansion import ParameterPath
from . import active
from .contexts import KernelTarget, kernel_target
from .dispatcher import compile_function
from .generic_pointers import with_generic_pointers
from .kernel_entry import EntryParameter, numba_type, write_entry
from .modules import Modules
from .numba_names import IrModule, PythonFunction

__all__ = ["CompiledKernel", "compile_kernel", "target_of"]

_TARGETS = {
    "spirv": (spirv_images.TRIPLE, spirv_images.DATA_LAYOUT, "spir_func", "spir_kernel"),
    "ptx": (ptx_images.TRIPLE, ptx_images.DATA_LAYOUT, "", "ptx_kernel"),
}
_PARAMETER = re.compile(r"%p(\d+)(?![\w.])")


@dataclass(frozen=True)
class CompiledKernel:
    """A compiled kernel.

    Attributes
    ----------
    file
        Its module and signature.
    paths
        Where each parameter's value comes from: the number of the argument, and steps.
    """

    file: bytes
    paths: tuple[ParameterPath, ...]


def compile_kernel(
    function: PythonFunction,
    arguments: tuple[ArgumentType, ...],
    launch: LaunchFacts,
    architecture: str,
    versions: dict[str, str],
) -> CompiledKernel:
    """Compile a kernel.

    Parameters
    ----------
    architecture
        The GPU, for PTX: ``sm_90``.

    Raises
    ------
    KernelSourceError, BuildError
        The function cannot be compiled.
    """
    _, _, convention, kernel_convention = _TARGETS[launch.language]
    target = target_of(launch.language)
    target.typing_context.launch, target.typing_context.group_function = launch, ""
    target.target_context.calling_convention = convention
    target.target_context.sources = {}
    target.composed.clear()
    active.activate(target)
    name = _plain(function.__name__)
    result = compile_function(function, tuple(map(numba_type, arguments)), target, kernel=True)
    words = function.__code__.co_varnames[: function.__code__.co_argcount]
    entry, parameters = write_entry(target.target_context, result, name, arguments, words, kernel_convention)
    texts = [_text(module, launch) for module in [entry, *result.library.modules()]]
    modules = Modules(launch, architecture, name)
    optimised = modules.optimised(texts, target.target_context.sources)
    optimised, used = _without_unused(optimised, name, parameters)
    data = modules.translated(optimised, [(one.name, one.c_type.endswith("image_handle")) for one in used])
    listed = tuple(Parameter(p.name, p.c_type, p.kind, p.size) for p in used)
    signature = KernelSignature(name, listed, group_function=target.typing_context.group_function)
    section = Section(launch.language, architecture if launch.language == "ptx" else "", (name,), data)
    file = KernelFile((signature,), (section,), function.__code__.co_filename, "", versions)
    return CompiledKernel(file.to_bytes(), tuple(parameter.path for parameter in used))


def target_of(language: str) -> KernelTarget:
    """Return Numba's target of a language."""
    triple, layout, _, _ = _TARGETS[language]
    return kernel_target(triple, layout)


def _text(module: IrModule, launch: LaunchFacts) -> str:
    """Return the LLVM IR of a module, in which functions are inlined."""
    for value in module.globals.values():
        if isinstance(value, ir.Function) and value.blocks and not value.calling_convention.endswith("_kernel"):
            value.attributes.add("alwaysinline")
    text = str(module)
    return with_generic_pointers(text) if launch.language == "spirv" else text


def _without_unused(text: str, name: str, parameters: Sequence[EntryParameter]) -> tuple[str, list[EntryParameter]]:
    """Remove the parameters that an optimised kernel does not use."""
    match = re.search(rf'^define [^@\n]*@"?{re.escape(name)}"?\(', text, re.MULTILINE)
    assert match is not None
    listed, after = _listed(text, match.end())
    body = text[after : text.index("\n}\n", after)]
    used = {int(number) for number in _PARAMETER.findall(body)}
    rest = [part for number, part in enumerate(listed) if number in used]
    text = f"{text[: match.end()]}{', '.join(rest)}{text[after:]}"
    return text, [parameter for number, parameter in enumerate(parameters) if number in used]


def _listed(text: str, first: int) -> tuple[list[str], int]:
    """Return the parts of a list that a parenthesis closes, and the place of that parenthesis."""
    parts, depth, place = [], 0, first
    while depth or text[place] != ")":
        letter = text[place]
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and depth == 0:
            parts.append(text[first:place].strip())
            first = place + 1
        place += 1
    last = text[first:place].strip()
    return ([*parts, last] if last else parts), place


def _plain(name: str) -> str:
    """Return a name that every target's assembler accepts."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
