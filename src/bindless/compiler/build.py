"""``build``: compilation of one source of kernels to one file for all targets."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..model.errors import BuildError, InvalidError
from ..model.module import ptx, spirv
from ..model.module.description import KernelSignature, Parameter
from ..model.module.kernel_file import KernelFile, Section
from .build_cache import BuildCache, current_time, rules_in
from .llvm.find_toolchain import find_toolchain
from .llvm.kernel_metadata import KernelWords
from .llvm.toolchain import TARGETS, TargetSettings, Toolchain, include_folder
from .pipeline import CompiledModule, make_user_module
from .process.child_process import run_tool
from .process.time_limit import Deadline
from .source.handle_lowering import make_source
from .source_arguments import clang_options, read_source

__all__ = ["build"]

_OLDEST = "sm_75"
_LEVELS = {0: "O0", 1: "O1", 2: "O2", 3: "O3"}
_OPENCL = "opencl_c"
_ALL = ("spirv", "ptx", _OPENCL)
# OpenCL C version for checking texts for OpenCL devices; each device's compiler decides which version it accepts.
_STANDARD = "CL3.0"


def build(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    targets: Sequence[str] | None = None,
    defines: Mapping[str, object] | Sequence[str] = (),
    includes: Sequence[str | os.PathLike[str]] = (),
    optimization: int = 2,
    options: Sequence[str] = (),
    architecture: str = _OLDEST,
) -> KernelFile:
    """Compile kernels in OpenCL C with clang and LLVM, for all targets at once.

    ``#include <bindless/device.h>`` declares the device functions for images. ``load_kernel_bundle`` takes the result,
    or the name of its file. ``spirv-val`` and ``ptxas`` check it where they are on PATH.

    Parameters
    ----------
    source
        The text of the kernels, or the path of a file: a string without line breaks and braces is a path.
    output
        A file to write; its usual suffix is ``.blk``.
    targets
        ``spirv`` (Level Zero and the reference device), ``ptx`` (NVIDIA GPUs), ``opencl_c`` (OpenCL devices),
        or some of them; all by default. By default ``opencl_c`` is left out, with a note in ``log``, if a handle
        is not a parameter.
    defines
        Macros: values by name, or ``"NAME"`` and ``"NAME=VALUE"``.
    includes
        Folders of headers.
    optimization
        0 to 3.
    options
        Additional clang options, such as ``"-Werror"``.
    architecture
        The oldest supported NVIDIA GPU, ``sm_75`` or newer.

    Returns
    -------
    KernelFile
        The file's contents; ``log`` holds warnings.

    Raises
    ------
    InvalidError
        An argument is none of these, a file cannot be read or written, or the output is the source.
    FeatureNotSupportedError
        Clang or LLVM is missing; the message explains how to install them.
    BuildError
        The source does not compile, or takes longer than ``BINDLESS_BUILD_TIMEOUT`` seconds; ``log`` holds the
        compiler's output.
    """
    names = _targets(targets)
    if type(optimization) is not int or optimization not in _LEVELS:
        raise InvalidError(f"optimization={optimization!r}: it is 0, 1, 2 or 3")
    if not isinstance(architecture, str) or not re.fullmatch(r"sm_(7[5-9]|[89]\d|1\d\d)[af]?", architecture):
        raise InvalidError(f"architecture={architecture!r}: it is sm_75, or a newer one such as sm_90")
    flags = clang_options(defines, includes, options)
    deadline = Deadline()
    text, name, folder = read_source(source)
    if output is not None and folder is not None and _is_same(folder / name, output):
        raise InvalidError(f"output={os.fspath(output)} is the source: name another file")
    job = _Job(text, name, folder, names, targets is not None, _LEVELS[optimization], tuple(flags), architecture)
    tools = find_toolchain()
    tools.deadline = deadline
    cache = BuildCache(tools, text, folder / name if folder else None, job.words())
    result = cache.get()
    if result is None:
        with tools, tempfile.TemporaryDirectory(prefix="bindless-build-") as place:
            start = current_time()
            result = _build(job, tools, Path(place))
            cache.put(result, Path(place), start, lambda: _searched(job, tools, Path(place)))
    if output is not None:
        result.save(output)
    return result


@dataclass(frozen=True)
class _Job:
    """One build.

    Attributes
    ----------
    text
        The source.
    name
        Name of the source.
    folder
        Folder of the source, or None.
    targets
        Names of the targets.
    required
        Whether a target that cannot be built is an error.
    level
        Optimisation level, as LLVM names it.
    flags
        Clang options.
    architecture
        The oldest NVIDIA GPU.
    """

    text: bytes
    name: str
    folder: Path | None
    targets: tuple[str, ...]
    required: bool
    level: str
    flags: tuple[str, ...]
    architecture: str

    def words(self) -> list[str]:
        """Return all settings except the source and its folder."""
        return [self.name, *self.targets, str(self.required), self.level, self.architecture, *self.flags]


def _build(job: _Job, tools: Toolchain, work: Path) -> KernelFile:
    """Build the file in a scratch folder."""
    name = job.name
    untested = tools.untested()
    if untested:
        tools.warnings.append(untested)
    file = work / name if job.folder is None else job.folder / name
    if job.folder is None:
        file.write_bytes(job.text)
    modules: dict[str, CompiledModule] = {}
    # OpenCL C text has no argument sizes: if it is the only target, SPIR-V provides them.
    for target in [target for target in job.targets if target != _OPENCL] or ["spirv"]:
        part = work / target
        part.mkdir()
        settings = _settings(target, job.architecture)
        command = [*job.flags, "-cl-kernel-arg-info", "-fno-discard-value-names", *rules_in(part)]
        modules[target] = make_user_module(file, target, command, job.level, settings, tools, part, include_folder())
        _check(modules[target].data, target, job.architecture, name, part, tools)
    sections = [
        Section(target, job.architecture if target == "ptx" else "", tuple(k.name for k in module.kernels), module.data)
        for target, module in modules.items()
        if target in job.targets
    ]
    if _OPENCL in job.targets:
        sections += _opencl_section(file, job.flags, tools, work, required=job.required)
    return KernelFile(
        _signatures(modules, sections),
        tuple(sections),
        name,
        hashlib.sha256(job.text).hexdigest(),
        tools.versions(),
        (f"-O{job.level[1:]}", *job.flags),
        "\n".join(dict.fromkeys(tools.warnings)),
    )


# ------------------------------------------------------------------ arguments


def _is_same(source: Path, output: str | os.PathLike[str]) -> bool:
    return os.path.exists(output) and os.path.samefile(source, output)


def _targets(targets: Sequence[str] | None) -> tuple[str, ...]:
    if targets is None:
        return _ALL
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    unknown = [target for target in names if target not in _ALL]
    if unknown or not names:
        raise InvalidError(f"targets={targets!r}: it is one or more of {', '.join(_ALL)}")
    return tuple(dict.fromkeys(names))


def _settings(target: str, architecture: str) -> TargetSettings:
    """Return the settings of a target; a newer GPU needs a newer version of PTX."""
    settings = TARGETS[target]
    if target != "ptx" or architecture == _OLDEST:
        return settings
    return replace(settings, cpu=architecture, features="")


def _searched(job: _Job, tools: Toolchain, work: Path) -> list[str]:
    """Return the folders where clang looks for headers."""
    return tools.search_folders(work, _settings("spirv", job.architecture), [*job.flags, f"-I{include_folder()}"])


# ------------------------------------------------------------------ results


def _opencl_section(
    file: Path, flags: Sequence[str], tools: Toolchain, work: Path, *, required: bool
) -> tuple[Section, ...]:
    """Return the text for OpenCL devices; none, with a warning, if it cannot be built and is not required."""
    part = work / _OPENCL
    part.mkdir()
    try:
        data, kernels = make_source(file, [*flags, f"-I{include_folder()}", *rules_in(part)], tools, part, _STANDARD)
    except BuildError as error:
        if required:
            raise
        tools.warnings.append(f"note: there is nothing for OpenCL devices: {error}")
        return ()
    return (Section(_OPENCL, "", kernels, data),)


def _signatures(modules: Mapping[str, CompiledModule], sections: Sequence[Section]) -> tuple[KernelSignature, ...]:
    """Combine names and types from the source with sizes from the modules, including kernels that #if excludes for a
    target.
    """
    words: dict[str, KernelWords] = {}
    binary: dict[str, KernelSignature] = {}
    for target, module in modules.items():
        words.update({kernel.name: kernel for kernel in module.kernels})
        kernels = ptx.entries(module.data) if target == "ptx" else spirv.describe(module.data).kernels
        for name, signature in kernels.items():
            other = binary.setdefault(name, signature)
            if _sizes(other) != _sizes(signature):
                targets = " and ".join(modules)
                raise BuildError(f"kernel {name!r} takes other arguments in {targets}: {other}, {signature}")
    for section in sections:
        for name in section.kernels:
            words.setdefault(name, KernelWords(name, (), (), ()))
    return tuple(_signature(words[name], binary.get(name)) for name in sorted(words))


def _sizes(signature: KernelSignature) -> list[int] | None:
    """Return the sizes of the parameters in bytes."""
    if signature.parameters is None:
        return None
    return [parameter.size for parameter in signature.parameters]


def _signature(words: KernelWords, binary: KernelSignature | None) -> KernelSignature:
    binary_parameters = binary.parameters if binary is not None else None
    parameters = None
    if binary_parameters is not None and len(binary_parameters) == len(words.kinds):
        parameters = tuple(
            Parameter(name, type_, kind, parameter.size)
            for name, type_, kind, parameter in zip(words.names, words.types, words.kinds, binary_parameters)
        )
    return KernelSignature(words.name, parameters, words.required_work_group_size, words.work_group_size_hint)


def _check(data: bytes, target: str, architecture: str, name: str, folder: Path, tools: Toolchain) -> None:
    """Check a module with the vendor's tool, where it is installed."""
    artifact = folder / "checked"
    artifact.write_bytes(data)
    if target == "ptx":
        command = [shutil.which("ptxas"), f"-arch={architecture}", str(artifact), "-o", str(folder / "cubin")]
    else:
        command = [shutil.which("spirv-val"), str(artifact)]
    if command[0] is None:
        return
    process = run_tool([str(word) for word in command], tools.deadline or Deadline())
    output = (process.stdout + process.stderr).decode(errors="replace").strip()
    # Tools that are older than the extension or the GPU cannot check the module.
    if (
        process.returncode == 0
        or "Invalid capability operand: 6528" in output
        or "not defined for option 'gpu-name'" in output
    ):
        return
    raise BuildError(f"{name}: {command[0]} refuses the {target} of its kernels:\n{output}", log=output)
