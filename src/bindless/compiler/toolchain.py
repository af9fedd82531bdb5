"""The steps from OpenCL C to PTX and SPIR-V, and the compiler's options. Nothing about the kernels.

clang compiles to LLVM IR; linking, optimisation and translation are those of an implementation: LLVM's tools
(``llvm_tools``) or libraries from pip (``pip_tools``). ``find_toolchain`` chooses one.
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

from ..model.errors import BuildError, FeatureNotSupportedError

__all__ = ["COMPILE", "TARGETS", "TESTED", "Target", "Toolchain", "include_folder", "run"]


@dataclass(frozen=True)
class Target:
    """How one kind of artifact is made.

    Attributes:
        triple: of the compiler.
        machine: triple of the code generator.
        cpu: oldest processor, as LLVM names it.
        features: of the processor, as LLVM lists them.
        options: of the code generator.
        binary: whether the artifact is an object file, and no text.
    """

    triple: str
    machine: str
    cpu: str = ""
    features: str = ""
    options: tuple[str, ...] = ()
    binary: bool = False


TARGETS: Mapping[str, Target] = {
    # Turing and newer; PTX 6.3 is the oldest that knows sm_75, so that old drivers take it.
    "ptx": Target("nvptx64-nvidia-cuda", "nvptx64", "sm_75", "+ptx63", ("-disable-lsr",)),
    "spirv": Target(
        "spirv64-unknown-unknown",
        "spirv64-unknown-unknown",
        options=(
            # Declared by modules that use them: sub_group_rotate, bitfield_insert, dot_4x8packed, atomics of floats.
            "--spirv-ext=+SPV_INTEL_bindless_images,+SPV_KHR_subgroup_rotate,+SPV_KHR_bit_instructions,"
            "+SPV_KHR_integer_dot_product,+SPV_KHR_uniform_group_instructions,+SPV_INTEL_subgroups,"
            "+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max",
        ),
        binary=True,
    ),
}

# Passes are left to `opt`, which sees the prelude too. Divisions stay IEEE's and products are never fused.
COMPILE = (
    "-x", "cl", "-cl-std=CL3.0", "-O1", "-Xclang", "-disable-llvm-passes", "-ffp-contract=off", "-fno-jump-tables",
    "-Xclang", "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-cl-ext=+cl_khr_fp16",
    "-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins",
    "-Wall", "-Wextra", "-Wno-unused-parameter",
)  # fmt: skip
# The package's own kernels are compiled without a warning.
STRICT = ("-Werror",)
OUTPUT = ("-emit-llvm", "-S")
TESTED = 22
"""The version of LLVM that the package's own kernels are made with, and that its tests know."""


VARIABLE = "BINDLESS_LLVM"
INSTALL_PIP = "pip install 'bindless[kernels]'"
INSTALL = (
    f"Install one with `{INSTALL_PIP}` (Linux, macOS, Windows), or with `apt-get update && apt-get install clang-22 "
    "llvm-22` (Debian, Ubuntu; https://apt.llvm.org has the packages for older releases: `wget "
    "https://apt.llvm.org/llvm.sh && bash llvm.sh 22`), or with `conda install -c conda-forge clang=22 llvm-tools=22`; "
    f"{VARIABLE} chooses: `pip`, `path`, or a folder with LLVM's tools."
)
LIBRARY = "nvptx64--.bc"


