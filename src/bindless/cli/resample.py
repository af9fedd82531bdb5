"""``bindless resample``: a transform from zarr to a multiscale image of OME-Zarr."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import FeatureNotSupportedError, InvalidError
from .extras import require
from .matrix_file import matrix_in
from .nifti import is_nifti

if TYPE_CHECKING:
    from ..dask.job import Job
    from ..dask.ome_zarr import InputImage
    from ..model.grid import Grid

__all__ = ["add_arguments", "resample_file"]

_BETWEEN = 0.2  # seconds between two lines of progress on a terminal
_BETWEEN_LINES = 30.0  # elsewhere
_MEGA = 1e6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("input", metavar="IN", help="array of zarr, image of OME-Zarr 0.4 or 0.5, or NIfTI")
    parser.add_argument("output", metavar="OUT", help="image of OME-Zarr, a folder; from NIfTI, a file of NIfTI")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--matrix", metavar="FILE", help="from indices of the result to those of the input: text, .npy or .json"
    )
    how.add_argument("--scale", metavar="S", help="size of the result as a multiple of the input's: 0.5, or 1,0.5,0.5")
    parser.add_argument(
        "--scale-of-output",
        metavar="Z,Y,X",
        help="sizes of elements in the metadata of the result, in the input's units (default follows from the map; it "
        "cannot where the map turns or shears)",
    )
    parser.add_argument("--displacement", metavar="FIELD.zarr", help="added to positions: (axes, ...), in elements")
    grid = parser.add_mutually_exclusive_group()
    grid.add_argument("--spacing", metavar="Z,Y,X", help="of the result in the world, whose box is the input's")
    grid.add_argument("--like", metavar="FILE", help="OME-Zarr or NIfTI: the result has its grid")
    how.add_argument("--transform", metavar="FILE", help="of ITK, from points of the result to the input's")
    parser.add_argument(
        "--matrix-units", choices=("pixels", "world"), default="pixels",
        help="of --matrix: indices in the arrays' order (default), or points (x, y, z) as --transform",
    )  # fmt: skip
    parser.add_argument("--preview", metavar="PICTURE.png", help="of the result: the middle slices of a volume")
    parser.add_argument("--shape", metavar="Z,Y,X", help="of the result (default the input's)")
    parser.add_argument("--chunks", metavar="Z,Y,X", help="of the result (default the input's)")
    parser.add_argument(
        "--shards", metavar="Z,Y,X", help="multiples of the chunks, stored as one file; with format 0.5"
    )
    parser.add_argument("--codec", choices=("zstd", "blosc", "none"), default="zstd")
    parser.add_argument("--format", choices=("0.4", "0.5"), default="0.5", help="version of OME-Zarr (default 0.5)")
    parser.add_argument("--levels", type=int, metavar="N", help="of the pyramid (default until a chunk holds it)")
    parser.add_argument(
        "--order", type=int, default=1, choices=(0, 1, 3), help="of the interpolation (default 1, linear)"
    )
    parser.add_argument("--mode", help="what lies outside, as in scipy.ndimage (default constant)")
    parser.add_argument("--cval", type=float, default=0.0)
    parser.add_argument(
        "--precision",
        choices=("hardware", "exact", "reproducible"),
        help="(default hardware: the texture unit)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="processes of this machine (default threads of one)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster of distributed, such as tcp://host:8786")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace OUT.zarr, which stays as it is until the result is finished"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything, print bytes, tasks and time, and write nothing"
    )


def resample_file(args: argparse.Namespace) -> int:
    """Runs the command.

    Raises
    ------
    InvalidError
        An option does not fit, or the input is no image.
    BlockError
        A block cannot be read, computed or written.
    """
    if is_nifti(args.input) or is_nifti(args.output):
        from .volume_files import resample_volume

        return resample_volume(args)
    if not any((args.matrix, args.scale, args.transform, args.spacing, args.like)):
        raise InvalidError("one of --matrix, --scale, --transform, --spacing and --like says what to compute")
    require("dask", "arrays larger than memory are read and written with dask and zarr", "dask")
    require("zarr", "arrays larger than memory are read and written with dask and zarr", "dask")
    from ..dask.runners import runner

    if args.workers is not None and args.workers < 1:
        raise InvalidError(f"--workers {args.workers}: at least 1")
    if "://" in args.output:
        raise InvalidError(f"{args.output}: the output is a folder of this machine")
    if not args.output:
        raise InvalidError("the output has no name")
    job = _job(args)
    job.require_possible(overwrite=args.overwrite)
    if args.dry_run:
        _print_plan(job)
        return 0
    with job.folder.locked() as reason:
        if reason:
            _say(f"{reason}: do not run two commands with this output at a time")
        finished_blocks = job.prepare(overwrite=args.overwrite)
        report = _Report(job, finished_blocks)
        try:
            with runner(args.workers, args.scheduler) as workers:
                job.run(workers, finished_blocks, report.block)
        except BaseException:
            if not job.is_finished:
                state = "is as it was" if job.folder.replaces else "is not finished"
                same = "the same command without --overwrite" if args.overwrite else "the same command"
                _say(f"{args.output} {state}; {same} goes on with the result")
            raise
        finally:
            report.end()
    print(f"{args.input} -> {args.output}: {_size(job.written_bytes)} in {report.seconds:.1f} s")
    if args.preview is not None:
        from .preview import middle_of_zarr, save_preview

        save_preview(args.preview, *middle_of_zarr(args.output))
    return 0


def _job(args: argparse.Namespace) -> Job:
    from ..dask.arrays import MOST_LEVELS, warp_of
    from ..dask.job import Job, Output
    from ..dask.ome_zarr import opened
    from ..dask.result_axes import ResultAxes, result_axes
    from ..dask.sources import source_of

    image = opened(args.input)
    shape, ndim = tuple(image.array.shape), len(image.array.shape)
    target: Grid | None = None
    matrix: Any
    offset: Any = 0.0
    output_shape: Any = None
    if args.transform or args.spacing or args.like or args.matrix_units == "world":
        target, matrix, offset = _in_world(args, image)
        dims, output_shape = target.dimensions, target.shape
    elif args.matrix is not None:
        matrix = matrix_in(args.matrix)
        dims = min(ndim, 3) if matrix.ndim == 1 or len(matrix) > 3 else min(ndim, len(matrix))
        output_shape = _numbers("--shape", args.shape, (dims, ndim)) if args.shape else None
    else:
        factors = [float(factor) for factor in _numbers("--scale", args.scale, (1, 2, 3), float)]
        dims = min(ndim, 3) if len(factors) == 1 else len(factors)
        factors = factors * dims if len(factors) == 1 else factors
        if not all(math.isfinite(factor) and factor > 0 for factor in factors) or dims > ndim:
            raise InvalidError(f"--scale {args.scale}: positive numbers, one or one for each of the last axes")
        old = shape[ndim - dims :]
        output_shape = [max(round(size * factor), 1) for size, factor in zip(old, factors)]
        output_shape = output_shape if args.shape is None else _numbers("--shape", args.shape, (dims, ndim))
        steps = np.array([1 / factor for factor in factors])
        matrix, offset = np.diag(steps), (0.5 * steps - 0.5).tolist()
    mode, precision = args.mode or "constant", args.precision or "hardware"
    try:
        warp = warp_of(image.array, matrix, offset, output_shape, args.order, mode, args.cval, precision)
    except (InvalidError, FeatureNotSupportedError) as error:
        raise type(error)(f"{args.input}, shape={shape}: {error}") from error
    field, places = None, list(image.places)
    if args.displacement is not None:
        displacement = opened(args.displacement)
        values = displacement.array
        places += displacement.places
        size = (warp.dims, *warp.output_shape[warp.batch :])
        if tuple(values.shape) != size:
            raise InvalidError(
                f"--displacement {args.displacement} has shape {tuple(values.shape)}; for this result it is {size}"
            )
        if np.dtype(values.dtype).kind not in "biuf":
            raise InvalidError(f"--displacement {args.displacement} has dtype {values.dtype}; it has real numbers")
        field = source_of("displacement", values)
    chunks = tuple(image.array.chunks)
    if args.chunks is not None:
        last_sizes = _numbers("--chunks", args.chunks, (warp.dims, ndim))
        chunks = (*chunks[: ndim - len(last_sizes)], *last_sizes)
    shards = None
    if args.shards is not None:
        last_sizes = _numbers("--shards", args.shards, (warp.dims, ndim))
        shards = (*chunks[: ndim - len(last_sizes)], *last_sizes)
        if any(shard % chunk for shard, chunk in zip(shards, chunks)) or args.format == "0.4":
            raise InvalidError(f"--shards {args.shards}: multiples of the chunks {chunks}, with --format 0.5")
    levels = args.levels if args.levels is not None else _levels(warp.output_shape, chunks, warp.dims)
    if not 1 <= levels <= MOST_LEVELS:
        raise InvalidError(f"--levels {levels}: 1 to {MOST_LEVELS}")
    sizes = None
    if args.scale_of_output is not None:
        sizes = _numbers("--scale-of-output", args.scale_of_output, (warp.dims, ndim), float)
    if target is None:
        axes = result_axes(image.axes, warp, sizes, displaced=field is not None)
    else:
        from .world import axes_on

        axes = ResultAxes(axes_on(target, image.axes))
    if axes.remark and sizes is None:
        words = ", ".join(f"{axis.name} {axis.scale:.6g}" for axis in axes.axes[warp.batch :])
        _say(
            f"{axes.remark}, which scale and translation of OME-Zarr do not describe: the metadata gives the sizes of "
            f"elements along the new axes ({words}); --scale-of-output gives others"
        )
    output = Output(Path(args.output), chunks, shards, args.codec, args.format)
    description = {"input": str(Path(args.input).absolute()), "displacement": args.displacement}
    places += [path for path in (args.matrix, args.transform, args.like) if path is not None]
    return Job(image.array, field, warp, axes.axes, levels, output, description, places)


def _in_world(args: argparse.Namespace, image: InputImage) -> tuple[Grid, Any, Any]:
    """The grid of the result, and the matrix and offset from its indices to those of the input."""
    from .world import affine_of, grid_of_zarr, target_of, transform_of

    if args.scale is not None or args.shape is not None or (args.matrix is not None and args.matrix_units == "pixels"):
        raise InvalidError(
            "--scale, --shape and --matrix in pixels say where the result lies: leave them out with --spacing, --like "
            "and --transform, or take --matrix-units world"
        )
    source = grid_of_zarr(args.input, image)
    target, dims = target_of(args, source), source.dimensions
    if not np.allclose(target.direction, np.eye(dims), rtol=0, atol=1e-6):
        raise InvalidError(f"--like {args.like}: OME-Zarr has no turned axes, {target.direction.tolist()}")
    whole = affine_of(transform_of(args, dims), source, target)
    return target, whole[:dims, :dims], whole[:dims, dims].tolist()


def _say(line: str) -> None:
    print(f"bindless resample: {line}", file=sys.stderr)


def _numbers(option: str, text: str, counts: Sequence[int], kind: type = int) -> Any:
    try:
        numbers = [kind(word) for word in text.replace("x", ",").split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in counts or not all(0 < number < math.inf for number in numbers):
        raise InvalidError(
            f"{option} {text}: positive numbers with commas, {' or '.join(map(str, sorted(set(counts))))}"
        )
    return numbers


def _levels(shape: Sequence[int], chunks: Sequence[int], dims: int) -> int:
    sizes, count = list(shape[-dims:]), 1
    while any(size > chunk for size, chunk in zip(sizes, chunks[-dims:])):
        sizes = [(size + 1) // 2 for size in sizes]
        count += 1
    return count


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _print_plan(job: Job) -> None:
    """Bytes, tasks and time, from one block that is computed and not written."""
    from ..dask.blocks import Blocks
    from ..dask.chunks import starts_in
    from ..dask.job import computed

    level = job.levels[0]
    starts = starts_in(level.warp.output_shape, job.block_shape(level))
    blocks = Blocks(level.warp, starts, job.source, field=job.field)
    number = tuple(count // 2 for count in blocks.counts)
    computed(blocks, number)  # opens the device and the files
    begin = time.perf_counter()
    values = computed(blocks, number)
    seconds = time.perf_counter() - begin
    whole = job.written_bytes / np.dtype(level.warp.dtype).itemsize
    print(f"reads about   {_size(job.read_bytes())}, before decompression less")
    print(f"writes        {_size(job.written_bytes)}, before compression")
    print(f"tasks         {job.total}")
    print(f"time          about {_clock(seconds * whole / values.size)}, at one block's rate on one thread")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


class _Report:
    """Progress with the rate and the time left: a bar of rich on terminals, a line now and then elsewhere."""

    def __init__(self, job: Job, finished_blocks: set[tuple[int, int]]) -> None:
        self._total, self._done = job.total, len(finished_blocks)
        self._began_with = self._done
        self._item = job.written_bytes / max(job.total, 1)
        self._begin = self._last_line = time.perf_counter()
        self._terminal = sys.stderr.isatty()
        self._bar: Any = None
        if self._terminal and find_spec("rich") is not None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("resample"), BarColumn(), TextColumn("{task.completed}/{task.total} blocks"),
                TextColumn("{task.fields[rate]}"), TimeRemainingColumn(), console=Console(file=sys.stderr),
                transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("", total=self._total, completed=self._done, rate="")
            self._bar.start()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._begin

    def block(self, level: int, index: int) -> None:
        """A block is finished."""
        self._done += 1
        rate = (self._done - self._began_with) * self._item / max(self.seconds, 1e-9)
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, rate=f"{rate / _MEGA:.0f} MB/s")
            return
        now = time.perf_counter()
        if now - self._last_line < (_BETWEEN if self._terminal else _BETWEEN_LINES):
            return
        self._last_line = now
        seconds = (self._total - self._done) * self._item / rate
        print(
            f"bindless resample: {self._done} of {self._total} blocks, {rate / _MEGA:.0f} MB/s, {_clock(seconds)} left",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
