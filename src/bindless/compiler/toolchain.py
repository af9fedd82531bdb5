"""From OpenCL C to PTX and SPIR-V with LLVM's tools: where they are, and the steps. Nothing about the kernels."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..model.errors import BuildError, FeatureNotSupportedError

__all__ = ["COMPILE", "TARGETS", "TESTED", "Target", "Toolchain", "include_folder"]


@dataclass(frozen=True)
class Target:
    """Options that make one kind of artifact."""

    triple: str
    translate: tuple[str, ...]


TARGETS: Mapping[str, Target] = {
    # Turing and newer; PTX 6.3 is the oldest that knows sm_75, so that old drivers take it.
    "ptx": Target(
        "nvptx64-nvidia-cuda",
        ("-mtriple=nvptx64", "-mcpu=sm_75", "-mattr=+ptx63", "-disable-lsr", "-asm-verbose=false"),
    ),
    "spirv": Target(
        "spirv64-unknown-unknown",
        (
            "-mtriple=spirv64-unknown-unknown",
            # Declared by modules that use them: sub_group_rotate, bitfield_insert, dot_4x8packed, atomics of floats.
            "--spirv-ext=+SPV_INTEL_bindless_images,+SPV_KHR_subgroup_rotate,+SPV_KHR_bit_instructions,"
            "+SPV_KHR_integer_dot_product,+SPV_KHR_uniform_group_instructions,+SPV_INTEL_subgroups,"
            "+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max",
            "-filetype=obj",
        ),
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
PASSES = "internalize,default<{level}>,strip-dead-prototypes"
TOOLS = ("clang", "llvm-link", "opt", "llc")
MAJORS = (22, 21, 20)
"""Versions of LLVM that have SPV_INTEL_bindless_images, best first."""
TESTED = MAJORS[0]
"""The one that the package's own kernels are made with, and that its tests know."""

_VARIABLE = "BINDLESS_LLVM"
_INSTALL = (
    "Install them with `apt install clang-22 llvm-22` (Debian, Ubuntu; https://apt.llvm.org has them for older "
    "releases: `wget https://apt.llvm.org/llvm.sh && bash llvm.sh 22`) or `conda install -c conda-forge clang=22 "
    f"llvm-tools=22`, or set {_VARIABLE} to the folder that holds them."
)
_LIBRARY = "nvptx64--.bc"
INSTALL_LIBRARY = "`apt install libclc-22`, or set BINDLESS_LIBCLC to the path of its nvptx64--.bc"


