"""Linking, optimisation and translation of a kernel's LLVM IR, as the compiler of OpenCL C does it, in this process."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import llvmlite.binding as llvm

from ...compiler.llvm import llvmlite_worker as tools
from ...compiler.llvm.find_toolchain import find_toolchain
from ...compiler.llvm.texture_assembly import with_assembly
from ...compiler.llvm.toolchain import TARGETS, TargetSettings, Toolchain, include_folder
from ...compiler.prelude import ptx_images, ptx_work_items, spirv_image_arguments, spirv_images, spirv_work_items
from ...compiler.ptx.dynamic_shared_memory import with_local_arguments
from ...compiler.ptx.missing_functions import definitions, features
from ...compiler.spirv.array_lengths import require_array_lengths
from ...compiler.spirv.atomics import in_their_memory, with_atomics
from ...compiler.spirv.constant_offsets import with_instructions
from ...compiler.spirv.conversions import with_conversions
from ...compiler.spirv.image_arguments import with_image_arguments
from ...compiler.spirv.image_instructions import with_image_instructions
from ...compiler.spirv.null_events import with_plain_nulls
from ...compiler.spirv.printf import with_plain_printf
from ...compiler.spirv.relational import with_relations
from ...compiler.spirv.reversals import with_whole_reversals
from ...device.declaration import LaunchFacts
from ...model.errors import BuildError, FeatureNotSupportedError
from .exchange_results import with_single_results
from .index_checks import DRIVER_PREFIX, with_pure_checks
from .line_table import with_decorations, with_lines
from .memory_spaces import with_memory_spaces

__all__ = ["Modules"]

_OLDEST = "sm_75"
_TURNS = 3
_OF_THE_DRIVER = ("vprintf",)  # defined by NVIDIA's compiler
# Ids and sizes of work-items: numbers from 0 on, so that indices with them are not tested for Python's negative ones.
_ROUNDED = re.compile(r"= (fmul|fadd|fsub) (?=half|float|double|<)")  # of Numba's code, without flags
_NOT_NEGATIVE = re.compile(r"declare spir_func i64 (@_Z\d+get_\w+j\(i32\))$", re.MULTILINE)


class Modules:
    """The steps for one kernel.

    Parameters
    ----------
    launch
        What it is compiled for.
    architecture
        The GPU, for PTX.
    name
        Of the kernel.
    """

    def __init__(self, launch: LaunchFacts, architecture: str, name: str) -> None:
        self._ptx = launch.language == "ptx"
        self._name = name
        self._contract = launch.contract
        self._image_arguments = launch.image_arguments
        settings = TARGETS[launch.language]
        if self._ptx and architecture != _OLDEST:
            settings = replace(settings, cpu=architecture, features="")
        self._settings: TargetSettings = settings

    def optimised(self, texts: Sequence[str], sources: Mapping[str, str]) -> str:
        """Link the modules with what they call, and optimise; return LLVM IR."""
        module = llvm.parse_assembly(texts[0])
        for text in texts[1:]:
            module.link_in(llvm.parse_assembly(text))
        text = str(module)
        if self._contract:
            text = _ROUNDED.sub(r"= \1 contract ", text)
        text = with_local_arguments(text) if self._ptx else _with_functions(with_pure_checks(text))
        module = llvm.parse_assembly(text)
        for prelude in self._preludes(text):
            module.link_in(llvm.parse_assembly(prelude))
        if sources or self._ptx:
            self._define(module, sources)
        tools.internalize(module, {self._name})
        builder = tools.pass_builder(module, 2)
        builder.getModulePassManager().run(module, builder)
        tools.tidy(module, builder)
        return str(module)

    def translated(self, text: str, parameters: Sequence[tuple[str, bool]]) -> bytes:
        """Translate optimised LLVM IR to the module that drivers load.

        Parameters
        ----------
        parameters
            Of the kernel: the name in the source, and whether it is an image handle.
        """
        if self._ptx:
            return self._translate(with_assembly(text))
        require_array_lengths(text, self._name)
        text = with_memory_spaces(with_decorations(with_single_results(text)))
        data = with_plain_nulls(self._translate(in_their_memory(with_instructions(with_whole_reversals(text)))))
        if self._image_arguments:
            data = with_image_arguments(data, parameters)
        return with_image_instructions(with_lines(data), DRIVER_PREFIX)

    def _preludes(self, text: str) -> list[str]:
        if self._ptx:
            return [ptx_images.module(), ptx_work_items.module()]
        found = [
            _NOT_NEGATIVE.sub(
                r"declare spir_func range(i64 0, -9223372036854775808) i64 \1 nounwind willreturn memory(none)",
                spirv_images.module(images=False),
            )
        ]
        if self._image_arguments and "@__bindless_" in text:
            found.append(spirv_image_arguments.module())
        return [*found, spirv_work_items.module()] if spirv_work_items.is_needed(text) else found

    def _translate(self, text: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="bindless-kernel-") as place:
            source, output = Path(place, "module.ll"), Path(place, "artifact")
            source.write_text(text)
            settings = self._settings
            tools.apart(
                lambda: tools.translate(
                    str(source), str(output), settings.machine, settings.cpu, settings.features,
                    list(settings.options), settings.binary,
                )
            )  # fmt: skip
            return output.read_bytes()

    def _define(self, module: llvm.ModuleRef, sources: Mapping[str, str]) -> None:
        """Link functions that are written in OpenCL C: those of the calls, and the library for NVIDIA GPUs."""
        missing = [name for name in _missing(module) if self._ptx or name in sources]
        if not missing:
            return
        with _clang() as toolchain, tempfile.TemporaryDirectory(prefix="bindless-kernel-") as place:
            folder = Path(place)
            needed = [sources[name] for name in missing if name in sources]
            if needed:
                source = folder / "calls.cl"
                source.write_text("\n".join(["#include <bindless/device.h>", *dict.fromkeys(needed), ""]))
                known = features(folder) if self._ptx else ()
                made = toolchain.compile(
                    source, folder / "calls.ll", self._settings, [include_folder()], {}, (*known, "-w")
                )
                module.link_in(llvm.parse_assembly(made.read_text()))
            for turn in range(_TURNS if self._ptx else 0):
                part = folder / f"definitions{turn}"
                part.mkdir()
                parts = definitions(str(module), self._name, self._settings, toolchain, part, libclc=False)
                if not parts:
                    break
                for path in parts:
                    module.link_in(llvm.parse_assembly(path.read_text()))
        missing = _missing(module) if self._ptx else []
        if missing:
            raise BuildError(f"{self._name} calls {', '.join(missing)}, which NVIDIA GPUs do not have here")


def _clang() -> Toolchain:
    """Return the compiler of OpenCL C.

    Raises
    ------
    FeatureNotSupportedError
        It is not installed.
    """
    try:
        return find_toolchain()
    except FeatureNotSupportedError as error:
        raise FeatureNotSupportedError(f"it calls functions in OpenCL C: {error}") from None


def _missing(module: llvm.ModuleRef) -> list[str]:
    return sorted(
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith("llvm.") and function.name not in _OF_THE_DRIVER
    )


def _with_functions(text: str) -> str:
    """For SPIR-V: define the functions of OpenCL C that LLVM's translator lacks."""
    return with_plain_printf(with_relations(with_atomics(with_conversions(text))))
