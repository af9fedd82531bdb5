"""``reduction``: a variable in which the work-items of a launch combine values (SYCL 2020 section 4.9.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...model.arrays import DType
from ...model.combiners import COMBINERS, identity_of
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...submission.event import Event
from ..buffer.accessor import Accessor
from ..usm.array import UsmArray

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["Reduction", "fill_variables", "reduction", "require_depth", "require_values", "with_filled_variables"]

_BITWISE = ("and", "or", "xor")
_TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")
_MOST_BYTES = 16384  # of local memory, of which every device has 32 KiB or more
_MOST_NESTED = 7  # of the steps in core/_submission


class Reduction:
    """A reduction among the arguments of a launch; ``reduction`` makes one.

    Attributes
    ----------
    variable : UsmArray or Accessor
        Receives the result.
    combiner : str
        The operation.
    initialize_to_identity : bool
        Whether the variable's value before the launch is ignored.
    dtype : numpy.dtype
        Of the variable.
    size : int
        Number of elements, each of which is a reduction.
    """

    __slots__ = ("_key", "_of_value", "combiner", "dtype", "initialize_to_identity", "size", "variable")

    def __init__(self, _variable: UsmArray | Accessor, _combiner: str, _initialize_to_identity: bool) -> None:
        self.variable = _variable
        self.combiner = _combiner
        self.initialize_to_identity = _initialize_to_identity
        self.dtype: DType = _variable.dtype
        self.size = math.prod(_variable.shape)
        # Equal for reductions of one type. None: the variable must be filled first, and `_of_value` is the reduction
        # that comes after this.
        self._key = None if _initialize_to_identity else (Reduction, self.dtype, self.size, _combiner)
        self._of_value = Reduction(_variable, _combiner, False) if _initialize_to_identity else self

    def __repr__(self) -> str:
        return f"<Reduction {self.combiner!r} of {shown(self.variable)}>"


def reduction(
    variable: UsmArray | Accessor, combiner: str = "add", *, initialize_to_identity: bool = False
) -> Reduction:
    """Make an argument of a kernel in Python whose work-items combine values in a variable.

    The parameter of the kernel is a reducer. ``total += value`` contributes with "add", ``*=``, ``&=``, ``|=`` and
    ``^=`` with "mul", "and", "or" and "xor", and ``total.combine(value)`` with each operation. Elements of a larger
    variable have indices: ``counts[i] += 1``. The kernel cannot read the result.

    Parameters
    ----------
    variable : UsmArray or Accessor
        One number, of shape () or (1,), or an array of one dimension and at most 16 KiB: int32, uint32, int64, uint64,
        float32 or float64, contiguous. The launch combines its value with those of the work-items.
    combiner : str
        ``"add"``, ``"mul"``, ``"min"``, ``"max"``, and for integers ``"and"``, ``"or"``, ``"xor"``.
    initialize_to_identity : bool
        Whether the launch ignores the variable's value, and fills it with the operation's identity before. Not in
        graphs and bound launches, and not for accessors.

    Returns
    -------
    Reduction
        For ``Queue.parallel_for``, at the place of the reducer among the arguments; of several launches, too.

    Raises
    ------
    InvalidError
        A variable or an operation that no launch reduces.

    Notes
    -----
    Each work-group combines the values of its work-items, and then changes the variable once by an atomic operation.
    The order of groups is not fixed: integers, minima and maxima are the same in each run, sums and products of floats
    differ by their rounding. A range without work-group size is divided by the driver; an ``NdRange`` with groups of
    256 is the quickest choice on GPUs.

    Examples
    --------
    >>> from bindless import device
    >>> @bindless.kernel
    ... def total_of(values, total, largest):
    ...     value = values[device.item_id(0)]
    ...     total += value
    ...     largest.combine(value)
    >>> if bindless.kernels_available("python"):
    ...     queue = bindless.Queue("reference")
    ...     values = bindless.usm_empty(1024, np.float32, queue).copy_from(np.arange(1024))
    ...     total, largest = (bindless.usm_empty((), np.float32, queue) for _ in range(2))
    ...     results = (
    ...         bindless.reduction(total, initialize_to_identity=True),
    ...         bindless.reduction(largest, "max", initialize_to_identity=True),
    ...     )
    ...     queue.parallel_for(1024, total_of, values, *results).wait()
    ...     assert total.numpy() == 1023 * 512 and largest.numpy() == 1023
    """
    if not isinstance(variable, (UsmArray, Accessor)):
        raise InvalidError(
            f"reduction({shown(variable)}): the variable is a UsmArray, from usm_empty or as_usm_array, or an accessor"
        )
    if combiner not in COMBINERS:
        raise InvalidError(f"reduction(combiner={shown(combiner)}): it is one of {', '.join(map(repr, COMBINERS))}")
    result = Reduction(variable, combiner, bool(initialize_to_identity))
    shape = variable.shape
    if result.dtype.name not in _TYPES or (combiner in _BITWISE and result.dtype.kind == "f"):
        types = _TYPES[:4] if combiner in _BITWISE else _TYPES
        raise InvalidError(f"reduction of {result.dtype} with {combiner!r}: elements are {', '.join(types)}")
    if len(shape) > 1 or not 0 < result.size * result.dtype.itemsize <= _MOST_BYTES:
        raise InvalidError(
            f"reduction of shape {shape}: the variable is a number, or has one dimension and at most "
            f"{_MOST_BYTES // result.dtype.itemsize} elements of {result.dtype}"
        )
    if isinstance(variable, UsmArray) and not variable._contiguous:
        raise InvalidError(f"reduction of {shown(variable)}: its elements are not contiguous: reduce into a copy")
    if initialize_to_identity and isinstance(variable, Accessor):
        raise InvalidError("reduction(accessor, initialize_to_identity=True): fill the buffer before, handler.fill")
    return result


def with_filled_variables(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with reductions of the variable's value in place of those of the identity; the same tuple
    where there is none.
    """
    if next(_identities(arguments), None) is None:
        return arguments
    return tuple(
        [
            value._of_value if type(value) is Reduction
            else with_filled_variables(value) if isinstance(value, tuple)
            else value
            for value in arguments
        ]
    )  # fmt: skip