@dataclass(frozen=True)
class Toolchain:
    """Paths of the tools by their plain names.

    Attributes:
        tools: clang, llvm-link, opt and llc.
        warnings: what clang said of sources that it compiled.
    """

    tools: Mapping[str, str]
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def find(cls) -> Toolchain:
        """The tools of one version of LLVM: those in the folder ``BINDLESS_LLVM``, or else the newest there is.

        Raises:
            FeatureNotSupportedError: there are none; the message tells what was looked for and how to install them.
        """
        folder = os.environ.get(_VARIABLE)
        if folder:
            found = _in_folder(Path(folder))
            missing = [tool for tool in TOOLS if tool not in found]
            if missing:
                raise FeatureNotSupportedError(
                    f"{_VARIABLE}={folder}: {', '.join(missing)} not found there, nor in its folder bin. {_INSTALL}"
                )
            return cls(_checked(found))
        tried: list[str] = []
        for major in MAJORS:
            found = {tool: path for tool in TOOLS if (path := shutil.which(f"{tool}-{major}"))}
            found = found if len(found) == len(TOOLS) else _in_folder(Path(f"/usr/lib/llvm-{major}/bin"))
            if len(found) == len(TOOLS):
                return cls(found)
            tried += [f"{tool}-{major}" for tool in TOOLS if tool not in found]
        found = {tool: path for tool in TOOLS if (path := shutil.which(tool))}
        if len(found) == len(TOOLS):
            return cls(_checked(found))
        raise FeatureNotSupportedError(
            f"kernels are compiled with {', '.join(TOOLS)} of LLVM {MAJORS[0]} (or {MAJORS[1]}, {MAJORS[2]}), which "
            f"are not on PATH: {', '.join(tried[: len(TOOLS)])} are missing. {_INSTALL}"
        )

    def versions(self) -> dict[str, str]:
        """Version line of each tool."""
        return {tool: _version(path) for tool, path in self.tools.items()}

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
        command = [self.tools["clang"], *COMPILE, *options, *OUTPUT, "-target", target.triple, *flags]
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
        command = [self.tools["clang"], "-E", *language, *options, "-Wno-everything", "-target", target.triple]
        _run([*command, str(source), "-o", str(output)])
        return output

    def check(self, source: Path, target: Target, options: Sequence[str]) -> None:
        """Raises BuildError where a source is wrong; ``log`` holds clang's words."""
        _run([self.tools["clang"], *COMPILE, *options, "-fsyntax-only", "-target", target.triple, str(source)])

    def promote(self, module: Path, output: Path) -> Path:
        """LLVM IR whose variables are in registers, as far as they can be; nothing else is changed."""
        _run([self.tools["opt"], "-passes=function(sroa)", "-S", str(module), "-o", str(output)])
        return output

    def link(self, modules: Sequence[Path], output: Path, library: Path | None = None) -> Path:
        """One module from several; equal definitions of inline functions are internal to each.

        Args:
            library: of which only the functions that are used are taken.
        """
        link = self.tools["llvm-link"]
        if library is None:
            _run([link, "-S", *map(str, modules), "-o", str(output)])
        else:
            _run([link, "-S", "--only-needed", *map(str, modules), str(library), "-o", str(output)])
        return output

    def optimise(self, module: Path, output: Path, kernels: Sequence[str], level: str = "O2") -> Path:
        """Only the kernels stay visible, so that everything else is inlined or dropped."""
        _run(
            [
                self.tools["opt"],
                f"-passes={PASSES.format(level=level)}",
                f"--internalize-public-api-list={','.join(kernels)}",
                "-S",
                str(module),
                "-o",
                str(output),
            ]
        )
        return output

    def translate(self, module: Path, output: Path, target: Target) -> bytes:
        """The artifact's bytes."""
        _run([self.tools["llc"], "-O3", *target.translate, str(module), "-o", str(output)])
        return output.read_bytes()

    def library(self) -> Path | None:
        """OpenCL C's functions for NVIDIA GPUs: libclc's, of ``BINDLESS_LIBCLC`` or where distributions put it.

        Raises:
            FeatureNotSupportedError: the variable names no file.
        """
        named = os.environ.get("BINDLESS_LIBCLC")
        if named:
            if not Path(named).is_file():
                raise FeatureNotSupportedError(f"BINDLESS_LIBCLC={named}: no such file; libclc has {_LIBRARY}")
            return Path(named)
        prefix = Path(self.tools["llvm-link"]).resolve().parent.parent
        for folder in (prefix / "share" / "clc", prefix / "lib" / "clc", Path("/usr/lib/clc"), Path("/usr/share/clc")):
            if (folder / _LIBRARY).is_file():
                return folder / _LIBRARY
        return None

    def commands(self, target: Target) -> list[str]:
        """The steps as shell commands; {source}, {kernels} and {defines} (-DNAME=VALUE each) are a module's own."""
        return [
            " ".join(
                [
                    "clang",
                    *COMPILE,
                    *STRICT,
                    *OUTPUT,
                    "-target",
                    target.triple,
                    "-Icsrc/kernels/include",
                    "-Iinclude",
                    "{defines} {source} -o compiled.ll",
                ]
            ),
            "sed -i -E '/^attributes/s/\\bnoinline //' compiled.ll",
            "llvm-link -S compiled.ll prelude.ll -o linked.ll",
            f"opt -passes='{PASSES.format(level='O2')}' --internalize-public-api-list={{kernels}} -S linked.ll "
            "-o optimised.ll",
            " ".join(["llc", "-O3", *target.translate, "optimised.ll", "-o", "{artifact}"]),
        ]


def include_folder() -> Path:
    """The folder with ``bindless/device.h``: the package's own, or the repository's where the package runs from it."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "include", package.parent.parent / "include"):
        if (folder / "bindless" / "device.h").is_file():
            return folder
    raise FeatureNotSupportedError(f"bindless/device.h is not in {package / 'include'}: install the package again")


def _in_folder(folder: Path) -> dict[str, str]:
    """The tools of a folder or of its folder bin, with or without a version at the end of their names."""
    for place in (folder, folder / "bin"):
        names = {tool: list(_candidates(place, tool)) for tool in TOOLS}
        found = {tool: str(paths[0]) for tool, paths in names.items() if paths}
        if found:
            return found
    return {}


def _candidates(folder: Path, tool: str) -> Iterator[Path]:
    for name in (tool, *(f"{tool}-{major}" for major in MAJORS)):
        if os.access(folder / name, os.X_OK):
            yield folder / name


def _checked(found: Mapping[str, str]) -> Mapping[str, str]:
    """Refuses tools of a version that cannot do it."""
    for path in found.values():
        said = _version(path)
        version = re.search(r"version (\d+)", said)
        if version is None or int(version[1]) < MAJORS[-1]:
            raise FeatureNotSupportedError(
                f"{path} is {said!r}: SPV_INTEL_bindless_images needs LLVM {MAJORS[-1]} or newer. {_INSTALL}"
            )
    return found


def _version(path: str) -> str:
    said = _run([path, "--version"]).decode(errors="replace")
    return next((line.strip() for line in said.splitlines() if "version" in line), said.strip()[:80])


def _run(command: Sequence[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise FeatureNotSupportedError(f"{command[0]} cannot be run: {error}. {_INSTALL}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise BuildError(f"{' '.join(command)}\nfailed with status {done.returncode}:\n{said}", log=said)
    return done.stdout
