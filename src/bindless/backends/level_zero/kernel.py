"""Kernels: their signature, the setting of their arguments, and the shape of their launches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ...drivers import level_zero as driver
from ...model.errors import InvalidError, NdRangeError
from ..common.kernel import KernelBase, kernel_of, unknown_kernel
from ..contract import KernelArgument, KernelRecord
from .device import Device
from .errors import SUCCESS, check
from .module import Module

__all__ = ["Kernel", "Shape", "get_kernel"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL

_POINTER_SIZE = 8

_NO_OFFSET = (0, 0, 0)

# What kernels may reach by addresses that they find in memory.
_INDIRECT = (
    lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST
    | lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE
    | lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED
)


class Shape:
    """A range divided into work-groups.

    Attributes
    ----------
    group
        work-items of a work-group by dimension.
    count
        ze_group_count_t.
    """

    __slots__ = ("count", "group")

    def __init__(self, group: tuple[int, int, int], count: tuple[int, ...]) -> None:
        self.group = group
        self.count = ffi.new("ze_group_count_t *", count)


class Kernel(KernelBase[Shape]):
    """A kernel of a module, with the cached data of its launches.

    Attributes
    ----------
    module
        module of the kernel, which the kernel keeps alive.
    native
        ze_kernel_handle_t; it holds the arguments and group size of the next launch, so a lock protects it.
    name
        name of the kernel.
    properties
        ze_kernel_properties_t.
    kinds, sizes
        kind and bytes of each parameter, or None if the source does not give them.
    shapes
        shapes of earlier launches, by size.
    owned
        whether its module destroys it.
    """

    backend = "level_zero"

    def __init__(self, module: Module, name: str, made: Any = None, owned: bool = True) -> None:
        """Create a kernel, or adopt a ze_kernel_handle_t that was ``made`` elsewhere."""
        self.module = module
        self.name = name
        self.device: Device = module.device
        self.lock = threading.RLock()  # a collection while it is held may run a finalizer that launches this kernel
        self.owned = owned
        self.native = _create(module, name) if made is None else made
        try:
            check(
                lib.zeKernelSetIndirectAccess(self.native, _INDIRECT), "zeKernelSetIndirectAccess", f"kernel {name!r}"
            )
            self.properties = driver.get_properties("ze_kernel_properties_t", "zeKernelGetProperties", self.native)
            self.max_group = self._max_group()
        except BaseException:
            if made is None:
                lib.zeKernelDestroy(self.native)
            raise
        signature = module.signatures.get(name)
        parameters = None if signature is None else signature.parameters
        self.parameters = parameters
        sizes = None if parameters is None else tuple(parameter.size for parameter in parameters)
        count = int(self.properties.numKernelArgs)
        super().__init__(sizes, count if sizes is None else len(sizes))
        self.kinds = None if parameters is None else tuple(parameter.kind for parameter in parameters)
        self._group: tuple[int, int, int] | None = None
        self._offset = _NO_OFFSET
        self._wanted: tuple[tuple[int, int, int], Sequence[bytes | int], tuple[int, int, int]] | None = None
        # What is set, and which of it is set anew each time: all but plain values.
        self._set: tuple[bytes | int, ...] | None = None
        kinds = self.kinds or ("",) * count
        self._addresses = tuple(index for index, kind in enumerate(kinds) if kind != "value")
        self._handles = frozenset(index for index, kind in enumerate(kinds) if kind in _OPAQUE)

    def _max_group(self) -> int:
        """Work-items of the kernel's largest work-group."""
        most = int(self.device.compute.maxTotalGroupSize)
        if "ZE_extension_kernel_max_group_size_properties" not in self.device.driver.extensions:
            return most
        told = driver.make_struct("ze_kernel_max_group_size_properties_ext_t")
        driver.get_properties("ze_kernel_properties_t", "zeKernelGetProperties", self.native, next=told)
        return int(told.maxGroupSize) or most

    # ------------------------------------------------------------------ signature

    @property
    def required(self) -> tuple[int, int, int] | None:
        """The kernel's required work-group size."""
        found = self.properties
        sizes = int(found.requiredGroupSizeX), int(found.requiredGroupSizeY), int(found.requiredGroupSizeZ)
        return sizes if any(sizes) else None

    def record(self) -> KernelRecord:
        """The signature and limits."""
        arguments: tuple[KernelArgument, ...] | None = None
        if self.parameters is not None:
            arguments = tuple(
                KernelArgument(index, parameter.name, parameter.kind, parameter.size)
                for index, parameter in enumerate(self.parameters)
            )
        found = self.properties
        return KernelRecord(
            name=self.name,
            arguments=arguments,
            max_work_group_size=self.max_group,
            local_memory_size=int(found.localMemSize),
            private_memory_size=int(found.privateMemSize),
            required_work_group_size=self.required,
            properties={
                "max_sub_group_size": int(found.maxSubgroupSize),
                "compile_num_sub_groups": int(found.requiredNumSubGroups),
                "compile_sub_group_size": int(found.requiredSubgroupSize),
                "spill_memory_size": int(found.spillMemSize),
            },
        )

    # ------------------------------------------------------------------ arguments

    def _most_local(self) -> int:
        return int(self.device.compute.maxSharedLocalMemory)

    def set_group(self, group: tuple[int, int, int]) -> int:
        """Set the work-group of the next launch; the lock is held."""
        if self._group == group:
            return int(SUCCESS)
        self._group = None
        result: int = lib.zeKernelSetGroupSize(self.native, *group)
        if result == SUCCESS:
            self._group = group
        return result

    def append(
        self,
        group: tuple[int, int, int],
        arguments: Sequence[bytes | int],
        command: Callable[..., int],
        *where: Any,
        offset: tuple[int, int, int] = _NO_OFFSET,
    ) -> int:
        """Sets work-group, arguments and offset, and calls ``command(*where)``, which appends the launch to a list.

        A finalizer that launches the same kernel in between sets other values, and then gives back those of the launch
        that it interrupts.
        """
        with self.lock:
            interrupted = self._wanted
            self._wanted = group, arguments, offset
            try:
                result = self.prepare(group, arguments, offset)
                return result if result != SUCCESS else int(command(*where))
            finally:
                self._wanted = interrupted
                self.restore()

    def restore(self) -> None:
        """Gives the values back that a launch has set, which this thread interrupts; the lock is held."""
        if self._wanted is not None:
            self.prepare(*self._wanted)
        elif self._offset != _NO_OFFSET:
            self._set_offset(_NO_OFFSET)

    def _set_offset(self, offset: tuple[int, int, int]) -> int:
        function = self.device.driver.require("zeKernelSetGlobalOffsetExp", "1.1")
        self._offset = offset
        return int(function(self.native, *offset))

    def prepare(
        self,
        group: tuple[int, int, int],
        arguments: Sequence[bytes | int],
        offset: tuple[int, int, int] = _NO_OFFSET,
    ) -> int:
        """Sets work-group, arguments and offset of the next launch; the lock is held.

        Values that are set are left alone. Addresses are always set: the driver looks up what lies there.
        """
        if self._group != group:
            result = self.set_group(group)
            if result != SUCCESS:
                return result
        if self._offset != offset:
            result = self._set_offset(offset)
            if result != SUCCESS:
                return result
        values = tuple(arguments)
        places = self._addresses if values == self._set else range(len(values))
        self._set = None
        for index in places:
            argument = values[index]
            if isinstance(argument, int):
                result = lib.zeKernelSetArgumentValue(self.native, index, argument, _NULL)
            else:
                data = self._opaque(index, argument) if index in self._handles else argument
                result = lib.zeKernelSetArgumentValue(self.native, index, len(data), data)
            if result != SUCCESS:
                return result
        self._set = values
        return SUCCESS

    def _opaque(self, index: int, argument: bytes) -> bytes:
        """The driver's object of an image handle, or its sampler."""
        assert self.kinds is not None
        handle, context = int.from_bytes(argument, "little"), self.module.context
        view = context.sampled.get(handle) or context.unsampled.get(handle)
        if view is None:
            raise InvalidError(
                f"argument {index} of kernel {self.name!r}: {handle:#x} is no image of this context",
                backend="level_zero",
            )
        native = view.sampler() if self.kinds[index] == "sampler" else view.image
        return int(ffi.cast("uintptr_t", native)).to_bytes(_POINTER_SIZE, "little")

    # ------------------------------------------------------------------ shape

    def _new_shape(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> Shape:
        local = self._suggest(global_size) if local_size is None else local_size
        x, y, z = (*global_size, 1, 1)[:3]
        a, b, c = (*local, 1, 1)[:3]
        if len(local) != len(global_size) or min(a, b, c) < 1 or x % a or y % b or z % c:
            raise NdRangeError(f"work-group {local} does not divide the range {global_size}", backend="level_zero")
        if a * b * c > self.max_group:
            raise NdRangeError(
                f"work-group {local} has {a * b * c} work-items; kernel {self.name!r} runs with at most "
                f"{self.max_group} on {self.device.name}",
                backend="level_zero",
            )
        count = x // a, y // b, z // c
        self._require_limits("work-items", "maxGroupSize", (a, b, c), global_size, local)
        self._require_limits("work-groups", "maxGroupCount", count, global_size, local)
        return Shape((a, b, c), count)

    def _require_limits(
        self, what: str, limit: str, sizes: tuple[int, ...], global_size: tuple[int, ...], local: tuple[int, ...]
    ) -> None:
        for dimension, (size, letter) in enumerate(zip(sizes, "XYZ")):
            most = int(getattr(self.device.compute, limit + letter))
            if size > most:
                raise NdRangeError(
                    f"range {global_size} in work-groups of {local}: {size} {what} in native dimension {dimension}, "
                    f"and {self.device.name} has at most {most}",
                    backend="level_zero",
                )

    def _suggest(self, global_size: tuple[int, ...]) -> tuple[int, ...]:
        """The driver's suggested work-group if it divides the range; otherwise the largest that does."""
        required = self.required
        if required is not None:
            return required[: len(global_size)]
        sizes = (*global_size, 1, 1)[:3]
        if max(sizes) < 2**32:
            slots = [ffi.new("uint32_t *") for _ in range(3)]
            with self.lock:
                result = lib.zeKernelSuggestGroupSize(self.native, *sizes, *slots)
            found = tuple(int(slot[0]) for slot in slots)
            if result == SUCCESS and all(part and not size % part for size, part in zip(sizes, found)):
                return found[: len(global_size)]
        first = _divisor(global_size[0], self.max_group)
        return (first, *(1 for _ in global_size[1:]))


_OPAQUE = ("image", "sampler")


def _create(module: Module, name: str) -> Any:
    """A ze_kernel_handle_t."""
    slot = ffi.new("ze_kernel_handle_t *")
    desc = driver.make_struct("ze_kernel_desc_t", pKernelName=ffi.new("char[]", name.encode()))
    result = lib.zeKernelCreate(module.native, desc, slot)
    if result == lib.ZE_RESULT_ERROR_INVALID_KERNEL_NAME:
        raise unknown_kernel(module.names(), name, "level_zero")
    check(result, "zeKernelCreate", f"kernel {name!r}")
    return slot[0]


def get_kernel(module: Module, name: str) -> Kernel:
    """A kernel of a module, the same one each time."""
    return kernel_of(module, name, lambda: Kernel(module, name), "level_zero")


def _divisor(size: int, most: int) -> int:
    """The largest divisor of a size up to ``most``."""
    return next(candidate for candidate in range(min(size, most), 0, -1) if size % candidate == 0)
