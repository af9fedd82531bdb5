"""Work-items of a launch, in SYCL's order of dimensions: the last one is the fastest."""

from __future__ import annotations

from .declaration import Call, KernelTypeError, LaunchFacts, Type, device_intrinsic
from .work_item import current

__all__ = ["barrier", "group_id", "group_range", "item_id", "item_range", "local_id", "local_range"]


def _native(launch: LaunchFacts, name: str, dimension: Type | None) -> int:
    """The dimension in the order of drivers: 0 is the fastest."""
    number = 0 if dimension is None else dimension.value
    if not isinstance(number, int) or isinstance(number, bool):
        raise KernelTypeError(f"{name}: the dimension is a constant, 0, 1 or 2, not {dimension}")
    if not 0 <= number < launch.dimensions:
        raise KernelTypeError(f"{name}({number}): the range of the launch has {launch.dimensions} dimensions")
    return launch.dimensions - 1 - number


def _item_id(launch: LaunchFacts, dimension: Type | None = None) -> Call:
    return Call("long", f"__bindless_global_id_{_native(launch, 'item_id', dimension)}")


def _item_range(launch: LaunchFacts, dimension: Type | None = None) -> Call:
    return Call("long", f"__bindless_global_size_{_native(launch, 'item_range', dimension)}")


def _local_id(launch: LaunchFacts, dimension: Type | None = None) -> Call:
    return Call("long", f"__bindless_local_id_{_native(launch, 'local_id', dimension)}")


def _local_range(launch: LaunchFacts, dimension: Type | None = None) -> Call:
    return Call("long", f"__bindless_local_size_{_native(launch, 'local_range', dimension)}")


def _group_id(launch: LaunchFacts, dimension: Type | None = None) -> Call:
    return Call("long", f"__bindless_group_id_{_native(launch, 'group_id', dimension)}")


def _group_range(launch: LaunchFacts, dimension: Type | None = None) -> Call:
    return Call("long", f"__bindless_group_count_{_native(launch, 'group_range', dimension)}")


def _barrier(launch: LaunchFacts) -> Call:
    return Call("void", "__bindless_barrier", of_group=True)


@device_intrinsic(_item_id)
def item_id(dimension: int = 0) -> int:
    """Return the work-item's place in the range of the launch.

    Costs nothing to speak of: it is computed from registers.

    Parameters
    ----------
    dimension : int
        Of the range, a constant: 0 is the first number of the range, so that the last dimension counts neighbours.

    Returns
    -------
    int
        From 0, int64.
    """
    return current().item[dimension]


@device_intrinsic(_item_range)
def item_range(dimension: int = 0) -> int:
    """Return the number of work-items of the launch along a dimension.

    Parameters
    ----------
    dimension : int
        Of the range, a constant.

    Returns
    -------
    int
        int64.
    """
    return current().item_range[dimension]


@device_intrinsic(_local_id)
def local_id(dimension: int = 0) -> int:
    """Return the work-item's place in its work-group.

    Parameters
    ----------
    dimension : int
        Of the range, a constant.

    Returns
    -------
    int
        From 0, int64.
    """
    return current().local[dimension]


@device_intrinsic(_local_range)
def local_range(dimension: int = 0) -> int:
    """Return the number of work-items of a work-group along a dimension.

    Parameters
    ----------
    dimension : int
        Of the range, a constant.

    Returns
    -------
    int
        As in the ``NdRange`` of the launch; for a plain range the driver chooses. int64.
    """
    return current().local_range[dimension]


@device_intrinsic(_group_id)
def group_id(dimension: int = 0) -> int:
    """Return the place of the work-group among the groups of the launch.

    Parameters
    ----------
    dimension : int
        Of the range, a constant.

    Returns
    -------
    int
        From 0, int64.
    """
    here = current()
    return here.item[dimension] // here.local_range[dimension]


@device_intrinsic(_group_range)
def group_range(dimension: int = 0) -> int:
    """Return the number of work-groups of the launch along a dimension.

    Parameters
    ----------
    dimension : int
        Of the range, a constant.

    Returns
    -------
    int
        int64.
    """
    here = current()
    return here.item_range[dimension] // here.local_range[dimension]


@device_intrinsic(_barrier)
def barrier() -> None:
    """Wait for all work-items of the work-group; local memory that they wrote is visible after it.

    All work-items of the group call it, or none. Costs some ten to hundred cycles on GPUs. The launch is over an
    ``NdRange``, which names the work-groups, as for ``local_array`` and the functions of work-groups and sub-groups;
    over a plain range it raises ``NdRangeError``.
    """
    current().barrier()
