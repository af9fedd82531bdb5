"""Toolchain of packages from pip: ziglang's clang, and llvmlite in a worker process (``llvmlite_worker``).

ziglang's clang comes without the headers of OpenCL C; the package's own (``headers``) replace them.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...model.errors import BuildError, FeatureNotSupportedError
from ..process.time_limit import Deadline
from ..process.worker import Worker
from .texture_assembly import with_assembly
from .toolchain import INSTALL_PIP, TESTED, TargetSettings, Toolchain, named_library, run

__all__ = ["PipTools", "zig"]

_PACKAGES = ("ziglang", "llvmlite")
_HEADERS = Path(__file__).parent / "headers"
_CODE = "from bindless.compiler.llvm.llvmlite_worker import main; main()"


class PipTools(Toolchain):
    """clang of the package ziglang and LLVM of the package llvmlite, installed for this Python.

    Raises
    ------
    FeatureNotSupportedError
        One of the two is missing.
    """

    def __init__(self) -> None:
        super().__init__()
        missing = self.what_is_missing()
        if missing:
            raise FeatureNotSupportedError(f"{missing}: `{INSTALL_PIP}`")
        self.clang = (zig(), "clang")
        self.headers = ("-isystem", str(_HEADERS))
        self._workers: dict[tuple[str, ...], Worker] = {}

    @staticmethod
    def what_is_missing() -> str:
        """Return the packages that are not installed, or an empty text."""
        missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
        return f"{' and '.join(missing)} not installed" if missing else ""

    @property
    def name(self) -> str:
        return f"from pip, {' and '.join(f'{name} {importlib.metadata.version(name)}' for name in _PACKAGES)}"

    def versions(self) -> dict[str, str]:
        clang = run([*self.clang, "--version"]).decode(errors="replace").splitlines()[0].strip()
        return {
            "clang": f"{clang} (ziglang {importlib.metadata.version('ziglang')})",
            "llvmlite": importlib.metadata.version("llvmlite"),
        }

    def files(self) -> list[Path]:
        file = named_library()
        return [Path(zig()), _folder_of("llvmlite") / "_version.py", *([file] if file else [])]

    def untested(self) -> str | None:
        match = re.search(r"version (\d+)", self.versions()["clang"])
        if match and int(match[1]) == TESTED:
            return None
        return (
            f"clang of ziglang is {self.versions()['clang']!r}; kernels are tested with LLVM {TESTED} alone, and "
            f"others may be refused or translated wrongly: `{INSTALL_PIP}`"
        )

    def link(self, modules: Sequence[Path], output: Path, library: Path | None = None) -> Path:
        parts = [str(path) for path in modules]
        return self._do("link", output, modules=parts, library=str(library) if library else None)

    def promote(self, module: Path, output: Path) -> Path:
        return self._do("promote", output, module=str(module))

    def optimise(
        self, module: Path, output: Path, kernels: Sequence[str], level: str = "O2", options: Sequence[str] = ()
    ) -> Path:
        request = {"module": str(module), "kernels": list(kernels), "level": int(level[1:])}
        return self._do("optimise", output, **request, passes=list(options))

    def translate(self, module: Path, output: Path, target: TargetSettings) -> bytes:
        if target.machine.startswith("nvptx"):  # llvmlite's LLVM is built with assertions
            text = module.read_text()
            module = output.with_suffix(".textures.ll")
            module.write_text(with_assembly(text))
        machine = asdict(target)
        del machine["triple"]
        return self._do("translate", output, module=str(module), **machine).read_bytes()

    def library(self) -> Path | None:
        return named_library()

    def close(self) -> None:
        while self._workers:
            self._workers.popitem()[1].close()

    def _do(self, step: str, output: Path, **request: Any) -> Path:
        """Run one step, in a worker with the step's code generator options, or in one without options yet."""
        key = request.get("options", next(iter(self._workers), ()))
        if key and key not in self._workers and () in self._workers:
            self._workers[key] = self._workers.pop(())  # a worker without options
        worker = self._workers.setdefault(key, Worker(_CODE, "LLVM of the package llvmlite"))
        data = json.dumps({"step": step, "output": str(output), **request}).encode()
        answer = json.loads(worker.ask(data, self.deadline or Deadline(), f"LLVM's step {step!r}"))
        if "error" in answer:
            messages = "\n".join(filter(None, (str(answer["error"]), worker.messages())))
            self._workers.pop(key).close()
            raise BuildError(f"LLVM refuses a module in the step {step!r}:\n{messages}", log=messages)
        return output


def zig() -> str:
    """Return the file of the package ziglang that is its compilers; the package must be installed."""
    return str(_folder_of("ziglang") / ("zig.exe" if os.name == "nt" else "zig"))


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))
