"""Toolchain of LLVM's own tools: clang, llvm-link, opt and llc of one installation, one process per step."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model.errors import FeatureNotSupportedError
from .toolchain import (
    COMPILE,
    INSTALL,
    LIBRARY,
    OUTPUT,
    STRICT,
    TESTED,
    VARIABLE,
    TargetSettings,
    Toolchain,
    named_library,
    run,
)

__all__ = ["MAJORS", "TOOLS", "LLVMTools"]

TOOLS = ("clang", "llvm-link", "opt", "llc")
MAJORS = (22, 21, 20)
"""Versions of LLVM with SPV_INTEL_bindless_images, best first."""
PASSES = "internalize,default<{level}>,strip-dead-prototypes"


class LLVMTools(Toolchain):
    """LLVM's tools.

    Attributes
    ----------
    tools
        Paths of clang, llvm-link, opt and llc by their names.
    """

    def __init__(self, tools: Mapping[str, str]) -> None:
        super().__init__()
        self.tools = tools
        self.clang = (tools["clang"],)

    @classmethod
    def of_folder(cls, folder: Path) -> LLVMTools:
        """Return the tools of a folder, or of its folder bin.

        Raises
        ------
        FeatureNotSupportedError
            A tool is missing or too old.
        """
        tools = _in_folder(folder)
        missing = [tool for tool in TOOLS if tool not in tools]
        if missing:
            raise FeatureNotSupportedError(
                f"{VARIABLE}={folder}: {', '.join(missing)} not found there, nor in its folder bin. {INSTALL}"
            )
        for path in tools.values():
            if _major(path) < MAJORS[-1]:
                raise FeatureNotSupportedError(
                    f"{path} is {_version(path)!r}: SPV_INTEL_bindless_images needs LLVM {MAJORS[-1]} or newer. "
                    f"{INSTALL}"
                )
        return cls(tools)

    @classmethod
    def on_path(cls) -> LLVMTools | None:
        """Return the newest supported tools on PATH or in the folders of Debian's packages; None without any."""
        for major in MAJORS:
            tools = {tool: path for tool in TOOLS if (path := shutil.which(f"{tool}-{major}"))}
            tools = tools if len(tools) == len(TOOLS) else _in_folder(Path(f"/usr/lib/llvm-{major}/bin"))
            if len(tools) == len(TOOLS):
                return cls(tools)
        tools = {tool: path for tool in TOOLS if (path := shutil.which(tool))}
        if len(tools) == len(TOOLS) and all(_major(path) >= MAJORS[-1] for path in tools.values()):
            return cls(tools)
        return None

    @staticmethod
    def what_is_missing() -> str:
        """Return the reason why `on_path` finds no tools: the missing ones, or a clang that is too old."""
        missing = [f"{tool}-{TESTED}" for tool in TOOLS if not shutil.which(f"{tool}-{TESTED}")]
        reason = f"{', '.join(missing)} are not on PATH"
        clang = shutil.which("clang")
        if clang and _major(clang) < MAJORS[-1]:
            reason += f"; {clang} is too old ({_version(clang)}, {MAJORS[-1]} is needed)"
        return reason

    @property
    def name(self) -> str:
        return f"LLVM's tools, {self.tools['clang']}"

    def versions(self) -> dict[str, str]:
        return {tool: _version(path) for tool, path in self.tools.items()}

    def files(self) -> list[Path]:
        library = self.library()
        return [*(Path(path).resolve() for path in self.tools.values()), *([library] if library else [])]

    @property
    def major(self) -> int:
        """Return the version of LLVM, from the tools' names if they contain it."""
        match = re.search(r"llvm-(\d+)/|-(\d+)$", str(self.tools["llc"]))
        return int(match[1] or match[2]) if match else _major(self.tools["llc"])

    def untested(self) -> str | None:
        if self.major == TESTED:
            return None
        version = self.versions()["llc"]
        return (
            f"{self.tools['llc']} is {version!r}; kernels are tested with LLVM {TESTED} alone, and others may refuse "
            f"them or translate them wrongly: `apt install clang-{TESTED} llvm-{TESTED}`, or set {VARIABLE}"
        )

    def link(self, modules: Sequence[Path], output: Path, library: Path | None = None) -> Path:
        link = self.tools["llvm-link"]
        if library is None:
            run([link, "-S", *map(str, modules), "-o", str(output)], self.deadline)
        else:
            run([link, "-S", "--only-needed", *map(str, modules), str(library), "-o", str(output)], self.deadline)
        return output

    def promote(self, module: Path, output: Path) -> Path:
        run([self.tools["opt"], "-passes=function(sroa)", "-S", str(module), "-o", str(output)], self.deadline)
        return output

    def optimise(
        self, module: Path, output: Path, kernels: Sequence[str], level: str = "O2", options: Sequence[str] = ()
    ) -> Path:
        public = f"--internalize-public-api-list={','.join(kernels)}"
        passes = f"-passes={PASSES.format(level=level)}"
        run([self.tools["opt"], passes, public, *options, "-S", str(module), "-o", str(output)], self.deadline)
        return output

    def translate(self, module: Path, output: Path, target: TargetSettings) -> bytes:
        run([self.tools["llc"], "-O3", *_machine(target), str(module), "-o", str(output)], self.deadline)
        return output.read_bytes()

    def library(self) -> Path | None:
        file = named_library()
        if file is not None:
            return file
        prefix = Path(self.tools["llvm-link"]).resolve().parent.parent
        for folder in (prefix / "share" / "clc", prefix / "lib" / "clc", Path("/usr/lib/clc"), Path("/usr/share/clc")):
            if (folder / LIBRARY).is_file():
                return folder / LIBRARY
        return None

    @staticmethod
    def commands(target: TargetSettings) -> list[str]:
        """Return the steps as shell commands; {source}, {kernels} and {defines} (-DNAME=VALUE each) depend on the
        module.
        """
        clang = ["clang", *COMPILE, *STRICT, *OUTPUT, "-target", target.triple, "-Icsrc/kernels/include", "-Iinclude"]
        return [
            " ".join([*clang, "{defines} {source} -o compiled.ll"]),
            "sed -i -E '/^attributes/s/\\bnoinline //' compiled.ll",
            "llvm-link -S compiled.ll prelude.ll -o linked.ll",
            f"opt -passes='{PASSES.format(level='O2')}' --internalize-public-api-list={{kernels}} -S linked.ll "
            "-o optimised.ll",
            " ".join(["llc", "-O3", *_machine(target), "optimised.ll", "-o", "{artifact}"]),
        ]


