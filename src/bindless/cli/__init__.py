"""The command ``bindless``: devices, a doctor, drivers, kernels, pictures, a demonstration and quick benchmarks."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.errors import Error, InvalidError
from .extras import require

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = ["main"]

_PARTS_OF_BENCH = "user, volumes, sampling, pixels, pictures, scaling, copies, calls, import"

_DEVICE_HELP = 'selector: "gpu", "cpu", "default" or backend:type:index, such as cuda:gpu:0 or reference:*'


def _parser() -> argparse.ArgumentParser:
    from .build import add_arguments, build_file
    from .cuda_driver import tell_folder
    from .ls import list_devices
    from .resample import add_arguments as add_resample_arguments
    from .view_options import add_arguments as add_view_arguments
    from .ze_driver import tell_path

    parser = argparse.ArgumentParser(prog="bindless", description="The texture units of any GPU from Python.")
    parser.add_argument("--version", action="version", version=f"bindless {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    ls = commands.add_parser("ls", help="list the devices, in the order in which they are preferred")
    ls.add_argument("-v", "--verbose", action="store_true", help="what each can do with images, and its limits")
    ls.add_argument("--device", metavar="SEL", help=_DEVICE_HELP)
    ls.set_defaults(run=lambda args: list_devices(args.device, args.verbose))

    doctor = commands.add_parser("doctor", help="what was looked for, found and missing, and how to mend it")
    doctor.add_argument(
        "--prove", metavar="DIR", help="run every check on one device beside the reference driver; write a report there"
    )
    doctor.add_argument("--device", metavar="SEL", help=f"with --prove; {_DEVICE_HELP}")
    doctor.set_defaults(run=_doctor)

    driver = commands.add_parser("ze-driver", help="the Level Zero driver that runs on the processor")
    driver.add_argument(
        "--path", action="store_true", required=True, help="print where it is, for the variable ZE_ENABLE_ALT_DRIVERS"
    )
    driver.set_defaults(run=lambda args: tell_path())

    cuda = commands.add_parser("cuda-driver", help="the CUDA driver that runs on the processor")
    cuda.add_argument("--path", action="store_true", required=True, help="print its folder, for LD_LIBRARY_PATH")
    cuda.set_defaults(run=lambda args: tell_folder())

    build = commands.add_parser("build", help="compile kernels in OpenCL C for every device")
    add_arguments(build)
    build.set_defaults(run=build_file)

    resize = commands.add_parser("resize", help="resize a picture file")
    resize.add_argument("input", metavar="IN", help="any format that Pillow reads")
    resize.add_argument("output", metavar="OUT", help="its ending chooses the format")
    resize.add_argument("--size", required=True, metavar="WxH", help="pixels; Wx or xH keeps the proportions")
    resize.add_argument("--filtering", choices=("linear", "nearest"), default="linear")
    resize.add_argument("--device", metavar="SEL", help=_DEVICE_HELP)
    resize.set_defaults(run=_resize)

    resample = commands.add_parser(
        "resample", help="transform a zarr array larger than memory, into OME-Zarr", epilog="bindless view shows it"
    )
    add_resample_arguments(resample)
    resample.set_defaults(run=_resample)

    view = commands.add_parser("view", help="look at a picture or volume of any size, in a browser")
    add_view_arguments(view, _DEVICE_HELP)
    view.set_defaults(run=_view)

    demo = commands.add_parser(
        "demo",
        help="draw what texture units do, with times",
        epilog="bindless view shows your own pictures and volumes",
    )
    demo.add_argument("-o", "--output", required=True, metavar="DIR", help="folder for the pictures")
    demo.add_argument("--device", metavar="SEL", help=_DEVICE_HELP)
    demo.set_defaults(run=_demo)

    bench = commands.add_parser("bench", help="quick benchmarks beside what else is installed")
    bench.add_argument("--device", metavar="SEL", help=_DEVICE_HELP)
    bench.add_argument(
        "--megasamples", type=float, metavar="N", help="size of the work (default 1 on processors, 16 on GPUs)"
    )
    bench.add_argument("--json", action="store_true", help="one document for machines instead of a table")
    bench.add_argument("--processor-time", action="store_true", help="for busy machines: time of all threads together")
    bench.add_argument("--parts", metavar="A,B", help=f"only these of {_PARTS_OF_BENCH}")
    bench.set_defaults(run=_bench)
    return parser


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("bindless")
    except PackageNotFoundError:
        return "(not installed)"


def _queue(selector: str | None) -> Queue:
    from ..sycl.device.device import Device
    from ..sycl.queue.queue import Queue

    return Queue(Device(selector), in_order=True)


def _doctor(args: argparse.Namespace) -> int:
    if args.prove is None:
        if args.device is not None:
            raise InvalidError(f"--device {args.device}: bindless doctor looks at all devices; add --prove DIR")
        from .doctor import examine

        return examine()
    from pathlib import Path

    from .prove import prove

    return prove(Path(args.prove), args.device)


def _resize(args: argparse.Namespace) -> int:
    from .resize import resize_file

    resize_file(args.input, args.output, args.size, args.filtering, _queue(args.device))
    return 0


def _resample(args: argparse.Namespace) -> int:
    from .resample import resample_file

    return resample_file(args)


def _view(args: argparse.Namespace) -> int:
    from .view import view_file

    return view_file(args)


def _demo(args: argparse.Namespace) -> int:
    from pathlib import Path

    require("PIL", "pictures are composed with Pillow", "demo")
    from ..demo import pictures, run
    from .progress import Progress

    with Progress("demo", len(pictures())) as progress:
        run(Path(args.output), _queue(args.device), progress.say, progress.step)
    return 0


def _bench(args: argparse.Namespace) -> int:
    from ..model.aspects import Aspect
    from .bench import PARTS, run_bench

    if args.megasamples is not None and not 0.01 <= args.megasamples <= 256:
        raise InvalidError(f"--megasamples {args.megasamples}: it is 0.01 to 256")
    parts = args.parts.split(",") if args.parts else list(PARTS)
    for part in parts:
        if part not in PARTS:
            raise InvalidError(f"--parts {part}: it is one or several of {', '.join(PARTS)}, with commas")
    queue = _queue(args.device)
    size = args.megasamples or (16.777216 if queue.device.has(Aspect.gpu) else 1.048576)
    run_bench(queue, int(size * 1e6), parts=parts, as_json=args.json, processor_time=args.processor_time)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 done, 1 failed, 2 called wrongly.

    Parameters
    ----------
    arguments : Sequence[str], optional
        Default ``sys.argv[1:]``.
    """
    args = _parser().parse_args(arguments)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except (Error, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe left: nobody is there to be told
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        print(f"bindless {args.command}: {str(error) or type(error).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code
