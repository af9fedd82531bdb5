"""Launches of projections over copies that are turned, of scans whose detectors have their rows above one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..model import info
from ..model.arrays import Array
from ..model.ranges import NdRange
from ..sycl.kernel.builtin import builtin_kernel
from .array_launch import ArrayLaunch, LaunchPair
from .halves import Halves

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue
    from ..sycl.usm import UsmArray

__all__ = ["is_upright", "turned_launch"]

# As csrc/kernels/source/projector_turned.cl.
_LANES, _WARPS, _BEFORE, _AROUND = 32, 8, 2, 6
_RAYS_OF_ITEM, _TEXELS_OF_ITEM, _VIEWS = 2, 4, 8
_FEWEST_ROWS = 16  # neighbouring items have neighbouring rows
_MOST_GROUPS = 65535  # along the second and third axis, of CUDA
_MOST_ELEMENTS = (1 << 32) - 1


def is_upright(table: Array) -> bool:
    """Whether what is across is the same for all rows, in views as ``blrDescribeViews`` writes them."""
    depth, across, across_step = (table.reshape(-1, 8, 4)[:, number] for number in range(3))
    return not (depth[:, 3] == 2).any() and not any(vectors[:, 2].any() for vectors in (depth, across, across_step))


def turned_launch(
    queue: Queue, operation: Literal["forward", "adjoint", "back"], shape: tuple[int, int, int], views: UsmArray,
    detector_shape: tuple[int, int], power: tuple[int, ...], halves: Halves,
) -> LaunchPair | None:  # fmt: skip
    """The launch of the copy and that of the sums, or None where those over arrays as they are serve better.

    Parameters
    ----------
    queue : Queue
        Does the work.
    operation : {"forward", "adjoint", "back"}
        As ``Rays.launch``.
    shape : tuple[int, int, int]
        Depth, height and width of the volume.
    views : UsmArray
        The upright views, 32 numbers each.
    detector_shape : tuple[int, int]
        Rows and columns.
    power : tuple[int, ...]
        The power, of ``"back"``.
    halves : Halves
        The precision of what is read and written.
    """
    (depth, height, width), (rows, columns), count = shape, detector_shape, views.size // 32
    lines, size, slabs = (width, depth, height) if operation == "forward" else (columns, rows, count)
    steps = (height * width, width, _BEFORE) if operation == "forward" else (columns, rows * columns, 0)
    turned = slabs + 2 * steps[2], lines + _AROUND, -(-(size + _AROUND) // 8) * 8
    if rows < _FEWEST_ROWS or height > _MOST_GROUPS or turned[0] * turned[1] * turned[2] > _MOST_ELEMENTS:
        return None
    tiles = -(-turned[1] // _LANES), -(-turned[2] // _LANES), min(turned[0], _MOST_GROUPS)
    copied = lines, size, slabs, *steps, views, int(operation == "adjoint")
    turn = _launch(queue, "turn", tiles, copied, (int(halves.source),))
    if operation == "forward":
        tiles = -(-columns // _WARPS), 1, -(-rows // (_LANES * _RAYS_OF_ITEM))
        units = queue.device.get_info(info.device.max_compute_units)
        shares = max(-(-count // _VIEWS), min(count, 8 * units // (tiles[0] * tiles[2])))
        tiles = tiles[0], min(shares, _MOST_GROUPS), tiles[2]
    else:
        tiles = -(-width // _WARPS), height, min(-(-depth // (_LANES * _TEXELS_OF_ITEM)), _MOST_GROUPS)
    arguments = width, height, depth, views, count, columns, rows
    sums = _launch(queue, f"turned_{operation}", tiles, arguments, (*power, int(halves.values)))
    return LaunchPair(turn, sums, turned)


def _launch(
    queue: Queue, name: str, groups: tuple[int, ...], before: tuple[object, ...], behind: tuple[object, ...]
) -> ArrayLaunch:
    """A launch of groups along x, y and z."""
    space = NdRange((groups[2], groups[1], groups[0] * _LANES * _WARPS), (1, 1, _LANES * _WARPS))
    return ArrayLaunch(queue, space, builtin_kernel(queue, f"bindless_projector_{name}"), before, behind)
