"""``bindless build``: kernels in OpenCL C to one file for all devices."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..model.errors import InvalidError
from .progress import Progress

if TYPE_CHECKING:
    from ..model.module.kernel_file import KernelFile

__all__ = ["add_arguments", "build_file"]

_EPILOG = """
The file goes to bindless.load_kernel_bundle, which takes what the device runs; `bindless build FILE.blk --list` tells
what such a file holds. Needs a compiler: `pip install 'bindless[kernels]'`, or clang and LLVM 22 on PATH; BINDLESS_LLVM
chooses (`pip`, `path`, or a folder with LLVM's tools), and `bindless doctor` shows which one is taken.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.epilog = _EPILOG
    parser.add_argument("source", metavar="FILE", help="kernels in OpenCL C, which may include <bindless/device.h>")
    parser.add_argument("-o", "--output", metavar="FILE.blk", help="default: the source's name with the ending .blk")
    parser.add_argument("--target", action="append", choices=("spirv", "ptx", "opencl_c"), help="default: all")
    parser.add_argument("-D", action="append", default=[], metavar="NAME[=VALUE]", dest="defines", help="a macro")
    parser.add_argument("-I", action="append", default=[], metavar="DIR", dest="includes", help="a folder of headers")
    parser.add_argument("-O", type=int, choices=range(4), default=2, dest="level", help="optimization (default 2)")
    parser.add_argument("-W", action="append", default=[], metavar="NAME", dest="warnings", help="as clang's")
    parser.add_argument("--architecture", default="sm_75", metavar="sm_NN", help="oldest NVIDIA GPU (default sm_75)")
    parser.add_argument("--list", action="store_true", help="show what a file made before holds")


def build_file(args: argparse.Namespace) -> int:
    """Builds or lists, and tells what there is. Errors of the compiler are shown in its own words."""
    from ..compiler.build import build
    from ..model.module.kernel_file import KernelFile

    if args.list:
        _show(KernelFile.load(args.source), sys.stdout)
        return 0
    source = Path(args.source)
    output = Path(args.output) if args.output else source.with_suffix(".blk")
    if output == source:
        raise InvalidError(f"{source} is the name of the source: name the output with -o")
    with Progress("build") as progress:
        progress.step(f"{source} to {output}", long=True)
        file = build(
            source,
            output,
            targets=args.target,
            defines=args.defines,
            includes=args.includes,
            optimization=args.level,
            options=[f"-W{warning}" for warning in args.warnings],
            architecture=args.architecture,
        )
    if file.log:
        print(file.log, file=sys.stderr)
    to = sys.stdout if output.is_file() else sys.stderr  # the output may be /dev/stdout
    print(f"{output}: {len(file.to_bytes())} bytes", file=to)
    _show(file, to)
    return 0


def _show(file: KernelFile, to: TextIO) -> None:
    for kernel in file.kernels:
        print(f"  {kernel}", file=to)
        if kernel.required_work_group_size:
            print(f"    work-group {' x '.join(map(str, kernel.required_work_group_size))}", file=to)
    for section in file.sections:
        print(f"  {section}: {len(section.data)} bytes, {', '.join(section.kernels)}", file=to)
