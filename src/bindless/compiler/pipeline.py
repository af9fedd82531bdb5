"""Compilation of one OpenCL C source to a target's module: compile, link with the prelude, optimise, translate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import BuildError
from .llvm.kernel_metadata import KernelWords, read_kernels
from .llvm.toolchain import KEEP_LOOPS, STRICT, TARGETS, UNROLL, TargetSettings, Toolchain
from .prelude import ptx_images, ptx_work_items, spirv_images, spirv_work_items
from .ptx.dynamic_shared_memory import with_local_arguments
from .ptx.missing_functions import definitions, features
from .spirv.array_lengths import require_array_lengths
from .spirv.atomics import in_their_memory, with_atomics
from .spirv.constant_offsets import with_instructions
from .spirv.conversions import with_conversions
from .spirv.image_instructions import with_image_instructions
from .spirv.null_events import with_plain_nulls
from .spirv.printf import with_plain_printf
from .spirv.relational import with_relations
from .spirv.reversals import with_whole_reversals

__all__ = ["PRELUDES", "CompiledModule", "make_module", "make_user_module"]

PRELUDES = {"ptx": ptx_images.module, "spirv": spirv_images.module}

_UNDEFINED = re.compile(r'^declare [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
_DEFINED = re.compile(r'^define [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
_BODY = re.compile(r"^(define [^\n]*@__clang_ocl_kern_imp_[^\n]*\)[^\n#]*?) #", re.MULTILINE)  # of a kernel
_HANDED = re.compile(r"@__clang_ocl_kern_imp_[^\n]*")  # where the kernel hands its arguments to its body
_BY_VALUE = re.compile(r" byval\(%[\w.]+\)")  # a copy for the body; LLVM would keep it where the body calls functions
_TURNS = 3  # half functions call float functions, which call nothing
_MANGLED = re.compile(r"_Z(\d+)(.*)")


@dataclass(frozen=True)
class CompiledModule:
    """One module of a target, and its kernels."""

    data: bytes
    kernels: tuple[KernelWords, ...]


def make_module(
    source: Path,
    target: str,
    kernels: Sequence[str],
    toolchain: Toolchain,
    prelude: Path,
    folder: Path,
    includes: Sequence[Path],
    defines: Mapping[str, str],
    *,
    large: bool = False,
) -> bytes:
    """Compile kernels that need only OpenCL C and the prelude to one artifact. Each call uses its own folder.

    Parameters
    ----------
    large
        Whether kernels are larger than LLVM inlines by itself. llc refuses the SPIR-V of some with image instructions:
        it sees none, and the prelude has none then.
    """
    module = toolchain.compile(source, folder / "compiled.ll", TARGETS[target], includes, defines, STRICT)
    if large:
        text = _BODY.sub(r"\1 alwaysinline #", module.read_text())
        module.write_text(_HANDED.sub(lambda parameters: _BY_VALUE.sub("", parameters[0]), text))
    linked = toolchain.link([module, prelude], folder / "linked.ll")
    data = _translate(linked, TARGETS[target], list(kernels), toolchain, folder, "O2")
    return with_image_instructions(with_plain_nulls(data)) if large and target == "spirv" else data


def make_user_module(
    source: Path,
    target: str,
    options: Sequence[str],
    level: str,
    settings: TargetSettings,
    toolchain: Toolchain,
    folder: Path,
    include: Path,
) -> CompiledModule:
    """Compile a source with any kernels. LLVM translates only one kernel with images per module: it receives none.

    Raises
    ------
    BuildError
        The source does not compile, has no kernel, or uses functions that the target lacks.
    """
    enabled = features(folder) if target == "ptx" else ()
    unrolled = UNROLL if target == "ptx" and level in ("O2", "O3") else ()
    module = toolchain.compile(source, folder / "compiled.ll", settings, [include], {}, (*enabled, *unrolled, *options))
    text = module.read_text()
    kernels = read_kernels(text)
    if not kernels:
        raise BuildError(
            f"{source.name} has no kernel: one begins with `kernel void name(...)`, and is not left out by #if"
        )
    images = "@__bindless_" in text
    module.write_text(with_local_arguments(text) if target == "ptx" else _with_functions(text))
    parts = [module]
    preludes = (
        [ptx_images.module(), ptx_work_items.module()]
        if target == "ptx"
        else [spirv_images.module(images=False)]
        if images
        else []
    )
    if target == "spirv" and spirv_work_items.is_needed(text):
        preludes.append(spirv_work_items.module())
    for number, prelude in enumerate(preludes):
        parts.append(folder / f"prelude{number}.ll")
        parts[-1].write_text(prelude)
    linked = toolchain.link(parts, folder / "linked.ll")
    if target == "ptx":
        linked = _with_definitions(linked, settings, toolchain, folder, source.name)
        linked = _with_library(linked, toolchain, folder, source.name)
    names = [kernel.name for kernel in kernels]
    data = _translate(linked, settings, names, toolchain, folder, level, (KEEP_LOOPS,) if target == "spirv" else ())
    return CompiledModule(with_image_instructions(with_plain_nulls(data)) if target == "spirv" else data, kernels)


def _translate(
    linked: Path,
    target: TargetSettings,
    kernels: Sequence[str],
    toolchain: Toolchain,
    folder: Path,
    level: str,
    options: Sequence[str] = (),
) -> bytes:
    optimised = toolchain.optimise(linked, folder / "optimised.ll", kernels, level, options)
    if target.triple == TARGETS["spirv"].triple:
        text = optimised.read_text()
        require_array_lengths(text, ", ".join(kernels))
        optimised.write_text(in_their_memory(with_instructions(with_whole_reversals(text))))
    return toolchain.translate(optimised, folder / "artifact", target)


def _with_functions(text: str) -> str:
    """For SPIR-V: add the functions of OpenCL C that LLVM's translator lacks."""
    return with_plain_printf(with_relations(with_atomics(with_conversions(text))))


def _with_definitions(linked: Path, settings: TargetSettings, toolchain: Toolchain, folder: Path, name: str) -> Path:
    """Link the generated definitions, if the module uses any."""
    libclc = toolchain.library() is not None
    for turn in range(_TURNS):
        place = folder / f"definitions{turn}"
        place.mkdir()
        parts = definitions(linked.read_text(), name, settings, toolchain, place, libclc=libclc)
        if not parts:
            break
        linked = toolchain.link([linked, *parts], place / "linked.ll")
    return linked


def _with_library(linked: Path, toolchain: Toolchain, folder: Path, name: str) -> Path:
    """Link libclc's functions, if the module uses any.

    Raises
    ------
    BuildError
        The module uses functions that NVIDIA GPUs lack.
    """
    missing = _missing(linked)
    library = toolchain.library() if missing else None
    if library is not None:
        linked = toolchain.link([linked], folder / "complete.ll", library)
        missing = _missing(linked)
    if missing:
        raise BuildError(
            f"{name} uses {_listed(missing)}, which neither bindless/device.h nor {library or 'this package'} has for "
            "NVIDIA GPUs: do without, or leave the target ptx out"
        )
    return linked


def _missing(module: Path) -> list[str]:
    text = module.read_text()
    definitions = set(_DEFINED.findall(text))
    return sorted(name for name in _UNDEFINED.findall(text) if name not in definitions and not name.startswith("llvm."))


def _listed(names: Sequence[str]) -> str:
    """Return the functions by their names in the source, each once."""
    return ", ".join(dict.fromkeys(map(_plain, names)))


def _plain(name: str) -> str:
    match = _MANGLED.match(name)
    return match[2][: int(match[1])] if match else name
