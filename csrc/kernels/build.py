#!/usr/bin/env python3
"""Build the kernels of src/bindless/kernels from the OpenCL C sources in this folder.

    python csrc/kernels/build.py            build every module, write an archive for each target and the manifest
    python csrc/kernels/build.py --check    build into memory and fail where an archive has other contents
    python csrc/kernels/build.py -o DIR sample_2d_f fetch_2d_f    only these modules, elsewhere, without a manifest

Needs clang, llvm-link, opt and llc of LLVM 22 (`apt install clang-22 llvm-22`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(REPOSITORY / "src"))  # the compiler of this checkout, even if another one is installed

from bindless.compiler.llvm.llvm_tools import LLVMTools  # noqa: E402
from bindless.compiler.llvm.toolchain import TARGETS  # noqa: E402
from bindless.compiler.pipeline import PRELUDES, make_module  # noqa: E402
from bindless.compiler.prelude import spirv_images  # noqa: E402
from bindless.compiler.source.handle_lowering import make_source  # noqa: E402
from bindless.kernels.load import SUFFIXES  # noqa: E402
from catalogue import MODULES, Module  # noqa: E402

COMPILER = REPOSITORY / "src" / "bindless" / "compiler"
OUTPUT = REPOSITORY / "src" / "bindless" / "kernels"
STANDARD, OF_MIPMAPS = "CL1.2", "CL2.0"  # of OpenCL C: all devices with images support the first


def shared_sources() -> list[Path]:
    """Return the files that every module includes."""
    return [
        *sorted((HERE / "include").glob("*.h")),
        REPOSITORY / "include" / "bindless" / "device.h",
        REPOSITORY / "include" / "bindless" / "device_normalized.h",
        REPOSITORY / "include" / "bindless" / "device_cubic.h",
        *sorted((REPOSITORY / "include" / "bindless" / "filter").glob("*.h")),
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


def digest(files: dict[str, bytes]) -> str:
    """Return a hash of the names and contents of files; compressed bytes depend on the version of zlib."""
    return sha256("".join(f"{name} {sha256(data)}\n" for name, data in sorted(files.items())).encode())


def archive_of(target: str) -> Path:
    return OUTPUT / f"{target}.zip"


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of an archive; none if there is no archive."""
    if not path.is_file():
        return {}
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_archive(path: Path, files: dict[str, bytes]) -> None:
    """Write files in the order of their names, each compressed by itself; equal files give equal bytes."""
    with ZipFile(path, "w") as archive:
        for name, data in sorted(files.items()):
            entry = ZipInfo(name)  # of 1 January 1980
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # on all systems
            archive.writestr(entry, data, ZIP_DEFLATED, 9)


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


Artifacts = dict[str, dict[str, bytes]]
"""Files of each target by their names."""


def build_all(modules: list[Module], toolchain: LLVMTools, jobs: int, *, anew: bool) -> Artifacts:
    """Return the artifacts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        preludes = {target: folder / f"prelude-{target}.ll" for target in PRELUDES}
        for target, path in preludes.items():
            path.write_text(PRELUDES[target]())
        late = folder / "prelude-late.ll"
        late.write_text(spirv_images.module(images=False))
        pairs = [(module, target) for module in modules for target in module.targets]
        with ThreadPoolExecutor(jobs) as pool:
            linked = [late if module.large and target == "spirv" else preludes.get(target) for module, target in pairs]
            artifacts: Artifacts = {target: {} for target in SUFFIXES}
            codes = pool.map(lambda pair, path: build(*pair, toolchain, path, folder, anew), pairs, linked)
            for (module, target), code in zip(pairs, codes, strict=True):
                artifacts[target][module.name + SUFFIXES[target]] = code
            return artifacts


def manifest(modules: list[Module], artifacts: Artifacts, toolchain: LLVMTools) -> str:
    """Return the JSON description of the build, with a line for each module."""
    sources = [*shared_sources(), *sorted({HERE / "source" / module.source for module in modules})]
    document = {
        "build": "python csrc/kernels/build.py",
        "tools": toolchain.versions(),
        "commands": {target: toolchain.commands(options) for target, options in TARGETS.items()},
        "sources": {path.relative_to(REPOSITORY).as_posix(): sha256(path.read_bytes()) for path in sources},
        "archives": {
            target: {"file": archive_of(target).name, "sha256": digest(files)} for target, files in artifacts.items()
        },
    }
    lines = []
    for module in modules:
        kernels = {
            kernel.name: [f"{argument.type} {argument.name}" for argument in kernel.arguments]
            for kernel in module.kernels
        }
        lines.append(f'  "{module.name}": {json.dumps({"targets": module.targets, "kernels": kernels})}')
    head = json.dumps(document, indent=1).removesuffix("\n}")
    return f'{head},\n "modules": {{\n' + ",\n".join(lines) + "\n }\n}\n"


def differences(artifacts: Artifacts, text: str) -> list[str]:
    """Return the committed files, and entries of archives, that differ from a fresh build."""
    names = []
    for target, files in artifacts.items():
        path = archive_of(target)
        committed = read_archive(path)
        names += [f"{path.name}/{name}" for name in sorted(files | committed) if files.get(name) != committed.get(name)]
    manifest_file = OUTPUT / "manifest.json"
    if not manifest_file.is_file() or manifest_file.read_text() != text:
        names.append(manifest_file.name)
    return names


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
        for files in artifacts.values():
            for name, data in files.items():
                (options.output / name).write_bytes(data)
        return 0
    text = manifest(modules, artifacts, toolchain)
    if options.check:
        names = differences(artifacts, text)
        for name in names:
            print(
                f"src/bindless/kernels/{name} is not what the sources give; run python csrc/kernels/build.py",
                file=sys.stderr,
            )
        return 1 if names else 0
    for target, files in artifacts.items():
        if files != read_archive(archive_of(target)):  # else only the version of zlib could differ
            write_archive(archive_of(target), files)
    (OUTPUT / "manifest.json").write_text(text)
    for target, files in artifacts.items():
        print(f"{target}: {len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
