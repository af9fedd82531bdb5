"""The driver's values of a kernel's arguments."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import FeatureNotSupportedError, InvalidError
from . import memory_buffers, memory_svm, memory_usm
from .context import Context
from .kernel_signature import Signature
from .memory import Means

__all__ = ["Arguments"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_new_settings = functools.partial(ffi.new, ffi.typeof("bindless_settings_t *"))
_new_rows = functools.partial(ffi.new, ffi.typeof("bindless_setting_t[]"))
_VALUE = lib.BINDLESS_VALUE
_POINTER_SIZE = 8

# Kind, size and location of a driver value.
_Row = tuple[int, int, CData]

# Values, their bindless_settings_t, and the memory behind its pointers.
Settings = tuple[tuple["bytes | int", ...], CData, object]


class Arguments:
    """The arguments of one kernel.

    If packed bytes describe all arguments, ``lib.bindless_enqueue`` and ``lib.bindless_submit`` set the changed ones
    themselves, except for values that only Python knows: images, samplers, buffers. ``find`` supplies these.

    Attributes
    ----------
    described
        bindless_kernel_t, the kernel with the current values of its arguments.
    direct
        whether bytes describe them: no local memory, and no argument of unknown kind.
    begins
        offset of each argument in these bytes.
    objects
        those that are numbers for driver objects: source, kind and index of each.
    """

    def __init__(
        self,
        native: CData,
        name: str,
        context: Context,
        means: Means,
        lock: CData,
        signature: Signature,
        indirect: bool = True,
        adapted: bool = False,
    ) -> None:
        """Arguments of a kernel that may use addresses found in memory, unless not ``indirect``; see ``Module`` for
        ``adapted``.
        """
        self._name = name
        self._context = context
        self._means = means
        self._signature = signature
        self._adapted = adapted
        self._plan = tuple((part.source, part.kind, index) for index, part in enumerate(signature.natives))
        self._address: int = lib.BINDLESS_OBJECT
        if means is not memory_buffers:
            unified = means is memory_usm
            self._address = lib.BINDLESS_UNIFIED_ADDRESS if unified else lib.BINDLESS_SHARED_VIRTUAL_ADDRESS
        self._last: Settings = ((), None, None)
        self._references = [lock, context.state]
        self.described = ffi.new("bindless_kernel_t *")
        self.described.kernel, self.described.lock, self.described.context = native, lock, context.state
        self.described.listed = indirect and means is memory_svm
        self.described.numbers = memory_buffers.NUMBERS.start
        self.begins: tuple[int, ...] = ()
        self.objects: tuple[tuple[int, str, int], ...] = ()
        self.direct = self._describe()

    def _describe(self) -> bool:
        """Describe the driver's arguments to C, if bytes describe them."""
        other = lib.BINDLESS_OBJECT
        kinds = {"value": _VALUE, "pointer": self._address, "image": other, "sampler": other}
        arguments, parts = self._signature.arguments, self._signature.natives
        if arguments is None or any(part.kind not in kinds for part in parts):
            return False
        *begins, size = itertools.accumulate((argument.size for argument in arguments), initial=0)
        rows = [(kinds[part.kind], begins[part.source], arguments[part.source].size) for part in parts]
        listed, values = ffi.new("bindless_argument_t[]", rows), ffi.new("char[]", size + 1)
        self.begins = tuple(begins)
        self.objects = tuple(row for row, (kind, _, _) in zip(self._plan, rows) if kind == other)
        self._references += [listed, values]
        described = self.described
        described.count, described.arguments, described.size, described.values = len(rows), listed, size, values
        return True

    def find(self, arguments: Sequence[bytes | int]) -> Settings:
        """bindless_settings_t for the context's generation, valid as long as that is; second the object that keeps it
        alive, because another thread may find other settings meanwhile.
        """
        generation, values, last = int(self._context.state.generation), tuple(arguments), self._last
        if last[1] is not None and last[1].generation == generation and last[0] == values:
            return last
        rows = [self._row(index, source, kind, values[source]) for source, kind, index in self._plan]
        settings, listed = ffi.new("bindless_settings_t *"), ffi.new("bindless_setting_t[]", rows)
        settings.generation, settings.count, settings.rows = generation, len(rows), listed
        result = self._last = values, settings, (rows, listed)
        return result

    def find_objects(self, arguments: Sequence[bytes | int], values: CData) -> None:
        """Give C the driver objects of packed arguments."""
        settings, rows = _new_settings(), _new_rows(len(self._plan))
        settings.generation, settings.count, settings.rows = self._context.state.generation, len(self._plan), rows
        fresh = []
        for source, kind, index in self.objects:
            number = int.from_bytes(arguments[source], "little")  # type: ignore[arg-type]
            row = self._pointer(number) if kind == "pointer" else self._image(index, source, kind, number)
            fresh.append(row)
            rows[index] = row
        lib.bindless_find_objects(self.described, values, settings)

    def _row(self, index: int, source: int, kind: str, value: bytes | int) -> _Row:
        if isinstance(value, int):
            return _VALUE, value, _NULL
        if kind == "pointer":
            return self._pointer(int.from_bytes(value, "little"))
        if kind in ("image", "sampler"):
            return self._image(index, source, kind, int.from_bytes(value, "little"))
        if kind == "value":
            return _VALUE, len(value), ffi.new("char[]", value)
        return self._unknown(value)

    def _pointer(self, address: int) -> _Row:
        """The address itself, or the buffer behind it; no buffer for null pointers."""
        if self._means is memory_buffers or memory_buffers.is_number(address):
            buffer = ffi.new("cl_mem *", memory_buffers.buffer_of(self._context, address)) if address else _NULL
            return _VALUE, _POINTER_SIZE, buffer
        return self._address, _POINTER_SIZE, ffi.new("uint64_t *", address)

    def _image(self, index: int, source: int, kind: str, handle: int) -> _Row:
        """The driver's object of an image handle, or its sampler."""
        context = self._context
        view = context.sampled.get(handle) or context.unsampled.get(handle)
        if view is None:
            raise InvalidError(
                f"argument {source} of kernel {self._name!r}: {handle:#x} is no image of this context: it was "
                "destroyed, or is of another context",
                backend="opencl",
            )
        part = self._signature.natives[index]
        if kind == "image":
            view.require(part.type, source, self._name)
        if part.writes and view.sampler is not None:
            raise InvalidError(
                f"argument {source} of kernel {self._name!r}: {handle:#x} is a sampled image, and the kernel writes "
                "it: create it without a sampler",
                backend="opencl",
            )
        if kind == "image":
            return _VALUE, _POINTER_SIZE, ffi.new("cl_mem *", view.image)
        if view.sampler is None:
            raise InvalidError(
                f"argument {source} of kernel {self._name!r}: {handle:#x} is an unsampled image, and the kernel "
                "samples it: create it with a sampler",
                backend="opencl",
            )
        if view.scales_layers and not self._adapted:
            raise FeatureNotSupportedError(
                f"argument {source} of kernel {self._name!r}: the driver finds the wrong layers of arrays where "
                "coordinates are normalized. Use coordinate='unnormalized', or compile the kernel with `bindless "
                "build`, whose kernels divide the layer",
                backend="opencl",
            )
        return _VALUE, _POINTER_SIZE, ffi.new("cl_sampler *", view.sampler)

    def _unknown(self, value: bytes) -> _Row:
        """An argument whose kind the driver does not report: 8 bytes may be an address or a handle."""
        number = int.from_bytes(value, "little") if len(value) == 8 else 0
        context = self._context
        view = context.sampled.get(number) or context.unsampled.get(number)
        if view is not None:
            return _VALUE, _POINTER_SIZE, ffi.new("cl_mem *", view.image)
        if number and context.allocation_of(number) is not None:
            return self._pointer(number)
        return _VALUE, len(value), ffi.new("char[]", value)
