#!/usr/bin/env python3
"""Build the kernels of src/bindless/kernels from the OpenCL C sources in this folder.

    python csrc/kernels/build.py            build every module for all targets and write the manifest
    python csrc/kernels/build.py --check    build into memory and fail where a committed artifact differs
    python csrc/kernels/build.py -o DIR sample_2d_f fetch_2d_f    only these modules, elsewhere, without a manifest

Needs clang, llvm-link, opt and llc of LLVM 22 (`apt install clang-22 llvm-22`).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(REPOSITORY / "src"))  # the compiler of this checkout, even if another one is installed

from bindless.compiler.llvm.llvm_tools import LLVMTools  # noqa: E402
from bindless.compiler.llvm.toolchain import TARGETS  # noqa: E402
from bindless.compiler.pipeline import PRELUDES, make_module  # noqa: E402
from bindless.compiler.prelude import spirv_images  # noqa: E402
from bindless.compiler.source.handle_lowering import make_source  # noqa: E402
from catalogue import MODULES, Module  # noqa: E402

COMPILER = REPOSITORY / "src" / "bindless" / "compiler"
OUTPUT = REPOSITORY / "src" / "bindless" / "kernels"
SUFFIX = {"ptx": ".ptx.gz", "spirv": ".spv.gz", "opencl_c": ".cl.gz"}
STANDARD, OF_MIPMAPS = "CL1.2", "CL2.0"  # of OpenCL C: all devices with images support the first


def shared_sources() -> list[Path]:
    """Return the files that every module includes."""
    return [
        *sorted((HERE / "include").glob("*.h")),
        REPOSITORY / "include" / "bindless" / "device.h",
        REPOSITORY / "include" / "bindless" / "device_normalized.h",
        REPOSITORY / "include" / "bindless" / "device_cubic.h",
        *sorted((COMPILER / "prelude").glob("*.py")),
        HERE / "catalogue.py",
        COMPILER / "llvm" / "handle_dataflow.py",
        COMPILER / "llvm" / "llvm_tools.py",
        COMPILER / "llvm" / "toolchain.py",
        COMPILER / "pipeline.py",
        COMPILER / "source" / "handle_lowering.py",
        COMPILER / "source" / "items.py",
        COMPILER / "spirv" / "constant_offsets.py",
    ]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def packed(data: bytes) -> bytes:
    """Compress a file of the package, to about a quarter."""
    return gzip.compress(data, 9, mtime=0)


def unpacked(path: Path) -> bytes:
    """Return the contents of a packed file, for comparison: compressed bytes depend on the zlib version."""
    return gzip.decompress(path.read_bytes())


def build(module: Module, target: str, toolchain: LLVMTools, prelude: Path | None, folder: Path, anew: bool) -> bytes:
    """Build one artifact: compile, link with the prelude, optimise and translate the source, or convert it to plain
    OpenCL C.
    """
    includes = [HERE / "include", REPOSITORY / "include"]
    work = folder / f"{module.name}-{target}"
    work.mkdir()
    if target == "opencl_c":
        options = [f"-I{path}" for path in includes] + [f"-D{name}={value}" for name, value in module.defines.items()]
        # A text that equals the committed one is known to compile: skip the compile check.
        standard = (OF_MIPMAPS if module.source == "sample_lod.cl" else STANDARD) if anew else None
        return make_source(HERE / "source" / module.source, options, toolchain, work, standard)[0]
    assert prelude is not None
    kernels = [kernel.name for kernel in module.kernels]
    source = HERE / "source" / module.source
    data = make_module(source, target, kernels, toolchain, prelude, work, includes, module.defines, large=module.large)
    return with_directives(data, module) if target == "ptx" else data


def with_directives(text: bytes, module: Module) -> bytes:
    """Add the module's limit of registers, and the instructions that it needs, to its PTX."""
    if module.registers:
        text, entries = re.subn(rb"(\.entry [^{]*)\{", rb"\1.maxnreg %d\n{" % module.registers, text)
        assert entries == len(module.kernels)
    if module.sm_90:
        text, versions = re.subn(rb"\.version \S+\n\.target \S+", b".version 8.1\n.target sm_90", text)
        assert versions == 1
    return text