def fill_variables(queue: QueueBase, arguments: tuple[object, ...], depends_on: Iterable[Event] | Event) -> list[Event]:
    """Fill the variables of reductions that begin with the identity; return the events that the launch waits for."""
    depends_on = depends_on if isinstance(depends_on, (Event, tuple)) else tuple(depends_on)
    return [
        queue.fill(value.variable, identity_of(value.combiner, value.dtype), depends_on=depends_on)
        for value in _identities(arguments)
    ]


def require_depth(depth: int) -> None:
    """Refuse tuples among the arguments of a kernel that are nested deeper than a launch reads them.

    Raises
    ------
    InvalidError
        The depth is above 7.
    """
    if depth > _MOST_NESTED:
        raise InvalidError(
            f"tuples among the arguments of a kernel are nested {_MOST_NESTED} deep at most: use flat ones"
        )


def require_values(arguments: tuple[object, ...]) -> None:
    """Refuse reductions that begin with the identity, for commands without a fill before them.

    Raises
    ------
    InvalidError
        There is one.
    """
    for value in _identities(arguments):
        raise InvalidError(
            f"{value!r}: graphs and bound launches do not initialize reductions: record graph.fill before, or fill "
            "the variable before each launch"
        )


def _identities(arguments: tuple[object, ...], depth: int = 0) -> Iterator[Reduction]:
    """Yield the reductions that begin with the identity, those in tuples too."""
    require_depth(depth)
    for value in arguments:
        if isinstance(value, tuple):
            yield from _identities(value, depth + 1)
        elif type(value) is Reduction and value.initialize_to_identity:
            yield value
