"""An OpenCL program independent of the package: native objects, each created once and released once."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.drivers import opencl as driver
from tests.support.opencl_devices import settled

__all__ = ["Raw", "ffi", "lib"]

lib, ffi = driver.lib, driver.ffi

Array = npt.NDArray[Any]

# Release function and reference count query of each C type.
_TYPES = {
    "cl_context": ("clReleaseContext", "clGetContextInfo", lib.CL_CONTEXT_REFERENCE_COUNT),
    "cl_command_queue": ("clReleaseCommandQueue", "clGetCommandQueueInfo", lib.CL_QUEUE_REFERENCE_COUNT),
    "cl_event": ("clReleaseEvent", "clGetEventInfo", lib.CL_EVENT_REFERENCE_COUNT),
    "cl_mem": ("clReleaseMemObject", "clGetMemObjectInfo", lib.CL_MEM_REFERENCE_COUNT),
    "cl_program": ("clReleaseProgram", "clGetProgramInfo", lib.CL_PROGRAM_REFERENCE_COUNT),
    "cl_kernel": ("clReleaseKernel", "clGetKernelInfo", lib.CL_KERNEL_REFERENCE_COUNT),
    "cl_device_id": ("clReleaseDevice", "clGetDeviceInfo", lib.CL_DEVICE_REFERENCE_COUNT),
}
_KINDS = {1: lib.CL_MEM_OBJECT_IMAGE1D, 2: lib.CL_MEM_OBJECT_IMAGE2D, 3: lib.CL_MEM_OBJECT_IMAGE3D}


def type_of(native: Any) -> str:
    """The C type of a pointer."""
    return str(ffi.typeof(native).cname).removeprefix("struct _").removesuffix(" *")


class Raw:
    """Native objects of one device in their own context."""

    def __init__(self, facade: bl.Device) -> None:
        self.facade = facade
        self.device = ffi.cast("cl_device_id", int(bl.get_native(facade)))
        self.made: list[Any] = []
        self.used: list[Any] = []  # queues with commands of the program; PoCL holds a reference to each
        self.context = self.new_context()

    def _keep(self, call: str, *arguments: Any) -> Any:
        slot = ffi.new("cl_int *")
        found = getattr(lib, call)(*arguments, slot)
        driver.check(slot[0], call)
        self.made.append(found)
        return found

    # ------------------------------------------------------------------ objects

    def new_context(self) -> Any:
        return self._keep("clCreateContext", ffi.NULL, 1, ffi.new("cl_device_id[]", [self.device]), ffi.NULL, ffi.NULL)

    def queue(self, flags: int = 0, context: Any = None) -> Any:
        return self._keep("clCreateCommandQueue", context or self.context, self.device, flags)

    def event(self, context: Any = None) -> Any:
        """A user event, completed by the program."""
        return self._keep("clCreateUserEvent", context or self.context)

    def buffer(self, contents: Array | int, context: Any = None) -> Any:
        flags, nbytes, data = lib.CL_MEM_READ_WRITE, contents, ffi.NULL
        if isinstance(contents, np.ndarray):
            flags, nbytes, data = flags | lib.CL_MEM_COPY_HOST_PTR, contents.nbytes, ffi.from_buffer(contents)
        return self._keep("clCreateBuffer", context or self.context, flags, nbytes, data)

    def image(self, pixels: Array, kind: int | None = None, order: int = lib.CL_RGBA, layers: int = 1) -> Any:
        """An RGBA float32 image; its dimensions are the array's without the channel axis."""
        sizes = (*pixels.shape[-2::-1], 1, 1)
        desc = ffi.new("cl_image_desc *")
        desc.image_type = _KINDS[pixels.ndim - 1] if kind is None else kind
        desc.image_width, desc.image_height, desc.image_depth = sizes[:3]
        desc.image_array_size = layers
        form = ffi.new("cl_image_format *", (order, lib.CL_FLOAT))
        flags = lib.CL_MEM_READ_WRITE | lib.CL_MEM_COPY_HOST_PTR
        return self._keep("clCreateImage", self.context, flags, form, desc, ffi.from_buffer(pixels))

    def program(self, text: str, context: Any = None) -> Any:
        source = ffi.new("char[]", text.encode())
        texts = ffi.new("char const *[]", [source])
        return self._keep("clCreateProgramWithSource", context or self.context, 1, texts, ffi.NULL)

    def compiled(self, text: str) -> Any:
        made, null = self.program(text), ffi.NULL
        driver.check(lib.clCompileProgram(made, 0, null, null, 0, null, null, null, null), "clCompileProgram")
        return made

    def library(self, text: str) -> Any:
        parts = ffi.new("cl_program[]", [self.compiled(text)])
        options = ffi.new("char[]", b"-create-library")
        slot = ffi.new("cl_int *")
        found = lib.clLinkProgram(self.context, 0, ffi.NULL, options, 1, parts, ffi.NULL, ffi.NULL, slot)
        driver.check(slot[0], "clLinkProgram")
        self.made.append(found)
        return found

    def built(self, text: str, context: Any = None, options: bytes = b"-cl-kernel-arg-info") -> Any:
        made = self.program(text, context)
        flags = ffi.new("char[]", options)
        driver.check(lib.clBuildProgram(made, 0, ffi.NULL, flags, ffi.NULL, ffi.NULL), "clBuildProgram")
        return made

    def kernel(self, program: Any, name: str) -> Any:
        return self._keep("clCreateKernel", program, name.encode())

    # ------------------------------------------------------------------ commands

    def read(self, queue: Any, buffer: Any, like: Array) -> Array:
        out = np.empty_like(like)
        self.used.append(queue)
        driver.check(
            lib.clEnqueueReadBuffer(queue, buffer, 1, 0, out.nbytes, ffi.from_buffer(out), 0, ffi.NULL, ffi.NULL),
            "clEnqueueReadBuffer",
        )
        return out

    def read_image(self, queue: Any, image: Any, like: Array) -> Array:
        out = np.empty_like(like)
        self.used.append(queue)
        origin, region = ffi.new("size_t[3]"), ffi.new("size_t[3]", [*like.shape[-2::-1], 1, 1][:3])
        null = ffi.NULL
        driver.check(
            lib.clEnqueueReadImage(queue, image, 1, origin, region, 0, 0, ffi.from_buffer(out), 0, null, null),
            "clEnqueueReadImage",
        )
        return out

    # ------------------------------------------------------------------ references

    def count(self, native: Any) -> int:
        _, call, name = _TYPES[type_of(native)]
        return int.from_bytes(driver.get_info(call, native, name), "little")

    def retain(self, native: Any) -> None:
        name = _TYPES[type_of(native)][0].replace("Release", "Retain")
        driver.check(getattr(lib, name)(native), name)

    def release(self, *natives: Any) -> None:
        for native in natives:
            self.made.remove(native)
            driver.check(getattr(lib, _TYPES[type_of(native)][0])(native), "release")

    def number(self, native: Any) -> int:
        return int(ffi.cast("uintptr_t", native))

    def binary_type(self, program: Any) -> int:
        found = driver.get_info("clGetProgramBuildInfo", program, self.device, lib.CL_PROGRAM_BINARY_TYPE)
        return int.from_bytes(found, "little")

    def counts(self, natives: Sequence[Any]) -> list[int]:
        gc.collect()
        return [self.count(native) for native in natives]

    def counts_after(self, natives: Sequence[Any], wanted: list[int]) -> list[int]:
        """Reference counts after the commands complete, as in ``settled``."""
        gc.collect()
        return settled(lambda: [self.count(native) for native in natives], wanted)

    def close(self) -> None:
        """Release everything in reverse order of creation; no other reference may remain."""
        gc.collect()
        for native in self.made:
            if type_of(native) == "cl_event":  # refused where it has a status; NVIDIA's driver waits for one for ever
                lib.clSetUserEventStatus(native, lib.CL_COMPLETE)
        for queue in self.made:
            if type_of(queue) == "cl_command_queue":
                driver.check(lib.clFinish(queue), "clFinish")
        held = []
        for native in reversed(self.made):
            if native not in self.used and (count := settled(lambda native=native: self.count(native), 1)) != 1:
                held.append((native, count))
            driver.check(getattr(lib, _TYPES[type_of(native)][0])(native), "release")
        self.made.clear()
        assert held == []
