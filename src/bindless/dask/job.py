"""``Job``: a transform from zarr to a multiscale image of OME-Zarr, block by block."""

from __future__ import annotations

import itertools
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import Error, InvalidError
from .arrays import halving
from .blocks import Blocks, compute_block
from .chunks import starts_in
from .errors import BlockError, part_text
from .manifest import Manifest
from .ome_zarr import FORMATS, Axis, multiscale_attributes
from .runners import Runner, run_all
from .sources import source_of
from .transform import Transform

__all__ = ["Job", "Level", "Output"]

# Elements of a block: few enough for the memory of small machines, enough that reading around blocks is little.
_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class Output:
    """How the result is stored.

    Attributes
    ----------
    path : Path
        Of the group.
    chunks : tuple[int, ...]
        Of its arrays.
    shards : tuple[int, ...] | None
        Multiples of the chunks; zarr version 3 alone.
    codec : str
        "zstd", "blosc" or "none".
    version : str
        Of OME-Zarr: "0.4" or "0.5".
    """

    path: Path
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    codec: str
    version: str


@dataclass(frozen=True)
class Level:
    """An array of the result.

    Attributes
    ----------
    number : int
        0 for the transform of the input, 1 for its half, and so on.
    transform : Transform
        From the input or from the level before.
    axes : tuple[Axis, ...]
        Of the array.
    """

    number: int
    transform: Transform
    axes: tuple[Axis, ...]


