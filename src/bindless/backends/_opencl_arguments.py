"""What the arguments of a cl_kernel are set to. Its lock is held by who sets and launches."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..drivers import opencl as driver
from ..model.errors import InvalidError
from . import _opencl_buffers, _opencl_svm, _opencl_usm
from ._opencl_context import Context
from ._opencl_errors import SUCCESS
from ._opencl_memory import Means, set_argument
from ._opencl_signature import Signature

__all__ = ["Arguments"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_set = lib.clSetKernelArg


class Arguments:
    """The arguments of one kernel, those of its next launch.

    Attributes:
        described: bindless_kernel_t, what ``lib.bindless_launch`` takes.
        direct: whether ``lib.bindless_launch`` sets them, from their bytes one behind the other: values and addresses.
        generation: of the context when they were set: an address or handle may mean something else in a later one.
    """

    def __init__(self, native: Any, name: str, context: Context, means: Means, signature: Signature) -> None:
        self._native = native
        self._name = name
        self._context = context
        self._means = means
        self._signature = signature
        self._plan = tuple((index, part.source, part.kind) for index, part in enumerate(signature.natives))
        self._values: tuple[bytes | int, ...] | None = None  # those that are set, where they are not direct
        self.generation = -1
        self.described = ffi.new("bindless_kernel_t *")
        self.described.kernel = native
        self.direct = self._describe()

    def _describe(self) -> bool:
        """Tells what the arguments are, where each is a value or an address."""
        arguments, parts = self._signature.arguments, self._signature.natives
        if arguments is None or len(arguments) != len(parts):
            return False
        kinds = {"value": lib.BINDLESS_VALUE}
        if self._means is not _opencl_buffers:
            kinds["pointer"] = (
                lib.BINDLESS_UNIFIED_ADDRESS if self._means is _opencl_usm else lib.BINDLESS_SHARED_VIRTUAL_ADDRESS
            )
        if any(part.kind not in kinds for part in parts):
            return False
        rows = [(kinds[part.kind], argument.size) for part, argument in zip(parts, arguments)]
        begins = itertools.accumulate((size for _, size in rows), initial=0)
        described = self.described
        self._rows = ffi.new("bindless_argument_t[]", [(kind, at, size) for (kind, size), at in zip(rows, begins)])
        self._set_values = ffi.new("char[]", sum(size for _, size in rows) + 1)
        described.count, described.arguments, described.values = len(rows), self._rows, self._set_values
        described.numbers = _opencl_buffers.NUMBERS.start
        return True

    def renew(self) -> int:
        """Begins another generation of the context, in which nothing is known to be set."""
        generation = self._context.generation
        self.forget()
        if self._means is _opencl_svm:
            result = _opencl_svm.allow_indirect_access(self._context, self._native)
            if result != SUCCESS:
                return result
        self.generation = generation
        return int(SUCCESS)

    def forget(self) -> None:
        """Whatever is set, all is set anew by the next launch."""
        self._values = None
        self.described.known = 0

    def set(self, arguments: Sequence[bytes | int]) -> int:
        """Sets them one by one, but for those that are set already; the result."""
        values, before = tuple(arguments), self._values
        if values == before:
            return int(SUCCESS)
        self.forget()
        for index, source, kind in self._plan:
            value = values[source]
            if before is not None and value == before[source]:
                continue
            result = self._set_one(index, source, kind, value)
            if result != SUCCESS:
                return result
        if not self.direct:
            self._values = values
        return int(SUCCESS)

    def _set_one(self, index: int, source: int, kind: str, value: bytes | int) -> int:
        if isinstance(value, int):
            return int(_set(self._native, index, value, _NULL))
        if kind == "value":
            return int(_set(self._native, index, len(value), value))
        if kind == "pointer":
            return int(set_argument(self._context, self._native, index, int.from_bytes(value, "little")))
        if kind in ("image", "sampler"):
            return self._set_image(index, source, kind, int.from_bytes(value, "little"))
        return self._set_unknown(index, value)

    def _set_image(self, index: int, source: int, kind: str, handle: int) -> int:
        """The driver's object for the handle of an image, or its sampler."""
        context = self._context
        view = context.sampled.get(handle) or context.unsampled.get(handle)
        if view is None:
            raise InvalidError(
                f"argument {source} of kernel {self._name!r}: {handle:#x} is no image of this context: it was "
                "destroyed, or is of another context",
                backend="opencl",
            )
        view.require(self._signature.natives[index].type, source, self._name)
        if kind == "image":
            return int(_set(self._native, index, 8, ffi.new("cl_mem *", view.image)))
        if view.sampler is None:
            raise InvalidError(
                f"argument {source} of kernel {self._name!r}: {handle:#x} is an unsampled image, and the kernel "
                "samples it: create it with a sampler",
                backend="opencl",
            )
        return int(_set(self._native, index, 8, ffi.new("cl_sampler *", view.sampler)))

    def _set_unknown(self, index: int, value: bytes) -> int:
        """An argument whose kind the driver does not tell: 8 bytes may be an address of memory or a handle."""
        number = int.from_bytes(value, "little") if len(value) == 8 else 0
        context = self._context
        view = context.sampled.get(number) or context.unsampled.get(number)
        if view is not None:
            return int(_set(self._native, index, 8, ffi.new("cl_mem *", view.image)))
        if number and context.allocation_of(number) is not None:
            return int(set_argument(context, self._native, index, number))
        return int(_set(self._native, index, len(value), value))
