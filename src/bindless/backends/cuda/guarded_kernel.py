"""Launches over ranges that no good work-group size divides, such as a prime number of items.

The kernel is compiled once more, with a comparison of the global id and the sizes of the range before its body
(``compiler.ptx.range_guard``). Then groups have their usual size, and the last one is partly empty.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from ...compiler.ptx.range_guard import with_range
from ...drivers.common.cffi_types import CData
from ...model.errors import BuildError
from .module import Module, load_derived

__all__ = ["SMALLEST", "GuardedKernel", "GuardedLaunch"]

# Items of a range that is worth a compilation, where groups have fewer items than a quarter of the usual number, and
# than _SMALL_GROUP.
SMALLEST = 1 << 16
_SMALL_GROUP = 64

_Sizes = tuple[int, ...]


class GuardedLaunch(NamedTuple):
    """A launch of the guarded kernel.

    Attributes
    ----------
    native
        CUfunction.
    shape
        Blocks and threads of the launch, by dimension.
    argument
        The bytes of its last parameter.
    """

    native: CData
    shape: tuple[int, int, int, int, int, int]
    argument: bytes


class GuardedKernel:
    """The guarded form of a kernel, compiled with the first range that needs it.

    Parameters
    ----------
    module, name
        Of the kernel.
    """

    def __init__(self, module: Module, name: str) -> None:
        self._module, self._name = module, name
        self._native: CData = None
        self._is_unknown = True

    @staticmethod
    def serves(local_size: _Sizes, most: int) -> bool:
        """Whether groups of a size are so small that a guarded kernel is faster; ``most`` items are usual in one."""
        items = math.prod(local_size)
        return items < _SMALL_GROUP and items * 4 <= most

    def launch(self, global_size: _Sizes, local_size: _Sizes) -> GuardedLaunch | None:
        """The launch with groups that need not divide the range; None where the kernel has no guarded form."""
        native = self._function()
        if native is None:
            return None
        sizes, block = (*global_size, 1, 1)[:3], (*local_size, 1, 1)[:3]
        groups = [-(-size // items) for size, items in zip(sizes, block)]
        return GuardedLaunch(native, (*groups, *block), struct.pack("<3Q", *sizes))  # type: ignore[arg-type]

    def _function(self) -> CData:
        if self._is_unknown:
            with self._module.loaded():
                if self._is_unknown:
                    self._native = self._compiled()
                    self._is_unknown = False
        return self._native

    def _compiled(self) -> CData:
        text = with_range(self._module.source.decode("latin-1"), self._name)
        if text is None:
            return None
        try:
            return load_derived(self._module, text.encode("latin-1")).function(self._name)
        except BuildError:  # The kernel as it was loaded runs in small groups.
            return None