def _machine(target: TargetSettings) -> list[str]:
    """Return the options of llc."""
    cpu = [f"-mcpu={target.cpu}"] if target.cpu else []
    features = [f"-mattr={target.features}"] if target.features else []
    form = "-filetype=obj" if target.binary else "-asm-verbose=false"
    return [f"-mtriple={target.machine}", *cpu, *features, *target.options, form]


def _in_folder(folder: Path) -> dict[str, str]:
    """Return the tools of a folder or of its folder bin, with or without a version suffix."""
    for place in (folder, folder / "bin"):
        names = {tool: list(_candidates(place, tool)) for tool in TOOLS}
        tools = {tool: str(paths[0]) for tool, paths in names.items() if paths}
        if tools:
            return tools
    return {}


def _candidates(folder: Path, tool: str) -> Iterator[Path]:
    for name in (tool, *(f"{tool}-{major}" for major in MAJORS)):
        if os.access(folder / name, os.X_OK):
            yield folder / name


def _major(path: str) -> int:
    version = re.search(r"version (\d+)", _version(path))
    return int(version[1]) if version else 0


def _version(path: str) -> str:
    output = run([path, "--version"]).decode(errors="replace")
    return next((line.strip() for line in output.splitlines() if "version" in line), output.strip()[:80])