class Toolchain(ABC):
    """A compiler, and what links, optimises and translates its output. A context manager: `close` ends its processes.

    Attributes:
        clang: the command, without options.
        headers: options that name folders of headers which clang has not.
        warnings: what clang said of sources that it compiled.
    """

    clang: Sequence[str]
    headers: Sequence[str] = ()

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
        """What it is and where it lies, for `bindless doctor`."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Version line of each tool."""

    @abstractmethod
    def files(self) -> list[Path]:
        """Files that are others in every other version of it."""

    @abstractmethod
    def untested(self) -> str | None:
        """The warning that its version of LLVM is none that is tested, or None."""

    @abstractmethod
    def link(self, modules: Sequence[Path], output: Path, library: Path | None = None) -> Path:
        """One module from several; equal definitions of inline functions are internal to each.

        Args:
            library: of which only the functions that are used are taken.
        """

    @abstractmethod
    def promote(self, module: Path, output: Path) -> Path:
        """LLVM IR whose variables are in registers, as far as they can be; nothing else is changed."""

    @abstractmethod
    def optimise(self, module: Path, output: Path, kernels: Sequence[str], level: str = "O2") -> Path:
        """Only the kernels stay visible, so that everything else is inlined or dropped."""

    @abstractmethod
    def translate(self, module: Path, output: Path, target: Target) -> bytes:
        """The artifact's bytes."""

    @abstractmethod
    def library(self) -> Path | None:
        """libclc for NVIDIA GPUs, or None: the package's own functions serve then.

        Raises:
            FeatureNotSupportedError: ``BINDLESS_LIBCLC`` names no file.
        """

    def close(self) -> None:  # noqa: B027 - most have none
        """Ends processes that it has started; the next step starts them again."""

    def compile(
        self,
        source: Path,
        output: Path,
        target: Target,
        includes: Sequence[Path],
        defines: Mapping[str, str],
        options: Sequence[str] = STRICT,
    ) -> Path:
        """LLVM IR text of one compilation of an OpenCL C source.

        Raises:
            BuildError: it does not compile; ``log`` holds clang's words.
        """
        flags = [f"-I{path}" for path in includes] + [f"-D{name}={value}" for name, value in defines.items()]
        command = [*self.clang, *COMPILE, *self.headers, *options, *OUTPUT, "-target", target.triple, *flags]
        if target.machine.startswith("nvptx"):  # clang takes its version of PTX from a CUDA toolkit, or a very old one
            command += ["-Xclang", "-target-feature", "-Xclang", TARGETS["ptx"].features]
        done = subprocess.run([*command, str(source), "-o", str(output)], capture_output=True, check=False)
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode != 0:
            raise BuildError(f"{source.name} does not compile for {target.triple}:\n{said}", log=said)
        if said:
            self.warnings.append(said)
        # clang keeps an OpenCL kernel's body in a function of its own that it forbids to inline.
        output.write_text(re.sub(r"(?m)^(attributes .*?)\bnoinline ", r"\1", output.read_text()))
        return output

    def preprocess(self, source: Path, output: Path, target: Target, options: Sequence[str]) -> Path:
        """A source with its headers and without macros; what OpenCL C itself defines stays as it is."""
        language = ("-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", "-Xclang", "-cl-ext=+cl_khr_fp16")
        command = [*self.clang, "-E", *language, *options, "-Wno-everything", "-target", target.triple]
        run([*command, str(source), "-o", str(output)])
        return output

    def check(self, source: Path, target: Target, options: Sequence[str]) -> None:
        """Raises BuildError where a source is wrong; ``log`` holds clang's words."""
        command = [*self.clang, *COMPILE, *self.headers, *options, "-fsyntax-only"]
        run([*command, "-target", target.triple, str(source)])


def named_library() -> Path | None:
    """The file that ``BINDLESS_LIBCLC`` names, if it is set.

    Raises:
        FeatureNotSupportedError: there is no such file.
    """
    named = os.environ.get("BINDLESS_LIBCLC")
    if not named:
        return None
    if not Path(named).is_file():
        raise FeatureNotSupportedError(f"BINDLESS_LIBCLC={named}: no such file; libclc has {LIBRARY}")
    return Path(named)


def run(command: Sequence[str]) -> bytes:
    """The output of a command.

    Raises:
        FeatureNotSupportedError: it cannot be started.
        BuildError: it failed; ``log`` holds its words.
    """
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise FeatureNotSupportedError(f"{command[0]} cannot be run: {error}. {INSTALL}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise BuildError(f"{' '.join(command)}\nfailed with status {done.returncode}:\n{said}", log=said)
    return done.stdout


def include_folder() -> Path:
    """The folder with ``bindless/device.h``: the package's own, or the repository's where the package runs from it."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "include", package.parent.parent / "include"):
        if (folder / "bindless" / "device.h").is_file():
            return folder
    raise FeatureNotSupportedError(f"bindless/device.h is not in {package / 'include'}: install the package again")
