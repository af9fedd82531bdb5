"""Starting point of a check: the driver behind the loader, a device, a context, a command list, and short forms."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.backends.level_zero.driver import Driver, drivers
from bindless.drivers import level_zero as zero
from tests.support.compile_kernels import compiled_text

lib, ffi = zero.lib, zero.ffi

Array = npt.NDArray[Any]
Handle = Any
FOREVER = 2**64 - 1


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Let the driver refuse what Level Zero forbids and Intel's driver takes."""
    os.environ["BINDLESS_LEVEL_ZERO_STRICT"] = "1"
    try:
        yield
    finally:
        del os.environ["BINDLESS_LEVEL_ZERO_STRICT"]


class Rig:
    """Objects of one check; ``close`` destroys them in reverse order."""

    def __init__(self) -> None:
        self.driver: Driver = drivers()[0]
        self.device: Handle = zero.get_all("ze_device_handle_t", "zeDeviceGet", self.driver.handle)[0]
        self._count = self._counter()
        self._made: list[Callable[[], object]] = []
        self._list: Handle = None
        self.kept: list[object] = []  # memory that C structs point to
        self.context = self.handle("ze_context_handle_t")
        self.call("zeContextCreate", self.driver.handle, self.struct("ze_context_desc_t"), self.context)
        self.context = self.context[0]
        # The reference driver counts its objects in the same table; its default context stays.
        self.reference = bl.Device("reference:*:*")
        bl.Queue(self.reference).wait()
        self.objects = self._count()

    def _counter(self) -> Callable[[], int]:
        slot = ffi.new("void **")
        assert lib.zeDriverGetExtensionFunctionAddress(self.driver.handle, b"bindlessGetObjectCount", slot) == 0
        count = ffi.cast("ze_result_t (*)(uint64_t *)", slot[0])

        def ask() -> int:
            number = ffi.new("uint64_t *")
            assert count(number) == 0
            return int(number[0])

        return ask

    # ------------------------------------------------------------------ calls

    def struct(self, name: str, next: Any = None, **members: Any) -> Any:
        return zero.make_struct(name, next, **members)

    def handle(self, kind: str) -> Any:
        return ffi.new(f"{kind} *")

    def result(self, name: str, *arguments: Any) -> int:
        """The result code of a function."""
        function = self.driver.function(name)
        assert function is not None, f"neither loader nor driver has {name}"
        return function(*arguments)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        result = self.result(name, *arguments)
        assert result == 0, f"{name} returned 0x{result:x}: {self.driver.last_error()}"

    def fails(self, expected: str, sentence: str, name: str, *arguments: Any) -> None:
        """Call a function that must fail with ZE_RESULT_ERROR_expected and a description that contains this text."""
        result = self.result(name, *arguments)
        wanted = getattr(lib, f"ZE_RESULT_ERROR_{expected}")
        told = self.driver.last_error()
        assert result == wanted, f"{name} returned 0x{result:x} and not {expected}: {told}"
        assert sentence in told, f"{sentence!r} is not in {told!r}"

    def make(self, kind: str, create: str, destroy: str, *arguments: Any) -> Handle:
        """Make an object; ``close`` destroys it."""
        slot = self.handle(kind)
        self.call(create, *arguments, slot)
        handle = slot[0]
        self._made.append(lambda: self.call(destroy, handle))
        return handle

    def forget(self) -> None:
        """Exclude the last object made from ``close``."""
        self._made.pop()

    def close(self) -> None:
        """Destroy everything and check that no object is left."""
        while self._made:
            self._made.pop()()
        if self._list is not None:
            self.call("zeCommandListDestroy", self._list)
            self._list = None
        for _ in range(20000):  # the thread of a destroyed list ends a little later
            if self._count() == self.objects:
                return
            time.sleep(0.001)
        raise AssertionError(f"{self._count() - self.objects} objects are left")

    # ------------------------------------------------------------------ lists

    @property
    def list(self) -> Handle:
        """An asynchronous in-order immediate command list for all kinds of commands."""
        if self._list is None:
            # Validation layer 1.8 does not know ZE_COMMAND_QUEUE_FLAG_IN_ORDER; this driver's lists are in order
            # anyway.
            desc = self.struct("ze_command_queue_desc_t", mode=lib.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)
            slot = self.handle("ze_command_list_handle_t")
            self.call("zeCommandListCreateImmediate", self.context, self.device, desc, slot)
            self._list = slot[0]
        return self._list

    def append(self, name: str, *arguments: Any) -> None:
        """Append a command without events and wait for it."""
        self.call(name, self.list, *arguments, ffi.NULL, 0, ffi.NULL)
        self.call("zeCommandListHostSynchronize", self.list, FOREVER)

    # ------------------------------------------------------------------ memory

    def memory(self, size: int, kind: str = "Shared", next: Any = None) -> Any:
        """Allocated memory as a void pointer."""
        pointer = ffi.new("void **")
        device_desc = self.struct("ze_device_mem_alloc_desc_t", next)
        if kind == "Shared":
            host = self.struct("ze_host_mem_alloc_desc_t")
            self.call("zeMemAllocShared", self.context, device_desc, host, size, 64, self.device, pointer)
        else:
            self.call("zeMemAllocDevice", self.context, device_desc, size, 64, self.device, pointer)
        address, context = pointer[0], self.context
        self._made.append(lambda: self.call("zeMemFree", context, address))
        return address

    def array(self, values: Array) -> tuple[Any, Array]:
        """Shared memory with these values, and an array over it."""
        pointer = self.memory(max(values.nbytes, 1))
        view = np.frombuffer(ffi.buffer(pointer, values.nbytes), values.dtype).reshape(values.shape)
        view[...] = values
        return pointer, view

    # ------------------------------------------------------------------ images and samplers

    def image_desc(self, format: dict[str, Any], *extents: int, next: Any = None, **members: Any) -> Any:
        """The image description: extents are (x, y, z) and imply the type, ``ZE_IMAGE_TYPE_2D`` for two."""
        kind = members.pop("type", (lib.ZE_IMAGE_TYPE_1D, lib.ZE_IMAGE_TYPE_2D, lib.ZE_IMAGE_TYPE_3D)[len(extents) - 1])
        sizes = dict(zip(("width", "height", "depth"), extents, strict=False))
        members.setdefault("flags", lib.ZE_IMAGE_FLAG_KERNEL_WRITE)
        return self.struct("ze_image_desc_t", next, type=kind, format=format, **sizes, **members)

    def image(self, desc: Any) -> Handle:
        return self.make("ze_image_handle_t", "zeImageCreate", "zeImageDestroy", self.context, self.device, desc)

    def view(self, desc: Any, image: Handle) -> Handle:
        return self.make(
            "ze_image_handle_t", "zeImageViewCreateExt", "zeImageDestroy", self.context, self.device, desc, image
        )

    def sampler_desc(self, address: str = "CLAMP", filter: str = "NEAREST", normalized: bool = False) -> Any:
        return self.struct(
            "ze_sampler_desc_t",
            addressMode=getattr(lib, f"ZE_SAMPLER_ADDRESS_MODE_{address}"),
            filterMode=getattr(lib, f"ZE_SAMPLER_FILTER_MODE_{filter}"),
            isNormalized=normalized,
        )

    def sampler(self, *choice: Any) -> Handle:
        desc = self.sampler_desc(*choice)
        return self.make("ze_sampler_handle_t", "zeSamplerCreate", "zeSamplerDestroy", self.context, self.device, desc)

    def upload(self, image: Handle, pixels: Array, region: Any = ffi.NULL) -> None:
        data = np.ascontiguousarray(pixels)
        self.append("zeCommandListAppendImageCopyFromMemory", image, ffi.from_buffer(data), region)

    def download(self, image: Handle, like: Array, region: Any = ffi.NULL) -> Array:
        found = np.zeros_like(np.ascontiguousarray(like))
        self.append("zeCommandListAppendImageCopyToMemory", ffi.from_buffer(found), image, region)
        return found

    def offset(self, image: Handle) -> int:
        """The bindless handle of an image."""
        number = ffi.new("uint64_t *")
        self.call("zeImageGetDeviceOffsetExp", image, number)
        return int(number[0])

    # ------------------------------------------------------------------ modules and kernels

    def module_desc(
        self, code: bytes, flags: str | None = None, native: bool = False, constants: Any = ffi.NULL
    ) -> Any:
        data = ffi.from_buffer("uint8_t[]", code)
        options = ffi.NULL if flags is None else ffi.new("char[]", flags.encode())
        return self.struct(
            "ze_module_desc_t",
            format=lib.ZE_MODULE_FORMAT_NATIVE if native else lib.ZE_MODULE_FORMAT_IL_SPIRV,
            inputSize=len(code),
            pInputModule=data,
            pBuildFlags=options,
            pConstants=constants,
        )

    def module(self, code: bytes, **options: Any) -> Handle:
        """A module that must build; a failure shows its log."""
        module, log = self.handle("ze_module_handle_t"), self.handle("ze_module_build_log_handle_t")
        desc = self.module_desc(code, **options)
        result = self.result("zeModuleCreate", self.context, self.device, desc, module, log)
        text = self.log(log[0])
        assert result == 0, f"zeModuleCreate returned 0x{result:x}: {text}"
        assert text == ""
        handle = module[0]
        self._made.append(lambda: self.call("zeModuleDestroy", handle))
        return handle

    def log(self, handle: Handle) -> str:
        """The text of a build log; destroys the log."""
        size = ffi.new("size_t *")
        self.call("zeModuleBuildLogGetString", handle, size, ffi.NULL)
        text = ffi.new("char[]", size[0])
        self.call("zeModuleBuildLogGetString", handle, size, text)
        self.call("zeModuleBuildLogDestroy", handle)
        return ffi.string(text).decode()

    def kernel(self, module: Handle, name: str) -> Handle:
        text = ffi.new("char[]", name.encode())
        desc = self.struct("ze_kernel_desc_t", pKernelName=text)
        return self.make("ze_kernel_handle_t", "zeKernelCreate", "zeKernelDestroy", module, desc)

    def compiled(self, text: str, name: str) -> Handle:
        """The kernel of an OpenCL C source."""
        return self.kernel(self.module(_compiled(text, name)), name)

    def set(self, kernel: Handle, *arguments: Any) -> None:
        """Set all arguments: pointers and handles as they are, numpy scalars and arrays by their bytes."""
        for index, argument in enumerate(arguments):
            if isinstance(argument, (np.generic, np.ndarray)):
                value = ffi.from_buffer(np.ascontiguousarray(argument).tobytes())
                size = argument.nbytes
            else:
                value, size = ffi.new("void **", ffi.cast("void *", argument)), 8
            self.call("zeKernelSetArgumentValue", kernel, index, size, value)

    def launch(
        self, kernel: Handle, groups: tuple[int, ...], *arguments: Any, size: tuple[int, int, int] = (1, 1, 1)
    ) -> None:
        """Set arguments and group size, launch and wait."""
        self.set(kernel, *arguments)
        self.call("zeKernelSetGroupSize", kernel, *size)
        self.append("zeCommandListAppendLaunchKernel", kernel, group_count(*groups))


def group_count(*groups: int) -> Any:
    """A ze_group_count_t *."""
    return ffi.new("ze_group_count_t *", [*groups, 1, 1][:3])


@functools.cache
def _compiled(text: str, name: str) -> bytes:
    return compiled_text(text, "spirv", name)
