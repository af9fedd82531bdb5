"""Kernels: their signature, how their arguments are set, and what their launch looks like."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ..drivers import opencl as driver
from ..model.errors import InvalidError, NdRangeError
from . import _opencl_svm, _opencl_usm
from ._opencl_device import Device
from ._opencl_errors import SUCCESS, check, made, release
from ._opencl_memory import means_of, set_argument
from ._opencl_module import Module
from ._opencl_signature import signature_of
from .contract import KernelRecord

__all__ = ["Kernel", "Shape", "get_kernel"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_MOST_SHAPES = 1024
_set = lib.clSetKernelArg


class Shape:
    """A range as the driver takes it.

    Attributes:
        dimensions: one to three.
        whole: work-items by dimension, as size_t[].
        group: work-items of a work-group, as size_t[], or NULL for the driver's choice.
    """

    __slots__ = ("dimensions", "group", "whole")

    def __init__(self, whole: tuple[int, ...], group: tuple[int, ...] | None) -> None:
        self.dimensions = len(whole)
        self.whole = ffi.new("size_t[]", whole)
        self.group = _NULL if group is None else ffi.new("size_t[]", group)


class Kernel:
    """A kernel of a module, with what is cached for launching it.

    Attributes:
        module: kept alive by it.
        native: cl_kernel; its arguments are the next launch's, so a lock is held meanwhile. None once released.
        lock: that one: of the kernel, or of its context where launches list the context's allocations.
        name: of the kernel.
        signature: its arguments.
        shapes: of the sizes launched so far.
        owned: whether its reference is given back with its module.
    """

    def __init__(self, module: Module, name: str, native: Any = None, owned: bool = True) -> None:
        """Makes a kernel, or takes a ``native`` one."""
        self.module = module
        self.name = name
        self.device: Device = module.device
        self.owned = owned
        self.native = made("clCreateKernel", module.native, name.encode()) if native is None else native
        self.means = means_of(self.device)
        self.lock = module.context.launching if self.means is _opencl_svm else threading.Lock()
        try:
            if self.means is _opencl_usm:
                check(_opencl_usm.allow_indirect_access(self.native), "clSetKernelExecInfo", f"kernel {name!r}")
            count = int.from_bytes(driver.get_info("clGetKernelInfo", self.native, lib.CL_KERNEL_NUM_ARGS), "little")
            self.signature = signature_of(self.native, count, module.signatures.get(name))
            self.max_group = self._limit(lib.CL_KERNEL_WORK_GROUP_SIZE)
            self.required = self._required()
        except BaseException:
            if native is None:
                lib.clReleaseKernel(self.native)
            raise
        arguments = self.signature.arguments
        self.sizes = None if arguments is None else tuple(argument.size for argument in arguments)
        self.count = len({native.source for native in self.signature.natives})
        self.shapes: dict[tuple[tuple[int, ...], tuple[int, ...] | None], Shape] = {}
        self._total = -1 if self.sizes is None else sum(self.sizes)
        self._plan = tuple((index, part.source, part.kind) for index, part in enumerate(self.signature.natives))
        # What is set, and the context's generation then: an address or handle may mean something else afterwards.
        self._values: tuple[bytes | int, ...] | None = None
        self._generation = -1

    def _limit(self, name: int) -> int:
        found = driver.get_info("clGetKernelWorkGroupInfo", self.native, self.device.handle, name)
        return int.from_bytes(found[:8], "little")

    def _required(self) -> tuple[int, int, int] | None:
        """The work-group that it was compiled for."""
        found = driver.get_info(
            "clGetKernelWorkGroupInfo", self.native, self.device.handle, lib.CL_KERNEL_COMPILE_WORK_GROUP_SIZE
        )
        x, y, z = ffi.from_buffer("size_t[3]", found)
        return (x, y, z) if x or y or z else None

    def close(self) -> None:
        """Gives the driver's kernel back."""
        native, self.native = self.native, None
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
        """Work-items of a sub-group, where the driver tells."""
        if self.device.version < (2, 1) or not self.device.platform.offers("clGetKernelSubGroupInfo"):
            return {}
        items = self.max_group if self.required is None else self.required[0]
        group, slot = ffi.new("size_t[]", [items]), ffi.new("size_t *")
        found = {}
        for name, ask, given in (
            ("max_sub_group_size", lib.CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, group),
            ("compile_num_sub_groups", lib.CL_KERNEL_COMPILE_NUM_SUB_GROUPS, None),
        ):
            size = 0 if given is None else ffi.sizeof(given)
            result = lib.clGetKernelSubGroupInfo(
                self.native, self.device.handle, ask, size, _NULL if given is None else given, 8, slot, _NULL
            )
            if result == SUCCESS:
                found[name] = int(slot[0])
        return found

    # ------------------------------------------------------------------ arguments

    def takes(self, arguments: Sequence[bytes | int]) -> bool:
        """Whether arguments are values alone, as many bytes as the parameters together; quick, and enough for most."""
        try:
            return len(b"".join(arguments)) == self._total and len(arguments) == self.count  # type: ignore[arg-type]
        except TypeError:
            return False

    def require(self, arguments: Sequence[bytes | int]) -> None:
        """Refuses arguments that the kernel has no parameters for.

        Raises:
            InvalidError: the count, a size, or more local memory than the device has.
        """
        found = [argument if isinstance(argument, int) else len(argument) for argument in arguments]
        if len(found) != self.count or (
            self.sizes is not None
            and any(
                not isinstance(argument, int) and len(argument) != size for argument, size in zip(arguments, self.sizes)
            )
        ):
            wanted = f"{self.count} parameters" + ("" if self.sizes is None else f" of {list(self.sizes)} bytes")
            raise InvalidError(f"kernel {self.name!r} has {wanted}, the arguments have {found}", backend="opencl")
        shared = sum(argument for argument in arguments if isinstance(argument, int))
        most = self.device.number(lib.CL_DEVICE_LOCAL_MEM_SIZE) if shared else 0
        if shared > most:
            raise InvalidError(
                f"kernel {self.name!r} asks for {shared} bytes of local memory; {self.device.name} has at most {most} "
                "a work-group",
                backend="opencl",
            )

    def prepare(self, arguments: Sequence[bytes | int]) -> int:
        """Sets the arguments of the next launch; the lock is held. What is set already is left alone."""
        values, generation = tuple(arguments), self.module.context.generation
        if values == self._values and generation == self._generation:
            return int(SUCCESS)
        before = self._values if generation == self._generation else None
        self._values = None
        if generation != self._generation and self.means is _opencl_svm:
            result = _opencl_svm.allow_indirect_access(self.module.context, self.native)
            if result != SUCCESS:
                return result
        for index, source, kind in self._plan:
            value = values[source]
            if before is not None and value == before[source]:
                continue
            result = self._set_one(index, source, kind, value)
            if result != SUCCESS:
                return result
        self._values, self._generation = values, generation
        return int(SUCCESS)

    def _set_one(self, index: int, source: int, kind: str, value: bytes | int) -> int:
        if isinstance(value, int):
            return int(_set(self.native, index, value, _NULL))
        if kind == "value":
            return int(_set(self.native, index, len(value), value))
        if kind == "pointer":
            address = int.from_bytes(value, "little")
            return int(set_argument(self.module.context, self.native, index, address))
        if kind in ("image", "sampler"):
            return self._set_image(index, source, kind, int.from_bytes(value, "little"))
        return self._set_unknown(index, value)

    def _set_image(self, index: int, source: int, kind: str, handle: int) -> int:
        """The driver's object for the handle of an image, or its sampler."""
        context = self.module.context
        view = context.sampled.get(handle) or context.unsampled.get(handle)
        if view is None:
            raise InvalidError(
                f"argument {source} of kernel {self.name!r}: {handle:#x} is no image of this context: it was "
                "destroyed, or is of another context",
                backend="opencl",
            )
        view.require(self.signature.natives[index].type, source, self.name)
        if kind == "image":
            return int(_set(self.native, index, 8, ffi.new("cl_mem *", view.image)))
        if view.sampler is None:
            raise InvalidError(
                f"argument {source} of kernel {self.name!r}: {handle:#x} is an unsampled image, and the kernel samples "
                "it: create it with a sampler",
                backend="opencl",
            )
        return int(_set(self.native, index, 8, ffi.new("cl_sampler *", view.sampler)))

    def _set_unknown(self, index: int, value: bytes) -> int:
        """An argument whose kind the driver does not tell: 8 bytes may be an address of memory or a handle."""
        number = int.from_bytes(value, "little") if len(value) == 8 else 0
        context = self.module.context
        view = context.sampled.get(number) or context.unsampled.get(number)
        if view is not None:
            return int(_set(self.native, index, 8, ffi.new("cl_mem *", view.image)))
        if number and context.allocation_of(number) is not None:
            return int(set_argument(context, self.native, index, number))
        return int(_set(self.native, index, len(value), value))

    # ------------------------------------------------------------------ shape

    def shape(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> Shape:
        """The work-groups of a launch; they divide the range exactly."""
        key = (global_size, local_size)
        found = self.shapes.get(key)
        if found is None:
            if len(self.shapes) >= _MOST_SHAPES:
                self.shapes.clear()
            found = self.shapes[key] = self._new_shape(global_size, local_size)
        return found

    def _new_shape(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> Shape:
        if local_size is None and self.required is not None:
            local_size = self.required[: len(global_size)]
        if local_size is None:
            return Shape(global_size, None)
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
        return Shape(global_size, local_size)


_MULTIPLE = lib.CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE


def _unknown(module: Module, name: str) -> InvalidError:
    listed = ", ".join(module.names()) or "none"
    return InvalidError(f"no kernel is named {name!r}; the module has kernels {listed}", backend="opencl")


def get_kernel(module: Module, name: str) -> Kernel:
    """A kernel of a module, the same one each time."""
    if module.native is None:
        raise InvalidError(f"kernel {name!r}: the module was released", backend="opencl")
    found: Kernel | None = module.kernels.get(name)
    if found is None:
        if name not in module.names():
            raise _unknown(module, name)
        found = module.kernels.setdefault(name, Kernel(module, name))
    return found
