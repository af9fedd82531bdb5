"""Steps from OpenCL C to PTX and SPIR-V, and the compiler's options, independent of the kernels.

clang compiles to LLVM IR; an implementation links, optimises and translates: LLVM's tools (``llvm_tools``) or packages
from pip (``pip_tools``). ``find_toolchain`` selects one.
"""

from __future__ import annotations

import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ...model.errors import BuildError, FeatureNotSupportedError
from ..process.child_process import run_tool
from ..process.time_limit import Deadline
from .diagnostics import shortened

__all__ = [
    "COMPILE",
    "KEEP_LOOPS",
    "TARGETS",
    "TESTED",
    "UNROLL",
    "TargetSettings",
    "Toolchain",
    "include_folder",
    "run",
]


@dataclass(frozen=True)
class TargetSettings:
    """Settings of one kind of artifact.

    Attributes
    ----------
    triple
        Triple of the compiler.
    machine
        Triple of the code generator.
    cpu
        Oldest processor, as LLVM names it.
    features
        Features of the processor, as LLVM lists them.
    options
        Options of the code generator.
    binary
        Whether the artifact is an object file instead of text.
    """

    triple: str
    machine: str
    cpu: str = ""
    features: str = ""
    options: tuple[str, ...] = ()
    binary: bool = False


TARGETS: Mapping[str, TargetSettings] = {
    # Turing and newer; PTX 6.3 is the first version with sm_75, so that old drivers accept it.
    "ptx": TargetSettings("nvptx64-nvidia-cuda", "nvptx64", "sm_75", "+ptx63", ("-disable-lsr",)),
    "spirv": TargetSettings(
        "spirv64-unknown-unknown",
        "spirv64-unknown-unknown",
        options=(
            # Modules declare them if used: sub_group_rotate, bitfield_insert, dot_4x8packed, atomics of floats.
            "--spirv-ext=+SPV_INTEL_bindless_images,+SPV_KHR_subgroup_rotate,+SPV_KHR_bit_instructions,"
            "+SPV_KHR_integer_dot_product,+SPV_KHR_uniform_group_instructions,+SPV_INTEL_subgroups,"
            "+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max",
        ),
        binary=True,
    ),
}

# `opt` runs the passes, after the prelude is linked. Divisions conform to IEEE 754 and products are never fused.
COMPILE = (
    "-x", "cl", "-cl-std=CL3.0", "-O1", "-Xclang", "-disable-llvm-passes", "-ffp-contract=off", "-fno-jump-tables",
    "-Xclang", "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-cl-ext=+cl_khr_fp16",
    "-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins",
    "-Wall", "-Wextra", "-Wno-unused-parameter",
)  # fmt: skip
# The package's own kernels are compiled without a warning.
STRICT = ("-Werror",)
# Closed forms of sums over loops need integers of 65 bits, which SPIR-V does not have.
KEEP_LOOPS = "-replexitval=never"
# clang -O1 marks every loop as not to be unrolled, a mark that NVIDIA's compiler obeys, too.
UNROLL = ("-funroll-loops",)
OUTPUT = ("-emit-llvm", "-S")
TESTED = 22
"""Tested version of LLVM; the package's own kernels are built with it."""


VARIABLE = "BINDLESS_LLVM"
INSTALL_PIP = "pip install 'bindless[kernels]'"
INSTALL = (
    f"Install one with `{INSTALL_PIP}` (Linux, macOS, Windows), or with `apt-get update && apt-get install clang-22 "
    "llvm-22` (Debian, Ubuntu; https://apt.llvm.org has the packages for older releases: `wget "
    "https://apt.llvm.org/llvm.sh && bash llvm.sh 22`), or with `conda install -c conda-forge clang=22 llvm-tools=22`; "
    f"{VARIABLE} chooses: `pip`, `path`, or a folder with LLVM's tools."
)
LIBRARY = "nvptx64--.bc"
_MOST_SAID = 500  # letters of an output in a message


