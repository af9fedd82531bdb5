"""``Field``: vectors on a grid of their own that move positions; ``pack_fields``: fields as plans read them.

``include/bindless/filter/field.h`` describes the memory, and has the arithmetic of every device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from ..bindless_images.scratch_memory import array_in, take
from ..camera.lens import Lens, is_plain
from ..core._submission import array_layout
from ..model.arrays import Array
from ..model.enums import Interpolation
from ..model.resampling import FieldKind
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .packing import After, Layout, Packing, pack

__all__ = [
    "Field",
    "add_packing",
    "kind_of_fields",
    "layouts_of",
    "lens_of",
    "numbers_of_fields",
    "pack_fields",
    "packing_of",
    "scale_fields",
    "shift_fields",
]

AnyArray = Union[Array, UsmArray]
Floats = npt.NDArray[np.float64]

_NUMBERS = 28  # of a description
_LANES = 4  # floats of a vector
_LENS = 7  # in place of an interpolation
_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_MOST_PACKINGS = 64
_MOST_VECTORS = 1 << 28  # of FieldKind.linear


class Field(NamedTuple):
    """Vectors on a grid. A position p, counted from the centre of the first vector, becomes ``linear`` (p, 1) +
    ``spread`` v, where v is the vector at p.

    Attributes
    ----------
    vectors : AnyArray | Any
        Shape (*grid, d), of numbers, in (x, y[, z]) order. An array of another library lies on the queue's device, and
        has a packing.
    interpolation : Interpolation | None
        ``linear``, or ``cubic`` of coefficients of B-splines; None of a lens, whose numbers the vectors are: there p
        becomes ``linear`` (p', 1), where p' is where the lens leads.
    linear : NDArray[np.float64]
        Shape (d, d + 1).
    spread : NDArray[np.float64]
        Shape (d, d).
    packing : Packing | None
        The launch that packs the vectors, where one is prepared.
    has_footprints : bool
        Whether the levels of a mipmap follow from the footprints of the pixels, of a lens.
    """

    vectors: AnyArray | Any
    interpolation: Interpolation | None
    linear: Floats
    spread: Floats
    packing: Packing | None = None
    has_footprints: bool = False

    @classmethod
    def of_lens(cls, numbers: Floats, behind: Floats, *, has_footprints: bool = False) -> Field:
        """The field that stands for a lens; ``lens_of`` has the lens of the packed field.

        Parameters
        ----------
        numbers : NDArray[np.float64]
            Those of ``include/bindless/filter/lens.h``.
        behind : NDArray[np.float64]
            (2, 3), from positions behind the lens.
        has_footprints : bool
            As of the field.
        """
        vectors = numbers.view(_FLOAT32).reshape(-1, _LANES)
        return cls(vectors, None, behind, np.zeros((2, 2)), has_footprints=has_footprints)

    @property
    def on_device(self) -> bool:
        """Whether the vectors lie there."""
        return not isinstance(self.vectors, np.ndarray)

    def describe(self, first: int, following: int) -> Floats:
        """The numbers that describe the field.

        Parameters
        ----------
        first : int
            Where its vectors are, in doubles.
        following : int
            Fields that follow.
        """
        dims = len(self.linear)
        linear, spread = np.eye(3, 4), np.zeros((3, 3))
        linear[:dims, :dims], linear[:dims, 3] = self.linear[:, :dims], self.linear[:, dims]
        spread[:dims, :dims] = self.spread
        sizes = (*reversed(self.vectors.shape[:-1]), 1, 1)[:3]
        kind = _LENS if self.interpolation is None else self.interpolation.number
        return np.array([*linear.flat, *spread.flat, *sizes, dims, kind, first, following])


def lens_of(packed: Floats, before: Floats) -> Lens:
    """The lens that one field stands for, of the array of ``pack_fields``; behind a matrix (3, 3)."""
    return Lens(before, packed[_NUMBERS:], packed[:8].reshape(2, 4)[:, [0, 1, 3]])


def shift_fields(fields: Sequence[Field], distance: float | Floats) -> tuple[Field, ...]:
    """The same fields before an image that has so many more texels in front, along each axis."""
    last = fields[-1]
    linear = last.linear.copy()
    linear[:, -1] += distance
    return *fields[:-1], last._replace(linear=linear)


def scale_fields(fields: Sequence[Field], factors: Floats) -> tuple[Field, ...]:
    """The same fields before an image whose positions have other units, this factor of them along each axis."""
    last, rows = fields[-1], factors[:, None]
    return *fields[:-1], last._replace(linear=rows * last.linear, spread=rows * last.spread)


def kind_of_fields(fields: Sequence[Field]) -> FieldKind:
    """What kernels are compiled for."""
    if not fields:
        return FieldKind.none
    first, *others = fields
    if first.interpolation is None:
        assert isinstance(first.vectors, np.ndarray)
        has_own_code = not others and is_plain(first.vectors.view(_FLOAT64).ravel())
        return FieldKind.lens if has_own_code else FieldKind.any
    grid = first.vectors.shape[:-1]
    is_linear = first.interpolation is Interpolation.linear and min(grid) > 1 and math.prod(grid) < _MOST_VECTORS
    return FieldKind.linear if is_linear and not others else FieldKind.any


def numbers_of_fields(fields: Sequence[Field]) -> int:
    """Doubles of the array of ``pack_fields``."""
    return _ends(fields)[-1]


def _ends(fields: Sequence[Field]) -> list[int]:
    """Where the vectors of each field begin, in doubles, and where the last ones end."""
    ends = [_NUMBERS * len(fields)]
    for field in fields:
        ends.append(ends[-1] + math.prod(field.vectors.shape[:-1]) * _LANES // 2)
    return ends


def _layout_of(vectors: object) -> Any:
    """A key of arrays that lie alike and may differ in their addresses; None of one that does not tell."""
    try:
        layout = array_layout(vectors)
        hash(layout)
    except (AttributeError, TypeError, RuntimeError, BufferError):
        return None
    return layout


def layouts_of(fields: Sequence[Field]) -> tuple[Any, ...] | None:
    """A key of fields whose vectors lie alike; None where one does not tell how they lie."""
    layouts = tuple([(_layout_of(field.vectors), field.interpolation) for field in fields])
    return None if any(layout is None for layout, _ in layouts) else layouts


def packing_of(queue: Queue, vectors: object) -> Packing | None:
    """What ``add_packing`` added for vectors that lie alike."""
    packings = queue._storage.get(packing_of)
    return packings.get(_layout_of(vectors)) if packings else None


def add_packing(queue: Queue, vectors: object, array: UsmArray) -> Packing | None:
    """Prepare the launch that packs vectors that lie alike; None where none does, or the queue is out of order.

    Parameters
    ----------
    vectors : object
        As their library has them.
    array : UsmArray
        Their memory.
    """
    if not queue._stream.in_order:
        return None
    packing, layout = Packing.of(queue, Layout.of(array), _FLOAT32, _LANES), _layout_of(vectors)
    if packing is not None and layout is not None:
        packings = queue._storage.setdefault(packing_of, {})
        if len(packings) >= _MOST_PACKINGS:
            packings.clear()
        packings[layout] = packing
    return packing


def pack_fields(queue: Queue, fields: Sequence[Field], *, on_device: bool) -> tuple[AnyArray, After]:
    """Fields as one array of doubles, and the events that its use comes after.

    On the device it lies in memory of the pool: ``leave_array`` when all commands that use it are submitted.

    Parameters
    ----------
    queue : Queue
        Does the work.
    fields : Sequence[Field]
        One or more, of vectors on the host or on the queue's device.
    on_device : bool
        Whether the array lies on the device in any case; else it does where one of the fields does.
    """
    ends = _ends(fields)
    there = [number for number, field in enumerate(fields) if field.on_device]
    packed = np.zeros(ends[0] if len(there) == len(fields) else ends[-1], _FLOAT64)
    for number, field in enumerate(fields):
        following = len(fields) - 1 - number
        packed[_NUMBERS * number : _NUMBERS * (number + 1)] = field.describe(ends[number], following)
        if not field.on_device:
            vectors = packed[ends[number] : ends[number + 1]].view(_FLOAT32).reshape(*field.vectors.shape[:-1], _LANES)
            vectors[..., : field.vectors.shape[-1]] = field.vectors
    if not on_device and not there:
        return packed, ()
    block = take(queue, 8 * ends[-1])
    after: After = (queue.memcpy(array_in(queue, block, 0, packed.shape, _FLOAT64), packed),)
    for number in there:
        source, packing = fields[number].vectors, fields[number].packing
        target = array_in(queue, block, 8 * ends[number], (*source.shape[:-1], _LANES), _FLOAT32)
        if packing is None:
            assert isinstance(source, UsmArray)
            after = pack(queue, source, target, after)
        else:
            packing.submit(source, target)
    return array_in(queue, block, 0, (ends[-1],), _FLOAT64), after
