"""Kernels: their signature, the setting of their arguments, and the shape of their launches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import NdRangeError
from ..common.kernel import KernelBase, kernel_of
from ..contract import KernelRecord
from . import memory_svm, memory_usm
from .context import new_lock
from .device import Device
from .errors import SUCCESS, check, create, release
from .kernel_arguments import Arguments
from .kernel_signature import signature_of
from .memory import means_of
from .module import Module

__all__ = ["Kernel", "get_kernel"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL

_MOST_ITEMS = 2**63 - 1


class Kernel(KernelBase[CData]):
    """A kernel of a module, with the cached data of its launches.

    Attributes
    ----------
    module
        module of the kernel, which the kernel keeps alive.
    context
        context of the module.
    native
        cl_kernel; it holds the arguments of the next launch. None after its release.
    name
        name of the kernel.
    signature
        arguments of the kernel.
    set
        driver's values of the arguments.
    shapes
        bindless_range_t * of earlier launches, by size.
    owned
        whether its module releases the reference.
    """

    module: Module

    backend = "opencl"

    def __init__(
        self, module: Module, name: str, native: CData = None, owned: bool = True, indirect: bool = True
    ) -> None:
        """Create a kernel, or adopt a ``native`` one; ``indirect`` if it may use addresses found in memory."""
        self.module = module
        self.context = module.context
        self.name = name
        self.device: Device = module.device
        self.owned = owned
        self.native = create("clCreateKernel", module.native, name.encode()) if native is None else native
        self.means = means_of(self.device)
        try:
            if self.means is memory_usm:
                check(memory_usm.allow_indirect_access(self.native), "clSetKernelExecInfo", f"kernel {name!r}")
            count = int.from_bytes(driver.get_info("clGetKernelInfo", self.native, lib.CL_KERNEL_NUM_ARGS), "little")
            self.signature = signature_of(self.native, count, module.signatures.get(name), module.declared.get(name))
            self.max_group = self._largest_group()
            self.required = self._required()
        except BaseException:
            if native is None:
                lib.clReleaseKernel(self.native)
            raise
        arguments = self.signature.arguments
        sizes = None if arguments is None else tuple(argument.size for argument in arguments)
        super().__init__(sizes, len({native.source for native in self.signature.natives}))
        # A lock protects setting the arguments and enqueuing: the context's, if launches list its allocations.
        lock = self.context.launching if self.means is memory_svm else new_lock()
        self.set = Arguments(
            self.native, name, self.context, self.means, lock, self.signature, indirect, module.adapted
        )
        self._indirect = indirect
        # NVIDIA's driver takes no null pointer for an argument that was an address of shared virtual memory before.
        self._pointers: tuple[int, ...] = ()
        if native is None and self.means is memory_svm and self.device.takes_ptx:
            self._pointers = tuple(part.source for part in self.signature.natives if part.kind in ("pointer", ""))
        self._with_nulls: dict[tuple[int, ...], Kernel] = {}

    def _limit(self, name: int) -> int:
        data = driver.get_info("clGetKernelWorkGroupInfo", self.native, self.device.handle, name)
        return int.from_bytes(data[:8], "little")

    def _largest_group(self) -> int:
        """The most work-items of a work-group. rusticl 22.3 reports those of a sub-group, and supports the device's."""
        size = self._limit(lib.CL_KERNEL_WORK_GROUP_SIZE)
        if self.device.is_rusticl and size == self._limit(_MULTIPLE):
            return self.device.number(lib.CL_DEVICE_MAX_WORK_GROUP_SIZE)
        return size

    def _required(self) -> tuple[int, int, int] | None:
        """The kernel's required work-group size."""
        data = driver.get_info(
            "clGetKernelWorkGroupInfo", self.native, self.device.handle, lib.CL_KERNEL_COMPILE_WORK_GROUP_SIZE
        )
        x, y, z = ffi.from_buffer("size_t[3]", data)
        return (x, y, z) if x or y or z else None

    def close(self) -> None:
        """Release the driver's kernel."""
        native, self.native = self.native, None
        for twin in self._with_nulls.values():
            twin.close()
        if native is not None and self.owned:
            release(lib.clReleaseKernel(native), "clReleaseKernel")

    # ------------------------------------------------------------------ signature

    def record(self) -> KernelRecord:
        """The signature and limits."""
        return KernelRecord(
            name=self.name,
            arguments=self.signature.arguments,
            max_work_group_size=self.max_group,
            local_memory_size=self._limit(lib.CL_KERNEL_LOCAL_MEM_SIZE),
            private_memory_size=self._limit(lib.CL_KERNEL_PRIVATE_MEM_SIZE),
            required_work_group_size=self.required,
            properties={"preferred_work_group_size_multiple": self._limit(_MULTIPLE), **self._sub_groups()},
        )

    def _sub_groups(self) -> dict[str, int]:
        """Work-items of a sub-group, if the driver reports them."""
        if self.device.version < (2, 1) or not self.device.platform.offers("clGetKernelSubGroupInfo"):
            return {}
        items = self.max_group if self.required is None else self.required[0]
        group, slot = ffi.new("size_t[]", [items]), ffi.new("size_t *")
        numbers = {}
        for name, ask, argument in (
            ("max_sub_group_size", lib.CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, group),
            ("compile_num_sub_groups", lib.CL_KERNEL_COMPILE_NUM_SUB_GROUPS, None),
        ):
            size = 0 if argument is None else ffi.sizeof(argument)
            result = lib.clGetKernelSubGroupInfo(
                self.native, self.device.handle, ask, size, _NULL if argument is None else argument, 8, slot, _NULL
            )
            if result == SUCCESS:
                numbers[name] = int(slot[0])
        return numbers

    # ------------------------------------------------------------------ arguments

    def _most_local(self) -> int:
        return self.device.number(lib.CL_DEVICE_LOCAL_MEM_SIZE)

    def find(self, arguments: Sequence[bytes | int]) -> CData:
        """The driver's values of the arguments, a bindless_settings_t, and the object that keeps it alive."""
        return self.set.find(arguments)

    def for_nulls(self, arguments: Sequence[bytes | int]) -> Kernel:
        """The kernel to launch with these arguments: if the driver confuses null pointers with earlier values, each
        combination of null pointers has its own cl_kernel.
        """
        if not self._pointers or len(arguments) != self.count:
            return self
        nulls = tuple(at for at in self._pointers if not any(arguments[at]))  # type: ignore[arg-type]
        if not nulls:
            return self
        kernel = self._with_nulls.get(nulls)
        if kernel is None:
            fresh = Kernel(self.module, self.name, indirect=self._indirect)
            fresh._pointers = ()
            kernel = self._with_nulls.setdefault(nulls, fresh)
            if kernel is not fresh:  # Another thread was faster.
                fresh.close()
        return kernel

    # ------------------------------------------------------------------ shape

    def _new_shape(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> CData:
        if math.prod(global_size) > _MOST_ITEMS:  # PoCL aborts the process.
            raise NdRangeError(
                f"the range {global_size} has {math.prod(global_size)} work-items, and a kernel counts them up to "
                f"{_MOST_ITEMS}",
                backend="opencl",
            )
        if local_size is None and self.required is not None:
            local_size = self.required[: len(global_size)]
        if local_size is None:
            return _range_of(global_size, None)
        if all(size == 1 for size in local_size[len(global_size) :]):
            local_size = local_size[: len(global_size)]
        items = 1
        for size in local_size:
            items *= size
        if len(local_size) != len(global_size) or any(
            part < 1 or whole % part for whole, part in zip(global_size, local_size)
        ):
            raise NdRangeError(f"work-group {local_size} does not divide the range {global_size}", backend="opencl")
        if items > self.max_group:
            raise NdRangeError(
                f"work-group {local_size} has {items} work-items; kernel {self.name!r} runs with at most "
                f"{self.max_group} on {self.device.name}",
                backend="opencl",
            )
        for dimension, (size, most) in enumerate(zip(local_size, self.device.work_item_sizes)):
            if size > most:
                raise NdRangeError(
                    f"work-group {local_size}: {size} work-items in native dimension {dimension}, and "
                    f"{self.device.name} has at most {most}",
                    backend="opencl",
                )
        return _range_of(global_size, local_size)


def _range_of(whole: tuple[int, ...], group: tuple[int, ...] | None) -> CData:
    """A range in the form of ``lib.bindless_launch``; the driver chooses the work-group for None."""
    result = ffi.new("bindless_range_t *")
    result.dimensions, result.whole, result.grouped = len(whole), whole, group is not None
    if group is not None:
        result.group = group
    return result


_MULTIPLE = lib.CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE


def get_kernel(module: Module, name: str, indirect: bool = True) -> Kernel:
    """A kernel of a module, the same one each time; ``indirect`` if it may use addresses found in memory."""
    return kernel_of(module, name, lambda: Kernel(module, name, indirect=indirect), "opencl")
