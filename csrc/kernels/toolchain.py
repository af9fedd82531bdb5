"""From OpenCL C to PTX and SPIR-V with LLVM's tools: the steps, and nothing about the kernels."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


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
        ("-mtriple=spirv64-unknown-unknown", "--spirv-ext=+SPV_INTEL_bindless_images", "-filetype=obj"),
    ),
}

# Passes are left to `opt`, which sees the prelude too. Divisions stay IEEE's and products are never fused.
COMPILE = (
    "-x", "cl", "-cl-std=CL3.0", "-O1", "-Xclang", "-disable-llvm-passes", "-ffp-contract=off", "-fno-jump-tables",
    "-Xclang", "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-cl-ext=+cl_khr_fp16",
    "-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins",
    "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-emit-llvm", "-S",
)  # fmt: skip
PASSES = "internalize,default<O2>,strip-dead-prototypes"
TOOLS = ("clang", "llvm-link", "opt", "llc")
MAJOR = 22


class ToolError(RuntimeError):
    """A tool is missing or failed; the message holds the command and what it said."""


@dataclass(frozen=True)
class Toolchain:
    """Paths of the tools by their plain names."""

    tools: Mapping[str, str]

    @classmethod
    def find(cls) -> Toolchain:
        """The tools of LLVM 22 on the search path; ToolError naming those that are missing."""
        found = {tool: shutil.which(f"{tool}-{MAJOR}") for tool in TOOLS}
        missing = [f"{tool}-{MAJOR}" for tool, path in found.items() if path is None]
        if missing:
            raise ToolError(
                f"{', '.join(missing)} not found on PATH; install with: apt install clang-{MAJOR} llvm-{MAJOR}"
            )
        return cls({tool: path for tool, path in found.items() if path is not None})

    def versions(self) -> dict[str, str]:
        """Version line of each tool."""
        said = {tool: _run([path, "--version"]).decode() for tool, path in self.tools.items()}
        return {
            tool: next(line.strip() for line in text.splitlines() if "version" in line) for tool, text in said.items()
        }

    def compile(
        self, source: Path, output: Path, target: Target, includes: Sequence[Path], defines: Mapping[str, str]
    ) -> Path:
        """LLVM IR text of one compilation of an OpenCL C source."""
        options = [f"-I{path}" for path in includes] + [f"-D{name}={value}" for name, value in defines.items()]
        _run([self.tools["clang"], *COMPILE, "-target", target.triple, *options, str(source), "-o", str(output)])
        # clang keeps an OpenCL kernel's body in a function of its own that it forbids to inline.
        output.write_text(re.sub(r"(?m)^(attributes .*?)\bnoinline ", r"\1", output.read_text()))
        return output

    def link(self, modules: Sequence[Path], output: Path) -> Path:
        """One module from several; equal definitions of inline functions are internal to each."""
        _run([self.tools["llvm-link"], "-S", *map(str, modules), "-o", str(output)])
        return output

    def optimise(self, module: Path, output: Path, kernels: Sequence[str]) -> Path:
        """Only the kernels stay visible, so that everything else is inlined or dropped."""
        _run(
            [
                self.tools["opt"],
                f"-passes={PASSES}",
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

    def commands(self, target: Target) -> list[str]:
        """The steps as shell commands; {source}, {kernels} and {defines} (-DNAME=VALUE each) are a module's own."""
        return [
            " ".join(
                [
                    "clang",
                    *COMPILE,
                    "-target",
                    target.triple,
                    "-Icsrc/kernels/include",
                    "-Iinclude",
                    "{defines} {source} -o compiled.ll",
                ]
            ),
            "sed -i -E '/^attributes/s/\\bnoinline //' compiled.ll",
            "llvm-link -S compiled.ll prelude.ll -o linked.ll",
            f"opt -passes='{PASSES}' --internalize-public-api-list={{kernels}} -S linked.ll -o optimised.ll",
            " ".join(["llc", "-O3", *target.translate, "optimised.ll", "-o", "{artifact}"]),
        ]


def _run(command: Sequence[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise ToolError(
            f"{' '.join(command)}\nfailed with status {done.returncode}:\n{done.stderr.decode(errors='replace')}"
        )
    return done.stdout
