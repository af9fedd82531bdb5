"""``KernelTemplate``: the base of kernels that are compiled for the types of a launch's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core._submission import Template

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase
    from .kernel import Kernel

__all__ = ["KernelTemplate"]


class KernelTemplate(Template):
    """A kernel that becomes a ``Kernel`` at each launch, for the device and the types of the arguments."""

    __slots__ = ()

    def _specialised(
        self, queue: QueueBase, index_space: Any, arguments: tuple[Any, ...]
    ) -> tuple[Kernel, tuple[Any, ...]]:
        """The kernel for a launch, and the values of its parameters.

        Raises
        ------
        InvalidError
            The kernel does not take the arguments.
        BuildError
            It cannot be compiled for them.
        """
        raise NotImplementedError