class Job:
    """A transform and the levels below it.

    Parameters
    ----------
    image : Any
        The input: a zarr array.
    field : Any
        Displacements, or None.
    transform : Transform
        Of the first level.
    axes : Sequence[Axis]
        Of the first level.
    levels : int
        Arrays of the result.
    output : Output
        How it is stored.
    described : dict[str, Any]
        Names of the input's files and everything else that identifies the job.
    """

    def __init__(
        self,
        image: Any,
        field: Any,
        transform: Transform,
        axes: Sequence[Axis],
        levels: int,
        output: Output,
        described: dict[str, Any],
    ) -> None:
        self.source, self.field, self.output = source_of("image", image), field, output
        self.levels = [Level(0, transform, tuple(axes))]
        for number in range(1, levels):
            before = self.levels[-1]
            shape = before.transform.output_shape
            half = halving(_Described(shape, np.dtype(transform.dtype)), min(transform.dims, len(shape)))
            self.levels.append(Level(number, half, tuple(map(_halved, before.axes, shape, half.output_shape))))
        sizes = {
            "matrix": transform.matrix,
            "offset": transform.offset,
            "shape": transform.output_shape,
            "input": [transform.input_shape, transform.dtype],
            "filter": [transform.order, transform.mode, repr(transform.cval), transform.precision],
            "levels": levels,
            "storage": [output.chunks, output.shards, output.codec, output.version],
        }
        self._manifest = Manifest(output.path, {**described, **sizes})

    def block_shape(self, level: Level) -> tuple[int, ...]:
        """Of the blocks of a level: multiples of what is stored as one file."""
        shape = level.transform.output_shape
        block = [min(part, size) for part, size in zip(self.output.shards or self.output.chunks, shape)]
        while math.prod(block) < _ELEMENTS:
            growing = [axis for axis, size in enumerate(shape) if block[axis] < size and axis >= level.transform.kept]
            if not growing:
                break
            axis = min(growing, key=lambda axis: (block[axis], -axis))
            block[axis] *= 2
        return tuple(block)

    def counts(self, level: Level) -> tuple[int, ...]:
        """Blocks of a level along each axis."""
        return tuple(-(-size // part) for size, part in zip(level.transform.output_shape, self.block_shape(level)))

    @property
    def total(self) -> int:
        """Blocks of all levels."""
        return sum(math.prod(self.counts(level)) for level in self.levels)

    @property
    def written_bytes(self) -> int:
        """Of the result, before it is compressed."""
        item = np.dtype(self.levels[0].transform.dtype).itemsize
        return sum(math.prod(level.transform.output_shape) * item for level in self.levels)

    def read_bytes(self) -> int:
        """Of the input that the blocks of the first level need, without displacements, before it is compressed."""
        level = self.levels[0]
        starts = starts_in(level.transform.output_shape, self.block_shape(level))
        item, total = np.dtype(level.transform.dtype).itemsize, 0
        for number in itertools.product(*map(range, self.counts(level))):
            block = tuple(slice(along[n], along[n + 1]) for along, n in zip(starts, number))
            spans = level.transform.spans(block)
            kept = math.prod(part.stop - part.start for part in block[: level.transform.kept])
            total += 0 if spans is None else math.prod(span.size for span in spans) * kept * item
        return total

    def prepare(self, *, overwrite: bool) -> set[tuple[int, int]]:
        """Makes the arrays, or finds those of an earlier run, whose finished blocks it returns.

        Raises
        ------
        InvalidError
            Something else is in the place of the output.
        """
        path = self.output.path
        if path.exists() and not overwrite:
            if not Manifest.is_in(path):
                raise InvalidError(f"{path} exists: give another name, or --overwrite")
            for partial in path.rglob("*.partial"):  # of writes that were cut short
                partial.unlink(missing_ok=True)
            return self._manifest.finished()
        if path.exists():
            if not (path.is_dir() and (Manifest.is_in(path) or _is_zarr_group(path))):
                raise InvalidError(f"{path} is no group of zarr: it is not overwritten")
            shutil.rmtree(path)
        self._create()
        self._manifest.begin()
        return set()

    def _create(self) -> None:
        import zarr
        from zarr import codecs

        output, version = self.output, FORMATS[self.output.version]
        compressors: Any = None
        if output.codec != "none":
            if version == 2:
                import numcodecs

                compressors = numcodecs.Zstd(3) if output.codec == "zstd" else numcodecs.Blosc("zstd", 3)
            else:
                compressors = codecs.ZstdCodec(level=3) if output.codec == "zstd" else codecs.BloscCodec(clevel=3)
        path = str(output.path)
        group = zarr.create_group(store=path, zarr_format=version)
        for level in self.levels:
            shape = level.transform.output_shape
            options: dict[str, Any] = {}
            if version == 3:
                options["dimension_names"] = [axis.name for axis in level.axes]
            else:
                options["chunk_key_encoding"] = {"name": "v2", "separator": "/"}
            group.create_array(
                str(level.number),
                shape=shape,
                chunks=tuple(min(part, size) for part, size in zip(output.chunks, shape))
                if output.shards is None
                else output.chunks,
                shards=output.shards,
                dtype=np.dtype(level.transform.dtype),
                compressors=compressors,
                fill_value=0,
                **options,
            )

    def run(self, runner: Runner, finished: set[tuple[int, int]], progress: Callable[[int, int], None]) -> None:
        """Computes and writes the blocks that are not finished, and then the metadata.

        Parameters
        ----------
        runner : Runner
            Computes them.
        finished : set[tuple[int, int]]
            Of earlier runs.
        progress : Callable
            Called after each block with its level and its number.

        Raises
        ------
        BlockError
            A block cannot be read, computed or written. The others that had begun are finished and known.
        """
        import zarr

        try:
            for level in self.levels:
                source = self.source
                if level.number:
                    before = zarr.open_array(str(self.output.path / str(level.number - 1)), mode="r")
                    source = source_of("image", before)
                blocks = Blocks(
                    level.transform,
                    starts_in(level.transform.output_shape, self.block_shape(level)),
                    source,
                    field=self.field if level.number == 0 else None,
                )
                task = WriteTask(blocks, str(self.output.path / str(level.number)))
                left = (index for index in range(math.prod(blocks.counts)) if (level.number, index) not in finished)
                self._run_level(runner, task, level.number, left, progress)
            group = zarr.open_group(str(self.output.path), mode="r+")
            group.attrs.update(
                multiscale_attributes(self.output.version, self.output.path.stem, [level.axes for level in self.levels])
            )
        finally:
            self._manifest.close()
        self._manifest.end()

    def _run_level(
        self,
        runner: Runner,
        task: WriteTask,
        level: int,
        left: Iterator[int],
        progress: Callable[[int, int], None],
    ) -> None:
        def done(index: int) -> None:
            self._manifest.add(level, index)
            progress(level, index)

        run_all(runner, write_block, task, left, done)


@dataclass(frozen=True)
class WriteTask:
    """What all blocks of a level share.

    Attributes
    ----------
    blocks : Blocks
        The transform and its input.
    path : str
        Of the array that is written.
    """

    blocks: Blocks
    path: str


def write_block(task: WriteTask, index: int) -> None:
    """Computes a block and writes it.

    Raises
    ------
    BlockError
        It cannot be read or written.
    """
    import zarr

    number = tuple(int(along) for along in np.unravel_index(index, task.blocks.counts))
    block = task.blocks.block(number)
    try:
        values = compute_block(task.blocks, number)
    except (Error, MemoryError) as error:
        if isinstance(error, BlockError):
            raise
        raise BlockError(f"block {number} [{part_text(block)}]: {type(error).__name__}: {error}") from error
    try:
        zarr.open_array(task.path, mode="r+")[block] = values
    except Exception as error:  # each store has its own
        raise BlockError(
            f"block {number} [{part_text(block)}] cannot be written to {task.path}: {type(error).__name__}: {error}"
        ) from error


class _Described:
    """A shape and a dtype, where a transform asks for an array."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype

    def __getitem__(self, part: Any) -> Any:
        raise InvalidError("no array")


def _halved(axis: Axis, before: int, after: int) -> Axis:
    if before == after:
        return axis
    return replace(axis, scale=axis.scale * 2, translation=axis.translation + axis.scale / 2)


def _is_zarr_group(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup"))