class Toolchain(ABC):
    """A compiler, linker, optimiser and translator. A context manager: `close` ends its processes.

    Attributes
    ----------
    clang
        The command, without options.
    headers
        Options for folders of headers that clang lacks.
    warnings
        Clang's warnings about the compiled sources.
    deadline
        The end of the build; without one, each step has the whole time limit.
    """

    clang: Sequence[str]
    headers: Sequence[str] = ()
    deadline: Deadline | None = None

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def __enter__(self) -> Toolchain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    @abstractmethod
    def name(self) -> str:
        """Description and location, for `bindless doctor`."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the version line of each tool."""

    @abstractmethod
    def files(self) -> list[Path]:
        """Return files that differ in every other version of the toolchain."""

    @abstractmethod
    def untested(self) -> str | None:
        """Return a warning if the version of LLVM is not a tested one, else None."""

    @abstractmethod
    def link(self, modules: Sequence[Path], output: Path, library: Path | None = None) -> Path:
        """Link several modules to one; definitions of inline functions are internal to each module.

        Parameters
        ----------
        modules
            Files of LLVM IR.
        output
            The linked module.
        library
            Linked last; only its used functions are taken.
        """

    @abstractmethod
    def promote(self, module: Path, output: Path) -> Path:
        """Move variables of LLVM IR into registers where possible, without other changes."""

    @abstractmethod
    def optimise(
        self, module: Path, output: Path, kernels: Sequence[str], level: str = "O2", options: Sequence[str] = ()
    ) -> Path:
        """Optimise a module in which only the kernels stay visible: everything else is inlined or dropped.

        Parameters
        ----------
        options
            Of LLVM's passes.
        """

    @abstractmethod
    def translate(self, module: Path, output: Path, target: TargetSettings) -> bytes:
        """Return the artifact's bytes."""

    @abstractmethod
    def library(self) -> Path | None:
        """Return libclc for NVIDIA GPUs, or None: the package's own functions then replace it.

        Raises
        ------
        FeatureNotSupportedError
            The file of ``BINDLESS_LIBCLC`` does not exist.
        """

    def close(self) -> None:  # noqa: B027 - most have none
        """End the worker processes; the next step starts them again."""

    def compile(
        self,
        source: Path,
        output: Path,
        target: TargetSettings,
        includes: Sequence[Path],
        defines: Mapping[str, str],
        options: Sequence[str] = STRICT,
    ) -> Path:
        """Compile an OpenCL C source to LLVM IR text.

        Raises
        ------
        BuildError
            The source does not compile; ``log`` holds clang's output.
        """
        flags = [f"-I{path}" for path in includes] + [f"-D{name}={value}" for name, value in defines.items()]
        command = [*self.clang, *COMPILE, *self.headers, *options, *OUTPUT, "-target", target.triple, *flags]
        if target.machine.startswith("nvptx"):  # clang takes the PTX version from a CUDA toolkit, else a very old one
            command += ["-Xclang", "-target-feature", "-Xclang", TARGETS["ptx"].features]
        process = _process([*command, str(source), "-o", str(output)], self.deadline)
        messages = process.stderr.decode(errors="replace").strip()
        if process.returncode != 0:
            short = shortened(messages, include_folder()) or f"clang ended with status {process.returncode}"
            raise BuildError(f"{source.name} does not compile for {target.triple}:\n{short}", log=messages)
        if messages:
            self.warnings.append(messages)
        if not output.is_file():
            output_text = process.stdout.decode(errors="replace").strip()[:_MOST_SAID]
            raise BuildError(
                f"{source.name}: clang ends without an error and writes no module, because of one of its options "
                f"{' '.join(options)!r}; it says:\n{messages or output_text}",
                log=messages,
            )
        # clang keeps an OpenCL kernel's body in a separate function with the attribute noinline.
        output.write_text(re.sub(r"(?m)^(attributes .*?)\bnoinline ", r"\1", output.read_text()))
        return output

    def preprocess(self, source: Path, output: Path, target: TargetSettings, options: Sequence[str]) -> Path:
        """Preprocess a source: headers included, macros expanded, except OpenCL C's own definitions."""
        language = ("-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", "-Xclang", "-cl-ext=+cl_khr_fp16")
        command = [*self.clang, "-E", *language, *options, "-Wno-everything", "-target", target.triple]
        run([*command, str(source), "-o", str(output)], self.deadline)
        return output

    def search_folders(self, folder: Path, target: TargetSettings, options: Sequence[str]) -> list[str]:
        """Return the folders where clang looks for headers, and those that do not exist yet.

        Parameters
        ----------
        folder
            For a source without text.
        options
            Of the compilation.
        """
        source = folder / "empty.cl"
        source.write_text("")
        command = [*self.clang, "-E", "-v", *COMPILE, *self.headers, *options, "-target", target.triple, str(source)]
        messages = os.fsdecode(_process([*command, "-o", os.devnull], self.deadline).stderr)
        listing = messages.partition("search starts here:")[2].splitlines()
        folders = [line[1:] for line in listing if line.startswith(" ")]
        return [*folders, *re.findall(r'^ignoring nonexistent directory "(.*)"$', messages, re.MULTILINE)]

    def check(self, source: Path, target: TargetSettings, options: Sequence[str]) -> None:
        """Raise BuildError for an invalid source; ``log`` holds clang's output."""
        command = [*self.clang, *COMPILE, *self.headers, *options, "-fsyntax-only"]
        run([*command, "-target", target.triple, str(source)], self.deadline)


def named_library() -> Path | None:
    """Return the file of ``BINDLESS_LIBCLC``, if it is set.

    Raises
    ------
    FeatureNotSupportedError
        The file does not exist.
    """
    file = os.environ.get("BINDLESS_LIBCLC")
    if not file:
        return None
    if not Path(file).is_file():
        raise FeatureNotSupportedError(f"BINDLESS_LIBCLC={file}: no such file; libclc has {LIBRARY}")
    return Path(file)


def run(command: Sequence[str], deadline: Deadline | None = None) -> bytes:
    """Run a command and return its output.

    Parameters
    ----------
    deadline
        The end of the build; without one, the command has the whole time limit.

    Raises
    ------
    FeatureNotSupportedError
        The command cannot be started.
    BuildError
        The command failed, or the time limit passed; ``log`` holds its output.
    """
    process = _process(command, deadline)
    if process.returncode != 0:
        messages = process.stderr.decode(errors="replace")
        raise BuildError(f"{' '.join(command)}\nfailed with status {process.returncode}:\n{messages}", log=messages)
    return process.stdout


def _process(command: Sequence[str], deadline: Deadline | None) -> subprocess.CompletedProcess[bytes]:
    try:
        return run_tool(command, deadline or Deadline())
    except OSError as error:
        raise FeatureNotSupportedError(f"{command[0]} cannot be run: {error}. {INSTALL}") from error


def include_folder() -> Path:
    """Return the folder with ``bindless/device.h``: the package's own, or the repository's in a source checkout."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "include", package.parent.parent / "include"):
        if (folder / "bindless" / "device.h").is_file():
            return folder
    raise FeatureNotSupportedError(f"bindless/device.h is not in {package / 'include'}: install the package again")