def build_all(modules: list[Module], toolchain: LLVMTools, jobs: int, *, anew: bool) -> dict[str, bytes]:
    """Return the artifacts by file name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        preludes = {target: folder / f"prelude-{target}.ll" for target in PRELUDES}
        for target, path in preludes.items():
            path.write_text(PRELUDES[target]())
        late = folder / "prelude-late.ll"
        late.write_text(spirv_images.module(images=False))
        wanted = [(module, target) for module in modules for target in module.targets]
        with ThreadPoolExecutor(jobs) as pool:
            linked = [late if module.large and target == "spirv" else preludes.get(target) for module, target in wanted]
            made = pool.map(lambda pair, path: build(*pair, toolchain, path, folder, anew), wanted, linked)
            return {module.name + SUFFIX[target]: data for (module, target), data in zip(wanted, made, strict=True)}


def manifest(modules: list[Module], artifacts: dict[str, bytes], toolchain: LLVMTools) -> str:
    """Return the JSON description of each artifact's build; hashes cover the unpacked contents."""

    def hashes(paths: Iterable[Path]) -> dict[str, str]:
        return {path.relative_to(REPOSITORY).as_posix(): sha256(path.read_bytes()) for path in paths}

    entries = {}
    for module in modules:
        files = {target: module.name + SUFFIX[target] for target in module.targets}
        entries[module.name] = {
            "source": f"csrc/kernels/source/{module.source}",
            "defines": module.defines,
            "kernels": {
                kernel.name: [f"{argument.type} {argument.name}" for argument in kernel.arguments]
                for kernel in module.kernels
            },
            "artifacts": {target: {"file": file, "sha256": sha256(artifacts[file])} for target, file in files.items()},
        }
    document = {
        "build": "python csrc/kernels/build.py",
        "tools": toolchain.versions(),
        "commands": {target: toolchain.commands(options) for target, options in TARGETS.items()},
        "shared_sources": hashes(shared_sources()),
        "sources": hashes(sorted({HERE / "source" / module.source for module in modules})),
        "modules": entries,
    }
    return json.dumps(document, indent=1) + "\n"


def differences(artifacts: dict[str, bytes], text: str) -> list[str]:
    """Return the committed files that differ from a fresh build."""
    wrong = [
        name for name, data in artifacts.items() if not (OUTPUT / name).is_file() or unpacked(OUTPUT / name) != data
    ]
    known = {*artifacts, "manifest.json"}
    wrong += [
        f"{path.name} (no module makes it)"
        for path in OUTPUT.iterdir()
        if path.name.endswith(tuple(SUFFIX.values())) and path.name not in known
    ]
    if not (OUTPUT / "manifest.json").is_file() or (OUTPUT / "manifest.json").read_text() != text:
        wrong.append("manifest.json")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("modules", nargs="*", help="names of modules, all by default")
    parser.add_argument("-o", "--output", type=Path, help="write the artifacts there and no manifest")
    parser.add_argument("--check", action="store_true", help="compare with the committed artifacts, write nothing")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    names = {module.name: module for module in MODULES}
    unknown = [name for name in options.modules if name not in names]
    if unknown:
        parser.error(f"no module named {', '.join(unknown)}; there are {', '.join(names)}")
    if options.modules and not options.output:
        parser.error("a part of the modules is only built with -o DIR: the manifest describes them all")
    toolchain = LLVMTools.on_path()
    if toolchain is None or toolchain.untested():
        parser.error("the committed kernels are built with LLVM 22: apt-get install clang-22 llvm-22")
    modules = [names[name] for name in options.modules] or MODULES
    artifacts = build_all(modules, toolchain, options.jobs, anew=not options.check)
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        for name, data in artifacts.items():
            (options.output / name.removesuffix(".gz")).write_bytes(data)
        return 0
    text = manifest(modules, artifacts, toolchain)
    if options.check:
        wrong = differences(artifacts, text)
        for name in wrong:
            print(
                f"src/bindless/kernels/{name} is not what the sources give; run python csrc/kernels/build.py",
                file=sys.stderr,
            )
        return 1 if wrong else 0
    for name, data in artifacts.items():
        (OUTPUT / name).write_bytes(packed(data))
    (OUTPUT / "manifest.json").write_text(text)
    print(f"{len(artifacts)} artifacts, {sum(map(len, artifacts.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
