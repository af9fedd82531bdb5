"""``Job``: a transform from zarr to a multiscale image of OME-Zarr, block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..model.arrays import DType
from ..model.errors import InvalidError
from ..model.file_places import places_of, require_apart
from .arrays import halving
from .blocks import Blocks, compute_block
from .chunks import require_count, starts_in
from .errors import BlockError, part_text
from .manifest import Manifest
from .ome_zarr import FORMATS, Axis, multiscale_attributes
from .output_folder import OutputFolder
from .runners import Runner, run_all
from .sources import source_of
from .warp import Warp

__all__ = ["Job", "Level", "Output", "computed"]

# Elements of a block: few enough for the memory of small machines, enough that reading around blocks is little.
_ELEMENTS = 1 << 22
_MOST_PLANNED = 1 << 13  # blocks whose texels are counted


@dataclass(frozen=True)
class Output:
    """Form and place in which the result is stored.

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
    warp : Warp
        From the input or from the level before.
    axes : tuple[Axis, ...]
        Of the array.
    """

    number: int
    warp: Warp
    axes: tuple[Axis, ...]


class Job:
    """A transform and the levels below it.

    Parameters
    ----------
    image : array
        The input: a zarr array.
    field : array
        Displacements, or None.
    warp : Warp
        Of the first level.
    axes : Sequence[Axis]
        Of the first level.
    levels : int
        Arrays of the result.
    output : Output
        How it is stored.
    described : dict[str, Any]
        Names of the input's files and everything else that identifies the job.
    inputs : Sequence[str]
        Names of other files that the output must not replace.

    Attributes
    ----------
    folder : OutputFolder
        Where the result is written.
    is_finished : bool
        Whether the result is in its place.

    Raises
    ------
    InvalidError
        The sizes, the metadata or the name of the result are none.
    """

    def __init__(
        self,
        image: Any,
        field: Any,
        warp: Warp,
        axes: Sequence[Axis],
        levels: int,
        output: Output,
        described: dict[str, Any],
        inputs: Sequence[str] = (),
    ) -> None:
        self.source, self.field, self.output = source_of("image", image), field, output
        self.levels = [Level(0, warp, tuple(axes))]
        for number in range(1, levels):
            before = self.levels[-1]
            shape = before.warp.output_shape
            half = halving(_Described(shape, np.dtype(warp.dtype)), min(warp.dims, len(shape)))
            self.levels.append(Level(number, half, tuple(map(_halved, before.axes, shape, half.output_shape))))
        for level in self.levels:
            require_count(self.counts(level), f"a result of shape {level.warp.output_shape}")
        filter_ = warp.filter
        sizes = {
            "matrix": warp.matrix,
            "offset": warp.offset,
            "shape": warp.output_shape,
            "input": [warp.input_shape, warp.dtype],
            "filter": [str(filter_.interpolation), str(warp.boundary), repr(filter_.fill), str(filter_.precision)],
            "levels": levels,
            "storage": [output.chunks, output.shards, output.codec, output.version],
        }
        self._attributes = multiscale_attributes(
            output.version, output.path.stem, [level.axes for level in self.levels]
        )
        sizes["metadata"] = self._attributes
        self.folder = OutputFolder(output.path)
        self._manifest = Manifest({**described, **sizes})
        self._inputs = [*places_of(image, field), *places_of(*inputs)]
        self.is_finished = False

    def block_shape(self, level: Level) -> tuple[int, ...]:
        """Of the blocks of a level: multiples of what is stored as one file."""
        shape = level.warp.output_shape
        block = [min(part, size) for part, size in zip(self.output.shards or self.output.chunks, shape)]
        while math.prod(block) < _ELEMENTS:
            growing = [axis for axis, size in enumerate(shape) if block[axis] < size and axis >= level.warp.batch]
            if not growing:
                break
            axis = min(growing, key=lambda axis: (block[axis], -axis))
            block[axis] *= 2
        return tuple(block)

    def counts(self, level: Level) -> tuple[int, ...]:
        """Blocks of a level along each axis."""
        return tuple(-(-size // part) for size, part in zip(level.warp.output_shape, self.block_shape(level)))

    @property
    def total(self) -> int:
        """Blocks of all levels."""
        return sum(math.prod(self.counts(level)) for level in self.levels)

    @property
    def written_bytes(self) -> int:
        """Of the result, before it is compressed."""
        item = np.dtype(self.levels[0].warp.dtype).itemsize
        return sum(math.prod(level.warp.output_shape) * item for level in self.levels)

    def read_bytes(self) -> int:
        """Of the input that the blocks of the first level need, without displacements, before it is compressed.

        Of many blocks, some stand for all.
        """
        level = self.levels[0]
        counts = self.counts(level)
        starts = starts_in(level.warp.output_shape, self.block_shape(level))
        item, total, every = np.dtype(level.warp.dtype).itemsize, 0, math.prod(counts)
        step = -(-every // _MOST_PLANNED)
        for index in range(0, every, step):
            block = tuple(slice(along[n], along[n + 1]) for along, n in zip(starts, _number(index, counts)))
            spans = level.warp.spans(block)
            count = math.prod(part.stop - part.start for part in block[: level.warp.batch])
            total += 0 if spans is None else math.prod(span.size for span in spans) * count * item
        return total * every // -(-every // step)

    def require_possible(self, *, overwrite: bool) -> None:
        """Refuses a run that would not begin; writes nothing.

        Raises
        ------
        InvalidError
            The output would replace something else, an input in particular, or another job began there, or zarr does
            not store such arrays.
        """
        self.folder.choose(self._manifest, overwrite=overwrite)
        require_apart(self.output.path, self._inputs, replaces=self.folder.replaces)
        if Manifest.is_in(self.folder.work) and not overwrite:
            self._manifest.follow(self.folder.work)
        self._create({})

    def prepare(self, *, overwrite: bool) -> set[tuple[int, int]]:
        """Makes the arrays, or finds those of an earlier run, whose finished blocks it returns; the folder is locked.

        Parameters
        ----------
        overwrite : bool
            Whether a result, also an unfinished one, is computed again from the beginning.

        Raises
        ------
        InvalidError
            As of ``require_possible``.
        """
        self.folder.restore()
        self.require_possible(overwrite=overwrite)
        work = self.folder.work
        finished = None
        if Manifest.is_in(work) and not overwrite:
            finished = self._manifest.follow(work)
        if finished is None:
            self.folder.clear()
            self._manifest.begin(work)
            self._create(work)
            self._manifest.have_arrays(work)
            return set()
        for partial in work.rglob("*.partial"):  # of writes that were cut short
            partial.unlink(missing_ok=True)
        return finished

    def _create(self, place: Path | dict[str, Any]) -> None:
        """The arrays, in a folder or, to see whether zarr stores them, in memory."""
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
        try:
            group = zarr.create_group(store=place, zarr_format=version)
            for level in self.levels:
                shape = level.warp.output_shape
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
                    dtype=np.dtype(level.warp.dtype),
                    compressors=compressors,
                    fill_value=0,
                    **options,
                )
        except OSError:
            raise
        except Exception as error:  # zarr has many
            raise InvalidError(
                f"{output.path}: zarr stores no array of shape {shape} in chunks {output.chunks}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def run(self, runner: Runner, finished: set[tuple[int, int]], progress: Callable[[int, int], None]) -> None:
        """Computes and writes the blocks that are not finished, then the metadata, and puts the result in its place.

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

        work = self.folder.work
        try:
            for level in self.levels:
                source = self.source
                if level.number:
                    before = zarr.open_array(str(work / str(level.number - 1)), mode="r")
                    source = source_of("image", before)
                blocks = Blocks(
                    level.warp,
                    starts_in(level.warp.output_shape, self.block_shape(level)),
                    source,
                    field=self.field if level.number == 0 else None,
                )
                task = WriteTask(blocks, str(work / str(level.number)))
                left = (index for index in range(math.prod(blocks.counts)) if (level.number, index) not in finished)
                self._run_level(runner, task, level.number, left, progress)
            zarr.open_group(str(work), mode="r+").attrs.update(self._attributes)
        finally:
            self._manifest.close()
        self.folder.publish()
        self._manifest.end(self.folder.work)
        self.is_finished = True
        self.folder.tidy()

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
    """Input and output that all blocks of a level share.

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

    number = _number(index, task.blocks.counts)
    block = task.blocks.block(number)
    values = computed(task.blocks, number)
    try:
        zarr.open_array(task.path, mode="r+")[block] = values
    except Exception as error:  # each store has its own
        raise BlockError(
            f"block {number} [{part_text(block)}] cannot be written to {task.path}: {type(error).__name__}: {error}"
        ) from error


def computed(blocks: Blocks, number: tuple[int, ...]) -> Any:
    """The values of a block.

    Raises
    ------
    BlockError
        It cannot be computed.
    """
    try:
        return compute_block(blocks, number)
    except BlockError:
        raise
    except Exception as error:  # codecs and libraries have their own
        block = part_text(blocks.block(number))
        raise BlockError(f"block {number} [{block}]: {type(error).__name__}: {error}") from error


def _number(index: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(along) for along in np.unravel_index(index, counts))


class _Described:
    """A shape and a dtype, where a transform asks for an array."""

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        self.shape, self.dtype = shape, dtype

    def __getitem__(self, part: Any) -> Any:
        raise InvalidError("no array")


def _halved(axis: Axis, before: int, after: int) -> Axis:
    if before == after:
        return axis
    return replace(axis, scale=axis.scale * 2, translation=axis.translation + axis.scale / 2)
