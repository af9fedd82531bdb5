"""``Kernel``: a function that runs over a range of work-items (SYCL 2020 section 4.11.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backends.contract import KernelArgument, KernelRecord, NativeKernel
from ..model import info
from ..model.enums import coerce
from ..model.errors import FeatureNotSupportedError, InvalidError, NdRangeError
from ..model.ranges import NdRange, RangeLike, as_range

if TYPE_CHECKING:
    from .context import Context
    from .kernel_bundle import KernelBundle

__all__ = ["Kernel"]

Sizes = tuple[int, ...]


class Kernel:
    """A kernel of a bundle, which it keeps alive. ``bundle.get_kernel(name)`` makes one."""

    __slots__ = ("__weakref__", "_bundle", "_context", "_local", "_native", "_parameters", "_record")

    def __init__(self, _bundle: KernelBundle, _native: NativeKernel, _record: KernelRecord) -> None:
        self._bundle = _bundle
        self._context: Context = _bundle.context
        self._native = _native
        self._record = _record
        self._local: Sizes | None = _record.required_work_group_size
        self._parameters: tuple[KernelArgument, ...] | None = _record.arguments

    @property
    def name(self) -> str:
        return self._record.name

    @property
    def bundle(self) -> KernelBundle:
        return self._bundle

    @property
    def context(self) -> Context:
        return self._context

    @property
    def arguments(self) -> tuple[KernelArgument, ...] | None:
        """Its parameters as the driver reflects them, or None where the driver cannot tell."""
        return self._parameters

    def get_info(self, descriptor: info.kernel | str) -> Any:
        """The answer to a member of ``info.kernel``.

        Raises:
            InvalidError: there is no such descriptor.
            FeatureNotSupportedError: the driver does not tell.
        """
        name = coerce(info.kernel, descriptor, "descriptor")
        if name is info.kernel.function_name:
            return self.name
        if name is info.kernel.num_args:
            if self._parameters is None:
                raise FeatureNotSupportedError(f"the driver does not tell how many arguments {self.name!r} takes")
            return len(self._parameters)
        required = self._record.required_work_group_size
        return f"reqd_work_group_size({', '.join(map(str, required))})" if required else ""

    def _sizes(self, index_space: RangeLike | NdRange) -> tuple[Sizes, Sizes | None]:
        """Global and local size in the order of the native kernel; None leaves the local size to the backend.

        Raises:
            InvalidError: no range.
            NdRangeError: a work-group that the kernel cannot have.
        """
        if type(index_space) is tuple and 0 < len(index_space) <= 3:
            for size in index_space:
                if type(size) is not int or size < 0:
                    break
            else:
                return index_space[::-1], self._local
        if isinstance(index_space, NdRange):
            local = tuple(reversed(tuple(index_space.local_range)))
            self._check_local(local)
            return tuple(reversed(tuple(index_space.global_range))), local
        return tuple(reversed(tuple(as_range(index_space)))), self._local

    def _check_local(self, local: Sizes) -> None:
        items = 1
        for size in local:
            items *= size
        record = self._record
        if record.max_work_group_size and items > record.max_work_group_size:
            raise NdRangeError(
                f"a work-group of {items} items: kernel {record.name!r} runs at most {record.max_work_group_size}"
            )
        required = record.required_work_group_size
        if required is not None and (*local, 1, 1)[:3] != (*required, 1, 1)[:3]:
            raise NdRangeError(
                f"a work-group of {tuple(reversed(local))}: kernel {record.name!r} was built for "
                f"{tuple(reversed(required))} (SYCL order)"
            )

    def _require_usable(self, context: Context) -> None:
        """Raises ``InvalidError`` if the bundle is closed or of another context."""
        self._bundle._require_open()
        if context is not self._context:
            raise InvalidError(f"kernel {self.name!r} was loaded in another context than the queue's: load it there")

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r}>"
